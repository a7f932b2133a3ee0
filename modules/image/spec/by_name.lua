-- by_name(list): files and their pixels, which are written in hexadecimal, by
-- name; 'bytes' become a string, 'want' a tensor.
local la = require "lunarray"

local function unhex(text)
  return (text:gsub("%s", ""):gsub("%x%x", function(h)
    return string.char(tonumber(h, 16))
  end))
end

return function(list)
  local by_name = {}
  for _, s in ipairs(list) do
    s.bytes = unhex(s.bytes)
    s.want = la.from_raw(unhex(s.pixels), s.dtype, s.shape)
    by_name[s.name] = s
  end
  return by_name
end
