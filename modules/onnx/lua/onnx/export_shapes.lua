-- lunarray.onnx.export_shapes: what operations on shapes and indices, new
-- tensors and recurrent layers are in ONNX; rows as in
-- lunarray.onnx.export_rows.
local export = require "lunarray.onnx.export"
local rows = require "lunarray.onnx.rows"

local E = export.rows
local sized, each, dtype_of = export.sized, export.each, export.dtype_of

-- ---- shapes ----

local function reshape(g, a, _, b)
  return g:node("Reshape", {g:name(a.self),
    g:sizes(a.shape or a.size, b and (b.shape or b.size), true)})
end
E.reshape = sized("shape", reshape)
E.view = sized("size", reshape)
local function like_result(g, a, results)
  local one = rows.sizes(g:tensor(results[1]))
  local two = g.again
    and rows.sizes(g.again.tensors[g.other.results[1].tensor])
  return g:node("Reshape", {g:name(a.self), g:sizes(one, two, true)})
end
E.unflatten = sized("sizes", like_result)
E.view_as, E.reshape_as = like_result, like_result
E.ravel = function(g, a)
  return g:node("Reshape", {g:name(a.self), g:ints{-1}})
end
E.flatten = function(g, a)
  local x = g:tensor(a.self.tensor)
  local first, last = a.start_dim, a.end_dim
  if first < 0 then first = first + x.ndim end
  if last < 0 then last = last + x.ndim end
  if first == 1 and last == x.ndim - 1 then
    return g:node("Flatten", {g:name(a.self)}, {axis = 1})
  end
  local shape = {}
  for _ = 0, first - 1 do shape[#shape + 1] = 0 end
  shape[#shape + 1] = -1
  if last == x.ndim - 1 then
    return g:node("Reshape", {g:name(a.self), g:ints(shape)})
  end
  if g.again then error("inner dims with named ones", 0) end
  for k = last + 1, x.ndim - 1 do shape[#shape + 1] = x:size(k + 1) end
  return g:node("Reshape", {g:name(a.self), g:ints(shape)})
end
E.permute = function(g, a)
  local perm, n = {}, g:tensor(a.self.tensor).ndim
  for k, d in ipairs(a.dims) do perm[k] = d < 0 and d + n or d end
  return g:node("Transpose", {g:name(a.self)}, {perm = perm})
end
local function exchange(g, x, i, j)
  local perm, n = {}, g:tensor(x.tensor).ndim
  if n == 0 then return g:name(x) end
  for k = 1, n do perm[k] = k - 1 end
  i, j = i < 0 and i + n or i, j < 0 and j + n or j
  perm[i + 1], perm[j + 1] = j, i
  return g:node("Transpose", {g:name(x)}, {perm = perm})
end
E.transpose = function(g, a) return exchange(g, a.self, a.dim0, a.dim1) end
E.t = function(g, a)
  if g:tensor(a.self.tensor).ndim < 2 then return g:name(a.self) end
  return exchange(g, a.self, 0, 1)
end
E.matrix_transpose = function(g, a) return exchange(g, a.x, -2, -1) end
E.unsqueeze = function(g, a)
  return g:axes("Unsqueeze", g:name(a.self), {a.dim})
end
E.squeeze = function(g, a)
  local x, axes = g:tensor(a.self.tensor), {}
  for k = 1, x.ndim do
    local wanted = a.dim == nil or #a.dim == 0
    for _, d in ipairs(a.dim or {}) do
      wanted = wanted or (d < 0 and d + x.ndim or d) == k - 1
    end
    if wanted and x:size(k) == 1 then axes[#axes + 1] = k - 1 end
  end
  if #axes == 0 then return g:name(a.self) end
  return g:axes("Squeeze", g:name(a.self), axes)
end
E.expand = sized("size", function(g, a, _, b)
  local one = table.move(a.size, 1, #a.size, 1, {})
  for k, size in ipairs(one) do if size == -1 then one[k] = 1 end end
  local two = b and table.move(b.size, 1, #b.size, 1, {})
  for k, size in ipairs(two or {}) do if size == -1 then two[k] = 1 end end
  return g:node("Expand", {g:name(a.self), g:sizes(one, two, false)})
end)
E.expand_as = function(g, a)
  return g:node("Expand", {g:name(a.self), g:node("Shape", {g:name(a.other)})})
end

-- ---- joining and cutting ----

E.cat = function(g, a, results)
  local inputs, dtype = {}, dtype_of(g, results)
  for k, x in ipairs(a.tensors) do inputs[k] = g:operand(x, dtype) end
  return g:node("Concat", inputs, {axis = a.dim})
end
E.stack = function(g, a, results)
  local inputs, dtype = {}, dtype_of(g, results)
  local n = g:tensor(results[1]).ndim
  local dim = a.dim < 0 and a.dim + n or a.dim
  for k, x in ipairs(a.tensors) do
    inputs[k] = g:axes("Unsqueeze", g:operand(x, dtype), {dim})
  end
  return g:node("Concat", inputs, {axis = dim})
end
local function slice(g, x, dim, first, behind, step)
  return g:node("Slice", {x, g:ints{first}, g:ints{behind}, g:ints{dim},
    g:ints{step or 1}})
end
E.narrow = function(g, a)
  local first = type(a.start) == "table" and error("a tensor", 0) or a.start
  return slice(g, g:name(a.self), a.dim, first, first + a.length)
end
E.slice = sized("last", function(g, a, _, b)
  local n = g:tensor(a.self.tensor):size(a.dim >= 0 and a.dim + 1 or a.dim)
  local last = a.last or n
  if b and a.last ~= b.last then error("a size", 0) end
  if last < 0 then last = last + n + 1 end
  if last >= n then last = math.maxinteger end
  return slice(g, g:name(a.self), a.dim, a.first or 0, last, a.step)
end)
-- An index that follows from sizes is the last one.
E.select = sized("index", function(g, a, _, b)
  local index = a.index
  if b and b.index ~= index then
    local d = a.dim >= 0 and a.dim + 1 or a.dim
    if index + 1 ~= g:tensor(a.self.tensor):size(d)
      or b.index + 1 ~= g.again.tensors[b.self.tensor]:size(d) then
      error("index follows from sizes", 0)
    end
    index = -1
  end
  return g:node("Gather", {g:name(a.self),
    g:constant(rows.tensor(index, "int64"))}, {axis = a.dim})
end)
local function pieces(g, a, results)
  local t, sizes, names = g:tensor(a.self.tensor), {}, {}
  local dim = a.dim < 0 and a.dim + t.ndim or a.dim
  for k, number in ipairs(results) do
    sizes[k] = g:tensor(number):size(dim + 1)
    names[k] = g:fresh("Split")
  end
  g:node("Split", {g:name(a.self), g:ints(sizes)}, {axis = dim}, names)
  return table.unpack(names)
end
E.split, E.chunk, E.split_with_sizes = pieces, pieces, pieces
E.tensor_split = pieces
E.unbind = function(g, a, results)
  local out = {}
  for k in ipairs(results) do
    out[k] = g:node("Gather", {g:name(a.self),
      g:constant(rows.tensor(k - 1, "int64"))}, {axis = a.dim})
  end
  return table.unpack(out)
end
E.flip = function(g, a)
  local n, first, last, step = #a.dims, {}, {}, {}
  for k = 1, n do first[k], last[k], step[k] = -1, math.mininteger + 1, -1 end
  return g:node("Slice", {g:name(a.self), g:ints(first), g:ints(last),
    g:ints(a.dims), g:ints(step)})
end
E.roll = function(g, a)
  local t, y = g:tensor(a.self.tensor), g:name(a.self)
  if g.again then error("with named dims", 0) end
  if #a.dims == 0 then
    local n = math.max(t:numel(), 1)
    y = g:node("Reshape", {y, g:ints{-1}})
    local cut = n - a.shifts[1] % n
    y = g:node("Concat", {slice(g, y, 0, cut, n), slice(g, y, 0, 0, cut)},
      {axis = 0})
    return g:node("Reshape", {y, g:ints(rows.sizes(t))})
  end
  for k, dim in ipairs(a.dims) do
    local n = math.max(t:size(dim >= 0 and dim + 1 or dim), 1)
    local cut = n - a.shifts[k] % n
    y = g:node("Concat", {slice(g, y, dim, cut, n), slice(g, y, dim, 0, cut)},
      {axis = dim})
  end
  return y
end
E.diagonal = function(g, a, results)
  local t, perm = g:tensor(a.self.tensor), {}
  if g.again then error("with named dims", 0) end
  local i = a.dim1 < 0 and a.dim1 + t.ndim or a.dim1
  local j = a.dim2 < 0 and a.dim2 + t.ndim or a.dim2
  local shape, at, width = {}, {}, t:size(j + 1)
  for k = 0, t.ndim - 1 do
    if k ~= i and k ~= j then
      perm[#perm + 1], shape[#shape + 1] = k, t:size(k + 1)
    end
  end
  perm[#perm + 1], perm[#perm + 2], shape[#shape + 1] = i, j, -1
  local y = g:node("Transpose", {g:name(a.self)}, {perm = perm})
  local first = a.offset >= 0 and a.offset or -a.offset * width
  for k = 1, g:tensor(results[1]):size(-1) do
    at[k] = first + (k - 1) * (width + 1)
  end
  return g:node("Gather", {g:node("Reshape", {y, g:ints(shape)}), g:ints(at)},
    {axis = -1})
end
each("tile repeat", function(name)
  E[name] = function(g, a, _)
    local list, x = a.dims or a.repeats, g:tensor(a.self.tensor)
    local name_of = g:name(a.self)
    if #list > x.ndim then
      local axes = {}
      for k = 1, #list - x.ndim do axes[k] = k - 1 end
      name_of = g:axes("Unsqueeze", name_of, axes)
    end
    local full = {}
    for k = 1, x.ndim - #list do full[k] = 1 end
    for _, n in ipairs(list) do full[#full + 1] = n end
    return g:node("Tile", {name_of, g:ints(full)})
  end
end)
-- ---- indices, which begin with one here ----

-- Numbers below zero count from the end in both.
local function from_zero(g, value)
  local x = g:cast(g:name(value), g:tensor(value.tensor).dtype, "int64")
  local above = g:node("Greater", {x, g:number(0, "int64")})
  return g:node("Sub", {x, g:node("Cast", {above}, {to = rows.codes.int64})})
end
export.from_zero = from_zero
E.embedding = function(g, a)
  if a.max_norm then error("max_norm", 0) end
  return g:node("Gather", {g:name(a.weight), from_zero(g, a.self)}, {axis = 0})
end
-- Bags that are rows of a matrix; those of a list follow from its parts.
E.embedding_bag = function(g, a)
  if g:tensor(a.self.tensor).ndim ~= 2 or a.padding_idx or a.max_norm then
    error("bags of several sizes", 0)
  end
  local y = g:node("Gather", {g:name(a.weight), from_zero(g, a.self)},
    {axis = 0})
  if a.per_sample_weights then
    y = g:node("Mul", {y, g:axes("Unsqueeze", g:name(a.per_sample_weights),
      {2})})
  end
  local op = {sum = "ReduceSum", mean = "ReduceMean", max = "ReduceMax"}
  return g:reduce(op[a.mode], y, {1}, false)
end
E.index_select = function(g, a)
  return g:node("Gather", {g:name(a.self), from_zero(g, a.index)},
    {axis = a.dim})
end
E.gather = function(g, a)
  return g:node("GatherElements", {g:name(a.self), from_zero(g, a.index)},
    {axis = a.dim})
end
for name, op in pairs{tril = 0, triu = 1} do
  E[name] = function(g, a)
    return g:node("Trilu", {g:name(a.self),
      g:constant(rows.tensor(a.diagonal, "int64"))}, {upper = op})
  end
end
for name, op in pairs{pixel_shuffle = "DepthToSpace",
  pixel_unshuffle = "SpaceToDepth"} do
  E[name] = function(g, a)
    local attributes = {blocksize = a.upscale_factor or a.downscale_factor}
    if op == "DepthToSpace" then
      attributes.mode = "CRD"
      return g:node(op, {g:name(a.self)}, attributes)
    end
    local x, r = g:tensor(a.self.tensor), a.downscale_factor
    if x.ndim ~= 4 or g.again then error("other than four fixed dims", 0) end
    local n, c, h, w = x:size(1), x:size(2), x:size(3), x:size(4)
    local y = g:node("Reshape", {g:name(a.self),
      g:ints{n, c, h // r, r, w // r, r}})
    y = g:node("Transpose", {y}, {perm = {0, 1, 3, 5, 2, 4}})
    return g:node("Reshape", {y, g:ints{n, c * r * r, h // r, w // r}})
  end
end

-- ---- new tensors ----

-- As they were before anything was written there.
local function new(word, make)
  each(word, function(name)
    E[name] = function(g, a, results)
      local number = results[1]
      if not g.lives.written[number] then
        return g:constant(g:tensor(number))
      end
      if not make then error("written later", 0) end
      return g:constant(make(g:tensor(number), a))
    end
  end)
end
local la = require "lunarray"
new("zeros zeros_like new_zeros", function(t) return la.zeros_like(t) end)
new("ones ones_like new_ones", function(t) return la.ones_like(t) end)
new("full full_like new_full", function(t, a)
  return la.full_like(t, a.fill_value or a.value)
end)
new("arange range eye scalar_tensor linspace")

-- ---- recurrent layers: gates are linear(x) already, so the input is as it is
-- and the weight of the input one that picks each gate ----

local KINDS = {[0] = {"RNN", {1}}, {"RNN", {1}}, {"LSTM", {1, 4, 2, 3}},
  {"GRU", {2, 1, 3}}}
local RELU = 1

E.recurrent = function(g, a, results)
  local kind, order = table.unpack(KINDS[a.kind])
  local gates = g:tensor(a.gates.tensor)
  local n, dtype = g:tensor(a.h.tensor):size(-1), gates.dtype
  local wide = n * #order
  -- Blocks of rows in the order of the file.
  local at = {}
  for _, block in ipairs(order) do
    for k = 0, n - 1 do at[#at + 1] = (block - 1) * n + k end
  end
  local function blocks(name)
    return g:node("Gather", {name, g:ints(at)}, {axis = 0})
  end
  local w = g:axes("Unsqueeze", blocks(g:constant(la.eye(wide,
    {dtype = dtype}))), {0})
  local r = g:axes("Unsqueeze", blocks(g:name(a.weight)), {0})
  local zeros = g:constant(la.zeros({wide}, {dtype = dtype}))
  local rb = a.bias and blocks(g:name(a.bias)) or zeros
  local b = g:axes("Unsqueeze", g:node("Concat", {zeros, rb}, {axis = 0}), {0})
  local inputs = {g:name(a.gates), w, r, b, "",
    g:axes("Unsqueeze", g:name(a.h), {0})}
  if kind == "LSTM" then inputs[7] = g:axes("Unsqueeze", g:name(a.c), {0}) end
  local attributes = {hidden_size = n,
    direction = a.reverse and "reverse" or "forward"}
  if kind == "GRU" then attributes.linear_before_reset = 1 end
  local y, h, c = g:fresh("Y"), g:fresh("H"), g:fresh("C")
  local node = {y, h, c}
  if kind ~= "LSTM" then node[3] = nil end
  g:node(kind, inputs, attributes, node)
  if a.kind == RELU then
    table.insert(g.nodes[#g.nodes].attribute, {name = "activations", type = 8,
      strings = {"Relu"}})
  end
  local out = g:axes("Squeeze", y, {1})
  if kind ~= "LSTM" then return out end
  -- The cells after the last step alone: what a file has.
  local steps = gates:size(1)
  if steps == 1 then return out, c end
  g.cells = g.cells or {}
  g.cells[results[2]] = {c, a.reverse and 0 or steps - 1}
  return out
end

-- The last cells of an LSTM, whose other cells no file has.
local select_row = E.select.make
E.select.make = function(g, a, results, b)
  local cells = g.cells and g.cells[a.self.tensor]
  if not cells then return select_row(g, a, results, b) end
  if a.dim ~= 0 or a.index ~= cells[2] then error("cells of inner steps", 0) end
  return g:axes("Squeeze", cells[1], {0})
end

return E
