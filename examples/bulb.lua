-- The Mandelbulb by sphere tracing: every ray steps by its distance to the
-- surface until it is there. The light needs the surface's direction, which is
-- the gradient of that distance: autograd gives it.
--
--   lua5.4 examples/bulb.lua [size [steps [picture.png]]]
local la = require "lunarray"
local game = la.game

local n = tonumber(arg and arg[1]) or 200
local steps = tonumber(arg and arg[2]) or 60
local picture = arg and arg[3]

-- An estimate of the distance of points {N, 3} from the set of z^8 + c, and the
-- least distance from the origin on the way, for the colour.
local function distance(p, rounds)
  local z, dr = p, la.ones(p:size(1))
  local r, trap = z:norm(2, 2), la.full({p:size(1)}, 2)
  for _ = 1, rounds do
    local inside = r:lt(2)                      -- the others have escaped
    local theta = la.acos((z[{{}, 3}] / r):clamp(-0.9999, 0.9999)) * 8
    local phi = la.atan2(z[{{}, 2}], z[{{}, 1}]) * 8
    dr = (r ^ 7 * 8 * dr + 1):where(inside, dr)
    local s = theta:sin()
    local next = la.stack({s * phi:cos(), s * phi:sin(), theta:cos()}, 2)
      * (r ^ 8):unsqueeze(2) + p
    z = next:where(inside:unsqueeze(2), z)
    r = z:norm(2, 2)
    trap = trap:minimum(r)
  end
  return 0.5 * r:log() * r / dr, trap
end

-- One ray through each pixel.
local eye = la.tensor{1.6, -1.5, 1.1}
local ahead = game.normalize(-eye)
local across = game.normalize(la.linalg.cross(ahead, la.tensor{0.0, 0.0, 1.0}))
local up = la.linalg.cross(across, ahead)
local s = la.linspace(-0.52, 0.52, n)
local d = game.normalize(ahead + s:unsqueeze(2) * across
  - s:view(n, 1, 1) * up):reshape(-1, 3)
local t = la.full({n * n}, 1.0)
local going = la.range(n * n)        -- rays that are still on their way
local met = la.zeros(n * n, {dtype = "bool"})
local near = 0.5 / n                 -- about a pixel
for _ = 1, steps do
  going = la.tidy(function()
    local gap = distance(eye + t[going]:unsqueeze(2) * d[going], 4)
    local there = gap:lt(near)
    met[going[there]] = true
    t:index_add_(1, going, gap:clamp(0, 0.3):masked_fill(there, 0))
    return going[there:logical_not() & t[going]:lt(5)]
  end)
end

-- Directions of the surface where a ray met it; crevices, which come near the
-- origin, are darker.
local hit = met:nonzero():flatten()
local p = (eye + t[hit]:unsqueeze(2) * d[hit]):requires_grad_()
local far, trap = distance(p, 3)      -- smoother than what was met
local normal = game.normalize(la.grad(far:sum(), p))
local light = game.dot(normal, game.normalize(la.tensor{0.4, -1.0, 0.9}))
local depth = (trap:detach() * 1.9 - 0.75):clamp(0, 1)
local shade = (0.2 + 0.8 * light:clamp_min(0)) * (0.35 + 0.65 * depth)

print(("%d rays, %.0f %% meet the surface"):format(n * n,
  hit:numel() / n ^ 2 * 100))
if picture then
  local rgb = la.full({n * n, 3}, 0.06)
  rgb[hit] = la.stack({shade, shade * (0.4 + 0.5 * depth),
    shade * (0.25 + 0.6 * depth)}, 2)
  -- Four rays a pixel, their mean: no edge is a stair.
  local image = rgb:view(1, n, n, 3):permute(1, 4, 2, 3)
  if n >= 800 then image = la.avg_pool2d(image, 2) end
  la.image.save((image[1] * 16):round() / 16, picture)
end
return {hit = hit:numel() / n ^ 2, normal = normal}
