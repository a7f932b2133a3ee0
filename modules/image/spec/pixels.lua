-- The pixels that the records of modules/image/spec/values.lua are about, as
-- bytes, and as numbers of 0 to 1.
local la = require "lunarray"

local function pixels(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return ((la.arange(n) * 7919 + 13) % 256):view(shape):to("uint8")
end

local function floats(shape) return pixels(shape):double() / 255 end

return {pixels = pixels, floats = floats}
