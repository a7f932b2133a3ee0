-- lunarray.onnx.export_images: convolutions, windows and new sizes of images;
-- rows as in lunarray.onnx.export_rows.
local la = require "lunarray"
local export = require "lunarray.onnx.export"
local rows = require "lunarray.onnx.rows"

local E = export.rows
local sized, dtype_of = export.sized, export.dtype_of

local function per_dim(list, n, default)
  local out = {}
  for k = 1, n do out[k] = list and (list[k] or list[1]) or default end
  return out
end
local function twice(list, n)
  local out = per_dim(list, n, 0)
  for k = 1, n do out[n + k] = out[k] end
  return out
end

-- ---- convolutions ----

E.convolution = function(g, a)
  local n = g:tensor(a.input.tensor).ndim - 2
  local inputs = {g:name(a.input), g:name(a.weight)}
  if a.bias then inputs[3] = g:name(a.bias) end
  local attributes = {strides = per_dim(a.stride, n, 1),
    pads = twice(a.padding, n), dilations = per_dim(a.dilation, n, 1),
    group = a.groups}
  if not a.transposed then return g:node("Conv", inputs, attributes) end
  attributes.output_padding = per_dim(a.output_padding, n, 0)
  return g:node("ConvTranspose", inputs, attributes)
end

-- Each position of a window as a channel: weights are ones at one of them.
local function positions(g, kernel, channels, dtype)
  local n = kernel[1] * kernel[2]
  local one = la.eye(n, {dtype = dtype}):view(n, 1, kernel[1], kernel[2])
  return g:constant(one:tile{channels, 1, 1, 1})
end
local function windows(a)
  return {strides = per_dim(a.stride, 2, 1), pads = twice(a.padding, 2),
    dilations = per_dim(a.dilation, 2, 1)}
end
E.im2col = function(g, a, results)
  local x, kernel = g:tensor(a.input.tensor), per_dim(a.kernel_size, 2, 1)
  local attributes, c = windows(a), x:size(-3)
  if x.ndim ~= 4 then error("no batch", 0) end
  attributes.group = c
  local y = g:node("Conv", {g:name(a.input), positions(g, kernel, c,
    dtype_of(g, results))}, attributes)
  return g:node("Reshape", {y, g:ints{0, c * kernel[1] * kernel[2], -1}})
end
E.col2im = function(g, a, results)
  local out, kernel = g:tensor(results[1]), per_dim(a.kernel_size, 2, 1)
  local attributes, shape = windows(a), {0, 0}
  if out.ndim ~= 4 then error("no batch", 0) end
  local more = {}
  for k = 1, 2 do
    local reach = attributes.dilations[k] * (kernel[k] - 1) + 1
    local free = out:size(k + 2) + 2 * attributes.pads[k] - reach
    shape[k + 2] = free // attributes.strides[k] + 1
    more[k] = free % attributes.strides[k]
  end
  attributes.output_padding, attributes.group = more, out:size(2)
  local x = g:node("Reshape", {g:name(a.input), g:ints(shape)})
  return g:node("ConvTranspose", {x, positions(g, kernel, out:size(2),
    dtype_of(g, results))}, attributes)
end

-- ---- windows ----

-- The border behind, so that there are as many windows as in the result: what
-- is rounded up there is said by sizes, which all readers take alike.
local function border(g, a, results, attributes, n)
  local x, y = g:tensor(a.input.tensor), g:tensor(results[1])
  local first = x.ndim - n
  for k = 1, n do
    local reach = (attributes.dilations and attributes.dilations[k] or 1)
      * (attributes.kernel_shape[k] - 1) + 1
    local pad = attributes.pads[k]
    attributes.pads[n + k] = math.max(0, (y:size(first + k) - 1)
      * attributes.strides[k] + reach - x:size(first + k) - pad)
  end
end
local function pool_attributes(a, n)
  local kernel = per_dim(a.kernel_size, n, 1)
  return {kernel_shape = kernel, pads = twice(a.padding, n),
    strides = #(a.stride or {}) > 0 and per_dim(a.stride, n, 1) or kernel}
end

-- An input that has no batch gets one.
local function with_batch(g, a, n, make)
  if g:tensor(a.input.tensor).ndim == n + 2 then
    return make(g:name(a.input))
  end
  local y, z = make(g:axes("Unsqueeze", g:name(a.input), {0}))
  return g:axes("Squeeze", y, {0}), z and g:axes("Squeeze", z, {0})
end

local function max_pool(g, a, results, n, indices)
  local attributes = pool_attributes(a, n)
  attributes.dilations = per_dim(a.dilation, n, 1)
  if g.again then attributes.ceil_mode = a.ceil_mode and 1 or 0
  elseif a.ceil_mode then border(g, a, results, attributes, n) end
  return with_batch(g, a, n, function(x)
    if not indices then return g:node("MaxPool", {x}, attributes) end
    if g.again then error("indices with named dims", 0) end
    local values, at = g:fresh("Values"), g:fresh("Indices")
    g:node("MaxPool", {x}, attributes, {values, at})
    local t, plane = g:tensor(a.input.tensor), 1
    for k = 1, n do plane = plane * t:size(-k) end
    at = g:node("Mod", {at, g:number(plane, "int64")})
    return values, g:node("Add", {at, g:number(1, "int64")})
  end)
end
for n = 1, 3 do
  E["max_pool" .. n .. "d"] = function(g, a, results)
    return max_pool(g, a, results, n, a.return_indices)
  end
end
-- As a step of a program: are the indices used?
E.max_pool = function(g, a, results)
  return max_pool(g, a, results, #a.kernel_size, results[2]
    and (g.lives.last[results[2]] or 0) > g.order)
end
E.avg_pool = function(g, a, results)
  local n = #a.kernel_size
  if a.divisor_override then error("divisor_override", 0) end
  local attributes = pool_attributes(a, n)
  attributes.count_include_pad = a.count_include_pad and 1 or 0
  if not a.ceil_mode then
    return with_batch(g, a, n, function(x)
      return g:node("AveragePool", {x}, attributes)
    end)
  end
  if g.again then error("ceil_mode with named dims", 0) end
  border(g, a, results, attributes, n)
  local pads = attributes.pads
  attributes.count_include_pad = 0
  return with_batch(g, a, n, function(x)
    if not a.count_include_pad then
      return g:node("AveragePool", {x}, attributes)
    end
    -- The border that counts is written, the rest is left out of the means.
    local list = {0, 0}
    for k = 1, n do
      list[2 + k], list[n + 4 + k] = pads[k], pads[k]
      pads[k], pads[n + k] = 0, math.max(0, pads[n + k] - pads[k])
    end
    list[n + 3], list[n + 4] = 0, 0
    x = g:node("Pad", {x, g:ints(list)})
    return g:node("AveragePool", {x}, attributes)
  end)
end

-- The window i of n over 'size' elements: from where to behind where.
local function share(i, n, size)
  return (i - 1) * size // n, (i * size + n - 1) // n
end
-- Windows that share the input out: all alike where the sizes divide.
local function alike(g, a)
  local x, n, kernel = g:tensor(a.input.tensor), #a.output_size, {}
  if g.again then error("windows with named dims", 0) end
  for k = 1, n do
    local size = x:size(x.ndim - n + k)
    if size % a.output_size[k] ~= 0 then return nil end
    kernel[k] = size // a.output_size[k]
  end
  return kernel
end
E.adaptive_avg_pool = function(g, a, results)
  local kernel, n = alike(g, a), #a.output_size
  if kernel then
    return with_batch(g, a, n, function(x)
      return g:node("AveragePool", {x}, {kernel_shape = kernel,
        strides = kernel})
    end)
  end
  -- A product with the shares of each window, dim by dim.
  local t, y = g:tensor(a.input.tensor), g:name(a.input)
  for k = 1, n do
    local d = t.ndim - n + k
    local size, out = t:size(d), a.output_size[k]
    local w = la.zeros({size, out}, {dtype = dtype_of(g, results)})
    for i = 1, out do
      local from, to = share(i, out, size)
      w:narrow(1, from + 1, to - from):select(2, i):fill_(1 / (to - from))
    end
    local perm = {}
    for e = 1, t.ndim do perm[e] = e - 1 end
    perm[d], perm[t.ndim] = t.ndim - 1, d - 1
    y = g:node("MatMul", {g:node("Transpose", {y}, {perm = perm}),
      g:constant(w)})
    y = g:node("Transpose", {y}, {perm = perm})
  end
  return y
end
E.adaptive_max_pool = function(g, a)
  local kernel, n = alike(g, a), #a.output_size
  if kernel then
    return with_batch(g, a, n, function(x)
      return g:node("MaxPool", {x}, {kernel_shape = kernel, strides = kernel})
    end)
  end
  local t, y = g:tensor(a.input.tensor), g:name(a.input)
  for k = 1, n do
    local axis, parts = t.ndim - n + k - 1, {}
    for i = 1, a.output_size[k] do
      local from, to = share(i, a.output_size[k], t:size(axis + 1))
      parts[i] = g:reduce("ReduceMax", g:node("Slice", {y, g:ints{from},
        g:ints{to}, g:ints{axis}}), {axis}, true)
    end
    y = g:node("Concat", parts, {axis = axis})
  end
  return y
end

-- ---- new sizes ----

local NEAREST, EXACT, LINEAR, CUBIC = 0, 1, 2, 3
local RESIZE = {[NEAREST] = "nearest", [EXACT] = "nearest",
  [LINEAR] = "linear", [CUBIC] = "cubic"}

E.resample = sized("size", function(g, a)
  local x, mode = g:tensor(a.input.tensor), RESIZE[a.mode]
  if not mode then error("mode lanczos", 0) end
  local attributes = {mode = mode, nearest_mode = "floor",
    coordinate_transformation_mode = a.align_corners and "align_corners"
      or "half_pixel", cubic_coeff_a = a.antialias and -0.5 or -0.75}
  if a.mode == NEAREST then
    attributes.coordinate_transformation_mode = "asymmetric"
  elseif a.mode == EXACT then
    attributes.nearest_mode = "round_prefer_ceil"
  end
  if a.antialias then
    if g.opset < 18 then error("antialias before opset 18", 0) end
    attributes.antialias = 1
  end
  if #(a.scales or {}) > 0 then
    local scales = {}
    for k = 1, x.ndim - #a.scales do scales[k] = 1.0 end
    for _, s in ipairs(a.scales) do scales[#scales + 1] = s end
    return g:node("Resize", {g:name(a.input), "",
      g:constant(rows.tensor(scales, "float32"))}, attributes)
  end
  if g.again then error("size with named dims", 0) end
  local size = {}
  for k = 1, x.ndim - #a.size do size[k] = x:size(k) end
  for _, n in ipairs(a.size) do size[#size + 1] = n end
  return g:node("Resize", {g:name(a.input), "", "", g:ints(size)}, attributes)
end)

return E
