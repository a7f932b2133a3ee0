-- The volume of the unit ball in ten dims by counting random points: 200 tasks
-- that ranks take as they get free. What a task gives depends on its number
-- alone, so the sum is the same on any number of ranks.
--
--   mpirun -n 4 lunarray examples/mpi_pi.lua [tasks] [points]

local la = require "lunarray"
local mpi = require "lunarray.mpi"

local tasks = tonumber(arg and arg[1]) or 200
local points = tonumber(arg and arg[2]) or 20000
local DIMS = 10

local seeds = {}
for k = 1, tasks do seeds[k] = k end

local start = mpi.clock()
local results, errors = mpi.map(function(seed)
  local x = la.rand(points, DIMS, {generator = la.Generator(seed)})
  return {hits = x:square():sum(2):le(1):sum():item(), by = mpi.rank}
end, seeds, {retries = 1})
assert(not errors)

if mpi.rank == 1 then
  local hits, by = 0, {}
  for rank = 1, mpi.size do by[rank] = 0 end
  for _, one in ipairs(results) do
    hits = hits + one.hits
    by[one.by] = by[one.by] + 1
  end
  local p = hits / (tasks * points)
  local scale = 2 ^ DIMS
  local sigma = math.sqrt(p * (1 - p) / (tasks * points))
  local exact = math.pi ^ 5 / 120
  print(("%d points: %.4f +- %.4f, exactly %.4f (%d hits)"):format(
    tasks * points, p * scale, sigma * scale, exact, hits))
  print(("tasks by rank: %s; %.3f s"):format(table.concat(by, ", "),
    mpi.clock() - start))
  assert(math.abs(p * scale - exact) < 5 * sigma * scale)
end
