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

-- Does the build have all modules?
function modules.all()
  local paths = list "ls modules/*/README.md"
  return #paths == #modules.names
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
