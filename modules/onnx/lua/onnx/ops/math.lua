-- lunarray.onnx.ops.math: arithmetic, functions of one element, activations,
-- casts.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local numbers = require "lunarray.numbers"

local op = rows.domain("")
local sizes, is_strings = rows.sizes, rows.is_strings

-- ---- functions of one element ----

for name, f in pairs{Abs = "abs", Acos = "acos", Acosh = "acosh", Asin = "asin",
  Asinh = "asinh", Atan = "atan", Atanh = "atanh", Ceil = "ceil", Cos = "cos",
  Cosh = "cosh", Erf = "erf", Exp = "exp", Floor = "floor", Log = "log",
  Neg = "neg", Reciprocal = "reciprocal", Relu = "relu", Round = "round",
  Sigmoid = "sigmoid", Sign = "sign", Sin = "sin", Sinh = "sinh",
  Softsign = "softsign", Sqrt = "sqrt", Tan = "tan", Tanh = "tanh",
  BitwiseNot = "bitwise_not", Not = "logical_not", IsNaN = "isnan",
  Mish = "mish"} do
  local run = la[f]
  op[name] = function() return function(x) return run(x) end end
end

op.Identity = {keeps = true, alone = false, make = function()
  return function(x) return x end
end}

function op.IsInf(node)
  local low = node:get("detect_negative", 1) ~= 0
  local high = node:get("detect_positive", 1) ~= 0
  return function(x)
    if low and high then return la.isinf(x) end
    if low then return la.isneginf(x) end
    if high then return la.isposinf(x) end
    return la.zeros_like(x, {dtype = "bool"})
  end
end

-- ---- activations ----

-- f(x, alpha), whose alpha is an attribute.
local function with_alpha(name, default, f)
  op[name] = function(node)
    local alpha = node:get("alpha", default)
    return function(x) return f(x, alpha) end
  end
end

with_alpha("Elu", 1.0, la.elu)
with_alpha("Celu", 1.0, la.celu)
with_alpha("LeakyRelu", 0.01, la.leaky_relu)
with_alpha("ThresholdedRelu", 1.0, function(x, alpha)
  return la.threshold(x, alpha, 0)
end)

function op.Selu(node)
  local alpha = node:get("alpha", 1.67326319217681884765625)
  local gamma = node:get("gamma", 1.05070102214813232421875)
  return function(x) return la.elu(x, alpha, gamma) end
end

-- PyTorch's own takes the identity from a threshold on, which is one here.
function op.Softplus()
  return function(x)
    return x:clamp_min(la.zeros({}, {dtype = x.dtype}))
      + (-x:abs()):exp():log1p()
  end
end

function op.HardSigmoid(node)
  local alpha, beta = node:get("alpha", 0.2), node:get("beta", 0.5)
  return function(x) return (x * alpha + beta):clamp(0, 1) end
end

function op.HardSwish() return function(x) return la.hardswish(x) end end

function op.Gelu(node)
  local way = {approximate = node:get("approximate", "none")}
  return function(x) return la.gelu(x, way) end
end

function op.Swish(node)
  local alpha = node:get("alpha", 1.0)
  return function(x)
    if alpha == 1 then return la.silu(x) end
    return x * (x * alpha):sigmoid()
  end
end

function op.Shrink(node)
  local bias, lambd = node:get("bias", 0.0), node:get("lambd", 0.5)
  return function(x)
    local zero, dtype = la.zeros_like(x), x.dtype
    local low = la.where(x:lt(-lambd), (x + bias):to(dtype), zero)
    return la.where(x:gt(lambd), (x - bias):to(dtype), low)
  end
end

function op.PRelu(node)
  return function(x, slope)
    if node.version < 7 and slope.ndim == 1 and slope:numel() > 1 then
      local shape = {slope:numel()}
      for k = 2, x.ndim - 1 do shape[k] = 1 end
      slope = slope:reshape(shape)
    end
    return la.where(x:lt(0), x * slope, x)
  end
end

function op.Clip(node)
  if node.version < 11 then
    local low, high = node:get("min"), node:get("max")
    return function(x)
      if not low and not high then return x:clone() end
      return la.clamp(x, low, high)
    end
  end
  return function(x, low, high)
    if not low and not high then return x:clone() end
    -- Limits that are computed stay tensors, so that nothing is read.
    if low then
      low = node.const[2] and rows.scalar(low, x.dtype) or low:reshape({})
    end
    if high then
      high = node.const[3] and rows.scalar(high, x.dtype) or high:reshape({})
    end
    return la.clamp(x, low, high)
  end
end

-- A limit as a number, where the dtype holds all numbers of Lua; else as it is.
function rows.scalar(t, dtype)
  if dtype == "uint64" then return t:reshape({}) end
  local value = rows.number(t)
  if value ~= value then return t:reshape({}) end
  return value
end

-- ---- two operands ----

local function aligned(node, f)
  if node.version >= 7 or not node.attributes.broadcast then return f end
  local axis = node.attributes.axis
  return function(a, b) return f(a, rows.aligned(a, b, axis)) end
end

local function binary(name, f)
  op[name] = function(node) return aligned(node, f) end
end

binary("Add", la.add)
binary("Sub", la.sub)
binary("Mul", la.mul)
binary("And", la.logical_and)
binary("Or", la.logical_or)
binary("Xor", la.logical_xor)
binary("BitwiseAnd", la.bitwise_and)
binary("BitwiseOr", la.bitwise_or)
binary("BitwiseXor", la.bitwise_xor)

local TRUNC = {rounding_mode = "trunc"}
binary("Div", function(a, b)
  if a:is_floating_point() or a:is_complex() then return la.div(a, b) end
  return la.div(a, b, TRUNC)
end)

-- The result has the dtype of the base.
binary("Pow", function(a, b)
  if a.dtype == b.dtype and a:is_floating_point() then return la.pow(a, b) end
  if not a:is_floating_point() and b:is_floating_point() then
    return la.pow(a:to("float64"), b:to("float64")):to(a.dtype)
  end
  if a:is_floating_point() then return la.pow(a, b:to(a.dtype)) end
  return la.pow(a, b):to(a.dtype)
end)

function op.Mod(node)
  local fmod = node:get("fmod", 0) == 1
  return function(a, b)
    if fmod then return la.fmod(a, b) end
    local r = la.remainder(a, b)
    if not r:is_floating_point() then return r end
    return la.where(r:eq(0), la.copysign(r, b), r)  -- a zero has b's sign
  end
end

-- Counts of the width and more shift everything out.
function op.BitShift(node)
  local left = node:get("direction") == "LEFT"
  return function(a, b)
    if left then return la.bitwise_left_shift(a, b) end
    return la.bitwise_right_shift(a, b)
  end
end

-- ---- any number of operands ----

local function variadic(name, f, finish)
  op[name] = function(node)
    local n = node.nin
    return function(x, ...)
      local out = x
      for k = 1, n - 1 do out = f(out, (select(k, ...))) end
      if n == 1 then out = x:clone() end
      return finish and finish(out, n) or out
    end
  end
end

variadic("Sum", la.add)
variadic("Max", la.maximum)
variadic("Min", la.minimum)
variadic("Mean", la.add, function(x, n) return x / n end)

function op.Where()
  return function(condition, a, b)
    if is_strings(a) then return rows.where_strings(condition, a, b) end
    return la.where(condition, a, b)
  end
end

function op.Einsum(node)
  local equation = node:get("equation", ""):gsub("%s", "")
  return function(...)
    local first = ...
    local dtype = first.dtype
    local out = la.einsum(equation, {...})
    return out.dtype == dtype and out or out:to(dtype)
  end
end

function op.Det() return function(x) return la.linalg.det(x) end end

-- ---- casts ----

-- Numbers as ONNX writes them in strings.
local function text_of(value)
  if type(value) == "boolean" then return value and "1" or "0" end
  if math.type(value) == "integer" then return tostring(value) end
  if value ~= value then return "NaN" end
  if value == math.huge then return "INF" end
  if value == -math.huge then return "-INF" end
  return numbers.format("%.8g", value)
end

local function number_of(text)
  local word = text:lower():gsub("^%+", "")
  if word == "nan" then return 0 / 0 end
  if word == "inf" or word == "infinity" then return math.huge end
  if word == "-inf" or word == "-infinity" then return -math.huge end
  local value = tonumber(text)
  if not value then error(("'%s' is no number"):format(text:sub(1, 40)), 0) end
  return value
end

local function from_strings(x, dtype)
  local list = {}
  for k, text in ipairs(x) do list[k] = number_of(text) end
  local wide = dtype:find("int", 1, true) and "int64" or "float64"
  for k, v in ipairs(list) do
    if wide == "int64" then list[k] = v // 1 | 0 end
  end
  return rows.tensor(list, wide):reshape(rows.string_shape(x)):to(dtype)
end

local function to_strings(x)
  local list = x:flatten():totable()
  for k, value in ipairs(list) do list[k] = text_of(value) end
  return rows.strings(list, sizes(x))
end

function rows.cast(x, dtype)
  if is_strings(x) then
    return dtype == "string" and x or from_strings(x, dtype)
  end
  if dtype == "string" then return to_strings(x) end
  return x:to(dtype)
end

function op.Cast(node)
  local to = node:get("to")
  if type(to) == "string" then to = rows.codes[to:lower()] end
  local dtype = rows.dtypes[to]
  if not dtype or rows.unpacked[dtype] then
    return node:refuse("a cast to %s", dtype or tostring(to))
  end
  return function(x) return rows.cast(x, dtype) end
end

function op.CastLike()
  return function(x, like)
    return rows.cast(x, is_strings(like) and "string" or like.dtype)
  end
end

function op.BitCast(node)
  local dtype = rows.dtypes[node:get("to")]
  if not dtype or rows.unpacked[dtype] or dtype == "string" then
    return node:refuse("a cast to %s", tostring(dtype))
  end
  return function(x) return x:contiguous():view(dtype) end
end

-- ---- sums along an axis ----

local function cumulative(name, run)
  op[name] = function(node)
    local exclusive = node:get("exclusive", 0) == 1
    local reverse = node:get("reverse", 0) == 1
    local neutral = name == "CumSum" and 0 or 1
    return function(x, axis)
      local dim = rows.dim(rows.number(axis))
      if dim < 0 then dim = x.ndim + dim + 1 end
      local y = reverse and x:flip(dim) or x
      y = run(y, dim)
      if y.dtype ~= x.dtype then y = y:to(x.dtype) end
      if exclusive and x:size(dim) > 0 then
        local first = y:narrow(dim, 1, 1)
        y = la.cat({la.full_like(first, neutral),
          y:narrow(dim, 1, x:size(dim) - 1)}, dim)
      end
      return reverse and y:flip(dim) or y
    end
  end
end

cumulative("CumSum", la.cumsum)
cumulative("CumProd", la.cumprod)
