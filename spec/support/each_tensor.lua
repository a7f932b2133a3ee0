-- each_tensor(v, f): f(t) of each tensor in v, a tensor or lists of them.
local function each_tensor(v, f)
  if type(v) == "userdata" then f(v) return end
  if type(v) == "table" and not getmetatable(v) then
    for _, inner in ipairs(v) do each_tensor(inner, f) end
  end
end

return each_tensor
