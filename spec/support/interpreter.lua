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

-- What error(nil) gives: 5.5 makes a text of it.
function stock.is_no_error(why)
  return why == nil or stock.is_55 and why == "<no error object>"
end

return stock
