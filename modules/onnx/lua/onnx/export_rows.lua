-- lunarray.onnx.export_rows: what each operation is in ONNX. A row gets the
-- graph, the arguments of the call, the numbers of its results, and the
-- arguments of a run with other sizes; it gives the names of the results.
local export = require "lunarray.onnx.export"
local rows = require "lunarray.onnx.rows"

local E = export.rows

-- A row that looks itself at numbers which follow from sizes.
local function sized(names, make)
  local free = {}
  for name in names:gmatch("%S+") do free[name] = true end
  return {make = make, free = free}
end

local function each(names, make)
  for name in names:gmatch("%S+") do make(name) end
end

local function dtype_of(g, results) return g:tensor(results[1]).dtype end

export.sized, export.each, export.dtype_of = sized, each, dtype_of

-- ---- elements ----

for name, op in pairs{abs = "Abs", acos = "Acos", acosh = "Acosh",
  asin = "Asin", asinh = "Asinh", atan = "Atan", atanh = "Atanh", ceil = "Ceil",
  cos = "Cos", cosh = "Cosh", erf = "Erf", exp = "Exp", floor = "Floor",
  log = "Log", neg = "Neg", reciprocal = "Reciprocal", relu = "Relu",
  sigmoid = "Sigmoid", sign = "Sign", sin = "Sin", sinh = "Sinh",
  softsign = "Softsign", sqrt = "Sqrt", tan = "Tan", tanh = "Tanh",
  logical_not = "Not", isnan = "IsNaN", isinf = "IsInf",
  hardswish = "HardSwish", selu = "Selu"} do
  E[name] = function(g, a) return g:node(op, {g:name(a.self or a.input)}) end
end

E.round = function(g, a)
  if a.decimals and a.decimals ~= 0 then error("decimals", 0) end
  return g:node("Round", {g:name(a.self)})
end

each("contiguous clone alias detach dropout dropout1d dropout2d dropout3d "
  .. "feature_alpha_dropout alpha_dropout positive resolve_conj resolve_neg",
  function(name)
    E[name] = function(g, a)
      if a.training then error("training", 0) end
      return g:name(a.self)
    end
  end)

for name, op in pairs{add = "Add", sub = "Sub", mul = "Mul", div = "Div",
  maximum = "Max", minimum = "Min"} do
  E[name] = function(g, a, results)
    local dtype = dtype_of(g, results)
    if a.rounding_mode then error("rounding_mode", 0) end
    local y = g:operand(a.other, dtype)
    if a.alpha and a.alpha ~= 1 then
      y = g:node("Mul", {y, g:number(a.alpha, dtype)})
    end
    return g:node(op, {g:operand(a.self, dtype), y})
  end
end
E.rsub = function(g, a, results)
  local dtype = dtype_of(g, results)
  return g:node("Sub", {g:operand(a.other, dtype), g:operand(a.self, dtype)})
end
E.pow = function(g, a, results)
  local dtype = dtype_of(g, results)
  return g:node("Pow", {g:operand(a.self, dtype), g:operand(a.exponent, dtype)})
end
E.square = function(g, a)
  local x = g:name(a.self)
  return g:node("Mul", {x, x})
end
E.rsqrt = function(g, a)
  return g:node("Reciprocal", {g:node("Sqrt", {g:name(a.self)})})
end
E.silu = function(g, a)
  local x = g:name(a.self)
  return g:node("Mul", {x, g:node("Sigmoid", {x})})
end
E.logsigmoid = function(g, a)
  local x = g:node("Neg", {g:name(a.self)})
  return g:node("Neg", {g:node("Softplus", {x})})
end
E.tanhshrink = function(g, a)
  local x = g:name(a.self)
  return g:node("Sub", {x, g:node("Tanh", {x})})
end
E.expm1 = function(g, a, results)
  return g:node("Sub", {g:node("Exp", {g:name(a.self)}),
    g:number(1, dtype_of(g, results))})
end
E.log1p = function(g, a, results)
  return g:node("Log", {g:node("Add", {g:name(a.self),
    g:number(1, dtype_of(g, results))})})
end

-- Gelu is an operator from opset 20 on.
E.gelu = function(g, a, results)
  local x, dtype = g:name(a.self), dtype_of(g, results)
  if g.opset >= 20 then
    return g:node("Gelu", {x}, {approximate = a.approximate})
  end
  local inner
  if a.approximate == "tanh" then
    local cube = g:node("Mul", {g:node("Mul", {x, x}), x})
    local sum = g:node("Add", {x, g:node("Mul",
      {cube, g:number(0.044715, dtype)})})
    inner = g:node("Tanh", {g:node("Mul",
      {sum, g:number(math.sqrt(2 / math.pi), dtype)})})
  else
    inner = g:node("Erf", {g:node("Mul", {x, g:number(math.sqrt(0.5), dtype)})})
  end
  local half = g:node("Mul", {x, g:number(0.5, dtype)})
  return g:node("Mul", {half, g:node("Add", {inner, g:number(1, dtype)})})
end

E.leaky_relu = function(g, a)
  return g:node("LeakyRelu", {g:name(a.self)}, {alpha = a.negative_slope + 0.0})
end
E.elu = function(g, a, results)
  if a.input_scale ~= 1 then error("input_scale", 0) end
  local y = g:node("Elu", {g:name(a.self)}, {alpha = a.alpha + 0.0})
  if a.scale == 1 then return y end
  return g:node("Mul", {y, g:number(a.scale, dtype_of(g, results))})
end
E.celu = function(g, a)
  return g:node("Celu", {g:name(a.self)}, {alpha = a.alpha + 0.0})
end
E.hardsigmoid = function(g, a)
  return g:node("HardSigmoid", {g:name(a.self)}, {alpha = 1 / 6, beta = 0.5})
end
E.prelu = function(g, a)
  local x, w = g:tensor(a.self.tensor), g:tensor(a.weight.tensor)
  local slope = g:name(a.weight)
  if w:numel() > 1 then
    local shape = {w:numel()}
    for k = 2, x.ndim - 1 do shape[k] = 1 end
    slope = g:node("Reshape", {slope, g:ints(shape)})
  end
  return g:node("PRelu", {g:name(a.self), slope})
end

local function clip(g, x, low, high)
  return g:node("Clip", {x, low or "", high or ""})
end
E.clamp = function(g, a, results)
  local dtype = dtype_of(g, results)
  for _, key in ipairs{"min", "max"} do
    if a[key] and g:tensor(a[key].tensor).ndim > 0 then
      error("limits that are tensors", 0)
    end
  end
  return clip(g, g:name(a.self), a.min and g:operand(a.min, dtype),
    a.max and g:operand(a.max, dtype))
end
E.clamp_min = function(g, a, results)
  return g:node("Max", {g:name(a.self), g:operand(a.min, dtype_of(g, results))})
end
E.clamp_max = function(g, a, results)
  return g:node("Min", {g:name(a.self), g:operand(a.max, dtype_of(g, results))})
end
E.hardtanh = function(g, a, results)
  local dtype = dtype_of(g, results)
  return clip(g, g:name(a.self), g:number(a.min_val, dtype),
    g:number(a.max_val, dtype))
end
E.relu6 = function(g, a, results)
  local dtype = dtype_of(g, results)
  return clip(g, g:name(a.self), g:number(0, dtype), g:number(6, dtype))
end

-- ---- comparisons and casts ----

for name, op in pairs{eq = "Equal", gt = "Greater", lt = "Less",
  ge = "GreaterOrEqual", le = "LessOrEqual", ne = "Equal"} do
  E[name] = function(g, a)
    local x, y = g:tensor(a.self.tensor), g:tensor(a.other.tensor)
    local dtype = a.self.number and y.dtype or x.dtype
    if not a.self.number and not a.other.number and x.dtype ~= y.dtype then
      dtype = (x:is_floating_point() or not y:is_floating_point()) and x.dtype
        or y.dtype
    end
    local out = g:node(op, {g:operand(a.self, dtype), g:operand(a.other,
      dtype)})
    return name == "ne" and g:node("Not", {out}) or out
  end
end
for name, op in pairs{logical_and = "And", logical_or = "Or",
  logical_xor = "Xor"} do
  E[name] = function(g, a)
    return g:node(op, {g:operand(a.self, "bool"), g:operand(a.other, "bool")})
  end
end
E.where = function(g, a, results)
  local dtype = dtype_of(g, results)
  return g:node("Where", {g:name(a.condition), g:operand(a.self, dtype),
    g:operand(a.other, dtype)})
end
E.masked_fill = function(g, a, results)
  local dtype = dtype_of(g, results)
  return g:node("Where", {g:name(a.mask), g:operand(a.value, dtype),
    g:name(a.self)})
end
each("to to_dtype type_as float double half bfloat16 long int short char byte "
  .. "bool astype type", function(name)
  E[name] = function(g, a, results)
    return g:cast(g:name(a.self), g:tensor(a.self.tensor).dtype,
      dtype_of(g, results))
  end
end)

-- ---- products ----

E.linear = function(g, a)
  local x, w = g:tensor(a.input.tensor), g:name(a.weight)
  if x.ndim == 2 then
    return g:node("Gemm", {g:name(a.input), w, a.bias and g:name(a.bias)},
      {transB = 1})
  end
  local y = g:node("MatMul", {g:name(a.input),
    g:node("Transpose", {w}, {perm = {1, 0}})})
  return a.bias and g:node("Add", {y, g:name(a.bias)}) or y
end
each("matmul mm bmm mv dot", function(name)
  E[name] = function(g, a)
    return g:node("MatMul", {g:name(a.self),
      g:name(a.other or a.mat2 or a.vec or a.tensor)})
  end
end)
E.addmm = function(g, a)
  return g:node("Gemm", {g:name(a.mat1), g:name(a.mat2), g:name(a.self)},
    {alpha = a.alpha + 0.0, beta = a.beta + 0.0})
end
E.einsum = function(g, a)
  local inputs = {}
  for k, x in ipairs(a.operands) do inputs[k] = g:name(x) end
  return g:node("Einsum", inputs, {equation = a.equation})
end
-- ---- normalizations ----

local function or_constant(g, value, number, n, dtype)
  if value then return g:name(value) end
  local la = require "lunarray"
  return g:constant(la.full({n}, number, {dtype = dtype}))
end

E.batch_norm = function(g, a, results)
  local x = g:tensor(a.self.tensor)
  if a.training or not a.running_mean then error("training", 0) end
  local n, dtype = x:size(2), dtype_of(g, results)
  return g:node("BatchNormalization", {g:name(a.self),
    or_constant(g, a.weight, 1, n, dtype), or_constant(g, a.bias, 0, n, dtype),
    g:name(a.running_mean), g:name(a.running_var)}, {epsilon = a.eps})
end
E.normalize = function(g, a, results)
  if a.p ~= 2 then error("p", 0) end
  local x, dtype = g:name(a.self), dtype_of(g, results)
  local norm = g:reduce("ReduceL2", x, {a.dim}, true)
  return g:node("Div", {x, g:node("Max", {norm, g:number(a.eps, dtype)})})
end
E.local_response_norm = function(g, a)
  if a.size % 2 == 0 then error("an even size", 0) end
  return g:node("LRN", {g:name(a.input)}, {size = a.size, alpha = a.alpha,
    beta = a.beta, bias = a.k + 0.0})
end

-- ---- reductions ----

for name, op in pairs{softmax = "Softmax", log_softmax = "LogSoftmax"} do
  E[name] = function(g, a) return g:node(op, {g:name(a.self)}, {axis =
    a.dim}) end
end

local function dims_list(g, a)
  local dim = a.dim
  if type(dim) == "number" then return {dim} end
  if not dim or #dim == 0 then
    dim = {}
    for k = 1, g:tensor(a.self.tensor).ndim do dim[k] = k - 1 end
  end
  return dim
end

for name, op in pairs{sum = "ReduceSum", mean = "ReduceMean",
  amax = "ReduceMax", amin = "ReduceMin", prod = "ReduceProd",
  logsumexp = "ReduceLogSumExp"} do
  E[name] = function(g, a, results)
    local from, dtype = g:tensor(a.self.tensor).dtype, dtype_of(g, results)
    return g:reduce(op, g:cast(g:name(a.self), from, dtype), dims_list(g, a),
      a.keepdim)
  end
end
for name, op in pairs{argmax = "ArgMax", argmin = "ArgMin"} do
  E[name] = function(g, a)
    if not a.dim then error("no dim", 0) end
    local at = g:node(op, {g:name(a.self)}, {axis = a.dim,
      keepdims = a.keepdim and 1 or 0})
    return g:node("Add", {at, g:number(1, "int64")})
  end
end
for name, op in pairs{max = "ReduceMax", min = "ReduceMin"} do
  E[name] = function(g, a, results)
    if a.other then
      local dtype = dtype_of(g, results)
      return g:node(name == "max" and "Max" or "Min",
        {g:operand(a.self, dtype), g:operand(a.other, dtype)})
    end
    local x = g:name(a.self)
    local y = g:reduce(op, x, dims_list(g, a), a.keepdim or false)
    if #results < 2 then return y end
    local at = g:node(name == "max" and "ArgMax" or "ArgMin", {x},
      {axis = a.dim, keepdims = a.keepdim and 1 or 0})
    return y, g:node("Add", {at, g:number(1, "int64")})
  end
end
local function variance(root)
  return function(g, a, results)
    local x, dtype = g:name(a.self), dtype_of(g, results)
    local dim = dims_list(g, a)
    if g.again then error("with named dims", 0) end
    local t, n = g:tensor(a.self.tensor), 1
    for _, d in ipairs(dim) do n = n * t:size(d >= 0 and d + 1 or d) end
    local less = a.correction or a.unbiased == false and 0 or 1
    local d = g:node("Sub", {x, g:reduce("ReduceMean", x, dim, true)})
    local y = g:reduce("ReduceSum", g:node("Mul", {d, d}), dim, a.keepdim)
    y = g:node("Div", {y, g:number(n - less, dtype)})
    return root and g:node("Sqrt", {y}) or y
  end
end
E.var, E.std = variance(false), variance(true)
E.cumsum = function(g, a)
  return g:node("CumSum", {g:name(a.self),
    g:constant(rows.tensor(a.dim, "int64"))})
end
return E
