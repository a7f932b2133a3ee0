-- lunarray.onnx.ops.quantize: numbers in 8 and 16 bits, their products exactly.
--
-- A product of bytes is below 2^16, so a sum of 256 of them is exact in
-- float32, and one of 2^37 in float64: products and convolutions of integers
-- run as those of floats, and their results are the exact integers.
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
function quantize.dynamic(x)
  local low, high = x:amin():clamp_max(la.tensor(0.)),
    x:amax():clamp_min(la.tensor(0.))
  local scale = (high - low) / 255
  scale = la.where(scale:eq(0), la.ones_like(scale), scale)
  local zero = (-low / scale):clamp(0, 255):round():to("uint8")
  return quantize.to(x, scale, zero, "uint8"), scale, zero
end

function op.DynamicQuantizeLinear()
  return function(x)
    local low, high = x:amin():clamp_max(la.tensor(0.)),
      x:amax():clamp_min(la.tensor(0.))
    local scale = (high - low) / 255
    local zero = (-low / scale):clamp(0, 255):round():nan_to_num():to("uint8")
    return quantize.to(x, scale, zero, "uint8"), scale, zero
  end
end

-- ---- exact products ----

-- Zero point of the rows of a (per_row) or the columns of b.
local function less_zero(x, zero, dtype, per_row)
  local wide = x:to(dtype)
  if not zero then return wide end
  if per_row and zero.ndim == 1 and zero:numel() > 1 then
    zero = zero:unsqueeze(2)
  end
  return wide - zero:to(dtype)
end

-- a @ b of bytes less their zero points, as int32.
function quantize.matmul(a, b, a_zero, b_zero)
  local deep = a:size(-1)
  local dtype = deep <= 256 and "float32" or "float64"
  return less_zero(a, a_zero, dtype, true)
    :matmul(less_zero(b, b_zero, dtype)):to("int32")
end

function op.MatMulInteger() return quantize.matmul end

local function channel_zero(zero, w)
  if not zero or zero:numel() == 1 then return zero and zero:reshape({}) end
  local shape = {zero:numel()}
  for k = 2, w.ndim do shape[k] = 1 end
  return zero:reshape(shape)
end

-- The convolution of bytes less their zero points, as int32; 'run' is that of
-- floats. Padding is the zero point, which is 0 once it is taken off.
function quantize.convolve(run, x, w, x_zero, w_zero)
  local deep = w:numel() // math.max(w:size(1), 1)
  local dtype = deep <= 256 and "float32" or "float64"
  return run(less_zero(x, x_zero and x_zero:reshape({}), dtype),
    less_zero(w, channel_zero(w_zero, w), dtype)):to("int32")
end

local function conv_integer(node)
  local run = filter.convolve(node)
  return function(...) return quantize.convolve(run, ...) end
end
op.ConvInteger = conv_integer

function op.QLinearMatMul()
  return function(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
    local sum = quantize.matmul(a, b, a_zero, b_zero):to("float64")
    local s = a_scale:to("float64")
    if s.ndim == 1 and s:numel() > 1 then s = s:unsqueeze(2) end
    return quantize.to(sum * s * b_scale:to("float64"), y_scale:to("float64"),
      y_zero, y_zero.dtype)
  end
end

function op.QLinearConv(node)
  local run = conv_integer(node)
  return function(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b)
    local sum = run(x, w, x_zero, w_zero):to("float64")
    local shape = {}
    for k = 1, sum.ndim - 1 do shape[k] = 1 end
    if b then
      shape[1] = b:numel()
      sum = sum + b:to("float64"):reshape(shape)
    end
    local s = (x_scale * w_scale):to("float64")
    if s:numel() > 1 then
      shape[1] = s:numel()
      s = s:reshape(shape)
    else
      s = s:reshape({})
    end
    return quantize.to(sum * s, y_scale:to("float64"):reshape({}),
      y_zero:reshape({}), y_zero.dtype)
  end
end

return quantize
