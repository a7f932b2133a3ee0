-- Handwritten digits with a small convolutional network: two 3 x 3
-- convolutions of 16 and 32 channels, batch norm, Adam, 15 epochs; a fifth of
-- the images is held out.
--
--   lua5.4 examples/digits_cnn.lua [seed ...]

local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local EPOCHS, BATCH, RATE = 15, 32, 1e-2

local images = la.load(here .. "/data/digits_images.npy"):float()
local labels = la.load(here .. "/data/digits_labels.npy"):long() + 1
images = (images / images:max()):reshape(-1, 1, 8, 8)

local Net = nn.class "Net"

function Net:init()
  self.features = nn.Sequential(
    nn.Conv2d(1, 16, 3, {padding = 1}), nn.BatchNorm2d(16), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, {padding = 1}), nn.BatchNorm2d(32), nn.ReLU(),
    nn.MaxPool2d(2))
  self.head = nn.Linear(32 * 2 * 2, 10)
end

function Net:forward(x)
  return self.head(self.features(x):flatten(2))
end

local function accuracy(net, set)
  net:eval()
  return la.no_grad(function()
    local right = 0
    for x, y in data.DataLoader(set, {batch_size = 256}):batches() do
      right = right + net(x):argmax(2):eq(y):sum():item()
    end
    return right / #set
  end)
end

local function fit(net, set, g)
  local opt = optim.Adam(net:parameters(), {lr = RATE})
  local loader = data.DataLoader(set, {batch_size = BATCH, shuffle = true,
    generator = g})
  local schedule = optim.OneCycleLR(opt, {max_lr = RATE, epochs = EPOCHS,
    steps_per_epoch = #loader})
  local bar = la.progress(EPOCHS, {desc = "epochs"})
  for epoch = 1, EPOCHS do
    local sum = 0
    for x, y in loader:batches() do
      opt:zero_grad()
      local loss = la.cross_entropy(net(x), y)
      loss:backward()
      opt:step()
      schedule:step()
      sum = sum + loss:item()
    end
    bar:update(epoch, ("loss %.4f"):format(sum / #loader))
  end
  bar:close()
end

local seeds = {}
for k, text in ipairs(arg or {}) do seeds[k] = math.tointeger(text) end
if #seeds == 0 then seeds = {1, 2, 3} end

local total = 0
for _, seed in ipairs(seeds) do
  la.manual_seed(seed)
  local g = la.Generator(seed)
  local train, test = data.random_split(data.TensorDataset(images, labels),
    {0.8, 0.2}, {generator = g})
  local net, start = Net(), os.clock()
  fit(net, train, g)
  local spent, hits = os.clock() - start, accuracy(net, test)
  print(("seed %d: %.4f of the held-out digits are read, %.1f s of work")
    :format(seed, hits, spent))
  total = total + hits
end
print(("mean %.4f"):format(total / #seeds))
