-- lunarray.plot.statistics: what figures show of many numbers.
local la = require "lunarray"
local axis = require "lunarray.plot.axis"
local ticks = require "lunarray.plot.ticks"

local statistics = {}

local float64 = {dtype = "float64"}

-- The numbers that an axis can show.
local function finite(t) return t[t:abs():le(axis.MOST)] end

-- The smallest distance of different positions, or 1.
function statistics.least_step(x)
  local v = finite(x)
  if v:numel() < 2 then return 1 end
  local d = v:sort():diff()
  d = d[d:gt(0)]
  return d:numel() > 0 and d:min():item() or 1
end

-- ---- histograms ----

local MOST_BINS = 10000

-- As NumPy's "auto": the narrower of the bins of Sturges, and of Freedman and
-- Diaconis.
local function automatic(v, low, high)
  local n = v:numel()
  if n == 0 or low == high then return 1 end
  local width = (high - low) / (math.log(n, 2) + 1)
  local q = v:quantile(la.tensor({0.25, 0.75}, float64)):totable()
  local other = 2 * (q[2] - q[1]) / n ^ (1 / 3)
  if other > 0 then width = math.min(width, other) end
  return math.min(math.max(math.ceil((high - low) / width), 1), 200)
end

-- The edges of bins for all series together: 'bins' is nil, a number of equal
-- ones, or a list of edges.
function statistics.edges(list, bins, range)
  if type(bins) == "table" or type(bins) == "userdata" then
    local arguments = require "lunarray.plot.arguments"
    local t = arguments.series("hist: bins", bins)
    if t:numel() < 2 or not t:isfinite():all()
      or not t:diff():gt(0):all() then
      error("hist: bins: at least two edges that increase expected", 0)
    end
    return t
  end
  if bins ~= nil and not (math.type(bins) and bins >= 1 and bins <= MOST_BINS
    and bins == math.floor(bins)) then
    error(("hist: bins: an integer from 1 to %d or a list of edges expected")
      :format(MOST_BINS), 0)
  end
  local v = finite(la.cat(#list > 0 and list or {la.zeros(0, float64)}, 1))
  local low, high = 0, 1
  if range then low, high = math.min(range[1], range[2]),
    math.max(range[1], range[2])
  elseif v:numel() > 0 then low, high = v:min():item(), v:max():item() end
  if low == high then low, high = low - 0.5, high + 0.5 end
  if range then v = v[v:ge(low):logical_and(v:le(high))] end
  local n = math.tointeger(bins or automatic(v, low, high))
  local part = la.arange(n + 1, float64) / n
  return part * high + (1 - part) * low
end

-- Left and right edges and how many values fall between; the last bin has its
-- right edge. density: parts per unit of the axis.
function statistics.counts(t, edges, density)
  local n = edges:numel()
  local left, right = edges[{{1, n - 1}}], edges[{{2, n}}]
  local v = finite(t)
  v = v[v:ge(edges[1]):logical_and(v:le(edges[n]))]
  local at = (edges:searchsorted(v, {right = true}) - 1):clamp(1, n - 1)
  local counts = la.zeros(n - 1, float64)
  if v:numel() > 0 then
    counts = counts:index_add(1, at, la.ones(v:numel(), float64))
  end
  if density and v:numel() > 0 then
    counts = counts / (v:numel() * (right - left))
  end
  return left, right, counts
end

-- ---- boxes ----

-- Quartiles (linear between values), whiskers to the last values within 1.5
-- times their distance (Tukey), and what lies beyond. Fields are nil where
-- there are no values.
function statistics.box(t)
  local v = finite(t)
  local box = {values = v, outliers = {}}
  if v:numel() == 0 then return box end
  local q = v:quantile(la.tensor({0.25, 0.5, 0.75}, float64)):totable()
  box.q1, box.median, box.q3 = q[1], q[2], q[3]
  local reach = 1.5 * (q[3] - q[1])
  local near = v:ge(q[1] - reach):logical_and(v:le(q[3] + reach))
  box.low = math.min(v[near]:min():item(), q[1])
  box.high = math.max(v[near]:max():item(), q[3])
  box.outliers = v[near:logical_not()]:totable()
  return box
end

-- ---- contours ----

-- Heights: a list of numbers, or about so many (8) nice ones.
function statistics.levels(z, levels)
  if type(levels) == "table" or type(levels) == "userdata" then
    local arguments = require "lunarray.plot.arguments"
    local t = arguments.series("contour: levels", levels)
    return finite(t):sort():totable()
  end
  if levels ~= nil and not (math.type(levels) and levels >= 1
    and levels <= 1000) then
    error("contour: levels: a number from 1 to 1000 or a list expected", 0)
  end
  local v = finite(z)
  if v:numel() == 0 then return {} end
  local low, high = v:min():item(), v:max():item()
  if not (high > low) then return {} end
  return ticks.of(low, high, levels or 8)
end

return statistics
