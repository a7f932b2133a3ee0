-- lfilter without recursion: the bits of the states' own sums, as one would add
-- them up by hand, for lengths around those of vectors, with states and with
-- several signals.
local la = require "lunarray"

-- The transposed direct form II, for lists of numbers.
local function by_hand(b, x, z)
  local y, order = {}, #b - 1
  for i = 1, #x do
    y[i] = z[1] + b[1] * x[i]
    for k = 1, order do z[k] = z[k + 1] + b[k + 1] * x[i] end
  end
  return y
end

local function same(want, got)
  for i = 1, #want do
    if want[i] ~= got[i] then return false end
  end
  return #want == #got
end

describe("lfilter without recursion", function()
  it("adds up what the states would", function()
    local one = la.tensor({1}, {dtype = "float64"})
    for _, taps in ipairs{2, 3, 4, 9, 17, 32, 33, 64, 65, 66} do
      for _, n in ipairs{1, taps - 1, taps, taps + 1, taps + 127, 300} do
        la.manual_seed(taps * 1000 + n)
        local b = la.randn(taps, {dtype = "float64"})
        local x = la.randn(3, n, {dtype = "float64"})
        local zi = la.randn(3, taps - 1, {dtype = "float64"})
        local many, last = la.signal.lfilter(b, one, x, {dim = -1, zi = zi})
        for row = 1, 3 do
          local z = zi[row]:totable()
          z[taps] = 0
          local want = by_hand(b:totable(), x[row]:totable(), z)
          z[taps] = nil
          assert.is_true(same(want, many[row]:totable()))
          assert.is_true(same(z, last[row]:totable()))
          local y, zf = la.signal.lfilter(b, one, x[row],
            {zi = zi[row]})
          assert.is_true(same(want, y:totable()))
          assert.is_true(same(z, zf:totable()))
        end
      end
    end
  end)

  it("keeps the signals of vectors apart", function()
    local one = la.tensor{1.}
    for _, taps in ipairs{3, 12, 33, 40} do
      local b, x = la.randn(taps), la.randn(70, 90)
      local y = la.signal.lfilter(b, one, x)
      for row = 1, 70, 23 do
        assert.is_true(y[row]:equal(la.signal.lfilter(b, one, x[row])))
      end
    end
  end)

  it("makes no NaN of an infinity that has passed", function()
    local x = la.zeros(20)
    x[3] = math.huge
    local y = la.signal.lfilter(la.tensor{1., 2., 1.}, la.tensor{1.}, x)
    assert.is_false(y:isnan():any())
    assert.equal(3, y:isinf():sum():item())
  end)
end)
