-- How often the collector runs for tensors' sake: cycles are counted, as their
-- time depends on the machine. A cycle walks what lives, so a list that grows
-- by a tensor at a time must not see one every few tensors.
local la = require "lunarray"
local cycles = require "spec.support.cycles"

local a, b = la.rand(4), la.rand(4)

local function append(list, n)
  for _ = 1, n do list[#list + 1] = a + b end
end

local function discard(n)
  local sum
  for _ = 1, n do sum = a + b end
  return sum
end

describe("the collector's pace", function()
  local mode
  before_each(function() mode = collectgarbage "generational" end)
  after_each(function()
    collectgarbage(mode)
    collectgarbage()
  end)

  it("is the slower the more tensors a script keeps", function()
    for _, way in ipairs {"generational", "incremental"} do
      collectgarbage(way)
      local list, counts = {}, {}
      for k = 1, 3 do
        counts[k] = cycles.count(append, list, 10000 * 2 ^ (k - 1))
      end
      -- each time as many tensors as there are, so about as many cycles
      assert.is_true(counts[3] <= 2 * counts[1] + 20, way .. ": "
        .. table.concat(counts, ", "))
    end
  end)

  it("lets few dead ones pile up next to many that live", function()
    for _, way in ipairs {"generational", "incremental"} do
      collectgarbage(way)
      local list = {}
      append(list, 40000)
      collectgarbage()
      local before, most = la.memory(), 0
      local n = cycles.count(function()
        for _ = 1, 60 do
          discard(500)
          most = math.max(most, (la.memory()))
        end
      end)
      local each = before / #list
      assert.is_true(most - before < 40000 * each, way)
      if way == "incremental" then assert.is_true(n <= 4, n) end
    end
  end)

  it("has collected nearly all of a loop that keeps nothing", function()
    for _, way in ipairs {"generational", "incremental"} do
      collectgarbage(way)
      collectgarbage()
      local before, most = la.memory(), 0
      for _ = 1, 100 do
        discard(1000)
        most = math.max(most, (la.memory()))
      end
      assert.is_true(most - before < 4000 * 512, way .. ": " .. most - before)
    end
  end)
end)
