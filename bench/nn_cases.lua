-- Times of convolutions, attention and small products: a line per case with
-- its name and microseconds, best of many. With a file of lines of
-- nn_peers.py, the page bench/NN.md instead:
--   lua nn_cases.lua > ours.txt
--   lua nn_cases.lua page ours.txt peer.txt
-- One thread: Lua's clock is the processor's.
if arg[1] == "page" then
  local function read(path)
    local t, order = {}, {}
    for line in io.lines(path) do
      local name, us = line:match("^(.-)\t([%d.]+)$")
      if name then t[name], order[#order + 1] = tonumber(us), name end
    end
    return t, order
  end
  local page = assert(io.open("bench/NN.md", "w"))
  page:write [[
# Convolutions, attention, small products, training

Microseconds, float32, one thread, best of many calls from Lua and from Python.
R is lunarray's time divided by PyTorch's. `bench/nn.sh` measures and
writes this.
]]
  local ours, order = read(arg[2])
  local peer = read(arg[3])
  page:write "\n| case | lunarray | PyTorch | R |\n| --- | --- | --- | --- |\n"
  for _, name in ipairs(order) do
    local p = peer[name]
    page:write(("| %s | %.1f | %s | %s |\n"):format(name, ours[name],
      p and ("%.1f"):format(p) or "",
      p and ("%.2f"):format(ours[name] / p) or ""))
  end
  page:close()
  return
end

package.path = "bench/?.lua;" .. package.path
local la = require "lunarray"
local time = require "best"
la.set_num_threads(1)

local function best(name, call) time(name, call, 1, 0.1) end

for _, n in ipairs {4, 16, 64} do
  local a, b = la.randn(n, n), la.randn(n, n)
  best("mm " .. n, function() a:mm(b) end)
end
local a, x = la.randn(2048, 2048), la.randn(2048)
best("mv 2048", function() a:mv(x) end)
local p, q = la.randn(64, 64, 64), la.randn(64, 64, 64)
best("bmm 64x64x64", function() p:bmm(q) end)
local i, w, b = la.randn(64, 784), la.randn(128, 784), la.randn(128)
best("linear 64x784x128", function() la.linear(i, w, b) end)
for _, c in ipairs {{16, 1, 8, 8}, {16, 8, 16, 8}, {64, 16, 16, 8},
                    {16, 64, 64, 8}, {64, 64, 64, 8}, {16, 1, 8, 28},
                    {64, 1, 8, 28}, {64, 16, 32, 28}, {16, 64, 64, 28},
                    {16, 3, 16, 56}, {16, 64, 64, 56}} do
  local n, ic, oc, s = table.unpack(c)
  local name = ("conv2d 3x3 %dx%dx%dx%d to %d"):format(n, ic, s, s, oc)
  local image, kernel = la.randn(n, ic, s, s), la.randn(oc, ic, 3, 3)
  local bias = la.randn(oc)
  local g = la.randn(n, oc, s, s)
  local o = {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1}
  best(name, function() la.conv2d(image, kernel, bias, {padding = 1}) end)
  best(name .. ", input gradient", function()
    la.convolution_grad_input(g, image, kernel, table.unpack(o))
  end)
  best(name .. ", weight gradient", function()
    la.convolution_grad_weight(g, image, kernel, table.unpack(o))
  end)
end
local o = {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 64}
for _, format in ipairs {"contiguous", "channels_last"} do
  local image = la.randn(16, 64, 56, 56):contiguous(format)
  local kernel, name = la.randn(64, 1, 3, 3), "depthwise 3x3 16x64x56x56"
  if format ~= "contiguous" then name = name .. " " .. format end
  best(name, function()
    la.conv2d(image, kernel, nil, {padding = 1, groups = 64})
  end)
  best(name .. ", weight gradient", function()
    la.convolution_grad_weight(image, image, kernel, table.unpack(o))
  end)
end
local last = la.randn(16, 64, 28, 28):contiguous("channels_last")
local taps = la.randn(64, 64, 3, 3)
best("conv2d 3x3 16x64x28x28 to 64 channels_last", function()
  la.conv2d(last, taps, nil, {padding = 1})
end)
local image, kernel = la.randn(16, 64, 28, 28), la.randn(64, 64, 3, 3)
local half = {{2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 1}
for _, format in ipairs {"contiguous", "channels_last"} do
  local x = image:contiguous(format)
  local g = la.convolution(x, kernel, nil, table.unpack(half))
  local name = "conv2d 3x3 stride 2 16x64x28x28 to 64"
  if format ~= "contiguous" then name = name .. " " .. format end
  best(name, function()
    la.convolution(x, kernel, nil, table.unpack(half))
  end)
  best(name .. ", input gradient", function()
    la.convolution_grad_input(g, x, kernel, table.unpack(half))
  end)
  best(name .. ", weight gradient", function()
    la.convolution_grad_weight(g, x, kernel, table.unpack(half))
  end)
end
local seed, fan = la.randn(16, 64, 14, 14), la.randn(64, 32, 4, 4)
best("conv_transpose2d 4x4 stride 2 16x64x14x14 to 32", function()
  la.conv_transpose2d(seed, fan, nil, {stride = 2, padding = 1})
end)
for _, format in ipairs {"contiguous", "channels_last"} do
  local x = la.randn(16, 64, 56, 56):contiguous(format)
  local suffix = format == "contiguous" and "" or " " .. format
  local o = {stride = 2, padding = 1}
  best("max_pool2d 2 16x64x56x56" .. suffix, function()
    la.max_pool2d(x, 2)
  end)
  best("avg_pool2d 3 stride 2 16x64x56x56" .. suffix, function()
    la.avg_pool2d(x, 3, o)
  end)
  best("adaptive_avg_pool2d 7 16x64x56x56" .. suffix, function()
    la.adaptive_avg_pool2d(x, 7)
  end)
  local leaf, g = x:clone(), la.max_pool2d(x, 3, o)
  leaf.requires_grad = true
  best("max_pool2d 3 stride 2 16x64x56x56, and backward" .. suffix, function()
    la.max_pool2d(leaf, 3, o):backward(g)
    leaf.grad = nil
  end)
end
local s = la.randn(1, 8, 1024, 64)
best("attention 8x1024x64", function()
  la.scaled_dot_product_attention(s, s, s)
end)
best("attention 8x1024x64 causal", function()
  la.scaled_dot_product_attention(s, s, s, {is_causal = true})
end)
local query, key, value = s:clone(), s:clone(), s:clone()
for _, t in ipairs {query, key, value} do t.requires_grad = true end
best("attention 8x1024x64, forward and gradients", function()
  la.scaled_dot_product_attention(query, key, value):backward(s)
  query.grad, key.grad, value.grad = nil, nil, nil
end)
