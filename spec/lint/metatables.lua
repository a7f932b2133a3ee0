-- Metatables are made in one file, which locks them: what C sets again and a
-- script may write to ends up with a finalizer that no limit ends.
--   lua5.4 spec/lint/metatables.lua [folder ...]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

local CALLS = {"lua_setmetatable%s*%(", "luaL_setmetatable%s*%(",
               "luaL_newmetatable%s*%("}

-- Files that may call these, and how often: that one, setmetatable of a
-- sandbox, which is given the script's tables, and a finalizer that takes one
-- away.
local ALLOWED = {["modules/tokenizer/lua/tokenizer.c"] = 1,
                 ["src/lua/metatable.c"] = 3, ["src/lua/metatable.h"] = 2,
                 ["src/lua/sandbox/guarded_call.c"] = 1}

local function check(...)
  local found = {}
  for _, root in ipairs{...} do
    for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc")) do
      -- lunarray_mpi.so is a library of its own, which no sandbox loads.
      local left = path:find("/mpi/ranks/") and math.huge or ALLOWED[path] or 0
      for i, line in ipairs(files.lines(path)) do
        for _, call in ipairs(CALLS) do
          local code = line:match("^%s*[%*/]%*") and "" or line
          if code:find("%f[%w_]" .. call) then left = left - 1 end
          if code:find("%f[%w_]" .. call) and left < 0 then
            found[#found + 1] = ("%s:%d: a metatable of its own: see "
              .. "lua/metatable.h"):format(path, i)
          end
        end
      end
    end
  end
  return found
end

if arg and arg[0] and arg[0]:match("metatables%.lua$") then
  files.main(check, table.unpack(arg[1] and arg or {"src"}))
end
return check
