-- Convolutions, pooling, attention: against definitions and other paths.
local la = require "lunarray"

local raises = require "spec.support.raises"
local once = require "spec.support.once"

local function close(a, b, tol)
  local far = (a:double() - b:double()):abs():max():item()
  assert.is_true(far <= tol, "differs by " .. far)
end

-- The definition, element by element.
local function naive(x, w, stride, pad, dilation, groups)
  local n, c, h, wd = table.unpack(x.shape)
  local o, cg, kh, kw = table.unpack(w.shape)
  local oh = (h + 2 * pad - dilation * (kh - 1) - 1) // stride + 1
  local ow = (wd + 2 * pad - dilation * (kw - 1) - 1) // stride + 1
  local xt, wt, out = x:totable(), w:totable(), {}
  for b = 1, n do
    out[b] = {}
    for k = 1, o do
      out[b][k] = {}
      local first = (k - 1) // (o // groups) * cg
      for i = 1, oh do
        local line = {}
        for j = 1, ow do
          local sum = 0.0
          for ch = 1, cg do
            for a = 1, kh do
              local row = xt[b][first + ch][(i - 1) * stride
                                            + (a - 1) * dilation - pad + 1]
              for e = 1, row and kw or 0 do
                local v = row[(j - 1) * stride + (e - 1) * dilation - pad + 1]
                sum = sum + (v or 0) * wt[k][ch][a][e]
              end
            end
          end
          line[j] = sum
        end
        out[b][k][i] = line
      end
    end
  end
  return la.tensor(out, {dtype = "float64"})
end

local cases = {   -- n, c, o, h, w, kh, kw, stride, pad, dilation, groups
  {1, 1, 1, 3, 3, 3, 3, 1, 0, 1, 1}, {2, 3, 4, 8, 9, 3, 3, 1, 1, 1, 1},
  {3, 4, 6, 12, 11, 3, 2, 2, 1, 1, 2}, {2, 6, 6, 10, 13, 3, 3, 1, 1, 2, 6},
  {1, 2, 3, 4, 4, 2, 2, 1, 0, 1, 1}, {2, 5, 7, 9, 6, 5, 3, 3, 2, 1, 1},
  {3, 4, 5, 4, 3, 4, 3, 1, 0, 1, 1}, {2, 4, 6, 3, 5, 3, 5, 2, 0, 1, 2},
  {1, 9, 7, 6, 28, 3, 3, 1, 1, 1, 1}, {2, 3, 8, 5, 17, 1, 1, 1, 0, 1, 1},
}

describe("conv2d", function()
  it("is what its definition says, in both memory formats", function()
    for _, c in ipairs(cases) do
      local x = la.randn(c[1], c[2], c[4], c[5]):double()
      local w = la.randn(c[3], c[2] // c[11], c[6], c[7]):double()
      local o = {stride = c[8], padding = c[9], dilation = c[10],
                 groups = c[11]}
      local want = naive(x, w, c[8], c[9], c[10], c[11])
      close(la.conv2d(x, w, nil, o), want, 1e-12)
      local last = x:contiguous("channels_last")
      close(la.conv2d(last, w, nil, o), want, 1e-12)
      close(la.conv2d(x:float(), w:float(), nil, o), want, 1e-4)
      close(la.conv2d(x:to("complex128"), w:to("complex128"), nil, o).real,
            want, 1e-12)
    end
  end)

  it("gradients are those of the definition", function()
    for _, c in ipairs(cases) do
      local x = la.randn(c[1], c[2], c[4], c[5]):double()
      local w = la.randn(c[3], c[2] // c[11], c[6], c[7]):double()
      local b = la.randn(c[3]):double()
      x.requires_grad, w.requires_grad, b.requires_grad = true, true, true
      local y = la.conv2d(x, w, b, {stride = c[8], padding = c[9],
                                    dilation = c[10], groups = c[11]})
      local g = la.randn(table.unpack(y.shape)):double()
      y:backward(g)
      -- <g, conv(dx, w)> = <grad x, dx>, and the same for w and b
      local dx = la.randn(c[1], c[2], c[4], c[5]):double()
      local dw = la.randn(c[3], c[2] // c[11], c[6], c[7]):double()
      local s = {c[8], c[9], c[10], c[11]}
      local function along(p, q)
        return (naive(p, q, table.unpack(s)) * g):sum():item()
      end
      local function near(a, e)
        assert.is_true(math.abs(a - e) <= 1e-9 * (1 + math.abs(e)))
      end
      near((x.grad * dx):sum():item(), along(dx, w:detach()))
      near((w.grad * dw):sum():item(), along(x:detach(), dw))
      close(b.grad, g:sum({1, 3, 4}), 1e-10)
    end
  end)

  it("pads by word, and takes one image", function()
    local x, w = la.randn(2, 3, 7, 8), la.randn(4, 3, 3, 4)
    local y = la.conv2d(x, w, nil, {padding = "same"})
    assert.same({2, 4, 7, 8}, {table.unpack(y.shape)})
    assert.same({4, 5, 5},
      {table.unpack(la.conv2d(x[1], w, nil, {padding = "valid"}).shape)})
  end)

  it("names channels and sizes that do not fit", function()
    raises("to have 3 channels, but got 2 channels instead", la.conv2d,
           la.ones(1, 2, 5, 5), la.ones(4, 3, 3, 3))
    raises("Kernel size can't be greater", la.conv2d, la.ones(1, 1, 2, 2),
           la.ones(1, 1, 3, 3))
    raises("stride", la.conv2d, la.ones(1, 1, 4, 4), la.ones(1, 1, 3, 3), nil,
           {stride = 0})
  end)

  it("gives the same bits at any number of threads", function()
    local before = la.get_num_threads()
    local x, w = la.randn(5, 7, 20, 21), la.randn(9, 7, 3, 3)
    local g = la.randn(5, 9, 18, 19)
    local function all()
      return la.conv2d(x, w),
        la.convolution_backward(g, x, w, {1, 1}, {0, 0}, {1, 1}, false, {0, 0},
                                1)
    end
    la.set_num_threads(1)
    local one = {all()}
    for _, n in ipairs {2, 3, 7} do
      la.set_num_threads(n)
      for k, t in ipairs {all()} do assert.is_true(t == one[k]) end
    end
    la.set_num_threads(before)
  end)
end)

describe("memory formats", function()
  it("channels_last comes in and goes out, for gradients too", function()
    local x = la.randn(2, 5, 7, 6):contiguous("channels_last")
    local w = la.randn(3, 5, 3, 3)
    local y = la.conv2d(x, w, nil, {padding = 1})
    assert.is_true(y:is_contiguous("channels_last"))
    assert.is_true(la.conv2d(x:contiguous(), w, nil, {padding = 1}) == y)
    local s = {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1}
    local g = la.randn(2, 3, 7, 6)
    local gx = la.convolution_grad_input(g:contiguous("channels_last"), x, w,
                                         table.unpack(s))
    assert.is_true(gx:is_contiguous("channels_last"))
    assert.is_true(gx == la.convolution_grad_input(g, x:contiguous(), w,
                                                   table.unpack(s)))
    assert.is_true(la.max_pool2d(x, 2):is_contiguous("channels_last"))
  end)
end)

describe("every CPU path", function()
  local function bits(cap)
    local command = ("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' "
      .. "lua5.4 spec/support/values/conv_bits.lua"):format(cap, package.cpath,
                                                     package.path)
    local pipe = assert(io.popen(command))
    local text = pipe:read "a"
    pipe:close()
    assert.truthy(#text > 500)
    return text
  end
  once("with fused multiply-add gives the same bits", function()
    assert.are.equal(bits "avx2", bits "avx512")
  end)
end)

describe("convolution", function()
  it("and its gradients are operations of their own", function()
    local x, w = la.randn(2, 3, 6, 7), la.randn(4, 3, 3, 3)
    local s = {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1}
    local y = la.convolution(x, w, nil, table.unpack(s))
    assert.is_true(y == la.conv2d(x, w, nil, {padding = 1}))
    local g = la.randn(table.unpack(y.shape))
    local gx, gw, gb = la.convolution_backward(g, x, w, table.unpack(s))
    assert.is_true(gx == la.convolution_grad_input(g, x, w, table.unpack(s)))
    assert.is_true(gw == la.convolution_grad_weight(g, x, w, table.unpack(s)))
    close(gb, g:sum({1, 3, 4}), 1e-4)
  end)

  it("can be differentiated twice", function()
    local x, w = la.randn(1, 2, 5, 5):double(), la.randn(2, 2, 3, 3):double()
    x.requires_grad, w.requires_grad = true, true
    local y = la.conv2d(x, w)
    local gx = la.grad((y * y):sum(), x, {create_graph = true})
    gx:sum():backward()
    -- sum over x of d/dx |conv(x, w)|^2 is 2 <conv(x, w), conv(1, w)>
    local x2, w2 = x:detach():clone(), w:detach():clone()
    w2.requires_grad = true
    (la.conv2d(x2, w2) * la.conv2d(la.ones(1, 2, 5, 5):double(), w2) * 2)
      :sum():backward()
    close(w.grad, w2.grad, 1e-10)
  end)
end)

describe("other convolutions", function()
  it("conv1d and conv3d are conv2d with other dims", function()
    local x, w = la.randn(2, 3, 20), la.randn(4, 3, 5)
    close(la.conv1d(x, w, nil, {padding = 2}),
          la.conv2d(x:unsqueeze(3), w:unsqueeze(3), nil,
                    {padding = {0, 2}}):squeeze(3), 1e-5)
    local v, u = la.randn(1, 2, 4, 6, 7), la.randn(3, 2, 1, 3, 3)
    local y = la.conv3d(v, u)
    for d = 1, 4 do
      close(y:select(3, d), la.conv2d(v:select(3, d), u:select(3, 1)), 1e-5)
    end
  end)

  it("conv_transpose is the gradient of conv", function()
    for _, s in ipairs {{1, 0, 1}, {2, 1, 1}, {1, 1, 2}, {3, 0, 1}} do
      local x = la.randn(2, 3, 11, 12):double()
      local w = la.randn(4, 3, 3, 3):double()
      x.requires_grad = true
      local y = la.conv2d(x, w, nil, {stride = s[1], padding = s[2],
                                      dilation = s[3]})
      local g = la.randn(table.unpack(y.shape)):double()
      y:backward(g)
      local full = {(y:size(3) - 1) * s[1] - 2 * s[2] + s[3] * 2 + 1,
                    (y:size(4) - 1) * s[1] - 2 * s[2] + s[3] * 2 + 1}
      close(la.conv_transpose2d(g, w, nil, {stride = s[1], padding = s[2],
              dilation = s[3], output_padding = {11 - full[1], 12 - full[2]}}),
            x.grad, 1e-10)
    end
  end)

  it("im2col and col2im are each other's gradients", function()
    local x = la.randn(2, 3, 6, 7)
    local c = la.im2col(x, {3, 2}, {padding = 1, stride = 2})
    local g = la.randn(table.unpack(c.shape))
    local back = la.col2im(g, {6, 7}, {3, 2}, {padding = 1, stride = 2})
    close((c * g):sum(), (x * back):sum(), 1e-3)
  end)
end)

describe("pooling", function()
  it("takes the largest and its index from 1", function()
    local x = la.arange(16):float():view(1, 1, 4, 4)
    local v, i = la.max_pool2d(x, 2, {return_indices = true})
    assert.is_true(v:view(-1) == la.tensor {5., 7., 13., 15.})
    assert.is_true(i:view(-1) == la.tensor {6, 8, 14, 16})
    assert.are.equal(1, select("#", la.max_pool2d(x, 2)))
    local y = la.max_pool2d(x, 3, {stride = 2, padding = 1})
    assert.is_true(y:view(-1) == la.tensor {5., 7., 13., 15.})
    x[1][1][1][1] = 0 / 0
    assert.is_true(la.max_pool2d(x, 2)[1][1][1][1]:isnan():all())
  end)

  it("averages, with and without the padding", function()
    local x = la.ones(1, 1, 4, 4)
    local y = la.avg_pool2d(x, 3, {stride = 2, padding = 1})
    assert.is_true(math.abs(y[1][1][1][1]:item() - 4 / 9) < 1e-6)
    local z = la.avg_pool2d(x, 3, {stride = 2, padding = 1,
                                   count_include_pad = false})
    assert.is_true(z == la.ones(1, 1, 2, 2))
    assert.are.equal(3, la.avg_pool1d(la.ones(1, 2, 5), 2,
                                      {stride = 2, ceil_mode = true}):size(3))
  end)

  it("a p-norm of zeros passes no gradient", function()
    local x = la.tensor({0, 0, 3, 4}, {dtype = "float64", requires_grad = true})
    local y = la.lp_pool1d(x:view(1, 1, 4), 2, 2)
    assert.same({0, 5}, y:view(-1):totable())
    y:sum():backward()
    assert.is_true(x.grad:allclose(la.tensor({0, 0, 0.6, 0.8},
      {dtype = "float64"}), 1e-14, 0))
  end)

  it("rounds up to one window that is larger than the image", function()
    local up = {stride = 3, ceil_mode = true}
    local x = la.arange(1, 5):double():view(1, 1, 2, 2)
      :mul(la.tensor{1, 2, 3}:view(1, 3, 1, 1))
    for _, y in ipairs{x, x:contiguous("channels_last"), x:float(), x:half()} do
      local v, i = la.max_pool2d(y, 4, {stride = 3, ceil_mode = true,
        return_indices = true})
      assert.same({4, 8, 12}, v:view(-1):totable())
      assert.same({4, 4, 4}, i:view(-1):totable())
      assert.same({2.5, 5, 7.5}, la.avg_pool2d(y, 4, up):view(-1):totable())
    end
    x = x:detach():requires_grad_()
    la.avg_pool2d(x, 4, up):sum():backward()
    assert.is_true(x.grad == la.full({1, 3, 2, 2}, 0.25, {dtype = "float64"}))
    for _, call in ipairs{la.max_pool2d, la.avg_pool2d} do
      assert.is_false(pcall(call, x, 5, up))      -- no window fits
      assert.is_false(pcall(call, x, 4, {stride = 3}))
    end
  end)

  it("adapts to a size", function()
    local x = la.arange(10):float():view(1, 1, 10)
    local most = la.full({1, 2}, math.maxinteger, {dtype = "int64"})
    assert.same(-1, la.adaptive_avg_pool1d(most, 1):item())    -- sums wrap
    assert.is_true(la.adaptive_avg_pool1d(x, 3):view(-1)
                   == la.tensor {1.5, 4.5, 7.5})
    assert.is_true(la.adaptive_max_pool1d(x, 2):view(-1) == la.tensor {4., 9.})
    assert.same({1, 2, 3, 4}, {table.unpack(
      la.adaptive_avg_pool2d(la.ones(1, 2, 7, 9), {3, 4}).shape)})
  end)

  it("is the same in one, two and three dims", function()
    local x = la.randn(2, 3, 5, 9)
    local flat, deep = x:select(3, 1), x:unsqueeze(3)
    assert.is_true(la.max_pool1d(flat, 3) ==
      la.max_pool2d(flat:unsqueeze(3), {1, 3}):squeeze(3))
    assert.is_true(la.max_pool3d(deep, {1, 2, 3}):squeeze(3)
                   == la.max_pool2d(x, {2, 3}))
    assert.is_true(la.avg_pool3d(deep, {1, 2, 3}):squeeze(3)
                   == la.avg_pool2d(x, {2, 3}))
    assert.is_true(la.adaptive_avg_pool3d(deep, {1, 2, 3}):squeeze(3)
                   == la.adaptive_avg_pool2d(x, {2, 3}))
    local v, i = la.adaptive_max_pool2d(x, {5, 9}, {return_indices = true})
    assert.is_true(v == x and i[1][1]:view(-1) == la.range(45))
    assert.is_true(la.adaptive_max_pool3d(deep, {1, 5, 9}):squeeze(3) == x)
  end)

  it("takes p-norms of windows", function()
    local x = la.tensor {3.0, 4.0, 6.0, 8.0}:view(1, 1, 4)
    close(la.lp_pool1d(x, 2, 2), la.tensor {5.0, 10.0}:view(1, 1, 2), 1e-5)
    for _, size in ipairs {{}, {1 << 62, 1 << 62}, {-1, 2}, {0, 1}} do
      assert.has_error(function()
        la.lp_pool2d(la.ones(1, 1, 4, 4), 2, size)
      end)
    end
    close(la.lp_pool2d(x:view(1, 1, 2, 2), 2, {1, 2}),
          la.tensor {5.0, 10.0}:view(1, 1, 2, 1), 1e-5)
  end)

  it("has gradients", function()
    local x = la.randn(2, 3, 8, 8):double()
    x.requires_grad = true
    la.max_pool2d(x, 2):sum():backward()
    assert.are.equal(2 * 3 * 16.0, x.grad:sum():item())
    x.grad = nil
    la.avg_pool2d(x, 2):sum():backward()
    assert.is_true(x.grad == la.full({2, 3, 8, 8}, 0.25):double())
  end)
end)

describe("scaled_dot_product_attention", function()
  local function plain(q, k, v, mask, scale)
    local s = q:matmul(k:transpose(-2, -1)) * (scale or q:size(-1) ^ -0.5)
    if mask then s = s + mask end
    return s:softmax(-1):matmul(v)
  end

  it("is softmax of scores times values", function()
    for _, n in ipairs {{1, 1}, {5, 9}, {100, 300}, {97, 257}} do
      local q = la.randn(2, 3, n[1], 16):double()
      local k = la.randn(2, 3, n[2], 16):double()
      local v = la.randn(2, 3, n[2], 8):double()
      close(la.scaled_dot_product_attention(q, k, v), plain(q, k, v), 1e-12)
      close(la.scaled_dot_product_attention(q, k, v, {scale = 0.3}),
            plain(q, k, v, nil, 0.3), 1e-12)
      local mask = la.randn(n[1], n[2]):double()
      close(la.scaled_dot_product_attention(q, k, v, mask),
            plain(q, k, v, mask), 1e-12)
      close(la.scaled_dot_product_attention(q:float(), k:float(), v:float()),
            plain(q, k, v), 1e-5)
    end
  end)

  it("masks what lies ahead", function()
    local q, k, v = la.randn(2, 300, 8), la.randn(2, 300, 8),
                    la.randn(2, 300, 8)
    local seen = la.ones(300, 300, {dtype = "bool"}):tril()
    local a = la.scaled_dot_product_attention(q, k, v, {is_causal = true})
    close(a, la.scaled_dot_product_attention(q, k, v, seen), 1e-6)
    close(a:select(2, 1), v:select(2, 1), 1e-6)
  end)

  it("has the gradients of the plain formula", function()
    for _, causal in ipairs {false, true} do
      local function leaf(n)
        local t = la.randn(2, n, 8):double()
        t.requires_grad = true
        return t
      end
      local n = 280
      local q, k, v = leaf(n), leaf(n), leaf(n)
      local mask
      if causal then
        mask = la.zeros(n, n):double():masked_fill(
          la.ones(n, n, {dtype = "bool"}):triu(1), -math.huge)
      end
      local g = la.randn(2, n, 8):double()
      plain(q, k, v, mask):backward(g)
      local want = {q.grad, k.grad, v.grad}
      q.grad, k.grad, v.grad = nil, nil, nil
      la.scaled_dot_product_attention(q, k, v, {is_causal = causal})
        :backward(g)
      for i, t in ipairs {q, k, v} do close(t.grad, want[i], 1e-11) end
    end
  end)

  it("differentiates its mask, and its gradients again", function()
    local function leaf(...)
      local t = la.randn(...):double()
      t.requires_grad = true
      return t
    end
    -- first and second derivatives of 'f' along all of its inputs
    local function twice(f, inputs)
      local y = f(table.unpack(inputs))
      local first = {la.grad((y * y):sum(), inputs, {create_graph = true})}
      local sum = 0
      for _, g in ipairs(first) do sum = sum + (g * g):sum() end
      return first, {la.grad(sum, inputs)}
    end
    for _, c in ipairs {{}, {mask = {4, 6}}, {mask = {2, 1, 4, 6}},
                        {causal = true}} do
      local q, k, v = leaf(2, 2, 4, 3), leaf(2, 2, 6, 3), leaf(2, 2, 6, 5)
      local inputs = {q, k, v, c.mask and leaf(table.unpack(c.mask))}
      local ahead = la.zeros(4, 6):double():masked_fill(
        la.ones(4, 6, {dtype = "bool"}):triu(1), -math.huge)
      local want, again = twice(function(a, b, d, m)
        return plain(a, b, d, m or c.causal and ahead)
      end, inputs)
      local have, more = twice(function(a, b, d, m)
        return la.scaled_dot_product_attention(a, b, d,
          {attn_mask = m, is_causal = c.causal})
      end, inputs)
      assert.are.equal(#inputs, #have)
      for i = 1, #have do
        close(have[i], want[i], 1e-12)
        close(more[i], again[i], 1e-11)
      end
    end
  end)

  it("gives rows that nothing takes part in zeros, and zero gradients",
     function()
    local q, k, v = la.randn(3, 4), la.randn(5, 4), la.randn(5, 2)
    local seen = la.ones(3, 5, {dtype = "bool"})
    seen[2]:fill_(false)
    q.requires_grad, v.requires_grad = true, true
    local y = la.scaled_dot_product_attention(q, k, v, seen)
    assert.is_true(y[2] == la.zeros(2))
    local g = la.grad(y:sum(), q, {create_graph = true})
    assert.is_true(g[2] == la.zeros(4))
    assert.is_true(la.grad((g * g):sum(), v):isfinite():all())
  end)
end)
