-- lunarray.plot.ticks: which numbers stand on an axis, and how they are
-- written.
--
-- Linear axes: the extended algorithm of Talbot, Lin and Hanrahan, "An
-- Extension of Wilkinson's Algorithm for Positioning Tick Labels on Axes", IEEE
-- TVCG 16 (2010), without its legibility, which is the same for all labels
-- here. A step is a number of NICE times a power of ten; what is best has the
-- highest sum of simplicity, coverage and density, and the search leaves a
-- loop as soon as the rest of it can't do better.
local numbers = require "lunarray.numbers"

local ticks = {}

local NICE = {1, 5, 2, 2.5}
local SIMPLE, COVER, DENSE, LEGIBLE = 0.25, 0.2, 0.5, 0.05

local abs, ceil, floor, huge = math.abs, math.ceil, math.floor, math.huge

local function log10(x) return math.log(x, 10) end

-- ---- the scores ----

-- A step of 2.5 writes a decimal at whole numbers too, only for every second
-- one: it counts less than 25 and 0.25.
local function simplicity(at, skip, first, last, step)
  local rest = first % step
  local zero = (rest < 1e-10 * step or step - rest < 1e-10 * step)
    and first <= 0 and last >= 0
  return 1 - (at - 1) / (#NICE - 1) - skip + (zero and 1 or 0)
    - (step == 2.5 and 0.7 or 0)
end

local function most_simplicity(at, skip)
  return 1 - (at - 1) / (#NICE - 1) - skip + 1
end

local function coverage(low, high, first, last)
  local tenth = 0.1 * (high - low)
  return 1 - 0.5 * (((high - last) / tenth) ^ 2 + ((low - first) / tenth) ^ 2)
end

local function most_coverage(low, high, span)
  local range = high - low
  if span <= range then return 1 end
  return 1 - ((span - range) / 2 / (0.1 * range)) ^ 2
end

local function density(count, wanted, low, high, first, last)
  local r = (count - 1) / (last - first)
  local rt = (wanted - 1) / (math.max(last, high) - math.min(first, low))
  return 2 - math.max(r / rt, rt / r)
end

local function most_density(count, wanted)
  if count < wanted then return 1 end
  return 2 - (count - 1) / (wanted - 1)
end

local function total(s, c, d)
  return SIMPLE * s + COVER * c + DENSE * d + LEGIBLE
end

-- ---- the search ----

-- Steps of NICE[at] * skip times powers of ten, for 'count' ticks; the best so
-- far is in 'best'.
local function try_count(best, low, high, wanted, at, skip, count)
  local dm = most_density(count, wanted)
  local sm = most_simplicity(at, skip)
  local delta = (high - low) / (count + 1) / skip / NICE[at]
  for z = ceil(log10(delta)), huge do
    local step = skip * NICE[at] * 10.0 ^ z
    local cm = most_coverage(low, high, step * (count - 1))
    if total(sm, cm, dm) < best.score then return end
    local from = floor(high / step) * skip - (count - 1) * skip
    local to = ceil(low / step) * skip
    for start = from, to do
      local first = start * (step / skip)
      local last = first + step * (count - 1)
      local score = total(simplicity(at, skip, first, last, step),
        coverage(low, high, first, last),
        density(count, wanted, low, high, first, last))
      if score > best.score then
        best.score, best.count = score, count
        best.start, best.unit, best.skip = start, NICE[at], skip
        best.power = z
      end
    end
  end
end

local function try_nice(best, low, high, wanted, at, skip)
  for count = 2, huge do
    local dm = most_density(count, wanted)
    if total(most_simplicity(at, skip), 1, dm) < best.score then return end
    try_count(best, low, high, wanted, at, skip, count)
  end
end

-- q * k * 10^power without the error of a negative power.
local function scaled(x, power)
  if power >= 0 then return x * 10.0 ^ power end
  return x / 10.0 ^ -power
end

-- The best labels of low..high (low < high, finite) when about 'wanted' fit: a
-- list of evenly spaced numbers, which may lie a little outside, and the step.
function ticks.linear(low, high, wanted)
  wanted = math.max(wanted, 2)
  local best = {score = -2}
  for skip = 1, huge do
    if total(most_simplicity(1, skip), 1, 1) < best.score then break end
    for at = 1, #NICE do
      if total(most_simplicity(at, skip), 1, 1) >= best.score then
        try_nice(best, low, high, wanted, at, skip)
      end
    end
  end
  local list = {}
  for k = 0, best.count - 1 do
    list[k + 1] = scaled((best.start + k * best.skip) * best.unit, best.power)
  end
  return list, scaled(best.unit * best.skip, best.power)
end

local function inside(list, low, high)
  local slack, out = (high - low) * 1e-9, {}
  for _, v in ipairs(list) do
    if v >= low - slack and v <= high + slack then
      out[#out + 1] = v == 0 and 0.0 or v
    end
  end
  return out
end

-- Powers of ten, every so many; below two decades 1, 2 and 5 of each; where
-- even those are too few the linear ones.
local function logarithmic(low, high, wanted)
  local a, b = log10(low), log10(high)
  local list = {}
  if b - a >= 2 then
    local stride = math.max(ceil((b - a) / math.max(wanted, 1)), 1)
    for k = ceil(a - 1e-9), floor(b + 1e-9) do
      if k % stride == 0 then list[#list + 1] = scaled(1.0, k) end
    end
    return list
  end
  for k = floor(a), floor(b + 1e-9) do
    for _, m in ipairs{1.0, 2.0, 5.0} do list[#list + 1] = scaled(m, k) end
  end
  list = inside(list, low, high)
  if #list >= 3 then return list end
  return inside((ticks.linear(low, high, wanted)), low, high)
end

-- The labels within low..high of an axis, about 'wanted' of them.
function ticks.of(low, high, wanted, log)
  if log then return logarithmic(low, high, wanted) end
  return inside((ticks.linear(low, high, wanted)), low, high)
end

-- Small ticks between those of a logarithmic axis: 2 to 9 of each decade; none
-- where there are too many decades.
function ticks.minor(low, high)
  local a, b, list = floor(log10(low)), floor(log10(high)), {}
  if b - a > 8 then return list end
  for k = a, b do
    for m = 2, 9 do list[#list + 1] = scaled(m + 0.0, k) end
  end
  return inside(list, low, high)
end

-- ---- how numbers are written ----

local function shorten(text)
  local digits, power = text:match("^(.-)e([+-]%d+)$")
  if digits:find(".", 1, true) then digits = digits:gsub("%.?0+$", "") end
  return ("%se%d"):format(digits, tonumber(power))
end

-- 'v' in the fewest digits that tell it from others 'digits' digits apart.
local function plain(v)
  local text = numbers.format("%.6g", v)
  if text:find("e", 1, true) then return shorten(text) end
  return text
end

-- Texts of a list of ticks: as many decimals as their step needs, with a power
-- of ten where numbers are large or small.
function ticks.labels(list, log)
  local out, most, step = {}, 0, huge
  for k, v in ipairs(list) do
    most = math.max(most, abs(v))
    if k > 1 then step = math.min(step, abs(v - list[k - 1])) end
  end
  if log or #list < 2 or step == 0 then
    for k, v in ipairs(list) do
      local e = v ~= 0 and floor(log10(abs(v)) + 1e-9) or 0
      out[k] = log and (e > 5 or e < -3) and shorten(numbers.format("%.3e", v))
        or plain(v)
    end
    return out
  end
  -- The last digit of the step, and of where it starts: 0.25 has two decimals.
  local power = floor(log10(step) + 1e-9)
  local function exact(v)
    local units = scaled(v, -power)
    return abs(units - floor(units + 0.5)) <= 1e-6 * math.max(1, abs(units)
      * 1e-9)
  end
  local least = power - 3
  while power > least and not (exact(step) and exact(list[1])) do
    power = power - 1
  end
  local top = floor(log10(most) + 1e-9)
  for k, v in ipairs(list) do
    if power >= -5 and top < 6 then
      out[k] = numbers.format(("%%.%df"):format(math.max(-power, 0)), v)
    elseif v == 0 then out[k] = "0"
    else
      local e = floor(log10(abs(v)) + 1e-9)
      out[k] = shorten(numbers.format(("%%.%de"):format(
        math.min(math.max(e - power, 0), 17)), v))
    end
  end
  return out
end

return ticks
