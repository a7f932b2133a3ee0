-- lunarray.frame.files: what frames are for files: parts for the writers in C,
-- a tree of tensors and texts for la.save.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local frame = require "lunarray.frame.table"
local fail = columns.fail
local record = frame.record

local files = {}

-- Names, plain tensors, letters, and the categories of those that are texts.
-- Dates are texts.
function files.parts(f)
  if not frame.is_frame(f) then
    fail("bad argument #1 to 'write_jsonl' (a frame expected, got %s)",
      columns.type_of(f))
  end
  local names, raws, letters, categories = {}, {}, {}, {}
  for name, c in pairs(f) do
    local k = #names + 1
    if columns.is_date(c) then c = c:format() end
    if columns.is_text(c) then categories[k] = c.categories end
    names[k] = name
    raws[k], letters[k] = columns.engine(c)
  end
  return names, raws, table.concat(letters), categories
end

-- What la.write_csv takes: names in the list, tensors or {codes, categories}.
function files.csv(f)
  local names, out = frame.copy_names(f), {}
  for _, name in ipairs(names) do
    local c = record(f).columns[name]
    if columns.is_date(c) then c = c:format() end
    out[name] = columns.is_text(c)
      and {columns.plain(c.codes), c.categories} or c
  end
  for k, name in ipairs(names) do out[k] = name end
  return out
end

-- A Text as the kind of a date; nil, the row and the text at fault, and why.
local function dated(c, kind)
  local o = columns.date_kind(kind)
  if not o then
    fail("read_csv: dtypes: '%s' is no kind: \"date\", \"date[unit]\" or "
      .. "\"date:format\" expected", kind)
  end
  local d, row, text = columns.try_dates(c, o)
  if d then return d end
  return nil, row, text, o.format
    and ("is no date of the format '%s'"):format(o.format) or "is no date"
end

-- What la.read_csv read: names, and by name a tensor or {codes, texts, note},
-- the note being about the first cell that made it text. A cell that is none
-- of the kind: nil, the column's name, row and text, and what is wrong.
function files.of_csv(names, parts, kinds)
  local cols, n, notes = {}, 0, {}
  for _, name in ipairs(names) do
    local c = parts[name]
    if type(c) == "table" then
      local note = c.note
      c = columns.recode(c[1], c[2])
      if note then notes[name] = {column = c, text = note} end
    end
    if kinds[name] then
      local d, row, text, why = dated(c, kinds[name])
      if not d then return nil, name, row, text, why end
      c = d
    end
    cols[name], n = c, columns.length(c)
  end
  local f = frame.of(names, cols, n)
  record(f).notes = notes
  return f
end

-- ---- archives ----

local MARK = "lunarray.frame"

-- The tree that la.save writes.
function files.tree(f)
  local list = {}
  for name, c in pairs(f) do
    local entry = {name = name}
    if columns.is_text(c) then
      entry.codes, entry.ordered = c.codes, c.ordered
      entry.categories = c.categories
    elseif columns.is_date(c) then
      entry.values, entry.unit, entry.offset = c.values, c.unit, c.offset
    else
      entry.values = c
    end
    list[#list + 1] = entry
  end
  return {[MARK] = {rows = #f, columns = list}}
end

local function bad(why) fail("load: no frame: %s", why) end

-- Codes that a file says, within the categories.
local function text_from(e)
  local list, seen = e.categories, {}
  if type(list) ~= "table" or not columns.is_tensor(e.codes)
    or e.codes.dtype ~= "int32" or e.codes.ndim ~= 1 then bad "a text" end
  for k = 1, #list do
    if type(list[k]) ~= "string" or seen[list[k]] then bad "categories" end
    seen[list[k]] = true
  end
  if e.codes:numel() > 0 and (e.codes:min():item() < 0
    or e.codes:max():item() > #list) then bad "codes" end
  if e.ordered then return columns.text_of(e.codes, list, true) end
  return columns.recode(e.codes, list)
end

-- The frame of a tree that la.load read.
function files.of_tree(tree)
  local t = tree[MARK]
  if type(t) ~= "table" or type(t.columns) ~= "table" then bad "a tree" end
  local list = {}
  for k, e in ipairs(t.columns) do
    if type(e) ~= "table" or type(e.name) ~= "string" then bad "a name" end
    local c = e.values
    if e.codes ~= nil then c = text_from(e)
    elseif not columns.is_tensor(c) then bad "a column"
    elseif e.unit ~= nil then
      c = columns.convert(columns.date_of(c:to "int64", e.unit, e.offset),
        e.unit)
      if columns.date_kind(("date[%s]"):format(e.unit)) == nil then
        bad "a unit"
      end
      c = c:at(e.offset)
      if e.unit == "day" then c = columns.convert(c, "day") end
    end
    list[k] = {e.name, c}
  end
  return frame.build(list, "load", t.rows)
end

files.MARK = MARK
files.la = la

return files
