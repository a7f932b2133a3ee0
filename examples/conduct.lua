-- What is inside a plate? It is heated in some spots, and thermometers on a
-- coarse grid tell its temperature now and then. Gradients through the
-- simulation find how well each point of it conducts. Left the truth, right
-- what was found.
--
--   lua5.4 examples/conduct.lua [rounds [size [picture.png]]]
local la = require "lunarray"
local optim = require "lunarray.optim"
local plot = require "lunarray.plot"

local rounds = tonumber(arg and arg[1]) or 120
local n = tonumber(arg and arg[2]) or 32
local picture = arg and arg[3]
local STEPS, LOOKS = 80, 8
la.manual_seed(6)

-- The truth: a bar that conducts well and a disc that hardly does.
local at = la.linspace(-1, 1, n)
local y, x = at:unsqueeze(2), at:unsqueeze(1)
local disc = ((x - 0.3):square() + (y + 0.35):square()):lt(0.1)
local bar = (y - 0.45 + 0.2 * x):abs():lt(0.13):logical_and(x:abs():lt(0.8))
local truth = (la.full({n, n}, 0.1) + 0.13 * bar - 0.085 * disc):clamp_min(0.01)

-- Temperatures at the thermometers, LOOKS steps apart, of a plate that conducts
-- k; heat flows through the middle between two points.
local every = {1, -1, 2}
local spots = la.image.resize(la.rand(1, n // 4, n // 4):gt(0.5):float(), n, n,
  {mode = "nearest"})[1]
local function measured(k)
  local right = (k[{{}, {2, -1}}] + k[{{}, {1, -2}}]) / 2
  local down = (k[{{2, -1}}] + k[{{1, -2}}]) / 2
  local t, seen = spots, {}
  for step = 1, STEPS do
    local a = right * t:diff(1, 2)
    local b = down * t:diff(1, 1)
    t = t + la.pad(a, {0, 1}) - la.pad(a, {1, 0})
      + la.pad(b, {0, 0, 0, 1}) - la.pad(b, {0, 0, 1, 0})
    if step % LOOKS == 0 then seen[#seen + 1] = t[{every, every}] end
  end
  return la.stack(seen)
end

local noise = 0.002
local seen = measured(truth)
seen = seen + noise * la.randn(seen:size())

local depth = la.full({n, n}, math.log(0.1)):requires_grad_()   -- log of k
local opt = optim.Adam({depth}, {lr = 0.06})
local first, last
for _ = 1, rounds do
  local k = depth:exp():clamp_max(0.24)
  local miss = ((measured(k) - seen) / noise):square():mean()
  -- Neighbours are alike, but for edges.
  local edges = depth:diff(1, 1):abs():mean() + depth:diff(1, 2):abs():mean()
  opt:zero_grad();
  (miss + 3 * edges):backward()
  opt:step()
  first, last = first or miss:item(), miss:item()
end

local found = depth:detach():exp()
local function error_of(k) return (k - truth):abs():mean():item() end
local before, after = error_of(la.full_like(truth, 0.1)), error_of(found)
print(("temperatures: error %.0f, then %.1f; conductivity: %.4f, then %.4f")
  :format(first, last, before, after))
if picture then
  local function panel(k, title)
    return plot.heatmap(k:flip(1), {x = {-1, 1}, y = {-1, 1}, low = 0,
      high = 0.24, colormap = "magma", title = title, aspect = "equal"})
  end
  plot.grid{panel(truth, "How the plate conducts"),
    panel(found, "Found from temperatures"), columns = 2}:save(picture,
    {width = 960, height = 440, scale = 1})
end
return {first = first, last = last, before = before, after = after}
