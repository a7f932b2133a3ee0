-- Runs spec files without busted, for a Lua for which its C modules are not
-- built: lua spec/support/runner.lua FILE... Needs luassert, which is plain
-- Lua. Knows describe, it, pending, setup, teardown, before_each, after_each;
-- prints what fails, and last a line that reads like busted's.
local assert = require "luassert"

local count = {success = 0, failure = 0, pending = 0}
local PENDING = {}

-- A block of describe: its hooks, and what is in it in order.
local function new_block(name, parent)
  return {name = name, parent = parent, before = {}, after = {}, setup = {},
          teardown = {}, items = {}}
end

local block

-- The words that a spec file is written in. Files share nothing else.
local function words()
  local function adds(list)
    return function(f) table.insert(block[list], f) end
  end
  local function it(name, f)
    table.insert(block.items, {name = name, run = f})
  end
  local function describe(name, f)
    local inner = new_block(name, block)
    table.insert(block.items, inner)
    block = inner
    f()
    block = inner.parent
  end
  return {
    it = it, describe = describe, assert = assert,
    setup = adds "setup", teardown = adds "teardown",
    before_each = adds "before", after_each = adds "after",
    -- In a case: this one ends here. Outside: a case that is left out.
    pending = function(name)
      if not block then error(PENDING) end
      count.pending = count.pending + 1
      print("Pending -> " .. name)
    end,
  }
end

local function message_of(e)
  if type(e) == "table" and e.message then e = e.message end
  if e == PENDING then return e end
  return debug.traceback(tostring(e), 2)
end

local function guarded(title, f)
  local ok, e = xpcall(f, message_of)
  if ok then return true end
  if e == PENDING then
    count.pending = count.pending + 1
  else
    count.failure = count.failure + 1
    print("Failure -> " .. title .. "\n" .. tostring(e))
  end
  return false
end

-- Hooks of the blocks around a case: the outermost first, or last.
local function run_hooks(of, list)
  if not of then return end
  if list == "before" then run_hooks(of.parent, list) end
  for _, f in ipairs(of[list]) do f() end
  if list == "after" then run_hooks(of.parent, list) end
end

local function run_block(of, title)
  local function run_all(list)
    for _, f in ipairs(of[list]) do f() end
  end
  if not guarded(title .. " (setup)", function() run_all "setup" end) then
    return
  end
  for _, item in ipairs(of.items) do
    local name = title .. " " .. item.name
    if item.items then
      run_block(item, name)
    else
      local good = guarded(name, function()
        run_hooks(of, "before")
        item.run()
      end)
      good = guarded(name, function() run_hooks(of, "after") end) and good
      if good then count.success = count.success + 1 end
    end
  end
  guarded(title .. " (teardown)", function() run_all "teardown" end)
end

-- Modules that a file loads are gone again for the next one, but for the
-- library, whose module in C stays anyway.
local function run_file(path)
  local loaded = {}
  for name, value in pairs(package.loaded) do loaded[name] = value end
  local root = new_block(path)
  block = root
  local env = setmetatable(words(), {__index = _G})
  local chunk, why = loadfile(path, "t", env)
  local ok = guarded(path, chunk or function() error(why) end)
  block = nil
  if ok then run_block(root, path) end
  for name in pairs(package.loaded) do
    if not loaded[name] and not name:find("^lunarray") then
      package.loaded[name] = nil
    end
  end
end

-- What specs ask of busted itself.
package.preload.busted = function()
  return setmetatable({}, {__index = function(_, name)
    return words()[name]
  end})
end

for _, path in ipairs(arg) do run_file(path) end
print(("%d successes / %d failures / 0 errors / %d pending")
  :format(count.success, count.failure, count.pending))
os.exit(count.failure == 0)
