-- Derivatives of operations against differences, twice.
local la = require "lunarray"

local F64 = {dtype = "float64"}

-- n elements away from zero and from each other, the same in each run.
local g = la.Generator(7)
local function values(shape, low, high)
  local t = la.rand(shape, {dtype = "float64", generator = g})
  return t * ((high or 1) - (low or -1)) + (low or -1)
end
local function positive(...) return values({...}, 0.5, 2):requires_grad_() end
local function signed(...) return values({...}, -2, 2):requires_grad_() end
local function unit(...) return values({...}, -0.9, 0.9):requires_grad_() end

-- The same values in a tensor that is not contiguous; broadcast; 0-dim; empty.
local function shapes(make)
  return {make(3), make(2, 3):detach():t():requires_grad_(), make(),
    make(0, 2), make(2, 1):detach():expand(2, 3):requires_grad_()}
end

local unary = {
  [signed] = "exp exp2 expm1 sin cos tanh sinh cosh asinh atan erf erfc "
    .. "sigmoid silu mish gelu softplus logsigmoid selu elu celu relu "
    .. "leaky_relu softsign tanhshrink square neg abs sinc cumsum sum mean "
    .. "logsumexp0 flatten0 hardswish relu6 deg2rad",
  [positive] = "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma "
    .. "acosh1 prod norm var0 std0 cumprod i0",
  [unit] = "asin acos atanh tan erfinv",
}

local special = {
  logsumexp0 = function(x) return x:reshape(-1):logsumexp(1) end,
  flatten0 = function(x) return x:flatten() * 2 end,
  cumsum = function(x) return x:reshape(-1):cumsum(1) end,
  cumprod = function(x) return x:reshape(-1):cumprod(1) end,
  acosh1 = function(x) return (x + 1):acosh() end,
}

describe("gradcheck of", function()
  for make, names in pairs(unary) do
    for name in names:gmatch("%S+") do
      local f = special[name] or la[name]
      if f and not name:find("^...0$") then
        it(name, function()
          for k, x in ipairs(shapes(make)) do
            local empty = x:numel() == 0
            if not (empty and (name == "logsumexp0" or name == "norm")) then
              assert.is_true(la.gradcheck(f, {x}), name .. " shape " .. k)
            end
          end
          assert.is_true(la.gradgradcheck(f, {make(3)},
            {atol = 1e-4}), name)
        end)
      end
    end
  end

  local binary = {
    add = {signed, signed}, sub = {signed, signed}, mul = {signed, signed},
    div = {signed, positive}, pow = {positive, signed},
    atan2 = {positive, positive}, hypot = {positive, positive},
    maximum = {signed, signed}, minimum = {signed, signed},
    logaddexp = {signed, signed}, xlogy = {signed, positive},
    fmax = {signed, signed}, copysign = {positive, positive},
    ldexp = {signed, signed},
  }
  for name, make in pairs(binary) do
    it(name, function()
      local f = la[name]
      assert.is_true(la.gradcheck(f, {make[1](2, 3), make[2](2, 3)}))
      assert.is_true(la.gradcheck(f, {make[1](2, 1), make[2](3)}))
      assert.is_true(la.gradcheck(f, {make[1](), make[2](2)}))
      assert.is_true(la.gradgradcheck(f, {make[1](2), make[2](2, 2)},
        {atol = 1e-4}))
    end)
  end

  local label = la.tensor{2, 1, 3}
  local others = {
    {"mm", la.mm, {signed(2, 3), signed(3, 2)}},
    {"matmul", la.matmul, {signed(2, 2, 3), signed(3, 2)}},
    {"linear", la.linear, {signed(2, 3), signed(4, 3), signed(4)}},
    {"softmax", function(x) return x:softmax(2) end, {signed(2, 3)}},
    {"log_softmax", function(x) return x:log_softmax(1) end, {signed(2, 3)}},
    {"layer_norm", function(x, w, b) return la.layer_norm(x, {3}, w, b) end,
      {signed(4, 3), signed(3), signed(3)}},
    {"batch_norm", function(x, w, b)
      return la.batch_norm(x, nil, nil, w, b, true)
    end, {signed(4, 2), signed(2), signed(2)}},
    {"conv2d", function(x, w, b) return la.conv2d(x, w, b, 1, 1) end,
      {signed(1, 2, 3, 3), signed(2, 2, 2, 2), signed(2)}},
    {"conv2d with steps, holes and groups", function(x, w, b)
      return la.conv2d(x, w, b, {2, 1}, {1, 2}, {1, 2}, 2)
    end, {signed(1, 2, 4, 3), signed(4, 1, 2, 3), signed(4)}},
    {"conv_transpose2d", function(x, w, b)
      return la.conv_transpose2d(x, w, b, {stride = 2, padding = 1,
                                           output_padding = 1})
    end, {signed(1, 2, 2, 3), signed(2, 2, 3, 2), signed(2)}},
    {"scaled_dot_product_attention", function(q, k, v, m)
      return la.scaled_dot_product_attention(q, k, v, m)
    end, {signed(3, 2), signed(4, 2), signed(4, 3), signed(3, 4)}},
    {"avg_pool2d", function(x) return la.avg_pool2d(x, 2) end,
      {signed(1, 2, 4, 4)}},
    {"max_pool2d", function(x) return (la.max_pool2d(x, 2)) end,
      {signed(1, 1, 4, 4)}},
    {"gather", function(x) return x:gather(1, la.tensor{{1, 2}, {2, 1}}) end,
      {signed(2, 2)}},
    {"index_select", function(x) return x:index_select(1, la.tensor{2, 2}) end,
      {signed(3, 2)}},
    {"cat", function(x, y) return la.cat({x, y}, 1) end,
      {signed(2, 2), signed(1, 2)}},
    {"where", function(x, y) return la.where(x:detach():gt(0), x, y) end,
      {signed(3), signed(3)}},
    {"embedding", function(w) return la.embedding(label, w) end,
      {signed(4, 2)}},
    {"cross_entropy", function(x)
      return la.cross_entropy(x, label, {label_smoothing = 0.1,
        weight = la.tensor({1, 2, 3}, F64)})
    end, {signed(3, 3)}},
    {"nll_loss", function(x) return la.nll_loss(x, label) end, {signed(3, 3)}},
    {"mse_loss", la.mse_loss, {signed(3), signed(3)}},
    {"smooth_l1_loss", la.smooth_l1_loss, {signed(5), signed(5)}},
    {"huber_loss", la.huber_loss, {signed(5), signed(5)}},
    {"kl_div", la.kl_div, {signed(3), positive(3)}},
    {"binary_cross_entropy_with_logits", la.binary_cross_entropy_with_logits,
      {signed(3), unit(3)}},
    {"cosine_similarity", la.cosine_similarity, {signed(2, 3), signed(2, 3)}},
    {"pairwise_distance", la.pairwise_distance, {signed(2, 3), signed(2, 3)}},
    {"triplet_margin_loss", la.triplet_margin_loss,
      {signed(2, 3), signed(2, 3), signed(2, 3)}},
  }
  for _, row in ipairs(others) do
    it(row[1], function()
      assert.is_true(la.gradcheck(row[2], row[3]))
      assert.is_true(la.gradgradcheck(row[2], row[3], {atol = 1e-4}))
    end)
  end

  it("scalars with doubles keep their width", function()
    local function slope(f, want)
      local x = la.tensor({0.7}, {dtype = "float64", requires_grad = true})
      f(x):sum():backward()
      local got = x.grad:item()
      assert.is_true(math.abs(got - want) <= 1e-14 * math.abs(want),
        ("%.17g %.17g"):format(got, want))
    end
    local x, c = 0.7, 1 / 3
    slope(function(v) return v:pow(c) end, c * x ^ (c - 1))
    slope(function(v) return la.pow(c, v) end, c ^ x * math.log(c))
    slope(function(v) return la.pow(3, v) end, 3 ^ x * math.log(3))
    slope(function(v) return la.atan2(v, c) end, c / (x * x + c * c))
    slope(function(v) return la.xlogy(v, c) end, math.log(c))
    slope(function(v) return la.xlogy(v, 3) end, math.log(3))
    slope(function(v) return la.xlog1py(v, 2) end, math.log(3))
  end)

  it("complex functions", function()
    local z = la.complex(values{3}, values{3}):requires_grad_()
    for _, name in ipairs{"exp", "sin", "square", "abs"} do
      assert.is_true(la.gradcheck(la[name], {z}), name)
    end
    for _, name in ipairs{"silu", "softsign", "tanhshrink"} do
      assert.is_true(la.gradcheck(la[name], {z}), name)
      assert.is_true(la.gradgradcheck(la[name], {z}), name)
    end
    assert.is_true(la.gradcheck(la.mul, {z, signed(3)}))
    local w = la.complex(values{3}, values{3}):requires_grad_()
    assert.is_true(la.gradcheck(la.logaddexp, {z, w}))
    assert.is_true(la.gradgradcheck(la.logaddexp, {z, w}))
  end)

  it("wrong gradients fails", function()
    local bad = la.Function{
      forward = function(_, x) return x * 3 end,
      backward = function(_, d) return d * 2 end,
    }
    local x = signed(2)
    assert.is_false(la.gradcheck(bad, {x}, {raise = false}))
    assert.has_error(function() la.gradcheck(bad, {x}) end)
    assert.has_error(function() la.gradcheck(la.exp, {la.ones(2)}) end)
  end)
end)

describe("checkpoint", function()
  it("gives captured parameters their gradients by itself", function()
    local w = la.tensor({1.0, 2.0}, {requires_grad = true})
    local function f(a, plain)
      local y = la.dropout((a * w):tanh(), 0.5)
      return plain, y, a * 2, y:sum()
    end
    local x = la.tensor{0.5, 0.25}
    local function outcome(call)
      w.grad = nil
      la.manual_seed(4)
      local plain, y, z, sum = call()
      assert.equal("p", plain)
      assert.is_false(z.requires_grad)
      local loss = y:square():sum() + sum
      loss:backward()
      return {loss:item(), z:totable(), w.grad:totable(),
        la.get_rng_state():totable()}
    end
    local want = outcome(function() return f(x, "p") end)
    assert.same(want, outcome(function() return la.checkpoint(f, x, "p") end))
    local compiled = la.compile(function() return la.checkpoint(f, x, "p") end)
    for _ = 1, 3 do assert.same(want, outcome(compiled)) end
    local y = la.checkpoint(function(a) return a * 2 end, x)
    assert.is_false(y.requires_grad)
    local given = la.checkpoint(function() return w end, x)
    given:sum():backward()
  end)

  it("has the gradients of the plain call", function()
    local w, x = signed(3, 3), signed(2, 3)
    local function f(a, k) return (a:matmul(w)):tanh() * k, a:sum() end
    local y, s = f(x, 2)
    ;(y:sum() + s):backward()
    local gw, gx = w.grad:clone(), x.grad:clone()
    w.grad, x.grad = nil, nil
    y, s = la.checkpoint(f, x, 2)
    ;(y:sum() + s):backward()
    assert.is_true(la.allclose(gw, w.grad))
    assert.is_true(la.allclose(gx, x.grad))
  end)

  it("draws the same random numbers again", function()
    local x = la.ones(100, {dtype = "float64", requires_grad = true})
    local y = la.checkpoint(function(a) return la.dropout(a, 0.5) end, x)
    y:sum():backward()
    assert.is_true(x.grad == y:detach())
  end)
end)

describe("jacobian", function()
  it("stacks the gradients of each result", function()
    local x = la.tensor({1, 2}, F64)
    local j = la.jacobian(function(v) return la.stack{v[1] * v[2], v[1]} end, x)
    assert.are.same({{2, 1}, {1, 0}}, j:totable())
  end)
end)
