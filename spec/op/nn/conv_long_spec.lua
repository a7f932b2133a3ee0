-- Convolutions with kernels of thousands of taps: values and gradients against
-- windows times taps, results that don't depend on threads, and scratch that
-- stays below 16 MB for each thread whatever the shapes.
local la = require "lunarray"

local EACH_THREAD = 16 << 20

-- The windows of x (images, channels, samples) with their taps behind them.
local function windows(x, k, stride, pad, dilation)
  local padded = la.constant_pad_nd(x, {pad, pad})
  local all = padded:unfold(3, (k - 1) * dilation + 1, stride)
  return all[{{}, {}, {}, {1, -1, dilation}}]
end

local function error_of(got, want)
  local wide = want.dtype
  return (got:to(wide) - want):abs():max():item() / want:abs():max():item()
end

-- f() with no more memory than its operands, results and scratch may take.
local function bounded(bytes, f)
  collectgarbage()
  collectgarbage()
  la.set_memory_limit(la.memory() + bytes + EACH_THREAD * la.get_num_threads())
  local ok, message = pcall(f)
  la.set_memory_limit()
  assert.is_true(ok, message)
end

describe("convolutions with long kernels", function()
  for _, case in ipairs {{1, 0, 1}, {2, 7, 1}, {3, 0, 2}, {5, 3, 1},
                         {1, 9, 3}} do
    local stride, pad, dilation = table.unpack(case)
    it(("of stride %d, dilation %d"):format(stride, dilation), function()
      la.manual_seed(stride)
      for dtype, tolerance in pairs {float32 = 1e-5, float64 = 1e-13} do
        local k = 2400
        local n = (k - 1) * dilation + 150 * stride
        local x = la.randn(2, 2, n):to(dtype):requires_grad_()
        local w = la.randn(3, 2, k):to(dtype):requires_grad_()
        local b = la.randn(3):to(dtype)
        local y = la.conv1d(x, w, b, stride, pad, dilation)
        local all = windows(x:detach():double(), k, stride, pad, dilation)
        local weight = w:detach():double()
        local want = la.einsum("ncpt,oct->nop", all, weight)
          + b:double():view(1, 3, 1)
        assert.is_true(error_of(y:detach(), want) < tolerance)
        local g = la.randn(y.shape):to(dtype)
        y:backward(g)
        assert.is_true(error_of(w.grad, la.einsum("ncpt,nop->oct", all,
          g:double())) < tolerance)
        -- <J v, g> = <v, J' g>
        local v = la.randn(x.shape):double()
        local moved = la.einsum("ncpt,oct->nop",
          windows(v, k, stride, pad, dilation), weight)
        local one = (moved * g:double()):sum():item()
        local two = (v * x.grad:double()):sum():item()
        assert.is_true(math.abs(one - two) < tolerance * moved:norm():item()
          * g:norm():item())
      end
    end)
  end

  it("of other dtypes, exactly where numbers are whole", function()
    local x = la.randint(-5, 6, {1, 2, 4000})
    local w = la.randint(-5, 6, {2, 2, 2500})
    local want = la.conv1d(x:double(), w:double())
    for _, dtype in ipairs {"int64", "int32", "complex64", "complex128"} do
      local got = la.conv1d(x:to(dtype), w:to(dtype))
      if got:is_complex() then got = la.real(got) end
      assert.is_true(la.equal(want, got:double()), dtype)
    end
    local short = la.conv1d(x:to("bfloat16"), w:to("bfloat16"))
    assert.is_true(error_of(short:double(), want) < 0.01)
  end)

  it("of images", function()
    la.manual_seed(4)
    local x, w = la.randn(1, 2, 70, 90), la.randn(2, 2, 50, 52)
    local all = x:double():unfold(3, 50, 1):unfold(4, 52, 1)
    local want = la.einsum("nchwij,ocij->nohw", all, w:double())
    assert.is_true(error_of(la.conv2d(x, w), want) < 1e-5)
  end)

  it("have the same bits on any number of threads", function()
    la.manual_seed(5)
    local x = la.randn(3, 2, 8000):requires_grad_()
    local w = la.randn(4, 2, 3000):requires_grad_()
    local threads, results = la.get_num_threads(), {}
    for n = 1, 3 do
      la.set_num_threads(n)
      x.grad, w.grad = nil, nil
      local y = la.conv1d(x, w)
      y:square():sum():backward()
      results[n] = {y:detach(), x.grad, w.grad}
    end
    la.set_num_threads(threads)
    for n = 2, 3 do
      for k = 1, 3 do
        assert.is_true(la.equal(results[1][k], results[n][k]))
      end
    end
  end)

  it("take little scratch", function()
    for _, dtype in ipairs {"float32", "float64", "int32", "complex64"} do
      local x = la.ones(1, 1, 40000):to(dtype)
      local w = la.ones(1, 1, 8001):to(dtype)
      bounded(8 << 20, function() la.conv1d(x, w) end)
      bounded(8 << 20, function() la.conv_transpose1d(x, w, nil, 2) end)
      bounded(8 << 20, function() la.signal.correlate(x:view(40000),
        w:view(8001), "valid", "direct") end)
    end
    -- Samples side by side in few channels; a wide row; a wide dilation.
    local leaf = la.ones(1, 8, 100000):requires_grad_()
    bounded(32 << 20, function()
      la.conv1d(leaf, la.ones(8, 1, 5), {groups = 8}):sum():backward()
    end)
    bounded(16 << 20, function()
      la.conv2d(la.ones(1, 1, 3, 200000), la.ones(1, 1, 3, 3001))
    end)
    bounded(4 << 20, function()
      la.conv2d(la.ones(1, 1, 4, 4), la.ones(1, 1, 3, 3),
        {dilation = 3000, padding = 3000})
    end)
    local weight = la.ones(1, 1, 3, 3):requires_grad_()
    bounded(64 << 20, function()
      la.conv2d(la.ones(8, 1, 400, 400), weight):sum():backward()
    end)
  end)
end)
