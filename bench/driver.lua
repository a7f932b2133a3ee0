-- Runs cases in lunarray and writes what they took:
--
--   lua5.4 bench/driver.lua [--threads N] [--cases PATTERN] [--list FILE]
--                           [--budget SECONDS] [--out FILE] [--build DIR]
--
-- PATTERN is a Lua pattern. LIST has the format of bench/cases.json. The result
-- is {"results": {NAME: {"lunarray": {"min": ns, "median": ns}}}} (and
-- "lunarray_fuse" where a case suits la.fuse), on the standard output unless a
-- file is named. LUNARRAY_CPU chooses the CPU path, DIR the build whose module
-- is measured (its Lua modules are those inside of it).
package.path = "bench/?.lua;" .. package.path
local option = require "options"("driver.lua", {threads = "1", cases = "",
  list = "bench/cases.json", budget = "0.15", build = "build"})
package.cpath = option.build .. "/?.so;build/?.so;" .. package.cpath
local json = require "dkjson"
local la = require "lunarray"
local cases = require "cases"
local timing = require "timing"
la.set_num_threads(tonumber(option.threads))

local results = {}
for _, case in ipairs(cases.list(option.list)) do
  if case.name:find(option.cases) then
    local f, way, fused = cases.make(case)
    if not f then
      io.stderr:write("driver.lua: no such operation: ", case.op, "\n")
    else
      local small = case.group == "small" or case.op == "infer"
      local function time(g)
        if not g then return nil end
        if way == "frames" then return timing.frames(g, 5000) end
        if way == "growth" then return timing.growth(g, 1000) end
        return timing.batches(g, tonumber(option.budget), small and 20000)
      end
      results[case.name] = {lunarray = time(f), lunarray_fuse = time(fused)}
    end
    f, fused = nil, nil
    collectgarbage()
  end
end

local text = json.encode({version = la._VERSION, cpu = la.cpu_capability(),
  threads = tonumber(option.threads), unit = "ns per call",
  results = setmetatable(results, {__jsontype = "object"})})
if option.out then
  local file = assert(io.open(option.out, "w"))
  file:write(text, "\n")
  file:close()
else
  print(text)
end
