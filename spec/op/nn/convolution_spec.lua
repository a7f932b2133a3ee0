-- The general convolution and its gradients, which conv1d to conv3d and
-- autograd are made of, against each other.
local la = require "lunarray"

local function sample()
  local x = la.arange(2 * 3 * 5 * 4):double():view(2, 3, 5, 4):sin()
  local w = la.arange(4 * 3 * 3 * 2):double():view(4, 3, 3, 2):cos()
  local b = la.tensor({0.5, -1, 2, 0}, {dtype = "float64"})
  return x, w, b
end

local STRIDE, PAD, DILATION, NONE = {2, 1}, {1, 1}, {1, 2}, {0, 0}

describe("convolution", function()
  it("is what conv2d calls", function()
    local x, w, b = sample()
    local y = la.convolution(x, w, b, STRIDE, PAD, DILATION, false, NONE, 1)
    assert.is_true(y == la.conv2d(x, w, b, STRIDE, PAD, DILATION))
    local c = la.tensor({1, 2, 3}, {dtype = "float64"})
    local z = la.convolution(y, w, c, STRIDE, PAD, DILATION, true, NONE, 1)
    assert.is_true(z == la.conv_transpose2d(y, w, c, STRIDE, PAD, NONE, 1,
                                            DILATION))
  end)

  it("has the gradients that backward finds", function()
    local x, w, b = sample()
    local function leaf(t) return t:clone():requires_grad_(true) end
    local lx, lw, lb = leaf(x), leaf(w), leaf(b)
    local y = la.conv2d(lx, lw, lb, STRIDE, PAD, DILATION)
    local g = la.arange(y:numel()):double():view(y.shape):cos()
    y:backward(g)
    local rest = {STRIDE, PAD, DILATION, false, NONE, 1}
    local gx = la.convolution_grad_input(g, x, w, table.unpack(rest))
    local gw = la.convolution_grad_weight(g, x, w, table.unpack(rest))
    assert.is_true(la.allclose(gx, lx.grad))
    assert.is_true(la.allclose(gw, lw.grad))
    local ax, aw, ab = la.convolution_backward(g, x, w, table.unpack(rest))
    assert.is_true(la.allclose(ax, gx))
    assert.is_true(la.allclose(aw, gw))
    assert.is_true(la.allclose(ab, lb.grad))
  end)
end)

describe("16-bit convolutions", function()
  it("are those of float32, rounded once, in both memory formats", function()
    for _, dtype in ipairs {"bfloat16", "float16"} do
      for _, format in ipairs {"contiguous", "channels_last"} do
        for _, transposed in ipairs {false, true} do
          local x = la.randn(2, 6, 9, 8):to(dtype):contiguous(format)
          local w = la.randn(6, 3, 3, 2):to(dtype)
          local b = la.randn(6):to(dtype)
          local s = {{2, 1}, {1, 1}, {1, 1}, transposed, {0, 0}, 2}
          local y = la.convolution(x, w, b, table.unpack(s))
          assert.is_true(y == la.convolution(x:float(), w:float(), b:float(),
                                             table.unpack(s)):to(dtype))
          assert.is_true(y:is_contiguous(format))
          local g = la.randn(table.unpack(y.shape)):to(dtype)
          for _, name in ipairs {"input", "weight"} do
            local f = la["convolution_grad_" .. name]
            local have = f(g, x, w, table.unpack(s))
            assert.is_true(have == f(g:float(), x:float(), w:float(),
                                     table.unpack(s)):to(dtype))
          end
        end
      end
    end
  end)

  it("differentiate through their own dtype", function()
    local x, w = la.randn(1, 2, 5, 5):bfloat16(),
      la.randn(3, 2, 3, 3):bfloat16()
    x.requires_grad, w.requires_grad = true, true
    la.conv2d(x, w):sum():backward()
    assert.are.equal("bfloat16", tostring(x.grad.dtype))
    assert.are.equal("bfloat16", tostring(w.grad.dtype))
  end)
end)

-- Sizes of 0, alone and together: each method divides by some size.
describe("convolutions of nothing", function()
  local function sizes_of(first, second, dims, side)
    local sizes = {first, second}
    for _ = 1, dims do sizes[#sizes + 1] = side or 3 end
    return sizes
  end

  local function check(dims, dtype, images, inputs, outputs, pad, stride)
    local x = la.ones(sizes_of(images, inputs, dims), {dtype = dtype})
    local w = la.ones(sizes_of(outputs, inputs, dims), {dtype = dtype})
    local b = la.arange(outputs):to(dtype)
    if dtype:find("float") then
      x.requires_grad, w.requires_grad = true, true
    end
    local conv = la["conv" .. dims .. "d"]
    local y = conv(x, w, b, {stride = stride, padding = pad})
    local size = (3 + 2 * pad - 3) // stride + 1
    assert.same({images, outputs, size}, {y.shape[1], y.shape[2], y.shape[3]})
    if inputs == 0 then
      local want = b:view(sizes_of(1, outputs, dims, 1))
      assert.is_true(y == want:expand(y.shape))
    end
    if not y.requires_grad then return end
    y:sum():backward()
    assert.same({table.unpack(x.shape)}, {table.unpack(x.grad.shape)})
    assert.same({table.unpack(w.shape)}, {table.unpack(w.grad.shape)})
  end

  it("are the bias, with gradients of their sizes", function()
    for dims = 1, 3 do
      for _, dtype in ipairs {"float32", "float64", "bfloat16", "complex64"} do
        for _, sizes in ipairs {{0, 2, 3}, {3, 0, 3}, {0, 0, 3}} do
          for _, pad in ipairs {0, 1, 3} do
            for stride = 1, 2 do
              check(dims, dtype, sizes[1], sizes[2], sizes[3], pad, stride)
            end
          end
        end
      end
    end
  end)
end)
