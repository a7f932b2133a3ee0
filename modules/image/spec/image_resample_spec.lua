-- la.image.resize and rotate: values of PyTorch, right angles, gradients,
-- dtypes, edges.
local la = require "lunarray"
local raises = require "spec.support.raises"
local records = require "modules.image.spec.values"
local image = la.image
local made = require "modules.image.spec.pixels"
local pixels, floats = made.pixels, made.floats

local function off(x, y)
  assert.same({y:size()}, {x:size()})
  return (x:double() - y:double()):abs():max():item()
end

describe("la.image", function()
  for k, r in ipairs(records) do
    local here = r.name == "resize" or r.name == "rotate"
    local _ = here and it(("gives PyTorch's values of %s (record %d)")
      :format(r.name, k), function()
        local x = r.dtype == "uint8" and pixels(r.shape) or floats(r.shape)
        local f = function(y) return image[r.name](y, table.unpack(r.args)) end
        local y, want = f(x), la.tensor(r.want, {dtype = "float64"})
        assert.is_true(off(y:flatten(), want)
                       <= (r.dtype == "uint8" and 0 or 1e-9))
        local wide = la.stack({x:flip(-1), x}, -1):contiguous()
        assert.is_true(la.equal(f(wide:select(-1, 2)), y))
        local batch = f(la.stack{x, x})
        assert.is_true(la.equal(batch[1], y) and la.equal(batch[2], y))
      end)
  end

  it("resamples with gradients", function()
    local x = floats{3, 3, 4}:requires_grad_()
    assert.is_true(la.gradcheck(function(y)
      return image.rotate(image.resize(y, 5, 4), 20, {expand = true})
    end, {x}))
  end)

  it("rotates by right angles without a change of values", function()
    local x, square = pixels{2, 3, 5}, pixels{4, 4}
    for k = -5, 5 do
      local whole = {expand = true, fill = 7}
      assert.is_true(la.equal(image.rotate(x, 90 * k, whole),
                              x:rot90(k, {2, 3})))
      assert.is_true(la.equal(image.rotate(square, 90.0 * k), square:rot90(k)))
      local near = image.rotate(square:double(), 90 * k + 1e-9)
      assert.is_true(off(near, square:rot90(k)) < 1e-5)
    end
    assert.is_true(la.equal(image.rotate(x, 180), x:flip(2, 3)))
    local y = la.ones(2, 3)
    image.rotate(y, 0):zero_()
    assert.equal(6, y:sum():item())
    -- the upper right corner comes to the top
    local corner = la.zeros(9, 9)
    corner[1][9] = 1
    local top = image.rotate(corner, 45, {expand = true})
    assert.is_true(top[{{1, 2}, {5, 9}}]:sum():item() > 0.5)
  end)

  it("resamples integers and 16-bit floats in float32", function()
    local x = pixels{2, 5, 6}
    local wide = x:to("uint16") * 257
    for _, f in ipairs{
        function(y) return image.resize(y, 3, 4, {mode = "area"}) end,
        function(y) return image.rotate(y, 33) end} do
      assert.is_true(la.equal(f(x), f(x:float()):round():to("uint8")))
      assert.is_true(la.equal(f(wide), f(wide:float()):round():to("uint16")))
      local half = x:half() / 256
      assert.equal("float16", f(half).dtype)
      assert.is_true(off(f(half), f(half:float())) < 1e-3)
    end
    local sharp = la.tensor{{0, 0, 255, 255}, {0, 0, 255, 255}}
    local y = image.resize(sharp:to("uint16"), 2, 16, {mode = "bicubic"})
    assert.equal(0, y:min():item())
    assert.same({1, 9, 9}, {image.resize(la.ones(1, 4, 4), 9, 9):size()})
    assert.same({3, 2}, {image.resize(la.ones(4, 4), 3, 2):size()})
  end)

  it("says what resampling expects", function()
    local x = la.rand(3, 4, 5)
    raises("width: integer of at least 1 expected, got 0", image.resize, x, 3,
           0)
    raises("mode 'cubic': one of nearest", image.resize, x, 3, 3,
           {mode = "cubic"})
    raises("got int64", image.resize, x:long(), 3, 3)
    raises("degrees: finite number expected", image.rotate, x)
    raises("fill: number expected", image.rotate, x, 3, {fill = {}})
    raises("no pixels", image.rotate, la.ones(3, 0), 3)
  end)
end)
