-- How a case is timed: the same way for every case and for every peer
-- (bench/peers/peers.py does likewise). Times are nanoseconds per call.
--
--   timing.batches(f, seconds)  batches of at least 2 ms: least, median
--   timing.quick(f)             the least of few short batches
--   timing.frames(f, n)         every call by itself: median, p99, worst
--   timing.growth(f, n)         resident memory over n calls, and their mean
local floor = require "floor"
local clock = floor.clock

local timing = {clock = clock}

-- Small calls are judged with the collection that they cause: a batch is long
-- enough to hold many cycles of the collector when `calls` is large.
function timing.batches(f, seconds, calls)
  f()
  local warm = clock() + 0.02
  while clock() < warm do f() end
  local n, spent = 1, 0
  while true do
    local t = clock()
    for _ = 1, n do f() end
    spent = clock() - t
    if spent > 0.002 and n >= (calls or 1) then break end
    n = n * 2
  end
  local times, stop = {}, clock() + (seconds or 0.15)
  local least = spent < 0.1 and 7 or 4
  while (clock() < stop or #times < least) and #times < 200 do
    local t = clock()
    for _ = 1, n do f() end
    times[#times + 1] = (clock() - t) / n * 1e9
  end
  table.sort(times)
  return {min = times[1], median = times[(#times + 1) // 2],
    batches = #times, inner = n}
end

-- For long lists: seven batches of half a millisecond, after a few calls that
-- fill the stock of freed blocks. The least of them, for nothing else is steady
-- in so short a time.
function timing.quick(f)
  local stop = clock() + 0.02
  for _ = 1, 8 do
    f()
    if clock() > stop then break end
  end
  local n, least = 1, math.huge
  while true do
    local t = clock()
    for _ = 1, n do f() end
    if clock() - t > 0.0005 then break end
    n = n * 2
  end
  for _ = 1, 7 do
    local t = clock()
    for _ = 1, n do f() end
    least = math.min(least, (clock() - t) / n * 1e9)
  end
  return least
end

function timing.frames(f, n)
  for _ = 1, 50 do f() end
  local times = {}
  for i = 1, n do
    local t = clock()
    f()
    times[i] = (clock() - t) * 1e9
  end
  table.sort(times)
  return {min = times[1], median = times[n // 2], p50 = times[n // 2],
    p99 = times[n - n // 100], max = times[n]}
end

function timing.resident()
  local file = assert(io.open("/proc/self/statm"))
  local pages = file:read("n", "n") and file:seek("set") and
    select(2, file:read("n", "n"))
  file:close()
  return pages * 4096 / 2^20
end

function timing.growth(f, n)
  for _ = 1, 5 do f() end
  local start = timing.resident()
  local peak, t = start, clock()
  for i = 1, n do
    f()
    if i % 50 == 0 then peak = math.max(peak, timing.resident()) end
  end
  local mean = (clock() - t) / n * 1e9
  return {min = mean, median = mean,
    rss_growth_mib = timing.resident() - start,
    rss_peak_growth_mib = peak - start}
end

-- Nanoseconds as people read them; nothing gives nothing.
function timing.text(ns)
  if not ns then return "" end
  if ns < 1e3 then return ("%.0f ns"):format(ns) end
  if ns < 1e6 then return ("%.1f us"):format(ns / 1e3) end
  return ("%.2f ms"):format(ns / 1e6)
end

return timing
