-- lunarray.signal.peaks: find_peaks by conditions, over the operations that
-- find maxima and measure them.
local la = require "lunarray"
local common = require "lunarray.signal.common"
local numbers = require "lunarray.numbers"

local peaks = {}

local fail = common.fail

-- {min, max} of a condition: a number or tensor is the least; a tensor has a
-- limit for each sample.
local function limits(what, value, at)
  local low, high = value, nil
  if type(value) == "table" then low, high = value[1], value[2] end
  local function one(limit)
    if common.is_tensor(limit) and limit.ndim == 1 then return limit[at] end
    if limit == nil or type(limit) == "number" or common.is_tensor(limit) then
      return limit
    end
    fail("find_peaks", "%s: a number or {min, max} expected, got %s", what,
      type(limit))
  end
  return one(low), one(high)
end

-- Keep what the mask says of everything found so far.
local function keep(found, mask)
  for key, t in pairs(found) do found[key] = t:masked_select(mask) end
end

local function within(found, what, value, low_of, high_of)
  local low, high = limits(what, value, found.positions)
  local mask
  if low then mask = low_of:ge(low) end
  if high then
    local below = high_of:le(high)
    mask = mask and mask:logical_and(below) or below
  end
  if mask then keep(found, mask) end
end

local conditions = {}

function conditions.plateau_size(found, _, o)
  local sizes = found.right_edges - found.left_edges + 1
  found.plateau_sizes = sizes
  within(found, "plateau_size", o.plateau_size, sizes, sizes)
end

function conditions.height(found, x, o)
  local heights = x[found.positions]
  found.peak_heights = heights
  within(found, "height", o.height, heights, heights)
end

function conditions.threshold(found, x, o)
  local at = found.positions
  local left, right = x[at] - x[at - 1], x[at] - x[at + 1]
  found.left_thresholds, found.right_thresholds = left, right
  within(found, "threshold", o.threshold, left:minimum(right),
    left:maximum(right))
end

function conditions.distance(found, x, o)
  if type(o.distance) ~= "number" or o.distance < 1 then
    fail("find_peaks", "distance: a number of at least 1 expected, got %s",
      numbers.text(o.distance))
  end
  local order = x[found.positions]:argsort(1, {stable = true})
  keep(found, la.signal_peaks_apart(found.positions, order, o.distance))
end

function conditions.prominence(found, x, o)
  found.prominences, found.left_bases, found.right_bases =
    la.signal_peak_prominences(x, found.positions, {wlen = o.wlen or nil})
  if o.prominence then
    within(found, "prominence", o.prominence, found.prominences,
      found.prominences)
  end
end

function conditions.width(found, x, o)
  local w, heights, left, right = la.signal_peak_widths(x, found.positions,
    o.rel_height, {prominences = found.prominences,
      left_bases = found.left_bases, right_bases = found.right_bases})
  found.widths, found.width_heights = w, heights
  found.left_ips, found.right_ips = left, right
  within(found, "width", o.width, w, w)
end

local defaults = {height = false, threshold = false, distance = false,
  prominence = false, width = false, wlen = false, rel_height = 0.5,
  plateau_size = false}

-- Positions of the peaks that fulfil the conditions, and their properties.
function peaks.find_peaks(x, options)
  if not common.is_tensor(x) or x.ndim ~= 1 then
    fail("find_peaks", "x: a signal of 1 dim expected, got %s",
      common.is_tensor(x) and x.ndim .. "-D" or type(x))
  end
  if x:is_complex() then
    fail("find_peaks", "x: real numbers expected, got %s", x.dtype)
  end
  local o = common.options("find_peaks", options, defaults)
  local v = x:detach()
  if not v:is_floating_point() then v = v:double() end
  local found = {}
  found.positions, found.left_edges, found.right_edges =
    la.signal_local_maxima(v)
  if o.plateau_size then conditions.plateau_size(found, v, o)
  else found.left_edges, found.right_edges = nil, nil end
  if o.height then conditions.height(found, v, o) end
  if o.threshold then conditions.threshold(found, v, o) end
  if o.distance then conditions.distance(found, v, o) end
  if o.prominence or o.width then conditions.prominence(found, v, o) end
  if o.width then conditions.width(found, v, o) end
  local positions = found.positions
  found.positions = nil
  return positions, found
end

return peaks
