-- A texture is rotated, scaled and shifted; how, is found again from the two
-- pictures alone. grid_sample has gradients for the points that it reads, so
-- the map is learned: first on small pictures, where it is far off, then on
-- larger ones.
--
--   lua5.4 examples/warp.lua [steps per size [picture.png]]

local la = require "lunarray"
local optim = require "lunarray.optim"
local plot = require "lunarray.plot"

local STEPS = tonumber(arg[1]) or 60
local SIZE = 128

-- angle, log of the scale, shift along x and y; as maps (1, 2, 3)
local function map_of(p)
  local c, s = p[1]:cos() * p[2]:exp(), p[1]:sin() * p[2]:exp()
  return la.stack({la.stack{c, -s, p[3]}, la.stack{s, c, p[4]}}):unsqueeze(1)
end

local function warped(picture, p)
  local grid = la.affine_grid(map_of(p), {1, 1, picture:size(3),
    picture:size(4)})
  return la.grid_sample(picture, grid, {padding_mode = "border"})
end

-- ---- the texture: bumps at random points ----

la.manual_seed(7)
local line = la.linspace(-1, 1, SIZE)
local texture = la.zeros{1, 1, SIZE, SIZE}
for _ = 1, 25 do
  local at, width = la.rand(2) * 1.6 - 0.8, 0.08 + 0.15 * la.rand(1)
  local dy = (line - at[1]):square():view(-1, 1)
  local dx = (line - at[2]):square():view(1, -1)
  texture:add_((-(dx + dy) / width:square()):exp())
end

local truth = la.tensor{0.5, 0.15, 0.12, -0.2}
local target = warped(texture, truth)

-- ---- from coarse to fine ----

local found = la.zeros{4}:requires_grad_()
for _, size in ipairs{16, 32, 64, 128} do
  local small = {size = {size, size}, mode = "bilinear", antialias = true}
  local from, to = la.interpolate(texture, small), la.interpolate(target, small)
  local opt = optim.Adam({found}, {lr = 0.02})
  local loss
  for _ = 1, STEPS do
    opt:zero_grad()
    loss = la.mse_loss(warped(from, found), to)
    loss:backward()
    opt:step()
  end
  print(("%3d pixels: loss %.2e"):format(size, loss:item()))
end

local miss = (found:detach() - truth):abs():max():item()
print(("angle %.3f, scale %.3f, shift (%.3f, %.3f); off by %.4f at most")
  :format(found:item(1), math.exp(found:item(2)), found:item(3),
  found:item(4), miss))
if arg[2] then
  local panels = {columns = 3}
  for k, part in ipairs{{"one picture", texture}, {"the other", target},
    {"the first by the map found", warped(texture, found:detach())}} do
    panels[k] = plot.heatmap(part[2][{1, 1}], {title = part[1], low = 0,
      high = texture:max():item(), colormap = "magma", colorbar = false,
      aspect = "equal"})
  end
  plot.grid(panels):save(arg[2], {width = 960, height = 360, scale = 1})
end
return miss
