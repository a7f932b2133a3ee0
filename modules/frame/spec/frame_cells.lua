-- Compares a frame with the columns of a record of modules/frame/spec/golden.
local assert = require "luassert"
local json = require "dkjson"

local cells = {}

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

-- The records of a file of lines.
function cells.records(path)
  local list = {}
  for line in io.lines(path) do
    list[#list + 1] = json.decode(line, 1, json.null)
  end
  return list
end

function cells.check(record, frame)
  assert.same(record.names, frame.names)
  for _, name in ipairs(record.names) do
    local want = record.columns[name]
    assert.equal(#want, #frame, name)
    for i = 1, #want do
      local got, wanted = frame[i][name], recorded(want[i])
      assert.is_true(same(wanted, got), ("%s[%d]: %s, pandas has %s")
        :format(name, i, tostring(got), tostring(wanted)))
    end
  end
end

return cells
