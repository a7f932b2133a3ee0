-- Calls that are cut to parts of so many bytes give what one call gives: every
-- rank knows the numbers of all others, and each element is another one.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local raw = require "lunarray.mpi.load"
local rank, size = mpi.rank, mpi.size

local function same(got, want, name, chunk)
  assert(got:equal(want), ("%s by %d bytes: rank %d got %s, not %s"):format(
    name, chunk, rank, tostring(got), tostring(want)))
end

-- Sums of four fit into every dtype: some libraries let sums of int8 saturate.
local function data(r, n, dtype)
  return (la.arange(n, {dtype = "int64"}):mul(r) + 3 * r):remainder(31)
    :to(dtype)
end

local function reduced(n, dtype, f)
  local out = data(1, n, dtype)
  for r = 2, size do out = f(out, data(r, n, dtype)) end
  return out
end

local REDUCED = {sum = la.add, max = la.maximum, min = la.minimum}

local function check(chunk, n, dtype)
  local x, whole = data(rank, n, dtype), data(rank, n * size, dtype)
  for _, name in ipairs {"sum", "max", "min"} do
    local f = REDUCED[name]
    same(mpi.all_reduce(x, name), reduced(n, dtype, f), "all_reduce", chunk)
    same(mpi.reduce_scatter(whole, name), reduced(n * size, dtype, f)
      :narrow(1, (rank - 1) * n + 1, n), "reduce_scatter", chunk)
    for root = 1, size do
      local got = mpi.reduce(x:clone(), name, root)
      if rank == root then
        same(got, reduced(n, dtype, f), "reduce", chunk)
      end
    end
  end
  for root = 1, size do
    same(mpi.bcast(x:clone(), root), data(root, n, dtype), "bcast", chunk)
  end
  local all, parts = {}, {}
  for r = 1, size do
    all[r] = data(r, n, dtype)
    parts[r] = data(r, n * size, dtype):narrow(1, (rank - 1) * n + 1, n)
  end
  same(mpi.all_gather(x), la.cat(all, 1), "all_gather", chunk)
  same(mpi.all_to_all(whole), la.cat(parts, 1), "all_to_all", chunk)
  local box = la.zeros({n}, {dtype = dtype})
  mpi.sendrecv(x, rank % size + 1, box, (rank - 2) % size + 1)
  same(box, all[(rank - 2) % size + 1], "sendrecv", chunk)
end

for _, chunk in ipairs {16, 32, 64, 1008, 1 << 30} do
  raw.chunk(chunk)
  for _, n in ipairs {1, 2, 3, 7, 20, 65} do
    check(chunk, n, "float64")
    check(chunk, n, "int32")
    check(chunk, n, "int8")
  end
end

mpi.barrier()
print("rank " .. rank .. " is done")
