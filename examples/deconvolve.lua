-- Deconvolution: a spectrometer smears each line over many samples and adds
-- noise. Wiener's filter undoes what can be undone, and the lines are counted.
--
--     lunarray examples/deconvolve.lua [noise [picture.png]]
local la = require "lunarray"
local plot = require "lunarray.plot"

local noise = tonumber(arg and arg[1]) or 0.005
local N = 512

-- Lines: where and how high.
local lines = {60, 75, 160, 176, 190, 300, 420, 436}
local heights = {1.0, 0.7, 0.5, 1.0, 0.6, 0.9, 0.8, 0.8}
local truth = la.zeros(N, {dtype = "float64"})
for k, at in ipairs(lines) do truth[at] = heights[k] end

-- The instrument's answer to one line: wider than the lines are apart.
local response = la.signal.window("gaussian", 61, {std = 6, sym = true,
  dtype = "float64"})
response = response / response:sum()

la.manual_seed(2)
local seen = la.signal.convolve(truth, response, {mode = "same"})
seen = seen + noise * seen:max() * la.randn(N, {dtype = "float64"})

-- Wiener: conj(H) / (|H|^2 + noise / signal), by the powers of both. The
-- response is centred at sample 1, so that nothing is shifted.
local padded = la.zeros(N, {dtype = "float64"})
padded[{{1, 61}}] = response
local H = la.fft.rfft(padded:roll(-30))
local noise_power = (noise * seen:max()) ^ 2
local signal_power = (truth:square():sum() / N)
local ratio = noise_power / signal_power
local G = H:conj() / (H:abs():square() + ratio)
local restored = la.fft.irfft(la.fft.rfft(seen) * G, N)

print "what the instrument shows"
print(plot.line(seen, {height = 8}))
print "after the filter"
print(plot.line(restored, {height = 8}))

local function count(x)
  local at = la.signal.find_peaks(x, {prominence = 0.3 * x:max():item()})
  return at
end
local before, after = count(seen), count(restored)
print(("%d lines; %d peaks before, %d after"):format(#lines, before:numel(),
  after:numel()))
if arg and arg[2] then
  local function panel(y, title)
    local at = la.tensor(lines):double()
    local fig = plot.line(y / y:max(), {title = title, ylim = {-0.5, 1.1},
      linewidth = 2, ylabel = "of the largest", color = 1})
    return fig:vline(at, {color = "gray", style = ":", label = "true lines"})
      :set{legend = y == seen}
  end
  plot.grid{panel(seen, "What the instrument shows"),
    panel(restored, "After Wiener's filter"):set{xlabel = "sample"},
    columns = 1}:save(arg[2], {width = 800, height = 560, scale = 1})
end
return after
