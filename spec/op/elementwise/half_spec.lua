-- 16-bit floats: what an operation computes is rounded once. Its result lies
-- within a bound, in units of the last digit, of the float64 result for the
-- same inputs; a composite that rounded at each step would not.
local la = require "lunarray"

local HALF = {float16 = {2 ^ -10, 2 ^ -14}, bfloat16 = {2 ^ -7, 2 ^ -126}}

local function draw(seed, sizes, dtype)
  la.manual_seed(seed)
  return (la.randn(sizes) * 2):to(dtype)
end

-- The largest error of x, in ulp of the exact result.
local function error_of(x, exact, dtype)
  local ulp, least = HALF[dtype][1], HALF[dtype][2]
  local size = exact:abs():clamp_min(least)
  local unit = la.exp2(la.floor(la.log2(size))) * ulp
  return ((x:double() - exact) / unit):abs():max():item()
end

local function check(name, bound, f, ...)
  local shapes = {...}
  for dtype in pairs(HALF) do
    for seed = 1, 3 do
      local inputs, wide = {}, {}
      for i, sizes in ipairs(shapes) do
        inputs[i] = draw(10 * seed + i, sizes, dtype)
        wide[i] = inputs[i]:double()
      end
      local got = f(table.unpack(inputs))
      assert.are.equal(dtype, got.dtype, name)
      local off = error_of(got, f(table.unpack(wide)), dtype)
      assert(off <= bound, ("%s of %s: %g ulp"):format(name, dtype, off))
    end
  end
end

describe("one rounding of 16-bit floats:", function()
  local function by_number(name, bound, f)
    it(name, function()
      check(name, bound, f, {500}, {500})
      check(name .. " strided", bound, function(a, b)
        return f(a[{{1, -1, 2}}], b[{{1, -1, 2}}])
      end, {400}, {400})
    end)
  end
  by_number("lerp", 0.7, function(a, b) return a:lerp(b, 0.6) end)
  by_number("mul", 0.6, function(a) return a * 0.3 end)
  by_number("div", 0.6, function(a) return a / 0.3 end)
  by_number("xlogy", 0.6, function(a) return la.xlogy(a, 0.3) end)

  it("in place and into out", function()
    for dtype in pairs(HALF) do
      local a, b = draw(1, {100}, dtype), draw(2, {100}, dtype)
      local want = a:lerp(b, 0.6)
      assert.is_true(a:lerp(b, 0.6, {out = la.empty(100, {dtype = dtype})})
        :equal(want))
      assert.is_true(a:clone():lerp_(b, 0.6):equal(want))
      assert.is_true(la.fuse(function() return a:lerp(b, 0.6) + 0 end)()
        :equal(want))
      local x = a:clone():requires_grad_()
      x:lerp(b, 0.6):sum():backward()
      assert.is_true(x.grad:equal(la.full_like(a, 0.4)))
    end
  end)

  it("losses and gates", function()
    for _, name in ipairs{"smooth_l1_loss", "huber_loss"} do
      check(name, 0.6, function(a, b)
        return la[name](a, b, {reduction = "none"})
      end, {20, 30}, {20, 30})
    end
    check("glu", 0.6, function(a) return la.glu(a, 1) end, {500})
    check("triplet_margin_loss", 0.6, la.triplet_margin_loss, {8, 30}, {8, 30},
      {8, 30})
  end)

  it("norms", function()
    for _, sizes in ipairs{{6, 8}, {4, 8, 3}} do
      check("group_norm", 0.6, function(x, w, b)
        return la.group_norm(x, 2, w, b)
      end, sizes, {8}, {8})
      check("batch_norm", 0.6, function(x, w, b)
        return la.batch_norm(x, nil, nil, w, b, true)
      end, sizes, {8}, {8})
      local function given(x, m, v, w, b)
        return la.batch_norm(x, m, v:abs() + 1, w, b)
      end
      for dtype in pairs(HALF) do
        local half, single = {}, {}
        for k, dims in ipairs{sizes, {8}, {8}, {8}, {8}} do
          half[k] = draw(k, dims, dtype)
          single[k] = half[k]:float()
        end
        half[3], single[3] = half[3] * 0, single[3] * 0
        assert.is_true(given(table.unpack(half)):equal(
          given(table.unpack(single)):to(dtype)))
      end
    end
  end)

  it("batch_norm writes its moments", function()
    local x = draw(1, {16, 4}, "float16")
    local mean = la.zeros(4, {dtype = "float16"})
    local var = la.ones(4, {dtype = "float16"})
    la.batch_norm(x, mean, var, nil, nil, true, 0.5)
    local exact = x:double():mean(1) * 0.5
    assert.is_true((mean:double() - exact):abs():max():item() < 1e-3)
    assert.are.equal("float16", var.dtype)
  end)

  it("embedding_bag", function()
    local at = la.arange(1, 41):view(5, 8)
    for _, mode in ipairs{"sum", "mean", "max"} do
      check(mode, 0.6, function(w)
        return la.embedding_bag(at, w, {mode = mode})
      end, {40, 6})
    end
  end)

  it("ctc_loss of float16", function()
    local x = draw(1, {12, 1, 6}, "float16"):log_softmax(3)
    local args = {la.tensor{{2, 3}}, la.tensor{12}, la.tensor{2}}
    local got = la.ctc_loss(x, table.unpack(args)):item()
    local exact = la.ctc_loss(x:double(), table.unpack(args)):item()
    assert.is_true(math.abs(got - exact) <= 2 ^ -10 * math.abs(exact))
  end)
end)

describe("sums through an index of 16-bit floats", function()
  -- The same call in float32, rounded once.
  local function once(name, self, dim, index, source, ...)
    for _, dtype in ipairs{"float16", "bfloat16"} do
      local x, s = self:to(dtype), source:to(dtype)
      local want = x:float()[name](x:float(), dim, index, s:float(), ...)
      want = want:to(dtype)
      assert.is_true(x[name](x, dim, index, s, ...) == want)
      local y = x:clone()
      assert.equal(y, y[name .. "_"](y, dim, index, s, ...))
      assert.is_true(y == want)
    end
  end

  local function all(self, dim, index, source)
    once("scatter_add", self, dim, index, source)
    for _, kind in ipairs{"sum", "mean", "prod"} do
      once("scatter_reduce", self, dim, index, source, kind)
      once("scatter_reduce", self, dim, index, source, kind,
            {include_self = false})
    end
  end

  it("round once, few elements and many", function()
    la.manual_seed(7)
    for _, n in ipairs{3, 40, 5000} do      -- widened whole, and in parts
      local source = la.rand(300):add_(0.5)
      local index = la.randint(1, math.min(n, 20), {300})
      index[{{1, 300, 3}}] = index[{{1, 300, 3}}] - (n + 1)
      all(la.rand(n), 1, index, source)
      once("index_add", la.rand(n), 1, index, source)
      once("index_add", la.rand(n, 4), 1, index, la.rand(300, 4))
      once("index_add", la.rand(4, n):t():contiguous():t(), 2, index,
            la.rand(4, 300))
      once("index_reduce", la.rand(n, 4), 1, index, la.rand(300, 4), "mean")
    end
  end)

  it("round once where the index is smaller than the target", function()
    la.manual_seed(8)
    for _, n in ipairs{3, 500} do
      local index = la.randint(1, 3, {60, 5})
      all(la.rand(n, 9), 1, index, la.rand(70, 6))
      all(la.rand(9, n):t(), 1, index, la.rand(60, 5))
      all(la.rand(80, n), 2, index, la.rand(60, 5))
    end
  end)
end)

describe("gradients of activations of 16-bit floats", function()
  it("round once", function()
    la.manual_seed(9)
    for _, name in ipairs{"silu", "mish", "gelu", "hardswish", "softplus",
                          "elu", "selu", "celu"} do
      for _, dtype in ipairs{"float16", "bfloat16"} do
        local x = (la.randn(300) * 3):to(dtype):requires_grad_()
        local wide = x:detach():float():requires_grad_()
        la[name](x):sum():backward()
        la[name](wide):sum():backward()
        local off = (x.grad:float() - wide.grad:to(dtype):float()):abs()
        assert.is_true((off == la.zeros(300)), name)
      end
    end
  end)
end)
