-- Every operation against the values that PyTorch gives (spec/golden).
-- LUNARRAY_GOLDEN=add,mul runs only these files.
local modules = require "spec.support.modules"
local records = require "spec.support.records"

local MOST_SHOWN = 5

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
  for _, path in ipairs(modules.golden()) do
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
