-- lunarray.plot.dates: ticks of an axis of time, in seconds since 1970 (UTC).
--
-- The civil calendar by days is that of Howard Hinnant, "chrono-Compatible
-- Low-Level Date Algorithms" (2013).
local dates = {}

local floor = math.floor

-- Year, month and day of a day since 1970-01-01.
function dates.civil(days)
  local z = days + 719468
  local era = z // 146097
  local doe = z - era * 146097
  local yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
  local doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
  local mp = (5 * doy + 2) // 153
  local month = mp < 10 and mp + 3 or mp - 9
  return yoe + era * 400 + (month <= 2 and 1 or 0), month,
    doy - (153 * mp + 2) // 5 + 1
end

-- The day since 1970-01-01 of a date.
function dates.days(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = year // 400
  local yoe = year - era * 400
  local doy = (153 * (month > 2 and month - 3 or month + 9) + 2) // 5 + day - 1
  return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
end

-- Seconds since 1970 of "2024-05-17", "2024-05-17 12:30[:15[.5]]" (T for the
-- blank, Z at the end); nil for other texts.
function dates.parse(text)
  local y, m, d, rest = text:match("^%s*(%-?%d+)%-(%d%d?)%-(%d%d?)(.-)Z?%s*$")
  if not y then return nil end
  y, m, d = math.tointeger(y), math.tointeger(m), math.tointeger(d)
  if m < 1 or m > 12 or d < 1 or d > 31 then return nil end
  local hours, minutes, seconds = 0, 0, 0
  if rest ~= "" then
    local h, n, s = rest:match("^[T ](%d%d?):(%d%d)(.*)$")
    if not h then return nil end
    hours, minutes = tonumber(h), tonumber(n)
    if s ~= "" then
      seconds = tonumber(s:match("^:(%d%d?%.?%d*)$"))
      if not seconds then return nil end
    end
  end
  return dates.days(y, m, d) * 86400.0 + hours * 3600 + minutes * 60 + seconds
end

-- Steps in seconds, and months.
local STEPS = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  10800, 21600, 43200, 86400, 172800, 604800, 1209600}
local MONTHS = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000}
local NAMES = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
  "Oct", "Nov", "Dec"}

local function clock(v, with_seconds)
  local s = v % 86400
  if with_seconds then
    return ("%02d:%02d:%02d"):format(s // 3600, s // 60 % 60, floor(s % 60))
  end
  return ("%02d:%02d"):format(s // 3600, s // 60 % 60)
end

local function by_months(low, high, wanted)
  local range, months = high - low, MONTHS[#MONTHS]
  for _, step in ipairs(MONTHS) do
    if range / (step * 30.44 * 86400) <= wanted then
      months = step
      break
    end
  end
  local out = {}
  local year, month = dates.civil(floor(low / 86400))
  local at = (year * 12 + month - 1) // months * months
  while #out < 1000 do
    local v = dates.days(at // 12, at % 12 + 1, 1) * 86400.0
    if v > high then break end
    if v >= low then
      local text = ("%d"):format(at // 12)
      if months < 12 then
        text = at % 12 == 0 and text or NAMES[at % 12 + 1]
        if #out == 0 and at % 12 ~= 0 then
          text = ("%s %d"):format(text, at // 12)
        end
      end
      out[#out + 1] = {v, text}
    end
    at = at + months
  end
  return out
end

-- The ticks of low..high, about 'wanted': a list of {value, text}.
function dates.labels(low, high, wanted)
  local range = high - low
  if range > wanted * 20 * 86400 then return by_months(low, high, wanted) end
  local step = STEPS[#STEPS]
  for _, one in ipairs(STEPS) do
    if range / one <= wanted then
      step = one
      break
    end
  end
  local out, last = {}, nil
  local first = math.ceil(low / step) * step
  for v = first, high, step do
    local day = floor(v / 86400)
    local _, month, d = dates.civil(day)
    local text
    if step >= 86400 then text = ("%s %d"):format(NAMES[month], d)
    else
      text = clock(v, step < 60)
      -- The day stands where it begins, and at the first tick.
      if day ~= last and (v % 86400 == 0 or not last and range > 86400) then
        text = ("%s %d"):format(NAMES[month], d)
      end
    end
    last = day
    out[#out + 1] = {v + 0.0, text}
  end
  return out
end

return dates
