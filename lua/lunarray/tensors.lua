-- lunarray.tensors: what the Lua modules ask about values.
local la = require "lunarray"

-- Kept, as the prompt goes on when somebody has wiped the globals.
local error, getmetatable, type, debug = error, getmetatable, type, debug

local tensors = {}

-- Metatables that are locked show a value in their place. LuaJIT's lunarray
-- (luajit/) has no such functions.
local FUNCTION = la.Function
  and getmetatable(la.Function{forward = next, backward = next})
local COMPILED = la.compile and getmetatable(la.compile(next))

tensors.is_tensor = la.is_tensor

-- The files of the library have sources that begin so, embedded or on the path.
local OURS = debug and debug.getinfo(1, "S").source:match("^(.*)tensors")

-- The level of the line that called into the library, for error() in the
-- function that asks.
function tensors.user_level()
  local level, info = 3, debug and debug.getinfo(3, "S")
  while info and (info.what == "C" or info.source:sub(1, #OURS) == OURS) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  return info and level - 1 or 2
end

-- The level of the user who called a function of a module, counted from the
-- function that 'check' was called by: through the table la there is a function
-- in C between.
local function blamed()
  local info = debug and debug.getinfo(4, "S")
  return info and info.what == "C" and 5 or 4
end

-- Raise unless argument 'n' of function 'name' is of that kind: "function",
-- "tensors" (one or a list of them), "values" (a list of anything or a tensor),
-- "options" (a table or nil) or any type of Lua. Called by the function itself:
-- its caller is blamed.
function tensors.check(name, n, value, kind)
  local ok, want = type(value) == kind, kind
  if kind == "function" then
    local mt = not ok and getmetatable(value)
    ok = ok or type(mt) == "table" and mt.__call ~= nil
      or mt ~= nil and (mt == FUNCTION or mt == COMPILED)
  elseif kind == "options" then
    ok, want = value == nil or type(value) == "table", "table of options"
  elseif kind == "values" then
    want = "tensor or list of arguments"
    ok = type(value) == "table" or tensors.is_tensor(value)
  elseif kind == "tensors" then
    want = "tensor or list of tensors"
    ok = type(value) == "table" or tensors.is_tensor(value)
    if type(value) == "table" then
      for k = 1, #value do
        if not tensors.is_tensor(value[k]) then
          error(("bad argument #%d to '%s' ([%d]: tensor expected, got %s)")
            :format(n, name, k, type(value[k])), blamed() - 1)
        end
      end
    end
  end
  if ok then return end
  error(("bad argument #%d to '%s' (%s expected, got %s)"):format(n, name,
    want, value == nil and "no value" or tensors.is_tensor(value) and "tensor"
    or type(value)), blamed() - 1)
end

-- Can the tensor have a gradient?
function tensors.is_float(t) return t:is_floating_point() or t:is_complex() end

-- A single tensor as a list of one.
function tensors.as_list(values)
  return tensors.is_tensor(values) and {values} or values
end

return tensors
