-- Gradients of strided convolutions for their input, and transposed
-- convolutions: against one product per tap, added where the tap lies.
local la = require "lunarray"

-- x's gradient (n, groups * ic, h, w) from g (n, groups * oc, oh, ow).
local function by_taps(g, w, size, c)
  local n, ic = g:size(1), w:size(2)
  local oc = w:size(1) // c.groups
  local padded = la.zeros(n, ic * c.groups, size[1] + 2 * c.pad[1] + 8,
                        size[2] + 2 * c.pad[2] + 8):double()
  for a = 0, w:size(3) - 1 do
    for b = 0, w:size(4) - 1 do
      local y, z = a * c.dilation[1] + 1, b * c.dilation[2] + 1
      local part = padded
        :slice(3, y, y + (g:size(3) - 1) * c.stride[1], c.stride[1])
        :slice(4, z, z + (g:size(4) - 1) * c.stride[2], c.stride[2])
      for k = 0, c.groups - 1 do
        local taps = w:slice(1, k * oc + 1, (k + 1) * oc):double()
          :select(4, b + 1):select(3, a + 1)
        part:slice(2, k * ic + 1, (k + 1) * ic):add_(la.einsum(
          "nohw,oc->nchw", g:slice(2, k * oc + 1, (k + 1) * oc):double(),
          taps))
      end
    end
  end
  return padded:slice(3, c.pad[1] + 1, c.pad[1] + size[1])
    :slice(4, c.pad[2] + 1, c.pad[2] + size[2])
end

local function close(a, b, tol, what)
  local scale = b:abs():max():item() + 1
  local far = (a:double() - b):abs():max():item()
  assert.is_true(far <= tol * scale, ("%s: differs by %g"):format(what, far))
end

local cases = {   -- n, ic, oc, h, w, kh, kw, stride, pad, dilation, groups
  {1, 1, 1, 4, 5, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1},
  {2, 3, 4, 12, 11, 3, 2, {2, 2}, {1, 1}, {1, 1}, 1},
  {2, 5, 7, 9, 14, 4, 4, {2, 2}, {1, 1}, {1, 1}, 1},
  {1, 17, 33, 14, 14, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1},
  {2, 16, 20, 7, 7, 5, 5, {2, 2}, {2, 2}, {1, 1}, 1},
  {1, 3, 2, 10, 40, 5, 7, {2, 3}, {2, 3}, {1, 1}, 1},
  {2, 4, 6, 13, 18, 3, 3, {1, 2}, {1, 0}, {2, 1}, 2},
  {1, 2, 3, 15, 17, 3, 3, {2, 2}, {2, 2}, {2, 2}, 1},
  {1, 2, 3, 16, 21, 3, 4, {3, 4}, {0, 1}, {2, 3}, 1},
  {2, 6, 4, 11, 9, 1, 1, {2, 2}, {0, 0}, {1, 1}, 2},
  {1, 4, 4, 16, 12, 2, 2, {4, 4}, {0, 0}, {1, 1}, 1},
  {1, 40, 300, 6, 6, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1},
  {1, 2, 150, 3, 900, 5, 5, {2, 2}, {2, 2}, {1, 1}, 1},
  {1, 3, 5, 9, 8, 3, 3, {2, 4}, {3, 3}, {1, 1}, 1},
  {1, 40, 8, 9, 9, 1, 1, {2, 2}, {1, 1}, {1, 1}, 1},
  {3, 5, 7, 4, 4, 4, 4, {1, 1}, {0, 0}, {1, 1}, 1},
  {2, 6, 8, 3, 5, 3, 5, {2, 1}, {0, 0}, {1, 1}, 2},
  {0, 3, 5, 9, 8, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1},
  {1, 2, 2, 20, 20, 3, 3, {7, 5}, {1, 1}, {1, 1}, 1},
}

local function out_size(c, d)
  local k = c[5 + d]
  return (c[3 + d] + 2 * c[9][d] - c[10][d] * (k - 1) - 1) // c[8][d] + 1
end

local function each(f)
  for number, c in ipairs(cases) do
    for _, dtype in ipairs {"float32", "float64"} do
      local g = la.randn(c[1], c[3], out_size(c, 1), out_size(c, 2)):to(dtype)
      local w = la.randn(c[3], c[2] // c[11], c[6], c[7]):to(dtype)
      local o = {stride = c[8], pad = c[9], dilation = c[10], groups = c[11]}
      local tol = dtype == "float64" and 1e-13 or 1e-5
      f(c, g, w, o, tol, ("case %d %s"):format(number, dtype))
    end
  end
end

describe("the gradient of a strided convolution for its input", function()
  it("is what every tap brings, in both memory formats", function()
    each(function(c, g, w, o, tol, what)
      local want = by_taps(g, w, {c[4], c[5]}, o)
      if c[1] == 0 then want = la.zeros(0, c[2], c[4], c[5]):double() end
      local x = la.zeros(c[1], c[2], c[4], c[5]):to(g.dtype)
      for _, format in ipairs {"contiguous", "channels_last"} do
        local gx = la.convolution_grad_input(g:contiguous(format),
          x:contiguous(format), w, o.stride, o.pad, o.dilation, false, {0, 0},
          o.groups)
        assert.same({table.unpack(x.shape)}, {table.unpack(gx.shape)})
        if c[1] > 0 then close(gx, want, tol, what .. format) end
      end
    end)
  end)

  it("is a transposed convolution", function()
    each(function(c, g, w, o, tol, what)
      local spare, fits = {}, c[1] > 0
      for d = 1, 2 do
        spare[d] = c[3 + d] - ((g:size(2 + d) - 1) * o.stride[d]
          - 2 * o.pad[d] + o.dilation[d] * (c[5 + d] - 1) + 1)
        fits = fits and spare[d] < math.max(o.stride[d], o.dilation[d])
      end
      if not fits then return end
      local want = by_taps(g, w, {c[4], c[5]}, o)
      local bias = la.randn(c[2]):to(g.dtype)
      for _, format in ipairs {"contiguous", "channels_last"} do
        local y = la.conv_transpose2d(g:contiguous(format), w, bias,
          {stride = o.stride, padding = o.pad, dilation = o.dilation,
           groups = o.groups, output_padding = spare})
        close(y, want + bias:double():view(1, -1, 1, 1), tol, what .. format)
      end
    end)
  end)

  it("is the same along one, two and three dims", function()
    local g, w = la.randn(2, 5, 8):double(), la.randn(5, 3, 4):double()
    local o = {stride = 3, padding = 1, output_padding = 2}
    local y = la.conv_transpose1d(g, w, nil, o)
    local flat = la.conv_transpose2d(g:unsqueeze(3), w:unsqueeze(3), nil,
      {stride = {1, 3}, padding = {0, 1}, output_padding = {0, 2}})
    close(y, flat:squeeze(3), 1e-14, "one dim")
    local v = la.randn(1, 2, 3, 4, 5):double()
    local u = la.randn(2, 3, 3, 2, 3):double()
    local z = la.conv_transpose3d(v, u, nil, {stride = 2, padding = 1})
    -- depth by depth: index d of v brings tap t to 2d + t - 1
    local want = la.zeros(table.unpack(z.shape)):double()
    for d = 1, 3 do
      for t = 1, 3 do
        local at = 2 * (d - 1) + t - 1
        if at >= 1 and at <= z:size(3) then
          want:select(3, at):add_(la.conv_transpose2d(v:select(3, d),
            u:select(3, t), nil, {stride = 2, padding = 1}))
        end
      end
    end
    close(z, want, 1e-13, "three dims")
  end)

  it("keeps NaN and infinity where they belong", function()
    local g = la.zeros(1, 1, 3, 3)
    g[1][1][2][2]:fill_(1 / 0)
    local y = la.conv_transpose2d(g, la.ones(1, 1, 2, 2), nil, {stride = 2})
    assert.are.equal(4, y:isinf():sum():item())
    assert.are.equal(12 + 20, y:eq(0):sum():item())
  end)

  it("gives the same bits at any number of threads", function()
    local before = la.get_num_threads()
    local g, w = la.randn(1, 70, 22, 20), la.randn(70, 9, 5, 4)
    local x, results = la.zeros(1, 9, 43, 40), {}
    for _, n in ipairs {1, 2, 3, 7} do
      la.set_num_threads(n)
      results[#results + 1] = la.convolution_grad_input(g, x, w, {2, 2}, {2, 1},
        {1, 1}, false, {0, 0}, 1)
      assert.is_true(results[#results] == results[1])
    end
    la.set_num_threads(before)
  end)
end)
