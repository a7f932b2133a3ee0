-- la.frame, sentence by sentence of its pages: each line of
-- spec/golden/contract.txt is an expression and its value ("-->"), or what an
-- error says ("--!"). The values were written down before they were run; the
-- messages were read.
local la = require "lunarray"
local folder = require "spec.support.folder"

local F = la.frame

-- Tables show their fields in order, everything else as tostring.
local function shown(v)
  if type(v) == "string" then return ("%q"):format(v) end
  if type(v) ~= "table" or getmetatable(v) then return tostring(v) end
  local list = {}
  for key, x in pairs(v) do list[#list + 1] = key .. "=" .. shown(x) end
  table.sort(list)
  return "{" .. table.concat(list, ",") .. "}"
end

-- A column as a list; gaps of texts and dates are "NIL".
local function values(c)
  if type(c) == "userdata" then return c:totable() end
  local list = {}
  for i = 1, #c do
    local v = c[i]
    list[i] = v == nil and "NIL" or v
  end
  return list
end

-- Equal in value and in the type of numbers; NaN equals itself.
local function same(a, b)
  if type(a) == "table" and type(b) == "table" then
    for key, v in pairs(a) do if not same(v, b[key]) then return false end end
    for key in pairs(b) do if a[key] == nil then return false end end
    return true
  end
  return a ~= a and b ~= b or a == b and math.type(a) == math.type(b)
end

local function cases()
  local list = {}
  for line in io.lines "modules/frame/spec/golden/contract.txt" do
    local code, kind, want = line:match "^(.*) %-%-([>!]) (.*)$"
    list[#list + 1] = {code = code, fails = kind == "!",
      want = load("return " .. want)()}
  end
  return list
end

describe("la.frame, as its pages say:", function()
  local files
  setup(function() files = folder.new() end)
  teardown(function() files:remove() end)
  local env = setmetatable({la = la, F = F, gap = F.gap, L = values, S = shown,
    W = function(name, text) return files:write(name, text) end,
    RD = function(name) return files:read(name) end,
    PATH = function(name) return files:path(name) end,
    X = F{k = {"b", "a", "b", "a"}, x = {1, 2, 3, 4},
      y = {1.5, F.gap, 2.5, F.gap},
      d = F.date{"2024-01-03", "2024-01-01", F.gap, "2024-02-01"}},
    R = F{t = F.date{"2024-01-03", "2024-01-01", "2024-01-03"},
      x = {1, 2, 3}},
    A = F{k = {1, 2, 2, 3}, a = {"p", "q", "r", "s"}},
    B = F{k = {2, 2, 4, 1}, b = {10, 20, 30, 40}},
    P = F{i = {"a", "a", "b"}, c = {"u", "v", "u"}, v = {1, 2, 3}},
  }, {__index = _G})

  for _, case in ipairs(cases()) do
    it(case.code, function()
      if case.fails then
        local fine, message = pcall(assert(load(case.code, "=in", "t", env)))
        assert.is_false(fine)
        message = tostring(message):gsub(files.name .. "/", "", 1)
        assert.truthy(message:find(case.want, 1, true), message)
        return
      end
      local v = assert(load("return " .. case.code, "=in", "t", env))()
      if type(v) == "userdata" and type(case.want) == "table" then
        v = values(v)
      end
      assert.is_true(same(case.want, v), "got " .. shown(v))
    end)
  end
end)
