-- lunarray.onnx.rows: the operators by domain and name, and what their rows
-- share. A row is a maker: it gets a node (attributes, version of the operator
-- set, numbers of inputs and outputs) and gives the function of the inputs.
-- What a maker cannot do is said with node:refuse, before anything runs.
local la = require "lunarray"
local is_tensor = require "lunarray.tensors".is_tensor

local rows = {is_tensor = is_tensor, version = 0}

-- domain -> name -> row {make =, random =, keeps =, state =}
rows.table = {[""] = {}, ["ai.onnx.ml"] = {}, ["com.microsoft"] = {},
              ["ai.onnx.preview.training"] = {}, ["ai.onnx.preview"] = {}}

-- A table of makers by assignment: op.Relu = function(node) ... end, or with
-- properties op.If = {make = function, state = true}.
--   random: the result is another at each run; state: gets (run, frame, ...);
--   keeps: what is given lives on in the result (a list of tensors);
--   alone: is it a part of its own, which no program has as a step? Without it
--   rows that are random or keep what is given are; own: it is the caller's,
--   whose attributes nobody knows.
function rows.domain(name)
  local list = rows.table[name]
  return setmetatable({}, {
    __newindex = function(_, key, row)
      list[key] = type(row) == "table" and row or {make = row}
    end,
    __index = function(_, key) return list[key] and list[key].make end,
  })
end

local FAMILIES = {"math", "compare", "reduce", "shape", "index", "filter",
  "pool", "norm", "matrix", "recurrent", "control", "resize", "quantize",
  "signal", "loss", "random", "attention", "detect", "text", "ml", "microsoft",
  "transformer"}

local loaded = false
local function load_families()
  if loaded then return end
  loaded = true
  for _, family in ipairs(FAMILIES) do
    require("lunarray.onnx.ops." .. family)
  end
end

-- The row of an operator, nil for none. "ai.onnx" is "".
function rows.find(domain, name)
  load_families()
  local list = rows.table[domain == "ai.onnx" and "" or domain]
  return list and list[name]
end

-- la.onnx.register: a function of the caller's as operator.
function rows.register(domain, name, f)
  load_families()
  domain = domain == "ai.onnx" and "" or domain
  rows.table[domain] = rows.table[domain] or {}
  rows.version = rows.version + 1
  rows.table[domain][name] = {keeps = true, lasting = true, random = true,
    own = true,
    make = function(node)
    local attributes, outputs = node.attributes, node.nout
    return function(...) return f({...}, attributes, outputs) end
  end}
end

-- ---- dtypes ----

-- By TensorProto.DataType; what has no dtype here is kept in the next wider.
rows.dtypes = {"float32", "uint8", "int8", "uint16", "int16", "int32", "int64",
  "string", "bool", "float16", "float64", "uint32", "uint64", "complex64",
  "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
  "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2",
  "int2"}
rows.unpacked = {int4 = "int8", int2 = "int8", uint4 = "uint8",
  uint2 = "uint8", float8e4m3fn = "float32", float8e4m3fnuz = "float32",
  float8e5m2 = "float32", float8e5m2fnuz = "float32", float4e2m1 = "float32",
  float8e8m0 = "float32"}
local CODES = {}
for code, name in ipairs(rows.dtypes) do CODES[name] = code end
rows.codes = CODES

local FLOATS = {float16 = true, bfloat16 = true, float32 = true,
  float64 = true}
rows.floats = FLOATS

-- ---- what rows share ----

-- An axis counted from zero as a dim.
function rows.dim(axis) return axis >= 0 and axis + 1 or axis end

function rows.dims(axes)
  local out = {}
  for k, axis in ipairs(axes) do out[k] = axis >= 0 and axis + 1 or axis end
  return out
end

-- The elements of a tensor of integers as a list; of a 0-dim one too. Those of
-- constants are read once.
local lists = setmetatable({}, {__mode = "k"})
rows.constant_lists = lists
function rows.list(t)
  local kept = lists[t]
  if kept then return kept end
  local value = t.ndim == 1 and t:totable() or t:flatten():totable()
  if kept == false then lists[t] = value end
  return value
end

-- The one element of a tensor as a number or boolean.
function rows.number(t)
  local kept = lists[t]
  if kept == nil then
    return t.ndim == 0 and t:item() or t:flatten()[1]:item()
  end
  return rows.list(t)[1]
end

-- Sizes as a plain list.
function rows.sizes(x)
  local shape, out = x.shape, {}
  for k = 1, #shape do out[k] = shape[k] end
  return out
end

-- b with dims of size 1 behind, so that its first dim stands below this axis of
-- a: the second operand before opset 7. No axis: b as it is.
function rows.aligned(a, b, axis)
  if not axis or b.ndim == 0 then return b end
  local shape = rows.sizes(b)
  for _ = axis + b.ndim + 1, a.ndim do shape[#shape + 1] = 1 end
  return b:reshape(shape)
end

function rows.product(list, first, last)
  local n = 1
  for k = first or 1, last or #list do n = n * list[k] end
  return n
end

-- 'x' with its dims from 'dim' on as one, and those before as another.
function rows.matrix(x, dim)
  local s = rows.sizes(x)
  return x:reshape(rows.product(s, 1, dim - 1), rows.product(s, dim))
end

-- A number of elements that Lua walks over, as files and inputs say it.
function rows.check_count(n)
  if n > 1 << 22 then error(("%d elements are too many"):format(n), 0) end
  return n
end

-- Attributes of tensors: {tensor =}, {strings =} as a list of texts.
function rows.value(t) return t.tensor or rows.strings(t.strings, t.shape) end

-- A tensor of strings is a list of them; its sizes, where they are not the
-- length alone, stand under "shape".
function rows.strings(list, shape)
  if shape and not (#shape == 1 and shape[1] == #list) then
    list.shape = shape
  end
  return list
end
function rows.is_strings(x)
  return type(x) == "table" and (x.shape ~= nil or type(x[1]) == "string")
end
function rows.string_shape(x) return x.shape or {#x} end

-- Computation in float32 for 16-bit floats: f(x) in float32, the result as x.
function rows.wide(x)
  local dtype = x.dtype
  if dtype == "float16" or dtype == "bfloat16" then
    return x:to("float32"), dtype
  end
  return x, nil
end

function rows.tensor(list, dtype) return la.tensor(list, {dtype = dtype}) end

return rows
