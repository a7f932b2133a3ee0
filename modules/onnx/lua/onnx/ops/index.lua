-- lunarray.onnx.ops.index: slices, gathers, scatters. Indices in files begin
-- with zero and may count from the end; here they begin with one.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local sizes, list_of, moving = rows.sizes, rows.list, rows.moving

-- From zero to one; negative ones count from the end either way.
local function positions(index)
  if index.dtype ~= "int64" then index = index:to("int64") end
  return index + index:ge(0):to("int64")
end
rows.positions = positions

-- ---- slices ----

local function clamp(v, low, high)
  return v < low and low or v > high and high or v
end

local function slice_dim(x, dim, first, last, step)
  local n = x:size(dim)
  if first < 0 then first = first + n end
  if last < 0 then last = last < -n and -n - 1 or last + n end
  if step > 0 then
    first, last = clamp(first, 0, n), clamp(last, 0, n)
    local count = math.max((last - first + step - 1) // step, 0)
    if count == n and step == 1 then return x end
    if count == 0 then return x:narrow(dim, 1, 0) end
    if step == 1 then return x:narrow(dim, first + 1, count) end
    return x:slice(dim, first + 1, last, step)
  end
  first = clamp(first, -1, n - 1)
  last = last < 0 and -1 or clamp(last, -1, n - 1)
  local count = math.max((first - last - step - 1) // -step, 0)
  if count == 0 then return x:narrow(dim, 1, 0) end
  x = x:narrow(dim, last + 2, first - last):flip(dim)
  return step == -1 and x or x:slice(dim, 1, x:size(dim), -step)
end

op.Slice = moving(function(node)
  local fixed = node.attributes
  return function(x, starts, ends, axes, steps)
    local first, last = fixed.starts or list_of(starts),
      fixed.ends or list_of(ends)
    local which = fixed.axes or axes and list_of(axes)
    local by = steps and list_of(steps)
    local y = x
    for k, start in ipairs(first) do
      local axis = which and which[k] or k - 1
      if axis < 0 then axis = axis + x.ndim end
      local stop = last[k]
      local step = by and by[k] or 1
      if step == 0 then error("Slice: a step of 0", 0) end
      -- The least integer ends before the first element, whatever the size.
      y = slice_dim(y, axis + 1, start, stop, step)
    end
    return y
  end
end)

-- ---- gathers ----

op.Gather = moving(function(node)
  local dim = rows.dim(node:get("axis", 0))
  return function(x, index)
    local d = dim < 0 and x.ndim + dim + 1 or dim
    if index.ndim == 0 then
      local at = rows.number(index)
      return x:select(d, at >= 0 and at + 1 or at)
    end
    local at = positions(index)
    if index.ndim == 1 then return x:index_select(d, at) end
    local s, shape = sizes(x), {}
    for k = 1, d - 1 do shape[k] = s[k] end
    for _, size in ipairs(sizes(index)) do shape[#shape + 1] = size end
    for k = d + 1, #s do shape[#shape + 1] = s[k] end
    return x:index_select(d, at:flatten()):reshape(shape)
  end
end)

op.GatherElements = moving(function(node)
  local dim = rows.dim(node:get("axis", 0))
  return function(x, index) return x:gather(dim, positions(index)) end
end)

-- The positions that the last dim of 'index' names in the dims behind 'batch',
-- as one number each in the flattened tensor.
local function flat_positions(x, index, batch)
  local s, n = sizes(x), index:size(-1)
  local at = positions(index):reshape(-1, n)
  local rest = rows.product(s, batch + n + 1)
  local flat
  for k = 1, n do
    local size = s[batch + k]
    local column = at:select(2, k)
    if column:numel() > 0 and (column:amax():item() > size
      or column:amin():item() < -size) then
      error(("an index is out of range: dim %d of %s has %d elements")
        :format(batch + k, tostring(x.shape), size), 0)
    end
    column = la.where(column:lt(0), column + size, column - 1)
    flat = flat and flat * size + column or column
  end
  return flat, rest, rows.product(s, batch + 1, batch + n)
end

op.GatherND = moving(function(node)
  local batch = node:get("batch_dims", 0)
  return function(x, index)
    local s, t = sizes(x), sizes(index)
    local flat, rest, inner = flat_positions(x, index, batch)
    local count = rows.product(s, 1, batch)
    if batch > 0 then
      local per = flat:numel() // math.max(count, 1)
      local base = la.range(0, count - 1):long() * inner
      flat = (flat:reshape(count, per) + base:unsqueeze(2)):flatten()
    end
    local out = x:reshape(count * inner, rest):index_select(1, flat + 1)
    local shape = table.move(t, 1, #t - 1, 1, {})
    for k = batch + t[#t] + 1, #s do shape[#shape + 1] = s[k] end
    return out:reshape(shape)
  end
end)

-- ---- scatters ----

local REDUCE = {add = "sum", mul = "prod", max = "amax", min = "amin"}

-- How updates join what is there, nil: they replace it; and the node's refusal
-- of what is not known.
local function reduction_of(node)
  local reduction = node:get("reduction", "none")
  local how = REDUCE[reduction]
  if how or reduction == "none" then return how end
  return nil, node:refuse("reduction '%s'", reduction)
end

local function scatter_elements(node)
  local dim = rows.dim(node:get("axis", 0))
  local how, refusal = reduction_of(node)
  if refusal then return refusal end
  return function(x, index, updates)
    local at = positions(index)
    if not how then return x:scatter(dim, at, updates) end
    return x:scatter_reduce(dim, at, updates, how)
  end
end
op.ScatterElements = scatter_elements
op.Scatter = scatter_elements

function op.ScatterND(node)
  local how, refusal = reduction_of(node)
  if refusal then return refusal end
  return function(x, index, updates)
    if index:numel() == 0 then return x:clone() end
    local flat, rest, inner = flat_positions(x, index, 0)
    local y = x:reshape(inner, rest)
    local u = updates:reshape(flat:numel(), rest)
    local at = (flat + 1):unsqueeze(2):expand(flat:numel(), rest)
    y = how and y:scatter_reduce(1, at, u, how) or y:scatter(1, at, u)
    return y:reshape(sizes(x))
  end
end

function op.TensorScatter(node)
  local axis = node:get("axis", -2)
  local circular = node:get("mode", "linear") == "circular"
  return function(past, update, from)
    local dim = axis < 0 and past.ndim + axis + 1 or axis + 1
    local out = past:clone()
    local n, most = update:size(dim), past:size(dim)
    local starts = from and list_of(from)
    for b = 1, past:size(1) do
      for k = 0, n - 1 do
        local at = (starts and starts[b] or 0) + k
        if circular then at = at % most end
        if at >= most then
          error("TensorScatter: an index is out of range", 0)
        end
        out:select(1, b):select(dim - 1, at + 1)
          :copy_(update:select(1, b):select(dim - 1, k + 1))
      end
    end
    return out
  end
end

-- ---- what depends on values ----

op.Compress = moving(function(node)
  local axis = node.attributes.axis
  return function(x, condition)
    local at = condition:nonzero():flatten()
    if not axis then return x:flatten():index_select(1, at) end
    return x:index_select(rows.dim(axis), at)
  end
end)

function op.NonZero()
  return function(x)
    if x.ndim == 0 then
      return (x:reshape(1):nonzero():t() - 1)
    end
    return x:nonzero():t() - 1
  end
end

-- Rows of indices with a depth; on for those, off elsewhere.
function op.OneHot(node)
  local axis = node:get("axis", -1)
  return function(index, depth, values)
    local n = rows.number(depth)
    n = math.type(n) == "float" and n // 1 | 0 or n
    local dim = axis < 0 and index.ndim + axis + 2 or axis + 1
    local at = index:to("int64")
    at = la.where(at:lt(0), at + n, at):unsqueeze(dim)
    local shape = {}
    for k = 1, index.ndim + 1 do shape[k] = 1 end
    shape[dim] = n
    local hit = at:eq(la.range(0, n - 1):long():reshape(shape))
    return la.where(hit, values[2], values[1])
  end
end

function op.ReverseSequence(node)
  local time = rows.dim(node:get("time_axis", 0))
  local batch = rows.dim(node:get("batch_axis", 1))
  return function(x, lengths)
    local out = x:clone()
    for b, n in ipairs(list_of(lengths)) do
      local row = out:select(batch, b)
      local dim = time > batch and time - 1 or time
      local source = x:select(batch, b)
      row:narrow(dim, 1, n):copy_(source:narrow(dim, 1, n):flip(dim))
    end
    return out
  end
end

-- The values in order (or as they come first), where each is first, which one
-- each element is, how often each is there.
local function order_rows(x, dim)
  local moved = x:transpose(1, dim)
  local flat = moved:reshape(moved:size(1), -1):totable()
  return moved, flat
end

local function less(a, b)
  for k = 1, #a do
    if a[k] ~= b[k] then return a[k] < b[k] end
  end
  return false
end

local function row_key(row)
  return table.concat(row, "\0")
end

function op.Unique(node)
  local axis = node.attributes.axis
  local sorted = node:get("sorted", 1) ~= 0
  return function(x)
    local dim = axis and (axis < 0 and x.ndim + axis + 1 or axis + 1) or 1
    local source = axis and x or x:flatten()
    local moved, flat = order_rows(source, dim)
    local seen, groups = {}, {}
    for k, row in ipairs(flat) do
      local key = row_key(row)
      local g = seen[key]
      if not g then
        g = {row = row, first = k, count = 0, members = {}}
        seen[key] = g
        groups[#groups + 1] = g
      end
      g.count = g.count + 1
      g.members[#g.members + 1] = k
    end
    if sorted then
      table.sort(groups, function(a, b) return less(a.row, b.row) end)
    end
    local first, count, inverse = {}, {}, {}
    for k, g in ipairs(groups) do
      first[k], count[k] = g.first, g.count
      for _, member in ipairs(g.members) do inverse[member] = k - 1 end
    end
    local at = rows.tensor(first, "int64")
    local values = moved:index_select(1, at):transpose(1, dim)
    return values, at - 1, rows.tensor(inverse, "int64"),
      rows.tensor(count, "int64")
  end
end
