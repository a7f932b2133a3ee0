-- Laplacian eigenmaps: two half moons that no line divides are told apart by
-- the graph of nearest neighbours. The eigenvectors of its Laplacian that
-- belong to the least eigenvalues are smooth along the graph: constant on what
-- hangs together.
--
--   lua5.4 examples/eigenmaps.lua [points]

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

return {values = values, right = right}
