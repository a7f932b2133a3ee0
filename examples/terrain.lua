-- A landscape from noise, worn down by rain: each drop of a shower runs
-- downhill, takes earth along while it speeds up and drops it where it slows
-- down. All drops of a shower move at once.
--
--   lua5.4 examples/terrain.lua [size [showers [picture.png]]]
local la = require "lunarray"
local game = la.game

local n = tonumber(arg and arg[1]) or 192
local showers = tonumber(arg and arg[2]) or 40
local picture = arg and arg[3]

local DROPS, STEPS = 1000, 40
la.manual_seed(2)

local at = la.arange(n):float() * (4 / n)
local p = la.stack(la.meshgrid{at, at}, 3)
local ridges = 1 - game.fbm(p, {seed = 5, octaves = 6}):abs() * 2
local height = (0.6 * ridges + 0.6 * game.fbm(p * 0.5, {seed = 9})) * n / 8
local before = height:clone()
local flat = height:view(-1)

-- Heights and slopes at points {D, 2}, between their four neighbours.
local function sample(q)
  local cell = q:floor():clamp(0, n - 2)
  local f = q - cell
  local fr, fc = f[{{}, 1}], f[{{}, 2}]
  local i = (cell[{{}, 1}] * n + cell[{{}, 2}]):long() + 1
  local a, b, c, d = flat[i], flat[i + 1], flat[i + n], flat[i + n + 1]
  local dr = (c - a) * (1 - fc) + (d - b) * fc
  local dc = (b - a) * (1 - fr) + (d - c) * fr
  return a + fr * (c - a) + fc * (b - a) + fr * fc * (a - b - c + d),
    la.stack({dr, dc}, 2), i
end

for _ = 1, showers do
  la.tidy(function()
    local q = la.rand(DROPS, 2) * (n - 1)
    local heading, load = la.zeros(DROPS, 2), la.zeros(DROPS)
    for step = 1, STEPS do
      local h, slope, i = sample(q)
      heading = game.normalize(0.3 * heading - 0.7 * slope)
      q = (q + heading):clamp(0, n - 1.001)
      local fall = h - sample(q)
      -- What a drop can carry grows with the fall, and it dries up.
      local can = fall:clamp_min(0) * 4 * (1 - step / STEPS)
      local taken = la.where(fall:lt(0), fall * 0.3, 0.2 * (can - load))
        :minimum(0.1 * fall:abs()):clamp(-0.05, 0.05):maximum(-load)
      flat:index_add_(1, i, -taken)
      load = load + taken
    end
  end)
end

local worn = (before - height):clamp_min(0):sum():item() / n ^ 2
print(("%d x %d points, %d drops: %.3f of earth moved per point")
  :format(n, n, showers * DROPS, worn))
if picture then
  -- Seen from above, lit from the north-west; colours blend by height.
  local size = 820
  local fine = la.image.resize(la.image.gaussian_blur(height:unsqueeze(1), 0.7),
    size, size, {mode = "bicubic"})[1] * (size / n)
  local slope = la.gradient(fine)
  local light = (0.75 - 0.4 * (slope[1] + slope[2]))
    / (1 + slope[1]:square() + slope[2]:square()):sqrt()
  local level = (fine - fine:min()) / (fine:max() - fine:min()) * 3
  local colours = la.tensor{{0.28, 0.43, 0.24}, {0.5, 0.52, 0.3},
    {0.52, 0.43, 0.36}, {0.97, 0.97, 1.0}}
  local low = level:floor():clamp(0, 2)
  local part, i = (level - low):unsqueeze(3), low:long() + 1
  local rgb = (colours[i] * (1 - part) + colours[i + 1] * part)
    * (light:clamp(0.1, 1.3) + 0.25):unsqueeze(3)
  rgb = (rgb:clamp(0, 1) * 16):round() / 16
  la.image.save(rgb:permute(3, 1, 2)[{{}, {9, -9}, {9, -9}}], picture)
end
return {worn = worn, height = height}
