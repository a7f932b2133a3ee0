-- Modules beyond the layers that training compares: containers, copies,
-- reloading, dropout of channels, more losses.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"

local F64 = {dtype = "float64"}
local function t64(values) return la.tensor(values, F64) end
local function near(a, b)
  assert.is_true(la.allclose(a, b, {rtol = 1e-9, atol = 1e-9}),
    tostring(a) .. " against " .. tostring(b))
end
local raises = require "spec.support.raises"

describe("modules", function()
  it("outlive a reload of the library's code", function()
    local net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    local x = la.randn(4, 2)
    local before = net(x)
    local kept = {}
    for name, module in pairs(package.loaded) do
      if type(name) == "string" and name:find "^lunarray%.nn"
        and name ~= "lunarray.nn.parameters" then
        kept[name] = module
        package.loaded[name] = nil
      end
    end
    local again = require "lunarray.nn"
    assert.are_not.equal(nn, again)
    assert.is_true(again.is_module(net))
    assert.is_true(again.is_parameter(net[1].weight))
    assert.is_true(net(x) == before)
    -- New and old modules go together.
    local both = again.Sequential(net, again.Linear(1, 1))
    assert.are.equal(6, #both:parameters())
    net[1].weight = again.Parameter(la.ones(3, 2))
    assert.is_true(again.Linear.adopt(again.Linear, net[1])(x)
      == la.linear(x, la.ones(3, 2), net[1].bias))
    for name, module in pairs(kept) do package.loaded[name] = module end
  end)

  it("adopt the methods of a class that is defined again", function()
    local Net = nn.class "Net"
    function Net:init() self.fc = nn.Linear(2, 2) end
    function Net:forward(x) return self.fc(x) end
    local net = Net()
    local x, weight = la.randn(1, 2), net.fc.weight
    local opt = optim.SGD(net:parameters(), {lr = 1})
    Net = nn.class "Net"
    function Net:forward(y) return 2 * self.fc(y) end
    local plain = net(x)
    assert.is_true(rawequal(net, Net:adopt(net)))
    assert.is_true(net(x) == 2 * plain)
    assert.is_true(rawequal(weight, net.fc.weight))
    net(x):sum():backward()
    opt:step()
    assert.is_false(net(x) == 2 * plain)
    raises("module expected", Net.adopt, Net, {})
  end)

  it("clone with tensors of their own", function()
    local net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    net:add_module("2", net[1])
    net[2].weight:requires_grad_(false)
    local copy = net:clone()
    assert.are.equal(tostring(net), tostring(copy))
    assert.is_true(rawequal(copy[1], copy[3]))
    assert.are.equal(4, #copy:parameters())
    assert.is_false(copy[2].weight.requires_grad)
    assert.is_true(copy[1].weight == net[1].weight)
    la.no_grad(function() copy[1].weight:zero_() end)
    copy[2].running_mean:fill_(7)
    assert.is_false(copy[1].weight == net[1].weight)
    assert.is_true(net[2].running_mean == la.zeros(2))
    assert.is_true(copy[1].weight.is_leaf)
  end)

  it("list parameters", function()
    local Net = nn.class "Net"
    function Net:init() self.w = nn.ParameterList{la.ones(2), la.zeros(3)} end
    local net = Net()
    net.w:append(la.ones(1))
    assert.are.equal(3, #net.w)
    local names = {}
    for name in net:named_parameters() do names[#names + 1] = name end
    assert.are.same({"w.0", "w.1", "w.2"}, names)
    assert.is_true(net.w[2] == la.zeros(3))
    assert.is_true(net.w[2].requires_grad)
  end)

  it("keep the order of registration", function()
    for _, module in ipairs{
      nn.Linear(1, 1), nn.BatchNorm1d(1), nn.Conv1d(1, 1, 1), nn.LayerNorm(1),
      nn.GroupNorm(1, 1), nn.InstanceNorm1d(1, {affine = true}),
    } do
      local list = module:parameters()
      assert.is_true(rawequal(list[1], module.weight), tostring(module))
      assert.is_true(rawequal(list[2], module.bias), tostring(module))
    end
  end)

  it("stack encoder layers", function()
    local layer = nn.TransformerEncoderLayer(4, 2, 8, {batch_first = true})
    local net = nn.TransformerEncoder(layer, 3, nn.LayerNorm(4)):eval()
    assert.are.equal(3, #net.layers)
    assert.are.equal(3 * 12 + 2, #net:parameters())
    local x = la.randn(2, 5, 4)
    layer:eval()
    near(net(x), net.norm(layer(layer(layer(x)))))
    local causal = net(x, {is_causal = true})
    near(causal[{{}, {1, 2}}], net(x[{{}, {1, 2}}], {is_causal = true}))
  end)
end)

describe("dropout", function()
  it("of channels takes whole channels", function()
    la.manual_seed(1)
    for dims = 1, 3 do
      local shape = {50, 8, 3, 2, 2}
      local x = la.ones({table.unpack(shape, 1, dims + 2)})
      local y = nn["Dropout" .. dims .. "d"](0.25)(x)
      local flat = y:reshape(400, -1)
      assert.is_true(flat:amax(2) == flat:amin(2))
      local kept = flat:amax(2):gt(0):float():mean():item()
      assert.is_true(math.abs(kept - 0.75) < 0.08, tostring(kept))
      assert.is_true(la.allclose(flat:amax(), la.tensor(1 / 0.75)))
      assert.is_true(nn["Dropout" .. dims .. "d"](0.5):eval()(x) == x)
      -- Without a batch.
      local one = nn["Dropout" .. dims .. "d"](0.5)(x[1])
      assert.is_true(one:reshape(8, -1):amax(2) == one:reshape(8, -1):amin(2))
    end
  end)

  it("alpha keeps mean and variance", function()
    la.manual_seed(2)
    local y = nn.AlphaDropout(0.3)(la.randn(100000, F64))
    assert.is_true(math.abs(y:mean():item()) < 0.02)
    assert.is_true(math.abs(y:std():item() - 1) < 0.02)
    assert.is_true(nn.AlphaDropout(1)(la.ones(3)) == la.zeros(3))
    assert.is_true(nn.AlphaDropout(0.5):eval()(la.ones(3)) == la.ones(3))
    raises("between 0 and 1", nn.AlphaDropout, 2)
  end)
end)

describe("losses of densities", function()
  it("gaussian_nll_loss", function()
    local x, y, v = t64{{1, 2}, {0, 3}}, t64{{0, 2}, {1, 1}},
      t64{{1, 4}, {2, 1}}
    local each = 0.5 * (v:log() + (x - y):square() / v)
    near(la.gaussian_nll_loss(x, y, v, {reduction = "none"}), each)
    near(la.gaussian_nll_loss(x, y, v), each:mean())
    near(la.gaussian_nll_loss(x, y, v, true, 1e-6, "sum"),
      each:sum() + 2 * math.log(2 * math.pi))
    local row = t64{1, 2}
    near(la.gaussian_nll_loss(x, y, row),
      la.gaussian_nll_loss(x, y, row:unsqueeze(2):expand(2, 2)))
    near(la.gaussian_nll_loss(x, y, 2), la.gaussian_nll_loss(x, y,
      la.full_like(x, 2)))
    -- Below eps the value is clamped, the gradient is not cut.
    local small = t64{{0, 4}, {2, 1}}:requires_grad_()
    la.gaussian_nll_loss(x, y, small, {reduction = "sum"}):backward()
    near(small.grad:select(1, 1):select(1, 1), t64(0.5 * (1e6 - 1e12)))
    raises("negative", la.gaussian_nll_loss, x, y, -v)
    raises("incorrect size", la.gaussian_nll_loss, x, y, la.ones(3))
    raises("differ", la.gaussian_nll_loss, x, row, v)
    raises("valid reduction", la.gaussian_nll_loss, x, y, v,
      {reduction = "all"})
  end)

  it("poisson_nll_loss", function()
    local x, y = t64{0.5, 1, 2}, t64{0, 1, 3}
    near(la.poisson_nll_loss(x, y, {reduction = "none"}), x:exp() - y * x)
    near(la.poisson_nll_loss(x, y, {log_input = false, reduction = "sum"}),
      (x - y * (x + 1e-8):log()):sum())
    local full = la.poisson_nll_loss(x, y, {full = true, reduction = "none"})
    near(full - (x:exp() - y * x), t64{0, 0,
      3 * math.log(3) - 3 + 0.5 * math.log(2 * math.pi * 3)})
  end)
end)

describe("losses of margins", function()
  local x = t64{{0.1, 0.2, 0.4, 0.8}, {1, -1, 0, 2}}

  it("multi_margin_loss", function()
    local y = la.tensor{4, 1}
    local rows = x:totable()
    local function by_hand(p, margin, w)
      local sums = {}
      for n, label in ipairs{4, 1} do
        sums[n] = 0
        for j = 1, 4 do
          if j ~= label then
            local gap = margin - rows[n][label] + rows[n][j]
            sums[n] = sums[n] + w[label] * math.max(0, gap) ^ p / 4
          end
        end
      end
      return t64(sums)
    end
    local even, w = {1, 1, 1, 1}, {1, 2, 3, 4}
    near(la.multi_margin_loss(x, y, {reduction = "none"}), by_hand(1, 1, even))
    near(la.multi_margin_loss(x, y, 2, 0.5, t64(w), "mean"),
      by_hand(2, 0.5, w):mean())
    near(la.multi_margin_loss(x[2], la.tensor(1)), by_hand(1, 1, even)[2])
    near(la.multi_margin_loss(x[2], la.tensor{1}, {reduction = "none"}),
      by_hand(1, 1, even):narrow(1, 2, 1))
    raises("don't fit", la.multi_margin_loss, x[2], la.tensor{1, 2})
    raises("labels start at 1", la.multi_margin_loss, x, la.tensor{0, 1})
    raises("don't fit", la.multi_margin_loss, x, la.tensor{1})
    raises("int64", la.multi_margin_loss, x, la.ones(2))
    raises("p == 1 and p == 2", la.multi_margin_loss, x, y, 3)
    raises("one weight per class", la.multi_margin_loss, x, y,
      {weight = la.ones(3)})
  end)

  it("multilabel_margin_loss", function()
    -- PyTorch's documentation: 0.85 for labels 3, 0 of its counting.
    near(la.multilabel_margin_loss(x[1], la.tensor{4, 1, 0, 2}), t64(0.85))
    near(la.multilabel_margin_loss(x[{{1, 1}, {}}], la.tensor{{4, 1, -5, 1}}),
      t64(0.85))
    near(la.multilabel_margin_loss(x, la.zeros(2, 4):long()), t64(0))
    near(la.multilabel_margin_loss(x[1], la.tensor{1, 2, 3, 4}), t64(0))
    raises("out of range", la.multilabel_margin_loss, x[1],
      la.tensor{5, 1, 1, 1})
  end)

  it("multilabel_soft_margin_loss", function()
    local y = t64{{0, 1, 0, 1}, {1, 1, 0, 0}}
    near(la.multilabel_soft_margin_loss(x, y, {reduction = "none"}),
      la.binary_cross_entropy_with_logits(x, y, {reduction = "none"}):mean(2))
    local w = t64{1, 2, 3, 4}
    near(la.multilabel_soft_margin_loss(x, y, w),
      (w * la.binary_cross_entropy_with_logits(x, y, {reduction = "none"}))
        :mean())
  end)

  it("have gradients", function()
    local y = la.tensor{4, 1}
    local z = x:clone():requires_grad_()
    assert.is_true(la.gradcheck(function(v)
      return la.multi_margin_loss(v, y, {p = 2})
    end, {z}))
    assert.is_true(la.gradcheck(function(v)
      return la.multilabel_margin_loss(v, la.tensor{{4, 1, 0, 0}, {2, 0, 0, 0}})
    end, {z}))
    assert.is_true(la.gradcheck(function(v)
      return la.multilabel_soft_margin_loss(v, la.ones_like(x))
    end, {z}))
    assert.is_true(la.gradcheck(function(v)
      return la.gaussian_nll_loss(v, la.ones_like(x), v:square() + 1)
        + la.poisson_nll_loss(v, la.full_like(x, 2), {full = true})
    end, {z}))
  end)
end)

describe("embedding bags", function()
  it("have gradients of sums and means", function()
    for _, mode in ipairs{"sum", "mean"} do
      local bag = nn.EmbeddingBag(5, 2, {mode = mode}):double()
      local index, offsets = la.tensor{1, 2, 5, 5, 3}, la.tensor{1, 4, 4}
      local function run(w)
        return la.embedding_bag(index, w, offsets, mode)
      end
      assert.is_true(la.gradcheck(run, {bag.weight}))
      local out = bag(index, offsets)
      assert.is_true(out[2] == la.zeros(2, F64))
      local rows = bag.weight:index_select(1, index)
      near(out[3], mode == "sum" and rows[{{4, 5}}]:sum(1)
        or rows[{{4, 5}}]:mean(1))
    end
  end)
end)

describe("schedules", function()
  local function sgd() return optim.SGD({la.zeros(1, {requires_grad = true})},
    {lr = 1, momentum = 0.5}) end

  it("start from the rate before the first of them", function()
    local opt = sgd()
    optim.ConstantLR(opt, {factor = 0.1})
    assert.are.equal(0.1, opt.param_groups[1].lr)
    optim.ExponentialLR(opt, {gamma = 0.5})
    assert.are.equal(1, opt.param_groups[1].lr)
  end)

  it("leave the defaults of an optimiser alone", function()
    local p = la.zeros(1, {requires_grad = true})
    local opt = optim.Adam({p}, {lr = 1})
    optim.OneCycleLR(opt, {max_lr = 1, total_steps = 10}):step()
    assert.are_not.equal(0.9, opt.param_groups[1].betas[1])
    assert.are.equal(0.9, optim.Adam({p}, {lr = 1}).param_groups[1].betas[1])
  end)

  it("refuse what does not fit", function()
    local p = la.zeros(1, {requires_grad = true})
    raises("must support momentum", optim.OneCycleLR, optim.Adagrad({p}),
      {max_lr = 1, total_steps = 3})
    raises("milestones", optim.SequentialLR, sgd(), {schedulers = {},
      milestones = {1}})
    raises("of this optimizer", optim.SequentialLR, sgd(), {schedulers = {
      optim.ConstantLR(sgd())}, milestones = {}})
    raises("mode", optim.CyclicLR, sgd(), {base_lr = 0, max_lr = 1,
      mode = "round"})
  end)

  it("go on from a saved state", function()
    local a, b = sgd(), sgd()
    local function make(o)
      return optim.SequentialLR(o, {schedulers = {
        optim.LinearLR(o, {total_iters = 3}),
        optim.ExponentialLR(o, {gamma = 0.5})}, milestones = {3}})
    end
    local first = make(a)
    for _ = 1, 5 do first:step() end
    local second = make(b)
    second:load_state_dict(first:state_dict())
    assert.are.equal(a.param_groups[1].lr, b.param_groups[1].lr)
    assert.are.equal(0.25, b.param_groups[1].lr)
  end)
end)

describe("LBFGS", function()
  it("finds the minimum of Rosenbrock's valley", function()
    local p = t64{-1.2, 1}:requires_grad_()
    local opt = optim.LBFGS({p}, {line_search_fn = "strong_wolfe",
      max_iter = 100})
    opt:step(function()
      opt:zero_grad()
      local x, y = p[1], p[2]
      local loss = (1 - x):square() + 100 * (y - x:square()):square()
      loss:backward()
      return loss
    end)
    assert.is_true(la.allclose(p, t64{1, 1}, {rtol = 0, atol = 1e-3}))
  end)

  it("goes on from a saved state", function()
    local function run(p, opt, n)
      for _ = 1, n do
        opt:step(function()
          opt:zero_grad()
          local loss = ((p - 3) ^ 4):sum() + p:cos():sum()
          loss:backward()
          return loss
        end)
      end
    end
    local p = t64{1, 5, -2}:requires_grad_()
    local opt = optim.LBFGS(p, {lr = 0.5, max_iter = 3})
    run(p, opt, 2)
    local q = p:detach():clone():requires_grad_()
    local other = optim.LBFGS(q, {lr = 0.5, max_iter = 3})
    other:load_state_dict(opt:state_dict())
    run(p, opt, 3)
    run(q, other, 3)
    assert.is_true(p == q)
  end)

  it("refuses what it can't do", function()
    local p = la.zeros(1, {requires_grad = true})
    raises("closure", function() optim.LBFGS(p):step() end)
    raises("groups are not supported", optim.LBFGS, {{params = {p}},
      {params = {la.zeros(1, {requires_grad = true})}}})
    raises("strong_wolfe", optim.LBFGS, p, {line_search_fn = "armijo"})
  end)
end)
