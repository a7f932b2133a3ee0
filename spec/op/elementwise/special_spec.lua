-- Special functions: edges, and values from 50 digits (mpmath).
local la = require "lunarray"

local nan, inf = 0 / 0, math.huge

local function doubles(list) return la.tensor(list, {dtype = "float64"}) end

-- Within 'ulps' units of 2^-52 of each value; NaN and infinities exactly.
local function near(want, got, ulps)
  want = doubles(want)
  local odd = want:isnan():logical_or(want:isinf())
  local same = want:eq(got):logical_or(want:isnan():logical_and(got:isnan()))
  assert.is_true(same:logical_or(odd:logical_not()):all(), tostring(got))
  local off = (got - want):abs() / want:abs():clamp_min(1e-300)
  off = la.where(same, 0.0, off)
  assert.is_true(off:max():item() <= ulps * 2^-52,
    ("%s: %s"):format(tostring(got), off:max():item() * 2^52))
end

describe("special functions", function()
  it("are exact to a few units, far out too", function()
    near({0.0022567357671583103, 5.6418958354775629e-101, inf,
      108.94090438997797, 0, 1, nan},
      la.erfcx(doubles {250.0005, 1e100, -27, -2, inf, 0, nan}), 4)
    near({0, -inf, nan, 0.34657359027997265, 0},
      la.entr(doubles {0, -1, nan, 0.5, 1}), 2)
    near({-inf, nan, 0.088256964215676958, nan},
      la.bessel_y0(doubles {0, -1, 1, nan}), 4)
    near({inf, nan, 0.42102443824070834, 0.1138938727495334, 0},
      la.special.modified_bessel_k0(doubles {0, -1, 1, 2, inf}), 6)
    near({inf, 0.60190723019723458, 0.13986588181652243},
      la.special.modified_bessel_k1(doubles {0, 1, 2}), 6)
    near({0.12579995047957853, 0},
      la.special.scaled_modified_bessel_k1(doubles {100, inf}), 6)
  end)

  it("of two arguments have their limits", function()
    near({nan, 1, 0, 0, 1, nan, nan, nan},
      la.igamma(doubles {0, 0, 1, inf, 2, -1, 2, nan},
        doubles {0, 1, 0, 3, inf, 1, -1, 1}), 0)
    near({nan, 0, 1, 1, 0, nan},
      la.igammac(doubles {0, 0, 1, inf, 2, -1},
        doubles {0, 1, 0, 3, inf, 1}), 0)
    near({inf, nan, inf, nan, inf}, la.zeta(doubles {1, 0.5, 2, 2.5, 2},
      doubles {2, 2, 0, -1.5, -3}), 0)
    near({1.6449340668482264, 8.9348022005446793}, la.zeta(2,
      doubles {1, -0.5}), 8)
    assert.is_true(la.igamma(la.tensor {1, 2}, 1).dtype == "float32")
  end)

  it("say which derivative there is none of", function()
    local a = la.ones(2, {requires_grad = true})
    for _, f in ipairs {la.igamma, la.igammac, la.zeta} do
      local ok, why = pcall(function() f(a + 1, 2):sum():backward() end)
      assert.is_false(ok)
      assert.is_truthy(why:find("argument 1 is not implemented", 1, true))
    end
  end)

  it("spherical_bessel_j0 is sin(x) / x far out", function()
    local list = {0, 0.5, -1, 1.5, 1e3, -12345.678, 6762071741.967936, inf, nan}
    local want = {}
    for i, x in ipairs(list) do
      want[i] = x == 0 and 1 or x == inf and 0 or math.sin(x) / x
    end
    near(want, la.special.spherical_bessel_j0(doubles(list)), 4)
    local x = doubles {0, 2.5}:requires_grad_()
    la.special.spherical_bessel_j0(x):sum():backward()
    near({0, math.cos(2.5) / 2.5 - math.sin(2.5) / 6.25}, x.grad, 4)
  end)

  it("stand in la.special", function()
    assert.equal(la.gammaln, la.special.gammaln)
    assert.equal(la.lgamma(2.5):item(), la.special.gammaln(2.5):item())
    assert.is_truthy(la.help "special.gammaln":find("another name of lgamma"))
    for _, name in ipairs {"erfcx", "xlogy", "polygamma", "bessel_j1",
        "modified_bessel_i0", "spherical_bessel_j0"} do
      assert.equal("function", type(la.special[name]), name)
    end
  end)
end)

describe("frexp", function()
  it("is undone by ldexp, for subnormals too", function()
    local x = doubles {0, -0.0, 1, -3, 5e-324, 2^-1050, 1.5e308, inf, nan}
    local m, e = x:frexp()
    assert.equal("int32", e.dtype)
    assert.is_true(la.equal(m:narrow(1, 1, 8):ldexp(e:narrow(1, 1, 8)),
      x:narrow(1, 1, 8)))
    assert.same({0, 0, 1, 2, -1073, -1049, 1024, 0, 0}, e:totable())
    local h, k = la.tensor({6e-8, 65504}, {dtype = "float16"}):frexp()
    assert.same({-23, 16}, k:totable())
    assert.equal("float16", h.dtype)
    local leaf = la.tensor({3.0}):requires_grad_()
    leaf:frexp():backward(la.ones(1))
    assert.equal(0.25, leaf.grad:item())
  end)
end)
