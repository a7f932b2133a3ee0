-- Statistics and curves: what the records of spec/golden don't reach.
local la = require "lunarray"
local raises = require "spec.support.raises"

local nan, inf = 0 / 0, math.huge

local function list(t) return t:totable() end

describe("reductions without NaN", function()
  it("take other dtypes, layouts and no dims", function()
    local x = la.tensor {{1, nan, 3}, {nan, 5, -inf}}
    for _, d in ipairs {"float16", "bfloat16", "float64"} do
      assert.same({3.0, 5.0}, list(x:to(d):nanmax(2)))
      assert.equal(d, x:to(d):nanvar(2).dtype)
    end
    assert.same({1.0, 5.0, -inf}, list(x:t():nanmin(2)))
    assert.equal(4, la.tensor(4):nanmax():item())
    assert.same({3, 2}, list(la.tensor {{1, 3}, {2, 0}}:nanmax(2)))
    assert.same({true, false},
      list(la.tensor {{true, false}, {false, false}}:nanmax(2)))
    assert.equal(2, la.tensor {nan, -inf}:nanargmax():item())
    assert.equal(1, la.tensor {nan, 2}:nanprod {dtype = "float64"}:isnan()
      :sum():item() + 1)
  end)

  it("refuse what has no answer", function()
    raises("All-NaN slice", la.nanargmax, la.tensor {{nan, nan}, {1, 2}}, 2)
    raises("nanmax", la.nanmax, la.zeros(0))
    assert.is_true(la.zeros(0, 2):nanvar(1):isnan():all())
    raises("ComplexFloat", la.nanmax, la.ones(2, {dtype = "complex64"}))
  end)

  it("give no gradient to NaN", function()
    local x = la.tensor {{1, nan, 3}, {nan, nan, nan}}
    for _, f in ipairs {"nanmax", "nanmin", "nanvar", "nanstd", "nanprod"} do
      local leaf = x:clone():requires_grad_()
      leaf[f](leaf, 2):nansum():backward()
      assert.same({false, true, false},
        list(leaf.grad[1]:eq(0):logical_and(x[1]:isnan())), f)
      assert.is_true(leaf.grad[2]:eq(0):all(), f)
    end
  end)

  it("are accurate in half precision", function()
    local x = la.full({5000}, 100, {dtype = "float16"})
    x:narrow(1, 1, 2500):add_(1)
    assert.equal(0.25, x:nanvar{correction = 0}:item())
  end)
end)

describe("percentiles and averages", function()
  it("take integers, several p and exact ranks", function()
    local x = la.arange(11)
    assert.equal(7.0, x:percentile(70, 1, {interpolation = "lower"}):item())
    assert.same({1.0, 7.0, 10.0},
      list(x:float():percentile(la.tensor {10, 70, 100},
        {interpolation = "lower"})))
    assert.same({3, 4}, la.ones(4, 5):percentile(la.tensor {1, 2, 3}, 2).shape)
    assert.equal("float16", x:half():percentile(50).dtype)
    raises("range [0, 100]", x.percentile, x, -1)
    raises("range [0, 100]", x.percentile, x, la.tensor {50, nan})
    raises("interpolation", x.percentile, x, 5, {interpolation = "cubic"})
  end)

  it("weigh along one dim or everywhere", function()
    local x = la.tensor {{1, 2}, {3, 6}}
    assert.same({1.75, 5.25},
      list(x:average(2, {weights = la.tensor {1, 3}})))
    assert.equal(3.0, x:average():item())
    raises("sum to zero", x.average, x, {weights = la.zeros(2, 2)})
    raises("weights need", x.average, x, {weights = la.ones(2)})
    raises("3 weights for 2", x.average, x, 1, {weights = la.ones(3)})
    assert.same({1, 4}, list(x:ptp(2) + la.tensor {0, 1}))
    assert.equal("meta", x:to("meta"):average(1, {weights = x[1]:to("meta")})
      .device)
  end)
end)

describe("polynomials", function()
  it("promote as tensors do", function()
    local p = la.tensor({1, 2, 3}, {dtype = "float64"})
    assert.equal("float64", la.polyval(p, la.ones(2)).dtype)
    assert.equal(11, la.polyval(la.tensor {1, 2, 3}, 2):item())
    assert.same({0.0, 0.0}, list(la.polyval(la.zeros(0), la.ones(2))))
    assert.equal("complex64",
      la.polyval(la.ones(2), la.ones(3, {dtype = "complex64"})).dtype)
    raises("one dimension", la.polyval, la.ones(2, 2), 1)
  end)

  it("fit far from zero, with weights, for several columns", function()
    local x = la.arange(2000, 2020, {dtype = "float64"})
    local y = (x - 2010):square() * 3 + 1
    local c = la.polyfit(x - 2010, y, 2)
    assert.is_true(la.allclose(c, la.tensor({3, 0, 1}, {dtype = "float64"}),
      0, 1e-9))
    assert.same({3, 2}, la.polyfit(x, la.stack({y, y}, 2), 2).shape)
    assert.equal("float64",
      la.polyfit(la.tensor {1, 2, 3}, la.ones(3), 1).dtype)
    assert.equal("float32", la.polyfit(la.arange(3):float(), la.ones(3), 1)
      .dtype)
    -- a weight of 0 leaves a point out
    local w = la.ones(4)
    w[4] = 0
    local line = la.polyfit(la.tensor {0., 1, 2, 3}, la.tensor {1., 3, 5, 0},
      1, {w = w})
    assert.is_true(la.allclose(line, la.tensor {2., 1}, 1e-5, 1e-5))
    raises("degree >= 0", la.polyfit, x, y, -1)
    raises("non-empty", la.polyfit, la.zeros(0), la.zeros(0), 1)
    raises("2 values for 3", la.polyfit, la.ones(3), la.ones(2), 1)
  end)
end)


describe("polynomials", function()
  it("have roots", function()
    for _, p in ipairs {{1, -6, 11, -6}, {0, 2, -4}, {1, 0, 1}, {3, 1, 0, 0}} do
      p = la.tensor(p)
      local r = la.roots(p)
      assert.equal("complex128", r.dtype)
      assert.is_true(la.polyval(p, r):abs():lt(1e-9):all())
    end
    assert.same({3}, la.roots(la.tensor {1, -6, 11, -6}).shape)
    assert.same({0}, la.roots(la.tensor {0, 5}).shape)
    assert.same({0}, la.roots(la.zeros(3)).shape)
    assert.equal("complex64", la.roots(la.tensor {1., 2, 3}).dtype)
    raises("one dimension", la.roots, la.ones(2, 2))
  end)

  it("are fitted with residuals, rank and singular values", function()
    local x = la.arange(5)
    local c, residuals, rank, values = la.polyfit(x, x * x, 2, {full = true})
    assert.is_true(la.allclose(c, la.tensor({1, 0, 0}, {dtype = "float64"}),
      0, 1e-12))
    assert.is_true(residuals:abs():lt(1e-20):all())
    assert.equal(3, rank:item())
    assert.same({3}, values.shape)
    assert.equal(1, select("#", la.polyfit(x, x * x, 2, {full = false})))
    -- one point four times: the shortest of all solutions, as NumPy's
    c, residuals, rank = la.polyfit(la.ones(4, {dtype = "float64"}),
      la.full({4}, 2, {dtype = "float64"}), 1, {full = true})
    assert.is_true(la.allclose(c, la.ones_like(c), 0, 1e-12))
    assert.equal(1, rank:item())
  end)
end)

describe("curves", function()
  it("go through their points", function()
    local xp, fp = la.tensor {1., 2, 4}, la.tensor {10., 20, -20}
    assert.equal(15.0, la.interp(1.5, xp, fp):item())
    assert.same({10.0, 20.0, -20.0}, list(la.interp(xp, xp, fp)))
    assert.is_true(la.interp(la.tensor {nan}, xp, fp):isnan():all())
    assert.same({2, 0}, la.interp(la.zeros(2, 0), xp, fp).shape)
    assert.equal("complex64",
      la.interp(1.5, xp, la.ones(3, {dtype = "complex64"})).dtype)
    raises("same length", la.interp, 1, xp, la.ones(2))
    raises("empty", la.interp, 1, la.zeros(0), la.zeros(0))
    raises("period", la.interp, 1, xp, fp, {period = 0})
    local leaf = fp:clone():requires_grad_()
    la.interp(la.tensor {1.25, 4, 9}, xp, leaf):sum():backward()
    assert.same({0.75, 0.25, 2.0}, list(leaf.grad))
  end)

  it("have gradients along the dims asked for", function()
    local x = la.arange(12):view(3, 4):double()
    assert.equal(2, #x:gradient())
    assert.same({1.0, 4.0}, {x:gradient{dim = {2, 1}}[1][1][1]:item(),
      x:gradient{dim = {2, 1}}[2][1][1]:item()})
    assert.equal("float32", la.arange(4):gradient()[1].dtype)
    assert.same({0.5, 0.5}, list(la.tensor {1, 2}:gradient{spacing = 2}[1]))
    raises("a vector of 4, got one of 3", la.gradient, la.ones(4),
      {spacing = {la.ones(3)}})
    raises("a vector of 4, got a tensor of 4", la.gradient, la.ones(4),
      {spacing = {la.ones(2, 2)}})
    raises("edge_order+1", x.gradient, la.ones(2), {edge_order = 2})
    raises("edge_order=1", x.gradient, x, {edge_order = 3})
    raises("3 distances for 2", x.gradient, x, {spacing = {1, 2, 3}})
    raises("vector of 4", x.gradient, x, {spacing = {1, la.ones(3)}})
    raises("number or tensor", x.gradient, x, {spacing = {1, "a"}})
  end)

  it("are unwrapped in integers too", function()
    local x = la.tensor {2, 3, 0, 1, 2}
    assert.same({2, 3, 4, 5, 6}, list(x:unwrap {period = 4}))
    assert.equal("int64", x:unwrap{period = 4}.dtype)
    assert.same({7.0}, list(la.tensor{7}:unwrap()))
    raises("period", x.unwrap, x, {period = 0})
    raises("one dim", x.unwrap, la.tensor(1))
  end)

  it("are put into bins", function()
    local edges = la.tensor {0, 10, 20}
    assert.same({1, 2, 3, 4, 4}, list(la.digitize(la.tensor {-1., 0, 10, 20,
      nan}, edges)))
    assert.equal(2, la.digitize(5, edges):item())
    assert.same({1, 1}, list(la.digitize(la.tensor {1, 2}, la.zeros(0))))
    raises("monotonically", la.digitize, 1, la.tensor {1, 3, 2})
  end)
end)

describe("in place", function()
  it("diagonals are filled, also of views", function()
    local x = la.zeros(4, 6)
    x:t():fill_diagonal_(2, true)
    assert.equal(10.0, x:sum():item())
    assert.same({2.0, 2.0}, {x[1][6]:item(), x[4][4]:item()})
    local v = la.zeros(3, 3):requires_grad_()
    local y = (v * 2):fill_diagonal_(5)
    y:sum():backward()
    assert.equal(0.0, v.grad:diagonal():sum():item())
    raises("dimensions", x.fill_diagonal_, la.ones(3), 1)
    raises("equal length", x.fill_diagonal_, la.ones(2, 3, 2), 1)
    assert.same({0, 3}, la.zeros(0, 3):fill_diagonal_(1, true).shape)
  end)

  it("dims are permuted, and the view keeps its root", function()
    local x = la.arange(6):view(1, 2, 3)
    assert.equal(x, x:permute_(3, 1, 2))
    assert.same({3, 1, 2}, x.shape)
    assert.equal(5, x[3][1][2]:item())
    raises("permute_", x.permute_, x, 1, 1, 2)
  end)
end)

describe("points in boxes", function()
  it("are counted, weighed, and made a density", function()
    local x = la.tensor {{0., 1}, {1, 0}, {2, 0}, {2, 2}, {9, 9}, {nan, 1}}
    local h, edges = la.histogramdd(x, {3, 3},
      {weight = la.tensor {1., 2, 4, 8, 16, 32}, range = {0, 3, 0, 3}})
    assert.same({{0.0, 1.0, 0.0}, {2.0, 0.0, 0.0}, {4.0, 0.0, 8.0}}, list(h))
    assert.same({0.0, 1.0, 2.0, 3.0}, list(edges[2]))
    h, edges = x:narrow(1, 1, 4):histogramdd({la.tensor {0., 1, 5},
      la.tensor {0., 1, 2}}, {density = true})
    assert.same({{0.0, 0.25}, {0.125, 0.0625}}, list(h))
    assert.equal(2, #edges)
    local many = la.rand(4, 10, 2)
    local function parts(t)
      local counts, borders = t:histogramdd {3, 2}
      return counts, borders[1], borders[2]
    end
    local joined = {la.vmap(parts)(many)}
    for b = 1, 4 do
      for k, one in ipairs {parts(many[b])} do
        assert.is_true(joined[k][b]:equal(one))
      end
    end
    h = x:narrow(1, 1, 5):histogramdd(2)
    assert.same({{4.0, 0.0}, {0.0, 1.0}}, list(h))
    h = la.rand(10, 50, 3, {dtype = "float64"}):histogramdd {2, 3, 4}
    assert.same({2, 3, 4}, h.shape)
    assert.equal(500.0, h:sum():item())
    assert.equal(0.0, la.zeros(0, 2):histogramdd(2):sum():item())
  end)

  it("are refused where boxes make no sense", function()
    local x = la.rand(5, 2)
    raises("is not finite", x.histogramdd, x / 0, 2)
    for _, odd in ipairs {1 / 0, -1 / 0, 0 / 0} do
      local y = x:clone()
      y[{2, 2}] = odd
      raises("dimension 2's range", y.histogramdd, y, 2)
    end
    raises("1 bins for 2", x.histogramdd, x, {2})
    raises("bins must be > 0", x.histogramdd, x, 0)
    raises("too many bins", x.histogramdd, x, 1 << 62)
    raises("range needs 4", x.histogramdd, x, 2, {range = {0, 1}})
    raises("at least 2", x.histogramdd, x[1], 2)
    raises("3 weights for 5", x.histogramdd, x, 2, {weight = la.ones(3)})
    raises("too many bins", x.histogramdd, la.rand(1, 9), 100000)
    raises("not implemented for", x.histogramdd, x:half(), 2)
  end)
end)

describe("a description", function()
  it("has what a person asks first", function()
    local d = la.tensor({1, nan, inf, 3}):describe()
    assert.same({4}, d.shape)
    assert.same({1, 1, 1.0, 3.0, 2.0}, {d.nan, d.inf, d.min, d.max, d.mean})
    assert.is_truthy(tostring(d):find("1 NaN, 1 infinite", 1, true))
    assert.equal(1000, math.tointeger(la.tensor(la.randn(1000):describe()
      .histogram):sum():item()))
    assert.equal("float32 of 0 x 2", tostring(la.zeros(0, 2):describe()))
    assert.equal("int64 of no dims\nmin 7, max 7, mean 7\n7 |█| 7",
      tostring(la.describe(la.tensor(7))))
    assert.is_nil(la.ones(3, {device = "meta"}):summary().min)
    assert.equal(5.0, la.complex(la.tensor {3.}, la.tensor {4.}):describe().max)
    raises("tensor expected", la.describe, 3)
  end)
end)
