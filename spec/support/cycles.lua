-- Collections of Lua's collector.
--
-- cycles.count(f, ...) is how many there were while f(...) ran: an object
-- without references is made again by its finalizer. As a program it prints
-- how many 400 results of 400,000 bytes cost in incremental mode, in a heap as
-- small as a script's, and how much memory they take.
local cycles = {}

function cycles.count(f, ...)
  local n, counting = 0, true
  local function watch()
    setmetatable({}, {__gc = function()
      n = n + 1
      if counting then watch() end
    end})
  end
  watch()
  f(...)
  counting = false
  return n
end

if arg and arg[0] and arg[0]:match "cycles%.lua$" then
  local la = require "lunarray"
  collectgarbage "incremental"
  local x, most = la.ones(100000), 0
  collectgarbage()
  local before = la.memory()
  local n = cycles.count(function()
    for _ = 1, 400 do
      x = x * 0.5 + 1
      most = math.max(most, la.memory() - before)
    end
  end)
  print(n, most)
end

return cycles
