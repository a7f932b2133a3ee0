-- The arena of programs with more slots than the order of size is for.
local la = require "lunarray"

-- Calls of their own (no chains), of lives and sizes that differ.
local function unrolled(n)
  return function(x, w)
    local y, kept, sum = x, {}, la.zeros(16)
    for i = 1, n do
      y = w:mv(y)
      if i % 7 == 0 then kept[#kept + 1] = y:flip(1):cumsum(1) end
      if i % 50 == 0 then
        local wide = la.outer(y, x):sort(1)
        sum = sum + table.remove(kept, 1 + i % #kept) + wide[1 + i % 16]
      end
      if i % 11 == 0 then y = y:narrow(1, 1, 8):repeat_interleave(2) end
    end
    for _, t in ipairs(kept) do sum = sum + t end
    return sum, y
  end
end

describe("the arena of a program of thousands of steps", function()
  for _, n in ipairs{100, 2500} do
    it("holds what is in use at a time: " .. n, function()
      local f = unrolled(n)
      local step = la.compile(f)
      for _ = 1, 3 do
        local x, w = la.rand(16), la.randn(16, 16):qr()
        local sum, y = f(x, w)
        local compiled, last = step(x, w)
        assert.is_true(la.equal(sum, compiled))
        assert.is_true(la.equal(y, last))
      end
      local text = step:explain()
      local slots = text:match "tensors that share the arena: (%d+)"
      local size, unit = text:match "arena: (%d+) (%a+)"
      assert.is_true(tonumber(slots) > n)
      local bytes = tonumber(size) * (unit == "KB" and 1024 or 1)
      -- Each seventh vector of 64 bytes waits; few are at work.
      assert.is_true(bytes < 64 * n / 7 + 8192, size .. " " .. unit)
    end)
  end
end)
