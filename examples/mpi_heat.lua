-- Heat in a plate whose rows are spread over ranks: explicit steps of the heat
-- equation, each after an exchange of one row with the neighbours. The plate
-- begins as a product of sines, whose exact decay is known.
--
--   mpirun -n 4 lunarray examples/mpi_heat.lua [size] [steps] [file.npy]

local la = require "lunarray"
local mpi = require "lunarray.mpi"

local n = tonumber(arg and arg[1]) or 256
local steps = tonumber(arg and arg[2]) or 500
local path = arg and arg[3]

-- Inner points of the unit square; the edge is kept at 0.
local h = 1 / (n + 1)
local rate = 0.2                                    -- dt / h^2, stable to 0.25
local dtype = {dtype = "float64"}
local columns = (la.range(1, n, dtype) * (math.pi * h)):sin()

local plate = mpi.from_function({n, n}, 1, function(sizes, first)
  local rows = (la.range(first, first + sizes[1] - 1, dtype)
    * (math.pi * h)):sin()
  return rows:unsqueeze(2) * columns
end)

-- The block with a row more on both sides: u[i] becomes u[i] + rate times the
-- sum of its four neighbours less 4 u[i].
local function step(block)
  local rows = block:size(1) - 2
  local wide = la.pad(block, {1, 1})
  local around = wide:narrow(1, 1, rows):narrow(2, 2, n)
    + wide:narrow(1, 3, rows):narrow(2, 2, n)
    + wide:narrow(1, 2, rows):narrow(2, 1, n)
    + wide:narrow(1, 2, rows):narrow(2, 3, n)
  local own = block:narrow(1, 2, rows)
  return own + (around - own * 4) * rate
end

local start = mpi.clock()
for _ = 1, steps do plate = plate:stencil(1, step) end
local spent = mpi.clock() - start

-- A step multiplies this plate by 1 - 8 rate sin^2(pi h / 2).
local factor = (1 - 8 * rate * math.sin(math.pi * h / 2) ^ 2) ^ steps
local peak = plate:amax():item()
local expected = factor * columns:max():item() ^ 2
if mpi.rank == 1 then
  print(("%d x %d points, %d steps on %d rank(s): %.3f s"):format(n, n, steps,
    mpi.size, spent))
  print(("hottest point %.12f, by the formula %.12f"):format(peak, expected))
end
assert(math.abs(peak - expected) < 1e-12)
if path then plate:save(path) end
