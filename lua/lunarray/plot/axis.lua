-- lunarray.plot.axis: from numbers to parts of an axis. axis:at(v) is 0 at its
-- start and 1 at its end, for a number or a tensor; on a logarithmic axis what
-- is not positive is NaN or -inf, and drawn nowhere.
local dates = require "lunarray.plot.dates"
local ticks = require "lunarray.plot.ticks"

local axis = {}

local Axis = {}
Axis.__index = Axis

axis.MOST = 1e300       -- larger numbers count as infinite: ranges stay finite

local function log10(v)
  if type(v) ~= "userdata" then return math.log(v, 10) end
  return v:log10()
end

function Axis:at(v)
  if self.log then
    v = (log10(v) - self.from) * (1 / (self.to - self.from))
  else
    v = (v * self.unit - self.from) * (1 / (self.to - self.from))
  end
  if self.flip then return 1 - v end
  return v
end

-- Numbers that an axis can show: wider where all are one number, or so near to
-- each other that float64 has none between.
local function widen(low, high, log)
  if log then
    if low == high then return low / 2, high * 2 end
    return low, high
  end
  local least = math.max(math.abs(low), math.abs(high)) * 4e-15
  if low == high then
    local half = math.max(0.5, math.abs(low) * 0.05)
    if math.abs(low) < 1 and low ~= 0 then half = math.abs(low) * 0.5 end
    return low - math.max(half, 1e-300), high + math.max(half, 1e-300)
  elseif high - low < least or high - low < 1e-300 then
    least = math.max(least, 1e-300)
    return low - least, high + least
  end
  return low, high
end

-- options: log, flip, tight (no margin), zero (no margin where an end is 0),
-- fixed (low and high are the user's), margin (a part of the range), ticks
-- (the user's), whole (integers only).
function axis.new(low, high, options)
  local o = options or {}
  if not (low <= high) then
    low, high = o.log and 1 or 0, o.log and 10 or 1
  end
  local flip = o.flip
  if o.fixed then
    if low > high then low, high, flip = high, low, not flip end
  end
  low, high = widen(low, high, o.log)
  if not o.fixed and not o.tight and o.margin then
    if o.log then
      local f = (high / low) ^ o.margin
      low, high = low / f, high * f
    else
      local more = (high - low) * o.margin
      local floor = o.zero and low == 0
      local ceiling = o.zero and high == 0
      low = floor and low or low - more
      high = ceiling and high or high + more
    end
  end
  -- A unit keeps squares and differences away from the limits of float64.
  local unit = 1
  local size = math.max(math.abs(low), math.abs(high))
  if size > 1e150 or size < 1e-150 then unit = 1 / size end
  return setmetatable({low = low, high = high, log = o.log, flip = flip,
    unit = unit, from = o.log and log10(low) or low * unit,
    to = o.log and log10(high) or high * unit, ticks = o.ticks,
    whole = o.whole, time = o.time,
    named = o.ticks and type(o.ticks[1]) == "string"}, Axis)
end

local function inside(self, v)
  local p = v == v and self:at(v)
  return p and p >= -1e-9 and p <= 1 + 1e-9
end

-- Integers of low..high, evenly spaced.
local function integers(low, high, wanted)
  local list, first = {}, math.ceil(low)
  local step = math.max(1, math.ceil((high - first) / math.max(wanted, 1)))
  for k = first, math.floor(high), step do list[#list + 1] = k + 0.0 end
  return list
end

-- The ticks, about 'wanted': a list of {value, text}.
function Axis:labels(wanted)
  local out, own = {}, self.ticks
  if self.named then
    local stride = math.max(1, math.ceil(#own / math.max(wanted * 2, 1)))
    for k = 1, #own, stride do
      if inside(self, k) then out[#out + 1] = {k, own[k]} end
    end
    return out
  end
  if self.time and not own then
    local list
    for more = 0, 4 do
      list = dates.labels(self.low, self.high, wanted + more)
      if #list > 1 then break end
    end
    return list
  end
  local list
  for more = 0, 4 do      -- two numbers tell the scale
    list = ticks.of(self.low, self.high, wanted + more, self.log)
    if #list > 1 then break end
  end
  if own then
    list = {}
    for _, v in ipairs(own) do
      if type(v) == "number" and inside(self, v) then list[#list + 1] = v end
    end
  end
  if self.whole and not own then
    local some = {}
    for _, v in ipairs(list) do
      if v == math.floor(v) then some[#some + 1] = v end
    end
    list = #some > 1 and some or integers(self.low, self.high, wanted)
  end
  for k, text in ipairs(ticks.labels(list, self.log)) do
    out[k] = {list[k], text}
  end
  return out
end

function Axis:minor()
  return self.log and ticks.minor(self.low, self.high) or {}
end

return axis
