-- A flock of boids in a wood: they keep together, flee a hawk and go round the
-- trees. One call moves all of them; the rest are forces on batches.
--
--     lunarray examples/flock.lua [boids [steps [picture.png or film.gif]]]
local la = require "lunarray"
local game = la.game

local n = tonumber(arg and arg[1]) or 2000
local steps = tonumber(arg and arg[2]) or 300
local picture = arg and arg[3]
local film = picture and picture:find "%.gif$" and {}

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

-- Each boid is a stroke along its course, coloured by where that leads.
local function drawn()
  local fig = la.plot.scatter(trees[{{}, 1}], trees[{{}, 2}], {xlim = {0, SIZE},
    ylim = {0, SIZE}, aspect = "equal", grid = false, color = "#333333",
    markersize = 36, title = "A flock in a wood"})
  local sixth = ((la.atan2(v[{{}, 2}], v[{{}, 1}]) / math.pi + 1) * 3):floor()
  local along = game.normalize(v) * 0.4
  for k, color in ipairs{"#3b4cc0", "#5aa0d0", "#45a56f", "#c9a227", "#d9773a",
    "#b40426"} do
    local some = sixth:eq(k - 1)
    local from, by = p[some], along[some]
    local parts = {from - by, from + by, la.full_like(from, 0 / 0)}
    local strokes = la.stack(parts, 2):view(-1, 2):t()
    fig:line(strokes[1], strokes[2], {linewidth = 1.6, color = color})
  end
  return fig
end

local before = order()
for step = 1, steps do
  v = game.clamp_length(v + forces(step) * DT, SPEED)
  game.boids(p, v, {dt = DT, radius = 2, separate = 0.3, align = 2,
    cohere = 0.6, force = 6, speed = SPEED, out = {p, v}})
  if film and step % 6 == 0 then film[#film + 1] = drawn() end
end

local clear = (game.nearest(trees, p, 1)):min():item()
print(("%d boids, %d steps: order %.2f, at first %.2f; nearest to a trunk "
  .. "%.2f"):format(p:size(1), steps, order(), before, clear))
if film then la.plot.animate(film, picture, {width = 400, height = 400})
elseif picture then
  drawn():save(picture, {width = 820, height = 820, scale = 1})
end
return {before = before, after = order(), clear = clear}
