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

-- ---- a bright sky with fine clouds, a dark one with coarse ones ----
local x = la.linspace(0, 1, size):view(1, 1, 1, size)
local function sky(top, bottom, step, seed)
  local y = la.linspace(0, 1, size):view(size, 1)
  local line = y:flatten() * step
  local at = la.stack(la.meshgrid{line, line}, 3)
  local cloud = (la.game.fbm(at, {seed = seed, octaves = 6}) * 1.6 + 0.35)
    :clamp(0, 1) * 0.8
  top, bottom = la.tensor(top):view(3, 1, 1), la.tensor(bottom):view(3, 1, 1)
  local clear = la.lerp(top, bottom, y)
  return la.lerp(clear, 1.3 * bottom, cloud):unsqueeze(1):clamp(0, 1)
end
local bright = sky({0.25, 0.5, 0.85}, {0.7, 0.8, 0.95}, 7, 3)
local dark = sky({0.08, 0.08, 0.2}, {0.75, 0.35, 0.25}, 3, 8)
local left = (x + la.zeros(size, 1)):lt(0.5):float()  -- where 'bright' is
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
print(("%d levels; taken apart and put together: %.1e lost\nstep at the seam: "
  .. "%.3f pasted, %.3f blended"):format(LEVELS, lost, seam(pasted),
  seam(blended)))
if arg[2] then
  local gap = la.ones{1, 3, size, 4}
  local both = la.cat({pasted, gap, blended}, 4)[1]:clamp(0, 1)
  la.image.save((both * 24):round() / 24, arg[2])
end
return {lost = lost, pasted = seam(pasted), blended = seam(blended)}
