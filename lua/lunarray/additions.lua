-- lunarray.additions: what the modules of this build (modules/) add to a part
-- of the core. A module with a file lua/<module>/<part>.lua, which returns a
-- function, adds to that part: "layers" to lunarray.nn, "commands" to the
-- prompt.
local la = require "lunarray"

-- Calls the modules' functions for the part with the arguments.
return function(part, ...)
  for _, name in ipairs(la.config().modules) do
    local module = ("lunarray.%s.%s"):format(name, part)
    local found, add = pcall(require, module)
    local why = not found and tostring(add) or ""
    if found then
      add(...)
    elseif not why:find(("module '%s' not found"):format(module), 1, true)
      and not why:find("not in this build", 1, true) then
      error(add, 0)
    end
  end
end
