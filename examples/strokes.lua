-- Handwritten digits: a small convolutional network learns them in a few
-- passes. The picture shows digits that it has not seen, on green where it is
-- right and on red where it is wrong, the paler the less sure it is.
--
--   lua5.4 examples/strokes.lua [passes [rate [picture.png]]]
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local data = require "lunarray.data"

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
  -- Ten rows and twenty columns, the least sure ones first.
  local first = sure:argsort()[{{1, 200}}]
  local ink = la.image.resize(test[first], 12, 12, {mode = "nearest"})
  local good = right[first]:float():view(-1, 1, 1, 1)
  local pale = 1 - 0.8 * sure[first]:view(-1, 1, 1, 1)
  local red, green = (1 - good) + good * pale, good + (1 - good) * pale
  local paper = la.cat({red, green, pale}, 2)
  local tiles = la.pad(paper * (1 - ink), {1, 1, 1, 1}, "constant", 1)
  local sheet = tiles:view(10, 20, 3, 14, 14):permute(3, 1, 4, 2, 5)
  la.image.save((sheet:reshape(3, 140, 280) * 12):round() / 12, picture)
end
return {right = share}
