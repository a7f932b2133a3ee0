-- Training steps against PyTorch: fifty steps of every optimiser and every
-- layer from the same first weights on the same batches, in float64. What
-- PyTorch makes of them stands in spec/nn/training/values.jsonl, recorded by
-- spec/nn/training/record.py, which builds each case as it is built here.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local json = require "dkjson"

local F64 = {dtype = "float64"}
local STEPS, NEAR = 50, 1e-10

local records = {}
for line in io.lines "spec/nn/training/values.jsonl" do
  local record = json.decode(line)
  records[record.name] = record
end
local seen = {}

local function fill(shape, key)
  local n, values = 1, {}
  for _, size in ipairs(shape) do n = n * size end
  for j = 0, n - 1 do
    values[j + 1] = ((j * 37 + key * 101 + j * j * 13) % 211) / 105.5 - 1
  end
  return la.tensor(values, F64):reshape(shape)
end

local function labels(n, classes, key)
  local list = {}
  for j = 0, n - 1 do list[j + 1] = (j * 7 + key * 3) % classes + 1 end
  return la.tensor(list)
end

local function start(module)
  module:double()
  for k, p in ipairs(module:parameters()) do
    la.no_grad(function()
      p:copy_(fill(p.shape, k) * 0.5)
      if p.ndim == 1 then p:add_(0.75) end
    end)
  end
end

local function sampled(t)
  local flat = t:detach():reshape(-1)
  local n, list = flat:numel(), {}
  local step = math.max(1, (n + 23) // 24)
  for j = 1, n, step do list[#list + 1] = flat:item(j) end
  return list
end

-- Every recorded tensor is there and near; none is there that is not recorded.
local function compare(name, module, loss)
  local record = assert(records[name], "no record of " .. name)
  seen[name] = true
  local state, count = module:state_dict(), 0
  for field, wanted in pairs(record.values) do
    local t = assert(state[field], name .. " has no " .. field)
    local values = sampled(t)
    assert.are.equal(#wanted, #values)
    for k, v in ipairs(values) do
      local gap = math.abs(v - wanted[k])
      if gap > NEAR * math.max(1, math.abs(v)) or gap ~= gap then
        error(("%s, %s[%d]: %.17g, PyTorch has %.17g"):format(name, field, k, v,
          wanted[k]))
      end
    end
    count = count + 1
  end
  for _ in pairs(state) do count = count - 1 end
  assert.are.equal(0, count, name .. " has other tensors than PyTorch's")
  assert.is_true(math.abs(loss - record.loss) < NEAR * math.max(1,
    math.abs(loss)), name .. ": the loss")
end

local function sgd(params)
  return optim.SGD(params, {lr = 0.02, momentum = 0.5})
end

local function train(name, module, forward, make)
  it(name, function()
    start(module)
    local opt, loss = (make or sgd)(module:parameters()), nil
    for k = 1, STEPS do
      opt:zero_grad()
      loss = forward(module, k)
      loss:backward()
      opt:step()
    end
    compare(name, module, loss:item())
  end)
end

local function mse(...)
  local shapes = {...}
  return function(module, k)
    local inputs = {}
    for i, shape in ipairs(shapes) do
      inputs[i] = fill(shape, 1000 + 10 * k + i - 1)
    end
    local out = module(table.unpack(inputs))
    return la.mse_loss(out, fill(out.shape, 5000 + k))
  end
end

local function perceptron()
  return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
end

local function classify(module, k)
  return la.cross_entropy(module(fill({5, 4}, 1000 + k)), labels(5, 3, k))
end

describe("fifty steps of", function()
  for name, o in pairs{
    ["SGD"] = {lr = 0.1},
    ["SGD momentum"] = {lr = 0.1, momentum = 0.9, dampening = 0.1,
      weight_decay = 0.01},
    ["SGD nesterov"] = {lr = 0.1, momentum = 0.9, nesterov = true},
    ["SGD maximize"] = {lr = 0.01, maximize = true, weight_decay = 0.1},
    ["Adam"] = {lr = 0.02},
    ["Adam amsgrad"] = {lr = 0.02, betas = {0.8, 0.95}, amsgrad = true,
      weight_decay = 0.1},
    ["Adam maximize"] = {lr = 0.01, maximize = true},
    ["AdamW"] = {lr = 0.02, weight_decay = 0.1},
    ["AdamW amsgrad"] = {lr = 0.02, amsgrad = true},
    ["RMSprop"] = {lr = 0.01},
    ["RMSprop centered"] = {lr = 0.01, alpha = 0.9, centered = true,
      momentum = 0.5, weight_decay = 0.1},
    ["Adagrad"] = {lr = 0.05},
    ["Adagrad decay"] = {lr = 0.05, lr_decay = 0.01, weight_decay = 0.1,
      initial_accumulator_value = 0.1, eps = 1e-6},
  } do
    train(name, perceptron(), classify, function(params)
      return optim[name:match "%a+"](params, o)
    end)
  end
end)

describe("steps of", function()
  local function second_order(name, steps, o)
    it(name, function()
      local module = perceptron()
      start(module)
      local opt = optim.LBFGS(module:parameters(), o)
      local calls, loss = 0, nil
      for _ = 1, steps do
        loss = opt:step(function()
          calls = calls + 1
          opt:zero_grad()
          local value = classify(module, 1)
          for _, p in ipairs(module:parameters()) do
            value = value + 0.01 * (p * p):sum()
          end
          value:backward()
          return value
        end)
      end
      compare(name, module, type(loss) == "number" and loss or loss:item())
      assert.are.equal(records[name].calls, calls)
    end)
  end
  second_order("LBFGS", 4, {lr = 0.5, max_iter = 5})
  second_order("LBFGS history", 4, {lr = 0.3, max_iter = 7, history_size = 3})
  second_order("LBFGS wolfe", 4, {max_iter = 6,
    line_search_fn = "strong_wolfe"})
  second_order("LBFGS wolfe long", 2, {lr = 20, max_iter = 8,
    line_search_fn = "strong_wolfe"})
end)

describe("fifty steps with", function()
  train("Linear", nn.Linear(4, 3), mse{5, 4})
  train("Linear no bias", nn.Linear(4, 3, {bias = false}), mse{2, 5, 4})
  train("Bilinear", nn.Bilinear(3, 4, 2), mse({5, 3}, {5, 4}))
  train("Conv1d", nn.Conv1d(2, 4, 3, {stride = 2, padding = 1, groups = 2}),
    mse{2, 2, 9})
  train("Conv2d", nn.Conv2d(2, 4, 3, {padding = 1}), mse{2, 2, 5, 6})
  train("Conv2d strided", nn.Conv2d(4, 6, {3, 2}, {stride = {2, 1},
    dilation = {1, 2}, groups = 2, bias = false}), mse{2, 4, 7, 6})
  train("Conv3d", nn.Conv3d(1, 2, 2, {padding = 1}), mse{2, 1, 3, 4, 3})
  train("ConvTranspose1d", nn.ConvTranspose1d(2, 3, 3, {stride = 2}),
    mse{2, 2, 4})
  train("ConvTranspose2d", nn.ConvTranspose2d(2, 4, 3, {stride = 2,
    padding = 1, output_padding = 1, groups = 2}), mse{2, 2, 3, 4})
  for name, pool in pairs{
    ["MaxPool2d"] = nn.MaxPool2d(2),
    ["MaxPool2d padded"] = nn.MaxPool2d(3, 2, 1),
    ["AvgPool2d"] = nn.AvgPool2d(2),
    ["AvgPool2d padded"] = nn.AvgPool2d(3, 2, 1, {count_include_pad = false}),
    ["AdaptiveAvgPool2d"] = nn.AdaptiveAvgPool2d{output_size = {2, 3}},
    ["AdaptiveMaxPool2d"] = nn.AdaptiveMaxPool2d{output_size = {2, 3}},
    ["LPPool2d"] = nn.LPPool2d(2, 2),
  } do
    train(name, nn.Sequential(nn.Conv2d(1, 2, 3), pool), mse{2, 1, 8, 9})
  end
  for name, pool in pairs{
    MaxPool1d = nn.MaxPool1d(2), AvgPool1d = nn.AvgPool1d(3, 2),
    AdaptiveAvgPool1d = nn.AdaptiveAvgPool1d(3),
    AdaptiveMaxPool1d = nn.AdaptiveMaxPool1d(3), LPPool1d = nn.LPPool1d(2, 3),
  } do
    train(name, nn.Sequential(nn.Conv1d(1, 2, 3), pool), mse{2, 1, 10})
  end
  train("BatchNorm1d", nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)),
    mse{6, 4})
  train("BatchNorm1d series", nn.BatchNorm1d(3, {momentum = false}),
    mse{4, 3, 5})
  train("BatchNorm2d", nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3)),
    mse{3, 1, 4, 5})
  train("BatchNorm3d", nn.BatchNorm3d(2), mse{2, 2, 2, 3, 2})
  train("InstanceNorm2d", nn.InstanceNorm2d(3, {affine = true}),
    mse{2, 3, 4, 3})
  train("LayerNorm", nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6)),
    mse{5, 4})
  train("LayerNorm 2", nn.LayerNorm{3, 4}, mse{5, 3, 4})
  train("GroupNorm", nn.Sequential(nn.Conv1d(2, 6, 2), nn.GroupNorm(3, 6)),
    mse{3, 2, 5})
  train("RMSNorm", nn.Sequential(nn.Linear(4, 6), nn.RMSNorm(6)), mse{5, 4})
  for name, act in pairs{
    ReLU = nn.ReLU(), ReLU6 = nn.ReLU6(), Sigmoid = nn.Sigmoid(),
    Tanh = nn.Tanh(), SiLU = nn.SiLU(), Mish = nn.Mish(), SELU = nn.SELU(),
    Hardswish = nn.Hardswish(), Hardsigmoid = nn.Hardsigmoid(),
    LogSigmoid = nn.LogSigmoid(), Softsign = nn.Softsign(),
    Tanhshrink = nn.Tanhshrink(), GELU = nn.GELU(),
    ["GELU tanh"] = nn.GELU{approximate = "tanh"}, ELU = nn.ELU(0.7),
    CELU = nn.CELU(0.5), LeakyReLU = nn.LeakyReLU(0.2),
    Softplus = nn.Softplus(2, 1), Softmax = nn.Softmax(2),
    LogSoftmax = nn.LogSoftmax(2), Softmin = nn.Softmin(2),
    Hardtanh = nn.Hardtanh(-0.5, 0.8), Hardshrink = nn.Hardshrink(0.3),
    Softshrink = nn.Softshrink(0.3), GLU = nn.GLU(2), PReLU = nn.PReLU(6),
    Threshold = nn.Threshold(0.1, -0.3),
  } do
    train(name, nn.Sequential(nn.Linear(4, 6), act), mse{5, 4})
  end

  local function lookup(module, k)
    local out = module(labels(6, 5, k):reshape(2, 3))
    return la.mse_loss(out, fill(out.shape, 5000 + k))
  end
  train("Embedding", nn.Embedding(5, 3), lookup)
  train("Embedding padding", nn.Embedding(5, 3, {padding_idx = 2}), lookup)
  train("EmbeddingBag", nn.EmbeddingBag(5, 3, {mode = "mean"}), lookup)
  for _, kind in ipairs{"RNN", "LSTM", "GRU"} do
    train(kind, nn[kind](3, 4), mse{5, 2, 3})
    train(kind .. " deep", nn[kind](3, 2, {num_layers = 2,
      bidirectional = true, batch_first = true}), mse{2, 5, 3})
    train(kind .. "Cell", nn[kind .. "Cell"](3, 4), function(module, k)
      local h, c
      for t = 0, 3 do
        h, c = module(fill({2, 3}, 1000 + 10 * k + t), h, c)
      end
      return la.mse_loss(h, fill(h.shape, 5000 + k))
    end)
  end
  train("RNN relu", nn.RNN(3, 4, {nonlinearity = "relu", bias = false}),
    mse{5, 2, 3})
  train("MultiheadAttention", nn.MultiheadAttention(4, 2,
    {batch_first = true}), mse({2, 3, 4}, {2, 5, 4}, {2, 5, 4}))
  train("MultiheadAttention masked", nn.MultiheadAttention(4, 2,
    {batch_first = true, bias = false}), function(module, k)
      local x = fill({2, 4, 4}, 1000 + k)
      local hide = la.ones({4, 4}, {dtype = "bool"}):triu(1)
      local out = module(x, x, x, {attn_mask = hide, need_weights = false})
      return la.mse_loss(out, fill(out.shape, 5000 + k))
    end)
  train("TransformerEncoderLayer", nn.TransformerEncoderLayer(4, 2, 6,
    {dropout = 0, batch_first = true}), mse{2, 3, 4})
  train("TransformerEncoderLayer first", nn.TransformerEncoderLayer(4, 2, 6,
    {dropout = 0, activation = "gelu", norm_first = true}), mse{3, 2, 4})
  train("TransformerEncoder", nn.TransformerEncoder(
    nn.TransformerEncoderLayer(4, 2, 6, {dropout = 0, batch_first = true}), 2,
    nn.LayerNorm(4)), mse{2, 3, 4})
  local function decode(module, k)
    local target, memory = fill({3, 2, 4}, 1000 + k), fill({5, 2, 4}, 2000 + k)
    if module._name == "Transformer" then target, memory = memory, target end
    local out = module(target, memory, {
      tgt_mask = la.ones({3, 3}, {dtype = "bool"}):triu(1)})
    return la.mse_loss(out, fill(out.shape, 5000 + k))
  end
  train("TransformerDecoderLayer", nn.TransformerDecoderLayer(4, 2, 6,
    {dropout = 0}), decode)
  train("TransformerDecoderLayer first", nn.TransformerDecoderLayer(4, 2, 6,
    {dropout = 0, activation = "gelu", norm_first = true}), decode)
  train("TransformerDecoder", nn.TransformerDecoder(
    nn.TransformerDecoderLayer(4, 2, 6, {dropout = 0}), 2, nn.LayerNorm(4)),
    decode)
  train("Transformer", nn.Transformer(4, 2, 1, 1, 6, {dropout = 0}), decode)
end)

describe("fifty steps on", function()
  local function loss_case(name, of)
    train("loss " .. name, nn.Linear(4, 3), function(module, k)
      return of(module(fill({5, 4}, 1000 + k)), k)
    end)
  end
  local function target(k) return fill({5, 3}, 5000 + k) end
  local function share(k) return (target(k) + 1) / 2 end
  local function sign(k)
    local list = {}
    for j = 0, 4 do list[j + 1] = (j + k) % 3 ~= 0 and 1.0 or -1.0 end
    return la.tensor(list, F64)
  end
  local weight = la.tensor({0.5, 1, 2}, F64)

  -- name of the class, its options, and the arguments of the forward
  local function plain(name, o, args)
    local title, class = name, name:match "%w+"
    local module = nn[class](o)
    loss_case(title, function(x, k) return module(args(x, k)) end)
  end
  plain("CrossEntropyLoss", {weight = weight, label_smoothing = 0.1},
    function(x, k) return x, labels(5, 3, k) end)
  loss_case("CrossEntropyLoss sum", function(x, k)
    return la.cross_entropy(x, labels(5, 3, k), {ignore_index = 2,
      reduction = "sum"}) / 5
  end)
  plain("CrossEntropyLoss shares", {}, function(x, k)
    return x, target(k):softmax(2)
  end)
  plain("NLLLoss", {weight = weight}, function(x, k)
    return x:log_softmax(2), labels(5, 3, k)
  end)
  local function direct(x, k) return x, target(k) end
  plain("MSELoss", {}, direct)
  plain("L1Loss", {}, direct)
  plain("SmoothL1Loss", {beta = 0.5}, direct)
  plain("HuberLoss", {delta = 0.5}, direct)
  plain("BCELoss", {weight = weight}, function(x, k)
    return x:sigmoid(), share(k)
  end)
  plain("BCEWithLogitsLoss", {pos_weight = weight}, function(x, k)
    return x, share(k)
  end)
  plain("KLDivLoss", {reduction = "batchmean"}, function(x, k)
    return x:log_softmax(2), target(k):softmax(2)
  end)
  loss_case("KLDivLoss log", function(x, k)
    return la.kl_div(x:log_softmax(2), target(k):log_softmax(2),
      {log_target = true, reduction = "sum"}) / 5
  end)
  plain("SoftMarginLoss", {}, function(x, k) return x, target(k):sign() end)
  plain("HingeEmbeddingLoss", {margin = 1.5}, function(x, k)
    return x:abs():sum(2), sign(k)
  end)
  plain("MarginRankingLoss", {margin = 0.5}, function(x, k)
    return x:select(2, 1), x:select(2, 2), sign(k)
  end)
  plain("CosineEmbeddingLoss", {margin = 0.1}, function(x, k)
    return x, target(k), sign(k)
  end)
  plain("TripletMarginLoss", {margin = 1, swap = true}, function(x, k)
    return x, target(k), target(k + 1)
  end)
  plain("GaussianNLLLoss", {full = true}, function(x, k)
    return x, target(k), x:square() + 0.1
  end)
  plain("PoissonNLLLoss", {full = true}, function(x, k)
    return x, 3 * share(k)
  end)
  plain("PoissonNLLLoss plain", {log_input = false}, function(x, k)
    return x:square(), 3 * share(k)
  end)
  plain("MultiMarginLoss", {p = 2, margin = 0.7, weight = weight},
    function(x, k) return x, labels(5, 3, k) end)
  plain("MultiLabelMarginLoss", {}, function(x)
    return x, la.tensor{{3, 1, 0}, {2, 0, 1}, {1, 2, 3}, {0, 1, 2}, {1, 0, 0}}
  end)
  plain("MultiLabelSoftMarginLoss", {weight = weight}, function(x, k)
    return x, share(k):round()
  end)
end)

describe("fifty steps on", function()
  local loss = nn.CTCLoss()
  train("loss CTCLoss", nn.Linear(4, 3), function(module, k)
    local logs = module(fill({6, 2, 4}, 1000 + k)):log_softmax(3)
    return loss(logs, la.tensor{{2, 3, 3}, {3, 2, 2}}, la.tensor{6, 5},
      la.tensor{3, 2})
  end)
end)

describe("thirty steps of", function()
  local O = optim
  for name, make in pairs{
    StepLR = function(o) return O.StepLR(o, {step_size = 4, gamma = 0.5}) end,
    MultiStepLR = function(o)
      return O.MultiStepLR(o, {milestones = {3, 3, 11}, gamma = 0.5})
    end,
    ExponentialLR = function(o) return O.ExponentialLR(o, {gamma = 0.9}) end,
    CosineAnnealingLR = function(o)
      return O.CosineAnnealingLR(o, {T_max = 12, eta_min = 0.01})
    end,
    CosineAnnealingWarmRestarts = function(o)
      return O.CosineAnnealingWarmRestarts(o, {T_0 = 4, T_mult = 2,
        eta_min = 0.01})
    end,
    LinearLR = function(o)
      return O.LinearLR(o, {start_factor = 0.25, end_factor = 0.9,
        total_iters = 7})
    end,
    ConstantLR = function(o)
      return O.ConstantLR(o, {factor = 0.25, total_iters = 7})
    end,
    PolynomialLR = function(o)
      return O.PolynomialLR(o, {total_iters = 9, power = 2})
    end,
    LambdaLR = function(o)
      return O.LambdaLR(o, {lr_lambda = function(k) return 1 / (1 + k) end})
    end,
    MultiplicativeLR = function(o)
      return O.MultiplicativeLR(o, {lr_lambda = function(k)
        return 0.9 + k / 100
      end})
    end,
    OneCycleLR = function(o)
      return O.OneCycleLR(o, {max_lr = 1, total_steps = 31})
    end,
    ["OneCycleLR linear"] = function(o)
      return O.OneCycleLR(o, {max_lr = 1, total_steps = 31, pct_start = 0.2,
        anneal_strategy = "linear", three_phase = true})
    end,
    CyclicLR = function(o)
      return O.CyclicLR(o, {base_lr = 0.1, max_lr = 1, step_size_up = 4,
        step_size_down = 6, mode = "triangular2"})
    end,
    ["CyclicLR range"] = function(o)
      return O.CyclicLR(o, {base_lr = 0.1, max_lr = {1, 2}, step_size_up = 4,
        mode = "exp_range", gamma = 0.97, cycle_momentum = false})
    end,
    SequentialLR = function(o)
      return O.SequentialLR(o, {schedulers = {
        O.LinearLR(o, {start_factor = 0.1, end_factor = 1, total_iters = 5}),
        O.CosineAnnealingLR(o, {T_max = 10}),
        O.ExponentialLR(o, {gamma = 0.5})}, milestones = {5, 20}})
    end,
  } do
    it(name, function()
      local p, q = la.zeros(1, {requires_grad = true}),
        la.zeros(1, {requires_grad = true})
      local opt = O.SGD({{params = {p}, lr = 0.8}, {params = {q}}},
        {lr = 0.3, momentum = 0.5})
      local schedule = make(opt)
      local record = records["schedule " .. name]
      seen[record.name] = true
      for k, wanted in ipairs(record.rates) do
        local groups = opt.param_groups
        local have = {groups[1].lr, groups[2].lr, groups[1].momentum}
        for i = 1, 3 do
          if math.abs(have[i] - wanted[i]) > 1e-12 then
            error(("step %d: %.17g, PyTorch has %.17g"):format(k, have[i],
              wanted[i]))
          end
        end
        schedule:step()
      end
    end)
  end
end)

it("every record of training was used", function()
  for name in pairs(records) do
    assert.is_true(seen[name], name .. " was compared with nothing")
  end
end)
