-- What scripts reach of the library, for specs that walk over it.
local la = require "lunarray"
local reach = {}

-- The table behind x.name, where the library keeps methods and properties;
-- pairs makes those that nobody asked for yet.
function reach.methods()
  local index = debug.getregistry()["lunarray.Tensor"].__index
  for k = 1, 20 do
    local _, value = debug.getupvalue(index, k)
    if type(value) == "table" and value.sum then return value end
  end
end

-- t[name], nil where asking is an error.
function reach.member(t, name)
  local ok, v = pcall(function() return t[name] end)
  return ok and v or nil
end

-- The function that users call for a row, "add" or "fft_rfft", and how it is
-- written; nil where it is none of the library and of a theme.
function reach.of_row(name)
  local f = reach.member(la, name)
  if type(f) == "function" then return f, "la." .. name end
  local theme, rest = name:match("^(%w-)_(.+)$")
  f = theme and reach.member(reach.member(la, theme) or {}, rest)
  if f then return f, ("la.%s.%s"):format(theme, rest) end
end

return reach
