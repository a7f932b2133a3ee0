-- Handwritten digits: a small convolutional network learns them in a few
-- passes. The picture shows digits that it has not seen, on green where it is
-- right and on red where it is wrong, the paler the less sure it is.
--
--   lua5.4 examples/strokes.lua [passes [rate [picture.png]]]
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local data = require "lunarray.data"
local plot = require "lunarray.plot"

local passes = tonumber(arg and arg[1]) or 12
local rate = tonumber(arg and arg[2]) or 4e-3
local picture = arg and arg[3]
la.manual_seed(1)

local images = la.load "examples/data/digits_images.npy":float() / 16
local labels = la.load "examples/data/digits_labels.npy":long() + 1
images = images:view(-1, 1, 8, 8)
local order = la.randperm(#images)
images, labels = images[order], labels[order]
local cut = #images - 400
local seen = data.TensorDataset(images[{{1, cut}}], labels[{{1, cut}}])
local test, truth = images[{{cut + 1, -1}}], labels[{{cut + 1, -1}}]

local net = nn.Sequential(
  nn.Conv2d(1, 16, 3, {padding = 1}), nn.ReLU(),
  nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
  nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 16, 10))
local opt = optim.AdamW(net:parameters(), {lr = rate})
local loader = data.DataLoader(seen, {batch_size = 64, shuffle = true})
local schedule = optim.CosineAnnealingLR(opt, {T_max = passes})
for _ = 1, passes do
  for x, y in loader:batches() do
    opt:zero_grad()
    la.cross_entropy(net(x), y):backward()
    opt:step()
  end
  schedule:step()
end

net:eval()
local sure, guess = la.no_grad(function()
  return net(test):softmax(2):max(2)
end)
local right = guess:eq(truth)
local share = right:float():mean():item()
print(("%d digits learned, %d asked: %.1f %% right"):format(cut, #truth,
  share * 100))
if picture then
  -- The digits of which it is least sure, and what it takes them for.
  local panels = {columns = 8}
  for k, at in ipairs(sure:argsort()[{{1, 24}}]:totable()) do
    local good = right:item(at)
    panels[k] = plot.heatmap(1 - la.image.resize(test[at], 48, 48)[1],
      {low = 0, high = 1, colormap = "gray", colorbar = false, xticks = {},
      yticks = {}, aspect = "equal", title = ("%d  %.0f %%%s"):format(
        guess:item(at) - 1, sure:item(at) * 100, good and "" or "  (no, "
        .. truth:item(at) - 1 .. ")")})
  end
  plot.grid(panels):save(picture, {width = 960, height = 440, scale = 1})
end
return {right = share}
