-- lunarray.onnx.graph: graphs of a file as lists of steps on numbered values.
--
-- A value has a slot in the frame of its graph; the first slots are constants
-- (initializers, and what follows from them alone). Functions of the file are
-- expanded where they are called. Graphs inside nodes (If, Loop, Scan) have
-- frames of their own, into which values of the graphs around are captured.
-- Everything that no row can do is noted, not raised.
local known = require "lunarray.onnx.attributes"
local rows = require "lunarray.onnx.rows"
local patterns = require "lunarray.onnx.patterns"
local numbers = require "lunarray.numbers"

local graph = {}

-- Nodes that functions may expand to, for each node of the file.
local EXPANSION, LEAST = 64, 10000

local function fail(text, ...)
  error("onnx.load: " .. text:format(...), 0)
end

local function quote(name)
  return "'" .. (numbers.format("%q", name):sub(2, -2)) .. "'"
end

-- ---- attributes ----

-- The field that holds the value, by AttributeProto.AttributeType.
local FIELDS = {"f", "i", "s", "t", "g", "floats", "ints", "strings", "tensors",
  "graphs", "sparse_tensor", "sparse_tensors", "tp", "type_protos"}
local EMPTY = {f = 0.0, i = 0, s = "", floats = true, ints = true,
  strings = true, tensors = true, graphs = true, sparse_tensors = true,
  type_protos = true}

local function field_of(a)
  local field = FIELDS[a.type]
  if field then return field end
  for _, name in ipairs(FIELDS) do
    if a[name] ~= nil then return name end
  end
end

local function value_of(a, label)
  local field = field_of(a)
  if not field then fail("%s: attribute %s has no value", label,
    quote(a.name or "")) end
  local value = a[field]
  if value == nil then value = EMPTY[field] end
  if value == true then value = {} end
  if value == nil then
    fail("%s: attribute %s has no value", label, quote(a.name or ""))
  end
  return value, field
end

-- name -> value, with references to a function's attributes replaced.
local function attributes_of(node, scope, label)
  local out, kinds = {}, {}
  for _, a in ipairs(node.attribute or {}) do
    local name, ref = a.name or "", a.ref_attr_name
    if ref and ref ~= "" then
      out[name], kinds[name] = scope.attributes[ref], scope.kinds[ref]
    else
      out[name], kinds[name] = value_of(a, label)
    end
  end
  return out, kinds
end

-- ---- values and scopes ----

local function new_graph(context, around)
  local g = {inputs = {}, outputs = {}, steps = {}, captures = {},
    values = {}, around = around, plans = {}}
  context.graphs = context.graphs + 1
  g.id = context.graphs
  return g
end

-- kind: "input", "constant" or "step". const: "pure", or "parameter" where it
-- depends on such.
local function new_value(g, name, const, data)
  local value = {name = name, const = const, data = data, graph = g}
  g.values[#g.values + 1] = value
  return value
end

local function new_scope(g, parent, attributes, kinds, opsets)
  return {graph = g, parent = parent, values = {}, attributes = attributes,
    kinds = kinds, opsets = opsets}
end

-- The value of that name, captured from the graphs around; nil for none.
local function find(scope, name)
  local value = scope.values[name]
  if value or not scope.parent then return value end
  local outer = find(scope.parent, name)
  if outer and outer.graph ~= scope.graph then
    local g = scope.graph
    value = new_value(g, name)
    value.captured = outer
    g.captures[#g.captures + 1] = value
    scope.values[name] = value
    return value
  end
  return outer
end

local function define(scope, name, value, label)
  if scope.values[name] and scope.values[name].graph == scope.graph
    and not scope.values[name].captured then
    fail("%s: value %s is there twice", label, quote(name))
  end
  scope.values[name] = value
end

-- ---- order ----

-- Names that a node needs: its inputs, and what graphs inside it take from
-- around.
local function needs(node, out)
  for _, name in ipairs(node.input or {}) do
    if name ~= "" then out[#out + 1] = name end
  end
  local function inside(g)
    local own = {}
    for _, list in ipairs{g.input or {}, g.initializer or {}} do
      for _, v in ipairs(list) do own[v.name or ""] = true end
    end
    for _, s in ipairs(g.sparse_initializer or {}) do
      own[s.values and s.values.name or ""] = true
    end
    for _, n in ipairs(g.node or {}) do
      for _, name in ipairs(n.output or {}) do own[name] = true end
    end
    local list = {}
    for _, n in ipairs(g.node or {}) do needs(n, list) end
    for _, o in ipairs(g.output or {}) do list[#list + 1] = o.name or "" end
    for _, name in ipairs(list) do
      if not own[name] then out[#out + 1] = name end
    end
  end
  for _, a in ipairs(node.attribute or {}) do
    if a.g then inside(a.g) end
    for _, g in ipairs(a.graphs or {}) do inside(g) end
  end
  return out
end

-- The nodes so that each comes behind those whose results it needs; most files
-- have them so. Raises for a cycle.
local function in_order(nodes)
  local maker, waits, after, order = {}, {}, {}, {}
  for k, node in ipairs(nodes) do
    for _, name in ipairs(node.output or {}) do
      if name ~= "" then maker[name] = k end
    end
  end
  local sorted = true
  for k, node in ipairs(nodes) do
    local seen = {}
    waits[k] = 0
    for _, name in ipairs(needs(node, {})) do
      local from = maker[name]
      if from and not seen[from] then
        seen[from] = true
        waits[k] = waits[k] + 1
        after[from] = after[from] or {}
        table.insert(after[from], k)
        if from >= k then sorted = false end
      end
    end
  end
  if sorted then return nodes end
  local ready, first = {}, 1
  for k = 1, #nodes do
    if waits[k] == 0 then ready[#ready + 1] = k end
  end
  while ready[first] do
    local k = ready[first]
    first = first + 1
    order[#order + 1] = nodes[k]
    for _, other in ipairs(after[k] or {}) do
      waits[other] = waits[other] - 1
      if waits[other] == 0 then ready[#ready + 1] = other end
    end
  end
  if #order < #nodes then
    for k, node in ipairs(nodes) do
      if waits[k] > 0 then
        fail("%s: the node needs its own result (a cycle)",
          graph.label(node, k))
      end
    end
  end
  return order
end

-- ---- nodes ----

-- "node 'Conv_3' (Conv)", or by its number where it has no name.
function graph.label(node, k)
  local name = node.name
  local what = name and name ~= "" and quote(name) or tostring(k)
  return ("node %s (%s)"):format(what, (node.op_type or "?"):sub(1, 80))
end

local Node = {}
Node.__index = Node
-- What a maker cannot do.
function Node:refuse(text, ...)
  text = text:format(...)
  local list = self.context.problems
  local last = list[#list]
  if not last or last.node ~= self.label or last.text ~= text then
    list[#list + 1] = {node = self.label, op = self.op, domain = self.domain,
      text = text}
  end
  return function() error(text, 0) end
end
-- An attribute, or what holds without it.
function Node:get(name, default)
  local value = self.attributes[name]
  if value == nil then return default end
  return value
end

local build_nodes, build_graph

local function version_of(scope, domain)
  return scope.opsets[domain == "ai.onnx" and "" or domain]
end

local function add_constant(scope, name, data, label, is_node)
  local value = new_value(scope.graph, name, "pure", data)
  local t = rows.is_tensor(data) and data
  if t and rows.floats[t.dtype] and t.ndim > 0
    and (not is_node or t:numel() > 1) then
    value.parameter, value.const = true, "parameter"
  elseif t and t.ndim > 0 and t:numel() > 1
    and (t.dtype == "int8" or t.dtype == "uint8") and not is_node then
    value.buffer, value.const = true, "parameter"
  end
  define(scope, name, value, label)
  return value
end

-- The value of a Constant node, in any of its forms.
local function constant_of(attributes)
  local a = attributes
  if a.value then return rows.value(a.value) end
  if a.value_float then return rows.tensor(a.value_float, "float32") end
  if a.value_int then return rows.tensor(a.value_int, "int64") end
  if a.value_floats then return rows.tensor(a.value_floats, "float32") end
  if a.value_ints then return rows.tensor(a.value_ints, "int64") end
  if a.value_string then return rows.strings({a.value_string}, {}) end
  if a.value_strings then return rows.strings(a.value_strings) end
  if a.sparse_value then return graph.dense(a.sparse_value) end
end

-- A sparse tensor as a dense one: indices are a list of positions or of rows.
function graph.dense(s)
  local la = require "lunarray"
  local values, indices = s.values and s.values.tensor,
    s.indices and s.indices.tensor
  local sizes, n = s.dims or {}, 1
  if not values or not indices then fail("a sparse tensor has no values") end
  for _, size in ipairs(sizes) do n = n * size end
  if n > 1 << 40 then fail("a sparse tensor of %d elements", n) end
  if indices.ndim == 2 then
    local weight, w = {}, 1
    for d = #sizes, 1, -1 do weight[d], w = w, w * sizes[d] end
    indices = (indices * la.tensor(weight, {dtype = "int64"})):sum(2)
  end
  local count = values:numel()
  if count > 0 and (indices:amin():item() < 0 or indices:amax():item() >=
    n) then
    fail("a sparse tensor has an index outside of it")
  end
  local flat = la.zeros({n}, {dtype = values.dtype})
  if count > 0 then flat = flat:scatter(1, indices + 1, values) end
  return flat:reshape(sizes)
end

-- A step for a node of an operator.
local function add_step(context, scope, node, label, attributes, kinds, row)
  local g = scope.graph
  local domain = node.domain or ""
  local n = setmetatable({attributes = attributes, op = node.op_type,
    domain = domain, version = version_of(scope, domain) or 1,
    nin = #(node.input or {}), nout = #(node.output or {}), label = label,
    context = context, graphs = {}, outputs = node.output or {}, const = {},
    given = {}},
    Node)
  local step = {label = label, op = node.op_type, row = row, ins = {},
    outs = {}, inner = {}, node = n, attributes = attributes,
    domain = domain == "ai.onnx" and "" or domain}
  local const = not row.random and not row.state and "pure" or nil
  for k, name in ipairs(node.input or {}) do
    if name ~= "" then
      local value = find(scope, name)
      if not value then
        fail("%s: there is no value %s", label, quote(name))
      end
      step.ins[k] = value
      local from = value
      while from.captured do from = from.captured end
      n.const[k], n.given[k] = from.const, true
      if not value.const then const = nil
      elseif const and value.const == "parameter" then const = "parameter" end
    end
  end
  for name, kind in pairs(kinds) do
    if kind == "g" then
      local inner = build_graph(context, attributes[name], scope)
      n.graphs[name] = inner
      step.inner[#step.inner + 1] = inner
    end
  end
  for k, name in ipairs(node.output or {}) do
    if name ~= "" then
      local value = new_value(g, name, const)
      value.computed = true
      define(scope, name, value, label)
      step.outs[k] = value
    end
  end
  n.outs = step.outs
  if not row.own and (step.domain == "" or step.domain == "ai.onnx.ml") then
    known.check(node.op_type, attributes, function(text)
      n:refuse("%s", text)
    end)
  end
  step.nin, step.nout, step.ahead = n.nin, n.nout, const
  local ok, run = pcall(row.make, n)
  if not ok then
    run = n:refuse("%s", tostring(run):gsub("^[^:]+:%d+: ", ""))
  end
  step.run = run
  g.steps[#g.steps + 1] = step
end

-- The nodes of a function instead of one that calls it: a scope of their own,
-- in the same graph.
local function expand(context, scope, node, f, label, attributes, kinds)
  if context.depth >= 64 then
    fail("%s: functions call each other deeper than 64", label)
  end
  context.depth = context.depth + 1
  local opsets = graph.opsets(f.opset_import)
  for domain, version in pairs(scope.opsets) do
    opsets[domain] = opsets[domain] or version
  end
  for _, a in ipairs(f.attribute_proto or {}) do
    if attributes[a.name] == nil then
      attributes[a.name], kinds[a.name] = value_of(a, label)
    end
  end
  local inner = new_scope(scope.graph, nil, attributes, kinds, opsets)
  for k, name in ipairs(f.input or {}) do
    local given = node.input and node.input[k]
    if given and given ~= "" then
      local value = find(scope, given)
      if not value then
        fail("%s: there is no value %s", label, quote(given))
      end
      inner.values[name] = value
    else
      inner.values[name] = new_value(scope.graph, name)
      inner.values[name].absent = true
    end
  end
  inner.outer = scope
  build_nodes(context, inner, f.node or {})
  for k, name in ipairs(node.output or {}) do
    if name ~= "" then
      local value = inner.values[(f.output or {})[k] or ""]
      if not value then
        fail("%s: function has no result %d", label, k)
      end
      scope.values[name] = value
    end
  end
  context.depth = context.depth - 1
end

local function function_key(domain, name, overload)
  return (domain == "ai.onnx" and "" or domain) .. "\0" .. name .. "\0"
    .. (overload or "")
end

local function add_node(context, scope, node, k)
  local label = graph.label(node, k)
  local domain, op = node.domain or "", node.op_type or ""
  context.nodes = context.nodes + 1
  if context.nodes > context.most then
    fail("%s: functions expand to more than %d nodes", label, context.most)
  end
  local key = (domain ~= "" and domain ~= "ai.onnx") and domain .. "." .. op
    or op
  context.counts[key] = (context.counts[key] or 0) + 1
  local attributes, kinds = attributes_of(node, scope, label)
  local f = context.functions[function_key(domain, op, node.overload)]
  if f then return expand(context, scope, node, f, label, attributes, kinds) end
  if op == "Constant" and (domain == "" or domain == "ai.onnx") then
    local data = constant_of(attributes)
    if data == nil then fail("%s: a constant without a value", label) end
    local name = node.output and node.output[1]
    if not name then fail("%s: a constant without a name", label) end
    return add_constant(scope, name, data, label, true)
  end
  local row = rows.find(domain, op)
  if not row then
    row = {make = function(n)
      return n:refuse(domain == "" and "there is no operator %s"
        or "there is no operator %s of %s", op, domain)
    end}
  end
  add_step(context, scope, node, label, attributes, kinds, row)
end

function build_nodes(context, scope, nodes)
  local number = {}
  for k, node in ipairs(nodes) do number[node] = k end
  for _, node in ipairs(in_order(nodes)) do
    add_node(context, scope, node, number[node])
  end
end

-- ---- graphs ----

-- What a value is: {name, dtype, shape}; indices 1 and 2 read name and dtype.
local INFO = {__index = function(t, key)
  return key == 1 and rawget(t, "name") or key == 2 and rawget(t, "dtype")
    or nil
end}

local function type_text(t)
  if not t then return nil end
  local plain = t.tensor_type or t.sparse_tensor_type
  if plain then
    return rows.dtypes[plain.elem_type or 0] or "unknown"
  elseif t.sequence_type then
    return ("sequence(%s)"):format(type_text(t.sequence_type.elem_type) or "?")
  elseif t.optional_type then
    return ("optional(%s)"):format(type_text(t.optional_type.elem_type) or "?")
  elseif t.map_type then
    return ("map(%s, %s)"):format(rows.dtypes[t.map_type.key_type or 0] or "?",
      type_text(t.map_type.value_type) or "?")
  end
end

local function info_of(v)
  local info = {name = v.name or "", dtype = type_text(v.type)}
  local plain = v.type and (v.type.tensor_type or v.type.sparse_tensor_type)
  if plain and plain.shape then
    info.shape = {}
    for d, dim in ipairs(plain.shape.dim or {}) do
      local size = dim.dim_value
      if size and size < 0 then size = "?" end   -- Paddle's word for open
      info.shape[d] = size or dim.dim_param ~= "" and dim.dim_param or "?"
    end
  end
  return setmetatable(info, INFO)
end

function build_graph(context, proto, parent)
  local g = new_graph(context, parent and parent.graph)
  local scope = new_scope(g, parent, parent and parent.attributes or {},
    parent and parent.kinds or {}, parent and parent.opsets or context.opsets)
  local where = "graph " .. quote(proto.name or "")
  for _, t in ipairs(proto.initializer or {}) do
    add_constant(scope, t.name or "", rows.value(t), where)
  end
  for _, s in ipairs(proto.sparse_initializer or {}) do
    add_constant(scope, s.values and s.values.name or "",
      graph.dense(s), where)
  end
  for _, v in ipairs(proto.input or {}) do
    local name = v.name or ""
    local value = scope.values[name]
    if value and value.graph == g and not value.captured then
      value.overridable = true
    else
      value = new_value(g, name)
      value.input = true
      define(scope, name, value, where)
      g.inputs[#g.inputs + 1] = {value = value, info = info_of(v)}
    end
  end
  build_nodes(context, scope, proto.node or {})
  for k, v in ipairs(proto.output or {}) do
    local value = find(scope, v.name or "")
    if not value then
      fail("%s: there is no value %s for its result", where,
        quote(v.name or ""))
    end
    g.outputs[k] = {value = value, info = info_of(v)}
  end
  g.scope = scope.values
  return g
end

-- domain -> version
function graph.opsets(list)
  local out = {}
  for _, o in ipairs(list or {}) do
    local domain = o.domain or ""
    out[domain == "ai.onnx" and "" or domain] = o.version or 1
  end
  return out
end

-- ---- slots ----

-- Numbers for the values of a graph: constants first, whose index in the list
-- of all constants begins behind g.first.
local function number(context, g)
  g.patterns = patterns.of(g)
  g.first = #context.constants
  local n = 0
  local function give(value)
    n = n + 1
    value.slot = n
  end
  for _, value in ipairs(g.values) do
    if value.const then
      give(value)
      context.constants[g.first + n] = value
    end
  end
  g.constants = n
  for _, value in ipairs(g.values) do
    if not value.const then
      if value.absent then value.slot = 0 else give(value) end
    end
  end
  g.slots = n
  for _, step in ipairs(g.steps) do
    for _, inner in ipairs(step.inner) do number(context, inner) end
  end
end

local function count_nodes(proto)
  local n = #(proto.graph and proto.graph.node or {})
  for _, f in ipairs(proto.functions or {}) do n = n + #(f.node or {}) end
  return n
end

-- The main graph of a file, with all that runs it: {graph, constants, problems,
-- counts}. Shared by the copies of a model.
function graph.compile(proto)
  if not proto.graph then fail("the file holds no graph") end
  local context = {functions = {}, problems = {}, counts = {}, constants = {},
    graphs = 0, nodes = 0, depth = 0,
    most = math.max(LEAST, EXPANSION * count_nodes(proto)),
    opsets = graph.opsets(proto.opset_import)}
  context.opsets[""] = context.opsets[""] or 1
  for _, f in ipairs(proto.functions or {}) do
    context.functions[function_key(f.domain or "", f.name or "", f.overload)]
      = f
  end
  local main = build_graph(context, proto.graph)
  number(context, main)
  return setmetatable({graph = main, constants = context.constants,
    problems = context.problems, counts = context.counts,
    opsets = context.opsets, version = rows.version, nodes = context.nodes},
    {__metatable = "lunarray.onnx.plan"})
end

-- ---- plans ----

-- The step that stands for a pattern which ends with this one, if nobody asks
-- for a value inside, and nobody looks at single steps.
local function joined(g, step, need)
  local found = g.patterns[step]
  if not found or g.single then return step end
  for _, value in ipairs(found.inside) do
    if need[value] then return step end
  end
  return found.step
end

-- Marks what is needed for the wanted values, from the end.
local function needed_steps(g, wanted, mode, swaps)
  local need, list = {}, {}
  for _, value in ipairs(wanted) do need[value] = true end
  for k = #g.steps, 1, -1 do
    local step = g.steps[k]
    if not swaps and mode ~= "whole" then step = joined(g, step, need) end
    local use = false
    for i = 1, step.nout do
      if step.outs[i] and need[step.outs[i]] then use = true end
    end
    local computed = step.ahead and (mode == "frozen"
      or mode == "live" and step.ahead == "pure")
    if use and not computed then
      for i = 1, step.nin do
        if step.ins[i] then need[step.ins[i]] = true end
      end
      for _, inner in ipairs(step.inner) do
        for _, value in ipairs(inner.captures) do
          need[value.captured] = true
        end
      end
      list[#list + 1] = step
    end
  end
  for i = 1, #list // 2 do
    list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i]
  end
  return list, need
end

local function slots_of(list, n)
  local out = {}
  for k = 1, n do out[k] = list[k] and list[k].slot or 0 end
  return out
end

-- Values that a step is the last to use, or makes for nobody.
local function add_releases(g, list, wanted)
  local alive = {}
  for _, value in ipairs(wanted) do alive[value] = true end
  for k = #list, 1, -1 do
    local step, free = list[k].step, {}
    local function see(value)
      if value.computed and value.graph == g and not value.const
        and not alive[value] then
        alive[value] = true
        free[#free + 1] = value.slot
      end
    end
    for i = 1, step.nout do if step.outs[i] then see(step.outs[i]) end end
    for i = 1, step.nin do if step.ins[i] then see(step.ins[i]) end end
    for _, inner in ipairs(step.inner) do
      for _, value in ipairs(inner.captures) do see(value.captured) end
    end
    if #free > 0 then list[k].free = free end
  end
end

-- The steps for the wanted values in a mode: "frozen" (all constants are
-- computed), "live" (what follows from parameters is computed), "whole". swaps:
-- functions that steps of the graph run instead of their own.
function graph.plan(g, mode, wanted, swaps)
  local steps, need = needed_steps(g, wanted, mode, swaps)
  local list = {}
  for k, step in ipairs(steps) do
    local keeps = step.row.keeps
    list[k] = {run = swaps and swaps[step] or step.run, step = step,
      nin = step.nin, nout = step.nout,
      ins = slots_of(step.ins, step.nin), outs = slots_of(step.outs, step.nout),
      state = step.row.state, keeps = keeps, lasting = step.row.lasting,
      general = step.nout ~= 1 or keeps or step.row.state}
  end
  add_releases(g, list, wanted)
  local inputs = {}
  for _, input in ipairs(g.inputs) do
    inputs[#inputs + 1] = {name = input.info.name, slot = input.value.slot,
      info = input.info, needed = need[input.value] == true}
  end
  local outputs = {}
  for k, value in ipairs(wanted) do outputs[k] = value.slot end
  local captures = {}
  for k, value in ipairs(g.captures) do
    local from = value
    while from.captured do from = from.captured end
    captures[k] = {value.captured.slot, value.slot, constant =
      from.const == "pure" or mode == "frozen" and from.const ~= nil}
  end
  return {steps = list, inputs = inputs, outputs = outputs,
    captures = captures, first = g.first, constants = g.constants, need = need}
end

return graph
