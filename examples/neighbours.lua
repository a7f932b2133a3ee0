-- Handwritten digits told apart by their k nearest neighbours.
--
--   lua5.4 examples/neighbours.lua [k]

local la = require "lunarray"

local k = tonumber(arg and arg[1]) or 3
local images = la.load "examples/data/digits_images.npy":to("float32")
local labels = la.load "examples/data/digits_labels.npy":to("int64")
local x = images:reshape(images:size(1), -1)
local n = x:size(1) * 4 // 5
local known, asked = x[{{1, n}}], x[{{n + 1, -1}}]
local names, truth = labels[{{1, n}}], labels[{{n + 1, -1}}]

-- All distances at once, the k least of each row, and the label that most of
-- those have. Indices count from one, so they index the labels as they are.
local distances = la.cdist(asked, known)
local _, nearest = distances:topk(k, {largest = false})
local votes = names[nearest:flatten()]:reshape(-1, k)
local guess = votes:mode(2)
local right = guess:eq(truth):to("float32"):mean():item()

print(("%d digits named by the %d nearest of %d: %.1f %% right"):format(
  asked:size(1), k, n, right * 100))
local wrong = guess:ne(truth):nonzero():flatten()
print(("%d are wrong; the first one is a %d and looks like a %d"):format(
  wrong:numel(), truth[wrong[1]]:item(), guess[wrong[1]]:item()))

return {right = right}
