-- Words of .npy headers: with the prefixes that Python 2 and raw strings have,
-- and no other letters.
local la = require "lunarray"

local KEYS = ", 'fortran_order': False, 'shape': (2,), }"

local function file_of(header)
  header = header .. (" "):rep(63 - (#header + 10) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<s2", header)
    .. string.pack("<dd", 1, 2)
end

describe("a word in a .npy header", function()
  local path = os.tmpname() .. ".npy"
  after_each(function() os.remove(path) end)

  local function load(header)
    local f = assert(io.open(path, "wb"))
    f:write(file_of(header))
    f:close()
    return la.load(path)
  end

  it("may have one prefix before either quote", function()
    for _, prefix in ipairs{"", "u", "U", "r", "R"} do
      for _, quote in ipairs{"'", '"'} do
        local word = prefix .. quote .. "descr" .. quote
        local value = prefix .. quote .. "<f8" .. quote
        local text = "{" .. word .. ": " .. value .. KEYS
        assert.same({1, 2}, load(text):totable())
      end
    end
  end)

  it("has no other letters and no gap before its quote", function()
    for _, word in ipairs{"b'descr'", "uu'descr'", "u 'descr'", "ur'descr'",
        "u", "r", "", "descr", "'descr", "u'descr\"", "\0'descr'"} do
      for _, at in ipairs{"{%s: '<f8'", "{'descr': %s"} do
        local text = (at:gsub("%%s", (word:gsub("%%", "%%%%"))))
        local ok, why = pcall(load, text .. KEYS)
        assert.is_false(ok, text)
        assert.truthy(why:find("load: ", 1, true), why)
      end
    end
  end)
end)
