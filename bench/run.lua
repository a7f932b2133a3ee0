-- Speed of lunarray on this machine, as ratios inside one run.
--
--   lua5.4 bench/run.lua [--peers] [--cases PATTERN] [--rounds N] [--threads N]
--                        [--path NAME] [--paths] [--budget SECONDS] [--record]
--                        [--svg FILE] [--page FILE]
--
-- Without --peers, against what plain C loops of the same traffic reach; with
-- it, against NumPy, PyTorch, jax and numexpr (Python from BENCH_PYTHON or
-- build/peers). Every program runs in a process of its own, on one processor
-- when it has one thread; they alternate, so that a machine whose speed
-- drifts treats all alike, and the least of the rounds counts.
--   --path    on this CPU path (avx2), with peers that use no more either
--   --paths   also the lower CPU paths of the machine; for AVX2 with peers
--             that are lowered, R there
--   --record  append the figures to bench/history.tsv
--   --svg     draw the ratios to the fastest peer (gnuplot)
--   --page    write the table as a page (bench/SPEED.md)
-- PATTERN is understood by Lua and Python alike: a part of the name, ^ and $.
package.path = "bench/?.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local json = require "dkjson"
local floor = require "floor"
local timing = require "timing"
local lowered = require "lowered"

local option = require "options"("run.lua", {cases = "", rounds = "2",
  threads = "1", budget = "0.15", path = ""}, {peers = true, paths = true,
  record = true})

local function run(command)
  local p = assert(io.popen(command, "r"))
  local text = p:read("a")
  p:close()
  local result = json.decode(text)
  if not result then error("no result from: " .. command, 0) end
  return result
end

local lua = "lua5.4"
local python = os.getenv("BENCH_PYTHON") or "build/peers/bin/python"

local function pinned(threads)
  return threads == 1 and "taskset -c 0 " or ""
end

local function driver(path, threads)
  return run(("LUNARRAY_CPU=%s %s%s bench/driver.lua --threads %d "
    .. "--cases '%s' --budget %s"):format(path, pinned(threads), lua, threads,
    option.cases, option.budget))
end

local function peer(name, threads, path)
  return run(("%s%s%s bench/peers/peers.py %s --threads %d --cases '%s' "
    .. "--budget %s")
    :format(lowered[path] or "", pinned(threads), python, name, threads,
    option.cases, option.budget))
end

-- ---- the runs ----

local threads = tonumber(option.threads)
local columns, seen = {}, {}    -- names in order; name -> case -> figures
local version = {}

local function keep(column, results)
  if not seen[column] then
    seen[column] = {}
    columns[#columns + 1] = column
  end
  for case, figures in pairs(results) do
    local old = seen[column][case]
    if not old then
      seen[column][case] = figures
    else
      for key, value in pairs(figures) do
        if key:find("^rss") then
          old[key] = math.max(old[key], value)
        else
          old[key] = math.min(old[key], value)
        end
      end
    end
  end
end

local function figures(result, which)
  local plain = {}
  for case, by in pairs(result.results) do
    plain[case] = by[which or "lunarray"]
  end
  return plain
end

-- XLA's products choose their instructions themselves: those of jax are not
-- lowered, and so are left out.
local function drop_products(results)
  for case in pairs(results) do
    if case:find("^gemm_") or case:find("^gemv_") or case:find("^bmm_") then
      results[case] = nil
    end
  end
end

local names = {"numpy", "torch", "jax", "numexpr"}
local function keep_peers(path, prefix)
  for _, name in ipairs(names) do
    local result = peer(name, threads, path)
    if name == "jax" and lowered[path] then drop_products(result.results) end
    version[name] = result.version
    keep(prefix .. name, result.results)
  end
end

local best_path
for _ = 1, tonumber(option.rounds) do
  local mine = driver(option.path, threads)
  best_path, version.lunarray = mine.cpu, mine.version
  keep("lunarray", figures(mine))
  keep("fuse", figures(mine, "lunarray_fuse"))
  if threads == 1 then keep("two", figures(driver(option.path, 2))) end
  if option.paths then
    for _, path in ipairs{"avx2", "default"} do
      if path ~= best_path then keep(path, figures(driver(path, threads))) end
    end
    if option.peers and best_path ~= "avx2" then keep_peers("avx2", "avx2 ") end
  end
  if option.peers then keep_peers(option.path, "") end
end

-- The fastest peer's figures for a case and who it is; 'prefix' names the run.
local function fastest(case, prefix)
  local best, who
  for _, name in ipairs(names) do
    local other = seen[prefix .. name] and seen[prefix .. name][case]
    if other and (not best or other.min < best.min) then
      best, who = other, name
    end
  end
  return best, who
end

-- ---- bounds: plain C loops of the same traffic ----

local function traffic(case)
  local op, inputs = case.op, #case.shapes
  if case.bytes == 0 or case.group == "fused" or case.group == "game" then
    return nil
  end
  if op == "fill" then return "fill" end
  if case.group == "gemm" then
    return #case.shapes[2] == 1 and op == "matmul" and "read" or nil
  end
  if case.group == "reduction" then
    if op:find("sort") or op == "topk" then return nil end
    return (op == "softmax" or op == "cumsum") and "copy" or "read"
  end
  local full = inputs > 1 and #case.shapes[1] == #case.shapes[2]
    and case.shapes[2][#case.shapes[2]] ~= 1
  return full and "add" or "copy"
end

local bounds = {}
local function bound(case)
  local kind = traffic(case)
  if not kind then return nil end
  local key = kind .. case.bytes
  bounds[key] = bounds[key] or floor.bound(kind, case.bytes, threads)
  return bounds[key]
end

-- The processor's name, family and model: names of virtual machines say little.
local function processor()
  local file = io.open("/proc/cpuinfo")
  local text = file and file:read("a") or ""
  if file then file:close() end
  local function field(name)
    return text:match("\n" .. name .. "%s*: ([^\n]*)") or "?"
  end
  return ("%s, family %s, model %s"):format(field("model name"),
    field("cpu family"), field("model"))
end

-- ---- the table ----

local time = timing.text

local function ratio(x, y)
  return x and y and ("%.2f"):format(x / y) or ""
end

local list = {}
for _, case in ipairs(require "cases".list()) do
  local own = seen.lunarray[case.name]
  if own then
    local row = {case = case, name = case.name, time = own.min, own = own,
      bound = bound(case), fuse = seen.fuse[case.name]}
    row.other, row.peer = fastest(case.name, "")
    row.best = row.other and row.other.min
    local other = fastest(case.name, "avx2 ")
    local lower = seen.avx2 and seen.avx2[case.name]
    row.avx2 = other and lower and lower.min / other.min
    local torch = seen.torch and seen.torch[case.name]
    row.torch = torch and torch.min
    row.two = seen.two and seen.two[case.name] and seen.two[case.name].min
    row.R = row.best and row.time / row.best
    list[#list + 1] = row
  end
end
table.sort(list, function(a, b)
  local x = a.R or a.bound and a.time / a.bound or 0
  local y = b.R or b.bound and b.time / b.bound or 0
  if x ~= y then return x > y end
  return a.name < b.name
end)

local lines = {}
local function say(line)
  print(line)
  lines[#lines + 1] = line
end

local about = {}
for _, name in ipairs{"lunarray", "numpy", "torch", "jax", "numexpr"} do
  if version[name] then about[#about + 1] = name .. " " .. version[name] end
end
say(("%s; %s path, %d thread%s; worst first"):format(
  table.concat(about, ", "), best_path, threads, threads > 1 and "s" or ""))
say("processor: " .. processor())
say(("R: lunarray / fastest peer; bound: a plain C loop / lunarray; an empty "
  .. "C call from Lua takes %.0f ns"):format(
  timing.batches(floor.nothing, 0.02, 20000).min))
if seen.avx2 then
  say("R avx2: the same on the AVX2 path, with peers that use no more either; "
    .. "avx2, default: time there / time")
end
local head = ("%-28s %10s %6s %-8s %10s %6s %6s"):format("case", "lunarray",
  "R", "peer", "takes", "torch", "bound")
if seen.two then head = head .. "  2 thr." end
if seen["avx2 numpy"] then head = head .. "  R avx2" end
for _, path in ipairs{"avx2", "default"} do
  if seen[path] then head = head .. ("%8s"):format(path) end
end
say(head)
for _, row in ipairs(list) do
  local line = ("%-28s %10s %6s %-8s %10s %6s %6s"):format(row.name,
    time(row.time), ratio(row.time, row.best), row.peer or "",
    time(row.best), ratio(row.time, row.torch), ratio(row.bound, row.time))
  if seen.two then line = line .. ("%7sx"):format(ratio(row.time, row.two)) end
  if seen["avx2 numpy"] then
    line = line .. ("%8s"):format(ratio(row.avx2, 1))
  end
  for _, path in ipairs{"avx2", "default"} do
    local other = seen[path] and seen[path][row.name]
    if seen[path] then
      line = line .. ("%8s"):format(ratio(other and other.min, row.time))
    end
  end
  say(line)
  if row.fuse then
    say(("%-28s %10s %6s %-8s %10s %6s"):format("  with la.fuse",
      time(row.fuse.min), ratio(row.fuse.min, row.best), "", "",
      ratio(row.fuse.min, row.torch)))
  end
  for _, who in ipairs{"own", "fuse", "other"} do
    local f = row[who] or {}
    who = who == "own" and "lunarray" or who == "fuse" and "la.fuse" or row.peer
    if f.p99 then
      say(("%-28s %s: median %s, p99 %s (%.2f), worst %s"):format("", who,
        time(f.p50), time(f.p99), f.p99 / f.p50, time(f.max)))
    elseif f.rss_growth_mib then
      say(("%-28s %s: resident memory grew by %.1f MiB, at most %.1f")
        :format("", who, f.rss_growth_mib, f.rss_peak_growth_mib))
    end
  end
end
local sum, n = {}, {}
for _, row in ipairs(list) do
  if row.R then
    local g = row.case.group
    sum[g], n[g] = (sum[g] or 0) + math.log(row.R), (n[g] or 0) + 1
  end
end
for group, total in pairs(sum) do
  say(("%-12s geometric mean of R over %d cases: %.2f"):format(group,
    n[group], math.exp(total / n[group])))
end

-- ---- kept figures ----

if option.record then
  local file = assert(io.open("bench/history.tsv", "a"))
  for _, row in ipairs(list) do
    file:write(table.concat({os.date("!%Y-%m-%d"), version.lunarray, best_path,
      threads, row.name, ("%.4g"):format(row.time), row.peer or "",
      ratio(row.time, row.best), ratio(row.bound, row.time),
      row.two and ratio(row.time, row.two) or ""}, "\t"), "\n")
  end
  file:close()
end

if option.page then
  local file = assert(io.open(option.page, "w"))
  file:write("# Compared with the peers\n\n",
    "`bench/run.lua` measures and writes this: ",
    "one run on one machine, every program on the same processor by turns.\n",
    "Ratios hold inside the run; the history of single figures is in ",
    "history.tsv.\n\n![time over the fastest peer's](speed.svg)\n\n```\n",
    table.concat(lines, "\n"), "\n```\n")
  file:close()
end

if option.svg and option.peers then
  local plot = assert(io.popen("gnuplot", "w"))
  local rows = {}
  for _, row in ipairs(list) do if row.R then rows[#rows + 1] = row end end
  plot:write(("set terminal svg size 900,%d font 'sans,10' "
    .. "background 'white'\n")
    :format(80 + 14 * #rows))
  plot:write(("set output '%s'\n"):format(option.svg))
  plot:write("set title 'Time of lunarray / time of the fastest peer, ",
    ("one run, %d thread(s), %s'\n"):format(threads, best_path))
  plot:write("set logscale x 2\nset key off\nset grid x\n",
    "set style fill solid 0.8 noborder\nset xrange [0.03:8]\n",
    ("set yrange [%d:0]\nset arrow from 1,0 to 1,%d nohead lw 2 lc 'black'\n")
      :format(#rows + 1, #rows + 1))
  plot:write("plot '-' using (sqrt(0.03*$1)):0:(0.03):1:($0+0.6):($0+1.4):",
    "($1>1?0xcc4444:0x4477aa):ytic(2) with boxxyerror lc rgb variable\n")
  for _, row in ipairs(rows) do
    plot:write(("%.4f %s\n"):format(row.R, (row.name:gsub("_", "\\\\_"))))
  end
  plot:write("e\n")
  plot:close()
end
