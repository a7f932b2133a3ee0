-- Functions of complex64 go by vectors of doubles: each component is that of
-- complex128, rounded once; values that C has rules for are the same.
local la = require "lunarray"

local names = {"log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "sin",
  "cos", "tan", "sinh", "cosh", "tanh", "atan", "atanh", "sigmoid"}

local function parts(z) return la.real(z):totable(), la.imag(z):totable() end

-- Half a unit in the last place, and what double leaves of it.
local function near(a, b)
  if a ~= a or b ~= b then return a ~= a and b ~= b end
  if a == b then return b ~= 0 or 1 / a == 1 / b end
  return math.abs(a - b) <= 6e-8 * math.abs(b) + 1e-45
end

local function agree(name, x, y)
  local f = la[name]
  local got, wide
  if y then
    got, wide = f(x, y), f(x:to("complex128"), y:to("complex128"))
  else
    got, wide = f(x), f(x:to("complex128"))
  end
  local re, im = parts(got)
  local want_re, want_im = parts(wide:to("complex64"))
  local of_re, of_im = parts(x)
  for i = 1, #re do
    if not (near(re[i], want_re[i]) and near(im[i], want_im[i])) then
      error(("%s of %g, %g: %.9g, %.9g, not %.9g, %.9g"):format(name, of_re[i],
        of_im[i], re[i], im[i], want_re[i], want_im[i]))
    end
  end
end

describe("complex64", function()
  local g = la.Generator(11)
  local n = 803
  local function normal() return la.randn({n}, {generator = g}) end
  local angle = la.rand({n}, {generator = g}) * 6.28
  local sets = {
    unit = la.complex(normal(), normal()),
    circle = la.complex(angle:cos(), angle:sin()),
    ["circle about -1"] = la.complex(angle:cos() - 1, angle:sin()),
    large = la.complex(normal() * 1e19, normal() * 1e19),
    small = la.complex(normal() * 1e-19, normal() * 1e-19),
    mixed = la.complex(normal() * (normal() * 12):exp(),
      normal() * (normal() * 12):exp()),
  }
  local list = {0.0, -0.0, 1, -1, 1 / 0, -1 / 0, 0 / 0, 2.5, 1e-45, 3e38}
  local re, im = {}, {}
  for _, a in ipairs(list) do
    for _, b in ipairs(list) do re[#re + 1], im[#im + 1] = a, b end
  end
  sets.special = la.complex(la.tensor(re, {dtype = "float32"}),
    la.tensor(im, {dtype = "float32"}))

  for _, name in ipairs(names) do
    it(name .. " rounds once", function()
      for _, x in pairs(sets) do agree(name, x) end
    end)
  end

  it("powers round once", function()
    for label, x in pairs(sets) do
      if label ~= "special" then agree("pow", x, sets.unit) end
    end
    agree("pow", la.zeros(9, {dtype = "complex64"}),
      la.complex(la.arange(9) * 0.5, la.zeros(9)))
  end)
end)

describe("functions of complex128", function()
  -- Products of C's real functions: the truth to a few units.
  local exp, sin, cos = math.exp, math.sin, math.cos
  local function sinh(x) return (exp(x) - exp(-x)) / 2 end
  local function cosh(x) return (exp(x) + exp(-x)) / 2 end
  local truth = {
    exp = function(x, y) return exp(x) * cos(y), exp(x) * sin(y) end,
    sin = function(x, y) return sin(x) * cosh(y), cos(x) * sinh(y) end,
    cos = function(x, y) return cos(x) * cosh(y), -sin(x) * sinh(y) end,
    sinh = function(x, y) return sinh(x) * cos(y), cosh(x) * sin(y) end,
    cosh = function(x, y) return cosh(x) * cos(y), sinh(x) * sin(y) end
  }
  truth.tanh = function(x, y)
    local d = cosh(2 * x) + cos(2 * y)
    return sinh(2 * x) / d, sin(2 * y) / d
  end
  truth.tan = function(x, y)
    local re, im = truth.tanh(-y, x)
    return im, -re
  end
  truth.sigmoid = function(x, y)
    local u, v = 1 + exp(-x) * cos(y), exp(-x) * sin(y)
    local d = u * u + v * v
    return u / d, v / d
  end

  local re, im = {}, {}
  for _, x in ipairs{0.75, -1.5, 3, -7.25, 12.5, -20, 20.125} do
    for _, y in ipairs{1, -2.5, 0.25, 11, -1000.5, 1048575, 1048577, -3e9} do
      re[#re + 1], im[#im + 1] = x, y
    end
  end
  local function part(t) return la.tensor(t, {dtype = "float64"}) end
  local z = {{re, im}, {im, re}}
  for name, f in pairs(truth) do
    it(name .. " agrees with the real ones", function()
      local swapped = name == "sin" or name == "cos" or name == "tan"
      local a, b = table.unpack(z[swapped and 2 or 1])
      local got = la[name](la.complex(part(a), part(b)))
      local x, y = got.real:totable(), got.imag:totable()
      for i = 1, #a do
        local u, v = f(a[i], b[i])
        local size = math.max(math.abs(u), math.abs(v), 1e-300)
        local off = math.max(math.abs(x[i] - u), math.abs(y[i] - v)) / size
        assert.is_true(off < 4e-15, ("%s of %s, %s: %s, %s, not %s, %s")
          :format(name, a[i], b[i], x[i], y[i], u, v))
      end
    end)
  end
end)

describe("sgn of a complex zero", function()
  it("is 0, whatever the signs of its parts", function()
    for _, dtype in ipairs{"complex64", "complex128"} do
      local re = la.tensor{0.0, -0.0, 0.0, -0.0, -0.0}
      local im = la.tensor{0.0, 0.0, -0.0, -0.0, 2.0}
      for _, n in ipairs{1, 9} do       -- a vector and its rest
        local z = la.complex(re:repeat_interleave(n), im:repeat_interleave(n))
        local got = la.view_as_real(z:to(dtype):sgn())
        assert.is_false(got:narrow(1, 1, 4 * n):signbit():any())
        assert.equal(1.0, got[5 * n][2]:item())
      end
    end
  end)
end)

describe("running and scattered products", function()
  -- by the plain formula, which does not recover infinities
  it("are those of mul, one after the other", function()
    local inf = math.huge
    local values = {{1, 2}, {-0.5, 3}, {inf, 1}, {2, -inf}, {0, 1}}
    for _, dtype in ipairs {"complex128", "complex64"} do
      local x = la.view_as_complex(la.tensor(values, "float64")):to(dtype)
      local run, at = x:cumprod(1), x[1]
      local into = la.ones(1, {dtype = dtype})
      local first = la.tensor {1}
      for i = 1, #values do
        if i > 1 then at = at * x[i] end
        into = into:index_reduce(1, first, x[i]:reshape(1), "prod")
        for _, y in ipairs {run[i], into[1]} do
          assert.is_true(la.allclose(la.view_as_real(at), la.view_as_real(y),
                                     {equal_nan = true}))
        end
      end
    end
  end)
end)

-- abs of complex64 by hypot in double: parts whose squares leave the range of
-- float, zeros, infinities and NaN, each at every position of a vector.
describe("the modulus of complex64", function()
  local values = {0, -0.0, 1, -3, 4, 1e-45, 1e-30, 0x1p-62, 1e30, 3e38,
    math.huge, -math.huge, 0 / 0}
  local re, im = {}, {}
  for _, a in ipairs(values) do
    for _, b in ipairs(values) do
      for _ = 1, 5 do re[#re + 1], im[#im + 1] = a, b end
    end
  end
  it("is that of its parts in double", function()
    local x = la.tensor(re, {dtype = "float32"})
    local y = la.tensor(im, {dtype = "float32"})
    local exact = la.hypot(x:double(), y:double())
    local got = la.complex(x, y):abs()
    assert.is_true(la.allclose(got, exact:float(), {rtol = 1.2e-7,
      atol = 0, equal_nan = true}))
    local z = la.randn(1000, {dtype = "complex64",
      generator = la.Generator(1)})
    assert.is_true(la.allclose(z:abs():double(),
      z:to("complex128"):abs(), {rtol = 1.2e-7, atol = 0}))
  end)
end)
