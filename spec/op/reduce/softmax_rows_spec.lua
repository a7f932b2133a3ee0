-- Softmax and its logarithm along rows of lengths where kernels change their
-- way: against exponentials in double, and each row against itself alone.
local la = require "lunarray"

local LENGTHS = {1, 31, 32, 47, 48, 49, 64, 65, 100, 129, 200, 333, 1000, 4096,
                 9001, 16385}
local BOUND = {float16 = 2 ^ -11, bfloat16 = 2 ^ -8, float32 = 4e-7,
               float64 = 1e-14}

local function reference(x)
  local e = (x:double() - x:double():amax(2, true)):exp()
  local sum = e:sum(2, true)
  return e / sum, x:double() - x:double():amax(2, true) - sum:log()
end

describe("softmax of rows", function()
  for dtype, bound in pairs(BOUND) do
    it("is that of exponentials in double, " .. dtype, function()
      for _, n in ipairs(LENGTHS) do
        local x = (la.randn({5, n}, {generator = la.Generator(n)}) * 3)
          :to(dtype)
        local p, logs = reference(x)
        local small = dtype == "float16" and 1e-7 or 0
        local off = (x:softmax(2):double() - p):abs()
        -- An exponential's error grows with the distance from the largest.
        assert.is_true(off:le(p * (bound * 20) + small):all(), n)
        off = (x:log_softmax(2):double() - logs):abs()
        assert.is_true(off:le(logs:abs() * (bound * 4) + bound):all(), n)
      end
    end)

    it("has the bits of each row alone, " .. dtype, function()
      for _, n in ipairs(LENGTHS) do
        local x = la.randn({37, n}):to(dtype)
        for _, name in ipairs {"softmax", "log_softmax"} do
          local all = x[name](x, 2)
          for _, first in ipairs {1, 2, 16, 30, 37} do
            local some = x:slice(1, first, -1)
            assert.is_true(all:slice(1, first, -1):equal(some[name](some, 2)))
          end
        end
      end
    end)

    it("is NaN where a NaN or an infinity is largest, " .. dtype, function()
      for _, n in ipairs {49, 64, 100, 1000, 17000} do
        for _, odd in ipairs {0 / 0, 1 / 0} do
          local x = la.zeros({20, n}, {dtype = dtype})
          x[{3, n}], x[{17, 1}] = odd, odd
          x[{5, n // 2}] = -1 / 0
          x:select(1, 9):fill_(-1 / 0)
          for _, name in ipairs {"softmax", "log_softmax"} do
            local y = x[name](x, 2)
            assert.same({false, false, true, false, false, false, false, false,
              true, false, false, false, false, false, false, false, true,
              false, false, false}, y:isnan():any(2):totable())
            assert.equal(name == "softmax" and 0 or -1 / 0,
              y[{5, n // 2}]:item())
          end
        end
      end
    end)
  end
end)
