-- lunarray.image.filters: Gaussian blur, Sobel and grey-scale morphology over
-- the last two dims, with the values of scipy.ndimage.
local la = require "lunarray"
local arguments = require "lunarray.image.arguments"
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"
local check, fail, integer = arguments.check, arguments.fail, arguments.integer
local pair, widened = arguments.pair, arguments.widened

local filters = {}

local MODES = {"reflect", "replicate", "circular", "constant"}

-- Positions before .. n + after (counted from 1) as indices of a dim of size n:
-- unlike those of la.pad, borders may be wider than the image.
local function positions(n, before, after, mode, like)
  local at = la.arange(-before, n + after, {device = like.device})
  if mode == "replicate" then
    at = at:clamp(0, n - 1)
  elseif mode == "circular" then
    at = at:remainder(n)
  else
    local period = math.max(2 * (n - 1), 1)
    at = at:remainder(period)
    at = at:minimum(period - at)
  end
  return at + 1
end

-- x with a border in one dim (-2 or -1).
local function bordered(x, dim, before, after, mode)
  if before + after == 0 then return x end
  if mode == "constant" then
    return la.pad(x, dim == -1 and {before, after} or {0, 0, before, after})
  end
  return x:index_select(dim, positions(x:size(dim), before, after, mode, x))
end

-- y in the dtype of x, rounded where that is an integer one.
local function rounded(y, x)
  if x:is_floating_point() then return y:to(x.dtype) end
  return y:round():to(x.dtype)
end

local function check_dtype(name, x)
  if x:is_floating_point() or x.dtype == "uint8" or x.dtype == "uint16" then
    return
  end
  fail(name, "floats, uint8 or uint16 expected, got %s", x.dtype)
end

-- ---- Gaussian ----

-- That of the largest sigma: weights are made one by one.
local MAX_RADIUS = 4000000

local function weights(sigma, radius)
  local list, sum = {}, 0
  for k = -radius, radius do
    local w = math.exp(-0.5 * k * k / (sigma * sigma))
    list[#list + 1] = w
    sum = sum + w
  end
  for k = 1, #list do list[k] = list[k] / sum end
  return list
end

-- The correlation of one dim with a list of weights.
local function correlated(x, dim, list, mode)
  local radius = #list // 2
  local y = bordered(x, dim, radius, radius, mode)
  local taps = x:new_tensor(list)
  taps = dim == -1 and taps:view(1, 1, 1, -1) or taps:view(1, 1, -1, 1)
  local planes = y:reshape(-1, 1, y:size(-2), y:size(-1))
  return la.conv2d(planes, taps):view_as(x)
end

local function check_sigma(sigma)
  if type(sigma) ~= "number" or sigma ~= sigma or sigma < 0
     or sigma > 1e6 then
    fail("gaussian_blur", "sigma: number from 0 to 1e6 expected, got %s",
         numbers.text(sigma))
  end
  return sigma
end

function filters.gaussian_blur(x, sigma, options)
  local name = "gaussian_blur"
  check(name, x)
  check_dtype(name, x)
  local o = arguments.options(name, options, {"radius", "mode"})
  local mode = arguments.word(name, "mode", o.mode or "reflect", MODES)
  local sigmas = {pair(name, "sigma", sigma)}
  local radii = {pair(name, "radius", o.radius)}
  local y = widened(x, "float32")
  for k, dim in ipairs{-2, -1} do
    local s = check_sigma(sigmas[k])
    local radius = o.radius and integer(name, "radius", radii[k], 0)
      or math.tointeger((4 * s + 0.5) // 1)
    if radius > MAX_RADIUS then
      fail(name, "radius: at most %d expected, got %d", MAX_RADIUS, radius)
    end
    if s > 0 and radius > 0 and x:numel() > 0 then
      y = correlated(y, dim, weights(s, radius), mode)
    end
  end
  return rounded(rawequal(y, x) and x:clone() or y, x)
end

-- ---- Sobel ----

-- Element k to the last but 2 - k of a dim: what the window's part k sees.
local function part(x, dim, k, n) return x:narrow(dim, k + 1, n) end

local function slope(x, dim)
  local n = x:size(dim) - 2
  return part(x, dim, 2, n) - part(x, dim, 0, n)
end

local function smoothed(x, dim)
  local n = x:size(dim) - 2
  return part(x, dim, 0, n) + part(x, dim, 1, n) * 2 + part(x, dim, 2, n)
end

function filters.sobel(x, options)
  check("sobel", x)
  if x:is_complex() then fail("sobel", "real values expected") end
  local o = arguments.options("sobel", options, {"mode"})
  local mode = arguments.word("sobel", "mode", o.mode or "reflect", MODES)
  local y = widened(x, "float32")
  if x:numel() == 0 then return y:clone(), y:clone() end
  y = bordered(bordered(y, -2, 1, 1, mode), -1, 1, 1, mode)
  local gx, gy = smoothed(slope(y, -1), -2), smoothed(slope(y, -2), -1)
  if not x:is_floating_point() then return gx, gy end
  return gx:to(x.dtype), gy:to(x.dtype)
end

-- ---- morphology ----

-- Extremes of windows of n elements, by windows of 1, 2, 4, ...; 'best' is
-- la.minimum or la.maximum. Window i begins at element i - before. Outside
-- stands the outermost element, which every such window has anyway.
local function extremes(x, dim, n, before, best)
  local y = bordered(x, dim, before, n - 1 - before, "replicate")
  local size, have = x:size(dim), 1
  while have < n do
    local step = math.min(have, n - have)
    local length = y:size(dim) - step
    y = best(part(y, dim, 0, length), part(y, dim, step, length))
    have = have + step
  end
  return y:narrow(dim, 1, size)
end

-- A tensor of the largest or smallest value of a dtype: what never counts.
local function neutral(sizes, x, largest)
  local dtype, value = x.dtype, largest
  if dtype == "uint64" and largest then     -- more than an integer of Lua
    return x:new_zeros(sizes):bitwise_not()
  elseif x:is_floating_point() then
    value = largest and math.huge or -math.huge
  elseif dtype ~= "bool" then
    value = la.iinfo(dtype)[largest and "max" or "min"]
  end
  return x:new_full(sizes, value)
end

-- Extremes over the true elements of a kernel whose element k is at offset
-- sign * (k - middle).
local function kernel_extremes(x, kernel, sign, best)
  local h, w = x:size(-2), x:size(-1)
  local kh, kw = kernel:size(1), kernel:size(2)
  local mh, mw = kh // 2, kw // 2
  local top = sign > 0 and mh or kh - 1 - mh
  local left = sign > 0 and mw or kw - 1 - mw
  local sizes = la.tensor(x.shape):totable()
  sizes[#sizes - 1], sizes[#sizes] = h + kh - 1, w + kw - 1
  local y = neutral(sizes, x, best == la.minimum)
  y:narrow(-2, top + 1, h):narrow(-1, left + 1, w):copy_(x)
  local result
  for _, at in ipairs(kernel:nonzero():totable()) do
    local dy, dx = sign * (at[1] - 1 - mh), sign * (at[2] - 1 - mw)
    local seen = y:narrow(-2, top + dy + 1, h):narrow(-1, left + dx + 1, w)
    result = result and best(result, seen) or seen
  end
  return result:contiguous()
end

-- A window's size {h, w}, or its bool kernel.
local function read_window(name, size)
  if tensors.is_tensor(size) then
    if size.dtype ~= "bool" or size.ndim ~= 2 or not size:any() then
      fail(name, "kernel: bool matrix with a true element expected")
    end
    return nil, nil, size
  end
  local h, w = pair(name, "size", size == nil and 3 or size)
  return integer(name, "size", h, 1), integer(name, "size", w, 1)
end

-- Erosion looks at offsets -size // 2 and on, dilation at their opposites.
local function morphology(name, x, size, erode)
  check(name, x)
  if x:is_complex() then fail(name, "real values expected, got complex") end
  local h, w, kernel = read_window(name, size)
  local best = erode and la.minimum or la.maximum
  if x:numel() == 0 then return x:clone() end
  if kernel then return kernel_extremes(x, kernel, erode and 1 or -1, best) end
  local y = extremes(x, -2, h, erode and h // 2 or (h - 1) // 2, best)
  y = extremes(y, -1, w, erode and w // 2 or (w - 1) // 2, best)
  return h * w == 1 and x:clone() or y
end

function filters.erode(x, size) return morphology("erode", x, size, true) end
function filters.dilate(x, size) return morphology("dilate", x, size, false) end

function filters.opening(x, size)
  return morphology("opening", morphology("opening", x, size, true), size,
                    false)
end

function filters.closing(x, size)
  return morphology("closing", morphology("closing", x, size, false), size,
                    true)
end

return filters
