-- Every operation against the values that PyTorch gives (spec/golden).
-- LUNARRAY_GOLDEN=add,mul runs only these files.
local records = require "spec.support.records"

local MOST_SHOWN = 5

local function files()
  local list = {}
  local pipe = assert(io.popen("LC_ALL=C ls spec/golden/*.jsonl"))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

local function wanted(name)
  local only = os.getenv("LUNARRAY_GOLDEN")
  return not only or ("," .. only .. ","):find("," .. name .. ",", 1, true)
end

local function failures(path)
  local list, n = {}, 0
  for r in records.each(path) do
    local why = records.run(r)
    n = n + 1
    if why then list[#list + 1] = ("%s: %s"):format(r.id, why) end
  end
  return list, n
end

describe("golden records of", function()
  for _, path in ipairs(files()) do
    local name = path:match("([^/]+)%.jsonl$")
    if wanted(name) then
      it(name, function()
        local list, n = failures(path)
        assert(#list == 0, ("%d of %d records differ\n  %s"):format(#list, n,
          table.concat(list, "\n  ", 1, math.min(#list, MOST_SHOWN))))
      end)
    end
  end
end)
