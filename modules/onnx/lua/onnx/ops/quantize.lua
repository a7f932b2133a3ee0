-- lunarray.onnx.ops.quantize: numbers in 8 and 16 bits, their products exactly.
-- Those of bytes are la.integer_matmul and la.integer_conv2d.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local filter = require "lunarray.onnx.ops.filter"

local op = rows.domain("")

local quantize = {}

local LIMITS = {int8 = {-128, 127}, uint8 = {0, 255}, int16 = {-32768, 32767},
  uint16 = {0, 65535}}
quantize.limits = LIMITS

-- ---- scales ----

-- A scale or zero point so that it broadcasts with x: of an axis, or of blocks
-- along it.
local function fit(t, x, axis, block)
  if not t then return nil end
  if block and block > 0 then
    local dim = axis < 0 and x.ndim + axis + 1 or axis + 1
    local wide = t:repeat_interleave(block, dim)
    if wide:size(dim) ~= x:size(dim) then
      wide = wide:narrow(dim, 1, x:size(dim))
    end
    return wide
  end
  if t:numel() == 1 then return t:reshape({}) end
  if t.ndim ~= 1 then return t end
  local dim = axis < 0 and x.ndim + axis + 1 or axis + 1
  local shape = {}
  for k = 1, x.ndim do shape[k] = 1 end
  shape[dim] = t:numel()
  return t:reshape(shape)
end

-- round(x / scale) + zero, kept within the dtype.
function quantize.to(x, scale, zero, dtype)
  local limits = LIMITS[dtype]
  if not limits then error("numbers of " .. tostring(dtype), 0) end
  local y = (x / scale):round()
  if zero then y = y + zero:to(y.dtype) end
  return y:clamp(limits[1], limits[2]):to(dtype)
end

function quantize.from(x, scale, zero, dtype)
  local wide = x:to(dtype == "float64" and "float64" or "float32")
  if x.dtype == "int32" or x.dtype == "uint32" then wide = x:to("float64") end
  if zero then wide = wide - zero:to(wide.dtype) end
  return (wide * scale:to(wide.dtype)):to(dtype)
end

function op.QuantizeLinear(node)
  local axis, block = node:get("axis", 1), node:get("block_size", 0)
  local code = node:get("output_dtype", 0)
  local wanted = code ~= 0 and rows.dtypes[code] or nil
  if wanted and not LIMITS[wanted] then
    return node:refuse("numbers of %s", wanted)
  end
  return function(x, scale, zero)
    local dtype = zero and zero.dtype or wanted or "uint8"
    local s = fit(scale, x, axis, block)
    local wide = rows.wide(x)
    if not wide:is_floating_point() then wide = wide:to("float32") end
    return quantize.to(wide, s:to(wide.dtype), fit(zero, x, axis, block),
      dtype)
  end
end

function op.DequantizeLinear(node)
  local axis, block = node:get("axis", 1), node:get("block_size", 0)
  local code = node:get("output_dtype", 0)
  local wanted = code ~= 0 and rows.dtypes[code] or nil
  return function(x, scale, zero)
    return quantize.from(x, fit(scale, x, axis, block),
      fit(zero, x, axis, block), wanted or scale.dtype)
  end
end

-- Bytes, scale and zero point by the range of x, which holds zero.
quantize.dynamic = la.quantize_dynamic

function op.DynamicQuantizeLinear() return la.quantize_dynamic end

-- ---- exact products ----

-- What is made of weights once: tensor -> {version, key -> value}.
local made = setmetatable({}, {__mode = "k"})

-- make(w), once for each key and version of w; nothing where that would be
-- steps of a program.
function quantize.once(w, key, make)
  local kept = made[w]
  if not kept or kept.version ~= w._version then
    kept = {version = w._version}
    made[w] = kept
  end
  if kept[key] then return kept[key] end
  local note, outside = la._recording()
  if note and not outside then return nil end
  kept[key] = outside and outside(make, w) or make(w)
  return kept[key]
end

-- Zero points for each of some rows or columns in a tensor of one dim; nil:
-- they stand for more.
local function line(zero)
  if not zero or zero:numel() == 1 then return zero, true end
  return zero, zero.ndim == 1
end

-- What has zero points for each matrix of a batch: exact in float64.
local function product_of_floats(a, b, a_zero, b_zero)
  local function less(x, zero)
    return zero and x:to("float64") - zero:to("float64") or x:to("float64")
  end
  if a_zero and a_zero.ndim == 1 and a_zero:numel() > 1 then
    a_zero = a_zero:unsqueeze(2)
  end
  return less(a, a_zero):matmul(less(b, b_zero)):to("int32")
end

-- The batch dims of both.
local function same_batch(a, b)
  if b.ndim == 2 then return a, b end
  local n = math.max(a.ndim, b.ndim)
  local function sizes_of(x)
    local out = {}
    for k = 1, n - x.ndim do out[k] = 1 end
    for k = 1, x.ndim do out[#out + 1] = x:size(k) end
    return out
  end
  local sa, sb = sizes_of(a), sizes_of(b)
  for k = 1, n - 2 do
    local size = sa[k] == 1 and sb[k] or sa[k]
    sa[k], sb[k] = size, size
  end
  return a:expand(sa), b:expand(sb)
end

-- a @ b of bytes less their zero points, as int32. known: b is a weight.
function quantize.matmul(a, b, a_zero, b_zero, known)
  local _, plain_a = line(a_zero)
  local _, plain_b = line(b_zero)
  if not plain_a or not plain_b then
    return product_of_floats(a, b, a_zero, b_zero)
  end
  local row, column = a.ndim == 1, b.ndim == 1
  if row then a = a:unsqueeze(1) end
  if column then b = b:unsqueeze(2) end
  local packed = known and b.ndim == 2 and not column
    and quantize.once(b, "packed", la.integer_pack) or nil
  if b.ndim > 2 then a, b = same_batch(a, b) end
  local y = la.integer_matmul(a, b, a_zero, b_zero, packed)
  if column then y = y:squeeze(-1) end
  return row and y:squeeze(column and -1 or -2) or y
end

function op.MatMulInteger(node)
  local known = node.const[2]
  return function(a, b, a_zero, b_zero)
    return quantize.matmul(a, b, a_zero, b_zero, known)
  end
end

-- A convolution of bytes less their zero points, as int32; padding is the zero
-- point. 'run' is filter.convolve's.
function quantize.convolve(run, x, w, x_zero, w_zero)
  return run(x, w, nil, x_zero, w_zero)
end

local function conv_integer(node)
  local run = filter.convolve(node)
  return function(...) return quantize.convolve(run, ...) end
end
op.ConvInteger = conv_integer

-- Sums as bytes: those of integer_requantize for one scale or those of a dim,
-- else step by step.
local function requantized(sum, scale, step, zero, bias, dim)
  local wide = step:to("float64"):reshape({})
  if scale:numel() == 1 or scale.ndim == 1 then
    return la.integer_requantize(sum, scale / wide, zero:reshape({}), bias,
      dim)
  end
  return quantize.to(sum:to("float64") * scale, wide, zero:reshape({}),
    zero.dtype)
end

function op.QLinearMatMul(node)
  local known = node.const[4]
  return function(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
    local sum = quantize.matmul(a, b, a_zero, b_zero, known)
    local s = a_scale:to("float64")
    if s.ndim == 1 and s:numel() > 1 then s = s:unsqueeze(2) end
    return requantized(sum, s * b_scale:to("float64"), y_scale, y_zero, nil, -1)
  end
end

function op.QLinearConv(node)
  local run = conv_integer(node)
  return function(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b)
    return requantized(run(x, w, x_zero, w_zero),
      (x_scale * w_scale):to("float64"):flatten(), y_scale, y_zero, b, 2)
  end
end

return quantize
