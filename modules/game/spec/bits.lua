-- Prints hashes of what la.game gives, for each CPU path and number of threads:
-- all of them must be the same.
local la = require "lunarray"
local game = la.game

la.set_num_threads(tonumber(arg[1]))

-- Numbers of whole ones: random ones are another operation's.
local function numbers(dtype, ...)
  local n = 1
  for _, size in ipairs{...} do n = n * size end
  local x = la.arange(n, {dtype = "float64"})
  x = (x * x * 7919 + x * 104729) % 100003 / 100003 * 2 - 1
  return x:to(dtype):view(...)
end

local N = 5000
for _, dtype in ipairs{"float32", "float64"} do
  local a, b = numbers(dtype, N, 3), numbers(dtype, 2, N, 3)[2] * 3
  local q = game.normalize(numbers(dtype, N, 4))
  local p = game.normalize(numbers(dtype, 2, N, 4)[2])
  local t = numbers(dtype, N)
  local m = game.compose(a, q, b)
  local calls = {
    length = {a}, angle = {a, b}, normalize = {a}, project = {a, b},
    quat_mul = {p, q}, quat_rotate = {q, a}, slerp = {p, q, t},
    nlerp = {p, q, t}, quat_axis_angle = {a, t}, quat_to_axis_angle = {q},
    quat_euler = {a}, quat_between = {a, b}, quat_look = {a, b},
    quat_integrate = {q, a, t}, decompose = {m}, inverse_affine = {m},
    look_at = {a, b, p:narrow(2, 1, 3)}, perspective = {t, 1.5, 0.1, 100},
    transform_points = {m, b}, transform_normals = {m, b},
    dual_quat_transform = {game.dual_quat(q, a), b},
    ray_box = {a, b, a - 1, a + 0.5}, ray_sphere = {a, b, -a, 0.7},
    ray_triangle = {a, b, -a, a:flip(1), b:flip(1)},
    sd_box = {b, a:abs()}, sd_capsule = {b, a, -a, t},
    perlin = {b * 9}, simplex = {b * 9}, fbm = {b}, worley = {b * 9},
    curl = {b * 9}, wander = {a, b}, seek = {a, b, a:flip(1)},
    separate = {a, 0.1}, align = {a, b, 0.1}, cohere = {a, 0.1},
    neighbors = {a, 0.1}, nearest = {a, b, 4}, boids = {a, b, {radius = 0.1}},
    distance_field = {t:view(50, 100):gt(0.95)},
    flow_field = {t:view(50, 100):abs(), {3, 4}},
    astar = {t:view(50, 100):abs(), {1, 1}, {50, 100}},
    poisson_disc = {{3, 4}, 0.1},
    skin = {a, m:narrow(1, 1, 9), (t:abs() * 8):view(N, 1):long() + 1,
            t:view(N, 1)},
  }
  local names = {}
  for name in pairs(calls) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    for _, r in ipairs{game[name](table.unpack(calls[name]))} do
      print(dtype, name, ("%016x"):format(la.hash(r)))
    end
  end
  -- Gradients, of gradients too.
  local x = (b * 3):requires_grad_()
  local g = la.grad(game.perlin(x):sum(), x, {create_graph = true})
  g:square():sum():backward()
  print(dtype, "gradients", ("%016x"):format(la.hash(g:detach())),
    ("%016x"):format(la.hash(x.grad)))
end
