-- Prints digests of convolutions, their gradients and attention: run once for
-- each CPU path, since LUNARRAY_CPU is read when the library starts.
local la = require "lunarray"

local function digest(t)
  local h = 0
  for s in string.gmatch(t:tostring_raw(), ".") do
    h = (h * 31 + s:byte()) & 0xffffffffffff
  end
  return ("%012x"):format(h)
end

la.manual_seed(11)
-- batch, channels, height, width; output channels, kernel; stride, padding,
-- dilation, groups
for _, c in ipairs {
  {2, 3, 9, 8, 5, 3, 1, 1, 1, 1}, {1, 1, 28, 28, 8, 5, 1, 2, 1, 1},
  {2, 16, 28, 28, 16, 3, 1, 1, 1, 1}, {1, 70, 7, 7, 40, 3, 1, 1, 1, 1},
  {3, 4, 11, 33, 6, 3, 2, 1, 1, 2}, {2, 6, 10, 14, 6, 3, 1, 2, 2, 6},
  {2, 8, 6, 3, 24, 2, 1, 0, 1, 1}, {1, 3, 5, 900, 2, 3, 3, 1, 1, 1},
} do
  for _, dtype in ipairs {"float32", "float64"} do
    for _, format in ipairs {"contiguous", "channels_last"} do
      local x = la.randn(c[1], c[2], c[3], c[4], {dtype = dtype})
        :contiguous(format)
      local w = la.randn(c[5], c[2] // c[10], c[6], c[6], {dtype = dtype})
      local s = {{c[7], c[7]}, {c[8], c[8]}, {c[9], c[9]}, false, {0, 0},
                 c[10]}
      local y = la.convolution(x, w, nil, table.unpack(s))
      local g = la.randn(table.unpack(y.shape)):to(dtype):contiguous(format)
      print(digest(y:contiguous()),
        digest(la.convolution_grad_input(g, x, w, table.unpack(s))
               :contiguous()),
        digest(la.convolution_grad_weight(g, x, w, table.unpack(s))))
    end
  end
end
for _, c in ipairs {{3, 2, 1}, {2, 2, 0}, {3, 1, 1}, {5, 3, 2}} do
  for _, format in ipairs {"contiguous", "channels_last"} do
    local x = la.randn(2, 19, 13, 37):contiguous(format)
    local o = {stride = c[2], padding = c[3]}
    x.requires_grad = true
    local y = la.avg_pool2d(x, c[1], o)
    y:backward(y:detach() * 3)
    print(digest(y:detach():contiguous()), digest(x.grad:contiguous()),
          digest(la.max_pool2d(x:detach(), c[1], o):contiguous()),
          digest(la.adaptive_avg_pool2d(x:detach(), {5, 7}):contiguous()))
  end
end
local q = la.randn(2, 300, 24)
print(digest(la.scaled_dot_product_attention(q, q, q)))
