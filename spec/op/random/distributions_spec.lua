-- Distributions with parameters for each element: moments, sizes, tails.
local la = require "lunarray"
local raises = require "spec.support.raises"

local N = 40000
local inf, nan = math.huge, 0 / 0

-- Within five standard errors of the mean, and near the variance.
local function has_moments(x, mean, var, tolerance)
  x = x:double()
  local m, v = x:mean():item(), x:var():item()
  assert.is_true(math.abs(m - mean) < 5 * (var / N) ^ 0.5, "mean " .. m)
  assert.is_true(math.abs(v - var) < (tolerance or 0.05) * var, "var " .. v)
end

local function fresh() return {generator = la.Generator(7)} end

describe("distributions", function()
  it("have their moments", function()
    local g = fresh()
    has_moments(la.laplace(1, 2, {N}, g), 1, 8, 0.1)
    has_moments(la.gumbel(1, 2, {N}, g), 2.154431, 6.579736, 0.1)
    has_moments(la.weibull(2, 1.5, {N}, g), 1.805491, 1.502761)
    has_moments(la.chisquare(3, {N}, g), 3, 6, 0.1)
    has_moments(la.student_t(8, {N}, 1, 2, g), 1, 16 / 3, 0.15)
    has_moments(la.gamma(0.3, 2, {N}, g), 0.6, 1.2, 0.1)
    has_moments(la.beta(0.3, 0.5, {N}, g), 0.375, 0.130208)
    has_moments(la.beta(3, 2, {N}, g), 0.6, 0.04)
    has_moments(la.binomial(40, 0.3, {N}, g), 12, 8.4)
    has_moments(la.bernoulli(0.3, {N}, g), 0.3, 0.21)
    has_moments(la.truncated_normal(0, 1, -2, 2, {N}, g), 0, 0.773741)
    has_moments(la.truncated_normal(3, 2, 3, inf, {N}, g), 4.595769, 1.453521)
    -- tiny parameters give 0 or 1, not 0 / 0
    has_moments(la.beta(1e-4, 2e-4, {N}, g), 1 / 3, 2 / 9)
    assert.is_false(la.dirichlet(la.tensor {1e-4, 2e-4}, {N}, g):isnan():any())
  end)

  it("are exact far out in the tails", function()
    local x = la.truncated_normal(0, 1, 8, 9, {N}, {dtype = "float64"})
    assert.is_true(math.abs(x:mean():item() - 8.121368) < 2e-3)
    assert.is_true(x:ge(8):logical_and(x:le(9)):all())
    x = la.truncated_normal(0, 1, -inf, -300, {N}, {dtype = "float64"})
    assert.is_true(math.abs(x:mean():item() + 300 + 1 / 300) < 1e-4)
    x = la.truncated_normal(5, 0.001, -1, 1, {100})
    assert.is_true(x:le(1):logical_and(x:gt(0.99999)):all())
    x = la.zeros(50, 40):t():trunc_normal_(0, 1, -1, 3)
    assert.is_true(x:ge(-1):logical_and(x:le(3)):all())
    assert.equal(inf, la.truncated_normal(0, 1, 1e300, inf):item())
    assert.equal(1, la.truncated_normal(nan, 1, -1, 1):isnan():sum():item())
  end)

  it("broadcast parameters and sizes", function()
    local row = la.tensor {1, 2, 3}
    for _, f in ipairs {la.gamma, la.beta, la.laplace, la.gumbel, la.weibull} do
      assert.same({4, 3}, f(row, 1.5, {4, 3}).shape)
      assert.same({2, 3}, f(row, la.ones(2, 1)).shape)
      assert.same({}, f(1, 2).shape)
      assert.equal("float64", f(row:double(), 1).dtype)
      assert.equal("float16", f(1, 1, {2}, {dtype = "float16"}).dtype)
      assert.equal("meta", f(row:to("meta"), 1, {2, 3}).device)
      raises("size of tensor", f, row, 1, {2})
      raises("negative dimension", f, 1, 1, {-1})
      raises("floating dtype", f, 1, 1, {1}, {dtype = "int64"})
      raises(f == la.weibull and "above 0" or "negative", f, 1, -1)
      raises("'ComplexFloat'", f, la.ones(1, {dtype = "complex64"}), 1)
    end
    assert.same({5, 3}, la.student_t(row, {5, 3}).shape)
    assert.same({0}, la.chisquare(1, {0}).shape)
    assert.same({2, 3}, la.binomial(row, 0.5, {2, 3}).shape)
    assert.same({3, 2}, la.bernoulli(la.tensor {0., 1}, {3, 2}).shape)
    assert.equal("int64", la.bernoulli(0.5, {2}, {dtype = "int64"}).dtype)
    raises("above 0", la.chisquare, 0)
    raises("between 0 and 1", la.binomial, 3, 2)
  end)

  it("give each element its own stream", function()
    for _, f in ipairs {la.gamma, la.beta, la.laplace, la.weibull} do
      local few = f(0.7, 1.3, {10}, fresh())
      local many = f(0.7, 1.3, {5000}, fresh())
      assert.is_true(la.equal(few, many:narrow(1, 1, 10)))
    end
  end)

  it("of NaN are NaN, whatever the others are", function()
    local function all_nan(f, ...)
      assert.is_true((f(...):isnan():all()))
    end
    for _, other in ipairs {0.5, 1.0, 3.0, inf} do
      for _, f in ipairs {la.gamma, la.beta, la.weibull, la.laplace,
        la.gumbel} do
        all_nan(f, la.full({3}, other), la.full({3}, nan))
        all_nan(f, la.full({3}, nan), la.full({3}, other))
      end
    end
    all_nan(la.gamma, la.zeros(3), la.full({3}, nan))
  end)

  it("of vectors have their sums and covariances", function()
    local g = fresh()
    local d = la.dirichlet(la.tensor {1, 2, 3}, {N}, g)
    assert.same({N, 3}, d.shape)
    assert.is_true(la.allclose(d:sum(2), la.ones(N), 0, 1e-6))
    assert.is_true(la.allclose(d:mean(1), la.tensor {1., 2, 3} / 6, 0, 0.01))
    local c = la.tensor {{2, 0.6}, {0.6, 1}}
    local x = la.multivariate_normal(la.tensor {1., -1}, c, {N}, g)
    assert.is_true(la.allclose(x:mean(1), la.tensor {1., -1}, 0, 0.04))
    assert.is_true(la.allclose(x:t():cov(), c, 0, 0.06))
    assert.same({5, 4, 3}, la.multivariate_normal(la.zeros(3), la.eye(3)
      :expand(4, 3, 3), {5, 4}).shape)
    assert.same({3}, la.multivariate_normal(la.zeros(3), nil, nil,
      {scale_tril = la.eye(3)}).shape)
    raises("either cov or", la.multivariate_normal, la.zeros(3))
    raises("3 x 3 is expected", la.multivariate_normal, la.zeros(3), la.eye(2))
    raises("is not positive", la.multivariate_normal, la.zeros(2), -la.eye(2))
  end)
end)
