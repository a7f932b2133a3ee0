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
  -- The graph's edges, with a gap behind each, and the points.
  local i, j = table.unpack(weight:gt(0.05):nonzero{as_tuple = true})
  local edges = la.stack({points[i], points[j],
    la.full({i:size(1), 2}, 0 / 0, F64)}, 2):reshape(-1, 2):t()
  local fig = plot.line(edges[1], edges[2], {color = "gray", alpha = 0.5,
    linewidth = 0.8, aspect = "equal",
    title = "Two moons, coloured by the second eigenvector"})
  local x = points:t()
  fig:scatter(x[1], x[2], {values = second, colormap = "coolwarm",
    markersize = 6})
  fig:save(arg[2], {width = 800, height = 480, scale = 1})
end

return {values = values, right = right}
