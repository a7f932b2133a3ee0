-- Depthwise convolutions and their gradients, against one product per tap.
local la = require "lunarray"

local cases = {  -- n, channels, h, w, kh, kw, stride, pad, dilation
  {2, 8, 6, 7, 3, 3, {1, 1}, {1, 1}, {1, 1}},
  {1, 16, 5, 12, 3, 3, {1, 1}, {0, 0}, {1, 1}},
  {2, 19, 9, 11, 3, 3, {2, 2}, {1, 1}, {1, 1}},
  {1, 40, 7, 7, 5, 5, {1, 1}, {2, 2}, {1, 1}},
  {1, 100, 7, 7, 7, 7, {1, 1}, {3, 3}, {1, 1}},
  {2, 33, 8, 13, 5, 5, {2, 2}, {2, 1}, {1, 1}},
  {1, 70, 4, 9, 1, 2, {1, 3}, {0, 1}, {1, 1}},
  {1, 17, 12, 20, 3, 3, {1, 1}, {2, 2}, {2, 2}},
  {1, 24, 10, 15, 3, 4, {3, 2}, {1, 2}, {1, 1}},
  {1, 9, 3, 2, 3, 3, {1, 1}, {1, 2}, {1, 1}},
  {3, 64, 3, 30, 3, 3, {1, 2}, {1, 1}, {1, 1}},
  {1, 8, 11, 9, 7, 7, {2, 3}, {3, 3}, {1, 1}},
  {1, 12, 9, 9, 4, 6, {1, 1}, {4, 5}, {1, 1}},
  {1, 128, 2, 5, 3, 3, {1, 1}, {1, 1}, {1, 3}},
  {0, 16, 5, 5, 3, 3, {1, 1}, {1, 1}, {1, 1}},
  {9, 10, 5, 6, 2, 3, {1, 1}, {1, 1}, {1, 1}},
}

local function each(f)
  for number, c in ipairs(cases) do
    local o, out = {stride = c[7], pad = c[8], dilation = c[9]}, {}
    for d = 1, 2 do
      out[d] = (c[2 + d] + 2 * o.pad[d] - o.dilation[d] * (c[4 + d] - 1) - 1)
        // o.stride[d] + 1
    end
    for _, dtype in ipairs {"float32", "float64"} do
      local x = la.randn(c[1], c[2], c[3], c[4]):to(dtype)
      local w = la.randn(c[2], 1, c[5], c[6]):to(dtype)
      local g = la.randn(c[1], c[2], out[1], out[2]):to(dtype)
      f(x, w, g, o, dtype == "float64" and 1e-13 or 1e-5,
        ("case %d %s "):format(number, dtype))
    end
  end
end

-- An image with its padding, in double.
local function padded(x, o)
  local image = la.zeros(x:size(1), x:size(2), x:size(3) + 2 * o.pad[1],
                        x:size(4) + 2 * o.pad[2]):double()
  local inside = image
    :slice(3, o.pad[1] + 1, o.pad[1] + x:size(3))
    :slice(4, o.pad[2] + 1, o.pad[2] + x:size(4))
  inside:copy_(x)
  return image, inside
end

-- f(number, window of the tap in the padded image) for all taps
local function taps(image, w, g, o, f)
  for a = 0, w:size(3) - 1 do
    for b = 0, w:size(4) - 1 do
      local y, z = a * o.dilation[1] + 1, b * o.dilation[2] + 1
      f(a + 1, b + 1, image
        :slice(3, y, y + (g:size(3) - 1) * o.stride[1], o.stride[1])
        :slice(4, z, z + (g:size(4) - 1) * o.stride[2], o.stride[2]))
    end
  end
end

local function tap(w, a, b)
  return w:double():select(4, b):select(3, a):view(1, -1, 1, 1)
end

local function close(a, b, tol, what)
  assert.same({table.unpack(b.shape)}, {table.unpack(a.shape)}, what)
  if a:numel() == 0 then return end
  local far = (a:double() - b):abs():max():item()
  assert.is_true(far <= tol * (1 + b:abs():max():item()),
                 ("%s: differs by %g"):format(what, far))
end

local function settings(o, x)
  return o.stride, o.pad, o.dilation, false, {0, 0}, x:size(2)
end

-- As each, in each memory format of the two images; the second operand's
-- format may differ from the first one's.
local function formats(f)
  for _, p in ipairs {{"contiguous", "contiguous"},
                      {"channels_last", "channels_last"},
                      {"contiguous", "channels_last"}} do
    f(p[1], p[2], p[1] .. " " .. p[2])
  end
end

describe("a depthwise convolution", function()
  it("is a sum over taps", function()
    each(function(x, w, g, o, tol, what)
      local bias = la.randn(x:size(2)):to(x.dtype)
      local want = la.zeros(table.unpack(g.shape)):double()
      taps(padded(x, o), w, g, o, function(a, b, part)
        want:add_(part * tap(w, a, b))
      end)
      want:add_(bias:double():view(1, -1, 1, 1))
      for _, format in ipairs {"contiguous", "channels_last"} do
        close(la.convolution(x:contiguous(format), w, bias, settings(o, x)),
              want, tol, what .. format)
      end
    end)
  end)

  it("sends gradients to its input", function()
    each(function(x, w, g, o, tol, what)
      local image, want = padded(la.zeros(table.unpack(x.shape)), o)
      taps(image, w, g, o, function(a, b, part)
        part:add_(g:double() * tap(w, a, b))
      end)
      formats(function(p, q, names)
        close(la.convolution_grad_input(g:contiguous(p), x:contiguous(q), w,
                                        settings(o, x)), want, tol,
              what .. names)
      end)
    end)
  end)

  it("sends gradients to its weight", function()
    each(function(x, w, g, o, tol, what)
      local want = la.zeros(table.unpack(w.shape)):double()
      taps(padded(x, o), w, g, o, function(a, b, part)
        want:select(4, b):select(3, a):select(2, 1)
          :copy_((part * g:double()):sum({1, 3, 4}))
      end)
      formats(function(p, q, names)
        close(la.convolution_grad_weight(g:contiguous(p), x:contiguous(q), w,
                                         settings(o, x)), want, 20 * tol,
              what .. names)
      end)
    end)
  end)

  it("leaves what lies outside alone, whatever the weight", function()
    local w = la.ones(16, 1, 3, 3)
    w:select(4, 1):fill_(1 / 0)
    for _, format in ipairs {"contiguous", "channels_last"} do
      local x = la.ones(1, 16, 3, 9):contiguous(format)
      local y = la.conv2d(x, w, nil, {padding = 1, groups = 16})
      -- the first column has no left neighbour
      assert.is_true(y:select(4, 1):isfinite():all())
      assert.is_true(y:select(4, 2):isinf():all())
    end
  end)

  it("gives the same bits at any number of threads", function()
    local before, one = la.get_num_threads(), nil
    local x = la.randn(3, 40, 30, 31):contiguous "channels_last"
    local w = la.randn(40, 1, 3, 3)
    for _, n in ipairs {1, 2, 5} do
      la.set_num_threads(n)
      local y = la.conv2d(x, w, nil, {padding = 1, groups = 40})
      local all = {y, la.convolution_backward(y, x, w, {1, 1}, {1, 1}, {1, 1},
                                              false, {0, 0}, 40)}
      one = one or all
      for k, t in ipairs(all) do assert.is_true(t == one[k]) end
    end
    la.set_num_threads(before)
  end)
end)

-- The taps along the depth, each a flat convolution of the planes it meets.
local function by_planes(x, w, bias, s, p, d)
  local all = la.zeros(x:size(1), x:size(2), x:size(3) + 2 * p[1], x:size(4),
                       x:size(5)):double()
  all:narrow(3, p[1] + 1, x:size(3)):copy_(x)
  local depth = (all:size(3) - d[1] * (w:size(3) - 1) - 1) // s[1] + 1
  local planes = {}
  for o = 1, depth do
    local sum
    for t = 1, w:size(3) do
      local y = la.conv2d(all:select(3, (o - 1) * s[1] + (t - 1) * d[1] + 1),
        w:double():select(3, t), nil, {stride = {s[2], s[3]},
        padding = {p[2], p[3]}, dilation = {d[2], d[3]}, groups = x:size(2)})
      sum = sum and sum + y or y
    end
    planes[o] = sum
  end
  local out = la.stack(planes, 3)
  return bias and out + bias:double():view(1, -1, 1, 1, 1) or out
end

describe("depthwise convolution of volumes", function()
  it("is its flat one along the depth, in both formats", function()
    la.manual_seed(5)
    for _, c in ipairs {  -- n, channels, sizes, kernel, stride, pad, dilation
      {2, 16, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, 19, {7, 5, 9}, {2, 3, 3}, {2, 1, 2}, {1, 0, 2}, {1, 1, 1}},
      {1, 40, {4, 8, 30}, {4, 1, 5}, {1, 2, 1}, {3, 0, 2}, {1, 1, 1}},
      {3, 8, {6, 4, 4}, {3, 2, 2}, {1, 1, 1}, {2, 1, 1}, {2, 1, 2}},
      {1, 9, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {2, 1, 1}, {1, 1, 1}},
      {1, 70, {3, 3, 3}, {3, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
      {2, 33, {2, 90, 40}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    } do
      local z, k = c[3], c[4]
      local o = {stride = c[5], padding = c[6], dilation = c[7], groups = c[2]}
      for _, dtype in ipairs {"float32", "float64"} do
        local x = la.randn(c[1], c[2], z[1], z[2], z[3]):to(dtype)
        local w = la.randn(c[2], 1, k[1], k[2], k[3]):to(dtype)
        local b = la.randn(c[2]):to(dtype)
        local tol = dtype == "float64" and 1e-13 or 1e-5
        local what = ("%d channels %s"):format(c[2], dtype)
        for _, format in ipairs {"contiguous", "channels_last_3d"} do
          local y = x:contiguous {memory_format = format}
          close(la.conv3d(y, w, nil, o),
                by_planes(x, w, nil, c[5], c[6], c[7]), tol, what)
          close(la.conv3d(y, w, b, o),
                by_planes(x, w, b, c[5], c[6], c[7]), tol, what)
          local before = la.get_num_threads()
          la.set_num_threads(1)
          local one = la.conv3d(y, w, b, o)
          la.set_num_threads(3)
          assert.is_true(one == la.conv3d(y, w, b, o), what)
          la.set_num_threads(before)
        end
      end
    end
  end)
end)
