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
