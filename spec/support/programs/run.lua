-- Random programs, eager and compiled (spec/support/programs/worlds.lua), on
-- every CPU path and with one thread and two.
--
--   lua5.4 spec/support/programs/run.lua [--count N] [--first N] [--paths P]
--     [--only A,B] [--faults N]
--
-- The parent starts children for a few hundred programs each, so that one that
-- dies is one fault. --paths "avx2 default" are the values of LUNARRAY_CPU;
-- --only names ways to compile: "all" (every pass), "none", or a pass that is
-- left out alone. After so many faults it ends. Each is printed as a program
-- that was made as short as it goes.
local CHUNK = 500
local option = require "spec.support.options"("run.lua", {count = 1000,
  first = 1, paths = "", only = "", faults = 5, child = 0})

-- ---- a child: programs one after another ----

local function child()
  local draw = require "spec.support.programs.draw"
  local worlds = require "spec.support.programs.worlds"
  local ways = worlds.ways(option.only)
  io.stdout:setvbuf("line")
  local faults = 0
  for seed = option.first, option.first + option.child - 1 do
    print("@" .. seed)
    for _, way in ipairs(worlds.some(ways, seed)) do
      local ok, why = pcall(worlds.disagreement, draw.program(seed),
        way.compile)
      if not ok or why then
        local p = draw.program(seed)
        why = ok and worlds.shrink(p, way.compile) or why
        print(("%d, %s: %s\n%s\n"):format(seed, way.name, why, worlds.text(p)))
        faults = faults + 1
        break
      end
    end
    if faults >= option.faults then break end
  end
  print("@end")
end

-- ---- the parent ----

local function run_child(path, threads, first, count)
  local pipe = assert(io.popen(("LUNARRAY_CPU=%s LUNARRAY_NUM_THREADS=%d "
    .. "lua5.4 spec/support/programs/run.lua --child %d --first %d --only '%s' "
    .. "--faults %d 2>&1"):format(path, threads, count, first, option.only,
    option.faults)))
  local at, faults, text = first, 0, {}
  for line in pipe:lines() do
    local seed = line:match("^@(.*)$")
    if seed then
      at = seed
    else
      if line:find("^%d+, %a+: ") then faults = faults + 1 end
      text[#text + 1] = line
    end
  end
  pipe:close()
  if at ~= "end" then
    faults = faults + 1
    text[#text + 1] = ("%s: the process ended"):format(at)
  end
  if faults > 0 then
    print(("on %s, threads %d:\n%s"):format(path, threads,
      table.concat(text, "\n")))
  end
  return faults
end

local function parent()
  local la = require "lunarray"
  local paths, best = {}, la.cpu_capability()
  for path in option.paths:gmatch("%S+") do paths[#paths + 1] = path end
  if #paths == 0 then
    for _, path in ipairs{"default", "avx2", "avx512"} do
      paths[#paths + 1] = path
      if path == best then break end
    end
  end
  local faults, last = 0, option.first + option.count - 1
  for first = option.first, last, CHUNK do
    -- Each chunk takes the next path and number of threads.
    local n = first // CHUNK
    faults = faults + run_child(paths[n % #paths + 1], n // #paths % 2 + 1,
      first, math.min(CHUNK, last - first + 1))
    if faults >= option.faults then break end
  end
  print(("%d programs, %d faults"):format(option.count, faults))
  os.exit(faults == 0)
end

if option.child > 0 then child() else parent() end
