-- The Lua that specs start: stock.program, which is LUA of the environment; and
-- what differs between its versions.
local stock = {program = os.getenv "LUA" or "lua5.4"}

stock.is_55 = _VERSION == "Lua 5.5"

-- f() while a cycle of the collector follows at once upon the one before.
function stock.without_pause(f)
  local old
  if stock.is_55 then
    old = collectgarbage("param", "pause", 0)
  else
    old = collectgarbage("setpause", 0)
  end
  f()
  if stock.is_55 then
    collectgarbage("param", "pause", old)
  else
    collectgarbage("setpause", old)
  end
end

-- Makes the collector one that does a whole cycle in each of its steps, and a
-- step whenever it may; returns a function that makes it as it was.
function stock.busy()
  if not stock.is_55 then
    local mode = collectgarbage("incremental", 1, 1000, 30)
    return function() collectgarbage(mode) end
  end
  local mode, old = collectgarbage("incremental"), {}
  for _, name in ipairs{"pause", "stepmul"} do
    old[name] = collectgarbage("param", name, 0)
  end
  return function()
    for name, value in pairs(old) do collectgarbage("param", name, value) end
    collectgarbage(mode)
  end
end

-- What error(nil) gives: 5.5 makes a text of it.
function stock.is_no_error(why)
  return why == nil or stock.is_55 and why == "<no error object>"
end

return stock
