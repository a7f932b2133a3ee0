-- Whole families of operations compared with the peers: every dtype, many
-- shapes.
--
--   lua5.4 bench/sweep.lua [--cases PATTERN] [--threads N]
--                          [--peers NAME,NAME] [--page FILE] [--build DIR]
--                          [--names FILE] [--rounds N] [--path NAME]
--
-- The list is bench/sweep_cases.lua; Python from BENCH_PYTHON or build/peers.
-- Every program runs by itself on one processor, on the CPU path NAME (avx2)
-- when that is given, with peers that use no more either. Prints, family by
-- family, how the ratios to the fastest peer are distributed and the cases
-- above 1.05, worst first; with --page into a file. PATTERN is a Lua pattern
-- for the case's name. With --peers none the times of the module in DIR alone,
-- as JSON. FILE lists the names of the only cases to run, one a line.
package.path = "bench/?.lua;" .. package.path
local option = require "options"("sweep.lua", {cases = "", threads = "1",
  peers = "torch,numpy,jax", build = "build", names = "", rounds = "3",
  path = ""})
package.cpath = option.build .. "/?.so;build/?.so;" .. package.cpath
local json = require "dkjson"
local timing = require "timing"
local lowered = require "lowered"

local listed
if option.names ~= "" then
  listed = {}
  for name in io.lines(option.names) do listed[name] = true end
end

local chosen = {}
for _, case in ipairs(require "sweep_cases") do
  if case.name:find(option.cases) and (not listed or listed[case.name]) then
    chosen[#chosen + 1] = case
  end
end

-- ---- in lunarray ----

local function tensor(la, a, g)
  local x
  local float = a.dtype:find("float")
  if a.fill == "index" then
    x = la.randint(1, a.below, a.shape, {generator = g})
  elseif a.fill == "sorted" and a.below then
    x = la.randint(1, a.below, a.shape, {generator = g}):sort()
  elseif a.fill == "shift" then
    x = la.randint(0, 6, a.shape, {generator = g, dtype = a.dtype})
  elseif a.dtype == "bool" then
    x = la.rand(a.shape, {generator = g}):gt(0.5)
  elseif a.dtype:find("complex") then
    local part = la.rand(a.shape, {generator = g,
      dtype = a.dtype == "complex64" and "float32" or "float64"})
    x = la.complex(part, part * 0.5 + 0.25)
  elseif float then
    x = la.rand(a.shape, {generator = g})
    x = a.fill == "sign" and x * 1.8 - 0.95
      or x * 0.9 + (a.fill == "over" and 1.05 or 0.05)
    x = x:to(a.dtype)
  else
    x = la.randint(1, 99, a.shape, {generator = g}):to(a.dtype)
  end
  if a.fill == "sorted" and not a.below then x = x:sort() end
  if a.view == "t" then return x:t() end
  if a.view == "step" then
    local wide = la.cat({x, x}, -1)
    return wide:slice(-1, 1, nil, 2)
  end
  return x
end

local function call(la, case)
  local g = la.Generator(7)
  local t = {}
  for i, a in ipairs(case.args) do t[i] = tensor(la, a, g) end
  local x, y, z = t[1], t[2], t[3]   -- what the call takes, in order
  local f, dim, number = la[case.op], case.dim and case.dim + 1, case.number
  if case.to then
    local out = la.empty(x.shape, {dtype = case.to})
    return function() out:copy_(x) end
  end
  if case.op == "contiguous" then
    return function() return x:contiguous() end
  end
  if case.list then return function() return f(t, dim) end end
  if case.dims then
    local at = case.dims[1] + 1
    return function() return f(x, at) end
  end
  if case.pads then return function() return f(x, case.pads) end end
  if case.op == "nonzero" then return function() return x:nonzero() end end
  if dim and y then
    if z then return function() return f(x, dim, y, z) end end
    return function() return f(x, dim, y) end
  end
  if dim then return function() return f(x, dim) end end
  local args, n = t, #t + (number and 1 or 0)
  t[#t + 1] = number
  if case.out then
    local out = f(table.unpack(args, 1, n)):contiguous()
    args[n + 1] = {out = out}
    if pcall(f, table.unpack(args, 1, n + 1)) then n = n + 1 end
  end
  if n == 1 then return function() return f(x) end end
  local a, b, c, d = table.unpack(args, 1, n)
  if n == 2 then return function() return f(a, b) end end
  if n == 3 then return function() return f(a, b, c) end end
  return function() return f(a, b, c, d) end
end

if option.peers == "none" then
  local la = require "lunarray"
  la.set_num_threads(tonumber(option.threads))
  local results = {}
  for _, case in ipairs(chosen) do
    local ok, f = pcall(call, la, case)
    local timed
    if ok and f then ok, timed = pcall(timing.quick, f) end
    if ok and timed then
      results[case.name] = timed
    else
      io.stderr:write(case.name, " - ", tostring(ok and f or timed or f), "\n")
    end
    f = nil
    collectgarbage()
  end
  print(json.encode(results))
  return
end

-- ---- everybody ----

-- A round runs every program once. The first has all cases. Those that it
-- leaves above 1.05 are run again, option.rounds rounds in all; the least of
-- each program counts, for other work on the machine only ever adds.
local peers, version, mine = {}, {}, {}
local python = os.getenv("BENCH_PYTHON") or "build/peers/bin/python"
local before = option.path ~= "" and ("LUNARRAY_CPU=%s %s"):format(
  option.path, lowered[option.path] or "") or ""

local function run(command)
  local pin = option.threads == "1" and "taskset -c 0 " or ""
  local p = assert(io.popen(before .. pin .. command))
  local text = p:read("a")
  p:close()
  return json.decode(text) or error("no result from: " .. command, 0)
end

local function written(text)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
  return name
end

local function least(all, some)
  for name, took in pairs(some) do
    all[name] = math.min(all[name] or took, took)
  end
end

local function fastest(case)
  local best, who
  for name, results in pairs(peers) do
    local took = results[case.name]
    if took and (not best or took < best) then best, who = took, name end
  end
  return best, who
end

local function round(cases)
  local names = {}
  for i, case in ipairs(cases) do names[i] = case.name .. "\n" end
  local listing, shared = written(table.concat(names)),
    written(json.encode(cases))
  least(mine, run(("lua5.4 bench/sweep.lua --peers none --threads %s "
    .. "--names %s --build %s"):format(option.threads, listing, option.build)))
  version = {}
  for name in option.peers:gmatch("%a+") do
    local got = run(("%s bench/peers/sweep_peers.py %s %s --threads %s")
      :format(python, name, shared, option.threads))
    peers[name] = peers[name] or {}
    least(peers[name], got.results)
    version[#version + 1] = name .. " " .. got.version
  end
  os.remove(listing)
  os.remove(shared)
end

local cases = chosen
for _ = 1, tonumber(option.rounds) do
  if #cases > 0 then round(cases) end
  local slow = {}
  for _, case in ipairs(cases) do
    local best = fastest(case)
    if best and mine[case.name] and mine[case.name] > 1.05 * best then
      slow[#slow + 1] = case
    end
  end
  cases = slow
end

local families, order = {}, {}
for _, case in ipairs(chosen) do
  local best, who = fastest(case)
  local own = mine[case.name]
  local family = case.name:match("^%S+")
  if not families[family] then
    families[family] = {none = 0, alone = {}}
    order[#order + 1] = family
  end
  local rows = families[family]
  if not own then
    rows.none = rows.none + 1
    rows.alone[#rows.alone + 1] = case.name
  elseif best then
    rows[#rows + 1] = {name = case.name, own = own, best = best, who = who,
      R = own / best}
  end
end

local lines = {}
local function say(...)
  lines[#lines + 1] = string.format(...)
  print(lines[#lines])
end

local time = timing.text

say("%s, %s thread(s); R: lunarray / fastest peer", table.concat(version, ", "),
  option.threads)
for _, family in ipairs(order) do
  local rows = families[family]
  table.sort(rows, function(a, b)
    if a.R ~= b.R then return a.R > b.R end
    return a.name < b.name
  end)
  local logs, above, far = 0, 0, 0
  for _, row in ipairs(rows) do
    logs = logs + math.log(row.R)
    if row.R > 1.05 then above = above + 1 end
    if row.R > 1.3 then far = far + 1 end
  end
  if #rows > 0 then
    say("\n%s: %d cases, geometric mean %.2f, median %.2f; above 1.05: %d, "
      .. "above 1.3: %d", family, #rows, math.exp(logs / #rows),
      rows[(#rows + 1) // 2].R, above, far)
  end
  for _, row in ipairs(rows) do
    if row.R <= 1.05 then break end
    say("%5.2f  %-52s %10s  %-6s %10s", row.R, row.name, time(row.own),
      row.who, time(row.best))
  end
  if rows.none > 0 then
    say("not run: %s", table.concat(rows.alone, "; "))
  end
end

if option.page then
  local page = assert(io.open(option.page, "w"))
  page:write("# Families of operations compared with the peers\n\n",
    "`bench/sweep.lua` ",
    "measures and writes this: one run on one machine, each case a few\n",
    "milliseconds, so single figures scatter by ten percent. Listed are the ",
    "cases above 1.05.\n\n```\n", table.concat(lines, "\n"), "\n```\n")
  page:close()
end
