-- A list that all ranks work on.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local rank, size = mpi.rank, mpi.size

local list = {}
for k = 1, 40 do list[k] = {k, la.full({3}, k)} end
local results, errors = mpi.map(function(item, k)
  assert(item[1] == k)
  return {item[2]:sum(), by = rank}
end, rank == 1 and list or nil)
assert(errors == nil and #results == 40)
local by = {}
for k = 1, 40 do
  assert(results[k][1]:item() == 3 * k)
  by[results[k].by] = true
end
assert(size > 4 or by[size])

-- Errors of some leave the others; a second try may go well.
local tried = {}
local function sometimes(k)
  tried[k] = (tried[k] or 0) + 1
  if k % 5 == 0 then error("no " .. k) end
  if k == 7 and tried[k] == 1 and rank == 1 then error "later" end
  return k % 6 == 0 and print or k * k
end
local numbers = {}
for k = 1, 12 do numbers[k] = k end
results, errors = mpi.map(sometimes, numbers, {retries = 1})
for k = 1, 12 do
  local bad = k % 5 == 0 or k % 6 == 0
  assert((results[k] == nil) == bad and (errors[k] ~= nil) == bad)
  assert(bad or results[k] == k * k)
end
assert(errors[5]:find("^rank %d: ") and errors[5]:find("no 5", 1, true))
assert(errors[6]:find("function does not travel", 1, true))
assert(#mpi.map(sometimes, {}) == 0)
assert(not pcall(mpi.map, sometimes, rank == 1 and {print} or nil))
assert(not pcall(mpi.map, sometimes, nil))
mpi.barrier()
print("rank " .. rank .. " is done")
