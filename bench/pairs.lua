-- Two builds side by side in one run:
--
--   lua5.4 bench/pairs.lua --old DIR [--new DIR] [--cases PATTERN] [--sweep]
--                          [--rounds N] [--threads N] [--budget SECONDS]
--                          [--page FILE]
--
-- DIR holds a lunarray.so (build is the default of --new). The cases are those
-- of bench/cases.json, with --sweep those of bench/sweep_cases.lua. A few cases
-- at a time are measured in a process of each build, old and new by turns, so
-- that a machine whose speed drifts treats both alike; the least time of the
-- rounds counts. Cases beyond 1.05 are measured again, ROUNDS more times,
-- before they are reported. Prints new / old: geometric means by group, and
-- what lies outside of 0.95 to 1.05. The status is 1 where a case lost more.
package.path = "bench/?.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local json = require "dkjson"
local timing = require "timing"

local option = require "options"("pairs.lua", {old = "", new = "build",
  cases = "", rounds = "3", threads = "1", budget = "0.1", page = ""},
  {sweep = true})
assert(option.old ~= "", "pairs.lua: --old DIR is missing")
local rounds = tonumber(option.rounds)
local AT_ONCE = 12      -- cases per process

local function run(command)
  local pin = option.threads == "1" and "taskset -c 0 " or ""
  local pipe = assert(io.popen(pin .. command .. " 2>/dev/null"))
  local text = pipe:read("a")
  pipe:close()
  return json.decode(text) or error("no result from: " .. command, 0)
end

-- ---- the two lists of cases; each run gives name -> nanoseconds ----

local function read(path)
  local file = assert(io.open(path))
  local list = json.decode(file:read("a"))
  file:close()
  return list.cases or list
end

local bench = {}

function bench.list()
  local list = {}
  for _, case in ipairs(read("bench/cases.json")) do
    if case.name:find(option.cases) then
      list[#list + 1] = {name = case.name, group = case.group, case = case}
    end
  end
  return list
end

function bench.run(build, some)
  local path = os.tmpname()
  local chosen = {}
  for i, row in ipairs(some) do chosen[i] = row.case end
  local file = assert(io.open(path, "w"))
  file:write(json.encode({cases = chosen}))
  file:close()
  local got = run(("lua5.4 bench/driver.lua --list %s --build %s --threads %s "
    .. "--budget %s"):format(path, build, option.threads, option.budget))
  os.remove(path)
  local times = {}
  for name, figures in pairs(got.results) do
    for way, t in pairs(figures) do
      if type(t) == "table" then
        times[way == "lunarray" and name or name .. " (fuse)"] =
          t.min or t.median or t.mean
      end
    end
  end
  return times
end

local sweep = {}

function sweep.list()
  local list = {}
  for _, case in ipairs(require "sweep_cases") do
    if case.name:find(option.cases) then
      list[#list + 1] = {name = case.name, group = case.name:match("^%S+")}
    end
  end
  return list
end

function sweep.run(build, some)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for _, row in ipairs(some) do file:write(row.name, "\n") end
  file:close()
  local times = run(("lua5.4 bench/sweep.lua --peers none --names %s "
    .. "--build %s --threads %s"):format(path, build, option.threads))
  os.remove(path)
  return times
end

local source = option.sweep and sweep or bench

-- ---- pairs ----

local best = {old = {}, new = {}}

local function keep(side, times)
  for name, t in pairs(times) do
    local before = best[side][name]
    best[side][name] = before and math.min(before, t) or t
  end
end

local function measure(list, n)
  for first = 1, #list, AT_ONCE do
    local some = table.move(list, first, math.min(#list, first + AT_ONCE - 1),
      1, {})
    for round = 1, n do
      local order = round % 2 == 1 and {"old", "new"} or {"new", "old"}
      for _, side in ipairs(order) do
        keep(side, source.run(option[side], some))
      end
    end
  end
end

local function ratio(name)
  local a, b = best.old[name], best.new[name]
  return a and b and a > 0 and b / a
end

local list = source.list()
measure(list, rounds)
local again = {}
for _, row in ipairs(list) do
  local r = math.max(ratio(row.name) or 0, ratio(row.name .. " (fuse)") or 0)
  if r > 1.05 then again[#again + 1] = row end
end
measure(again, rounds)

-- ---- the answer ----

local lines = {}
local function say(...)
  lines[#lines + 1] = string.format(...)
  print(lines[#lines])
end

local groups, order, outside = {}, {}, {}
local function count(name, group)
  local r = ratio(name)
  if not r then return end
  if not groups[group] then
    groups[group] = {n = 0, logs = 0}
    order[#order + 1] = group
  end
  groups[group].n = groups[group].n + 1
  groups[group].logs = groups[group].logs + math.log(r)
  if r > 1.05 or r < 0.95 then
    outside[#outside + 1] = {name = name, r = r}
  end
end
for _, row in ipairs(list) do
  count(row.name, row.group)
  count(row.name .. " (fuse)", row.group)
end

local n, logs = 0, 0
for _, group in ipairs(order) do
  local g = groups[group]
  say("%-16s %4d cases  %.3f", group, g.n, math.exp(g.logs / g.n))
  n, logs = n + g.n, logs + g.logs
end
say("%-16s %4d cases  %.3f", "all", n, math.exp(logs / math.max(n, 1)))
table.sort(outside, function(a, b) return a.r > b.r end)
for _, row in ipairs(outside) do
  say("%5.2f  %-56s %10s  %10s", row.r, row.name,
    timing.text(best.old[row.name]), timing.text(best.new[row.name]))
end

local lost = 0
for _, row in ipairs(outside) do lost = lost + (row.r > 1.05 and 1 or 0) end
say("%d cases lost more than 5 %%", lost)

if option.page ~= "" then
  local file = assert(io.open(option.page, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end
os.exit(lost == 0 and 0 or 1)
