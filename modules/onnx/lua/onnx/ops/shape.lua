-- lunarray.onnx.ops.shape: shapes, views, joins.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local sizes, list_of = rows.sizes, rows.list
local is_strings = rows.is_strings

-- A function of a tensor's positions for a list of strings: it runs on their
-- indices, and the strings follow.
local function on_strings(x, run)
  local shape = rows.string_shape(x)
  local positions = la.range(#x):reshape(shape)
  local out = run(positions)
  local list = {}
  for k, position in ipairs(out:flatten():totable()) do
    list[k] = x[position]
  end
  return rows.strings(list, sizes(out))
end
rows.on_strings = on_strings

-- A row whose first input may be strings.
local function moving(make)
  return function(node)
    local run = make(node)
    return function(x, ...)
      if not is_strings(x) then return run(x, ...) end
      local rest = table.pack(...)
      return on_strings(x, function(positions)
        return run(positions, table.unpack(rest, 1, rest.n))
      end)
    end
  end
end
rows.moving = moving

-- ---- questions ----

function op.Shape(node)
  local first, last = node:get("start", 0), node:get("end", nil)
  return function(x)
    local s = is_strings(x) and rows.string_shape(x) or sizes(x)
    local n = #s
    local from = first < 0 and math.max(first + n, 0) or math.min(first, n)
    local to = last or n
    to = to < 0 and math.max(to + n, 0) or math.min(to, n)
    local out = {}
    for k = from + 1, to do out[#out + 1] = s[k] end
    return rows.tensor(out, "int64")
  end
end

function op.Size()
  return function(x)
    return rows.tensor(is_strings(x) and #x or x:numel(), "int64")
  end
end

-- ---- sizes ----

-- 0 keeps a size, unless zeros are meant.
local function reshaped(x, shape, zeros)
  local s, out = nil, {}
  for k, size in ipairs(shape) do
    if size == 0 and not zeros then
      s = s or sizes(x)
      size = s[k]
      if not size then
        error(("Reshape: size %d of shape (%s) keeps a dim that a tensor of %d "
          .. "dims has not"):format(k, table.concat(shape, ", "), x.ndim), 0)
      end
    end
    out[k] = size
  end
  return x:reshape(out)
end

op.Reshape = moving(function(node)
  local zeros = node:get("allowzero", 0) == 1
  local fixed = node.attributes.shape
  return function(x, shape)
    return reshaped(x, fixed or list_of(shape), zeros)
  end
end)

op.Flatten = moving(function(node)
  local axis = node:get("axis", 1)
  return function(x)
    local a = axis < 0 and axis + x.ndim or axis
    local s = sizes(x)
    return x:reshape(rows.product(s, 1, a), rows.product(s, a + 1))
  end
end)

op.Squeeze = moving(function(node)
  local fixed = node.attributes.axes
  return function(x, axes)
    local list = fixed or axes and list_of(axes)
    if not list then return x:squeeze() end
    local d = rows.dims(list)
    for _, dim in ipairs(d) do
      if x:size(dim) ~= 1 then
        error(("dim %d of a tensor of %s has not size 1"):format(dim,
          tostring(x.shape)), 0)
      end
    end
    return x:squeeze(d)
  end
end)

op.Unsqueeze = moving(function(node)
  local fixed = node.attributes.axes
  return function(x, axes)
    local list = fixed or list_of(axes)
    local s, n, new = sizes(x), x.ndim + #list, {}
    for _, axis in ipairs(list) do
      new[(axis < 0 and axis + n or axis) + 1] = true
    end
    local out, from = {}, 0
    for k = 1, n do
      if new[k] then out[k] = 1 else
        from = from + 1
        out[k] = s[from]
      end
    end
    return x:reshape(out)
  end
end)

op.Expand = moving(function()
  return function(x, shape)
    local want, s = list_of(shape), sizes(x)
    local out, n = {}, math.max(#want, #s)
    for k = 0, n - 1 do
      local a, b = s[#s - k] or 1, want[#want - k] or 1
      if a ~= b and a ~= 1 and b ~= 1 then
        error(("a tensor of %s does not expand to (%s)"):format(
          tostring(x.shape), table.concat(want, ", ")), 0)
      end
      out[n - k] = a == 1 and b or a
    end
    return x:expand(out)
  end
end)

op.Tile = moving(function(node)
  return function(x, repeats, axis)
    if node.version < 6 and axis then
      local list = {}
      for k = 1, x.ndim do list[k] = 1 end
      list[rows.number(axis) + 1] = rows.number(repeats)
      return x["repeat"](x, list)
    end
    local list = list_of(repeats)
    if #list == 0 then return x:clone() end
    return la.tile(x, list)
  end
end)

op.Transpose = moving(function(node)
  local perm = node.attributes.perm and rows.dims(node.attributes.perm)
  return function(x)
    local order = perm
    if not order then
      order = {}
      for k = 1, x.ndim do order[k] = x.ndim + 1 - k end
    end
    if #order == 0 then return x:clone() end
    return x:permute(order)
  end
end)

function op.DepthToSpace(node)
  local b, mode = node:get("blocksize"), node:get("mode", "DCR")
  return function(x)
    local n, c, h, w = table.unpack(sizes(x))
    local q = c // (b * b)
    if mode == "CRD" then
      x = x:reshape(n, q, b, b, h, w):permute(1, 2, 5, 3, 6, 4)
    else
      x = x:reshape(n, b, b, q, h, w):permute(1, 4, 5, 2, 6, 3)
    end
    return x:reshape(n, q, h * b, w * b)
  end
end

function op.SpaceToDepth(node)
  local b, mode = node:get("blocksize"), node:get("mode", "DCR")
  return function(x)
    local n, c, h, w = table.unpack(sizes(x))
    x = x:reshape(n, c, h // b, b, w // b, b)
    x = mode == "CRD" and x:permute(1, 2, 4, 6, 3, 5)
      or x:permute(1, 4, 6, 2, 3, 5)
    return x:reshape(n, c * b * b, h // b, w // b)
  end
end

-- ---- joining and cutting ----

local function cat_strings(given, axis)
  local all, shifted, base = {}, {}, 0
  for k, x in ipairs(given) do
    for i, text in ipairs(x) do all[base + i] = text end
    shifted[k] = la.range(#x):reshape(rows.string_shape(x)) + base
    base = base + #x
  end
  local positions = la.cat(shifted, rows.dim(axis))
  local out = {}
  for k, position in ipairs(positions:flatten():totable()) do
    out[k] = all[position]
  end
  return rows.strings(out, sizes(positions))
end

function op.Concat(node)
  local axis = node:get("axis", 1)
  local dim = rows.dim(axis)
  return function(...)
    local given = {...}
    if is_strings(given[1]) then return cat_strings(given, axis) end
    local first = given[1]
    local empty = false
    for _, x in ipairs(given) do empty = empty or x:numel() == 0 end
    if empty and first.ndim > 1 then
      return la.cat(given, dim)
    end
    return la.cat(given, dim)
  end
end

function op.Split(node)
  local dim = rows.dim(node:get("axis", 0))
  local fixed, count = node.attributes.split, node.attributes.num_outputs
  return function(x, split)
    local list = fixed or split and list_of(split)
    if not list then
      local n, total = count or node.nout, x:size(dim)
      rows.check_count(n)
      local size = (total + n - 1) // n
      list = {}
      for k = 1, n do
        list[k] = math.max(math.min(size, total - size * (k - 1)), 0)
      end
    end
    return table.unpack(x:split(list, dim))
  end
end

-- ---- new tensors ----

function op.ConstantOfShape(node)
  local value = node.attributes.value
  value = value and value.tensor or la.zeros(1)
  local dtype = value.dtype
  return function(shape)
    return la.full(list_of(shape), value:flatten()[1]:item(), {dtype = dtype})
  end
end

-- Python's range: the end is not in it.
function op.Range()
  return function(start, limit, delta)
    local dtype = start.dtype
    local a, b, step = rows.number(start), rows.number(limit),
      rows.number(delta)
    if step == 0 then error("Range: a step of 0", 0) end
    local n = math.ceil((b - a) / step)
    if n ~= n or n > 1 << 40 then error("Range: too many elements", 0) end
    n = math.max(n, 0)
    if n == 0 then return la.zeros({0}, {dtype = dtype}) end
    local wide = math.type(a) == "float" and "float64" or "int64"
    local list = la.range(0, n - 1, 1, {dtype = wide}) * step + a
    return list:to(dtype)
  end
end

function op.EyeLike(node)
  local k = node:get("k", 0)
  local dtype = rows.dtypes[node:get("dtype", 0)]
  return function(x)
    return la.eye(x:size(1), x:size(2), k, {dtype = dtype or x.dtype})
  end
end

function op.Trilu(node)
  local upper = node:get("upper", 1) ~= 0
  return function(x, k)
    local shift = k and rows.number(k) or 0
    local far = x:size(-1) + x:size(-2)
    shift = math.max(math.min(shift, far), -far)
    return upper and x:triu(shift) or x:tril(shift)
  end
end

-- ---- padding ----

local MODES = {constant = "constant", reflect = "reflect", edge = "replicate",
  wrap = "circular"}

-- Padding of each dim by indices, for what la.pad has not: several dims of any
-- dtype at once.
local function pad_dim(x, dim, before, after, mode)
  local n = x:size(dim)
  local at = la.range(-before, n + after - 1):long()
  if mode == "edge" then
    at = at:clamp(0, n - 1)
  elseif mode == "wrap" then
    at = at:remainder(n)
  else
    local period = math.max(2 * (n - 1), 1)
    at = at:remainder(period)
    at = la.where(at:ge(n), period - at, at)
  end
  return x:index_select(dim, at + 1)
end

local function crop(x, pads, n)
  for k = 1, x.ndim do
    local before, after = pads[k], pads[n + k]
    local cut_before, cut_after = math.max(-before, 0), math.max(-after, 0)
    if cut_before + cut_after > 0 then
      x = x:narrow(k, 1 + cut_before,
        math.max(x:size(k) - cut_before - cut_after, 0))
    end
    pads[k], pads[n + k] = math.max(before, 0), math.max(after, 0)
  end
  return x
end

local function padded(x, pads, mode, value)
  local n = x.ndim
  local all = table.move(pads, 1, 2 * n, 1, {})
  x = crop(x, all, n)
  if mode ~= "constant" then
    for k = 1, n do
      if all[k] > 0 or all[n + k] > 0 then
        x = pad_dim(x, k, all[k], all[n + k], mode)
      end
    end
    return x
  end
  local list = {}
  for k = n, 1, -1 do
    list[#list + 1], list[#list + 2] = all[k], all[n + k]
  end
  return la.constant_pad_nd and la.constant_pad_nd(x, list, value)
    or la.pad(x, list, "constant", value)
end
rows.padded = padded

function op.Pad(node)
  local mode = node:get("mode", "constant")
  if not MODES[mode] then return node:refuse("mode '%s'", mode) end
  local fixed = node.attributes.pads or node.attributes.paddings
  local number = node:get("value", 0.0)
  return function(x, pads, value, axes)
    local list = fixed or list_of(pads)
    local v = value and rows.number(value) or fixed and number or 0
    if axes then
      local chosen = list_of(axes)
      local full = {}
      for k = 1, 2 * x.ndim do full[k] = 0 end
      for k, axis in ipairs(chosen) do
        if axis < 0 then axis = axis + x.ndim end
        full[axis + 1] = list[k]
        full[x.ndim + axis + 1] = list[#chosen + k]
      end
      list = full
    end
    if x.dtype == "bool" then
      return padded(x:to("uint8"), list, mode, v and v ~= 0 and 1
        or 0):to("bool")
    end
    if not x:is_floating_point() and math.type(v) == "float" then
      v = v // 1 | 0
    end
    return padded(x, list, mode, v)
  end
end
