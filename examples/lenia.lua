-- Lenia, a cellular automaton with states, space and time that are continuous
-- (Chan, 2019): a cell grows by what a ring around it holds. The ring is a
-- convolution, which a Fourier transform makes a product.
--
--   lua5.4 examples/lenia.lua [size [steps [picture.png or film.gif]]]
local la = require "lunarray"

local n = tonumber(arg and arg[1]) or 192
local steps = tonumber(arg and arg[2]) or 250
local picture = arg and arg[3]
local film = picture and picture:find "%.gif$" and {}

local RADIUS, MU, SIGMA, DT = 13, 0.15, 0.017, 0.1
la.manual_seed(7)

-- Distances from the corner, round the edges, in radii; a ring around 0.5.
local d = la.fft.fftfreq(n) * n / RADIUS
local r = (d:square():unsqueeze(1) + d:square():unsqueeze(2)):sqrt()
local ring = (-((r - 0.5) / 0.15):square() / 2):exp() * r:lt(1)
local kernel = la.fft.rfft2(ring / ring:sum())

local function growth(x)
  return 2 * (-((x - MU) / SIGMA):square() / 2):exp() - 1
end

-- Patches of noise in an empty world.
local world = la.rand(n, n)
local patch = la.image.resize(la.rand(1, n // 16, n // 16), n, n,
  {mode = "nearest"})[1]
world:mul_(patch:gt(0.6))

-- Dark blue, green, yellow: three ramps of 20 shades.
local function drawn(size)
  local v = la.image.resize(world:unsqueeze(1), size, size,
    {mode = "bicubic"})[1]
  v = (v:clamp(0, 1) * 20):round() / 20
  return la.stack{(v * 2 - 0.8):clamp(0, 1), v ^ 0.8,
    0.25 + 0.5 * (v * 3):clamp(0, 1) - 0.6 * v ^ 2}:clamp(0, 1)
end

for step = 1, steps do
  local near = la.fft.irfft2(la.fft.rfft2(world) * kernel, {s = {n, n}})
  world:add_(growth(near), {alpha = DT}):clamp_(0, 1)
  if film and step % 7 == 0 then film[#film + 1] = drawn(320) end
end

local alive = world:gt(0.1):float():mean():item()
print(("%d x %d cells, %d steps: %.0f %% of them alive"):format(n, n, steps,
  alive * 100))
if film then la.plot.animate(film, picture, {fps = 10})
elseif picture then la.image.save(drawn(832), picture)
end
return {alive = alive, world = world}
