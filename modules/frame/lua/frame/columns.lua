-- lunarray.frame.columns: what a column is, whichever kind it has.
--
-- A column is a tensor of one dim, a Text or a Date. The engine (C, see
-- modules/frame/frame.h) reads plain tensors next to a letter for the kind:
-- columns.engine(column) gives both. Rows are int32 tensors from 0 here, -1
-- for a row that is not there.
local la = require "lunarray"
local near = require "lunarray.near"
local numbers = require "lunarray.numbers"
local tensors = require "lunarray.tensors"
local C = la.frame._functions()

local columns = {C = C}

local is_tensor = tensors.is_tensor

-- ---- gaps ----

-- Writes a gap into a list.
columns.gap = setmetatable({}, {__name = "lunarray.gap",
  __tostring = function() return "nil" end})

local GAPS = {n = false, d = math.mininteger}

-- ---- errors ----

-- An error for the line that called into the library.
function columns.fail(text, ...)
  local message = select("#", ...) > 0 and text:format(...) or text
  error(message, tensors.user_level())
end

local fail = columns.fail

-- "(did you mean 'age'?)" or a list of the names; 'set' has them as keys.
function columns.hint(name, set, list)
  local meant = near.nearest(tostring(name), set)
  if meant then return ("did you mean '%s'?"):format(meant) end
  if #list == 0 then return "it has no columns" end
  local shown = {}
  for k = 1, math.min(#list, 20) do shown[k] = tostring(list[k]) end
  if #list > 20 then shown[21] = "..." end
  return "columns: " .. table.concat(shown, ", ")
end

-- What a value is called in an error.
function columns.type_of(v)
  if v == nil then return "nil" end
  if is_tensor(v) then return "tensor" end
  if type(v) == "number" then return math.type(v) end
  local meta = type(v) == "table" and getmetatable(v)
  local name = type(meta) == "table" and meta.__name
  return name and name:match "[%w]+$":lower() or type(v)
end

-- Options are a table whose keys are known; nil is an empty one.
function columns.options(word, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" or getmetatable(options) then
    fail("%s: a table of options expected, got %s", word,
      columns.type_of(options))
  end
  for key in pairs(options) do
    if not known[key] then
      local list = {}
      for name in pairs(known) do list[#list + 1] = name end
      table.sort(list, C.before)
      fail("%s: unknown keyword '%s' (known: %s)", word, tostring(key),
        table.concat(list, ", "))
    end
  end
  return options
end

-- A set of words.
function columns.set(text)
  local set = {}
  for word in text:gmatch "%S+" do set[word] = true end
  return set
end

-- ---- kinds ----

-- Filled by the modules that make them.
columns.Text, columns.Date = {}, {}

local function is_text(v)
  return type(v) == "table" and getmetatable(v) == columns.Text
end
local function is_date(v)
  return type(v) == "table" and getmetatable(v) == columns.Date
end
columns.is_text, columns.is_date, columns.is_tensor = is_text, is_date,
  is_tensor

function columns.is_column(v)
  return is_tensor(v) or is_text(v) or is_date(v)
end

-- "int64", "text", "date[day]".
function columns.kind(c)
  if is_text(c) then return "text" end
  if is_date(c) then return ("date[%s]"):format(rawget(c, "unit")) end
  return c.dtype
end

-- The tensor that the column consists of.
function columns.raw(c)
  if is_text(c) then return rawget(c, "codes") end
  if is_date(c) then return rawget(c, "values") end
  return c
end

-- The column of the same kind with another tensor.
function columns.like(c, raw)
  if is_text(c) then
    return columns.text_of(raw, rawget(c, "categories"), rawget(c, "ordered"))
  end
  if is_date(c) then
    return columns.date_of(raw, rawget(c, "unit"), rawget(c, "offset"))
  end
  return raw
end

function columns.length(c) return columns.raw(c):size(1) end

local FLOATS = columns.set "float16 bfloat16 float32 float64"
columns.FLOATS = FLOATS

function columns.is_float(c) return is_tensor(c) and FLOATS[c.dtype] == true end

-- ---- plain tensors ----

-- Contiguous, and no part of a graph.
local function plain(t)
  if t.requires_grad then t = t:detach() end
  if t:is_neg() then t = t:resolve_neg() end
  return t:is_contiguous() and t or t:contiguous()
end
columns.plain = plain

local READ = columns.set "bool int32 int64 uint64 float32 float64"

-- A tensor of a dtype that the engine reads, and the kind's letter.
function columns.engine(c)
  if is_text(c) then return plain(rawget(c, "codes")), "t" end
  if is_date(c) then return plain(rawget(c, "values")), "d" end
  local t = plain(c)
  if READ[t.dtype] then return t, "n" end
  return t:to(FLOATS[t.dtype] and "float32" or "int64"), "n"
end

-- Engine's columns of a list, and their letters in one string.
function columns.engines(list)
  local raws, letters = {}, {}
  for k, c in ipairs(list) do raws[k], letters[k] = columns.engine(c) end
  return raws, table.concat(letters)
end

-- The first row that is a gap, or nil.
function columns.first_gap(c)
  local raw, letter = columns.engine(c)
  return C.has_gap(raw, letter)
end

-- true where the column has a gap.
function columns.isna(c)
  if is_text(c) then return rawget(c, "codes"):eq(0) end
  if is_date(c) then return rawget(c, "values"):eq(math.mininteger) end
  if columns.is_float(c) then return c:detach():isnan() end
  return la.zeros({c:size(1)}, {dtype = "bool"})
end

local LARGEST = 1 << 53

-- An integer or bool column as float64; an error where that would round.
function columns.to_float(c, word)
  if not is_tensor(c) or FLOATS[c.dtype] then return c end
  if c.dtype ~= "bool" and c:numel() > 0 then
    local bad = c:gt(LARGEST):logical_or(c:lt(-LARGEST))
    if c.dtype:find "64" and bad:any() then
      local row = bad:to "int32":argmax():item()
      fail("%s: row %d, %s, can't be held next to a gap: float64 would round "
        .. "it", word, row, numbers.text(c:item(row)))
    end
  end
  return c:to "float64"
end

-- The rows of the column; where some of them are -1 ('gaps'), integers and
-- booleans become float64.
function columns.take(c, rows, gaps, word)
  if gaps and is_tensor(c) then c = columns.to_float(c, word or "frame") end
  local raw = plain(columns.raw(c))
  local letter = is_text(c) and "t" or is_date(c) and "d" or "n"
  return columns.like(c, C.take(raw, letter, rows))
end

-- Rows i to j, as a view.
function columns.slice(c, i, j)
  return columns.like(c, columns.raw(c)[{{i, j}}])
end

-- Has the int32 tensor of rows a -1?
function columns.has_none(rows)
  return rows:numel() > 0 and rows:min():item() < 0
end

-- ---- single values ----

-- Element i, nil for a gap.
function columns.value(c, i)
  if not is_tensor(c) then return c[i] end
  local v = c:item(i)
  if v ~= v then return nil end
  return v
end

-- All values as a list, with holes for gaps.
function columns.list(c)
  if not is_tensor(c) then return c:totable() end
  local list = c:detach():totable()
  if FLOATS[c.dtype] then
    for i = 1, #list do if list[i] ~= list[i] then list[i] = nil end end
  end
  return list
end

-- n times the value.
function columns.full(v, n)
  if type(v) == "string" then
    return columns.text_of(la.ones({n}, {dtype = "int32"}), {v})
  elseif math.type(v) == "integer" then
    return la.full({n}, v, {dtype = "int64"})
  elseif type(v) == "number" then
    return la.full({n}, v, {dtype = "float64"})
  elseif type(v) == "boolean" then
    return la.full({n}, v, {dtype = "bool"})
  end
  return la.full({n}, 0 / 0, {dtype = "float64"})
end

local FAULTS = {
  mix = "row %d is a %s, the rows before it are of another type",
  round = "row %d, %s, can't stand next to a gap: float64 would round it",
  other = "row %d: a number, boolean or string expected, got %s",
}

-- A column of a list of n values; 'owner' is what an error begins with.
function columns.of_list(list, n, owner)
  local kind, a, b = C.from_list(list, n, columns.gap)
  if kind == "n" then return a end
  if kind == "t" then return columns.text_of(a, b) end
  local v = list[a]
  fail("%s: %s", owner, FAULTS[b]:format(a, b == "round" and numbers.text(v)
    or columns.type_of(v)))
end

local function is_scalar(v)
  return type(v) == "number" or type(v) == "string" or type(v) == "boolean"
    or v == columns.gap
end

-- What was given for a column as one, or as a scalar (second result true).
function columns.given(v, owner)
  if is_text(v) or is_date(v) then return v end
  if is_scalar(v) then return v, true end
  if is_tensor(v) then
    if v:is_complex() then fail("%s: complex numbers are no column", owner) end
    if v.ndim == 0 then return v:item(), true end
    if v.ndim ~= 1 then
      fail("%s: a tensor of 1 dim expected, got %d dims", owner, v.ndim)
    end
    return v
  end
  if type(v) == "table" and not getmetatable(v) then
    return columns.of_list(v, #v, owner)
  end
  fail("%s: a column expected (a tensor, a list, Text, Date or one value), "
    .. "got %s", owner, columns.type_of(v))
end

-- A column of n rows of what was given; n nil: any number.
function columns.make(v, n, owner)
  local c, scalar = columns.given(v, owner)
  return scalar and columns.full(c, n or 1) or c
end

-- ---- keys as numbers ----

-- ids (int32 from 0), their number and the first row of each, of equal rows.
function columns.group(list, sorted, skip)
  local raws, letters = columns.engines(list)
  return C.group(raws, letters, sorted, skip)
end

-- Rows in the order of the columns; descending and missing by column.
function columns.order(list, descending, missing)
  local raws, letters = columns.engines(list)
  local down, first = {}, {}
  for k = 1, #list do
    down[k] = descending and descending[k] and "y" or "n"
    first[k] = missing == "first" and "y" or "n"
  end
  return C.order(raws, letters, table.concat(down), table.concat(first))
end

columns.GAPS = GAPS

return columns
