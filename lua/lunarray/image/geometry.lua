-- lunarray.image.geometry: which pixels stand where. Crops are views.
local arguments = require "lunarray.image.arguments"
local check, fail, integer = arguments.check, arguments.fail, arguments.integer

local geometry = {}

-- ---- parts ----

function geometry.crop(x, top, left, height, width)
  check("crop", x)
  top, left = integer("crop", "top", top, 1), integer("crop", "left", left, 1)
  height = integer("crop", "height", height, 0)
  width = integer("crop", "width", width, 0)
  local h, w = x:size(-2), x:size(-1)
  if top > h - height + 1 or left > w - width + 1 then
    fail("crop", "%d x %d pixels from row %d and column %d are not inside of"
         .. " %d x %d", height, width, top, left, h, w)
  end
  return x:narrow(-2, top, height):narrow(-1, left, width)
end

function geometry.center_crop(x, height, width)
  check("center_crop", x)
  height = integer("center_crop", "height", height, 0)
  width = integer("center_crop", "width", width, 0)
  local down, right = x:size(-2) - height, x:size(-1) - width
  if down < 0 or right < 0 then
    fail("center_crop", "%d x %d pixels are more than %d x %d", height, width,
         x:size(-2), x:size(-1))
  end
  return x:narrow(-2, down // 2 + 1, height):narrow(-1, right // 2 + 1, width)
end

function geometry.flip(x, direction)
  check("flip", x)
  local word = arguments.word("flip", "direction", direction or "horizontal",
                              {"horizontal", "vertical"})
  return x:flip(word == "horizontal" and -1 or -2)
end

return geometry
