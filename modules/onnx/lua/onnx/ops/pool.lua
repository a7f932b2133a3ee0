-- lunarray.onnx.ops.pool: pooling. What la's pools have not (unequal padding,
-- dilated means, powers) goes by padding first, or by windows.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local filter = require "lunarray.onnx.ops.filter"

local op = rows.domain("")
local fill, sizes = filter.fill, rows.sizes

-- ---- geometry ----

-- The window of a node on an input, with the padding that makes windows fit:
-- after[k] has what ceil_mode adds.
local function geometry(node, x)
  local a = node.attributes
  local p = {kernel = a.kernel_shape, n = #a.kernel_shape}
  p.stride = a.strides or fill(1, p.n)
  p.dilation = a.dilations or fill(1, p.n)
  p.before, p.after = filter.pads_of(node, x, p.kernel, p.stride, p.dilation)
  p.given = table.move(p.after, 1, p.n, 1, {})
  local ceil = node:get("ceil_mode", 0) == 1
  for k = 1, p.n do
    local span = (p.kernel[k] - 1) * p.dilation[k] + 1
    local n = x:size(k + 2)
    local free = n + p.before[k] + p.after[k] - span
    local count = (ceil and -(-free // p.stride[k]) or free // p.stride[k]) + 1
    if ceil and (count - 1) * p.stride[k] >= n + p.before[k] then
      count = count - 1
    end
    if ceil then
      p.after[k] = math.max((count - 1) * p.stride[k] + span - n - p.before[k],
        0)
    end
  end
  p.even = filter.equal_lists(p.before, p.after)
    and filter.equal_lists(p.after, p.given)
  for k = 1, p.n do p.even = p.even and 2 * p.before[k] <= p.kernel[k] end
  return p
end

-- All windows of a padded tensor: (N, C, positions ..., window ...).
local function windows(x, p)
  local n = p.n
  for k = 1, n do
    local span = (p.kernel[k] - 1) * p.dilation[k] + 1
    x = x:unfold(k + 2, span, p.stride[k])
    if p.dilation[k] > 1 then x = x:slice(x.ndim, 1, span, p.dilation[k]) end
  end
  return x
end

local function window_dims(p)
  local out = {}
  for k = 1, p.n do out[k] = p.n + 2 + k end
  return out
end

local MAX = {la.max_pool1d, la.max_pool2d, la.max_pool3d}
local MEAN = {la.avg_pool1d, la.avg_pool2d, la.avg_pool3d}

-- ---- largest elements ----

local function least(dtype)
  if dtype:find("float") then return -math.huge end
  return la.iinfo(dtype).min
end

-- Positions in the padded plane, from one, as positions in the whole tensor
-- from zero; in column order where the node wants it.
local function whole_positions(at, x, p, column)
  local padded, n = {}, p.n
  for k = 1, n do
    padded[k] = x:size(k + 2) + (p.even and 0 or p.before[k] + p.after[k])
  end
  local rest, coordinates = at - 1, {}
  for k = n, 1, -1 do
    coordinates[k] = rest:remainder(padded[k])
      - (p.even and 0 or p.before[k])
    rest = rest:div(padded[k], {rounding_mode = "floor"})
  end
  local plane, flat = 1, nil
  for k = 1, n do plane = plane * x:size(k + 2) end
  if column then
    for k = n, 1, -1 do
      flat = flat and flat * x:size(k + 2) + coordinates[k] or coordinates[k]
    end
  else
    for k = 1, n do
      flat = flat and flat * x:size(k + 2) + coordinates[k] or coordinates[k]
    end
  end
  local channels = x:size(1) * x:size(2)
  local shape = fill(1, n + 2)
  shape[1], shape[2] = x:size(1), x:size(2)
  return flat + (la.range(0, channels - 1):long() * plane):reshape(shape)
end

function op.MaxPool(node)
  local positions, column = node.nout > 1, node:get("storage_order", 0) == 1
  return function(x)
    local p = geometry(node, x)
    local run = MAX[p.n]
    if not run then error(("pooling of %d dims"):format(p.n), 0) end
    local y, before = x, p.before
    if not p.even then
      y = filter.pad(x, p.before, p.after, least(x.dtype))
      before = fill(0, p.n)
    end
    if not positions then
      return (run(y, p.kernel, p.stride, before, p.dilation))
    end
    local values, at = run(y, p.kernel, p.stride, before, p.dilation, false,
      true)
    return values, whole_positions(at, x, p, column)
  end
end

function op.MaxUnpool(node)
  local a = node.attributes
  return function(x, at, shape)
    local n = #a.kernel_shape
    local stride = a.strides or fill(1, n)
    local pads = a.pads or fill(0, 2 * n)
    local size = sizes(x)
    for k = 1, n do
      size[k + 2] = (size[k + 2] - 1) * stride[k] + a.kernel_shape[k] - pads[k]
        - pads[n + k]
    end
    local positions = at:flatten()
    local want = shape and rows.list(shape)
    local plane, target = 1, want or size
    if want then
      -- Positions are those of the inferred sizes.
      local rest, flat, step = positions, nil, 1
      for k = #size, 1, -1 do
        local c = rest:remainder(size[k])
        rest = rest:div(size[k], {rounding_mode = "floor"})
        flat = flat and flat + c * step or c
        step = step * want[k]
      end
      positions = flat
    end
    for k = 1, #target do plane = plane * target[k] end
    local out = la.zeros({plane}, {dtype = x.dtype})
    return out:scatter(1, positions + 1, x:flatten()):reshape(target)
  end
end

-- ---- means and powers ----

-- Sums over windows of x with zeros around.
local function window_sums(x, p)
  local y = filter.pad(x, p.before, p.after)
  return windows(y, p):sum(window_dims(p), false)
end

-- How many elements count in each window.
local function counts(x, p, with_pads)
  local size = sizes(x)
  size[1], size[2] = 1, 1
  local ones = la.ones(size, {dtype = x.dtype})
  local q = setmetatable({}, {__index = p})
  if with_pads then
    ones = filter.pad(ones, p.before, p.given, 1)
    q.before, q.after = fill(0, p.n), {}
    for k = 1, p.n do q.after[k] = math.max(p.after[k] - p.given[k], 0) end
  end
  return window_sums(ones, q)
end

function op.AveragePool(node)
  local with_pads = node:get("count_include_pad", 0) == 1
  return function(x)
    local p = geometry(node, x)
    local plain = p.even and MEAN[p.n]
    for k = 1, p.n do plain = p.dilation[k] == 1 and plain end
    if plain then
      return plain(x, p.kernel, p.stride, p.before, false, with_pads)
    end
    return window_sums(x, p) / counts(x, p, with_pads)
  end
end

function op.LpPool(node)
  local power = node:get("p", 2)
  return function(x)
    local p = geometry(node, x)
    if power == 1 then return window_sums(x:abs(), p) end
    if power == 2 then return window_sums(x * x, p):sqrt() end
    return window_sums(x:abs():pow(power), p):pow(1 / power)
  end
end

-- ---- whole planes ----

local function spatial(x)
  local out = {}
  for k = 3, x.ndim do out[k - 2] = k end
  return out
end

function op.GlobalAveragePool()
  return function(x) return x:mean(spatial(x), true) end
end

function op.GlobalMaxPool()
  return function(x) return x:amax(spatial(x), true) end
end

function op.GlobalLpPool(node)
  local p = node:get("p", 2)
  return function(x)
    if p == 2 then return (x * x):sum(spatial(x), true):sqrt() end
    return x:abs():pow(p):sum(spatial(x), true):pow(1 / p)
  end
end

-- The sum of squares over neighbouring channels, of which an even number has
-- one more behind.
function op.LRN(node)
  local size, alpha = node:get("size"), node:get("alpha", 1e-4)
  local beta, bias = node:get("beta", 0.75), node:get("bias", 1.0)
  return function(x)
    local before = (size - 1) // 2
    local pads = fill(0, 2 * (x.ndim - 1))
    pads[#pads - 1], pads[#pads] = before, size - 1 - before
    local squares = la.pad(x * x, pads, "constant", 0):unfold(2, size, 1)
      :sum({x.ndim + 1}, false)
    return x / (squares * (alpha / size) + bias):pow(beta)
  end
end
