-- The modules (modules/) of the build under test, and files of the suite that
-- the core and each of them have.
local la = require "lunarray"

local modules = {names = la.config().modules}

local function list(command)
  local paths = {}
  local pipe = assert(io.popen(command))
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- The folders 'name' of spec/ and of the modules' specs that are there.
local function folders(name)
  local found = {"spec/" .. name}
  for _, module in ipairs(modules.names) do
    found[#found + 1] = ("modules/%s/spec/%s"):format(module, name)
  end
  return found
end

-- All folders of modules.
modules.every = list "ls -d modules/*/README.md | cut -d / -f 2"

-- Does the build have all modules?
function modules.all() return #modules.every == #modules.names end

-- Does the build have the modules 'names'?
function modules.has(names)
  local here = " " .. table.concat(modules.names, " ") .. " "
  for name in names:gmatch "%S+" do
    if not here:find(" " .. name .. " ", 1, true) then return false end
  end
  return true
end

-- The module whose table la.<theme> is; "" for one of the core.
function modules.of(theme)
  return exists(("modules/%s/README.md"):format(theme)) and theme or ""
end

-- 'it' or 'describe' for what needs the modules 'names': in a build without
-- them it does nothing.
--   modules.needing("image", it)("is saved as PNG", function() ... end)
function modules.needing(names, it)
  return modules.has(names) and it or function() end
end

-- The golden records, sorted by the operation's name.
function modules.golden()
  local paths = list(("find %s -name '*.jsonl' 2>/dev/null")
    :format(table.concat(folders "golden", " ")))
  local function name(path) return path:match "[^/]+$" end
  table.sort(paths, function(a, b) return name(a) < name(b) end)
  return paths
end

-- The path of an operation's golden records, or nil.
function modules.golden_of(name)
  for _, folder in ipairs(folders "golden") do
    local path = folder .. "/" .. name .. ".jsonl"
    if exists(path) then return path end
  end
end

-- What the files 'name' in the specs of the modules return, a list.
function modules.parts(name)
  local parts = {}
  for _, module in ipairs(modules.names) do
    local path = ("modules/%s/spec/%s.lua"):format(module, name)
    if exists(path) then parts[#parts + 1] = dofile(path) end
  end
  return parts
end

return modules
