-- Times of training steps: a line per case with its name and microseconds,
-- best of many, as nn_cases.lua writes them. The same in PyTorch:
-- train_peers.py.
package.path = "bench/?.lua;" .. package.path
local la = require "lunarray"
local time = require "best"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
la.set_num_threads(1)

local function best(name, call) time(name, call, 20, 0.3) end

-- Forward, cross-entropy, backward, step.
local function step(name, net, x, classes, make)
  local opt = make(net:parameters())
  local y = la.randint(1, classes, {x:size(1)})
  best("training step, " .. name, function()
    opt:zero_grad()
    la.cross_entropy(net(x), y):backward()
    opt:step()
  end)
  best("optimiser's step, " .. name, function() opt:step() end)
end

local function perceptron()
  return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
end

step("64-128-10, batch 64, SGD", perceptron(), la.randn(64, 64), 10,
  function(p) return optim.SGD(p, {lr = 0.01}) end)
step("64-128-10, batch 64, Adam", perceptron(), la.randn(64, 64), 10,
  function(p) return optim.Adam(p) end)
step("convolutional network on digits, batch 32, Adam", nn.Sequential(
  nn.Conv2d(1, 16, 3, {padding = 1}), nn.BatchNorm2d(16), nn.ReLU(),
  nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, {padding = 1}), nn.BatchNorm2d(32),
  nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)),
  la.randn(32, 1, 8, 8), 10, function(p) return optim.Adam(p) end)
for _, kind in ipairs {"RNN", "LSTM", "GRU"} do
  local net = nn[kind](24, 128, {batch_first = true})
  local x = la.randn(32, 40, 24)
  best(kind .. " 24 to 128, 40 steps, batch 32, forward", function()
    la.no_grad(net, x)
  end)
  best(kind .. " 24 to 128, 40 steps, batch 32, and backward", function()
    net:zero_grad()
    local out = net(x)
    out:sum():backward()
  end)
end
