-- lunarray.onnx.ops.loss: losses, whose labels begin with zero, and the steps
-- of optimisers.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local training = rows.domain("ai.onnx.preview.training")

-- The loss of log-probabilities (N, C, ...) for labels (N, ...).
local function likelihood_loss(node)
  local reduction = node:get("reduction", "mean")
  local ignored = node.attributes.ignore_index
  return function(logs, target, weight)
    local labels = target:to("int64")
    local skip = ignored and labels:eq(ignored)
    if skip then labels = labels:masked_fill(skip, 0) end
    local loss = -logs:gather(2, labels:unsqueeze(2) + 1):squeeze{2}
    local share
    if weight then
      share = weight:index_select(1, labels:flatten() + 1)
        :reshape(rows.sizes(labels))
    elseif skip then
      share = la.ones(rows.sizes(labels), {dtype = logs.dtype})
    end
    if skip then share = share:masked_fill(skip, 0) end
    if share then loss = loss * share end
    if reduction == "none" then return loss end
    if reduction == "sum" then return loss:sum() end
    return share and loss:sum() / share:sum() or loss:mean()
  end
end

op.NegativeLogLikelihoodLoss = likelihood_loss

function op.SoftmaxCrossEntropyLoss(node)
  local run = likelihood_loss(node)
  return function(scores, target, weight)
    local logs = la.log_softmax(scores, 2)
    return run(logs, target, weight), logs
  end
end

-- ---- optimisers: R, T, then all of each kind of tensor ----

local function optimiser(name, kinds, step)
  training[name] = function(node)
    return function(rate, count, ...)
      local given = table.pack(...)
      local n = given.n // kinds
      local results = {}
      for k = 1, n do
        local own = {}
        for i = 1, kinds do own[i] = given[(i - 1) * n + k] end
        local out = table.pack(step(node, rate, rows.number(count),
          table.unpack(own)))
        for i = 1, out.n do results[(i - 1) * n + k] = out[i] end
      end
      return table.unpack(results, 1, n * (kinds - 1))
    end
  end
end

optimiser("Adagrad", 3, function(node, rate, t, x, g, h)
  local r = rate / (1 + t * node:get("decay_factor", 0.0))
  g = g + x * node:get("norm_coefficient", 0.0)
  local squares = h + g * g
  return x - r * g / (squares:sqrt() + node:get("epsilon", 1e-6)), squares
end)

optimiser("Adam", 4, function(node, rate, t, x, g, v, h)
  local alpha, beta = node:get("alpha", 0.9), node:get("beta", 0.999)
  g = g + x * node:get("norm_coefficient", 0.0)
  local moving = v * alpha + g * (1 - alpha)
  local squares = h * beta + g * g * (1 - beta)
  local r = rate
  if t > 0 then r = rate * (math.sqrt(1 - beta ^ t) / (1 - alpha ^ t)) end
  local new = x - r * (moving / (squares:sqrt() + node:get("epsilon", 1e-6)))
  return new * (1 - node:get("norm_coefficient_post", 0.0)), moving, squares
end)

optimiser("Momentum", 3, function(node, rate, t, x, g, v)
  local alpha = node:get("alpha")
  local beta = t > 0 and node:get("beta") or 1
  g = g + x * node:get("norm_coefficient", 0.0)
  local moving = v * alpha + g * beta
  if node:get("mode") == "nesterov" then
    return x - rate * (g + moving * alpha), moving
  end
  return x - rate * moving, moving
end)

-- The steps before y from the inputs xs on run again, recorded.
training.Gradient = {state = true, keeps = true, alone = true,
  make = function(node)
  local xs, y = node:get("xs", {}), node:get("y")
  return function(state, _, ...)
    local given, inputs = {...}, {}
    for k, name in ipairs(xs) do
      inputs[name] = given[k]:detach():requires_grad_(true)
    end
    local value = la.enable_grad(function()
      return state.replay(inputs, y):sum()
    end)
    local list = {}
    for k, name in ipairs(xs) do list[k] = inputs[name] end
    local grads = {la.grad(value, list)}
    if type(grads[1]) == "table" then grads = grads[1] end
    return table.unpack(grads, 1, #xs)
  end
end}
