-- The module refers to no function that only one version of Lua has, but weakly
-- (lua/versions.h): one that is loaded into the other version says so in a
-- sentence, where the linker's error would say nothing.
--   lua5.4 spec/lint/versions.lua [build]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

-- Functions and variables of liblua5.4 that liblua5.5 lacks, and the reverse.
local only = {}
for name in ([[luaL_openlibs lua_resetthread lua_setcstacklimit
  luaL_openselectedlibs lua_closethread lua_pushexternalstring luaL_alloc
  lua_numbertocstring luaL_makeseed]]):gmatch("%S+") do only[name] = true end

local function check(build)
  local found = {}
  build = build or "build"
  local pipe = assert(io.popen(("nm -D -u %s/lunarray.so"):format(build)))
  local count = 0
  for line in pipe:lines() do
    local kind, name = line:match("^%s+(%a) (luaL?_[%w_]+)")
    count = count + (name and 1 or 0)
    if kind == "U" and only[name] then
      found[#found + 1] = ("%s/lunarray.so uses %s, which only one version of "
        .. "Lua has"):format(build, name)
    end
  end
  pipe:close()
  if count == 0 then found[1] = build .. "/lunarray.so uses no Lua" end
  return found
end

if arg and arg[0] and arg[0]:match("versions%.lua$") then
  files.main(check, arg[1])
end
return check
