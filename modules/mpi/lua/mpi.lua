-- lunarray.mpi: one script on many processes, by MPI (Open MPI or MPICH).
--
--   mpirun -n 4 lunarray script.lua
--
-- Requiring the module begins MPI; it ends with the process. A rank that ends
-- in an error ends all. mpi.rank (from 1) and mpi.size tell who is who; the
-- functions are those of the group of all ranks, mpi.world (mpi/comm.lua).
local raw = require "lunarray.mpi.load"
local Comm = require "lunarray.mpi.comm"

local mpi = {world = Comm.wrap(raw.world), Comm = Comm, debug = Comm.debug,
  part = Comm.part, clock = raw.clock}
mpi.rank, mpi.size = mpi.world.rank, mpi.world.size

local inner = {wrap = true, free = true, all_reduce_of = true}
for name, method in pairs(Comm) do
  if type(method) == "function" and mpi[name] == nil
    and name:find "^%l" and not inner[name] then
    mpi[name] = function(...) return method(mpi.world, ...) end
  end
end

-- The most common call has no Lua function in between.
mpi.all_reduce_ = Comm.all_reduce_of(mpi.world)

local train = require "lunarray.mpi.train"
train.world = mpi.world
for name, f in pairs(train) do if name ~= "world" then mpi[name] = f end end

local array = require "lunarray.mpi.array"
require "lunarray.mpi.array_reduce"
array.world = mpi.world
for _, name in ipairs{"distribute", "from_blocks", "from_function", "rand",
  "randn", "load_array", "is_array"} do
  mpi[name] = array[name]
end

local farm = require "lunarray.mpi.farm"
farm.world = mpi.world
mpi.map = farm.map

-- What MPI gave this job, as text: library, ranks, machines, cores, threads.
function mpi.info() return require "lunarray.mpi.info"(mpi.world) end

-- Ends all ranks, with a text.
function mpi.abort(text)
  raw.abort(("lunarray.mpi: rank %d of %d: %s"):format(mpi.rank, mpi.size,
    tostring(text)))
end

return mpi
