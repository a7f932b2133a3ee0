-- lunarray.repl.names: what a value answers to, for completion and for hints.
local help = require "lunarray.help"
local is_tensor = require "lunarray.tensors".is_tensor

-- Kept, as whoever types may wipe the globals.
local ipairs, next, pairs, rawget, type = ipairs, next, pairs, rawget, type
local debug, package, rawequal, string = debug, package, rawequal, string
local _G = _G

local names = {}

local WORD = "^[%a_][%w_]*$"

local function add(seen, t)
  for key in next, t do
    if type(key) == "string" and key:find(WORD) then seen[key] = true end
  end
end

-- Names of a table, and of what its metatable's __index leads to.
local function add_chain(seen, t)
  for _ = 1, 20 do
    if type(t) ~= "table" then return end
    add(seen, t)
    local mt = debug.getmetatable(t)
    if type(mt) ~= "table" then return end
    t = rawget(mt, "__index")
  end
end

-- A module of lunarray.nn: its parameters, submodules and the methods of its
-- class, which are behind functions.
local function add_module(seen, module)
  local nn = package.loaded["lunarray.nn"]
  if not nn or not nn.is_module(module) then return end
  local record = rawget(module, nn._STATE)
  for _, name in ipairs(record.names) do
    if type(name) == "string" and name:find(WORD) then seen[name] = true end
  end
  local index = rawget(debug.getmetatable(module), "__index")
  for k = 1, 5 do
    local _, class = debug.getupvalue(index, k)
    if type(class) == "table" then add_chain(seen, class) end
  end
end

-- The library, a theme or a module of it: their functions are made when they
-- are asked for, and the table of words knows them before.
local function add_theme(seen, value)
  local la = package.loaded.lunarray
  if rawequal(value, la) then add(seen, help.names("la")) end
  for name, theme in pairs(type(la) == "table" and la or {}) do
    if rawequal(theme, value) then add(seen, help.names(name)) end
  end
  for name, module in next, package.loaded do
    local short = rawequal(module, value) and name:match("^lunarray%.([%w_]+)$")
    if short then add(seen, help.names(short)) end
  end
end

-- A set of the names that may stand behind value. or value: (all begin with a
-- letter; those that the library keeps for itself, with _, are left out).
function names.of(value)
  local seen = {}
  if is_tensor(value) then add(seen, help.names("tensor"))
  elseif type(value) == "string" then add(seen, string)
  elseif type(value) == "table" then
    add_chain(seen, value)
    add_theme(seen, value)
    add_module(seen, value)
  elseif type(value) == "userdata" then
    local mt = debug.getmetatable(value)
    if type(mt) == "table" then add_chain(seen, rawget(mt, "__index")) end
  end
  for name in next, seen do
    if name:find("^_") and not (value == _G) then seen[name] = nil end
  end
  return seen
end

-- What a tensor answers to, without one.
function names.of_tensors()
  local seen = {}
  add(seen, help.names("tensor"))
  return seen
end

return names
