-- Collective calls through tensors, next to the bare ones of bench/mpi_calls.c:
--
--   make bench-mpi          (2 ranks; RANKS=4 for more)
--
-- With a file of the bare times as argument rank 1 prints both and their ratio.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local raw = require "lunarray.mpi.load"
local GROUPS = 9

local bare = {}
for line in arg[1] and io.lines(arg[1]) or function() end do
  local name, bytes, t = line:match "^(%S+) (%d+) (%S+)$"
  if name then bare[name .. bytes] = tonumber(t) end
end

local function measure(name, bytes, f, calls)
  local least = math.huge
  for _ = 1, GROUPS do
    mpi.barrier()
    local start = mpi.clock()
    for _ = 1, calls do f() end
    least = math.min(least, (mpi.clock() - start) / calls * 1e6)
  end
  if mpi.rank ~= 1 then return end
  local other = bare[name .. bytes]
  print(("%-10s %9d %12.2f us%s"):format(name, bytes, least, other
    and ("  bare %12.2f us  ratio %.3f"):format(other, least / other) or ""))
end

local bytes = 8
while bytes <= 64 << 20 do
  local n = bytes // 4
  local x, out = la.zeros(n), la.zeros(n)
  local calls = bytes < 65536 and 2000
    or math.max(4, math.min(2000, (256 << 20) // bytes // 8))
  local all = la.zeros(n * mpi.size)
  local world = mpi.world.id
  measure("all_reduce", bytes, function() mpi.all_reduce_(x) end, calls)
  measure("bcast", bytes, function() mpi.bcast(x) end, calls)
  measure("all_gather", bytes, function() raw.all_gather(world, x, all) end,
    calls)
  if n >= mpi.size then
    measure("all_to_all", bytes, function() raw.all_to_all(world, x, out) end,
      calls)
  end
  bytes = bytes * 8
end
