-- lunarray.vision.layers: what the module adds to lunarray.nn: resizing,
-- shuffles, pools at random steps, the normalization of neighbouring channels.
local la = require "lunarray"

local RESIZING = {"size", "scale_factor", "mode", "align_corners",
  "recompute_scale_factor"}

local function add_pool(layer, dims)
  local run = la["fractional_max_pool" .. dims .. "d"]
  layer("FractionalMaxPool" .. dims .. "d", nil, {"kernel_size", "output_size",
    "output_ratio", "return_indices", "random_samples"},
    {["!kernel_size"] = true}, function(self, x)
      local values, indices = run(x, self.options)
      if self.options.return_indices then return values, indices end
      return values
    end)
end

return function(layer)
  layer("Upsample", la.interpolate, RESIZING, {mode = "nearest"})
  layer("UpsamplingNearest2d", la.interpolate, RESIZING, {mode = "nearest"})
  layer("UpsamplingBilinear2d", la.interpolate, RESIZING, {mode = "bilinear",
    align_corners = true})
  layer("PixelShuffle", la.pixel_shuffle, {"upscale_factor"},
    {["!upscale_factor"] = true})
  layer("PixelUnshuffle", la.pixel_unshuffle, {"downscale_factor"},
    {["!downscale_factor"] = true})
  layer("ChannelShuffle", la.channel_shuffle, {"groups"}, {["!groups"] = true})
  layer("LocalResponseNorm", la.local_response_norm, {"size", "alpha", "beta",
    "k"}, {["!size"] = true})
  for dims = 2, 3 do add_pool(layer, dims) end
end
