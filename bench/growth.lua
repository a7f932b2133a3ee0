-- How cost grows: with the number of elements, of threads, of live tensors, of
-- nodes in a graph, of Lua states. Five figures, and their numbers as tables.
--
--   lua5.4 bench/growth.lua [--part NAME] [--most ELEMENTS] [--seconds S]
--
-- Parts: sizes, threads, live, graph, states (all). The least time of several
-- batches counts; the figures go to bench/growth-NAME.svg. bench/GROWTH.md says
-- what they show.
package.path = "bench/?.lua;lua/?.lua;lua/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local la = require "lunarray"
local timing = require "timing"

local option = require "options"("growth.lua",
  {part = "", most = "1e9", seconds = "0.3"})
local MOST, SECONDS = tonumber(option.most), tonumber(option.seconds)
local SIZE = {width = 640, height = 400}

local function least(f) return timing.batches(f, SECONDS).min end

local function print_table(head, rows)
  print("| " .. table.concat(head, " | ") .. " |")
  print("|" .. (" --- |"):rep(#head))
  for _, row in ipairs(rows) do
    local cells = {}
    for k = 1, #head do
      local v = row[k]
      cells[k] = not v and "" or v >= 100 and ("%.0f"):format(v)
        or ("%.3g"):format(v)
    end
    print("| " .. table.concat(cells, " | ") .. " |")
  end
  print()
end

-- One line for each column but the first of the rows, on logarithmic axes.
local function draw(name, head, rows, options)
  local fig
  options.xscale, options.legend = "log", options.legend or "outside"
  options.yscale = options.yscale or "log"
  for c = 2, #head do
    local x, y = {}, {}
    for _, row in ipairs(rows) do
      if row[c] then x[#x + 1], y[#y + 1] = row[1], row[c] end
    end
    options.label, options.marker = head[c], "o"
    if fig then
      local modelled = head[c]:find("model", 1, true)
      fig:line(x, y, {label = head[c], marker = not modelled and "o" or nil,
        style = modelled and "--" or "-"})
    else
      fig = la.plot.line(x, y, options)
    end
  end
  fig:save(("bench/growth-%s.svg"):format(name), SIZE)
  print_table(head, rows)
end

-- ---- elements ----

-- Each case: f(x, y, n) gives the call to time, nil where n is too many.
local SIZES = {
  {"x + y", 1e8, function(x, y) return function() return x + y end end},
  {"x:add_(y)", 1e9, function(x, y) return function() x:add_(y) end end},
  {"exp", 1e8, function(x) return function() return x:exp() end end},
  {"sum", 1e9, function(x) return function() return x:sum() end end},
  {"sort", 1e7, function(x) return function() return x:sort() end end},
  {"x[i], random rows", 1e8, function(x, _, n)
    local index = la.randint(n, {n})
    return function() return x:index_select(1, index) end
  end},
}

local function sizes()
  local head, rows = {"elements"}, {}
  for c, case in ipairs(SIZES) do head[c + 1] = case[1] end
  for exponent = 1, 9 do
    for _, factor in ipairs(exponent < 9 and {1, 3} or {1}) do
      local n = factor * 10 ^ exponent // 1 | 0
      if n <= MOST then
        local row = {n}
        local x = la.rand(n)
        local y = n <= 1e8 and la.rand(n) or x
        for c, case in ipairs(SIZES) do
          row[c + 1] = n <= case[2] and least(case[3](x, y, n)) / n or nil
        end
        rows[#rows + 1] = row
        x, y = nil, nil
        collectgarbage()
      end
    end
  end
  draw("sizes", head, rows, {xlabel = "elements (float32)",
    ylabel = "nanoseconds per element", title = "Time over size, one thread"})
end

-- ---- threads ----

-- What a call takes on p threads, from times of one and two: the entry into a
-- region, and the rest, which processors share (p) or memory limits (bound).
local function model(one, entry, bound, p)
  return p == 1 and one or entry + math.max(one / p, bound)
end

local THREADS = {
  {"matmul 1024", function()
    local a = la.rand(1024, 1024)
    return function() return a:matmul(a) end
  end, 0},
  {"exp 1e6", function()
    local x, o = la.rand(1000000), {out = la.empty(1000000)}
    return function() la.exp(x, o) end
  end, 0},
  {"x:add_(y) 1e8", function()
    local x, y = la.rand(100000000), la.rand(100000000)
    return function() x:add_(y) end
  end, 12e8},
}

-- Bytes per nanosecond that all processors together read and write.
local function bandwidth()
  la.set_num_threads(2)
  local x, y = la.rand(100000000), la.rand(100000000)
  local t = least(function() x:add_(y) end)
  return 12e8 / t
end

local function entry()
  local x = la.rand(40000)
  la.set_num_threads(1)
  local one = least(function() return x:exp() end)
  la.set_num_threads(2)
  local two = least(function() return x:exp() end)
  return math.max(two - one / 2, 0)
end

local function threads()
  local cost, width = entry(), bandwidth()
  print(("entry into a region: %.0f ns; memory: %.1f GB/s\n"):format(cost,
    width))
  local head, rows = {"threads"}, {}
  local times = {}
  for c, case in ipairs(THREADS) do
    head[#head + 1], head[#head + 2] = case[1], case[1] .. ", model"
    local f = case[2]()
    times[c] = {}
    for p = 1, 2 do
      la.set_num_threads(p)
      times[c][p] = least(f)
    end
  end
  for _, p in ipairs {1, 2, 4, 8, 16, 32, 64} do
    local row = {p}
    for c, case in ipairs(THREADS) do
      local one = times[c][1]
      row[2 * c] = p <= 2 and one / times[c][p] or nil
      row[2 * c + 1] = one / model(one, cost, case[3] / width, p)
    end
    rows[#rows + 1] = row
  end
  la.set_num_threads(1)
  draw("threads", head, rows, {xlabel = "threads", ylabel = "times as fast",
    title = "Measured to two threads, the model to 64"})
end

-- ---- live tensors ----

local function live()
  local head = {"live tensors", "generational", "incremental", "in tidy"}
  local rows, kept = {}, {}
  local a, b = la.rand(4), la.rand(4)
  for exponent = 2, 6 do
    local n = 10 ^ exponent // 1 | 0
    for k = #kept + 1, n do kept[k] = a + b end
    local row = {n}
    for c, mode in ipairs {"generational", "incremental"} do
      collectgarbage(mode)
      collectgarbage()
      row[c + 1] = least(function() return a + b end)
    end
    collectgarbage "generational"
    row[4] = least(function()
      la.tidy(function() for _ = 1, 100 do local _ = a + b end end)
    end) / 100
    rows[#rows + 1] = row
  end
  draw("live", head, rows, {xlabel = "live tensors", yscale = "linear",
    ylabel = "nanoseconds of a + b", title = "a + b of 4 elements"})
end

-- ---- graphs ----

local function graph()
  local head, rows = {"nodes", "forward", "backward", "release"}, {}
  local w = la.ones(1):requires_grad_()
  for exponent = 1, 6 do
    local n = 10 ^ exponent // 1 | 0
    local best = {math.huge, math.huge, math.huge}
    for _ = 1, exponent < 6 and 5 or 2 do
      local x = w
      collectgarbage()
      local t = timing.clock()
      for _ = 1, n do x = x * 1.0 end
      best[1] = math.min(best[1], (timing.clock() - t) / n * 1e9)
      t = timing.clock()
      x:backward()
      best[2] = math.min(best[2], (timing.clock() - t) / n * 1e9)
      local y = w
      for _ = 1, n do y = y * 1.0 end
      collectgarbage()
      t = timing.clock()
      y:free()
      best[3] = math.min(best[3], (timing.clock() - t) / n * 1e9)
    end
    rows[#rows + 1] = {n, table.unpack(best)}
  end
  draw("graph", head, rows, {xlabel = "nodes of a chain",
    ylabel = "nanoseconds per node", title = "A graph, forward and backward"})
end

-- ---- states ----

-- build/bench/states prints a line for each number of Lua states.
local function states()
  local rows = {}
  local pipe = assert(io.popen "build/bench/states")
  for line in pipe:lines() do
    local row = {}
    for v in line:gmatch "%S+" do row[#row + 1] = tonumber(v) end
    rows[#rows + 1] = row
  end
  assert(pipe:close(), "make build/bench/states")
  draw("states", {"states", "open (us)", "memory (KB)", "a + b (ns)"}, rows,
    {xlabel = "Lua states of a runtime", ylabel = "of each state",
      title = "What states cost"})
end

la.set_num_threads(1)
for _, part in ipairs {{"sizes", sizes}, {"threads", threads}, {"live", live},
    {"graph", graph}, {"states", states}} do
  if option.part == "" or option.part == part[1] then part[2]() end
end
