-- Gray and Scott's reaction: one substance feeds another that eats it, both
-- diffuse, and spots and stripes appear. The two rates change over the picture,
-- so that it shows a map of the patterns.
--
--   lua5.4 examples/reaction.lua [size [steps [picture.png]]]
local la = require "lunarray"

local n = tonumber(arg and arg[1]) or 160
local steps = tonumber(arg and arg[2]) or 4000
local picture = arg and arg[3]

la.manual_seed(3)
local feed = la.linspace(0.015, 0.065, n):unsqueeze(2):expand(n, n)
local kill = la.linspace(0.054, 0.066, n):unsqueeze(1):expand(n, n)
local a, b = la.ones(n, n), (la.rand(n, n):gt(0.98)):float()
b = la.image.gaussian_blur(b:unsqueeze(1), 1.5)[1] * 3

-- The five-point Laplacian, round the edges.
local function diffuse(x)
  return x:roll(1, 1) + x:roll(-1, 1) + x:roll(1, 2) + x:roll(-1, 2) - 4 * x
end

-- What is computed element by element goes over memory once.
local react = la.fuse(function(u, v, du, dv)
  local eaten = u * v * v
  return u + 0.16 * du - eaten + feed * (1 - u),
    v + 0.08 * dv + eaten - (feed + kill) * v
end)

for _ = 1, steps do
  a, b = la.tidy(function() return react(a, b, diffuse(a), diffuse(b)) end)
end

print(("%d x %d cells, %d steps: %.1f %% of the second substance"):format(n, n,
  steps, b:mean():item() * 100))
if picture then
  local fine = la.image.resize(b:unsqueeze(1), 4 * n, 4 * n,
    {mode = "bicubic"})[1]
  la.plot.heatmap((fine * 60):round() / 60, {low = 0, high = 0.4,
    colormap = {"white", "#1a66bf", "#08306b"}, x = {0.054, 0.066},
    y = {0.015, 0.065}, xlabel = "kill rate",
    ylabel = "feed rate", title = "The second substance, by both rates",
    colorbar = false}):save(picture, {width = 800, height = 800, scale = 1})
end
return {a = a, b = b}
