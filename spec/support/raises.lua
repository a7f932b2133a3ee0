-- raises(text, f, ...): f(...) raises a string that holds 'text' as it stands
-- (nil: any); returns it.
local assert = require "luassert"

return function(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok, "an error was expected")
  assert.same("string", type(message))
  if text then
    assert.truthy(message:find(text, 1, true),
                  ("'%s' lacks '%s'"):format(message, text))
  end
  return message
end
