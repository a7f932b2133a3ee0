-- lunarray.onnx.export: calls of operations as nodes. Dims of a traced call
-- count from zero, as ONNX's do; elements of index tensors from one.
local rows = require "lunarray.onnx.rows"
local numbers = require "lunarray.numbers"

local export = {rows = {}}
local E = export.rows

local Graph = {}
Graph.__index = Graph

-- 'again' is a second run with other sizes, or nil.
function export.graph(first, again, opset)
  require "lunarray.onnx.export_rows"
  require "lunarray.onnx.export_shapes"
  return setmetatable({first = first, again = again, opset = opset, nodes = {},
    initializers = {}, names = {}, problems = {}, seen = {}, count = 0,
    constants = {}, inputs = {}}, Graph)
end

-- ---- names ----

function Graph:fresh(word)
  self.count = self.count + 1
  return ("%s_%d"):format(word, self.count)
end

function Graph:input(number, name)
  self.names[number] = name
  self.inputs[#self.inputs + 1] = {name = name, number = number}
end

-- A weight joins the file where it is first used.
function Graph:weight(number, name)
  if not self.names[number] then
    self.names[number] = name
    self.pending = self.pending or {}
    self.pending[number] = true
  end
end

function Graph:constant(t, name)
  name = name or self:fresh("constant")
  self.initializers[#self.initializers + 1] = {name = name, tensor = t}
  return name
end

-- A list of integers as an initializer, each once.
function Graph:ints(list)
  local key = "i" .. table.concat(list, ",")
  local name = self.constants[key]
  if not name then
    name = self:constant(rows.tensor(list, "int64"):reshape(#list))
    self.constants[key] = name
  end
  return name
end

function Graph:number(value, dtype)
  local key = dtype .. numbers.text(value)
  local name = self.constants[key]
  if not name then
    name = self:constant(rows.tensor(value, dtype))
    self.constants[key] = name
  end
  return name
end

function Graph:tensor(number) return self.first.tensors[number] end

-- The name of a traced tensor; what no call made is a constant.
function Graph:name(value)
  local number = type(value) == "table" and value.tensor or value
  local name = self.names[number]
  if name and self.pending and self.pending[number] then
    self.pending[number] = nil
    self:constant(self:tensor(number), name)
  end
  if name then return name end
  name = self:constant(self:tensor(number))
  self.names[number] = name
  return name
end

-- ---- nodes ----

local function attribute(name, value)
  if math.type(value) == "integer" then
    return {name = name, type = 2, i = value}
  end
  if type(value) == "number" then return {name = name, type = 1, f = value} end
  if type(value) == "string" then return {name = name, type = 3, s = value} end
  if rows.is_tensor(value) then
    return {name = name, type = 4, t = {tensor = value}}
  end
  if math.type(value[1]) == "float" then
    return {name = name, type = 6, floats = value}
  end
  return {name = name, type = 7, ints = value}
end

-- Adds a node; the name of its first result, or of all.
function Graph:node(op, inputs, attributes, outputs)
  local node = {op_type = op, input = inputs, output = outputs
    or {self:fresh(op)}, attribute = {}, name = self:fresh("node")}
  for name, value in pairs(attributes or {}) do
    table.insert(node.attribute, attribute(name, value))
  end
  table.sort(node.attribute, function(a, b) return a.name < b.name end)
  self.nodes[#self.nodes + 1] = node
  return node.output[1]
end

function Graph:cast(name, from, to)
  if from == to then return name end
  return self:node("Cast", {name}, {to = rows.codes[to]})
end

-- An operand in the dtype of the result; numbers become constants of it.
function Graph:operand(value, dtype)
  local t = self:tensor(value.tensor)
  if value.number then return self:number(t:item(), dtype) end
  return self:cast(self:name(value), t.dtype, dtype)
end

-- Squeezes and the like take their axes as an input.
function Graph:axes(op, x, axes) return self:node(op, {x, self:ints(axes)}) end

-- A reduction, whose axes became an input in opset 18 (ReduceSum's in 13).
function Graph:reduce(op, x, axes, keep)
  local attributes = {keepdims = keep and 1 or 0}
  if op == "ReduceSum" or self.opset >= 18 then
    return self:node(op, {x, self:ints(axes)}, attributes)
  end
  attributes.axes = axes
  return self:node(op, {x}, attributes)
end

-- ---- sizes that depend on inputs ----

-- A size that differs between the runs, as a tensor of one element.
function Graph:size(one, two)
  for _, input in ipairs(self.inputs) do
    local a = self:tensor(input.number)
    local b = self.again.tensors[self.again.inputs[_]]
    for d = 1, a.ndim do
      local p, q = a:size(d), b:size(d)
      if p ~= q and one * q == two * p and one % p == 0 or p == one
        and q == two then
        local shape = self:node("Shape", {input.name})
        local size = self:node("Gather", {shape, self:ints{d - 1}})
        if p == one then return size end
        return self:node("Mul", {size, self:ints{one // p}})
      end
    end
  end
  error("a size that follows from the inputs in no simple way", 0)
end

-- Sizes as an input: one that differs between the runs is -1 where that is
-- allowed, others are asked of the inputs.
function Graph:sizes(one, two, infer)
  local out, differ, parts = {}, 0, {}
  for k, size in ipairs(one) do
    out[k] = size
    if size == -1 then infer = false end
    if two and two[k] ~= size then differ = differ + 1 end
  end
  if differ == 0 then return self:ints(out) end
  if differ == 1 and infer then
    for k, size in ipairs(one) do if two[k] ~= size then out[k] = -1 end end
    return self:ints(out)
  end
  for k, size in ipairs(one) do
    parts[k] = two[k] ~= size and self:size(size, two[k]) or self:ints{size}
  end
  return self:node("Concat", parts, {axis = 0})
end

-- ---- calls ----

function Graph:problem(op)
  if self.seen[op] then return end
  self.seen[op] = true
  self.problems[#self.problems + 1] = op
end

-- Numbers of a call that are the same in both runs, but for those that a row
-- looks at itself.
local function same_numbers(a, b, free)
  for key, value in pairs(a) do
    local other = b[key]
    if not free[key] then
      if type(value) == "number" and value ~= other then return key end
      if type(value) == "table" and not value.tensor then
        for k, v in ipairs(value) do
          if type(v) == "number" and v ~= other[k] then return key end
        end
      end
    end
  end
end

-- The nodes of a traced call.
function Graph:call(call, again)
  local row = E[call.op]
  if not row or call.inplace then
    return self:problem(call.op .. (call.inplace and " in place" or ""))
  end
  if type(row) == "function" then row = {make = row, free = {}} end
  local a, b = call.args, again and again.args
  local differs = b and same_numbers(a, b, row.free)
  if differs then
    return self:problem(("%s (%s follows from sizes)"):format(call.op, differs))
  end
  local results = {}
  for k, r in ipairs(call.results) do
    if type(r) == "table" and r.tensor then results[k] = r.tensor
    elseif type(r) == "table" then
      for i, part in ipairs(r) do results[i] = part.tensor end
    end
  end
  self.other = again
  local ok, out = pcall(function()
    return table.pack(row.make(self, a, results, b))
  end)
  if not ok then
    return self:problem(("%s (%s)"):format(call.op,
      (tostring(out):gsub("^[^\n:]*%.lua:%d+: ", ""))))
  end
  for k = 1, out.n do
    if results[k] and out[k] then self.names[results[k]] = out[k] end
  end
end

-- A result gets its name; what is an input or is given twice by a node.
function Graph:output(number, name)
  local from = self:name(number)
  self:node("Identity", {from}, nil, {name})
end

return export
