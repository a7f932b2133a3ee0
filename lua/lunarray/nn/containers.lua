-- lunarray.nn.containers: Sequential, ModuleList, ModuleDict. State names count
-- from "0", as in PyTorch's checkpoints; indices in Lua from 1.
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"

local function count(self)
  local n = 0
  for _ in self:named_children() do n = n + 1 end
  return n
end

local function at(self, k)
  local state = rawget(self, nn._STATE)
  if k < 0 then k = count(self) + 1 + k end
  return state.values[tostring(k - 1)]
end

-- Objects of a list class answer to integers.
local function list_class(name)
  local List = nn.class(name)
  local named = List._meta.__index
  List._meta.__index = function(self, key)
    if dialect.type(key) == "integer" then return at(self, key) end
    return named(self, key)
  end
  local assign = List._meta.__newindex
  List._meta.__newindex = function(self, key, value)
    if dialect.type(key) ~= "integer" then return assign(self, key, value) end
    local n = count(self)
    if key < 1 or key > n + 1 or not nn.is_module(value) then
      error(string.format("%s: a module at 1 to %d expected", name, n + 1), 2)
    end
    self:add_module(tostring(key - 1), value)
  end
  List._meta.__len = count
  nn[name] = List

  function List:append(module)
    if not nn.is_module(module) then
      error(name .. ": module expected, got " .. type(module), 2)
    end
    self:add_module(tostring(count(self)), module)
    return self
  end
  function List:extend(list)
    for _, module in ipairs(list) do self:append(module) end
    return self
  end
  return List
end

local Sequential = list_class "Sequential"

-- Modules as arguments or in one list.
function Sequential:init(first, ...)
  local list = {first, ...}
  if type(first) == "table" and not nn.is_module(first) then list = first end
  for k, module in ipairs(list) do
    if not nn.is_module(module) then
      error("bad argument #" .. k .. " to 'Sequential' (module expected, got "
        .. type(module) .. ")", 3)
    end
    self:append(module)
  end
end

local STATE = nn._STATE

-- A module's call, without the way through __call where it has no hooks.
local function run(module, ...)
  if module[STATE].hooks then return module(...) end
  return module:forward(...)
end

function Sequential:forward(...)
  local state = self[STATE]
  local values, names = state.values, state.names
  local n = #names
  if n == 0 then return ... end
  if n == 1 then return run(values[names[1]], ...) end
  local x = run(values[names[1]], ...)
  for k = 2, n - 1 do
    local module = values[names[k]]
    if module[STATE].hooks then x = module(x) else x = module:forward(x) end
  end
  return run(values[names[n]], x)
end

local ModuleList = list_class "ModuleList"
function ModuleList:init(list)
  if list then self:extend(list) end
end

-- Parameters by number; plain tensors become parameters.
local ParameterList = nn.class "ParameterList"
nn.ParameterList = ParameterList
ParameterList._meta.__len = function(self)
  return #rawget(self, nn._STATE).names
end
local by_name = ParameterList._meta.__index
ParameterList._meta.__index = function(self, key)
  if dialect.type(key) ~= "integer" then return by_name(self, key) end
  return rawget(self, nn._STATE).values[tostring(key - 1)]
end

function ParameterList:init(list)
  for _, t in ipairs(list or {}) do self:append(t) end
end
function ParameterList:append(t)
  if not nn.is_parameter(t) then t = nn.Parameter(t) end
  self:register_parameter(tostring(#self), t)
  return self
end

local ModuleDict = nn.class "ModuleDict"
nn.ModuleDict = ModuleDict
ModuleDict._meta.__len = count
ModuleDict._meta.__pairs = function(self) return self:named_children() end

-- A table by name (added in the order of names) or a list of {name, module}.
function ModuleDict:init(modules)
  local names = {}
  for key, value in pairs(modules or {}) do
    if type(key) == "string" then names[#names + 1] = key
    else self:add_module(value[1], value[2]) end
  end
  table.sort(names)
  for _, name in ipairs(names) do self:add_module(name, modules[name]) end
end
function ModuleDict:get(name)
  return rawget(self, nn._STATE).values[name]
end

return nn
