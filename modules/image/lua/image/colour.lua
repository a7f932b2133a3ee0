-- lunarray.image.colour: grey, HSV, linear light and CIE L*a*b*, of images with
-- their channels in the third dim from the end.
local la = require "lunarray"
local arguments = require "lunarray.image.arguments"
local check, check_float = arguments.check, arguments.check_float
local fail, widened = arguments.fail, arguments.widened
local is_tensor = require "lunarray.tensors".is_tensor

local colour = {}

-- f of x, computed in float32 or float64, in x's own dtype.
local function in_own_dtype(f, x)
  local wide, other = widened(x, "float64")
  local y = f(wide)
  return other and y:to(x.dtype) or y
end

local function parts(x)
  return x:select(-3, 1), x:select(-3, 2), x:select(-3, 3)
end

-- ---- grey ----

local function luma(x)
  local r, g, b = parts(x)
  return (r * 0.299 + g * 0.587 + b * 0.114):unsqueeze(-3)
end

function colour.rgb_to_gray(x)
  check("rgb_to_gray", x, "3 or 4")
  if x:is_floating_point() then return in_own_dtype(luma, x) end
  if x.dtype ~= "uint8" and x.dtype ~= "uint16" then
    fail("rgb_to_gray", "floats, uint8 or uint16 expected, got %s", x.dtype)
  end
  return in_own_dtype(function(wide) return (luma(wide) + 0.5):floor() end, x)
end

-- ---- hue, saturation, value ----

-- Where a quotient's divisor is 0 the result is 0, and so is its gradient: the
-- divisor is 1 there.
local function from_rgb(x)
  local r, g, b = parts(x)
  local most = r:maximum(g):maximum(b)
  local range = most - r:minimum(g):minimum(b)
  local grey = range:eq(0)
  local safe = range:masked_fill(grey, 1)
  local dr, dg, db = (most - r) / safe, (most - g) / safe, (most - b) / safe
  local sector = la.where(r:eq(most), db - dg,
    la.where(g:eq(most), dr - db + 2, dg - dr + 4))
  local h = (sector / 6):remainder(1):masked_fill(grey, 0)
  local s = range / most:masked_fill(grey, 1)
  return la.stack({h, s, most}, -3)
end

function colour.rgb_to_hsv(x)
  check("rgb_to_hsv", x, "3")
  check_float("rgb_to_hsv", x)
  return in_own_dtype(from_rgb, x)
end

-- Each channel falls from v by v s over a sixth of the circle of hues, stays
-- for two, and rises again.
local function to_rgb(x)
  local h, s, v = parts(x)
  local chroma, list = s * v, {}
  for k, from in ipairs{5, 3, 1} do
    local at = (h * 6 + from):remainder(6)
    list[k] = v - chroma * at:minimum(4 - at):clamp(0, 1)
  end
  return la.stack(list, -3)
end

function colour.hsv_to_rgb(x)
  check("hsv_to_rgb", x, "3")
  check_float("hsv_to_rgb", x)
  return in_own_dtype(to_rgb, x)
end

-- ---- linear light ----

local FULL = {uint8 = 255, uint16 = 65535}

-- The power sees no value of the linear part: it has no derivative at 0 and
-- below.
local function decoded(x)
  local curve = ((x:clamp_min(0.04045) + 0.055) / 1.055) ^ 2.4
  return la.where(x:gt(0.04045), curve, x / 12.92)
end

local function encoded(x)
  local curve = x:clamp_min(0.0031308) ^ (1 / 2.4) * 1.055 - 0.055
  return la.where(x:gt(0.0031308), curve, x * 12.92)
end

function colour.srgb_to_linear(x)
  local most = is_tensor(x) and FULL[x.dtype]
  if most then return decoded(x:float() / most) end
  check_float("srgb_to_linear", x)
  return in_own_dtype(decoded, x)
end

function colour.linear_to_srgb(x)
  check_float("linear_to_srgb", x)
  return in_own_dtype(encoded, x)
end

-- ---- CIE L*a*b* ----

-- Linear sRGB to CIE XYZ (ITU-R BT.709 primaries), and the white of D65 seen by
-- the 2 degree observer; the digits of scikit-image.
local XYZ = {{0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169},
             {0.019334, 0.119193, 0.950227}}
local WHITE = {{{0.95047}}, {{1.0}}, {{1.08883}}}

-- The matrix applied to the channels of every pixel.
local function mix(matrix, x)
  return matrix:to(x.dtype):matmul(x:flatten(-2)):view_as(x)
end

local function to_lab(x)
  local xyz = mix(x:new_tensor(XYZ), decoded(x)) / x:new_tensor(WHITE)
  local root = xyz:clamp_min(0.008856) ^ (1 / 3)
  local f = la.where(xyz:gt(0.008856), root, xyz * 7.787 + 16 / 116)
  local fx, fy, fz = parts(f)
  return la.stack({fy * 116 - 16, (fx - fy) * 500, (fy - fz) * 200}, -3)
end

function colour.rgb_to_lab(x)
  check("rgb_to_lab", x, "3")
  check_float("rgb_to_lab", x)
  return in_own_dtype(to_lab, x)
end

local function from_lab(x)
  local l, a, b = parts(x)
  local fy = (l + 16) / 116
  local f = la.stack({a / 500 + fy, fy, (fy - b / 200):clamp_min(0)}, -3)
  local xyz = la.where(f:gt(0.2068966), f ^ 3, (f - 16 / 116) / 7.787)
    * x:new_tensor(WHITE)
  local rgb = la.linalg.inv(la.tensor(XYZ, {dtype = "float64",
                                            device = x.device}))
  return encoded(mix(rgb, xyz)):clamp(0, 1)
end

function colour.lab_to_rgb(x)
  check("lab_to_rgb", x, "3")
  if not x:is_floating_point() then
    fail("lab_to_rgb", "floats expected, got %s", x.dtype)
  end
  return in_own_dtype(from_lab, x)
end

return colour
