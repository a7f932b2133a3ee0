-- Layers of images, pools at random steps, the normalization of neighbouring
-- channels.
local la = require "lunarray"
local nn = require "lunarray.nn"
local raises = require "spec.support.raises"

local F64 = {dtype = "float64"}

local function close(a, b, tol)
  assert.are.same(b.shape, a.shape)
  local gap = (a - b):abs():max():item()
  assert.is_true(gap <= (tol or 1e-12), "differs by " .. gap)
end

describe("fractional_max_pool", function()
  it("covers the input from end to end", function()
    local x = la.arange(1, 31, F64):view(1, 1, 5, 6)
    for _ = 1, 5 do
      local y, at = la.fractional_max_pool2d(x, 2, {output_size = {3, 4},
        return_indices = true})
      assert.are.same({1, 1, 3, 4}, y.shape)
      assert.are.equal(30, y:max():item())
      close(x:flatten():gather(1, at:flatten()), y:flatten(), 0)
    end
    local y = nn.FractionalMaxPool2d(2, {output_ratio = 0.5})(x)
    assert.are.same({1, 1, 2, 3}, y.shape)
    assert.are.same({0, 2, 3, 3},
      la.fractional_max_pool2d(la.zeros{0, 2, 5, 5}, 2, {output_size = 3})
      .shape)
  end)

  it("says what does not fit", function()
    local x = la.zeros{1, 1, 5, 5}
    raises("do not fit", la.fractional_max_pool2d, x, 3, {output_size = 4})
    raises("one of output_size", la.fractional_max_pool2d, x, 3)
    raises("between 0 and 1", la.fractional_max_pool2d, x, 2,
      {output_ratio = 1.5})
    raises("random_samples", la.fractional_max_pool2d, x, 2,
      {output_size = 2, random_samples = la.zeros{1, 2, 2}})
  end)
end)

describe("layers of images", function()
  it("are the operations with their options", function()
    local x = la.randn({2, 8, 4, 6}, F64)
    close(nn.Upsample{scale_factor = 2}(x), la.interpolate(x,
      {scale_factor = 2}), 0)
    close(nn.Upsample{size = {7, 9}, mode = "bicubic"}(x), la.interpolate(x,
      {size = {7, 9}, mode = "bicubic"}), 0)
    close(nn.UpsamplingNearest2d{scale_factor = 3}(x), la.interpolate(x,
      {scale_factor = 3}), 0)
    close(nn.UpsamplingBilinear2d({8, 12})(x), la.interpolate(x,
      {size = {8, 12}, mode = "bilinear", align_corners = true}), 0)
    close(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x, 0)
    close(nn.ChannelShuffle(2)(x), x:channel_shuffle(2), 0)
    close(nn.LocalResponseNorm(3, {k = 2})(x),
      la.local_response_norm(x, 3, {k = 2}), 0)
  end)

  it("norm by neighbouring channels, edges by zeros", function()
    local x = la.randn({1, 5, 3}, F64)
    local y = la.local_response_norm(x, 3, {alpha = 0.3, beta = 0.5, k = 1})
    for c = 1, 5 do
      local sum = la.zeros({3}, F64)
      for d = math.max(c - 1, 1), math.min(c + 1, 5) do
        sum = sum + x[{1, d}]:square()
      end
      close(y[{1, c}], x[{1, c}] / (sum * 0.1 + 1):sqrt())
    end
    raises("at least 3 dims", la.local_response_norm, x[1], 3)
    raises("positive number", la.local_response_norm, x, 0)
  end)
end)
