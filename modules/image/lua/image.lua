-- lunarray.image: images as tensors {..., channels, height, width}. Everything
-- here is made of operations, so gradients, batches and devices are theirs;
-- files are read and written in C (la.image.load and its kin).
local la = require "lunarray"
local image = {}

for _, part in ipairs{"colour", "filters", "geometry"} do
  for name, f in pairs(require("lunarray.image." .. part)) do
    image[name] = f
  end
end

for _, name in ipairs{"load", "decode", "save", "encode", "info"} do
  image[name] = la.image[name]
end

return image
