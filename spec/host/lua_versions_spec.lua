-- A module and another Lua than it was compiled for: a sentence, not an error
-- of the linker, and no crash. The interpreter of 5.5 is that of the suite's
-- part lua55.
local stock = require "spec.support.interpreter"

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

describe("a module in another Lua", function()
  local mine, others = "4", "5"
  local other = "build/lua55/bin/lua5.5"
  if stock.is_55 then mine, others, other = "5", "4", "lua5.4" end
  for _, name in ipairs{"lunarray", "lunarray.nn"} do
    it("says which one it needs: " .. name, function()
      if not stock.is_55 and not exists(other) then
        pending("there is no " .. other)
      end
      local pipe = assert(io.popen(("LUA_PATH=';' LUA_CPATH='%s' %s -e "
        .. "'print(pcall(require, %q))' 2>&1"):format(package.cpath, other,
          name)))
      local said = pipe:read "a"
      assert.is_true(pipe:close(), said)
      assert.truthy(said:find("false\tlunarray was built for Lua 5." .. mine
        .. " and cannot run in Lua 5." .. others, 1, true), said)
    end)
  end
end)
