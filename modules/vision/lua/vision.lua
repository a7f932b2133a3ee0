-- lunarray.vision: parts of images for detectors, made of operations, so that
-- they have derivatives. Boxes are (n, 5): the number of the image (from 1),
-- x1, y1, x2, y2.
local la = require "lunarray"
local positions = require "lunarray.positions"

local vision = {}

local function pair(v) return type(v) == "table" and v or {v, v} end

local function options_of(what, names, ...)
  return positions.read(what, names, positions.set(names), names, ...)
end

local function check_boxes(what, boxes)
  if boxes.ndim ~= 2 or boxes:size(2) ~= 5 then
    error(("bad argument #2 to '%s' (boxes of n x 5 expected: image, x1, y1, "
      .. "x2, y2; got %s)"):format(what, tostring(boxes.shape)), 3)
  end
end

-- f(image, box) of each box {image, x1, y1, x2, y2}, stacked; f gives
-- {channels, size[1], size[2]}.
local function each_box(name, input, boxes, size, f)
  check_boxes(name, boxes)
  local list = {}
  for k, box in ipairs(boxes:detach():totable()) do
    local n = math.tointeger(box[1])
    if not n or n < 1 or n > input:size(1) then
      error(("%s: box %d is of no image: %s of %d"):format(name, k,
        tostring(box[1]), input:size(1)), 3)
    end
    list[k] = f(input:select(1, n), box)
  end
  if #list == 0 then
    return la.zeros({0, input:size(2), size[1], size[2]}, {dtype = input.dtype})
  end
  return la.stack(list, 1)
end

-- ---- bilinear samples ----

-- Four neighbours of points in a plane, as {index, weight}; points more than
-- one element outside count as zero, others as the nearest on the edge.
local function neighbours(y, x, h, w)
  local inside = y:ge(-1):logical_and(y:le(h)):logical_and(x:ge(-1))
    :logical_and(x:le(w)):to(y.dtype)
  y, x = y:clamp(0, h - 1), x:clamp(0, w - 1)
  local y0, x0 = y:floor():clamp_max(la.tensor(h - 2.)):clamp(0, h),
    x:floor():clamp_max(la.tensor(w - 2.)):clamp(0, w)
  local fy, fx = y - y0, x - x0
  local list = {}
  for k = 0, 3 do
    local dy, dx = k // 2, k % 2
    local weight = (dy == 1 and fy or 1 - fy) * (dx == 1 and fx or 1 - fx)
    local row = (y0 + dy):clamp(0, h - 1):to("int64")
    local column = (x0 + dx):clamp(0, w - 1):to("int64")
    list[k + 1] = {row * w + column, weight * inside}
  end
  return list
end

-- ---- roi_align ----

local ALIGN = {"output_size", "spatial_scale", "sampling_ratio", "aligned",
  "mode"}

-- Coordinates of the samples in one direction: (bins, samples) as a row.
local function samples(first, size, bins, n, dtype)
  local k = la.range(0, bins - 1):to(dtype):reshape(bins, 1)
  local i = la.range(0, n - 1):to(dtype):reshape(1, n)
  return ((k + (i + 0.5) / n) * (size / bins) + first):flatten()
end

local function one_box(plane, box, o, size)
  local h, w = plane:size(2), plane:size(3)
  local shift = o.aligned and 0.5 or 0
  local x1, y1 = box[2] * o.scale - shift, box[3] * o.scale - shift
  local bw, bh = box[4] * o.scale - shift - x1, box[5] * o.scale - shift - y1
  if not o.aligned then bw, bh = math.max(bw, 1), math.max(bh, 1) end
  local nh = o.ratio > 0 and o.ratio or math.max(math.ceil(bh / size[1]), 1)
  local nw = o.ratio > 0 and o.ratio or math.max(math.ceil(bw / size[2]), 1)
  if size[1] * nh * size[2] * nw > 1 << 28 then
    error("roi_align: a box of too many samples", 0)
  end
  local y = samples(y1, bh, size[1], nh, plane.dtype)
  local x = samples(x1, bw, size[2], nw, plane.dtype)
  local rows, columns = y:size(1), x:size(1)
  y = y:reshape(rows, 1):expand(rows, columns)
  x = x:reshape(1, columns):expand(rows, columns)
  local flat, sum = plane:reshape(plane:size(1), h * w), nil
  for _, tap in ipairs(neighbours(y, x, h, w)) do
    local part = flat:index_select(2, tap[1]:flatten() + 1)
      * tap[2]:reshape(1, rows * columns)
    if not sum then sum = part
    elseif o.most then sum = la.maximum(sum, part)
    else sum = sum + part end
  end
  sum = sum:reshape(plane:size(1), size[1], nh, size[2], nw)
  return o.most and sum:amax({3, 5}) or sum:mean{3, 5}
end

-- roi_align(input, boxes, output_size[, spatial_scale[, sampling_ratio[,
-- aligned[, mode]]]])
function vision.roi_align(input, boxes, ...)
  local given = options_of("roi_align", ALIGN, ...)
  local size = pair(given.output_size)
  local o = {scale = given.spatial_scale or 1, ratio = given.sampling_ratio
    or -1,
    aligned = given.aligned, most = given.mode == "max"}
  return each_box("roi_align", input, boxes, size, function(plane, box)
    return one_box(plane, box, o, size)
  end)
end

-- ---- roi_pool ----

local POOL = {"output_size", "spatial_scale"}

local function round(v) return math.floor(v + 0.5) end

local function pool_box(plane, box, size, scale)
  local h, w = plane:size(2), plane:size(3)
  local x1, y1 = round(box[2] * scale), round(box[3] * scale)
  local bh = math.max(round(box[5] * scale) - y1 + 1, 1)
  local bw = math.max(round(box[4] * scale) - x1 + 1, 1)
  local list = {}
  for i = 0, size[1] - 1 do
    local top = math.min(math.max(i * bh // size[1] + y1, 0), h)
    local bottom = math.min(math.max(-(-(i + 1) * bh // size[1]) + y1, 0), h)
    for j = 0, size[2] - 1 do
      local left = math.min(math.max(j * bw // size[2] + x1, 0), w)
      local right = math.min(math.max(-(-(j + 1) * bw // size[2]) + x1, 0), w)
      local cell
      if bottom > top and right > left then
        cell = plane:narrow(2, top + 1, bottom - top)
          :narrow(3, left + 1, right - left):amax{2, 3}
      else
        cell = la.zeros({plane:size(1)}, {dtype = plane.dtype})
      end
      list[#list + 1] = cell
    end
  end
  return la.stack(list, 2):reshape(plane:size(1), size[1], size[2])
end

-- roi_pool(input, boxes, output_size[, spatial_scale])
function vision.roi_pool(input, boxes, ...)
  local given = options_of("roi_pool", POOL, ...)
  local size, scale = pair(given.output_size), given.spatial_scale or 1
  return each_box("roi_pool", input, boxes, size, function(plane, box)
    return pool_box(plane, box, size, scale)
  end)
end

-- ---- deform_conv ----

local DEFORM = {"bias", "stride", "padding", "dilation", "mask", "groups"}

-- Points of every tap: (offset groups of all images, taps * rows, columns).
local function points(input, offset, p)
  local dtype, taps = input.dtype, p.kh * p.kw
  local shift = offset:reshape(p.n * p.og, taps, 2, p.oh, p.ow)
  local function base(out, step, pad, kernel, dil, dim)
    local at = la.range(0, out - 1):to(dtype) * step - pad
    local tap = la.range(0, kernel - 1):to(dtype) * dil
    if dim == 1 then
      return tap:reshape(kernel, 1, 1, 1):expand(p.kh, p.kw, 1, 1)
        :reshape(1, taps, 1, 1) + at:reshape(1, 1, out, 1)
    end
    return tap:reshape(1, kernel, 1, 1):expand(p.kh, p.kw, 1, 1)
      :reshape(1, taps, 1, 1) + at:reshape(1, 1, 1, out)
  end
  local y = shift:select(3, 1)
    + base(p.oh, p.stride[1], p.pad[1], p.kh, p.dilation[1], 1)
  local x = shift:select(3, 2)
    + base(p.ow, p.stride[2], p.pad[2], p.kw, p.dilation[2], 2)
  local h, w = input:size(3), input:size(4)
  local grid = la.stack({(x * 2 + 1) / w - 1, (y * 2 + 1) / h - 1}, 5)
  return grid:reshape(p.n * p.og, taps * p.oh, p.ow, 2)
end

-- deform_conv(input, offset, weight[, bias[, stride[, padding[, dilation[,
-- mask[, groups]]]]]])
function vision.deform_conv(input, offset, weight, ...)
  local given = options_of("deform_conv", DEFORM, ...)
  local p = {stride = pair(given.stride or 1), pad = pair(given.padding or 0),
    dilation = pair(given.dilation or 1), n = input:size(1),
    kh = weight:size(3), kw = weight:size(4), oh = offset:size(3),
    ow = offset:size(4)}
  local taps, channels = p.kh * p.kw, input:size(2)
  local groups = given.groups or channels // weight:size(2)
  if input.ndim ~= 4 or offset:size(2) % (2 * taps) ~= 0 then
    error(("bad argument #2 to 'deform_conv' (2 x %d channels for each group "
      .. "of offsets expected, got %d)"):format(taps, offset:size(2)), 2)
  end
  p.og = offset:size(2) // (2 * taps)
  local sampled = la.grid_sample(input:reshape(p.n * p.og, channels // p.og,
    input:size(3), input:size(4)), points(input, offset, p), "bilinear",
    "zeros", false):reshape(p.n, p.og, channels // p.og, taps, p.oh * p.ow)
  if given.mask then
    sampled = sampled * given.mask:reshape(p.n, p.og, 1, taps, p.oh * p.ow)
  end
  local columns = sampled:reshape(p.n, groups, channels // groups * taps,
    p.oh * p.ow)
  local w = weight:reshape(groups, weight:size(1) // groups, -1)
  local y = w:matmul(columns):reshape(p.n, weight:size(1), p.oh, p.ow)
  return given.bias and y + given.bias:reshape(1, -1, 1, 1) or y
end

return vision
