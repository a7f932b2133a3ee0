-- An error of an operation inside of another shows the name that was called.
local la = require "lunarray"
local nn = require "lunarray.nn"
local modules = require "spec.support.modules"
local raises = require "spec.support.raises"

local function says(outer, inner, f, ...)
  local text = raises(outer, f, ...)
  assert.is_nil(text:find(inner, 1, true), text)
end

describe("errors name the function that was called:", function()
  local none, rows = la.zeros(0), la.zeros(0, 3)

  modules.needing("stats vision", it)("operations made of others", function()
    says("percentile: input tensor must", "quantile", none.percentile, none, 50)
    says("nanpercentile: q must be", "quantile", la.ones(3).nanpercentile,
      la.ones(3), la.zeros(2, 2))
    says("nanargmax: Expected reduction", "amax", none.nanargmax, none)
    says("ptp: Expected reduction dim 1", "amax", rows.ptp, rows, 1)
    says("nanmax: Expected reduction dim 1", "amax", rows.nanmax, rows, 1)
    says("interpolate: not implemented for 'Int'", "resample", la.interpolate,
      la.zeros({1, 1, 3, 3}, {dtype = "int32"}), {size = {2, 2},
        mode = "bilinear"})
  end)

  it("an operation called by itself", function()
    raises("\"bitwise_and\" not implemented", function()
      return rows & rows
    end)
    raises("amax(): Expected reduction dim", rows.amax, rows, 1)
  end)

  it("transforms of nothing", function()
    raises("x has no elements along dim 2", la.fft.irfft, la.zeros(3, 0))
    raises("x has no elements along dim 2", la.fft.irfftn, la.zeros(3, 0))
  end)

  modules.needing("signal", it)("filters", function()
    raises("signal.sosfiltfilt: sos", la.signal.sosfiltfilt, la.zeros(1, 5),
      la.zeros(30))
    raises("signal.butter: dtype: a floating dtype", la.signal.butter, 4, 0.2,
      {dtype = "int32"})
  end)

  it("quantiles of tensors on two devices", function()
    local x, q = la.rand(3), la.tensor(0.5)
    raises("quantile: Expected all tensors to be on the same device",
      x.quantile, x, q:to("meta"))
    raises("q must be on the device", x.quantile, x:to("meta"), q)
  end)

  it("classes of PyTorch that are not in nn", function()
    raises("nn has no ZeroPad2d: la.pad", function() return nn.ZeroPad2d end)
    raises("nn has no LazyLinear: nn.Linear", function()
      return nn.LazyLinear
    end)
    assert.is_nil(nn.NobodysName)
  end)
end)
