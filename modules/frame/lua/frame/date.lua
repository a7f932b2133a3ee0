-- lunarray.frame.date: columns of instants. A Date is int64 values since 1970
-- in UTC, of a unit, and the offset at which its fields and texts are seen.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local near = require "lunarray.near"
local C, fail = columns.C, columns.fail

local Date = columns.Date
Date.__name = "lunarray.Date"
local methods = {}

local GAP = math.mininteger
local STORED = {"day", "second", "millisecond", "microsecond", "nanosecond"}
local FINER = {}
for k, unit in ipairs(STORED) do FINER[unit] = k end
local STEPS = columns.set "week month quarter year hour minute"
for _, unit in ipairs(STORED) do STEPS[unit] = true end
local SECONDS = {week = 604800, day = 86400, hour = 3600, minute = 60,
  second = 1, millisecond = 1e-3, microsecond = 1e-6, nanosecond = 1e-9}

-- ---- units and offsets ----

local function check_unit(word, unit, set)
  if type(unit) == "string" and set[unit] then return unit end
  local meant = type(unit) == "string" and near.nearest(unit, set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list, C.before)
  fail("%s: unit: %s expected, got %s%s", word, table.concat(list, ", "),
    type(unit) == "string" and "'" .. unit .. "'" or columns.type_of(unit),
    meant and (" (did you mean '%s'?)"):format(meant) or "")
end

-- "+02:00" as minutes.
local function minutes_of(word, text)
  local sign, hours, minutes
  if type(text) == "string" then
    if text == "Z" or text == "UTC" then return 0 end
    sign, hours, minutes = text:match "^([+-])(%d%d):?(%d?%d?)$"
  end
  local m = sign and 60 * tonumber(hours)
    + (minutes ~= "" and tonumber(minutes) or 0)
  if not m or m >= 1440 or #minutes == 1 then
    fail('%s: an offset such as "+02:00" expected, got %s', word,
      type(text) == "string" and "'" .. text .. "'" or columns.type_of(text))
  end
  return sign == "-" and -m or m
end

local function offset_text(minutes)
  local m = math.abs(minutes)
  return ("%s%02d:%02d"):format(minutes < 0 and "-" or "+", m // 60, m % 60)
end

local function finer(a, b) return FINER[a] >= FINER[b] and a or b end

-- ---- making ----

-- The values as they are; offset in its text's form.
function columns.date_of(values, unit, offset)
  return setmetatable({values = values, unit = unit,
    offset = offset or "+00:00"}, Date)
end

local date_of = columns.date_of

local function minutes(self) return minutes_of("date", self.offset) end

-- The same instants in another unit.
function columns.convert(self, unit)
  if self.unit == unit then return self end
  return date_of(C.date_convert(columns.plain(self.values), self.unit, 0, unit),
    unit, self.offset)
end

-- A Text as dates: each text that occurs is read once. Nil, the row and the
-- text of the first that is none; with 'lenient' those are gaps.
function columns.try_dates(text, o, owner, lenient)
  local from = o.offset and minutes_of(owner, o.offset) or 0
  local codes = columns.plain(text.codes)
  local used = la.bincount(codes + 1, {minlength = #text.categories + 1})
    :totable()
  local list = {}
  for k, v in ipairs(text.categories) do
    list[k] = used[k + 1] > 0 and v or false
  end
  while true do
    local values, b = C.date_parse(list, #list, o.format, from, o.unit)
    if values then
      return date_of(C.take(values, "d", codes - 1), b, o.offset
        and offset_text(from))
    elseif not lenient then
      return nil, codes:eq(b):to "int32":argmax():item(), list[b]
    end
    list[b] = false
  end
end

-- The same; what is no date is an error of 'owner'.
function columns.parse_text(text, o, owner, lenient)
  local d, row, v = columns.try_dates(text, o, owner, lenient)
  if d then return d end
  fail("%s: row %d: '%s' is no date%s", owner, row, v, o.format
    and (" of the format '%s'"):format(o.format) or "")
end

local OPTIONS = columns.set "format unit offset"

-- F.date(list, Text or integers[, {format=, unit=, offset=}])
function columns.new_date(v, options, owner, lenient)
  owner = owner or "date"
  local o = columns.options(owner, options, OPTIONS)
  if o.unit ~= nil then check_unit(owner, o.unit, FINER) end
  if columns.is_date(v) then
    return o.unit and columns.convert(v, o.unit) or v
  elseif columns.is_text(v) then
    return columns.parse_text(v, o, owner, lenient)
  elseif type(v) == "table" and not getmetatable(v) then
    local c = columns.of_list(v, #v, owner)
    if columns.is_text(c) then
      return columns.parse_text(c, o, owner, lenient)
    elseif columns.isna(c):all() then     -- nothing but gaps
      return columns.parse_text(columns.new_text(v), o, owner)
    end
    v = c
  end
  if not columns.is_tensor(v) or v.ndim ~= 1 then
    fail("bad argument #1 to '%s' (a list of texts, Text or integers expected, "
      .. "got %s)", owner, columns.type_of(v))
  end
  local gaps = columns.isna(v)
  if columns.is_float(v) then
    v = la.where(gaps, 0, v:detach())
    if v:ne(v:trunc()):any() then
      fail("%s: integers expected, got fractions", owner)
    end
  end
  local values = v:detach():to "int64"
  if gaps:any() then values = values:masked_fill(gaps, GAP) end
  return date_of(values, o.unit or "second",
    o.offset and offset_text(minutes_of(owner, o.offset)))
end

-- ---- looking ----

function Date:__len() return self.values:size(1) end

local PARTS = columns.set
  "year month day hour minute second weekday yearday week quarter"

-- int64; float64 with NaN where there are gaps.
local function field(self, name)
  local values = columns.plain(self.values)
  local c = C.date_field(values, self.unit, minutes(self), name)
  local gaps = values:eq(GAP)
  if not gaps:any() then return c end
  return c:to "float64":masked_fill(gaps, 0 / 0)
end

local function missing(key)
  local set = {values = true, unit = true, offset = true}
  for name in pairs(methods) do set[name] = true end
  for name in pairs(PARTS) do set[name] = true end
  local meant = near.nearest(tostring(key), set)
  fail("date has no '%s'%s", tostring(key),
    meant and (" (did you mean '%s'?)"):format(meant) or "")
end

local function text_at(self, i)
  return C.date_format(self.values[{{i, i}}]:contiguous(), self.unit,
    minutes(self))[1] or nil
end

function Date:__index(key)
  if type(key) == "string" then
    if PARTS[key] then return field(self, key) end
    if methods[key] then return methods[key] end
    if key:find "^__" then return nil end
    return missing(key)
  elseif math.type(key) == "integer" then
    local n = self.values:size(1)
    if key < 0 then key = key + n + 1 end
    if key < 1 or key > n then return nil end
    return text_at(self, key)
  end
  return columns.pick(self, key)
end

function Date:__newindex(key)
  fail("date: '%s' can't be set: columns are made anew (F.date)",
    tostring(key))
end

function methods:totable()
  local list = C.date_format(columns.plain(self.values), self.unit,
    minutes(self))
  for i = 1, #list do list[i] = list[i] or nil end
  return list
end

function Date:__tostring()
  local n, shown = #self, {}
  for i = 1, math.min(n, 10) do shown[i] = self[i] or "nil" end
  if n > 10 then shown[11] = "..." end
  return ("date[%s]{%s}%s"):format(self.unit, table.concat(shown, ", "),
    n > 10 and (" of %d"):format(n) or "")
end

-- Both in the finer of their units.
local function together(a, b)
  local unit = finer(a.unit, b.unit)
  return columns.convert(a, unit), columns.convert(b, unit)
end

function Date.__eq(a, b)
  if not columns.is_date(a) or not columns.is_date(b) or #a ~= #b then
    return false
  end
  a, b = together(a, b)
  return a.values:equal(b.values)
end

-- ---- texts ----

-- A Text; each different instant is written once.
function methods:format(format)
  if format ~= nil and type(format) ~= "string" then
    fail("bad argument #2 to 'format' (a format expected, got %s)",
      columns.type_of(format))
  end
  local ids, _, first = columns.group({self}, true, false)
  local values = C.take(columns.plain(self.values), "d", first)
  return columns.recode(ids + 1, C.date_format(values, self.unit,
    minutes(self), format))
end

-- ---- steps ----

local function check_count(word, n)
  local i = math.tointeger(n)
  if not i then
    fail("%s: an integer expected, got %s", word, columns.type_of(n))
  end
  return i
end

function methods:floor(unit, n)
  check_unit("floor", unit, STEPS)
  n = n == nil and 1 or check_count("floor", n)
  if n < 1 then fail("floor: steps of at least 1 expected, got %d", n) end
  return date_of(C.date_floor(columns.plain(self.values), self.unit,
    minutes(self), unit, n), self.unit, self.offset)
end

-- The unit that a step of another one needs.
local function unit_for(self, unit)
  if FINER[unit] then return finer(self.unit, unit) end
  return (unit == "hour" or unit == "minute") and finer(self.unit, "second")
    or self.unit
end

function methods:add(n, unit)
  n = check_count("add", n)
  check_unit("add", unit, STEPS)
  local c = columns.convert(self, unit_for(self, unit))
  return date_of(C.date_add(columns.plain(c.values), c.unit, minutes(self),
    unit, n), c.unit, self.offset)
end

function methods:at(offset)
  local text = offset_text(minutes_of("at", offset))
  local c = self.unit == "day" and columns.convert(self, "second") or self
  return date_of(c.values, c.unit, text)
end

-- ---- comparing ----

-- What a column is compared with: a Date, or the date of a text, as long.
local function other_of(word, self, other)
  if type(other) == "string" then
    local d = columns.try_dates(columns.full(other, 1),
      {offset = self.offset}, word)
    return d or fail("%s: '%s' is no date", word, other)
  end
  if not columns.is_date(other) then
    fail("bad argument #2 to '%s' (a Date or a text expected, got %s)", word,
      columns.type_of(other))
  end
  if #other ~= #self and #other ~= 1 then
    fail("%s: %d dates, and %d", word, #self, #other)
  end
  return other
end

local function known(a, b) return a:ne(GAP):logical_and(b:ne(GAP)) end

for _, word in ipairs{"eq", "lt", "le", "gt", "ge"} do
  methods[word] = function(self, other)
    local a, b = together(self, other_of(word, self, other))
    a, b = a.values, b.values
    return a[word](a, b):logical_and(known(a, b))
  end
end

function methods:ne(other)
  other_of("ne", self, other)
  return self:eq(other):logical_not()
end

function methods:isin(list)
  local mask = la.zeros({#self}, {dtype = "bool"})
  for i = 1, #list do mask = mask:logical_or(self:eq(list[i])) end
  return mask
end

function methods:since(other, unit)
  check_unit("since", unit, SECONDS)
  local a, b = together(self, other_of("since", self, other))
  local unknown = known(a.values, b.values):logical_not()
  local per = SECONDS[unit] / SECONDS[a.unit]
  local d = (a.values - b.values):to "float64"
  d = per >= 1 and d / math.floor(per + 0.5)
    or d * math.floor(1 / per + 0.5)
  return d:masked_fill(unknown, 0 / 0)
end

-- ---- ranges ----

local function end_of(word, v)
  if columns.is_date(v) and #v == 1 then return v end
  if type(v) ~= "string" then
    fail("%s: a text or a Date of one instant expected, got %s", word,
      columns.type_of(v))
  end
  return columns.new_date({v}, nil, word)
end

-- F.date_range(first, last, unit[, n])
function columns.date_range(first, last, unit, n)
  local word = "date_range"
  check_unit(word, unit, STEPS)
  n = n == nil and 1 or check_count(word, n)
  if n < 1 then fail("%s: steps of at least 1 expected, got %d", word, n) end
  local a, b = together(end_of(word, first), end_of(word, last))
  a = columns.convert(a, unit_for(a, unit))
  b = columns.convert(b, a.unit)
  local from, to = a.values:item(1), b.values:item(1)
  if SECONDS[unit] then
    local step = math.floor(n * (SECONDS[unit] / SECONDS[a.unit]) + 0.5)
    local count = from <= to and (to - from) // step + 1 or 0
    return date_of(la.arange(count) * step + from, a.unit, a.offset)
  end
  local list = {}
  while from <= to do
    list[#list + 1] = from
    from = C.date_add(a.values, a.unit, minutes(a), unit, n * #list):item(1)
  end
  return date_of(la.tensor(list, {dtype = "int64"}), a.unit, a.offset)
end

-- "date", "date[unit]", "date:format" as options; nil for other kinds.
function columns.date_kind(kind)
  if kind == "date" then return {} end
  local unit = kind:match "^date%[(%a+)%]$"
  if unit then return {unit = check_unit("date", unit, FINER)} end
  local format = kind:match "^date:(.+)$"
  return format and {format = format} or nil
end


return methods
