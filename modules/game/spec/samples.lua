-- Calls of la.game for derivatives (spec/support/samples.lua): a function and
-- the shapes of its inputs.
local la = require "lunarray"
local game = la.game

local F64 = {dtype = "float64"}

-- Where rays hit: small numbers about a ray from z = 5 downwards.
local function ray(o, d)
  return o * 0.1 + la.tensor({0, 0, 5}, F64),
    d * 0.05 - la.tensor({0, 0, 1}, F64)
end

local corners = la.tensor({{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, F64)
  - la.tensor({1, 1, 0}, F64)
local joints = la.tensor{{1, 2}, {2, 2}, {3, 1}}

-- A matrix near the identity.
local function upright(m) return m * 0.1 + la.eye(m:size(-1), F64) end

local list = {
  dot = {{3, 4}, {4}}, length = {{3, 2}}, distance = {{3, 3}, {2, 1, 3}},
  angle = {{3, 3}, {3, 3}}, normalize = {{3, 3}}, project = {{3, 3}, {3, 3}},
  clamp_length = {{3, 3}, {3}}, cross = {{3, 3}, {3}},
  reflect = {{3, 2}, {3, 2}},
  refract = {{3, 3}, {3, 3}, {3}, f = function(v, n, eta)
    return game.refract(game.normalize(v), game.normalize(n), eta * 0.3)
  end},
  quat_mul = {{3, 4}, {4}}, quat_conj = {{4}}, quat_inverse = {{3, 4}},
  quat_rotate = {{2, 1, 4}, {3, 3}}, slerp = {{3, 4}, {3, 4}, {3}},
  nlerp = {{3, 4}, {3, 4}, {}}, quat_axis_angle = {{3, 3}, {3}},
  quat_to_axis_angle = {{3, 4}}, quat_euler = {{3, 3}},
  quat_between = {{3, 3}, {3, 3}}, quat_look = {{3, 3}, {3, 3}},
  quat_from_mat3 = {{3, 3, 3}}, quat_to_mat3 = {{3, 4}},
  quat_integrate = {{3, 4}, {3, 3}, {}}, dual_quat = {{3, 4}, {3}},
  dual_quat_mul = {{3, 8}, {3, 8}}, dual_quat_transform = {{3, 8}, {3, 3}},
  translation = {{3, 3}}, scaling = {{3}}, rotation = {{2, 4}},
  compose = {{3, 3}, {4}, {3, 3}},
  decompose = {{2, 4, 4}, f = function(m)
    return game.decompose(upright(m))
  end},
  inverse_affine = {{2, 4, 4}, f = function(m)
    return game.inverse_affine(upright(m))
  end},
  look_at = {{2, 3}, {3}, {2, 3}},
  perspective = {{2}, {}, {}, {2}, f = function(a, b, c, d)
    return game.perspective(a * 0.1 + 1, b * 0.1 + 1, c * 0.1 + 1, d + 9)
  end},
  orthographic = {{}, {2}, {}, {}, {}, {}, f = function(l, r, b, t, n, f)
    return game.orthographic(l - 9, r, b - 9, t, n - 9, f)
  end},
  transform_points = {{2, 4, 4}, {3, 1, 3}, f = function(m, p)
    return game.transform_points(upright(m), p * 0.1)
  end},
  transform_vectors = {{2, 3, 3}, {3, 1, 3}},
  transform_normals = {{2, 4, 4}, {3, 1, 3}, f = function(m, n)
    return game.transform_normals(upright(m), n)
  end},
  skin = {{3, 3}, {3, 4, 4}, {3, 2}, f = function(p, m, w)
    return game.skin(p, m, joints, w)
  end},
  ray_box = {{3, 3}, {3, 3}, {3}, {3}, f = function(o, d, lo, hi)
    o, d = ray(o, d)
    return game.ray_box(o, d, lo * 0.1 - 1, hi * 0.1 + 1)
  end},
  ray_sphere = {{3, 3}, {3, 3}, {3}, {3}, f = function(o, d, c, r)
    o, d = ray(o, d)
    return game.ray_sphere(o, d, c * 0.1, r * 0.1 + 2)
  end},
  ray_triangle = {{2, 3}, {2, 3}, {3}, f = function(o, d, a)
    o, d = ray(o, d)
    return game.ray_triangle(o, d, corners[1] + a * 0.1, corners[2],
      corners[3])
  end},
  sd_sphere = {{3, 3}, {}}, sd_box = {{5, 3}, {3}},
  sd_capsule = {{5, 3}, {3}, {3}, {}},
  perlin = {{3, 2}, {3, 3}}, simplex = {{3, 2}, {3, 3}}, fbm = {{2, 2}, {3}},
  curl = {{2, 2}, {3}}, worley = {{3, 2}, {2, 3}},
  seek = {{3, 2}, {3, 2}, {2}}, flee = {{3, 2}, {3, 2}, {2}},
  arrive = {{3, 2}, {3, 2}, {2}}, wander = {{3, 3}, {3, 3}},
  nearest = {{7, 2}, {2, 2}, f = function(p, q)
    return (game.nearest(p, q, 3))
  end},
  align = {{6, 2}, {6, 2}, f = function(p, v)
    return game.align(p, v, 1.1)
  end},
  cohere = {{6, 3}, f = function(p) return game.cohere(p, 1.6) end},
  boids = {{6, 2}, {6, 2}, f = function(p, v)
    return game.boids(p, v, {dt = 0.5, radius = 1.1, speed = 2, force = 2})
  end},
  separate = {{6, 2}, f = function(p) return game.separate(p, 1.1) end},
}

-- Of these each shape is a call, not an input.
local alone = {perlin = true, simplex = true, fbm = true, curl = true,
               worley = true}

local calls = {}
for name, shapes in pairs(list) do
  local f = shapes.f or game[name]
  local of = {}
  if alone[name] then
    for k, shape in ipairs(shapes) do
      of[k] = {function(p) return f(p * 3) end, shape}
    end
  else
    of[1] = {f, table.unpack(shapes)}
  end
  calls["game_" .. name] = of
end
return calls
