-- counted(f[, options]): f compiled, and a table whose first entry is how often
-- f itself ran.
local la = require "lunarray"

return function(f, options)
  local count = {0}
  return la.compile(function(...)
    count[1] = count[1] + 1
    return f(...)
  end, options), count
end
