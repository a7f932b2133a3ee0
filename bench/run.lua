-- Speed of lunarray on this machine, as ratios in one run.
--
--   build/lunarray bench/run.lua              against plain C loops
--   build/lunarray bench/run.lua --peers      and NumPy and PyTorch
--   build/lunarray bench/run.lua --record     append a line to bench/history.tsv
--
-- A case's time is the best of several batches, each of 2 ms or more; small
-- calls are means over a million calls with the collection that they cause.
-- Peers run same cases in a process of their own (bench/peers.py, Python
-- from the virtual environment BENCH_PYTHON or build/peers).

local la = require "lunarray"
package.cpath = "build/?.so;" .. package.cpath
local floor = require "floor"
local clock = floor.clock
local want = {}
for _, a in ipairs(arg or {}) do want[a] = true end

local function best(f)
  f()
  local n = 1
  while true do
    local t = clock()
    for _ = 1, n do f() end
    t = clock() - t
    if t > 0.002 then break end
    n = n * 2
  end
  local least = math.huge
  for _ = 1, 25 do
    local t = clock()
    for _ = 1, n do f() end
    least = math.min(least, (clock() - t) / n)
  end
  return least
end

local function mean(f)
  for _ = 1, 10000 do f() end
  local t = clock()
  for _ = 1, 1000000 do f() end
  return (clock() - t) / 1e6
end

local results, order = {}, {}
local function note(name, seconds)
  results[name] = seconds
  order[#order + 1] = name
end

-- ---- cases; their names are those of bench/peers.py ----

local a, b = la.rand(4), la.rand(4)
local m, sq = la.rand(2, 2), la.rand(4, 4)
local ten, thousand = la.rand(10), la.rand(1000)
local sink
local small = {
  {"small_add", function() sink = a + b end},
  {"small_add_", function() a:add_(b) end},
  {"small_add_number", function() sink = a + 1 end},
  {"small_view", function() sink = a:view(2, 2) end},
  {"small_slice", function() sink = a:slice(1, 2, 3) end},
  {"small_t", function() sink = m:t() end},
  {"small_select", function() sink = m[1] end},
  {"small_item", function() sink = a:item(2) end},
  {"small_sum10", function() sink = ten:sum() end},
  {"small_matmul4", function() sink = sq:matmul(sq) end},
  {"small_from_list", function() sink = la.tensor{1.0, 2.0, 3.0} end},
  {"small_add1000", function() sink = thousand + thousand end},
}

local function large_cases()
  local x6, y6, o6 = la.rand(1000000), la.rand(1000000), la.empty(1000000)
  local x7, y7, o7 = la.rand(10000000), la.rand(10000000), la.empty(10000000)
  local q = la.rand(1000, 1000)
  return {
    {"add_1e6_out", function() la.add(x6, y6, {out = o6}) end},
    {"add_1e6_new", function() sink = x6 + y6 end},
    {"mul_1e6_out", function() la.mul(x6, y6, {out = o6}) end},
    {"exp_1e6_out", function() la.exp(x6, {out = o6}) end},
    {"log_1e6_out", function() la.log(x6, {out = o6}) end},
    {"sin_1e6_out", function() la.sin(x6, {out = o6}) end},
    {"tanh_1e6_out", function() la.tanh(x6, {out = o6}) end},
    {"sum_1e6", function() sink = x6:sum() end},
    {"max_1e6", function() sink = x6:max() end},
    {"copy_t_1000", function() sink = q:t():contiguous() end},
    {"add_bt_1000", function() sink = q + q:t() end},
    {"sort_1e6", function() sink = x6:sort() end},
    {"matmul_512", function()
      local w = q[{{1, 512}, {1, 512}}]
      sink = w:matmul(w)
    end},
    {"add_1e7_out", function() la.add(x7, y7, {out = o7}) end},
    {"sum_1e7", function() sink = x7:sum() end},
    {"exp_1e7_out", function() la.exp(x7, {out = o7}) end},
  }
end

la.set_num_threads(1)
for _, c in ipairs(small) do note(c[1], mean(c[2])) end
local large = large_cases()
for _, c in ipairs(large) do note(c[1], best(c[2])) end
local bound = {
  add_1e6_out = floor.add(1000000, 200), sum_1e6 = floor.read(1000000, 200),
  add_1e7_out = floor.add(10000000, 15), sum_1e7 = floor.read(10000000, 15),
}
la.set_num_threads(2)
local two = {}
for _, c in ipairs(large) do
  if c[1]:find("1e7") then two[c[1]] = best(c[2]) end
end
la.set_num_threads(1)

-- ---- peers ----

local peers, names = {}, {}
if want["--peers"] then
  local python = os.getenv("BENCH_PYTHON") or "build/peers/bin/python"
  local p = assert(io.popen(python .. " bench/peers.py", "r"))
  for line in p:lines() do
    local peer, case, seconds = line:match("^(%S+) (%S+) (%S+)$")
    if peer then
      if not peers[peer] then
        peers[peer] = {}
        names[#names + 1] = peer
      end
      peers[peer][case] = tonumber(seconds)
    end
  end
  p:close()
end

-- ---- the table ----

local function time(s)
  if not s then return "-" end
  if s < 1e-6 then return ("%.0f ns"):format(s * 1e9) end
  if s < 1e-3 then return ("%.1f us"):format(s * 1e6) end
  return ("%.2f ms"):format(s * 1e3)
end

print(("lunarray %s, %s, one thread unless said"):format(la._VERSION,
  la.cpu_capability()))
local head = ("%-18s %10s %8s %8s"):format("case", "time", "of bound", "2 thr.")
for _, n in ipairs(names) do head = head .. ("%10s %6s"):format(n, "R") end
print(head)
for _, name in ipairs(order) do
  local t = results[name]
  local line = ("%-18s %10s %8s %8s"):format(name, time(t),
    bound[name] and ("%.2f"):format(bound[name] / t) or "",
    two[name] and ("%.2fx"):format(t / two[name]) or "")
  for _, n in ipairs(names) do
    local p = peers[n][name]
    line = line .. ("%10s %6s"):format(time(p),
      p and ("%.2f"):format(t / p) or "")
  end
  print(line)
end

if want["--record"] then
  local f = assert(io.open("bench/history.tsv", "a"))
  for _, name in ipairs(order) do
    f:write(table.concat({os.date("!%Y-%m-%d"), la._VERSION,
      la.cpu_capability(), name, ("%.4g"):format(results[name]),
      bound[name] and ("%.3f"):format(bound[name] / results[name]) or "",
      two[name] and ("%.3f"):format(results[name] / two[name]) or ""}, "\t"),
      "\n")
  end
  f:close()
end
