-- lunarray.onnx.int8: a model whose products and convolutions with constant
-- weights run on bytes. Weights have a scale for each channel of the result,
-- symmetric about zero; activations one scale and zero point, of each call's
-- own range or of the range that calibration saw (as in Jacob et al., 2018).
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local quantize = require "lunarray.onnx.ops.quantize"
local filter = require "lunarray.onnx.ops.filter"

local int8 = {}

local is_tensor = rows.is_tensor

-- ---- numbers ----

-- Weights as int8 with a scale for each row of dim 'dim'.
local function quantized_weight(w, dim)
  local dims = {}
  for k = 1, w.ndim do if k ~= dim then dims[#dims + 1] = k end end
  local scale = (#dims > 0 and w:abs():amax(dims, true) or w:abs()) / 127
  scale = la.where(scale:eq(0), la.ones_like(scale), scale)
  return (w / scale):round():clamp(-127, 127):to("int8"), scale
end

-- Bytes, scale and zero point of activations: of the range in 'seen', or of
-- their own.
local function activations(x, seen)
  if not seen then return quantize.dynamic(x) end
  return quantize.to(x, seen.scale, seen.zero, "uint8"), seen.scale, seen.zero
end

local function range_of(seen)
  local low, high = math.min(seen.low, 0), math.max(seen.high, 0)
  local scale = (high - low) / 255
  if not (scale > 0 and scale < math.huge) then return nil end
  return {scale = la.tensor(scale),
    zero = la.tensor(math.floor(-low / scale + 0.5), {dtype = "uint8"})}
end

-- ---- steps ----

-- The weights of a step in bytes, once for each tensor and its version.
local function keeping(dim_of, prepare)
  local kept = {}
  return function(w)
    if not rawequal(kept.w, w) or kept.version ~= w._version then
      local function make()
        local ready = prepare and prepare(w) or w
        kept.q, kept.scale = quantized_weight(ready, dim_of(ready))
        kept.w, kept.version = w, w._version
      end
      local _, outside = la._recording()
      if outside then outside(make) else make() end
    end
    return kept.q, kept.scale
  end
end

local function product(seen, transposed)
  local weight = keeping(function(w) return w.ndim end,
    transposed and function(w) return w:t():contiguous() end)
  return function(x, w)
    local q, scale = weight(w)
    local a, own, zero = activations(x, seen)
    return quantize.matmul(a, q, zero, nil, true):to("float32") * (own * scale)
  end
end

-- swaps: how a step of an operator runs on bytes; nil where it can't.
local SWAPS = {}

function SWAPS.MatMul(step, seen)
  local run = product(seen)
  return function(x, w)
    if w.ndim ~= 2 or w.dtype ~= "float32" or x.dtype ~= "float32" then
      return step.run(x, w)
    end
    return run(x, w)
  end
end

function SWAPS.Gemm(step, seen)
  local a = step.attributes
  if (a.transA or 0) ~= 0 or (a.alpha or 1) ~= 1 or (a.beta or 1) ~= 1 then
    return nil
  end
  local run = product(seen, (a.transB or 0) ~= 0)
  return function(x, w, c)
    if w.dtype ~= "float32" or x.dtype ~= "float32" then
      return step.run(x, w, c)
    end
    local y = run(x, w)
    return c and y + c or y
  end
end

function SWAPS.Conv(step, seen)
  local convolve = filter.convolve(step.node)
  local weight = keeping(function() return 1 end)
  return function(x, w, b)
    if w.dtype ~= "float32" or x.dtype ~= "float32" then
      return step.run(x, w, b)
    end
    local q, scale = weight(w)
    local a, own, zero = activations(x, seen)
    local shape = filter.fill(1, w.ndim - 1)
    shape[1] = w:size(1)
    local y = quantize.convolve(convolve, a, q, zero):to("float32")
      * (own * scale:reshape(shape))
    return b and y + b:reshape(shape) or y
  end
end

-- Steps of the main graph with constant weights.
local function candidates(model)
  local list = {}
  for _, step in ipairs(model.plan.graph.steps) do
    local w = step.ins[2]
    if SWAPS[step.op] and not step.ahead and w and w.const
      and step.domain == "" then
      list[#list + 1] = step
    end
  end
  return list
end

-- step -> {low =, high =} of its first input over the batches.
local function calibrated(model, steps, batches)
  if type(batches) ~= "table" or is_tensor(batches) or #batches == 0 then
    error("onnx.compile: calibrate: a list of inputs expected (tensors, or "
      .. "tables of tensors by name)", 0)
  end
  local seen, swaps = {}, {}
  for _, step in ipairs(steps) do
    local range = {low = math.huge, high = -math.huge}
    seen[step] = range
    swaps[step] = function(x, ...)
      range.low = math.min(range.low, x:amin():item())
      range.high = math.max(range.high, x:amax():item())
      return step.run(x, ...)
    end
  end
  local watched = model:_swapped(swaps, true)
  la.no_grad(function()
    for _, batch in ipairs(batches) do
      if is_tensor(batch) then watched(batch) else watched:run(batch) end
    end
  end)
  return seen
end

-- The model with its products in bytes, sharing the weights.
function int8.model(model, batches)
  local steps, swaps = candidates(model), {}
  local seen = batches and calibrated(model, steps, batches) or {}
  for _, step in ipairs(steps) do
    swaps[step] = SWAPS[step.op](step, seen[step] and range_of(seen[step]))
  end
  return model:_swapped(swaps)
end

return int8
