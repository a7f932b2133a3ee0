-- Laplacian eigenmaps: two half moons that no line divides are told apart by
-- the graph of nearest neighbours. The eigenvectors of its Laplacian that
-- belong to the least eigenvalues are smooth along the graph: constant on what
-- hangs together.
--
--   lua5.4 examples/eigenmaps.lua [points [picture.png]]

local la = require "lunarray"
local plot = require "lunarray.plot"

local n = (tonumber(arg and arg[1]) or 300) // 2
local F64 = {dtype = "float64"}
la.manual_seed(2)

local angle = la.rand(n, F64) * math.pi
local upper = la.stack({angle:cos(), angle:sin()}, 2)
local lower = la.stack({1 - angle:cos(), 0.35 - angle:sin()}, 2)
local points = la.cat({upper, lower}, 1) + la.randn(2 * n, 2, F64) * 0.06
local moon = la.arange(1, 2 * n + 1):gt(n)

-- Weights of the ten nearest neighbours, made symmetric.
local distance = la.cdist(points, points)
local near, at = distance:topk(11, {largest = false})
local weight = la.zeros(2 * n, 2 * n, F64)
weight:scatter_(2, at, (-near:square() / 0.02):exp())
weight = la.maximum(weight, weight:t())
weight:fill_diagonal_(0)

-- The symmetric normalized Laplacian, 1 - D^-1/2 W D^-1/2.
local scale = weight:sum(2):rsqrt()
local laplacian = la.eye(2 * n, F64) - scale:unsqueeze(2) * weight * scale
local values, vectors = la.linalg.eigh(laplacian)
print("least eigenvalues: " .. tostring(values[{{1, 5}}]))

-- The second eigenvector, without the weights of the points, has two levels:
-- one for each moon.
local second = vectors[{{}, 2}] * scale
local side = second:gt((second:min() + second:max()) / 2)
local right = side:eq(moon):to("float64"):mean():item()
right = math.max(right, 1 - right)
print(plot.line(second, {height = 8, title = "the second eigenvector"}))
print(("%.1f %% of the points are on their moon's side"):format(right * 100))

if arg and arg[2] then
  -- The points, coloured by that eigenvector, and the graph's edges in grey.
  local size = 120
  local p = ((points + la.tensor({1.2, 0.9}, F64)) * size / 1.2):float()
  local i, j = table.unpack(weight:gt(0.05):nonzero{as_tuple = true})
  local s = la.linspace(0, 1, 12):view(-1, 1, 1)
  local image = la.full({size * 2, size * 3, 3}, 1.0)
  local function dot(q, colour)
    q = q:reshape(-1, 2):long():clamp(1, size * 3)
    image[{q[{{}, 2}]:clamp_max(size * 2), q[{{}, 1}]}] = colour
  end
  dot(p[i] * s + p[j] * (1 - s), 0.75)
  local v = ((second - second:min()) / (second:max() - second:min())):float()
  local colours = la.stack({v, 0.3 * v, 1 - v}, 2)
  for dx = 0, 2 do
    for dy = 0, 2 do dot(p + la.tensor{dx - 1.0, dy - 1.0}, colours) end
  end
  la.image.save(image:permute(3, 1, 2), arg[2])
end

return {values = values, right = right}
