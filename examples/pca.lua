-- Principal components of handwritten digits: how much of the pictures lies in
-- how few directions, and what is lost when the others are left out.
--
--   lua5.4 examples/pca.lua [components [picture.png]]

local la = require "lunarray"
local plot = require "lunarray.plot"

local images = la.load "examples/data/digits_images.npy":to("float64")
local n = images:size(1)
local x = images:reshape(n, -1)
local size = images.shape[#images.shape]

-- The singular vectors of the centred data are the components; the squares of
-- the singular values, divided by n - 1, are the variances along them.
local mean = x:mean(1)
local centred = x - mean
local _, s, vh = la.linalg.svd(centred, {full_matrices = false})
local share = s:square() / s:square():sum()

-- Coordinates along the first k components, and back.
local function code(rows, k) return rows:matmul(vh[{{1, k}}]:t()) end
local function decode(coordinates)
  return coordinates:matmul(vh[{{1, coordinates:size(2)}}]) + mean
end

local k = tonumber(arg and arg[1]) or 10
local restored = decode(code(centred, k))
local error = (restored - x):square():sum() / centred:square():sum()
local kept = share[{{1, k}}]:sum():item()

print(("%d pictures of %d numbers"):format(n, x:size(2)))
print(("the first %d components have %.1f %% of the variance"):format(k,
  kept * 100))
print(plot.line(share:cumsum(1), {height = 8, title = "share of the variance"}))
print("a picture, and what is left of it:")
print(plot.image(x[1]:reshape(size, size)))
print(plot.image(restored[1]:reshape(size, size)))

if arg and arg[2] then
  -- Ten digits as they are, and from a few components.
  local panels = {columns = 1}
  for i, few in ipairs{0, 2, 5, 10, 20} do
    local some = few == 0 and x[{{1, 10}}] or decode(code(centred[{{1, 10}}],
      few))
    local row = la.pad(16 - some:view(10, size, size), {1, 1},
      "constant", 16):permute(2, 1, 3)
    panels[i] = plot.heatmap(la.interpolate(row:reshape(1, 1, size, -1),
      {scale_factor = 4, mode = "bicubic"})[{1, 1}], {colorbar = false,
      low = 0, high = 16, colormap = "gray", aspect = "equal", xticks = {},
      yticks = {}, title = few == 0 and "ten digits"
        or ("from %d components"):format(few)})
  end
  plot.grid(panels):save(arg[2], {width = 800, height = 720, scale = 1})
end
return {kept = kept, lost = error:item()}
