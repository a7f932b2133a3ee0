-- lunarray.onnx.ops.resize: Resize and Upsample, a dim after the other: each
-- element of the result is a weighted sum of neighbours along the dim, which
-- all coordinate modes, filters and policies come to.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local numbers = require "lunarray.numbers"

local op = rows.domain("")

-- ---- coordinates: where element k (from 0) of the result lies ----

local COORDINATES = {
  half_pixel = function(k, d) return (k + 0.5) / d.scale - 0.5 end,
  pytorch_half_pixel = function(k, d)
    return d.out == 1 and 0 or (k + 0.5) / d.scale - 0.5
  end,
  asymmetric = function(k, d) return k / d.scale end,
  align_corners = function(k, d)
    return d.out == 1 and 0 or k * (d.n - 1) / (d.scale * d.n - 1)
  end,
  tf_half_pixel_for_nn = function(k, d) return (k + 0.5) / d.scale end,
  half_pixel_symmetric = function(k, d)
    local whole = d.scale * d.n
    local offset = d.n / 2 * (1 - d.out / whole)
    return offset + (k + 0.5) / d.scale - 0.5
  end,
  tf_crop_and_resize = function(k, d)
    if d.out > 1 then
      return d.first * (d.n - 1)
        + k * (d.last - d.first) * (d.n - 1) / (d.out - 1)
    end
    return 0.5 * (d.first + d.last) * (d.n - 1)
  end,
}

-- ---- weights of neighbours, for a coordinate between two elements ----

local function cubic(t, a)
  t = math.abs(t)
  if t <= 1 then return ((a + 2) * t - (a + 3)) * t * t + 1 end
  if t < 2 then return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a end
  return 0
end

local function triangle(t) return math.max(1 - math.abs(t), 0) end

-- Weights of the elements from 'first' on, relative to the one in front.
local function filter_of(options, scale)
  local reach = options.mode == "cubic" and 2 or 1
  local kernel = options.mode == "cubic"
    and function(t) return cubic(t, options.a) end or triangle
  local shrink = options.antialias and math.min(scale, 1) or 1
  local first = math.floor(-reach / shrink) + 1
  local n = rows.check_count(2 * (1 - first))
  return function(ratio)
    local list, sum = {}, 0
    for k = 1, n do
      list[k] = kernel((first + k - 1 - ratio) * shrink)
      sum = sum + list[k]
    end
    if options.antialias then
      for k = 1, n do list[k] = list[k] / sum end
    end
    return list
  end, first, n
end

local function nearest(ratio, mode)
  if ratio == 1 then return 1 end
  if mode == "floor" then return 0 end
  if mode == "ceil" then return 1 end
  if mode == "round_prefer_ceil" then return ratio < 0.5 and 0 or 1 end
  return ratio <= 0.5 and 0 or 1
end

-- The table of a dim: for each tap the positions (from 1) and their weights,
-- and which elements lie outside.
local function taps_of(options, d)
  rows.check_count(d.out)
  local where = COORDINATES[options.coordinates]
  local positions, weights, outside = {}, {}, {}
  local weigh, first, n
  if options.mode == "nearest" then first, n = 0, 1
  else weigh, first, n = filter_of(options, d.scale) end
  for t = 1, n do positions[t], weights[t] = {}, {} end
  local any = false
  for k = 0, d.out - 1 do
    local x = where(k, d)
    outside[k + 1] = x < 0 or x > d.n - 1
    any = any or outside[k + 1]
    local front = math.ceil(x) - 1
    local ratio = x - front
    local list = weigh and weigh(ratio) or {1}
    local from = weigh and front + first
      or front + nearest(ratio, options.nearest)
    local sum = 0
    for t = 1, n do
      local at = from + t - 1
      if options.exclude and (at < 0 or at >= d.n) then list[t] = 0 end
      sum = sum + list[t]
      positions[t][k + 1] = math.max(math.min(at, d.n - 1), 0) + 1
    end
    for t = 1, n do
      weights[t][k + 1] = options.exclude and list[t] / sum or list[t]
    end
  end
  local out = {n = n, outside = any and options.crop and outside}
  for t = 1, n do
    out[t] = {rows.tensor(positions[t], "int64"), weights[t]}
  end
  return out
end

local function resize_dim(x, dim, options, d, kept)
  local key = numbers.format("%d %d %.17g %.17g %.17g", d.n, d.out, d.scale,
    d.first or 0, d.last or 0)
  local taps = kept[key]
  if not taps then
    taps = taps_of(options, d)
    if (kept.count or 0) > 32 then
      for k in pairs(kept) do kept[k] = nil end
    end
    kept[key], kept.count = taps, (kept.count or 0) + 1
  end
  if options.mode == "nearest" then
    return x:index_select(dim, taps[1][1]), taps.outside
  end
  local shape = {}
  for k = 1, x.ndim do shape[k] = 1 end
  shape[dim] = d.out
  local sum
  for t = 1, taps.n do
    local w = rows.tensor(taps[t][2], x.dtype):reshape(shape)
    local part = x:index_select(dim, taps[t][1]) * w
    sum = sum and sum + part or part
  end
  return sum, taps.outside
end

-- ---- the operator ----

-- What a node says about sizes, as a list of {dim, n, out, scale}.
local function dims_of(x, options, scales, wanted, roi)
  local axes, out = options.axes, {}
  local list = {}
  if axes then
    for k, axis in ipairs(axes) do
      list[k] = axis < 0 and axis + x.ndim or axis
    end
  else
    for k = 1, x.ndim do list[k] = k - 1 end
  end
  local count = #list
  for k, axis in ipairs(list) do
    local n = x:size(axis + 1)
    local scale = scales and scales[k] or wanted[k] / n
    out[k] = {dim = axis + 1, n = n, scale = scale,
      out = scales and math.floor(n * scale) or wanted[k],
      first = roi and roi[k], last = roi and roi[count + k]}
  end
  if wanted and options.policy ~= "stretch" then
    local best = out[1].scale
    for _, d in ipairs(out) do
      best = options.policy == "not_larger" and math.min(best, d.scale)
        or options.policy == "not_smaller" and math.max(best, d.scale) or best
    end
    for _, d in ipairs(out) do
      d.scale, d.out = best, math.floor(best * d.n + 0.5)
    end
  end
  return out
end

-- Images by la.interpolate, where it means the same.
local function by_interpolate(x, options, list, scales)
  if x.ndim ~= 4 or #list ~= 4 or options.antialias or options.exclude
    or list[1].out ~= list[1].n or list[2].out ~= list[2].n
    or not x:is_floating_point() or x.dtype == "bfloat16" then return nil end
  local mode
  if options.mode == "linear" and options.coordinates == "half_pixel" then
    mode = "bilinear"
  elseif options.mode == "nearest" and options.coordinates == "asymmetric"
    and options.nearest == "floor" then
    mode = "nearest"
    for k = 3, 4 do
      if list[k].scale ~= math.floor(list[k].scale) then return nil end
    end
  end
  if not mode then return nil end
  if scales and mode == "bilinear" then
    return la.interpolate(x, {scale_factor = {list[3].scale, list[4].scale},
      mode = mode})
  end
  return la.interpolate(x, {size = {list[3].out, list[4].out}, mode = mode})
end

local function resized(x, options, scales, wanted, roi, kept)
  local list = dims_of(x, options, scales, wanted, roi)
  local quick = by_interpolate(x, options, list, scales)
  if quick then return quick end
  local dtype, y = x.dtype, x
  local whole = options.mode ~= "nearest" and (not x:is_floating_point()
    or dtype == "float16" or dtype == "bfloat16")
  if whole then y = y:to("float32") end
  local masks = {}
  for _, d in ipairs(list) do
    if d.out ~= d.n or d.scale ~= 1 or options.crop then
      local outside
      y, outside = resize_dim(y, d.dim, options, d, kept)
      if outside then masks[#masks + 1] = {d.dim, outside} end
    end
  end
  for _, mask in ipairs(masks) do
    local shape = {}
    for k = 1, y.ndim do shape[k] = 1 end
    shape[mask[1]] = #mask[2]
    y = y:masked_fill(rows.tensor(mask[2], "bool"):reshape(shape),
      options.value)
  end
  if not whole then return y end
  if not x:is_floating_point() then y = y:round() end
  return y:to(dtype)
end

local function given(t)
  return t and t:numel() > 0 and rows.list(t) or nil
end

function op.Resize(node)
  local options = {mode = node:get("mode", "nearest"),
    coordinates = node:get("coordinate_transformation_mode",
      node.version < 11 and "asymmetric" or "half_pixel"),
    nearest = node:get("nearest_mode", node.version < 11 and "floor"
      or "round_prefer_floor"),
    a = node:get("cubic_coeff_a", -0.75),
    exclude = node:get("exclude_outside", 0) == 1,
    antialias = node:get("antialias", 0) == 1,
    value = node:get("extrapolation_value", 0.0),
    axes = node.attributes.axes,
    policy = node:get("keep_aspect_ratio_policy", "stretch")}
  options.crop = options.coordinates == "tf_crop_and_resize"
  if not COORDINATES[options.coordinates] then
    return node:refuse("coordinate_transformation_mode '%s'",
      options.coordinates)
  end
  if options.mode ~= "nearest" and options.mode ~= "linear"
    and options.mode ~= "cubic" then
    return node:refuse("mode '%s'", options.mode)
  end
  local kept = {}
  if node.version < 11 then
    return function(x, scales)
      return resized(x, options, rows.list(scales), nil, nil, kept)
    end
  end
  return function(x, roi, scales, wanted)
    local s = given(scales)
    local w = not s and given(wanted) or nil
    if not s and not w then error("neither scales nor sizes", 0) end
    return resized(x, options, s, w, options.crop and given(roi), kept)
  end
end

function op.Upsample(node)
  local options = {mode = node:get("mode", "nearest"), nearest = "floor",
    coordinates = "asymmetric", policy = "stretch", value = 0}
  if options.mode == "bilinear" then options.mode = "linear" end
  local fixed, kept = node.attributes.scales, {}
  return function(x, scales)
    return resized(x, options, fixed or rows.list(scales), nil, nil, kept)
  end
end
