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
