-- la.image on tensors: colours, filters, parts; values of SciPy, scikit-image
-- and colorsys, gradients, dtypes, edges.
local la = require "lunarray"
local raises = require "spec.support.raises"
local records = require "modules.image.spec.values"
local image = la.image
local made = require "modules.image.spec.pixels"
local pixels, floats = made.pixels, made.floats

local function off(x, y)
  assert.same(la.tensor(y.shape):totable(), la.tensor(x.shape):totable())
  if x:numel() == 0 then return 0 end
  return (x:double() - y:double()):abs():max():item()
end

local function input_of(r)
  local x = r.dtype == "uint8" and pixels(r.shape) or floats(r.shape)
  if r.args.scale then
    local s = la.tensor(r.args.scale, {dtype = "float64"})
    x = x * s:select(2, 1):view(3, 1, 1) + s:select(2, 2):view(3, 1, 1)
  end
  return x
end

local function result_of(r, x)
  local args = r.args
  if args.kernel then return image[r.name](x, la.tensor(args.kernel)) end
  local results = {image[r.name](x, table.unpack(args))}
  return results[args.pick or 1]
end

describe("la.image", function()
  for k, r in ipairs(records) do
    local here = r.name ~= "resize" and r.name ~= "rotate"
    local name = ("gives the values of %s (record %d)"):format(r.name, k)
    local _ = here and it(name, function()
      local x = input_of(r)
      local y = result_of(r, x)
      local want = la.tensor(r.want, {dtype = "float64"})
      local limit = y.dtype == "float64" and 1e-9
        or y.dtype == "float32" and 1e-6 or 0
      local scale = math.max(1, want:abs():max():item())
      assert.is_true(off(y:flatten(), want) <= limit * scale)
      -- with other strides, and a batch of it
      local wide = la.stack({x:flip(-1), x}, -1):contiguous()
      local same = result_of(r, wide:select(-1, 2))
      assert.is_true(la.equal(same, y))
      if r.name == "lab_to_rgb" or x.ndim == 2 then return end
      local batch = result_of(r, la.stack{x, x})
      assert.is_true(la.equal(batch[1], y) and la.equal(batch[2], y))
    end)
  end

  it("keeps floating dtypes, computing 16 bits in float32", function()
    local x = floats{3, 4, 5}
    local list = {
      rgb_to_gray = {}, rgb_to_hsv = {}, hsv_to_rgb = {}, srgb_to_linear = {},
      linear_to_srgb = {}, rgb_to_lab = {}, lab_to_rgb = {},
      gaussian_blur = {1}, sobel = {}, erode = {}, dilate = {}, opening = {},
      closing = {}}
    for name, args in pairs(list) do
      for _, dtype in ipairs{"float16", "bfloat16", "float32"} do
        local y = x:to(dtype)
        local z = image[name](y, table.unpack(args))
        assert.equal(dtype, z.dtype)
        local exact = image[name](y:float(), table.unpack(args))
        assert.is_true(la.equal(z, exact:to(dtype)), name)
      end
    end
  end)

  it("has gradients", function()
    local x = floats{3, 3, 4} * 0.9 + 0.05
    for _, name in ipairs{"rgb_to_gray", "rgb_to_hsv", "hsv_to_rgb",
                          "srgb_to_linear", "linear_to_srgb", "rgb_to_lab",
                          "sobel"} do
      assert.is_true(la.gradcheck(image[name], {x:clone():requires_grad_()}))
    end
    local lab = image.rgb_to_lab(x):requires_grad_()
    assert.is_true(la.gradcheck(image.lab_to_rgb, {lab}))
    for _, mode in ipairs{"reflect", "replicate", "circular", "constant"} do
      assert.is_true(la.gradcheck(function(y)
        return image.gaussian_blur(y, {0.7, 1.2}, {mode = mode})
      end, {x:clone():requires_grad_()}))
    end
    assert.is_true(la.gradcheck(function(y)
      return image.flip(image.crop(y, 2, 1, 2, 3))
    end, {x:clone():requires_grad_()}))
  end)

  it("has finite gradients where curves and circles have corners", function()
    local x = la.tensor({0., 0.5, 1.}, "float64"):view(1, 1, 3)
      :expand(3, 1, 3):clone():requires_grad_()
    for _, name in ipairs{"rgb_to_hsv", "hsv_to_rgb", "srgb_to_linear",
                          "linear_to_srgb", "rgb_to_lab", "lab_to_rgb"} do
      x:zero_grad()
      image[name](x):sum():backward()
      assert.is_true(x.grad:isfinite():all(), name)
    end
  end)

  it("comes back from other colours", function()
    local x = floats{2, 3, 7, 9}
    assert.is_true(off(image.hsv_to_rgb(image.rgb_to_hsv(x)), x) < 1e-12)
    assert.is_true(off(image.lab_to_rgb(image.rgb_to_lab(x)), x) < 1e-5)
    assert.is_true(off(image.linear_to_srgb(image.srgb_to_linear(x)), x)
                   < 1e-6)
    local h = image.rgb_to_hsv(x)
    local further = h:clone()
    further:select(-3, 1):add_(3)
    assert.is_true(off(image.hsv_to_rgb(further), image.hsv_to_rgb(h))
                   < 1e-12)
    local grey = image.rgb_to_hsv(la.full({3, 1, 1}, 0.5))
    assert.same({0, 0, 0.5}, grey:flatten():totable())
  end)

  it("drops alpha for grey, and rounds integers", function()
    local x = pixels{4, 3, 5}
    local grey = image.rgb_to_gray(x)
    assert.is_true(la.equal(grey, image.rgb_to_gray(x[{{1, 3}}])))
    assert.is_true(la.equal(
      image.decode(image.encode(x, "png"), {channels = 1}), grey))
    local wide = x:to("uint16") * 257
    assert.equal("uint16", image.rgb_to_gray(wide).dtype)
  end)

  it("takes parts as views", function()
    local x = floats{2, 5, 7}
    local y = image.crop(x, 2, 3, 3, 4)
    assert.is_true(la.equal(y, x[{{}, {2, 4}, {3, 6}}]))
    y:zero_()
    assert.equal(0, x[1][3][4]:item())
    assert.equal(0, image.crop(x, 6, 1, 0, 7):numel())
    local c = la.arange(5 * 6):view(5, 6)
    assert.same({{8, 9}, {14, 15}}, image.center_crop(c, 2, 2):totable())
    assert.is_true(la.equal(image.center_crop(c, 2, 3), c[{{2, 3}, {2, 4}}]))
    assert.is_true(la.equal(image.center_crop(c, 5, 6), c))
    assert.is_true(la.equal(image.flip(c), c:flip(2)))
    assert.is_true(la.equal(image.flip(c, "vertical"), c:flip(1)))
  end)

  it("takes windows of every real dtype", function()
    for _, dtype in ipairs{"bool", "uint8", "int8", "uint16", "int16",
                           "uint32", "int32", "uint64", "int64", "float16",
                           "bfloat16", "float32", "float64"} do
      local x = (pixels{6, 7} % 2):to(dtype)
      local kernel = la.tensor{{true, true, true}}
      for _, name in ipairs{"erode", "dilate"} do
        local y = image[name](x, {1, 3})
        assert.equal(dtype, y.dtype)
        local want = image[name](x:double(), {1, 3})
        assert.equal(0, off(y, want))
        assert.equal(0, off(image[name](x, kernel), want))
      end
    end
  end)

  it("leaves what is empty, and x itself, alone", function()
    for _, name in ipairs{"erode", "dilate", "opening", "closing"} do
      local y = image[name](la.ones(2, 0))
      assert.same({2, 0}, la.tensor(y.shape):totable())
    end
    assert.equal(0, image.gaussian_blur(la.ones(0, 3), 1):numel())
    assert.equal(0, (image.sobel(la.ones(3, 0))):numel())
    assert.equal(0, image.rgb_to_lab(la.ones(3, 0, 2)):numel())
    assert.equal(0, image.rgb_to_hsv(la.ones(0, 3, 2, 2)):numel())
    local x = floats{3, 3}
    local before = x:clone()
    image.gaussian_blur(x, 0):zero_()
    image.erode(x, 1):zero_()
    image.sobel(x):zero_()
    assert.is_true(la.equal(x, before))
  end)

  it("says what it expects", function()
    local x = la.rand(3, 4, 5)
    raises("image.rgb_to_hsv: floats from 0 to 1 expected, got uint8: divide",
           image.rgb_to_hsv, x:byte())
    raises("3 channels expected, got 2", image.rgb_to_lab, x[{{1, 2}}])
    raises("3 or 4 channels expected, got 5", image.rgb_to_gray,
           x:permute(3, 1, 2))
    raises("height, width} expected, got 1 dims", image.sobel, la.ones(3))
    raises("tensor expected, got number", image.erode, 3)
    raises("sigma: number from 0", image.gaussian_blur, x, -1)
    raises("sigma: number from 0", image.gaussian_blur, x)
    raises("radius: integer of at least 0", image.gaussian_blur, x, 1,
           {radius = -1})
    raises("mode 'wrap': one of reflect, replicate", image.sobel, x,
           {mode = "wrap"})
    raises("unknown option 'size' (known: radius, mode)", image.gaussian_blur,
           x, 1, {size = 3})
    raises("size: integer of at least 1 expected, got 0", image.erode, x, 0)
    raises("kernel: bool matrix", image.dilate, x, la.ones(3, 3))
    raises("kernel: bool matrix", image.dilate, x, la.zeros(3, 3):bool())
    raises("are not inside of 4 x 5", image.crop, x, 2, 1, 4, 5)
    raises("top: integer of at least 1 expected, got 0", image.crop, x, 0, 1,
           1, 1)
    raises("are more than 4 x 5", image.center_crop, x, 5, 5)
    raises("direction 'up'", image.flip, x, "up")
    raises("got int64", image.rgb_to_gray, x:long())
    raises("got int32", image.gaussian_blur, x:int(), 1)
    raises("radius: at most 4000000 expected", image.gaussian_blur, x, 1,
           {radius = 1 << 40})
    raises("sigma: one value or", image.gaussian_blur, x, {1, 2, 3})
    raises("size: one value or", image.erode, x, {2, 2, 2})
    raises("resize: the image has no pixels", image.resize, la.ones(3, 0, 4), 2,
           2)
  end)
end)
