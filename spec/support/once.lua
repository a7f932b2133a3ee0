-- once(name, f): a test whose work is the same whatever runs it, since it is
-- done by compilers, or by a stock Lua with the plain build on CPU paths that
-- the test names. It runs on the best path of that build and is pending
-- elsewhere.
local busted = require "busted"

local function is_elsewhere()
  local program = os.getenv "LUNARRAY_PROGRAM" or "build/lunarray"
  local path = os.getenv "LUNARRAY_CPU"
  local paths = require "lunarray".config().cpu_available
  return program ~= "build/lunarray" or path and path ~= paths[#paths]
end

return function(name, f)
  if is_elsewhere() then
    busted.pending(name .. ": on the best CPU path of the plain build", f)
  else
    busted.it(name, f)
  end
end
