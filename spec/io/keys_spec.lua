-- Keys of saved tables: lists, gaps, integers of any size, strings of digits
-- and every byte come back as what they were, in every format that takes them.
local la = require "lunarray"
local folder = require "spec.support.folder"

local raises = require "spec.support.raises"

local files

setup(function() files = folder.new() end)
teardown(function() files:remove() end)

-- Keys with their types, in an order of their own.
local function described(t)
  local list = {}
  for key, value in pairs(t) do
    local what = type(value) == "userdata" and value:tostring_raw()
      or type(value) == "table" and described(value) or tostring(value)
    list[#list + 1] = ("%s %s %s = %s"):format(type(key),
      math.type(key) or "", tostring(key), what)
  end
  table.sort(list)
  return "{" .. table.concat(list, "; ") .. "}"
end

local function t(k) return la.tensor({k + 0., k + 1.}) end

local TABLES = {
  list = {t(1), t(2)},
  one = {t(1)},
  ["long list"] = {t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9),
                   t(10), t(11), t(12)},
  gaps = {[1] = t(1), [3] = t(3), [10] = t(10)},
  ["other integers"] = {[0] = t(0), [-1] = t(-1), [math.maxinteger] = t(3),
                        [math.mininteger] = t(4)},
  ["strings of digits"] = {["1"] = t(1), ["2"] = t(2), ["-1"] = t(3),
                           ["01"] = t(4)},
  ["both kinds"] = {t(1), t(2), a = t(4), ["3"] = t(5)},
  nested = {{t(1), t(2)}, {a = {t(3), {t(4)}}}, ["3"] = {t(5)}},
  names = {[""] = t(1), ["a.b"] = t(2), ["a/b"] = t(3), ["."] = t(4),
           ["é"] = t(5), ["[1]"] = t(6), ["\"1\""] = t(7), [" 1"] = t(8)},
  values = {1, "1", true, {2, "2", [5] = false}}
}

describe("keys of a saved table", function()
  for _, kind in ipairs {"npz", "safetensors"} do
    for name, went in pairs(TABLES) do
      it("come back from ." .. kind .. ": " .. name, function()
        local path = files:path("keys." .. kind)
        local ok, why = pcall(la.save, went, path)
        assert.is_true(ok, why)
        assert.equal(described(went), described(la.load(path)))
      end)
    end

    it("are not there twice in ." .. kind, function()
      raises("the name '1' is there twice", la.save,
        {t(1), ["1"] = t(2)}, files:path("keys." .. kind))
    end)
  end
end)
