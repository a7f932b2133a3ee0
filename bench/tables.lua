-- Processor time and peak memory of work with tables on one thread, next to
-- pandas (peers/tables_peers.py reads the same file):
--
--   lua5.4 bench/tables.lua [ROWS [PYTHON]]
--
-- Both run all cases one after the other, three times (RUNS says how often);
-- the least time of each case counts.
-- PYTHON names an interpreter that has pandas; without it ours is timed alone.
local la = require "lunarray"

local CASES = {"read", "filter", "group1", "group2", "sort1", "sort2",
  "join int", "join few", "join text"}
local RUNS = tonumber(os.getenv "RUNS") or 3

-- A file of rows with a text column, and one of 50,000 keys to join with.
local function write(folder, rows)
  local state = 7
  local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
  local out = assert(io.open(folder .. "/rows.csv", "w"))
  out:write "id,city,k,x,y\n"
  local lines = {}
  for i = 1, rows do
    lines[#lines + 1] = ("%d,city%04d,%d,%.3f,%d\n"):format(
      random(32768) * 32768 + random(32768), random(2000), random(1000),
      random(30000) / 7, random(30000))
    if #lines == 10000 or i == rows then
      out:write(table.concat(lines))
      lines = {}
    end
  end
  out:close()
end

local function memory()
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmHWM:%s*(%d+)"
    if kb then return kb / 1024 end
  end
end

-- One pass over the cases: a line "case seconds" for each, and the memory.
local function pass(folder)
  la.set_num_threads(1)
  local F = la.frame
  local function timed(name, fn)
    collectgarbage()
    local t = os.clock()
    local result = fn()
    print(("%s\t%.4f"):format(name, os.clock() - t))
    return result
  end
  local f = timed("read", function()
    return la.read_csv(folder .. "/rows.csv")
  end)
  local n = #f
  local ids = f:unique "id":select "id":with{v = F.number()}
  local few = F{k = la.arange(1000), w = la.arange(1000):to "float64"}
  local cities = f:unique "city":select "city":with{u = F.number()}
  timed("filter", function() return f:filter(f.x:gt(2000)) end)
  timed("group1", function()
    return f:group "city":agg{m = F.mean "x", s = F.sum "y"}
  end)
  timed("group2", function()
    return f:group{"city", "k"}:agg{m = F.mean "x", s = F.sum "y"}
  end)
  timed("sort1", function() return f:sort "x" end)
  timed("sort2", function() return f:sort{"city", "x"} end)
  local joined = timed("join int", function() return f:join(ids, "id") end)
  assert(#joined == n)
  timed("join few", function() return f:join(few, "k") end)
  timed("join text", function() return f:join(cities, "city") end)
  print(("memory\t%.1f"):format(memory()))
end

local function least(into, command)
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do
    local name, v = line:match "^(.-)\t(.+)$"
    if name then into[name] = math.min(into[name] or math.huge, tonumber(v)) end
  end
  assert(pipe:close(), command)
end

if arg[1] == "pass" then return pass(arg[2]) end

local rows, python = math.tointeger(arg[1] or 5000000), arg[2]
local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))
write(folder, rows)
local ours, theirs = {}, {}
for _ = 1, RUNS do
  least(ours, ("%s bench/tables.lua pass %s"):format(
    os.getenv "LUA" or "lua5.4", folder))
  if python then
    least(theirs, ("%s bench/peers/tables_peers.py %s"):format(python, folder))
  end
end
os.remove(folder .. "/rows.csv")
os.remove(folder)
print(("%d rows; seconds of the processor, memory in MB"):format(rows))
CASES[#CASES + 1] = "memory"
for _, name in ipairs(CASES) do
  local a, b = ours[name], theirs[name]
  print(("%-10s %9.3f%s"):format(name, a,
    b and (" %9.3f   %.2f"):format(b, a / b) or ""))
end
