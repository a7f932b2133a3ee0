-- rope against rotations written out, with the first 'dims' features alone, and
-- what it refuses.
local la = require "lunarray"

local function rotated(x, dims, base, first, traditional)
  local y = x:clone()
  for l = 1, x:size(-2) do
    for i = 1, dims // 2 do
      local a = traditional and 2 * i - 1 or i
      local b = traditional and 2 * i or i + dims // 2
      local angle = (first + l - 1) * base ^ (-2 * (i - 1) / dims)
      local c, s = math.cos(angle), math.sin(angle)
      for n = 1, x:size(1) do
        local p, q = x:item(n, l, a), x:item(n, l, b)
        y[{n, l, a}] = p * c - q * s
        y[{n, l, b}] = p * s + q * c
      end
    end
  end
  return y
end

describe("rope", function()
  it("rotates pairs of the first features", function()
    local x = la.rand(2, 3, 8, {dtype = "float64"})
    for _, dims in ipairs{0, 2, 6, 8} do
      for _, traditional in ipairs{false, true} do
        local y = x:rope(5, {dims = dims, base = 100,
                             traditional = traditional})
        local want = rotated(x, dims, 100, 5, traditional)
        assert.is_true(la.allclose(y, want, 1e-9, 1e-12), "dims " .. dims)
      end
    end
    local y = rotated(x, 8, 10000, 0, false)
    assert.is_true(la.allclose(x:rope(), y, 1e-9, 1e-12))
  end)

  it("refuses odd, negative and too many features, and vectors", function()
    for _, dims in ipairs{-2, -1, 1, 7, 9, 10} do
      local ok, why = pcall(la.rope, la.rand(2, 3, 8), {dims = dims})
      assert.is_false(ok)
      assert.truthy(why:find("#4 to 'rope' (an even number of features, 8 at "
        .. "most, expected, got " .. dims .. ")", 1, true), why)
    end
    for n, x in pairs{[0] = la.tensor(1.5), [1] = la.rand(4)} do
      local ok, why = pcall(la.rope, x)
      assert.is_false(ok)
      assert.truthy(why:find("at least 2 dims (length, features) expected, got "
        .. n, 1, true), why)
    end
    assert.same({2, 8}, {la.rand(2, 8):rope():size()})
  end)
end)
