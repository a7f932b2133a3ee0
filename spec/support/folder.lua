-- A folder for the files of one spec, in memory where the system has that:
--
--   local folder = require "spec.support.folder"
--   setup(function() files = folder.new() end)
--   teardown(function() files:remove() end)
--
-- files:path(name), files:write(name, bytes), which returns the path, and
-- files:read(name); files.name is the folder itself.
local folder = {}
folder.__index = folder

function folder.new()
  local name = os.tmpname()
  os.remove(name)
  local quick = "/dev/shm" .. name:gsub("/", "_")
  if os.execute("mkdir " .. quick .. " 2>/dev/null") then name = quick
  else assert(os.execute("mkdir " .. name)) end
  return setmetatable({name = name}, folder)
end

function folder:remove() os.execute("rm -rf " .. self.name) end

function folder:path(name) return self.name .. "/" .. name end

function folder:write(name, bytes)
  local file = assert(io.open(self:path(name), "wb"))
  file:write(bytes)
  file:close()
  return self:path(name)
end

function folder:read(name)
  local file = assert(io.open(self:path(name), "rb"))
  local bytes = file:read("a")
  file:close()
  return bytes
end

return folder
