-- lunarray.onnx.export_parts: what operations are that others are made of, and
-- that a program has as its steps; rows as in lunarray.onnx.export_rows.
local la = require "lunarray"
local export = require "lunarray.onnx.export"
local rows = require "lunarray.onnx.rows"

local E = export.rows
local dtype_of, from_zero = export.dtype_of, export.from_zero

-- ---- elements ----

local function like(g, results, value)
  return g:number(value, dtype_of(g, results))
end

E.softplus = function(g, a, results)
  local x = g:name(a.self)
  if a.beta == 1 then return g:node("Softplus", {x}) end
  local beta = like(g, results, a.beta)
  return g:node("Div", {g:node("Softplus", {g:node("Mul", {x, beta})}), beta})
end
-- Mish is an operator from opset 18 on.
E.mish = function(g, a)
  local x = g:name(a.self)
  if g.opset >= 18 then return g:node("Mish", {x}) end
  return g:node("Mul", {x, g:node("Tanh", {g:node("Softplus", {x})})})
end
E.hardshrink = function(g, a)
  return g:node("Shrink", {g:name(a.self)}, {lambd = a.lambd + 0.0,
    bias = 0.0})
end
E.softshrink = function(g, a)
  return g:node("Shrink", {g:name(a.self)}, {lambd = a.lambd + 0.0,
    bias = a.lambd + 0.0})
end
E.threshold = function(g, a, results)
  local x = g:name(a.self)
  return g:node("Where", {g:node("Greater", {x,
    like(g, results, a.threshold)}), x, like(g, results, a.value)})
end
E.trunc = function(g, a)
  local x = g:name(a.self)
  return g:node("Mul", {g:node("Sign", {x}), g:node("Floor", {g:node("Abs",
    {x})})})
end
for name, base in pairs{log2 = 2, log10 = 10} do
  E[name] = function(g, a, results)
    return g:node("Div", {g:node("Log", {g:name(a.self)}),
      like(g, results, math.log(base))})
  end
end
E.exp2 = function(g, a, results)
  return g:node("Pow", {like(g, results, 2), g:name(a.self)})
end
E.sgn = E.sign

local function scaled(g, name, factor, dtype)
  if factor == 1 then return name end
  return g:node("Mul", {name, g:number(factor, dtype)})
end
for name, op in pairs{addcmul = "Mul", addcdiv = "Div"} do
  E[name] = function(g, a, results)
    local dtype = dtype_of(g, results)
    local y = g:node(op, {g:operand(a.tensor1, dtype),
      g:operand(a.tensor2, dtype)})
    return g:node("Add", {g:operand(a.self, dtype),
      scaled(g, y, a.value, dtype)})
  end
end
E.lerp = function(g, a, results)
  local dtype = dtype_of(g, results)
  local from = g:operand(a.self, dtype)
  local way = g:node("Sub", {g:operand(a["end"], dtype), from})
  return g:node("Add", {from, g:node("Mul", {way, g:operand(a.weight,
    dtype)})})
end
E.fmod = function(g, a, results)
  local dtype = dtype_of(g, results)
  return g:node("Mod", {g:operand(a.self, dtype), g:operand(a.other, dtype)},
    {fmod = 1})
end
local function is_float(g, results)
  return g:tensor(results[1]):is_floating_point()
end
E.remainder = function(g, a, results)
  local dtype = dtype_of(g, results)
  local x, y = g:operand(a.self, dtype), g:operand(a.other, dtype)
  if not is_float(g, results) then return g:node("Mod", {x, y}) end
  return g:node("Sub", {x, g:node("Mul", {y, g:node("Floor", {g:node("Div",
    {x, y})})})})
end
E.floor_divide = function(g, a, results)
  local dtype = dtype_of(g, results)
  local x, y = g:operand(a.self, dtype), g:operand(a.other, dtype)
  if is_float(g, results) then
    return g:node("Floor", {g:node("Div", {x, y})})
  end
  return g:node("Div", {g:node("Sub", {x, g:node("Mod", {x, y})}), y})
end
-- Zero times a logarithm of anything but nan is zero.
E.xlogy = function(g, a, results)
  local dtype = dtype_of(g, results)
  local x, y = g:operand(a.self, dtype), g:operand(a.other, dtype)
  local zero = g:number(0, dtype)
  local some = g:node("Where", {g:node("Equal", {x, zero}), zero,
    g:node("Mul", {x, g:node("Log", {y})})})
  return g:node("Where", {g:node("IsNaN", {y}), y, some})
end
E.logaddexp = function(g, a, results)
  local dtype = dtype_of(g, results)
  local x, y = g:operand(a.self, dtype), g:operand(a.other, dtype)
  local apart = g:node("Neg", {g:node("Abs", {g:node("Sub", {x, y})})})
  return g:node("Add", {g:node("Max", {x, y}), g:node("Log", {g:node("Add",
    {g:node("Exp", {apart}), g:number(1, dtype)})})})
end
for name, op in pairs{bitwise_and = "And", bitwise_or = "Or",
  bitwise_xor = "Xor", bitwise_not = "Not"} do
  E[name] = function(g, a, results)
    local dtype, word = dtype_of(g, results), op
    if dtype ~= "bool" then
      if g.opset < 18 then error("integers before opset 18", 0) end
      word = "Bitwise" .. op
    end
    return g:node(word, {g:operand(a.self, dtype),
      a.other and g:operand(a.other, dtype)})
  end
end
E._to_copy = E.to

-- ---- whole tensors that are written ----

local function over(name, make)
  E[name], export.overwrites[name] = make, true
end
local function filled(g, results, value)
  local t = g:tensor(results[1])
  if g.again then error("with named dims", 0) end
  return g:constant(la.full(rows.sizes(t), value, {dtype = t.dtype}))
end
over("fill_", function(g, a, results) return filled(g, results, a.value) end)
over("zero_", function(g, _, results) return filled(g, results, 0) end)
over("copy_", function(g, a, results)
  local t = g:tensor(results[1])
  local x = g:cast(g:name(a.src), g:tensor(a.src.tensor).dtype, t.dtype)
  if g:tensor(a.src.tensor).shape == t.shape then return x end
  if g.again then error("with named dims", 0) end
  return g:node("Expand", {x, g:ints(rows.sizes(t))})
end)

-- ---- products ----

E.batched_mm = E.mm
-- beta self + alpha x y, of the operation's arguments that have these names.
local function added_product(x, y)
  return function(g, a, results)
    local dtype = dtype_of(g, results)
    local product = g:node("MatMul", {g:name(a[x]), g:name(a[y])})
    return g:node("Add", {scaled(g, g:name(a.self), a.beta, dtype),
      scaled(g, product, a.alpha, dtype)})
  end
end
E.baddbmm = added_product("batch1", "batch2")
E.addmv = added_product("mat", "vec")
E.attention = function(g, a, results)
  local q, dtype = g:tensor(a.query.tensor), dtype_of(g, results)
  local perm = {}
  for k = 1, q.ndim do perm[k] = k - 1 end
  perm[q.ndim - 1], perm[q.ndim] = perm[q.ndim], perm[q.ndim - 1]
  local x = g:node("Mul", {g:name(a.query), g:number(a.scale, dtype)})
  local scores = g:node("MatMul", {x,
    g:node("Transpose", {g:name(a.key)}, {perm = perm})})
  if a.mask then
    local m = g:name(a.mask)
    if g:tensor(a.mask.tensor).dtype == "bool" then
      m = g:node("Where", {m, g:number(0, dtype),
        g:number(-math.huge, dtype)})
    end
    scores = g:node("Add", {scores, m})
  end
  if a.is_causal then
    if g.again then error("is_causal with named dims", 0) end
    local n, m = q:size(-2), g:tensor(a.key.tensor):size(-2)
    local hidden = la.zeros({n, m}, {dtype = dtype}):masked_fill(
      la.ones(n, m):tril():eq(0), -math.huge)
    scores = g:node("Add", {scores, g:constant(hidden)})
  end
  return g:node("MatMul", {g:node("Softmax", {scores}, {axis = -1}),
    g:name(a.value)})
end

-- ---- normalizations ----

E.native_layer_norm = function(g, a, results)
  local dtype = dtype_of(g, results)
  local scale = a.weight and g:name(a.weight)
    or g:constant(la.ones(a.normalized_shape, {dtype = dtype}))
  local inputs = {g:name(a.self), scale}
  if a.bias then inputs[3] = g:name(a.bias) end
  return g:node("LayerNormalization", inputs,
    {axis = -#a.normalized_shape, epsilon = a.eps})
end
E.native_rms_norm = function(g, a, results)
  local x, dtype = g:name(a.self), dtype_of(g, results)
  local axes = {}
  for k = 1, #a.normalized_shape do axes[k] = k - 1 - #a.normalized_shape end
  local mean = g:reduce("ReduceMean", g:node("Mul", {x, x}), axes, true)
  local eps = a.eps or (dtype == "float64" and 2.0 ^ -52 or 2.0 ^ -23)
  local root = g:node("Sqrt", {g:node("Add", {mean, g:number(eps, dtype)})})
  local y = g:node("Div", {x, root})
  return a.weight and g:node("Mul", {y, g:name(a.weight)}) or y
end
-- Groups as instances: (N, groups, the rest in one).
E.native_channel_norm = function(g, a, results)
  local x = g:tensor(a.self.tensor)
  local dtype, c = dtype_of(g, results), x:size(2)
  if a.groups == 0 then error("means of the batch", 0) end
  local flat = g:node("Reshape", {g:name(a.self), g:ints{0, a.groups, -1}})
  local y = g:node("InstanceNormalization", {flat,
    g:constant(la.ones({a.groups}, {dtype = dtype})),
    g:constant(la.zeros({a.groups}, {dtype = dtype}))}, {epsilon = a.eps})
  y = g:node("Reshape", {y, g:node("Shape", {g:name(a.self)})})
  local shape = {c}
  for k = 2, x.ndim - 1 do shape[k] = 1 end
  if a.weight then
    y = g:node("Mul", {y, g:node("Reshape", {g:name(a.weight), g:ints(shape)})})
  end
  if a.bias then
    y = g:node("Add", {y, g:node("Reshape", {g:name(a.bias), g:ints(shape)})})
  end
  return y
end

-- ---- reductions ----

local function axes_of(g, a)
  local dim = a.dim
  if type(dim) == "number" then return {dim} end
  if dim and #dim > 0 then return dim end
  dim = {}
  for k = 1, g:tensor(a.self.tensor).ndim do dim[k] = k - 1 end
  return dim
end
E.vector_norm = function(g, a, results)
  local dtype, p = dtype_of(g, results), a.ord
  local x = g:cast(g:name(a.self), g:tensor(a.self.tensor).dtype, dtype)
  local axes = axes_of(g, a)
  local function reduce(op, y) return g:reduce(op, y, axes, a.keepdim) end
  if p == 2 then return reduce("ReduceL2", x) end
  if p == 1 then return reduce("ReduceL1", x) end
  local size = g:node("Abs", {x})
  if p == math.huge then return reduce("ReduceMax", size) end
  if p == -math.huge then return reduce("ReduceMin", size) end
  if p == 0 then
    local some = g:node("Greater", {size, g:number(0, dtype)})
    return reduce("ReduceSum", g:node("Cast", {some}, {to =
      rows.codes[dtype]}))
  end
  local sum = reduce("ReduceSum", g:node("Pow", {size, g:number(p, dtype)}))
  return g:node("Pow", {sum, g:number(1 / p, dtype)})
end
for name, op in pairs{any = "ReduceMax", all = "ReduceMin"} do
  E[name] = function(g, a)
    local t = g:tensor(a.self.tensor)
    local x = g:node("Cast", {g:cast(g:name(a.self), t.dtype, "bool")},
      {to = rows.codes.int32})
    local y = g:reduce(op, x, axes_of(g, a), a.keepdim or false)
    return g:node("Cast", {y}, {to = rows.codes.bool})
  end
end
-- No opset of these has products of what came before: one after the other.
E.cumprod = function(g, a, results)
  local t, dtype = g:tensor(a.self.tensor), dtype_of(g, results)
  local dim = a.dim < 0 and a.dim + t.ndim or a.dim
  local n, names, ones = t:size(dim + 1), {}, {}
  if n > 256 or g.again then error("over many elements", 0) end
  if n < 2 then return g:cast(g:name(a.self), t.dtype, dtype) end
  for k = 1, n do names[k], ones[k] = g:fresh("Split"), 1 end
  g:node("Split", {g:cast(g:name(a.self), t.dtype, dtype), g:ints(ones)},
    {axis = dim}, names)
  local products = {names[1]}
  for k = 2, n do
    products[k] = g:node("Mul", {products[k - 1], names[k]})
  end
  return g:node("Concat", products, {axis = dim})
end
local function best(g, a, k, largest)
  local values, at = g:fresh("Values"), g:fresh("Indices")
  g:node("TopK", {g:name(a.self), g:ints{k}}, {axis = a.dim,
    largest = largest and 1 or 0, sorted = 1}, {values, at})
  return values, g:node("Add", {at, g:number(1, "int64")})
end
E.topk = function(g, a) return best(g, a, a.k, a.largest) end
E.sort = function(g, a)
  if g.again then error("with named dims", 0) end
  local t = g:tensor(a.self.tensor)
  local d = a.dim >= 0 and a.dim + 1 or a.dim
  return best(g, a, t:size(d), a.descending)
end
E.argsort = function(g, a)
  local _, at = E.sort(g, a)
  return at
end

-- ---- by index ----

local REDUCE = {add = "add", multiply = "mul", sum = "add", prod = "mul",
  amax = "max", amin = "min"}
local function scatter(g, x, index, source, dim, reduce)
  local attributes = {axis = dim}
  if reduce then
    attributes.reduction = REDUCE[reduce] or error("reduce " .. reduce, 0)
  end
  return g:node("ScatterElements", {x, index, source}, attributes)
end
-- Of the source what the index names.
local function part(g, value, like_sizes)
  local t = g:tensor(value.tensor)
  if t.shape == like_sizes.shape then return g:name(value) end
  if g.again then error("with named dims", 0) end
  if value.number then
    return g:node("Expand", {g:name(value), g:ints(rows.sizes(like_sizes))})
  end
  local first, axes = {}, {}
  for k = 1, t.ndim do first[k], axes[k] = 0, k - 1 end
  return g:node("Slice", {g:name(value), g:ints(first),
    g:ints(rows.sizes(like_sizes)), g:ints(axes)})
end
E.scatter = function(g, a, results)
  local dtype, index = dtype_of(g, results), g:tensor(a.index.tensor)
  local source = a.src.number and g:node("Expand", {g:operand(a.src, dtype),
    g:ints(rows.sizes(index))}) or part(g, a.src, index)
  return scatter(g, g:name(a.self), from_zero(g, a.index), source, a.dim,
    a.reduce)
end
E.scatter_add = function(g, a)
  return scatter(g, g:name(a.self), from_zero(g, a.index), part(g, a.src,
    g:tensor(a.index.tensor)), a.dim, "add")
end
-- An index of one dim, for all elements of the source.
local function whole_index(g, a)
  local source, shape = g:tensor(a.source.tensor), {}
  if g.again then error("with named dims", 0) end
  local dim = a.dim < 0 and a.dim + source.ndim or a.dim
  for k = 1, source.ndim do shape[k] = k == dim + 1 and -1 or 1 end
  local index = g:node("Reshape", {from_zero(g, a.index), g:ints(shape)})
  return g:node("Expand", {index, g:ints(rows.sizes(source))}), dim
end
E.index_add = function(g, a, results)
  local index, dim = whole_index(g, a)
  return scatter(g, g:name(a.self), index,
    scaled(g, g:name(a.source), a.alpha, dtype_of(g, results)), dim, "add")
end
-- What is there does not count, where it is not included: the least value for a
-- maximum; positions that no index names keep theirs.
E.index_reduce = function(g, a, results)
  local index, dim = whole_index(g, a)
  local op, x, dtype = REDUCE[a.reduce], g:name(a.self), dtype_of(g, results)
  if not op or g.opset < 18 and (op == "max" or op == "min") then
    error("reduce " .. a.reduce, 0)
  end
  local source = g:name(a.source)
  if a.include_self then
    return scatter(g, x, index, source, dim, a.reduce)
  end
  local start = {add = 0, mul = 1, max = -math.huge, min = math.huge}
  local shape = g:node("Shape", {x})
  local base = g:node("Expand", {g:number(start[op], dtype), shape})
  local named = scatter(g, g:node("Expand", {g:number(0, "int64"), shape}),
    index, g:node("Expand", {g:number(1, "int64"), g:node("Shape", {index})}),
    dim)
  return g:node("Where", {g:node("Cast", {named}, {to = rows.codes.bool}),
    scatter(g, base, index, source, dim, a.reduce), x})
end
E.take_along_dim = function(g, a)
  local x, index = g:tensor(a.self.tensor), g:tensor(a.indices.tensor)
  if not a.dim or x.ndim ~= index.ndim then error("no dim", 0) end
  return g:node("GatherElements", {g:name(a.self), from_zero(g, a.indices)},
    {axis = a.dim})
end
-- One index for a dim, a mask, or indices of the first dims.
E.index = function(g, a)
  local list, only = {}, nil
  for k, value in ipairs(a.indices) do
    if value then list[#list + 1], only = value, k end
  end
  local first = g:tensor(list[1].tensor)
  if #list == 1 and first.dtype ~= "bool" then
    return g:node("Gather", {g:name(a.self), from_zero(g, list[1])},
      {axis = only - 1})
  elseif only ~= #list then
    error("indices behind whole dims", 0)
  elseif #list == 1 then
    local at = g:node("Transpose", {g:node("NonZero", {g:name(list[1])})},
      {perm = {1, 0}})
    return g:node("GatherND", {g:name(a.self), at})
  end
  local parts, sum = {}, nil
  for k, value in ipairs(list) do
    if g:tensor(value.tensor).dtype == "bool" then error("masks", 0) end
    parts[k] = from_zero(g, value)
    sum = sum and g:node("Add", {sum, parts[k]}) or parts[k]
  end
  local shape = g:node("Shape", {sum})
  for k, name in ipairs(parts) do
    parts[k] = g:axes("Unsqueeze", g:node("Expand", {name, shape}), {-1})
  end
  return g:node("GatherND", {g:name(a.self), g:node("Concat", parts,
    {axis = -1})})
end
E.label_entropy = function(g, a)
  local scores = g:node("LogSoftmax", {g:name(a.self)}, {axis = 1})
  local at = g:axes("Unsqueeze", from_zero(g, a.labels), {1})
  local taken = g:node("GatherElements", {scores, at}, {axis = 1})
  return g:node("Neg", {g:axes("Squeeze", taken, {1})})
end

-- ---- borders ----

local MODES = {constant = "constant", reflect = "reflect", replicate = "edge",
  circular = "wrap"}
local function pad(g, a, results, mode, value)
  local n, list = g:tensor(a.self.tensor).ndim, {}
  if mode == "circular" and g.opset < 19 then error("mode circular", 0) end
  for k = 1, 2 * n do list[k] = 0 end
  for k = 1, #a.pad // 2 do
    list[n + 1 - k], list[2 * n + 1 - k] = a.pad[2 * k - 1], a.pad[2 * k]
  end
  local inputs = {g:name(a.self), g:ints(list)}
  if value then inputs[3] = g:number(value, dtype_of(g, results)) end
  return g:node("Pad", inputs, {mode = MODES[mode]})
end
E.pad = function(g, a, results)
  return pad(g, a, results, a.mode, a.mode == "constant" and a.value)
end
E.constant_pad_nd = function(g, a, results)
  return pad(g, a, results, "constant", a.value)
end

return E
