-- lunarray.signal: the functions of la.signal that are no operations. They are
-- made of operations, so gradients, batches and devices are theirs.
local signal = {}

for _, part in ipairs{"convolve", "design", "filters", "peaks",
  "spectral"} do
  for name, f in pairs(require("lunarray.signal." .. part)) do
    signal[name] = f
  end
end

return signal
