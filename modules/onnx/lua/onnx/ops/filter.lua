-- lunarray.onnx.ops.filter: convolutions.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

local filter = {}

-- n copies of a value.
function filter.fill(value, n)
  local out = {}
  for k = 1, n do out[k] = value end
  return out
end

-- Padding in front and behind of each spatial dim that auto_pad means.
function filter.same_pads(x, kernel, stride, dilation, lower)
  local before, after = {}, {}
  for k = 1, #kernel do
    local n = x:size(k + 2)
    local out = (n + stride[k] - 1) // stride[k]
    local span = (kernel[k] - 1) * dilation[k] + 1
    local total = math.max((out - 1) * stride[k] + span - n, 0)
    local half = total // 2
    before[k] = lower and total - half or half
    after[k] = total - before[k]
  end
  return before, after
end

-- The pads of a node for an input, as two lists.
function filter.pads_of(node, x, kernel, stride, dilation)
  local auto, n = node:get("auto_pad", "NOTSET"), #kernel
  if auto == "SAME_UPPER" or auto == "SAME_LOWER" then
    return filter.same_pads(x, kernel, stride, dilation, auto == "SAME_LOWER")
  end
  local pads = auto ~= "VALID" and node.attributes.pads or filter.fill(0, 2 * n)
  return table.move(pads, 1, n, 1, {}), table.move(pads, n + 1, 2 * n, 1, {})
end

local function equal_lists(a, b)
  for k = 1, #a do
    if a[k] ~= b[k] then return false end
  end
  return true
end
filter.equal_lists = equal_lists

-- x with 'value' around its spatial dims.
function filter.pad(x, before, after, value)
  local list = {}
  for k = #before, 1, -1 do
    list[#list + 1], list[#list + 2] = before[k], after[k]
  end
  return la.pad(x, list, "constant", value or 0)
end

local CONV = {la.conv1d, la.conv2d, la.conv3d}
local TRANSPOSE = {la.conv_transpose1d, la.conv_transpose2d,
  la.conv_transpose3d}

-- Bytes less their zero points, as int32; 'run' is the convolution of floats,
-- which are exact here, for what has few rows or no kernel of bytes.
local function convolve_bytes(run, x, w, zeros, p)
  local n, group = #p.stride, p.group
  if n > 2 or w:size(1) // group < 4 then
    local deep = w:numel() // math.max(w:size(1), 1)
    local dtype = deep <= 256 and "float32" or "float64"
    local function less(t, zero)
      if not zero then return t:to(dtype) end
      local shape = filter.fill(1, n + 2)
      shape[1] = zero:numel()
      return t:to(dtype) - zero:reshape(shape):to(dtype)
    end
    return run(filter.pad(less(x, zeros[1]), p.before, p.after),
      less(w, zeros[2]), nil, p.stride, filter.fill(0, n), p.dilation,
      group):to("int32")
  end
  local pads = {p.before[1], p.before[2] or 0, p.after[1], p.after[2] or 0}
  local stride, dilation = p.stride, p.dilation
  if n == 1 then
    x, w = x:unsqueeze(4), w:unsqueeze(4)
    stride, dilation = {stride[1], 1}, {dilation[1], 1}
  end
  local y = la.integer_conv2d(x, w, zeros[1], zeros[2], stride, pads, dilation,
    group)
  return n == 1 and y:squeeze(4) or y
end

-- The convolution of a node, any dtype that la.conv has; of bytes with their
-- zero points behind the bias, as int32.
function filter.convolve(node)
  local a, fixed = node.attributes, nil
  local group = node:get("group", 1)
  return function(x, w, b, x_zero, w_zero)
    local n = w.ndim - 2
    local run = CONV[n]
    if not run then error(("a convolution of %d spatial dims"):format(n), 0) end
    local stride = a.strides or filter.fill(1, n)
    local dilation = a.dilations or filter.fill(1, n)
    if x.dtype == "uint8" or x.dtype == "int8" then
      local kernel = {}
      for k = 1, n do kernel[k] = w:size(k + 2) end
      local before, after = filter.pads_of(node, x, kernel, stride, dilation)
      return convolve_bytes(run, x, w, {x_zero, w_zero}, {stride = stride,
        dilation = dilation, before = before, after = after, group = group})
    end
    if not fixed then
      local kernel = {}
      for k = 1, n do kernel[k] = w:size(k + 2) end
      local before, after = filter.pads_of(node, x, kernel, stride, dilation)
      if not equal_lists(before, after) then
        return run(filter.pad(x, before, after), w, b, stride,
          filter.fill(0, n), dilation, group)
      end
      if a.auto_pad and a.auto_pad:find("SAME", 1, true) then
        return run(x, w, b, stride, before, dilation, group)
      end
      fixed = before
    end
    return run(x, w, b, stride, fixed, dilation, group)
  end
end

op.Conv = filter.convolve

-- ---- transposed ----

local function transpose_pads(node, x, kernel, stride, dilation, extra)
  local a, n = node.attributes, #kernel
  local auto = node:get("auto_pad", "NOTSET")
  local want = a.output_shape
  if want and #want > n then
    want = table.move(want, #want - n + 1, #want, 1, {})
  end
  if not want and auto:find("SAME", 1, true) then
    want = {}
    for k = 1, n do want[k] = x:size(k + 2) * stride[k] end
  end
  if not want then
    local pads = auto ~= "VALID" and a.pads or filter.fill(0, 2 * n)
    return table.move(pads, 1, n, 1, {}), table.move(pads, n + 1, 2 * n, 1, {})
  end
  local before, after = {}, {}
  for k = 1, n do
    local total = stride[k] * (x:size(k + 2) - 1) + extra[k]
      + (kernel[k] - 1) * dilation[k] + 1 - want[k]
    local half = total // 2
    before[k] = auto == "SAME_UPPER" and half or total - half
    after[k] = total - before[k]
  end
  return before, after
end

-- Everything is computed, then cut or filled up with zeros at its ends.
local function transpose_whole(run, x, w, b, p)
  local n = #p.kernel
  local y = run(x, w, nil, p.stride, filter.fill(0, n), filter.fill(0, n),
    p.group, p.dilation)
  for k = 1, n do
    local size = y:size(k + 2) + p.extra[k] - p.before[k] - p.after[k]
    local behind = p.before[k] + size - y:size(k + 2)
    local front = math.max(-p.before[k], 0)
    if behind > 0 or front > 0 then
      local pads = filter.fill(0, 2 * (n - k + 1))
      pads[#pads - 1], pads[#pads] = front, math.max(behind, 0)
      y = la.pad(y, pads, "constant", 0)
    end
    y = y:narrow(k + 2, math.max(p.before[k], 0) + 1, size)
  end
  if not b then return y end
  local shape = filter.fill(1, n + 1)
  shape[1] = b:numel()
  return y + b:reshape(shape)
end

function op.ConvTranspose(node)
  local a = node.attributes
  local group = node:get("group", 1)
  return function(x, w, b)
    local n = w.ndim - 2
    local run = TRANSPOSE[n]
    if not run then error(("a convolution of %d spatial dims"):format(n), 0) end
    local p = {group = group, stride = a.strides or filter.fill(1, n),
      dilation = a.dilations or filter.fill(1, n),
      extra = a.output_padding or filter.fill(0, n), kernel = {}}
    for k = 1, n do p.kernel[k] = w:size(k + 2) end
    p.before, p.after = transpose_pads(node, x, p.kernel, p.stride, p.dilation,
      p.extra)
    local plain = equal_lists(p.before, p.after)
    for k = 1, n do
      plain = plain and p.before[k] >= 0
        and p.extra[k] < math.max(p.stride[k], p.dilation[k])
    end
    if not plain then return transpose_whole(run, x, w, b, p) end
    return run(x, w, b, p.stride, p.before, p.extra, group, p.dilation)
  end
end

return filter
