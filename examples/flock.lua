-- A flock of boids in a wood: they keep together, flee a hawk and go round the
-- trees. One call moves all of them; the rest are forces on batches.
--
--     lunarray examples/flock.lua [boids [steps [picture.png]]]
local la = require "lunarray"
local game = la.game

local n = tonumber(arg and arg[1]) or 2000
local steps = tonumber(arg and arg[2]) or 300
local picture = arg and arg[3]

local SIZE, DT, SPEED = 60, 1 / 30, 4
local CENTRE = la.full({2}, SIZE / 2)

la.manual_seed(1)
local p = game.poisson_disc({SIZE, SIZE}, 1, {seed = 1})
p = p[{la.randperm(p:size(1))[{{1, math.min(n, p:size(1))}}]}]
local v = game.wander(p, la.zeros_like(p), {force = SPEED})
local trees = game.poisson_disc({SIZE, SIZE}, 12, {seed = 4})
local TRUNK = 1.5

local function forces(step)
  local angle = step * DT * 0.7
  local hawk = CENTRE + la.tensor{math.cos(angle), math.sin(angle)} * 15
  local near = game.distance(p, hawk):lt(8):unsqueeze(2)
  local force = game.flee(p, v, hawk, {speed = SPEED, force = 12}) * near
  -- Away from the nearest trunk, where one is closer than a length.
  local far, which = game.nearest(trees, p, 1)
  local gap = far - TRUNK
  local away = game.normalize(p - trees[{which:view(-1)}])
  force = force + away * (1 - gap):clamp(0, 1) * 30
  -- Back from the edge of the wood.
  local out = (game.distance(p, CENTRE) - SIZE * 0.4):clamp_min(0)
  force = force + game.seek(p, v, CENTRE, {speed = SPEED})
    * out:unsqueeze(2)
  return force + game.wander(p, v, {seed = 2, step = step, force = 0.5})
end

-- How much of one course a boid and its neighbours have, 0 to 1.
local function order()
  local mean = v + game.align(p, v, 2)
  return (game.length(mean) / game.length(v):clamp_min(1e-6)):mean():item()
end

local before = order()
for step = 1, steps do
  v = game.clamp_length(v + forces(step) * DT, SPEED)
  game.boids(p, v, {dt = DT, radius = 2, separate = 0.3, align = 2,
    cohere = 0.6, force = 6, speed = SPEED, out = {p, v}})
end

local clear = (game.nearest(trees, p, 1)):min():item()
print(("%d boids, %d steps: order %.2f, at first %.2f; nearest to a trunk "
  .. "%.2f"):format(p:size(1), steps, order(), before, clear))

-- Grey where a boid flies, dark for the trees: distances as a picture.
if picture then
  local pixels = 240
  local grid = la.zeros(pixels, pixels)
  local at = (p * (pixels / SIZE)):floor():clamp(0, pixels - 1):long()
  grid:view(-1):index_fill_(1, at:select(2, 2) * pixels + at:select(2, 1) + 1,
    1)
  local i = (la.arange(pixels) + 0.5) * (SIZE / pixels)
  local cells = la.stack({i:unsqueeze(1):expand(pixels, pixels),
    i:unsqueeze(2):expand(pixels, pixels)}, 3)
  local trunk = (game.nearest(trees, cells:view(-1, 2), 1)):lt(TRUNK)
    :view(pixels, pixels)
  local image = 1 - game.distance_field(grid):lt(1.2):float() * 0.6
  image = image:masked_fill(trunk, 0)
  la.image.save((image * 255):to("uint8"), picture)
end
return {before = before, after = order(), clear = clear}
