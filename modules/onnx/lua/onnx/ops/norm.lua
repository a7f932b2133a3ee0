-- lunarray.onnx.ops.norm: normalizations, dropout.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local sizes = rows.sizes

-- ---- by channels ----

-- Mean and (biased) variance of each channel.
local function channel_statistics(x)
  local dims = {}
  for k = 1, x.ndim do if k ~= 2 then dims[#dims + 1] = k end end
  local mean = x:mean(dims, true)
  local d = x - mean
  return mean:flatten(), (d * d):mean(dims, false)
end

local function towards(old, new, momentum)
  return old * momentum + new * (1 - momentum)
end

-- A vector for the channels of x.
local function by_channel(v, x)
  local shape = {}
  for k = 1, x.ndim - 1 do shape[k] = 1 end
  shape[1] = v:numel()
  return v:reshape(shape)
end

local function normalized(x, mean, var, scale, bias, eps)
  local factor = scale / (var + eps):sqrt()
  return x * by_channel(factor, x) + by_channel(bias - mean * factor, x)
end

-- In training mode by the batch, towards which the running values move: in the
-- file as results, of a model that trains in its buffers.
op.BatchNormalization = {state = true, make = function(node)
  local eps, momentum = node:get("epsilon", 1e-5), node:get("momentum", 0.9)
  local training = node:get("training_mode", 0) == 1
  return function(state, _, x, scale, bias, mean, var)
    if training then
      local m, v = channel_statistics(x)
      local y = normalized(x, m, v, scale, bias, eps)
      return y:to(x.dtype), towards(mean, m, momentum), towards(var, v,
        momentum)
    end
    if state.training and state.model.given then
      return la.batch_norm(x, mean, var, scale, bias, true, 1 - momentum, eps)
    end
    if x.ndim < 2 or x.dtype ~= scale.dtype or x.dtype ~= mean.dtype then
      return normalized(x, mean:to(x.dtype), var:to(x.dtype),
        scale:to(x.dtype), bias:to(x.dtype), eps):to(x.dtype)
    end
    return la.batch_norm(x, mean, var, scale, bias, false, 0, eps)
  end
end}

function op.InstanceNormalization(node)
  local eps = node:get("epsilon", 1e-5)
  return function(x, scale, bias)
    return la.instance_norm(x, nil, nil, scale, bias, true, 0.1, eps)
  end
end

-- Before opset 21 scale and bias are those of groups.
function op.GroupNormalization(node)
  local eps, groups = node:get("epsilon", 1e-5), node:get("num_groups")
  return function(x, scale, bias)
    if scale:numel() ~= x:size(2) then
      local n = x:size(2) // groups
      scale, bias = scale:repeat_interleave(n), bias:repeat_interleave(n)
    end
    return la.group_norm(x, groups, scale, bias, eps)
  end
end

function op.MeanVarianceNormalization(node)
  local axes = rows.dims(node:get("axes", {0, 2, 3}))
  return function(x)
    local d = x - x:mean(axes, true)
    return d / ((d * d):mean(axes, true):sqrt() + 1e-9)
  end
end

-- ---- by the last dims ----

local function last_dims(x, axis)
  local first = axis < 0 and x.ndim + axis + 1 or axis + 1
  local dims, shape, s = {}, {}, sizes(x)
  for k = first, x.ndim do
    dims[#dims + 1], shape[#shape + 1] = k, s[k]
  end
  return dims, shape
end

function op.LayerNormalization(node)
  local axis, eps = node:get("axis", -1), node:get("epsilon", 1e-5)
  local statistics = node.nout > 1
  return function(x, scale, bias)
    local dims, shape = last_dims(x, axis)
    local fits = scale.ndim == #shape and scale:numel() == rows.product(shape)
      and (not bias or bias:numel() == scale:numel())
    local wide, dtype = rows.wide(x)
    local y
    if fits and not dtype then
      y = la.layer_norm(x, shape, scale, bias, eps)
    else
      y = la.layer_norm(wide, shape, nil, nil, eps)
      if dtype then y = y:to(dtype) end
      y = y * scale
      if bias then y = y + bias end
    end
    if not statistics then return y end
    local mean = wide:mean(dims, true)
    local d = wide - mean
    return y, mean, ((d * d):mean(dims, true) + eps):rsqrt()
  end
end

function op.RMSNormalization(node)
  local axis, eps = node:get("axis", -1), node:get("epsilon", 1e-5)
  return function(x, scale)
    local dims = last_dims(x, axis)
    local wide, dtype = rows.wide(x)
    local y = wide * ((wide * wide):mean(dims, true) + eps):rsqrt()
    if dtype then y = y:to(dtype) end
    return y * scale
  end
end

-- ---- dropout ----

local function dropped(x, ratio, seed)
  if ratio == 0 then
    return x:clone(), la.ones_like(x, {dtype = "bool"})
  end
  local generator = seed and la.Generator(seed)
  local keep = la.rand(sizes(x), {generator = generator}):ge(ratio)
  return x * keep:to(x.dtype) / (1 - ratio), keep
end

op.Dropout = {state = true, random = true, keeps = true, alone = false,
  make = function(node)
  local fixed, seed = node.attributes.ratio, node.attributes.seed
  local old_test = node:get("is_test", 0) == 1
  return function(state, _, x, ratio, mode)
    local training = mode and rows.number(mode) == true
      or node.version < 7 and not old_test and node.attributes.is_test ~= nil
      or state.training
    if not training then
      return x, node.nout > 1 and la.ones_like(x, {dtype = "bool"}) or nil
    end
    return dropped(x, ratio and rows.number(ratio) or fixed or 0.5, seed)
  end
end}
