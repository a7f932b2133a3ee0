-- The names of the Python array API standard (2025.12), and what only it has.
local la = require "lunarray"

local raises = require "spec.support.raises"

-- Functions and constants of the main namespace, by chapter.
local NAMES = [[
  e inf nan newaxis pi
  arange asarray empty empty_like eye full full_like linspace meshgrid ones
  ones_like tril triu zeros zeros_like
  astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo iinfo
  isdtype result_type
  bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64
  complex64 complex128
  abs acos acosh add asin asinh atan atan2 atanh bitwise_and
  bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor
  ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
  greater greater_equal hypot imag isfinite isinf isnan less less_equal log
  log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor
  maximum minimum multiply negative nextafter not_equal positive pow real
  reciprocal remainder round sign signbit sin sinh square sqrt subtract tan
  tanh trunc
  take take_along_axis
  matmul matrix_transpose tensordot vecdot
  concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze
  stack tile unstack
  argmax argmin count_nonzero nonzero searchsorted where
  unique_all unique_counts unique_inverse unique_values isin
  argsort sort
  cumulative_prod cumulative_sum max mean min prod std sum var
  all any diff
  __array_namespace_info__]]

describe("the array API", function()
  it("has its names", function()
    local missing = {}
    for name in NAMES:gmatch "%S+" do
      if la[name] == nil then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)

  it("tells dtypes, devices and what depends on data", function()
    local info = la.__array_namespace_info__()
    assert.is_true(info:capabilities()["boolean indexing"])
    assert.is_true(info:capabilities()["data-dependent shapes"])
    assert.equal(64, info:capabilities()["max dimensions"])
    assert.equal("cpu", info:default_device())
    assert.same({"cpu", "meta"}, info:devices())
    local default = info:default_dtypes()
    assert.equal(la.zeros(1).dtype, default["real floating"])
    assert.equal(la.zeros(1):argmax().dtype, default.indexing)
    assert.equal(la.tensor{1}.dtype, default.integral)
    assert.equal("complex64", default["complex floating"])
    local all = info:dtypes()
    for _, name in ipairs(la.config().dtypes) do
      assert.equal(name, all[name])
    end
    assert.same({bool = "bool"}, info:dtypes{kind = "bool"})
    assert.is_nil(info:dtypes{kind = {"bool", "integral"}}.float32)
    raises("unknown kind 'words'", info.dtypes, info, {kind = "words"})
    raises("unknown device 'cuda'", info.dtypes, info, {device = "cuda"})
  end)

  it("lists every dtype under the kinds that isdtype knows", function()
    local info = la.__array_namespace_info__()
    for _, kind in ipairs{"bool", "signed integer", "unsigned integer",
        "integral", "real floating", "complex floating", "numeric"} do
      local list = info:dtypes{kind = kind}
      for _, name in ipairs(la.config().dtypes) do
        assert.equal(la.isdtype(name, kind), list[name] ~= nil, name)
      end
    end
  end)
end)

describe("cumulative_sum and cumulative_prod", function()
  local x = la.tensor{{3.0, 1, 2}, {4, 5, 6}}

  it("are cumsum and cumprod, and may begin with nothing", function()
    assert.is_true(la.cumulative_sum(x, 1) == x:cumsum(1))
    assert.is_true(x:cumulative_prod(-1) == x:cumprod(2))
    assert.same({{0, 0, 0}, {3, 1, 2}, {7, 6, 8}},
                x:cumulative_sum(1, {include_initial = true}):totable())
    assert.same({{1, 3, 3, 6}, {1, 4, 20, 120}}, la.cumulative_prod(x, 2, {
      include_initial = true, dtype = "int64"}):totable())
    assert.same({0}, la.cumulative_sum(la.zeros(0), {
      include_initial = true}):totable())
    assert.same({0, 1, 2}, la.tensor{true, true}:cumulative_sum{
      include_initial = true}:totable())
    assert.same({2, 3, 4}, {la.zeros(2, 3, 3):cumulative_sum(3, {
      include_initial = true}):size()})
  end)

  it("take the only dim, and no guess of one", function()
    assert.same({3, 4, 6}, la.cumulative_sum(x[1]):totable())
    raises("one dimension, got 2", la.cumulative_sum, x)
    raises("0-dim", la.cumulative_sum, la.tensor(1), 1, {
      include_initial = true})
    raises("counting starts at 1", la.cumulative_sum, x, 0)
  end)

  it("write to out, and pass gradients twice", function()
    local out = la.empty(0)
    la.cumulative_sum(x, 1, {include_initial = true, out = out})
    assert.same({3, 3}, {out:size()})
    local y = la.tensor({1.5, 2.0, -0.5}, {dtype = "float64",
      requires_grad = true})
    local function f(t) return t:cumulative_prod{include_initial = true} end
    assert.is_true(la.gradcheck(f, {y}))
    assert.is_true(la.gradgradcheck(f, {y}))
  end)
end)
