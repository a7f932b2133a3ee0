-- lunarray.tensors: what the Lua modules ask about values.
local la = require "lunarray"

local tensors = {}

-- The metatable is locked: all tensors show the same value in its place.
local LOCKED = getmetatable(la.zeros(1))

function tensors.is_tensor(value)
  return type(value) == "userdata" and getmetatable(value) == LOCKED
end

-- Can the tensor have a gradient?
function tensors.is_float(t) return t:is_floating_point() or t:is_complex() end

-- A single tensor as a list of one.
function tensors.as_list(values)
  return tensors.is_tensor(values) and {values} or values
end

return tensors
