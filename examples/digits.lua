-- Handwritten digits with a softmax classifier, written with tensor operations.
--
-- 1,797 images of 8 x 8 pixels (UCI "Optical Recognition of Handwritten
-- Digits"). A fifth is held out; the rest trains a linear map from pixels to
-- ten classes by gradient descent with momentum. Run by `make demo`.

local la = require "lunarray"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local SEEDS, EPOCHS, RATE, MOMENTUM, DECAY = {1, 2, 3}, 150, 0.5, 0.9, 1e-4
local out = io.stdout
-- A bar that redraws itself is for terminals; logs get its last state only.
local live = os.getenv("TERM") and os.getenv("TERM") ~= "dumb"
  and not os.getenv("CI")

local images = la.load(here .. "/data/digits_images.npy"):double()
local labels = la.load(here .. "/data/digits_labels.npy"):long()
images = (images / images:max()):reshape(#images, 64)
labels = labels + 1                                   -- classes count from 1

-- A bias column, so that one matrix holds all parameters.
local x = la.cat({images, la.ones(#images, 1, {dtype = "float64"})}, 2)
local classes = la.range(10)
local onehot = labels:unsqueeze(2):eq(classes):double()

local function bar(done, total, loss)
  local width = 30
  local filled = done * width // total
  return ("\r  [%s%s] %3d%%  loss %.4f"):format(("#"):rep(filled),
    ("."):rep(width - filled), done * 100 // total, loss)
end

-- Train on the rows 'train'; returns the weights (65 x 10).
local function fit(train, seed)
  local xs, ys = x:index_select(1, train), onehot:index_select(1, train)
  local n = #xs
  local w = la.zeros(65, 10, {dtype = "float64"})
  local v = la.zeros_like(w)
  local loss
  for epoch = 1, EPOCHS do
    local logp = xs:mm(w):log_softmax(2)
    loss = -(logp * ys):sum():item() / n
    local grad = xs:t():mm(logp:exp() - ys) / n + w * DECAY
    v:mul_(MOMENTUM):add_(grad)
    w:add_(v, {alpha = -RATE})
    if live and epoch % 5 == 0 then
      out:write(bar(epoch, EPOCHS, loss))
      out:flush()
    end
  end
  out:write(bar(EPOCHS, EPOCHS, loss), ("  seed %d\n"):format(seed))
  return w
end

local function confusion(truth, guess)
  local m = la.zeros(10, 10, {dtype = "int64"})
  m:index_put_({truth, guess}, la.ones(#truth, {dtype = "int64"}),
    {accumulate = true})
  print("\nconfusion (rows: the digit, columns: what was read)\n")
  print("      " .. ("%4d"):rep(10):format(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
  for i, row in m:iter() do
    print(("  %2d  "):format(i - 1) .. ("%4d"):rep(10)
      :format(table.unpack(row:totable())))
  end
end

-- An image in the terminal: two characters a pixel, darker is more ink.
local function draw(image)
  local ink = " .:-=+*#%@"
  for _, row in image:reshape(8, 8):iter() do
    local line = {}
    for _, p in ipairs(row:totable()) do
      local k = math.floor(p * 9 + 0.5) + 1
      line[#line + 1] = ink:sub(k, k):rep(2)
    end
    print("    " .. table.concat(line))
  end
end

print(("digits: %d images, lunarray %s on %s, %d thread(s)\n"):format(#images,
  la._VERSION, la.cpu_capability(), la.get_num_threads()))

local accuracy, last = {}, nil
for _, seed in ipairs(SEEDS) do
  la.manual_seed(seed)
  local order = la.randperm(#x)
  local held = #x // 5
  local test, train = order[{{1, held}}], order[{{held + 1, #x}}]
  local w = fit(train, seed)
  local guess = x:index_select(1, test):mm(w):argmax(2)
  local truth = labels:index_select(1, test)
  accuracy[#accuracy + 1] = guess:eq(truth):double():mean():item()
  print(("  accuracy on the held-out fifth: %.4f"):format(accuracy[#accuracy]))
  last = {w = w, test = test, guess = guess, truth = truth}
end

confusion(last.truth, last.guess)

local wrong = last.guess:ne(last.truth):nonzero():reshape(-1)
print(("\n%d of %d were read wrongly; the first:"):format(#wrong, #last.test))
for k = 1, math.min(3, #wrong) do
  local i = wrong[k]:item()
  print(("\n    a %d, read as %d"):format(last.truth[i]:item() - 1,
    last.guess[i]:item() - 1))
  draw(images[last.test[i]:item()])
end

local file = arg and arg[1] or "digits_weights.npy"
la.save(last.w, file)
assert(la.load(file) == last.w, "the saved weights differ")
print(("\nweights saved to %s"):format(file))

local mean = la.tensor(accuracy):mean():item()
print(("mean accuracy of %d seeds: %.4f"):format(#accuracy, mean))
assert(mean >= 0.96, "the mean accuracy should be at least 0.96")
