-- Smoke in a box without ends (Stam's stable fluids): two jets blow at each
-- other; velocity and smoke are carried along by it, and a Fourier transform
-- takes out what would compress the air.
--
--   lua5.4 examples/fluid.lua [size [steps [picture.png or film.gif]]]
local la = require "lunarray"

local n = tonumber(arg and arg[1]) or 192
local steps = tonumber(arg and arg[2]) or 420
local picture = arg and arg[3]
local film = picture and picture:find "%.gif$" and {}

local DT = 0.6
local at = la.arange(n):float()
local rows, columns = table.unpack(la.meshgrid{at, at})

-- Wave numbers, and the part of a field that they say is compression.
local k = la.fft.fftfreq(n)
local kr, kc = k:unsqueeze(2), k:unsqueeze(1)
local square = kr * kr + kc * kc
square[{1, 1}] = 1

-- {2, n, n}: rows, columns. The same field without divergence.
local function project(u)
  local f = la.fft.fft2(u)
  local along = (f[1] * kr + f[2] * kc) / square
  return la.fft.ifft2(la.stack{f[1] - along * kr, f[2] - along * kc}).real
end

-- What was upwind one step ago: fields {c, n, n} read between their points.
local function carried(x, u)
  local r = (rows - DT * u[1]):remainder(n)
  local c = (columns - DT * u[2]):remainder(n)
  local grid = la.stack({c, r}, 3) * (2 / n) - 1
  local ring = la.pad(x:unsqueeze(1), {0, 1, 0, 1}, "circular")
  return la.grid_sample(ring, grid:unsqueeze(1), {align_corners = true})[1]
end

local function jet(row, column, width)
  return (-((rows - row * n):square() + (columns - column * n):square())
    / (width * n) ^ 2):exp()
end

local left, right = jet(0.48, 0.15, 0.05), jet(0.52, 0.85, 0.05)
local u, smoke = la.zeros(2, n, n), la.zeros(2, n, n)

-- Orange and blue smoke on black.
local function drawn(size, shades)
  local large = la.image.resize(smoke, size, size, {mode = "bicubic"})
  local a, b = large[1], large[2]
  local rgb = la.stack{a + 0.15 * b, 0.5 * a + 0.45 * b, 0.1 * a + b}
  return (rgb:clamp(0, 1) * shades):round() / shades
end

for step = 1, steps do
  la.tidy(function()
    u[2]:add_(left - right, {alpha = 0.12 * n / 192})
    u[1]:add_(smoke[2] - smoke[1], {alpha = 0.004})     -- warm smoke rises
    smoke:add_(la.stack{left, right}, {alpha = 0.05}):clamp_(0, 1)
    u:copy_(project(carried(u, u)))
    smoke:copy_(carried(smoke, u))
  end)
  if film and step % 7 == 0 then film[#film + 1] = drawn(320, 5) end
end

local f = la.fft.fft2(u)
local div = la.fft.ifft2(f[1] * kr + f[2] * kc):abs():max():item()
local speed = u:square():sum(1):sqrt():max():item()
print(("%d x %d points, %d steps: fastest %.2f points a step, divergence %.0e")
  :format(n, n, steps, speed * DT, div))
if film then la.plot.animate(film, picture, {fps = 15})
elseif picture then la.image.save(drawn(832, 32), picture)
end
return {divergence = div, speed = speed, smoke = smoke:mean():item()}
