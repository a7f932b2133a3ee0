-- lunarray.image.geometry: which pixels stand where. Crops are views.
local la = require "lunarray"
local arguments = require "lunarray.image.arguments"
local numbers = require "lunarray.numbers"
local check, fail, integer = arguments.check, arguments.fail, arguments.integer
local widened = arguments.widened

local geometry = {}

-- ---- parts ----

function geometry.crop(x, top, left, height, width)
  check("crop", x)
  top, left = integer("crop", "top", top, 1), integer("crop", "left", left, 1)
  height = integer("crop", "height", height, 0)
  width = integer("crop", "width", width, 0)
  local h, w = x:size(-2), x:size(-1)
  if top > h - height + 1 or left > w - width + 1 then
    fail("crop", "%d x %d pixels from row %d and column %d are not inside of"
         .. " %d x %d", height, width, top, left, h, w)
  end
  return x:narrow(-2, top, height):narrow(-1, left, width)
end

function geometry.center_crop(x, height, width)
  check("center_crop", x)
  height = integer("center_crop", "height", height, 0)
  width = integer("center_crop", "width", width, 0)
  local down, right = x:size(-2) - height, x:size(-1) - width
  if down < 0 or right < 0 then
    fail("center_crop", "%d x %d pixels are more than %d x %d", height, width,
         x:size(-2), x:size(-1))
  end
  return x:narrow(-2, down // 2 + 1, height):narrow(-1, right // 2 + 1, width)
end

function geometry.flip(x, direction)
  check("flip", x)
  local word = arguments.word("flip", "direction", direction or "horizontal",
                              {"horizontal", "vertical"})
  return x:flip(word == "horizontal" and -1 or -2)
end

-- ---- resampling ----

-- A copy of a list of sizes with other last two.
local function resized(x, height, width)
  local sizes = {x:size()}
  sizes[#sizes - 1], sizes[#sizes] = height, width
  return sizes
end

-- y in the dtype of x; what overshoots that of an integer image is clamped.
local function narrowed(y, x)
  if x:is_floating_point() then return y:to(x.dtype) end
  return y:round():clamp(0, la.iinfo(x.dtype).max):to(x.dtype)
end

local function check_dtype(name, x)
  if x:is_floating_point() or x.dtype == "uint8" or x.dtype == "uint16" then
    return
  end
  fail(name, "floats, uint8 or uint16 expected, got %s", x.dtype)
end

local SMOOTH = {bilinear = true, bicubic = true, lanczos = true}

function geometry.resize(x, height, width, options)
  local name = "resize"
  check(name, x)
  check_dtype(name, x)
  height = integer(name, "height", height, 1)
  width = integer(name, "width", width, 1)
  if x:size(-2) == 0 or x:size(-1) == 0 then
    fail(name, "the image has no pixels")
  end
  local o = arguments.options(name, options, {"mode", "antialias"})
  local mode = arguments.word(name, "mode", o.mode or "bilinear",
    {"nearest", "nearest-exact", "bilinear", "bicubic", "lanczos", "area"})
  local smooth = SMOOTH[mode] and o.antialias ~= false
  -- PyTorch's bytes are its own, but for means
  local direct = x:is_floating_point() or x.dtype == "uint8" and mode ~= "area"
  local y = direct and x or widened(x, "float32")
  y = la.interpolate(y:reshape(1, -1, x:size(-2), x:size(-1)),
    {size = {height, width}, mode = mode, antialias = smooth})
  return narrowed(y, x):view(resized(x, height, width))
end

-- ---- rotation ----

-- Cosine and sine, exact where an axis becomes an axis.
local function circle(degrees)
  local quarter = degrees % 360 / 90
  local exact = ({[0] = {1, 0}, {0, 1}, {-1, 0}, {0, -1}})
    [math.tointeger(quarter)]
  if exact then return exact[1], exact[2], math.tointeger(quarter) end
  local angle = math.rad(degrees % 360)
  return math.cos(angle), math.sin(angle)
end

-- The size of an image that holds all of the rotated one.
local function bounds(h, w, c, s)
  c, s = math.abs(c), math.abs(s)
  return math.ceil(h * c + w * s - 1e-6), math.ceil(w * c + h * s - 1e-6)
end

-- Points of the result are taken from where they were: rows count downwards,
-- so that the map is that of the opposite angle upwards.
local function sampled(x, sizes, c, s, mode, fill)
  local h, w = x:size(-2), x:size(-1)
  local height, width = sizes[1], sizes[2]
  local y = widened(x, "float32"):reshape(1, -1, h, w)
  local map = y:new_tensor{{{c * width / w, -s * height / w, 0},
                            {s * width / h, c * height / h, 0}}}
  local grid = la.affine_grid(map, {1, 1, height, width}, false)
  local result = la.grid_sample(y, grid, mode, "zeros", false)
  if fill ~= 0 then
    local inside = la.grid_sample(y:new_ones(1, 1, h, w), grid, mode, "zeros",
                                  false)
    result = result + (1 - inside) * fill
  end
  return narrowed(result, x):view(resized(x, height, width))
end

function geometry.rotate(x, degrees, options)
  local name = "rotate"
  check(name, x)
  check_dtype(name, x)
  local o = arguments.options(name, options, {"mode", "fill", "expand"})
  local mode = arguments.word(name, "mode", o.mode or "bilinear",
                              {"nearest", "bilinear", "bicubic"})
  local fill = o.fill or 0
  if type(degrees) ~= "number" or degrees - degrees ~= 0 then
    fail(name, "degrees: finite number expected, got %s", numbers.text(degrees))
  elseif type(fill) ~= "number" then
    fail(name, "fill: number expected, got %s", type(fill))
  end
  local h, w = x:size(-2), x:size(-1)
  local c, s, quarter = circle(degrees)
  if quarter and (o.expand or quarter % 2 == 0 or h == w) then
    return x:rot90(quarter, {-2, -1}):contiguous()
  end
  local sizes = o.expand and {bounds(h, w, c, s)} or {h, w}
  if x:numel() == 0 then fail(name, "the image has no pixels") end
  return sampled(x, sizes, c, s, mode, fill)
end

return geometry
