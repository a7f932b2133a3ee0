-- Random programs (spec/support/programs), eager and compiled, with all passes
-- and with each left out: equal to the bit after each of several calls.
-- PROGRAMS=20000 runs as many, PROGRAMS_FIRST=n begins with seed n; make
-- programs runs them on every CPU path and with one thread and two.
local draw = require "spec.support.programs.draw"
local worlds = require "spec.support.programs.worlds"

local COUNT = tonumber(os.getenv "PROGRAMS" or "") or 250
local FIRST = tonumber(os.getenv "PROGRAMS_FIRST" or "") or 1

describe("random programs", function()
  it("do compiled what they do as they are", function()
    local ways, faults = worlds.ways(), {}
    for seed = FIRST, FIRST + COUNT - 1 do
      for _, way in ipairs(worlds.some(ways, seed)) do
        local p = draw.program(seed)
        local why = worlds.disagreement(p, way.compile)
        if why then
          faults[#faults + 1] = ("%d, %s: %s\n%s"):format(seed, way.name, why,
            worlds.text(p))
        end
      end
      if #faults >= 3 then break end
    end
    assert.equal("", table.concat(faults, "\n\n"))
    assert.is_true(worlds.refused < COUNT // 2)
  end)
end)
