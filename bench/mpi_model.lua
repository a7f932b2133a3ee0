-- Times of all_reduce on this job's ranks, and what a model that is fitted to
-- them says of more ranks and of a training step:
--
--   t(p, n) = 2 ceil(log2 p) a + 2 (p - 1) / p n b
--
-- a: seconds per message, b: seconds per byte (reduce-scatter and all-gather,
-- each over a tree or a ring). Run on 2 and on 4 ranks:
--
--   mpirun -n 2 lunarray bench/mpi_model.lua [a b]
--
-- With a (microseconds) and b (nanoseconds per byte) nothing is measured.
local la = require "lunarray"
local mpi = require "lunarray.mpi"

local function messages(p) return 2 * math.ceil(math.log(p, 2)) end
local function passes(p) return 2 * (p - 1) / p end

-- The least mean of 15 groups of calls.
local function measure(bytes)
  local x = la.zeros(bytes // 4)
  local calls = bytes < 100000 and 200 or 4
  local least = math.huge
  for _ = 1, 15 do
    mpi.barrier()
    local start = mpi.clock()
    for _ = 1, calls do mpi.all_reduce_(x) end
    least = math.min(least, (mpi.clock() - start) / calls)
  end
  return least
end

local a, b
if arg[2] then
  a, b = tonumber(arg[1]) * 1e-6, tonumber(arg[2]) * 1e-9
else
  if mpi.size == 1 then error "mpi_model: at least two ranks" end
  local small, large = 64, 16 << 20
  local first, last = measure(small), measure(large)
  -- The small message has no volume, the large one no latency to speak of.
  a = first / messages(mpi.size)
  b = (last - first) / (passes(mpi.size) * large)
  if mpi.rank == 1 then
    for _, bytes in ipairs{512, 8192, 65536, 1 << 20, 4 << 20} do
      local t = measure(bytes)
      print(("%8d bytes: %10.1f us, by the model %10.1f"):format(bytes,
        t * 1e6, (messages(mpi.size) * a + passes(mpi.size) * bytes * b)
        * 1e6))
    end
  else
    for _, bytes in ipairs{512, 8192, 65536, 1 << 20, 4 << 20} do
      measure(bytes)
    end
  end
end

if mpi.rank == 1 then
  print(("a = %.2f us, b = %.4f ns per byte (%.2f GB/s)"):format(a * 1e6,
    b * 1e9, 1e-9 / b))
  print("ranks    64 B     1 MB   100 MB   step: 100 ms of work, 100 MB of "
    .. "gradients")
  for k = 3, 10 do
    local p = 1 << k
    local function t(n) return messages(p) * a + passes(p) * n * b end
    -- Backward is two thirds of the work, and hides that much of the sum.
    local step = 0.1 + math.max(0, t(1e8) - 0.1 * 2 / 3)
    print(("%5d %6.0f us %5.2f ms %5.1f ms   %5.1f ms, efficiency %3.0f %%")
      :format(p, t(64) * 1e6, t(1e6) * 1e3, t(1e8) * 1e3, step * 1e3,
        10 / step))
  end
end
