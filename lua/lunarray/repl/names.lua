-- lunarray.repl.names: what a value answers to, for completion and for hints.
local la = require "lunarray"
local is_tensor = require "lunarray.tensors".is_tensor

local names = {}

local WORD = "^[%a_][%w_]*$"

-- The methods and properties of tensors; those of one that is at hand where
-- the library's table is out of reach.
local function tensor_table()
  local mt = debug.getregistry()["lunarray.Tensor"]
  local index = type(mt) == "table" and rawget(mt, "__index")
  for k = 1, 20 do
    local name, value = nil, nil
    if type(index) == "function" then
      name, value = debug.getupvalue(index, k)
    end
    if type(value) == "table" and rawget(value, "sum") then return value end
    if not name then return {} end
  end
end

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

-- A set of the names that may stand behind value. or value: (all begin with a
-- letter; those that the library keeps for itself, with _, are left out).
function names.of(value)
  local seen = {}
  if is_tensor(value) then add(seen, tensor_table())
  elseif type(value) == "string" then add(seen, string)
  elseif type(value) == "table" then
    add_chain(seen, value)
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
function names.of_tensors() return names.of(la.zeros(0)) end

-- How many letters differ: insertions, deletions, changes and exchanges of
-- neighbours (the restricted Damerau-Levenshtein distance), up to 'most'.
local function distance(a, b, most)
  if math.abs(#a - #b) > most then return most + 1 end
  local older, old = nil, {}
  for j = 0, #b do old[j] = j end
  for i = 1, #a do
    local now = {[0] = i}
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local d = math.min(old[j] + 1, now[j - 1] + 1,
        old[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1)
        and a:byte(i - 1) == b:byte(j) then
        d = math.min(d, older[j - 2] + 1)
      end
      now[j] = d
    end
    older, old = old, now
  end
  return old[#b]
end

-- The name of the set that 'word' was meant to be; nil when none is near.
function names.nearest(word, set)
  local best, least = nil, math.min(2, #word // 3) + 1
  for name in next, set do
    local d = name:lower() == word:lower() and 0
      or distance(word, name, least)
    if d < least or d == least and best and name < best then
      if d <= math.min(2, math.max(1, #word // 3)) then
        best, least = name, d
      end
    end
  end
  return best
end

return names
