-- Dropout of channels, Gumbel's softmax, rotary embeddings, attention: layers
-- beyond those that training compares.
local la = require "lunarray"
local nn = require "lunarray.nn"
local raises = require "spec.support.raises"

local F64 = {dtype = "float64"}

local function close(a, b, tol)
  assert.are.same(b.shape, a.shape)
  local gap = (a - b):abs():max():item()
  assert.is_true(gap <= (tol or 1e-12), "differs by " .. gap)
end

describe("dropout of channels", function()
  it("keeps or drops a channel as a whole, with its mean", function()
    la.manual_seed(3)
    local x = la.ones{40, 50, 2, 3, 2}
    for spatial, name in pairs{"dropout1d", "dropout2d", "dropout3d"} do
      local part = x:flatten(2 + spatial, -1)
      local y = part[name](part, 0.25)
      local flat = y:flatten(3, -1)
      assert.is_true(flat:eq(flat[{{}, {}, {1, 1}}]):all())
      assert.is_true(math.abs(y:mean():item() - 1) < 0.05)
      assert.is_true(rawequal(part[name](part, 0.25, false):data_ptr(),
        part:data_ptr()))
      assert.is_true(part[name](part, 1):eq(0):all())
      raises("between 0 and 1", part[name], part, 1.5)
      raises("dims", part[name], la.ones(3), 0.5)
    end
  end)

  it("of alpha keeps mean and variance of a normal tensor", function()
    la.manual_seed(4)
    local x = la.randn{200, 300}
    for _, name in ipairs{"alpha_dropout", "feature_alpha_dropout"} do
      local y = x[name](x, 0.3)
      assert.is_true(math.abs(y:mean():item()) < 0.05)
      assert.is_true(math.abs(y:var():item() - 1) < 0.05)
      assert.are.equal(x, x[name](x, 0.3, false))
    end
    local rows = la.ones{20, 30, 5}:feature_alpha_dropout(0.5)
    assert.is_true(rows:eq(rows[{{}, {}, {1, 1}}]):all())
    local half = la.randn{10, 10}:half():alpha_dropout(0.5)
    assert.are.equal("float16", half.dtype)
  end)
end)

describe("gumbel_softmax", function()
  it("draws categories by their probabilities", function()
    la.manual_seed(5)
    local p = la.tensor({0.1, 0.2, 0.7}, F64)
    local y = p:log():expand{20000, 3}:gumbel_softmax{hard = true}
    assert.is_true(y:sum(-1):eq(1):all())
    close(y:mean(1), p, 0.02)
    local soft = p:log():expand{1000, 3}:gumbel_softmax{tau = 0.5}
    close(soft:sum(2), la.ones({1000}, F64))
  end)

  it("has the gradient of the soft draw where it is hard", function()
    local x = la.randn({4, 3}, F64):requires_grad_()
    local w = la.randn({4, 3}, F64)
    local grads = {}
    for k, hard in ipairs{false, true} do
      la.manual_seed(6)
      grads[k] = la.grad((x:gumbel_softmax{hard = hard} * w):sum(), x)
    end
    close(grads[1], grads[2])
  end)
end)

describe("rope", function()
  -- A pair of features as a complex number, times that of its angle.
  local function by_definition(x, first, base, traditional)
    local y, d = x:clone(), x:size(-1)
    for row = 1, x:size(-2) do
      for i = 0, d // 2 - 1 do
        local angle = (first + row - 1) * base ^ (-2 * i / d)
        local a, b = i + 1, i + 1 + d // 2
        if traditional then a, b = 2 * i + 1, 2 * i + 2 end
        local u, v = x[{row, a}]:item(), x[{row, b}]:item()
        y[{row, a}] = u * math.cos(angle) - v * math.sin(angle)
        y[{row, b}] = u * math.sin(angle) + v * math.cos(angle)
      end
    end
    return y
  end

  it("rotates pairs of features by their row", function()
    local x = la.randn({5, 8}, F64)
    for _, traditional in ipairs{false, true} do
      local options = {base = 50, traditional = traditional}
      close(la.rope(x, 3, options), by_definition(x, 3, 50, traditional))
      close(x:rope(la.tensor{3, 4, 5, 6, 7}, options),
        by_definition(x, 3, 50, traditional))
      local head = by_definition(x[{{}, {1, 4}}], 0, 50, traditional)
      options.dims = 4
      close(x:rope(0, options), la.cat({head, x[{{}, {5, 8}}]}, 2))
    end
    close(x:rope(0)[1], x[1])
    raises("real positions", la.rope, x, la.complex(la.ones(5), la.ones(5)))
    local half = la.randn{2, 3, 4}:half()
    assert.is_true(half:rope(9):equal(half:float():rope(9):half()))
  end)

  it("keeps products of rows to what their distance makes", function()
    local q, k = la.randn({1, 8}, F64), la.randn({1, 8}, F64)
    local function product(i, j)
      return (q:rope(i) * k:rope(j)):sum():item()
    end
    assert.is_true(math.abs(product(3, 1) - product(103, 101)) < 1e-10)
  end)

  it("says what it can't rotate", function()
    raises("even number", la.rope, la.zeros{2, 3})
    raises("even number", la.rope, la.zeros{2, 4}, 0, {dims = 6})
    raises("at least 2 dims", la.rope, la.zeros{4})
    raises("not implemented", la.rope, la.zeros{2, 4}:int())
  end)
end)

describe("multi_head_attention_forward", function()
  it("is what the module computes", function()
    local net = nn.MultiheadAttention(8, 2):double()
    local q, m = la.randn({3, 2, 8}, F64), la.randn({5, 2, 8}, F64)
    local hide = la.tensor{{0, 0, 0, 1, 1}, {0, 0, 1, 0, 0}}:bool()
    local function call(x, memory, options)
      return la.multi_head_attention_forward(x, memory, memory, 8, 2,
        net.in_proj_weight, net.in_proj_bias, net.out_proj.weight,
        net.out_proj.bias, options)
    end
    for _, options in ipairs{{}, {key_padding_mask = hide},
      {attn_mask = la.randn({3, 5}, F64)}, {average_attn_weights = false}} do
      local a, b = net(q, m, m, options)
      local c, d = call(q, m, options)
      close(a, c)
      close(b, d)
      options.need_weights = false
      local e, none = call(q, m, options)
      close(e, c)
      assert.is_nil(none)
    end
    local single, weights = call(q[{{}, 1}], m[{{}, 1}])
    close(single, call(q, m)[{{}, 1}])
    assert.are.same({3, 5}, weights.shape)
    raises("divisible", la.multi_head_attention_forward, q, q, q, 8, 3,
      net.in_proj_weight)
    raises("unknown option", call, q, m, {mask = hide})
    raises("query: tensor of 2 or 3 dims", call, la.tensor(1), m)
    raises("in_proj_weight: tensor of 2 dims expected, got nil",
      la.multi_head_attention_forward, q, q, q, 8, 2)
  end)
end)

describe("layers of images", function()
  it("are the operations with their options", function()
    local x = la.randn({2, 8, 4, 6}, F64)
    local columns = nn.Unfold({2, 3}, {stride = {2, 3}})(x)
    close(nn.Fold({4, 6}, {2, 3}, {stride = {2, 3}})(columns), x, 0)
    local drop = nn.Dropout3d(0.5)
    drop:eval()
    assert.are.equal(x, drop(x))
  end)
end)
