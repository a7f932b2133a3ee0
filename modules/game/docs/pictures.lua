-- The pictures of game.md in this folder: lunarray pictures.lua [folder]. They
-- have few greys each, so that a file is a few KB.
local la = require "lunarray"
local game = la.game

local folder = arg and arg[1] or "modules/game/docs"

-- 0..1 as bytes in so many greys.
local function grey(x, steps)
  x = (x:clamp(0, 1) * (steps - 1)):round()
  return (x * (255 / (steps - 1))):round():to("uint8")
end

local function save(name, image)
  la.image.save(image, folder .. "/" .. name .. ".png")
end

-- Centres of h x w pixels, x to the right and y upwards, 'size' units high.
local function plane(h, w, size)
  local y = (h - la.arange(h) - 0.5) * (size / h)
  local x = (la.arange(w) + 0.5) * (size / h)
  return la.stack({x:unsqueeze(1):expand(h, w), y:unsqueeze(2):expand(h, w)}, 3)
end

-- Side by side with white between.
local function row(images)
  local list, gap = {}, la.ones(images[1]:size(1), 4)
  for k, image in ipairs(images) do
    if k > 1 then list[#list + 1] = gap end
    list[#list + 1] = image
  end
  return la.cat(list, 2)
end

-- Sets pixels at points {N, 2} of a square of 'size' units to 'value'.
local function mark(image, p, size, value)
  local h, w = image:size(1), image:size(2)
  local x = (p:select(2, 1) * (h / size)):floor()
  local y = (h - 1 - (p:select(2, 2) * (h / size)):floor())
  local inside = x:ge(0):logical_and(x:lt(w)):logical_and(y:ge(0))
    :logical_and(y:lt(h))
  local at = (y * w + x)[inside]:long() + 1
  image:view(-1):index_fill_(1, at, value)
end

local function noise()
  local p = plane(72, 72, 5)
  local f1, f2 = game.worley(p, {seed = 3})
  save("noise", grey(row{
    game.perlin(p, {seed = 1}) * 0.5 + 0.5,
    game.simplex(p, {seed = 1}) * 0.5 + 0.5,
    game.fbm(p, {seed = 1, octaves = 5}) * 0.8 + 0.5,
    f1, f2 - f1}, 8))
end

-- Dust that curl noise carries along.
local function curl()
  local image = la.zeros(128, 128)
  local p = game.poisson_disc({8, 8}, 0.4, {seed = 2})
  for k = 1, 60 do
    p = p + 0.03 * game.curl(p * 0.5, {seed = 4})
    mark(image, p, 8, k / 60)
  end
  local dots = la.zeros(128, 128)
  mark(dots, game.poisson_disc({8, 8}, 0.3, {seed = 5}), 8, 1)
  save("curl", grey(row{1 - dots, 1 - image}, 4))
end

-- Three shapes, a floor and a light: rays, normals and shadows.
local function scene()
  local h, w = 120, 180
  local p = plane(h, w, 2) - la.tensor{w / h, 1}
  local view = game.look_at(la.tensor{0, 2.2, 5}, la.tensor{0, 0.6, 0},
    la.tensor{0, 1, 0})
  local camera = game.inverse_affine(view)
  local d = la.cat({p * 0.5, la.full({h, w, 1}, -1)}, 3)
  d = game.normalize(game.transform_vectors(camera, d))
  local o = camera[{{1, 3}, 4}]
  local lo, hi = la.tensor{0.7, 0, -0.9}, la.tensor{1.9, 1.2, 0.3}
  local centre = la.tensor{-1, 0.9, 0}

  local function hit(from, towards)
    local sphere = game.ray_sphere(from, towards, centre, 0.9)
    return sphere, game.ray_box(from, towards, lo, hi)
  end
  local sphere, box = hit(o, d)
  local floor = -o[2] / d:select(3, 2)
  floor = floor:masked_fill(floor:lt(0), math.huge)
  local t = sphere:minimum(box):minimum(floor)
  local seen = t:isfinite()
  local at = o + d * t:masked_fill(seen:logical_not(), 0):unsqueeze(3)
  local round = game.normalize(at - centre)
  local part = (at - (lo + hi) / 2) / ((hi - lo) / 2)
  local side = part:abs():eq(part:abs():amax(3, true)):float() * part:sign()
  local up = la.tensor{0, 1, 0}:expand(h, w, 3)
  local n = up:where(floor:eq(t):unsqueeze(3), side)
  n = round:where(sphere:eq(t):unsqueeze(3), n)
  local light = game.normalize(la.tensor{-0.6, 1, 0.7})
  local bright = game.dot(n, light):clamp_min(0)
  local a, b = hit(at + n * 1e-3, light:expand(h, w, 3))
  local lit = a:minimum(b):isinf():float()
  local tiles = (at:select(3, 1):floor() + at:select(3, 3):floor())
    :remainder(2)
  local colour = (0.6 + 0.3 * tiles):where(floor:eq(t), la.tensor(0.9))
  local shade = colour * (0.2 + 0.8 * bright * lit)
  save("scene", grey(shade:where(seen, la.tensor(1)), 8))
end

-- A map: distance to the walls, the flow to a goal, the cheapest path.
local function paths()
  local n, size = 40, 4
  local p = plane(n, n, 5)
  local walls = game.fbm(p, {seed = 12}):gt(0.12)
  walls[{{1, 4}, {1, 4}}], walls[{{-4, -1}, {-4, -1}}] = false, false
  local space = game.distance_field(walls)
  local cost = (1 + 3 / space):masked_fill(walls, math.huge)
  local _, far = game.flow_field(cost, {n - 1, n - 1})
  local reach = far:masked_fill(far:isinf(), 0):max()
  local flow = ((far / reach * 12):floor():remainder(2) * 0.25 + 0.6)
    :masked_fill(far:isinf(), 0)
  local path = game.astar(cost, {2, 2}, {n - 1, n - 1}, {diagonal = true})
  if path then
    local at = (path:select(2, 1) - 1) * n + path:select(2, 2)
    flow:view(-1):index_fill_(1, at, 1)
  end
  local function large(x)
    return x:repeat_interleave(size, 1):repeat_interleave(size, 2)
  end
  save("paths", grey(large(row{space / space:max(), flow}), 8))
end

-- A flock: the last steps of its way.
local function flock()
  la.manual_seed(6)
  local size, image = 20, la.zeros(160, 160)
  local p, v = la.rand(260, 2) * 16 + 2, la.randn(260, 2)
  local centre = la.full({2}, size / 2)
  for k = 1, 500 do
    p, v = game.boids(p, v, {dt = 0.03, radius = 1.6, separate = 0.25,
      cohere = 0.8, force = 4, speed = 2})
    -- Back from outside, and on at full speed.
    local out = (game.distance(p, centre) - 6):clamp_min(0):unsqueeze(2)
    v = game.normalize(v + (centre - p) * out * 0.01) * 2
    if k > 460 then mark(image, p, size, (k - 460) / 40) end
  end
  save("flock", grey(1 - image, 6))
end

noise()
curl()
scene()
paths()
flock()
