-- lunarray.onnx.ops.control: branches, loops, sequences, optional values. A
-- sequence is a list, an optional value that is absent is nil.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local run = require "lunarray.onnx.run"
local parts = require "lunarray.onnx.parts"

local op = rows.domain("")

-- A row that gets the run's state and the frame of the graph around.
-- alone: no program has it as a step (lunarray.onnx.parts).
local function control(make, alone)
  return {make = make, state = true, keeps = true, alone = alone}
end

local function truth(t)
  local v = rows.number(t)
  return v == true or v ~= false and v ~= 0
end

-- read(x); nil where a program is recorded whose inputs decide it. The parts of
-- a model (lunarray.onnx.parts) are cut there instead.
local function decided(state, read, x)
  if state.inside or not la._recording() then return read(x) end
  local ok, value = pcall(read, x)
  if not ok and not parts.is_dynamic(value) then error(value, 0) end
  if ok then return value end
end

local function flag(t)
  return (t.dtype == "bool" and t or t:ne(0)):reshape({})
end

op.If = control(function(node)
  local yes, no = node.graphs.then_branch, node.graphs.else_branch
  if not yes or not no then return node:refuse("If without both branches") end
  return function(state, v, condition)
    local holds = decided(state, truth, condition)
    if holds == nil then
      -- A branch of a program gives tensors of its own.
      local function branch(g)
        return function()
          local out, n = run.inner(state, v, g, {})
          for k = 1, n do out[k] = out[k]:clone() end
          return table.unpack(out, 1, n)
        end
      end
      return la.cond(flag(condition), branch(yes), branch(no))
    end
    local out, n = run.inner(state, v, holds and yes or no, {})
    return table.unpack(out, 1, n)
  end
end)

-- The rest of a loop without stacked results, by la.while_loop: k passes are
-- over, and 'go' is the condition.
local function loop_by_program(state, v, body, k, most, go, carried)
  most = most and most:reshape({})
  return table.unpack({la.while_loop(function(i, on)
    return most and on:logical_and(i:lt(most)) or on
  end, function(i, _, ...)
    local out = run.inner(state, v, body, {i, rows.tensor(true, "bool"), ...})
    return i + 1, flag(out[1]), table.unpack(out, 2, #body.outputs)
  end, rows.tensor(k, "int64"), go and flag(go) or rows.tensor(true, "bool"),
    table.unpack(carried))}, 3)
end

-- An empty tensor for scan results of a loop that never ran.
local function nothing(g, k)
  local info = g.outputs[k].info
  local shape = {0}
  for d, size in ipairs(info.shape or {}) do
    shape[d + 1] = type(size) == "number" and size or 0
  end
  return la.zeros(shape, {dtype = rows.unpacked[info.dtype] or info.dtype
    or "float32"})
end

local function stacked(list, dim)
  if #list == 0 then return nil end
  return la.stack(list, dim or 1)
end

op.Loop = control(function(node)
  local body = node.graphs.body
  if not body then return node:refuse("Loop without a body") end
  return function(state, v, most, condition, ...)
    local carried = {...}
    local n = node.nin - 2
    local scans = #body.outputs - 1 - n
    local lists = {}
    for k = 1, scans do lists[k] = {} end
    local k, limit, go = 0, math.maxinteger, true
    if most then limit = decided(state, rows.number, most) end
    if condition then go = decided(state, truth, condition) end
    if scans == 0 and (limit == nil or go == nil) then
      return loop_by_program(state, v, body, 0, most, condition, carried)
    end
    if limit == nil then limit = rows.number(most) end
    if go == nil then go = truth(condition) end
    while go and k < limit do
      local given = {rows.tensor(k, "int64"), rows.tensor(true, "bool")}
      for i = 1, n do given[2 + i] = carried[i] end
      local out = run.inner(state, v, body, given)
      for i = 1, n do carried[i] = out[1 + i] end
      for i = 1, scans do lists[i][k + 1] = out[1 + n + i] end
      k = k + 1
      go = decided(state, truth, out[1])
      if go == nil and scans == 0 then
        return loop_by_program(state, v, body, k, most, out[1], carried)
      end
      if go == nil then go = truth(out[1]) end
    end
    local results = {}
    for i = 1, n do results[i] = carried[i] end
    for i = 1, scans do
      results[n + i] = stacked(lists[i]) or nothing(body, 1 + n + i)
    end
    return table.unpack(results, 1, n + scans)
  end
end, true)

-- Along the scanned dims of the inputs, in the given directions.
local function scan_over(state, v, body, states, inputs, attributes)
  local n, m = #states, #inputs
  local count = #body.outputs - n
  local in_axes = attributes.scan_input_axes or {}
  local out_axes = attributes.scan_output_axes or {}
  local in_back = attributes.scan_input_directions or attributes.directions
    or {}
  local out_back = attributes.scan_output_directions or {}
  local dims, length = {}, 0
  for k = 1, m do
    dims[k] = rows.dim(in_axes[k] or 0)
    length = inputs[k]:size(dims[k])
  end
  local lists = {}
  for k = 1, count do lists[k] = {} end
  for t = 1, length do
    local given = {table.unpack(states, 1, n)}
    for k = 1, m do
      local at = in_back[k] == 1 and length + 1 - t or t
      given[n + k] = inputs[k]:select(dims[k], at)
    end
    local out = run.inner(state, v, body, given)
    for k = 1, n do states[k] = out[k] end
    for k = 1, count do
      local at = out_back[k] == 1 and length + 1 - t or t
      lists[k][at] = out[n + k]
    end
  end
  local results = {table.unpack(states, 1, n)}
  for k = 1, count do
    local axis = out_axes[k] or 0
    results[n + k] = stacked(lists[k], rows.dim(axis))
      or nothing(body, n + k)
  end
  return results, n + count
end

-- Version 8 has a batch in front, and lengths as first input.
local function scan_batch(state, v, body, given, attributes, m)
  local lengths = given[1] and rows.list(given[1])
  local n = #body.inputs - m
  local batch = given[2]:size(1)
  local all, total = {}, 0
  for b = 1, batch do
    local states, inputs = {}, {}
    for k = 1, n do states[k] = given[1 + k]:select(1, b) end
    for k = 1, m do
      local x = given[1 + n + k]:select(1, b)
      inputs[k] = lengths and x:narrow(1, 1, lengths[b]) or x
    end
    all[b], total = scan_over(state, v, body, states, inputs, attributes)
  end
  local results = {}
  for k = 1, total do
    local list = {}
    for b = 1, batch do list[b] = all[b][k] end
    results[k] = la.stack(list, 1)
  end
  return table.unpack(results, 1, total)
end

op.Scan = control(function(node)
  local body, m = node.graphs.body, node:get("num_scan_inputs")
  if not body or not m then return node:refuse("Scan without a body") end
  return function(state, v, ...)
    local given = table.pack(...)
    if node.version < 9 then
      return scan_batch(state, v, body, given, node.attributes, m)
    end
    local n = node.nin - m
    local results, count = scan_over(state, v, body, {table.unpack(given, 1,
      n)},
      {table.unpack(given, n + 1, node.nin)}, node.attributes)
    return table.unpack(results, 1, count)
  end
end, true)

-- ---- sequences ----

local function keeping(make) return {make = make, keeps = true} end

local function at_of(list, position, extra)
  local at = rows.number(position)
  if at < 0 then at = at + #list end
  if at < 0 or at >= #list + (extra or 0) then
    error(("position %d of a sequence of %d"):format(rows.number(position),
      #list), 0)
  end
  return at + 1
end

op.SequenceConstruct = keeping(function()
  return function(...) return {...} end
end)
op.SequenceEmpty = keeping(function() return function() return {} end end)

op.SequenceInsert = keeping(function()
  return function(list, x, position)
    local out = table.move(list, 1, #list, 1, {})
    table.insert(out, position and at_of(list, position, 1) or #out + 1, x)
    return out
  end
end)

op.SequenceErase = keeping(function()
  return function(list, position)
    local out = table.move(list, 1, #list, 1, {})
    table.remove(out, position and at_of(list, position) or #out)
    return out
  end
end)

op.SequenceAt = {keeps = true, lasting = true, make = function()
  return function(list, position) return list[at_of(list, position)] end
end}

op.SequenceLength = keeping(function()
  return function(list) return rows.tensor(#list, "int64") end
end)

op.SplitToSequence = keeping(function(node)
  local dim = rows.dim(node:get("axis", 0))
  local keep = node:get("keepdims", 1) ~= 0
  return function(x, split)
    if not split then
      local list = x:split(1, dim)
      if not keep then
        for k, part in ipairs(list) do list[k] = part:squeeze{dim} end
      end
      return list
    end
    if split.ndim == 0 then return x:split(rows.number(split), dim) end
    return x:split(rows.list(split), dim)
  end
end)

op.ConcatFromSequence = keeping(function(node)
  local axis, new = node:get("axis"), node:get("new_axis", 0) == 1
  return function(list)
    if new then return la.stack(list, rows.dim(axis)) end
    return la.cat(list, rows.dim(axis))
  end
end)

op.SequenceMap = control(function(node)
  local body = node.graphs.body
  return function(state, v, list, ...)
    local more, results = table.pack(...), {}
    for k = 1, #body.outputs do results[k] = {} end
    for i = 1, #list do
      local given = {list[i]}
      for k = 1, node.nin - 1 do
        local x = more[k]
        given[1 + k] = type(x) == "table" and x[i] or x
      end
      local out = run.inner(state, v, body, given)
      for k = 1, #body.outputs do results[k][i] = out[k] end
    end
    return table.unpack(results, 1, #body.outputs)
  end
end, true)

-- ---- optional values ----

op.Optional = keeping(function() return function(x) return x end end)
op.OptionalHasElement = keeping(function()
  return function(x) return rows.tensor(x ~= nil, "bool") end
end)
op.OptionalGetElement = keeping(function()
  return function(x)
    if x == nil then error("the optional value is absent", 0) end
    return x
  end
end)
