-- lunarray.onnx.ops.signal: transforms, windows, images from columns, grids.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local sizes = rows.sizes

-- ---- transforms: the last dim has one part or two ----

local function as_complex(x)
  if x:size(x.ndim) == 1 then return x:squeeze{x.ndim}, true end
  return la.view_as_complex(x:contiguous()), false
end

local function transform(x, n, dim, inverse, onesided)
  local signal = as_complex(x)
  if inverse and onesided then
    return la.fft.irfft(signal, n or 2 * (x:size(dim) - 1), dim)
      :unsqueeze(x.ndim)
  end
  local y
  if inverse then y = la.fft.ifft(signal, n, dim)
  else y = la.fft.fft(signal, n, dim) end
  if onesided then y = y:narrow(dim, 1, y:size(dim) // 2 + 1) end
  return la.view_as_real(y:contiguous())
end

function op.DFT(node)
  local inverse = node:get("inverse", 0) == 1
  local onesided = node:get("onesided", 0) == 1
  local old = node.version < 20
  local fixed = node:get("axis", 1)
  return function(x, length, axis)
    local a = old and fixed or axis and rows.number(axis) or -2
    local dim = a < 0 and x.ndim + a + 1 or a + 1
    local wide, dtype = rows.wide(x)
    local y = transform(wide, length and rows.number(length), dim, inverse,
      onesided)
    return dtype and y:to(dtype) or y
  end
end

function op.STFT(node)
  local onesided = node:get("onesided", 1) == 1
  return function(x, step, window, length)
    local hop = rows.number(step)
    local n = length and rows.number(length) or window:size(1)
    local signal, real = as_complex(x.ndim == 3 and x or x:unsqueeze(3))
    local frames = signal:unfold(2, n, hop)
    if window then frames = frames * window end
    local y = la.fft.fft(frames, nil, 3)
    if onesided and real then y = y:narrow(3, 1, n // 2 + 1) end
    return la.view_as_real(y:contiguous())
  end
end

-- ---- windows ----

local function window(name, weights)
  op[name] = function(node)
    local periodic = node:get("periodic", 1) ~= 0
    local dtype = rows.dtypes[node:get("output_datatype", 1)]
    return function(size)
      local n = rows.number(size)
      local angle = la.range(0, n - 1):to("float64")
        * (2 * math.pi / (periodic and n or n - 1))
      local y = weights[1] - weights[2] * angle:cos()
      if weights[3] then y = y + weights[3] * (angle * 2):cos() end
      return y:to(dtype)
    end
  end
end

window("HannWindow", {0.5, 0.5})
window("HammingWindow", {25 / 46, 21 / 46})
window("BlackmanWindow", {0.42, 0.5, 0.08})

-- Triangles over the bins of a spectrum, at equal distances on the mel scale.
function op.MelWeightMatrix(node)
  local dtype = rows.dtypes[node:get("output_datatype", 1)]
  return function(count, length, rate, low, high)
    local n, size = rows.number(count), rows.number(length)
    local bins = size // 2 + 1
    rows.check_count(rows.check_count(bins) * rows.check_count(n))
    local function mel(hertz) return 2595 * math.log(1 + hertz / 700, 10) end
    local first = mel(rows.number(low))
    local step = (mel(rows.number(high)) - first) / (n + 2)
    local edges = {}
    for k = 0, n + 1 do
      local hertz = 700 * (10 ^ ((first + k * step) / 2595) - 1)
      edges[k + 1] = math.floor((size + 1) * hertz / rows.number(rate))
    end
    local list = {}
    for j = 1, bins * n do list[j] = 0.0 end
    local function set(bin, k, value)
      if bin >= 0 and bin < bins then list[bin * n + k] = value end
    end
    for k = 1, n do
      local left, centre, right = edges[k], edges[k + 1], edges[k + 2]
      if left == centre then set(centre, k, 1.0) end
      for j = left, centre do
        if left < centre then set(j, k, (j - left) / (centre - left)) end
      end
      for j = centre, right - 1 do
        set(j, k, (right - j) / (right - centre))
      end
    end
    return rows.tensor(list, dtype):reshape(bins, n)
  end
end

-- ---- images ----

function op.AffineGrid(node)
  local align = node:get("align_corners", 0) == 1
  return function(theta, size)
    return la.affine_grid(theta, rows.list(size), align)
  end
end

local GRID_MODES = {bilinear = "bilinear", linear = "bilinear",
  nearest = "nearest", bicubic = "bicubic", cubic = "bicubic"}

-- Cubic interpolation of volumes: the weights of four neighbours in each dim.
local function cubic_volume(x, grid, padding, align)
  local n = x.ndim - 2
  local a, shape = -0.75, sizes(grid)
  local count = rows.product(shape, 2, n + 1)
  local function kernel(t)
    t = t:abs()
    local near = ((a + 2) * t - (a + 3)) * t * t + 1
    local far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return la.where(t:le(1), near, la.where(t:lt(2), far, la.zeros_like(t)))
  end
  local function reflected(k, size)
    if align then
      if size == 1 then return k * 0 end
      local m = k:remainder(2 * (size - 1))
      return la.where(m:gt(size - 1), 2 * (size - 1) - m, m)
    end
    local m = k:remainder(2 * size)
    return la.where(m:ge(size), 2 * size - 1 - m, m)
  end
  local taps = {}
  for d = 1, n do
    local size = x:size(d + 2)
    local g = grid:select(grid.ndim, n + 1 - d):reshape(x:size(1), count)
    local c = align and (g + 1) / 2 * (size - 1) or ((g + 1) * size - 1) / 2
    local base, list = c:floor(), {}
    for k = -1, 2 do
      local at = base + k
      local w = kernel(c - at)
      local index = at:to("int64")
      if padding == "zeros" then
        w = w * index:ge(0):logical_and(index:lt(size)):to(w.dtype)
      elseif padding == "reflection" then
        index = reflected(index, size)
      end
      list[#list + 1] = {index:clamp(0, size - 1), w}
    end
    taps[d] = list
  end
  local plane = rows.product(sizes(x), 3)
  local flat, sum = x:reshape(x:size(1), x:size(2), plane), nil
  for c = 0, 4 ^ n - 1 do
    local rest, at, w = c // 1 | 0, nil, nil
    for d = 1, n do
      local tap = taps[d][rest % 4 + 1]
      rest = rest // 4
      at = at and at * x:size(d + 2) + tap[1] or tap[1]
      w = w and w * tap[2] or tap[2]
    end
    local part = flat:gather(3, (at + 1):unsqueeze(2)
      :expand(x:size(1), x:size(2), count)) * w:unsqueeze(2)
    sum = sum and sum + part or part
  end
  shape[#shape] = nil
  table.insert(shape, 2, x:size(2))
  return sum:reshape(shape)
end

function op.GridSample(node)
  local mode = GRID_MODES[node:get("mode", "linear")]
  local padding = node:get("padding_mode", "zeros")
  local align = node:get("align_corners", 0) == 1
  if not mode then return node:refuse("mode '%s'", node:get("mode")) end
  return function(x, grid)
    local wide, dtype = rows.wide(x)
    grid = grid:to(wide.dtype)
    local y
    if mode == "bicubic" and x.ndim ~= 4 then
      y = cubic_volume(wide, grid, padding, align)
    else
      y = la.grid_sample(wide, grid, mode, padding, align)
    end
    return dtype and y:to(dtype) or y
  end
end

-- Columns (N, C window, positions) as an image: each position's window is added
-- where it belongs.
function op.Col2Im(node)
  local a = node.attributes
  return function(x, image, block)
    local want, window_size = rows.list(image), rows.list(block)
    local n = #want
    local function or_ones(list)
      local out = {}
      for k = 1, n do out[k] = list and list[k] or 1 end
      return out
    end
    local stride, dilation = or_ones(a.strides), or_ones(a.dilations)
    local pads = a.pads or {}
    local count, positions = rows.product(window_size), {}
    local window_at = {}
    for k = 1, n do
      local length = want[k] + (pads[k] or 0) + (pads[n + k] or 0)
      local span = (window_size[k] - 1) * dilation[k] + 1
      local steps = (length - span) // stride[k] + 1
      local from = la.range(0, steps - 1):long() * stride[k]
      local inside = la.range(0, window_size[k] - 1):long() * dilation[k]
      window_at[k] = {from - (pads[k] or 0), inside, steps}
      positions[k] = steps
    end
    local flat, valid
    for k = 1, n do
      local shape_in, shape_out = {}, {}
      for d = 1, 2 * n do shape_in[d], shape_out[d] = 1, 1 end
      shape_in[k], shape_out[n + k] = window_size[k], positions[k]
      local at = window_at[k][2]:reshape(shape_in)
        + window_at[k][1]:reshape(shape_out)
      local good = at:ge(0):logical_and(at:lt(want[k]))
      valid = valid and valid:logical_and(good) or good
      local c = at:clamp(0, want[k] - 1)
      flat = flat and flat * want[k] + c or c
    end
    local total = count * rows.product(positions)
    local channels = x:size(2) // count
    local source = x:reshape(x:size(1), channels, total)
      * valid:reshape(1, 1, total):to(x.dtype)
    local out = la.zeros({x:size(1), channels, rows.product(want)},
      {dtype = x.dtype})
    out = out:scatter_add(3, (flat:reshape(1, 1, total) + 1)
      :expand(x:size(1), channels, total), source)
    local shape = {x:size(1), channels}
    for k = 1, n do shape[k + 2] = want[k] end
    return out:reshape(shape)
  end
end

function op.CenterCropPad(node)
  local axes = node.attributes.axes
  return function(x, shape)
    local pads = {}
    for k = 1, 2 * x.ndim do pads[k] = 0 end
    for k, want in ipairs(rows.list(shape)) do
      local axis = axes and axes[k] or k - 1
      if axis < 0 then axis = axis + x.ndim end
      local d = want - x:size(axis + 1)
      local before = d >= 0 and d // 2 or -(-d // 2)
      pads[axis + 1], pads[x.ndim + axis + 1] = before, d - before
    end
    return rows.padded(x, pads, "constant", 0)
  end
end

-- Encoded pictures: JPEG, PNG and BMP by la.image, as (height, width,
-- channels).
function op.ImageDecoder(node)
  local format = node:get("pixel_format", "RGB")
  if format ~= "RGB" and format ~= "BGR" and format ~= "Grayscale" then
    return node:refuse("pixel_format '%s'", format)
  end
  local pictures = "image"      -- a module that this one can do without
  local theme = rawget(la, pictures)
  local decode = theme and theme.decode
  if not decode then
    return node:refuse("pictures: this build has no module image")
  end
  return function(bytes)
    local list = bytes:totable()
    local parts = {}
    for k = 1, #list, 4096 do
      parts[#parts + 1] = string.char(table.unpack(list, k,
        math.min(k + 4095, #list)))
    end
    local x = decode(table.concat(parts),
      {channels = format == "Grayscale" and 1 or 3, dtype = "uint8"})
    if format == "BGR" then x = x:flip(1) end
    return x:permute(2, 3, 1):contiguous()
  end
end
