-- la.frame against pandas: the cases of modules/frame/spec/golden/pandas.ndjson,
-- each an expression of Lua and the columns that pandas has for it.
local la = require "lunarray"
local json = require "dkjson"

local GOLDEN = "modules/frame/spec/golden/"
local F = la.frame

-- What a cell is in the record: nil for gaps, texts for infinities.
local function recorded(v)
  if v == json.null then return nil end
  if v == "inf" then return math.huge elseif v == "-inf" then
    return -math.huge
  end
  return v
end

local function same(want, got)
  if type(want) == "number" and type(got) == "number" then
    return want == got
      or math.abs(want - got) <= 1e-9 * math.max(1, math.abs(want))
  end
  if type(want) == "boolean" and type(got) == "number" then
    return got == (want and 1 or 0)
  end
  if type(want) == "string" and type(got) == "string" then
    return want == got or want .. " 00:00:00" == got
  end
  return want == got
end

describe("la.frame, as pandas has it:", function()
  local env = {F = F}
  env.f = la.read_csv(GOLDEN .. "sales.csv", {dtypes = {when = "date"}})
  env.g = la.read_csv(GOLDEN .. "people.csv")
  for line in io.lines(GOLDEN .. "pandas.ndjson") do
    local r = json.decode(line, 1, json.null)
    it(r.lua, function()
      local frame = assert(load("return " .. r.lua, r.lua, "t", env))()
      assert.same(r.names, frame.names)
      for _, name in ipairs(r.names) do
        local want = r.columns[name]
        assert.equal(#want, #frame, name)
        for i = 1, #want do
          local got, wanted = frame[i][name], recorded(want[i])
          assert.is_true(same(wanted, got), ("%s[%d]: %s, pandas has %s")
            :format(name, i, tostring(got), tostring(wanted)))
        end
      end
    end)
  end
end)
