-- lunarray.onnx.export: calls of operations as nodes. Dims of a traced call
-- count from zero, as ONNX's do; elements of index tensors from one.
--
-- A call becomes the nodes of its operation's row; where it has none, or none
-- for these arguments, those of the calls that the operation makes itself. What
-- has no form is a node, too, with a field 'problem': it only counts if a
-- result of the graph needs it.
local rows = require "lunarray.onnx.rows"
local numbers = require "lunarray.numbers"

-- 'overwrites': operations after which nothing is left of what was there.
local export = {rows = {}, overwrites = {}}
local E = export.rows

local Graph = {}
Graph.__index = Graph

local lives_of

-- ---- the lives of tensors ----

-- Calls f for each number of a tensor in the values of a call.
local function each_number(values, f)
  for _, value in pairs(values) do
    if type(value) == "table" and value.tensor then
      f(value.tensor)
    elseif type(value) == "table" then
      for _, part in ipairs(value) do
        if type(part) == "table" then f(part.tensor) end
      end
    end
  end
end

-- By numbers of tensors: the 'first' call that they are in, the 'last' one, and
-- the first by which they are 'written', or 'made'; 'together' those on the
-- same memory.
function lives_of(traced)
  local lives = {first = {}, last = {}, written = {}, made = {},
    together = {}}
  local function walk(calls)
    for _, call in ipairs(calls) do
      walk(call.inner)
      local function used(number)
        lives.first[number] = lives.first[number] or call.order
        lives.last[number] = call.order
      end
      each_number(call.args, used)
      each_number(call.results, used)
      local set = call.inplace and lives.written or lives.made
      each_number(call.results, function(number)
        set[number] = set[number] or call.order
      end)
    end
  end
  walk(traced.calls)
  for _, number in ipairs(traced.outputs) do
    lives.last[number] = math.huge
  end
  for number, storage in ipairs(traced.storages) do
    lives.together[storage] = lives.together[storage] or {}
    table.insert(lives.together[storage], number)
  end
  return lives
end

-- 'again' is a second run with other sizes, or nil.
function export.graph(first, again, opset)
  require "lunarray.onnx.export_rows"
  require "lunarray.onnx.export_shapes"
  require "lunarray.onnx.export_parts"
  require "lunarray.onnx.export_images"
  return setmetatable({first = first, again = again, opset = opset, nodes = {},
    initializers = {}, names = {}, count = 0, constants = {}, inputs = {},
    lives = lives_of(first)}, Graph)
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

local function same_geometry(a, b)
  for d = 1, a.ndim do
    if d > b.ndim or a:stride(d) ~= b:stride(d) then return false end
  end
  return a.dtype == b.dtype and a.shape == b.shape
    and a:storage_offset() == b:storage_offset()
end

-- The name of a tensor that no call made: that of the same elements, or nothing
-- for a constant, which lies on no memory that a call wrote.
function Graph:name_of_alias(number)
  if self.lives.written[number] then
    error("a tensor from outside that is written", 0)
  elseif self.lives.made[number] then
    error("a result that ONNX does not give", 0)
  end
  local touched
  for _, other in ipairs(self.lives.together[self.first.storages[number]]) do
    local name = other ~= number and self.names[other]
    if name and same_geometry(self:tensor(other), self:tensor(number)) then
      return self:name(other)
    end
    touched = touched or other ~= number and (self.lives.written[other]
      or name and not (self.pending and self.pending[other]))
  end
  if touched then error("a view that no operation made", 0) end
end

-- The name of a traced tensor; what no call made is a constant.
function Graph:name(value)
  local number = type(value) == "table" and value.tensor or value
  local name = self.names[number]
  if not name then name = self:name_of_alias(number) end
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

-- A node for what has no form, with the names of what it uses.
function Graph:problem(call, results, text)
  local inputs, outputs = {}, {}
  each_number(call.args, function(number)
    inputs[#inputs + 1] = self.names[number]
  end)
  for _, number in pairs(results) do
    local name = self:fresh("none")
    outputs[#outputs + 1], self.names[number] = name, name
    local others = call.inplace
      and self.lives.together[self.first.storages[number]] or {}
    for _, other in ipairs(others) do
      if self.names[other] then self.names[other] = name end
    end
  end
  self.nodes[#self.nodes + 1] = {problem = text, input = inputs,
    output = outputs}
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

local function numbers_of(call)
  local out = {}
  for k, r in ipairs(call.results) do
    if type(r) == "table" and r.tensor then out[k] = r.tensor
    elseif type(r) == "table" then
      for i, part in ipairs(r) do out[i] = part.tensor end
    end
  end
  return out
end

-- What keeps a call from being nodes because of what it writes; nothing when
-- the result may just stand for what was there from then on.
function Graph:shares(call, results)
  for _, number in ipairs(results) do
    for _, other in ipairs(self.lives.together[self.first.storages[number]]) do
      if other ~= number and (self.lives.last[other] or 0) > call.order
        and (self.lives.first[other] or 0) < call.order then
        return "in place, where another tensor shares the memory"
      end
    end
    local known = self.names[number]
    if not self.lives.made[number] and (known == nil
      and not export.overwrites[call.op]
      or known and self.pending and self.pending[number]) then
      return "in place, on a tensor from outside"
    end
  end
end

-- The nodes of a call by the row of its operation; false and why not.
function Graph:by_row(call, again, results)
  local row = E[call.op]
  if not row then return false, "" end
  if type(row) == "function" then row = {make = row, free = {}} end
  local a, b = call.args, again and again.args
  local differs = b and same_numbers(a, b, row.free)
  if differs then return false, differs .. " follows from sizes" end
  local why = call.inplace and self:shares(call, results)
  if why then return false, why end
  self.other, self.order = again, call.order
  local mark = #self.nodes
  local ok, out = pcall(function()
    return table.pack(row.make(self, a, results, b))
  end)
  if not ok then
    for k = #self.nodes, mark + 1, -1 do self.nodes[k] = nil end
    return false, (tostring(out):gsub("^[%w_./]+:%d+: ", ""))
  end
  for k = 1, out.n do
    if results[k] and out[k] then self.names[results[k]] = out[k] end
  end
  return true
end

-- ... by the calls inside of it, if it is nothing but these.
function Graph:by_parts(call, again, results)
  local parts = call.inner
  if not call.composite or again and #again.inner ~= #parts then
    return false
  end
  for k, part in ipairs(parts) do
    self:call(part, again and again.inner[k])
  end
  for _, number in ipairs(results) do
    if not self.names[number]
      and (self.lives.made[number] or call.order) >= call.order then
      return false
    end
  end
  return true
end

-- The nodes of a traced call.
function Graph:call(call, again)
  local results = numbers_of(call)
  if again and again.op ~= call.op then
    return self:problem(call, results, call.op .. " (not for other sizes)")
  end
  local done, why = self:by_row(call, again, results)
  if done or self:by_parts(call, again, results) then return end
  self:problem(call, results, why ~= "" and ("%s (%s)"):format(call.op, why)
    or call.op)
end

-- A result gets its name; what is an input or is given twice by a node.
function Graph:output(number, name)
  local from = self:name(number)
  self:node("Identity", {from}, nil, {name})
end

-- Only what results need stays. The texts of problems among that, each once.
function Graph:prune(outputs)
  local needed, nodes, problems, seen = {}, {}, {}, {}
  for _, name in ipairs(outputs) do needed[name] = true end
  for k = #self.nodes, 1, -1 do
    local node, wanted = self.nodes[k], false
    for _, name in ipairs(node.output) do wanted = wanted or needed[name] end
    if wanted then
      table.insert(nodes, 1, node)
      for _, name in pairs(node.input) do needed[name] = true end
    end
  end
  local initializers = {}
  for _, t in ipairs(self.initializers) do
    if needed[t.name] then initializers[#initializers + 1] = t end
  end
  self.nodes, self.initializers = nodes, initializers
  for _, node in ipairs(nodes) do
    if node.problem and not seen[node.problem] then
      seen[node.problem] = true
      problems[#problems + 1] = node.problem
    end
  end
  return problems
end

return export
