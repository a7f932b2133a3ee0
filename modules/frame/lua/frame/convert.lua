-- lunarray.frame.convert: columns of one kind as another.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local numbers = require "lunarray.numbers"
local C, fail = columns.C, columns.fail

local convert = {}

local DTYPES = columns.set("bool uint8 int8 uint16 int16 uint32 int32 uint64 "
  .. "int64 float16 bfloat16 float32 float64")

local WORDS = {["true"] = true, ["True"] = true, ["TRUE"] = true,
  ["false"] = false, ["False"] = false, ["FALSE"] = false}

-- The number that a text says in decimal digits, or nil.
local function number_of(text)
  local v = text:match "^%s*(.-)%s*$"
  if v:find "^[+-]?%d+$" then
    return math.tointeger(tonumber((v:gsub("^%+", "")))) or tonumber(v)
  elseif v:find "^[+-]?%d*%.?%d*[eE]?[+-]?%d*$" and v:find "%d" then
    return tonumber((v:gsub("^%+", "")))
  end
  local word = v:lower():gsub("^[+-]", "")
  if word == "inf" or word == "infinity" then
    return v:sub(1, 1) == "-" and -math.huge or math.huge
  end
end

-- The first row of code k.
local function row_of(codes, k)
  return codes:eq(k):to "int32":argmax():item()
end

local function text_to_number(c, dtype, owner, strict)
  local list, codes = {}, columns.plain(c.codes)
  for k, v in ipairs(c.categories) do
    local value
    if dtype == "bool" then value = WORDS[v:match "^%s*(.-)%s*$"]
    else value = number_of(v) end
    if value == nil and strict and codes:eq(k):any() then
      fail("%s, row %d: '%s' is no %s", owner, row_of(codes, k), v, dtype)
    end
    list[k] = value
  end
  local values = columns.of_list(list, #c.categories, owner)
  local rows = codes - 1
  local t = columns.take(values, rows, columns.has_none(rows), owner)
  return convert.to(t, dtype, owner, strict)
end

local function shown(v)
  return type(v) == "number" and numbers.text(v) or tostring(v)
end

-- What a float can't be as an integer is an error, or a gap, which leaves
-- float64.
local function float_to_integer(c, dtype, owner, strict)
  local x = c:detach():to "float64"
  local bad = x:isfinite():logical_not():logical_or(x:ne(x:trunc()))
  if dtype == "bool" then
    bad = x:ne(0):logical_and(x:ne(1))
  else
    local whole = la.where(bad, 0, x)
    bad = bad:logical_or(whole:abs():ge(2^63))
    local narrow = la.where(bad, 0, x):to "int64"
    bad = bad:logical_or(narrow:to(dtype):to "int64":ne(narrow))
  end
  if not bad:any() then return x:to(dtype) end
  if not strict then return x:masked_fill(bad, 0 / 0) end
  local row = bad:to "int32":argmax():item()
  local v = columns.value(c, row)
  fail("%s, row %d: %s is no %s", owner, row, v == nil and "a gap" or shown(v),
    dtype)
end

local function integer_to_integer(c, dtype, owner, strict)
  local wide = c:detach():to "int64"
  local bad = dtype == "bool" and wide:ne(0):logical_and(wide:ne(1))
    or c:to(dtype):to "int64":ne(wide)
  if not bad:any() then return c:to(dtype) end
  if not strict then
    return columns.to_float(c, owner):masked_fill(bad, 0 / 0)
  end
  local row = bad:to "int32":argmax():item()
  fail("%s, row %d: %s is no %s", owner, row, shown(c:item(row)), dtype)
end

-- Each different value is written once.
local function to_text(c)
  if columns.is_text(c) then return c end
  if columns.is_date(c) then return c:format() end
  local ids, count, first = columns.group({c}, true, false)
  local values, list = columns.take(c, first), {}
  for k = 1, count do
    local v = columns.value(values, k)
    list[k] = v ~= nil and convert.text(v) or false
  end
  return columns.recode(ids + 1, list)
end

-- A value as text, floats with the fewest digits that give them back.
function convert.text(v)
  if math.type(v) ~= "float" then return tostring(v) end
  for digits = 15, 17 do
    local text = numbers.format("%." .. digits .. "g", v)
    if tonumber(text) == v or digits == 17 then
      return text:find "^-?%d+$" and text .. ".0" or text
    end
  end
end

local function to_date(c, o, owner, strict)
  local d = columns.new_date(c, o, owner, not strict)
  return d
end

-- The column as that kind; cells that are none are errors, or gaps.
function convert.to(c, kind, owner, strict)
  if type(kind) ~= "string" then
    fail("%s: a kind (a dtype, text, date) expected, got %s", owner,
      columns.type_of(kind))
  end
  local o = columns.date_kind(kind)
  if o then return to_date(c, o, owner, strict) end
  if kind == "text" or kind == "string" then return to_text(c) end
  if not DTYPES[kind] then
    fail("%s: '%s' is no kind: a dtype, \"text\", \"date\", \"date[unit]\" or "
      .. "\"date:format\" expected", owner, kind)
  end
  if columns.is_text(c) then return text_to_number(c, kind, owner, strict) end
  if columns.is_date(c) then
    fail("%s is %s: its numbers are x.values", owner, columns.kind(c))
  end
  if c.dtype == kind then return c end
  if columns.FLOATS[kind] then return c:to(kind) end
  if columns.is_float(c) then
    return float_to_integer(c, kind, owner, strict)
  end
  return integer_to_integer(c, kind, owner, strict)
end

convert.C = C
return convert
