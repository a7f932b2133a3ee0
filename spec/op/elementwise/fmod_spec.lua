-- fmod, remainder and floor_divide of quotients of any size, against math.fmod
-- of the C library, which shifts one bit at a time.
local la = require "lunarray"

-- Numbers of all exponents: subnormal ones, powers of 2, few and many bits.
local function numbers(n, least, most)
  math.randomseed(11, 5)
  local list = {}
  for k = 1, n do
    local e = math.random(least, most)
    local bits = k % 4 == 0 and 1.0 or k % 4 == 1 and math.random(1, 9) / 8
      or 1 + math.random()
    local half = e // 2
    list[k] = (k % 3 == 0 and -bits or bits) * 2.0 ^ half * 2.0 ^ (e - half)
  end
  return list
end

local function compare(dtype, least, most)
  local n = 4000
  local all = la.tensor(numbers(2 * n, least, most), {dtype = dtype})
  local a, b = all[{{1, n}}]:contiguous(), all[{{n + 1, 2 * n}}]:contiguous()
  local x, y = a:totable(), b:totable()
  local rest, modulo = a:fmod(b):totable(), a:remainder(b):totable()
  for k = 1, n do
    local want = y[k] == 0 and 0 / 0 or math.fmod(x[k], y[k])
    local ok = want ~= want and rest[k] ~= rest[k]
      or (want == rest[k] and 1 / want == 1 / rest[k])
    assert.is_true(ok, ("%a fmod %a: %a, expected %a"):format(x[k], y[k],
                                                            rest[k], want))
    if want == want and want ~= 0 then
      local up = (want < 0) ~= (y[k] < 0)
      local sum = la.tensor({want}, {dtype = dtype})
      if up then sum = sum + la.tensor({y[k]}, {dtype = dtype}) end
      assert.equal(sum:item(1), modulo[k])
    end
  end
end

describe("fmod of any quotient", function()
  it("is exact in float64", function() compare("float64", -1074, 1022) end)
  it("is exact in float32", function() compare("float32", -149, 126) end)

  it("keeps to the rules at infinities, zeros and NaN", function()
    local inf, nan = math.huge, 0 / 0
    local double = {dtype = "float64"}
    local a = la.tensor({inf, -inf, 1e308, -3, 0, -0.0, nan, 5}, double)
    local b = la.tensor({2, 2, inf, -inf, 3, 3, 1, 0}, double)
    local r = a:fmod(b):totable()
    for _, k in ipairs{1, 2, 7, 8} do assert.is_true(r[k] ~= r[k]) end
    assert.same({1e308, -3, 0}, {r[3], r[4], r[5]})
    assert.equal(-inf, 1 / r[6])
  end)
end)
