-- Two pictures become one without a seam (P. Burt and E. Adelson, A
-- multiresolution spline, 1983): each is taken apart into bands of detail, a
-- Laplacian pyramid; the bands are joined along a mask as soft as the band is
-- coarse, and the pyramid is summed up again.
--
--   lua5.4 examples/pyramid.lua [size [picture.png]]

local la = require "lunarray"

local size = tonumber(arg[1]) or 256
local LEVELS = math.floor(math.log(size, 2)) - 3

local function resized(x, like)
  return la.interpolate(x, {size = {like:size(3), like:size(4)},
    mode = "bilinear", antialias = true})
end

-- Pictures from large to small, each half the one before.
local function gaussian(x)
  local list = {x}
  for k = 2, LEVELS do
    list[k] = la.interpolate(list[k - 1], {scale_factor = 0.5,
      mode = "bicubic", antialias = true})
  end
  return list
end

-- What each picture has that the next smaller one, enlarged, has not.
local function laplacian(x)
  local list = gaussian(x)
  for k = 1, LEVELS - 1 do
    list[k] = list[k] - resized(list[k + 1], list[k])
  end
  return list
end

local function collapse(bands)
  local x = bands[LEVELS]
  for k = LEVELS - 1, 1, -1 do x = resized(x, bands[k]) + bands[k] end
  return x
end

-- ---- two skies: one bright with fine waves, one dark with coarse ones ----

local y = la.linspace(0, 1, size):view(1, 1, size, 1)
local x = la.linspace(0, 1, size):view(1, 1, 1, size)
local color = la.tensor{0.9, 1.0, 1.1}:view(1, 3, 1, 1)
local bright = (0.7 + 0.1 * (60 * x + 9 * y):sin() * (50 * y):cos()) * color
local dark = (0.3 + 0.1 * (17 * x - 23 * y):sin()) / color
local left = (x + 0 * y):lt(0.5):float()          -- where the first one shows

local mask = gaussian(left)
local a, b, joined = laplacian(bright), laplacian(dark), {}
for k = 1, LEVELS do joined[k] = a[k] * mask[k] + b[k] * (1 - mask[k]) end
local blended = collapse(joined)
local pasted = bright * left + dark * (1 - left)

-- The step in the middle, from one column to the next.
local function seam(picture)
  local middle = size // 2
  return (picture[{{}, {}, {}, middle + 1}] - picture[{{}, {}, {}, middle}])
    :abs():mean():item()
end

local lost = (collapse(laplacian(bright)) - bright):abs():max():item()
print(("%d levels; taken apart and put together: %.1e lost"):format(LEVELS,
  lost))
print(("step at the seam: %.3f pasted, %.3f blended"):format(seam(pasted),
  seam(blended)))
if arg[2] then
  local gap = la.ones{1, 3, size, 4}
  local both = la.cat({pasted, gap, blended}, 4)[1]:clamp(0, 1)
  la.image.save((both * 24):round() / 24, arg[2])
end
return {lost = lost, pasted = seam(pasted), blended = seam(blended)}
