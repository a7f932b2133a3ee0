-- Comparisons and questions of 64-bit elements, next to Lua's: every element of
-- more than whole vectors by itself.
local la = require "lunarray"

local nan, inf = 0 / 0, 1 / 0
local floats = {0.0, -0.0, 1, -1, nan, inf, -inf, 1e-320, 2.5, -1e300}
local ints = {0, 1, -1, math.maxinteger, math.mininteger, 1 << 32, -(1 << 32)}

-- Pairs in an order that does not repeat within a vector.
local function pairs_of(values)
  local a, b = {}, {}
  for i = 0, 166 do
    a[i + 1] = values[(i * i + i // 7) % #values + 1]
    b[i + 1] = values[(3 * i + i // 11) % #values + 1]
  end
  return a, b
end

local two = {
  eq = function(x, y) return x == y end, ne = function(x, y) return x ~= y end,
  lt = function(x, y) return x < y end, le = function(x, y) return x <= y end,
  gt = function(x, y) return x > y end, ge = function(x, y) return x >= y end,
  logical_and = function(x, y) return x ~= 0 and y ~= 0 end,
  logical_or = function(x, y) return x ~= 0 or y ~= 0 end,
  logical_xor = function(x, y) return (x ~= 0) ~= (y ~= 0) end
}
local one = {
  isnan = function(x) return x ~= x end,
  isinf = function(x) return x == inf or x == -inf end,
  isposinf = function(x) return x == inf end,
  isneginf = function(x) return x == -inf end,
  isfinite = function(x) return x - x == 0 end,
  signbit = function(x)
    return x < 0 or x == 0 and math.type(x) == "float" and 1 / x < 0
  end,
  logical_not = function(x) return x == 0 end
}

describe("truths of 64-bit elements", function()
  for dtype, values in pairs{float64 = floats, int64 = ints} do
    local x, y = pairs_of(values)
    local a = la.tensor(x, {dtype = dtype})
    local b = la.tensor(y, {dtype = dtype})
    for op, f in pairs(two) do
      it(op .. " of " .. dtype, function()
        local got, by = la[op](a, b):totable(), la[op](a, y[3]):totable()
        for i = 1, #x do
          assert.are.equal(f(x[i], y[i]), got[i])
          assert.are.equal(f(x[i], y[3]), by[i])
        end
      end)
    end
    for op, f in pairs(one) do
      it(op .. " of " .. dtype, function()
        local got = la[op](a):totable()
        for i = 1, #x do
          -- The sign of NaN is the machine's affair.
          if op ~= "signbit" or x[i] == x[i] then
            assert.are.equal(f(x[i]), got[i])
          end
        end
      end)
    end
  end
end)
