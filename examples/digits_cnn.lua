-- Handwritten digits with a small convolutional network: two 3 x 3
-- convolutions of 16 and 32 channels, batch norm, Adam with one cycle of the
-- learning rate, 15 epochs. Every fifth image is held out; the split is the
-- same for all seeds, which choose the first weights and the order of batches.
--
--   lua5.4 examples/digits_cnn.lua [weights.safetensors] [seed ...]

local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"
local plot = require "lunarray.plot"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local EPOCHS, BATCH, RATE, HOLDOUT = 15, 32, 1e-2, 5

local images = la.load(here .. "/data/digits_images.npy"):float()
local labels = la.load(here .. "/data/digits_labels.npy"):long() + 1
images = (images / images:max()):reshape(-1, 1, 8, 8)

local held = la.range(#images):remainder(HOLDOUT):eq(0)
local function rows(mask) return mask:nonzero():reshape(-1) end
local all = data.TensorDataset(images, labels)
local test = data.Subset(all, rows(held))
local train = data.Subset(all, rows(~held))

-- ---- the network ----

local Net = nn.class "Net"

function Net:init()
  self.conv1 = nn.Conv2d(1, 16, 3, {padding = 1})
  self.norm1 = nn.BatchNorm2d(16)
  self.conv2 = nn.Conv2d(16, 32, 3, {padding = 1})
  self.norm2 = nn.BatchNorm2d(32)
  self.head = nn.Linear(32 * 2 * 2, 10)
end

function Net:forward(x)
  x = la.max_pool2d(self.norm1(self.conv1(x)):relu(), 2)
  x = la.max_pool2d(self.norm2(self.conv2(x)):relu(), 2)
  return self.head(x:flatten(2))
end

-- ---- training ----

-- The mean loss of each epoch.
local function fit(net, seed)
  local opt = optim.Adam(net:parameters(), {lr = RATE})
  local loader = data.DataLoader(train, {batch_size = BATCH, shuffle = true,
    generator = la.Generator(seed)})
  local schedule = optim.OneCycleLR(opt, {max_lr = RATE, epochs = EPOCHS,
    steps_per_epoch = #loader})
  local bar <close> = la.progress(EPOCHS, {desc = "seed " .. seed})
  local curve = {}
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
    curve[epoch] = sum / #loader
    bar:update(epoch, ("loss %.4f"):format(curve[epoch]))
  end
  return curve
end

-- What the network reads on the held-out images, and the truth.
local function read(net)
  net:eval()
  local x, y = test:batch(la.range(#test))
  return la.no_grad(function() return net(x):argmax(2) end), y, x
end

local function accuracy(net)
  local guess, truth = read(net)
  return guess:eq(truth):double():mean():item()
end

-- ---- the run ----

local weights, seeds = nil, {}
for _, text in ipairs(arg or {}) do
  local seed = math.tointeger(tonumber(text))
  if seed then seeds[#seeds + 1] = seed else weights = text end
end
if #seeds == 0 then seeds = {1, 2, 3} end

print(("a convolutional network: %d images to learn from, %d held out\n")
  :format(#train, #test))

local total, net, curve = 0, nil, nil
for _, seed in ipairs(seeds) do
  la.manual_seed(seed)
  net = Net()
  local start = os.clock()
  curve = fit(net, seed)
  local spent, hits = os.clock() - start, accuracy(net)
  print(("  seed %d: %.4f of the held-out digits are read, %.2f s of work")
    :format(seed, hits, spent))
  total = total + hits
end
local mean = total / #seeds
print(("  mean %.4f\n"):format(mean))
print(plot.line(la.tensor(curve):log10(), {height = 8,
  title = ("log10 of the loss, seed %d, by epoch"):format(seeds[#seeds])}))

local guess, truth, shown = read(net)
local wrong = rows(guess:ne(truth))
print(("\n%d of %d are read wrongly"):format(#wrong, #test)
  .. (#wrong > 0 and "; one of them:\n" or ""))
if #wrong > 0 then
  local k = wrong[1]:item()
  print(plot.image(shown[k][1], {indent = "    "}))
  print(("    a %d, read as %d"):format(truth[k]:item() - 1,
    guess[k]:item() - 1))
end

if weights then
  la.save(net:state_dict(), weights)
  local again = Net()
  again:load_state_dict(la.load(weights))
  assert((read(again)) == guess, "the loaded network reads otherwise")
  print("\nweights saved to " .. weights .. " and loaded again")
end
assert(mean >= 0.985 or #seeds < 3, "the mean should be at least 0.985")
