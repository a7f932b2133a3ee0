-- Collective calls through Lua next to the bare ones of mpi_calls.c, on
-- the same memory:
--
--   make bench-mpi          (2 ranks; RANKS=4 for more)
--
-- Groups of calls of each kind alternate. Printed are the median time of the
-- bare call, and of each kind its ratio to the bare group next to it: the
-- median of all pairs, and that of the least times in brackets.
-- Arguments: the module, the least size in bytes (8), the most (64 MB), a name.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local bare = package.loadlib(arg[1], "luaopen_mpi_calls")()
local least_size = tonumber(arg[2]) or 8
local most_size = tonumber(arg[3]) or 64 << 20
local only = arg[4]
local GROUPS = 31

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- One group: what f, which runs 'calls' calls, took, from a common start.
local function timed(f, calls)
  mpi.barrier()
  local start = mpi.clock()
  f(calls)
  return mpi.clock() - start
end

-- kinds: a list of {name, function of a number of calls}; the first is bare.
local function measure(name, bytes, kinds, calls)
  if only and only ~= name then return end
  local times, ratios, least = {}, {}, {}
  for i = 1, #kinds do times[i], ratios[i], least[i] = {}, {}, math.huge end
  for k = 1, GROUPS do
    for i, kind in ipairs(kinds) do
      local t = timed(kind[2], calls) / calls
      times[i][k] = t
      ratios[i][k] = t / times[1][k]
      least[i] = math.min(least[i], t)
    end
  end
  if mpi.rank ~= 1 then return end
  local words = {("%-10s %9d  bare %10.2f us"):format(name, bytes,
    median(times[1]) * 1e6)}
  for i = 2, #kinds do
    words[i] = ("%s %.2f (%.2f)"):format(kinds[i][1], median(ratios[i]),
      least[i] / least[1])
  end
  print(table.concat(words, "  "))
end

local bytes = least_size
while bytes <= most_size do
  local n = bytes // 4
  local x, out = la.zeros(n), la.zeros(n)
  local calls = math.max(2, math.min(2000, (32 << 20) // bytes))
  local all = la.zeros(n * mpi.size)
  local function plain(name, to)
    return {"bare", function(count) bare(name, x, to, count) end}
  end
  local function prepared(call)
    return {"prepared", function(count) for _ = 1, count do call() end end}
  end
  measure("all_reduce", bytes, {plain("all_reduce", x),
    {"lua", function(count)
      local all_reduce_ = mpi.all_reduce_
      for _ = 1, count do all_reduce_(x) end
    end},
    prepared(mpi.all_reduce_init(x)), {"C host", plain("host", x)[2]}}, calls)
  measure("bcast", bytes, {plain("bcast", x),
    {"lua", function(count) for _ = 1, count do mpi.bcast(x) end end},
    prepared(mpi.bcast_init(x))}, calls)
  local into = {out = all}
  measure("all_gather", bytes, {plain("all_gather", all),
    {"lua", function(count)
      for _ = 1, count do mpi.all_gather(x, into) end
    end},
    prepared(mpi.all_gather_init(x, all))}, calls)
  into = {out = out}
  if n >= mpi.size then
    measure("all_to_all", bytes, {plain("all_to_all", out),
      {"lua", function(count)
        for _ = 1, count do mpi.all_to_all(x, into) end
      end},
      prepared(mpi.all_to_all_init(x, out))}, calls)
  end
  bytes = bytes < most_size and math.min(bytes * 8, most_size) or bytes + 1
end
