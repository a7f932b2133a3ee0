-- Networks: modules, layers, losses.
local la = require "lunarray"
local nn = require "lunarray.nn"

local F64 = {dtype = "float64"}
local function t64(values) return la.tensor(values, F64) end
local function near(a, b, eps)
  assert.is_true(la.allclose(a, b, {rtol = eps or 1e-9, atol = eps or 1e-9}),
    tostring(a) .. " against " .. tostring(b))
end
local raises = require "spec.support.raises"
local function names_of(module)
  local names = {}
  for name in module:named_parameters() do names[#names + 1] = name end
  return names
end

describe("losses", function()
  local x = t64{{1, 2, 3}, {0.5, -1, 0}}
  local y = la.tensor{3, 1}

  local function plain(row, label)
    local sum = 0
    for _, v in ipairs(row) do sum = sum + math.exp(v) end
    return math.log(sum) - row[label]
  end
  local a, b = plain({1, 2, 3}, 3), plain({0.5, -1, 0}, 1)

  it("cross_entropy counts labels from 1", function()
    near(la.cross_entropy(x, y), t64((a + b) / 2))
    near(la.cross_entropy(x, y, {reduction = "sum"}), t64(a + b))
    near(la.cross_entropy(x, y, {reduction = "none"}), t64{a, b})
    near(la.nll_loss(x:log_softmax(2), y), t64((a + b) / 2))
    raises("labels start at 1", la.cross_entropy, x, la.tensor{0, 1})
    raises("there are 3 classes", la.cross_entropy, x, la.tensor{4, 1})
    raises("int64", la.cross_entropy, x, la.tensor{1.0, 2.0})
    raises("don't fit", la.cross_entropy, x, la.tensor{1, 2, 3})
    raises("not a valid reduction", la.cross_entropy, x, y,
      {reduction = "most"})
  end)

  it("cross_entropy weighs, ignores and smooths", function()
    local w = t64{1, 2, 4}
    near(la.cross_entropy(x, y, {weight = w}), t64((4 * a + b) / 5))
    near(la.cross_entropy(x, y, {ignore_index = 3}), t64(b))
    near(la.cross_entropy(x, y, {ignore_index = 3, reduction = "none"}),
      t64{0, b})
    local all = 0
    for k = 1, 3 do all = all + plain({1, 2, 3}, k) + plain({0.5, -1, 0}, k) end
    near(la.cross_entropy(x, y, {label_smoothing = 0.3}),
      t64(0.7 * (a + b) / 2 + 0.3 * all / 6))
    local p = t64{{0, 0, 1}, {1, 0, 0}}
    near(la.cross_entropy(x, p), t64((a + b) / 2))
    near(la.cross_entropy(x, p, {label_smoothing = 0.3}),
      la.cross_entropy(x, y, {label_smoothing = 0.3}))
  end)

  it("cross_entropy of images equals that of pixels", function()
    local z = la.randn(2, 5, 3, 4, F64)
    local label = la.randint(1, 5, {2, 3, 4})
    near(la.cross_entropy(z, label), la.cross_entropy(
      z:permute(1, 3, 4, 2):reshape(-1, 5), label:reshape(-1)))
  end)

  it("cross_entropy has the gradient of softmax minus one-hot", function()
    local z = x:clone():requires_grad_()
    la.cross_entropy(z, y):backward()
    near(z.grad, (x:softmax(2) - la.one_hot(y, 3)) / 2)
  end)

  it("of a difference refuse different sizes", function()
    for _, name in ipairs{"mse_loss", "l1_loss", "smooth_l1_loss",
      "huber_loss", "binary_cross_entropy_with_logits"} do
      raises("differ", la[name], x, la.zeros(3, F64))
    end
    local d, zero = t64{-2, 0.5, 0}, t64{0, 0, 0}
    near(la.mse_loss(d, zero, {reduction = "sum"}), t64(4.25))
    near(la.l1_loss(d, zero, {reduction = "sum"}), t64(2.5))
    near(la.smooth_l1_loss(d, zero, {reduction = "none"}), t64{1.5, 0.125, 0})
    near(la.smooth_l1_loss(d, zero, {reduction = "none", beta = 0}),
      t64{2, 0.5, 0})
    near(la.huber_loss(d, zero, {reduction = "none", delta = 0.4}),
      t64{0.72, 0.12, 0})
  end)

  it("of probabilities agree with their logits", function()
    local z, t = t64{-3, 0, 200, 1}, t64{0, 1, 1, 0.25}
    near(la.binary_cross_entropy_with_logits(z, t),
      la.binary_cross_entropy(z:sigmoid(), t))
    near(la.binary_cross_entropy(t64{0, 1}, t64{1, 1}), t64(50))
    raises("between 0 and 1", la.binary_cross_entropy, t64{2}, t64{1})
    local p = t64{0, 1}:requires_grad_()
    la.binary_cross_entropy(p, t64{1, 0}):backward()
    assert.is_false(p.grad:isnan():any())
    near(la.kl_div(t64{{0.5, 0.5}}:log(), t64{{0, 1}},
      {reduction = "batchmean"}), t64(math.log(2)))
  end)

  it("of margins", function()
    near(la.hinge_embedding_loss(t64{3, 0.25, 2}, t64{1, -1, -1},
      {reduction = "none"}), t64{3, 0.75, 0})
    near(la.margin_ranking_loss(t64{1, 2}, t64{2, 1}, t64{1, 1},
      {margin = 0.5, reduction = "none"}), t64{1.5, 0})
    near(la.cosine_similarity(t64{{3, 4}}, t64{{4, 3}}), t64{0.96})
    near(la.cosine_embedding_loss(t64{{3, 4}, {3, 4}}, t64{{4, 3}, {4, 3}},
      la.tensor{1, -1}, {reduction = "none"}), t64{0.04, 0.96})
    near(la.pairwise_distance(t64{{3, 4}}, t64{{0, 0}}, {eps = 0}), t64{5})
    near(la.triplet_margin_loss(t64{{0, 0}}, t64{{3, 4}}, t64{{0, 2}},
      {eps = 0}), t64(4))
  end)

  it("of a single number take it for one class", function()
    local score, label = la.tensor(-3.5), la.tensor(1)
    for _, name in ipairs {"multi_margin_loss", "multilabel_margin_loss"} do
      for _, how in ipairs {"none", "mean", "sum"} do
        local loss = la[name](score, label, {reduction = how})
        assert.equal(0, loss.ndim)
        assert.equal(0.0, loss:item())
      end
      assert.has_error(function() la[name](score, la.tensor(2)) end)
    end
  end)
  it("of triplets refuse a margin that is not positive", function()
    local one = la.ones(1, 2)
    for _, m in ipairs {0, -1} do
      assert.has_error(function()
        la.triplet_margin_loss(one, one, one, {margin = m})
      end)
    end
  end)
  it("soft_margin_loss is log(1 + exp(-yx))", function()
    near(la.soft_margin_loss(t64{2, -1}, t64{1, -1}, {reduction = "none"}),
      t64{math.log(1 + math.exp(-2)), math.log(1 + math.exp(-1))})
  end)

  it("are modules too", function()
    near(nn.MSELoss()(t64{1}, t64{3}), t64(4))
    local loss = nn.CrossEntropyLoss{weight = t64{1, 2, 4}}
    near(loss(x, y), t64((4 * a + b) / 5))
    raises("unknown option", nn.MSELoss, {beta = 1})
  end)
end)

describe("modules", function()
  local Net = nn.class "Net"
  function Net:init(n)
    self.fc = nn.Linear(n, 4)
    self.scale = nn.Parameter(la.ones(1))
    self.body = nn.Sequential(nn.ReLU(), nn.Linear(4, 2), nn.Dropout(0.5))
    self:register_buffer("seen", la.zeros(1))
  end
  function Net:forward(x) return self.body(self.fc(x) * self.scale) end

  it("find parameters in order of assignment", function()
    local net = Net(3)
    assert.are.same({"fc.weight", "fc.bias", "scale", "body.1.weight",
      "body.1.bias"}, names_of(net))
    assert.are.equal(5, #net:parameters())
    assert.are.equal(1, #net:buffers())
    assert.are.equal(2, #net:children())
    assert.are.equal(6, #net:modules())
    assert.are.same({5, 2}, {table.unpack(net(la.ones(5, 3)).shape)})
  end)

  it("ask for what they cannot do without", function()
    local none = {}
    for _, name in ipairs{"ReLU", "ReLU6", "Sigmoid", "Tanh", "SiLU", "Mish",
      "SELU", "Hardswish", "Hardsigmoid", "LogSigmoid", "Softsign",
      "Tanhshrink", "GELU", "ELU", "CELU", "LeakyReLU", "Softplus", "Hardtanh",
      "Hardshrink", "Softshrink", "GLU", "Identity", "Flatten", "Dropout",
      "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "Sequential",
      "FeatureAlphaDropout", "ModuleList", "ModuleDict", "ParameterList",
      "PReLU", "CosineSimilarity", "PairwiseDistance", "Transformer",
      "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "Unflatten",
      "Module"} do none[name] = true end
    local asked = 0
    for name, class in pairs(nn) do
      if name:find "^%u" and not name:find "Loss" and not none[name]
          and type(class) == "table" then
        local ok, why = pcall(class)
        asked = asked + 1
        assert.is_false(ok, name)
        assert.truthy(why:find " is needed" or why:find "a layer expected",
          name .. ": " .. why)
      end
    end
    assert.is_true(asked > 30, asked)
  end)

  it("take a parameter where a buffer was, and the other way round", function()
    local net = Net(3)
    net.seen = nn.Parameter(la.ones(1))
    assert.are.equal(6, #net:parameters())
    assert.are.equal(0, #net:buffers())
    net.seen = nil
    net:register_buffer("seen", la.zeros(2))
    net.seen = la.ones(2)
    assert.are.equal(5, #net:parameters())
    assert.are.same({1, 1}, net:buffers()[1]:totable())
  end)

  it("switch modes on and off everywhere", function()
    local net = Net(3)
    assert.is_true(net.body[3].training)
    net:eval()
    assert.is_false(net.body[3].training)
    local x = la.randn(4, 3)
    assert.is_true(net(x) == net(x))
    net:train()
    assert.is_true(net.training and net.body[3].training)
    net:requires_grad_(false)
    assert.is_false(net.fc.weight.requires_grad)
  end)

  it("save and load their state", function()
    local a, b = Net(3):eval(), Net(3):eval()
    local state = a:state_dict()
    local path = os.tmpname() .. ".safetensors"
    la.save(state, path)
    b:load_state_dict(la.load(path))
    os.remove(path)
    local x = la.randn(2, 3)
    assert.is_true(a(x) == b(x))
    state["fc.weight"] = nil
    raises("missing: fc.weight", b.load_state_dict, b, state)
    local missing = b:load_state_dict(state, {strict = false})
    assert.are.same({"fc.weight"}, missing)
    state["fc.weight"] = la.zeros(9)
    raises("size mismatch for fc.weight", b.load_state_dict, b, state)
    local bias = state["fc.bias"]
    state["fc.bias"], state["fc.more"] = nil, bias
    local ok, why = pcall(b.load_state_dict, b, state)
    assert.is_false(ok)
    for _, part in ipairs{"size mismatch for fc.weight", "missing: fc.bias",
                          "unexpected: fc.more"} do
      assert.is_truthy(why:find(part, 1, true), why)
    end
  end)

  it("zero gradients, change dtype, share parameters", function()
    local net = Net(3)
    net(la.ones(1, 3)):sum():backward()
    assert.is_truthy(net.fc.weight.grad)
    net:zero_grad()
    assert.is_nil(net.fc.weight.grad)
    net:to("float64")
    assert.are.equal("float64", net.fc.weight.dtype)
    assert.is_true(net.fc.weight.requires_grad)
    net.again = net.fc
    assert.are.equal(5, #net:parameters())
    local count = 0
    net:apply(function() count = count + 1 end)
    assert.are.equal(6, count)
  end)

  it("print as a tree", function()
    local text = tostring(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    assert.are.equal("Sequential(\n  (0): Linear(in_features=2, "
      .. "out_features=3, bias=true)\n  (1): ReLU()\n)"
      .. " -- 9 parameters, 36 bytes", text)
  end)

  it("have hooks", function()
    local fc, seen = nn.Linear(2, 2), 0
    local handle = fc:register_forward_hook(function(_, y)
      seen = seen + 1
      return y * 0
    end)
    assert.are.equal(0, fc(la.ones(1, 2)):abs():sum():item())
    handle:remove()
    fc(la.ones(1, 2))
    assert.are.equal(1, seen)
  end)

  it("tell what is wrong", function()
    raises("has no forward", nn.class "Empty"())
    raises("unknown option 'pad'", nn.Conv2d, 1, 2, 3, {pad = 1})
    raises("in_features is needed", nn.Linear)
    raises("nn.Parameter", function()
      local fc = nn.Linear(1, 1)
      fc.weight = la.ones(1, 1)
    end)
  end)

  it("lists count from 1, their names from 0", function()
    local list = nn.ModuleList{nn.Linear(1, 1), nn.ReLU()}
    list:append(nn.Linear(1, 2))
    assert.are.equal(3, #list)
    assert.are.same({"0.weight", "0.bias", "2.weight", "2.bias"},
      names_of(list))
    assert.are.equal("ReLU", list[2]._name)
    local dict = nn.ModuleDict{b = nn.ReLU(), a = nn.Linear(1, 1)}
    assert.are.same({"a.weight", "a.bias"}, names_of(dict))
    assert.are.equal(2, #dict)
  end)
end)

describe("layers", function()
  it("start within PyTorch's bounds", function()
    local fc = nn.Linear(100, 50)
    assert.is_true(fc.weight:abs():max():item() <= 0.1)
    assert.is_true(fc.weight:abs():max():item() > 0.09)
    assert.is_true(fc.bias:abs():max():item() <= 0.1)
    local conv = nn.Conv2d(4, 8, 5)
    assert.is_true(conv.weight:abs():max():item() <= 0.1)
    assert.are.same({8, 4, 5, 5}, {table.unpack(conv.weight.shape)})
  end)

  it("group_norm refuses groups without elements, not an empty batch",
      function()
    assert.has_error(function() la.group_norm(la.zeros(1, 0, 2), 1) end)
    assert.has_error(function() la.group_norm(la.zeros(1, 2, 0), 1) end)
    assert.same(0, la.group_norm(la.zeros(0, 2, 3), 1):numel())
  end)
  it("of convolution refuse groups that divide no channels", function()
    for _, name in ipairs {"Conv2d", "ConvTranspose2d"} do
      raises(name .. ": groups=2 must be", nn[name], 3, 4, 3, {groups = 2})
      raises(name .. ": groups=0 must be", nn[name], 4, 4, 3, {groups = 0})
    end
  end)
  it("compute what their operations do", function()
    local x = la.randn(2, 4, 6, 6)
    local conv = nn.Conv2d(4, 8, 3, {padding = 1, stride = 2, groups = 2})
    assert.is_true(conv(x) == la.conv2d(x, conv.weight, conv.bias,
      {stride = 2, padding = 1, groups = 2}))
    assert.is_true(nn.MaxPool2d(2)(x) == (la.max_pool2d(x, 2)))
    assert.is_true(nn.AvgPool2d(2)(x) == la.avg_pool2d(x, 2))
    assert.are.same({2, 4, 1, 1},
      {table.unpack(nn.AdaptiveAvgPool2d(1)(x).shape)})
    assert.are.same({2, 144}, {table.unpack(nn.Flatten()(x).shape)})
    assert.is_true(nn.GELU{approximate = "tanh"}(x)
      == la.gelu(x, {approximate = "tanh"}))
    assert.is_true(nn.LeakyReLU(0.2)(x) == la.leaky_relu(x, 0.2))
    assert.is_true(nn.Softmax(2)(x) == x:softmax(2))
    local up = nn.ConvTranspose2d(4, 2, 2, {stride = 2})
    assert.are.same({2, 2, 12, 12}, {table.unpack(up(x).shape)})
    local rows = nn.Embedding(5, 3)
    assert.is_true(rows(la.tensor{2, 5})[1] == rows.weight[2])
  end)

  it("batch norm follows the batch and keeps count", function()
    local bn = nn.BatchNorm1d(3, {dtype = "float64"})
    local x = la.randn(16, 3, F64) * 3 + 1
    local y = bn(x)
    near(y:mean(1), la.zeros(3, F64), 1e-6)
    near(bn.running_mean, x:mean(1) * 0.1)
    near(bn.running_var, x:var(1) * 0.1 + 0.9)
    assert.are.equal(1, bn.num_batches_tracked:item())
    bn:eval()
    near(bn(x), (x - bn.running_mean) / (bn.running_var + 1e-5):sqrt())
    raises("dims expected", nn.BatchNorm2d(3), x)
    near(nn.LayerNorm(3, {dtype = "float64"})(x),
      la.layer_norm(x, {3}))
    near(nn.GroupNorm(1, 3, {dtype = "float64"})(x), la.group_norm(x, 1))
    near(nn.RMSNorm(3, {dtype = "float64"})(x), la.rms_norm(x, {3}))
  end)

  it("recurrent layers equal their cells step by step", function()
    for _, kind in ipairs{"RNN", "LSTM", "GRU"} do
      local net = nn[kind](3, 4, {dtype = "float64"})
      local cell = nn[kind .. "Cell"](3, 4, {dtype = "float64"})
      for _, part in ipairs{"weight_ih", "weight_hh", "bias_ih", "bias_hh"} do
        la.no_grad(function() cell[part]:copy_(net[part .. "_l0"]) end)
      end
      local x, h, c = la.randn(5, 2, 3, F64)
      local out, last = net(x)
      for k = 1, 5 do
        h, c = cell(x[k], h, c)
        near(out[k], h)
      end
      near(last[1], h)
    end
  end)

  it("recurrent layers stack, run backwards and take batches first", function()
    local net = nn.LSTM(3, 4, {num_layers = 2, bidirectional = true,
      batch_first = true})
    local out, h, c = net(la.randn(2, 5, 3))
    assert.are.same({2, 5, 8}, {table.unpack(out.shape)})
    assert.are.same({4, 2, 4}, {table.unpack(h.shape)})
    assert.are.same({4, 2, 4}, {table.unpack(c.shape)})
    out:sum():backward()
    for _, p in ipairs(net:parameters()) do assert.is_truthy(p.grad) end
    assert.is_truthy(net.weight_ih_l1_reverse)
  end)

  it("attention is one with and without its weights", function()
    local net = nn.MultiheadAttention(8, 2, {batch_first = true,
      dtype = "float64"})
    local x = la.randn(2, 5, 8, F64)
    local out, weights = net(x, x, x, {is_causal = true})
    near((net(x, x, x, {is_causal = true, need_weights = false})), out)
    near(weights:sum(-1), la.ones(2, 5, F64))
    assert.are.equal(0, weights[1]:triu(1):abs():sum():item())
    local layer = nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16,
      batch_first = true, dtype = "float64"})
    assert.are.same({2, 5, 8}, {table.unpack(layer(x).shape)})
  end)

  it("initialisers keep to their formulas", function()
    local w = la.empty(200, 100, F64)
    nn.init.xavier_uniform_(w)
    local bound = math.sqrt(6 / 300)
    assert.is_true(w:abs():max():item() <= bound)
    nn.init.kaiming_normal_(w, {nonlinearity = "relu"})
    assert.is_true(math.abs(w:std():item() - math.sqrt(2 / 100)) < 0.01)
    nn.init.kaiming_normal_(w, {mode = "fan_out"})
    assert.is_true(math.abs(w:std():item() - math.sqrt(2 / 200)) < 0.01)
    nn.init.kaiming_normal_(w, {a = 3, nonlinearity = "leaky_relu"})
    assert.is_true(math.abs(w:std():item() - math.sqrt(0.2 / 100)) < 0.01)
    local one, two = la.empty(4, 3), la.empty(4, 3)
    for _, t in ipairs{one, two} do
      nn.init.kaiming_uniform_(t, {generator = la.Generator(7)})
    end
    assert.is_true(one:equal(two))
    raises("unknown option 'gain'", nn.init.kaiming_normal_, w, {gain = 1})
    nn.init.trunc_normal_(w, 0, 1, -1, 1)
    assert.is_true(w:abs():max():item() <= 1)
    raises("at least 2 dims", nn.init.xavier_normal_, la.zeros(3))
  end)

  it("gradients are clipped by norm and value", function()
    local p = nn.Parameter(t64{0, 0})
    p.grad = t64{3, 4}
    near(nn.clip_grad_norm_({p}, 1), t64(5))
    near(p.grad, t64{0.6, 0.8}, 1e-6)
    nn.clip_grad_value_({p}, 0.7)
    near(p.grad, t64{0.6, 0.7}, 1e-6)
  end)
end)

describe("weights of losses", function()
  it("may not enlarge the loss", function()
    local x = la.full({1, 3}, 0.5)
    for _, sizes in ipairs{{2, 3}, {2, 1, 3}} do
      local w = la.ones(sizes)
      raises("does not fit a result of shape [1, 3]", la.binary_cross_entropy,
        x, x, {weight = w})
      for _, name in ipairs{"weight", "pos_weight"} do
        raises("does not fit a result of shape [1, 3]",
          la.binary_cross_entropy_with_logits, x, x, {[name] = w})
      end
    end
    assert.same({1, 3}, la.binary_cross_entropy(x, x, {weight = la.ones(3),
      reduction = "none"}).shape)
  end)
end)
