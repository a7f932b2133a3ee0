-- Prints how many collections 400 results of 400,000 bytes cost in incremental
-- mode, in a heap as small as a script's, and how much memory they take.
local la = require "lunarray"
collectgarbage("incremental")
local cycles = 0
local function watch()
  setmetatable({}, {__gc = function()
    cycles = cycles + 1
    watch()
  end})
end
local x, most = la.ones(100000), 0
collectgarbage()
watch()
local before = la.memory()
for _ = 1, 400 do
  x = x * 0.5 + 1
  most = math.max(most, la.memory() - before)
end
print(cycles, most)
