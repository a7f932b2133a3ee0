-- Times of all_reduce on this job's ranks, and what a model that is fitted to
-- them says of more ranks and of a training step:
--
--   t(p, n) = 2 ceil(log2 p) a + 2 (p - 1) / p n b
--
-- a: seconds per message, b: seconds per byte (reduce-scatter and all-gather,
-- each over a tree or a ring). Run on 2 and on 4 ranks:
--
--   mpirun -n 2 lunarray bench/mpi/mpi_model.lua [a b]
--
-- With a (microseconds) and b (nanoseconds per byte) nothing is measured.
local la = require "lunarray"
local mpi = require "lunarray.mpi"

local function messages(p) return 2 * math.ceil(math.log(p, 2)) end
local function passes(p) return 2 * (p - 1) / p end

local SMALL, LARGE = 64, 16 << 20
local OTHERS = {512, 8192, 65536, 1 << 20, 4 << 20}
local GROUPS = 31

-- Seconds of a call by bytes: medians of groups of calls. Sizes alternate, so
-- that what else the machine does meets all of them.
local function measure()
  local sizes, times = {SMALL, LARGE}, {}
  table.move(OTHERS, 1, #OTHERS, 3, sizes)
  local tensors = {}
  for k, bytes in ipairs(sizes) do
    tensors[k], times[k] = la.zeros(bytes // 4), {}
    mpi.all_reduce_(tensors[k])
  end
  for group = 1, GROUPS do
    for k, bytes in ipairs(sizes) do
      local x, calls = tensors[k], bytes < 100000 and 200 or 4
      mpi.barrier()
      local start = mpi.clock()
      for _ = 1, calls do mpi.all_reduce_(x) end
      times[k][group] = (mpi.clock() - start) / calls
    end
  end
  local medians = {}
  for k, bytes in ipairs(sizes) do
    table.sort(times[k])
    medians[bytes] = times[k][(GROUPS + 1) // 2]
  end
  return medians
end

local a, b
if arg[2] then
  a, b = tonumber(arg[1]) * 1e-6, tonumber(arg[2]) * 1e-9
else
  if mpi.size == 1 then error "mpi_model: at least two ranks" end
  local p, times = mpi.size, measure()
  -- The small message has no volume, the large one no latency to speak of.
  a = times[SMALL] / messages(p)
  b = (times[LARGE] - times[SMALL]) / (passes(p) * LARGE)
  for _, bytes in ipairs(mpi.rank == 1 and OTHERS or {}) do
    print(("%8d bytes: %10.1f us, by the model %10.1f"):format(bytes,
      times[bytes] * 1e6, (messages(p) * a + passes(p) * bytes * b) * 1e6))
  end
end

if mpi.rank == 1 then
  print(("a = %.2f us, b = %.4f ns per byte (%.2f GB/s)"):format(a * 1e6,
    b * 1e9, 1e-9 / b))
  print("ranks    64 B     1 MB   100 MB   step: 100 ms of work, 100 MB of "
    .. "gradients, sum hidden (or not)")
  for k = 3, 10 do
    local p = 1 << k
    local function t(n) return messages(p) * a + passes(p) * n * b end
    -- Backward is two thirds of the work, and hides that much of the sum.
    local step = 0.1 + math.max(0, t(1e8) - 0.1 * 2 / 3)
    print(("%5d %6.1f us %5.2f ms %5.1f ms   %5.1f ms, efficiency %3.0f %% "
      .. "(%.0f %%)"):format(p, t(64) * 1e6, t(1e6) * 1e3, t(1e8) * 1e3,
        step * 1e3, 10 / step, 10 / (0.1 + t(1e8))))
  end
end
