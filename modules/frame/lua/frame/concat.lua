-- lunarray.frame.concat: columns and frames one behind the other.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local frame = require "lunarray.frame.table"
local fail = columns.fail

local concat = {}

-- What is not a gap decides; a column of nothing but gaps of float64 goes with
-- every kind.
local function is_blank(c)
  return columns.is_tensor(c) and columns.is_float(c)
    and c:detach():isnan():all()
end

local function as_text(c)
  if columns.is_text(c) then return c end
  return columns.text_of(la.zeros({columns.length(c)}, {dtype = "int32"}), {})
end

local function as_date(c, unit)
  if columns.is_date(c) then return columns.convert(c, unit) end
  return columns.date_of(la.full({columns.length(c)}, math.mininteger,
    {dtype = "int64"}), unit)
end

local function texts(list)
  local all = {}
  for k, c in ipairs(list) do all[k] = as_text(c) end
  local codes, categories, ordered = columns.unify(all)
  return columns.text_of(la.cat(codes), categories, ordered)
end

local RANK = {day = 1, second = 2, millisecond = 3, microsecond = 4,
  nanosecond = 5}

local function dates(list)
  local unit, offset = "day", nil
  for _, c in ipairs(list) do
    if columns.is_date(c) then
      if RANK[c.unit] > RANK[unit] then unit = c.unit end
      offset = offset or c.offset
    end
  end
  local values = {}
  for k, c in ipairs(list) do values[k] = as_date(c, unit).values end
  return columns.date_of(la.cat(values), unit, offset)
end

local function numbers(list)
  local common = list[1].dtype
  for k = 2, #list do common = la.promote_types(common, list[k].dtype) end
  local all = {}
  for k, c in ipairs(list) do all[k] = c:to(common) end
  return la.cat(all)
end

local function other_kind(list, names, owner, i, k)
  local a, b = columns.kind(list[i]), columns.kind(list[k])
  if names then
    fail("%s: column '%s' is %s, '%s' is %s: they do not go into one column",
      owner, names[i], a, names[k], b)
  end
  fail("%s: %s and %s do not go into one column", owner, a, b)
end

-- Columns of one kind as one; numbers promote. 'names', if given, are theirs.
function columns.concat(list, owner, names)
  if #list == 1 then return list[1] end
  local kind, first = nil, nil
  for k, c in ipairs(list) do
    local here = columns.is_text(c) and "text" or columns.is_date(c) and "date"
      or "number"
    if not kind or kind == "number" and is_blank(list[first]) then
      kind, first = here, k
    elseif here ~= kind and not (here == "number" and is_blank(c)) then
      other_kind(list, names, owner, first, k)
    end
  end
  if kind == "text" then return texts(list) end
  if kind == "date" then return dates(list) end
  return numbers(list)
end

-- ---- frames ----

local function gaps_like(kind_of, n)
  if columns.is_text(kind_of) then
    return columns.text_of(la.zeros({n}, {dtype = "int32"}),
      kind_of.categories, kind_of.ordered)
  end
  if columns.is_date(kind_of) then return as_date(la.zeros{n}, kind_of.unit) end
  return la.full({n}, 0 / 0, {dtype = columns.is_float(kind_of)
    and kind_of.dtype or "float64"})
end

local function below(list)
  local names, met, total = {}, {}, 0
  for _, f in ipairs(list) do
    total = total + #f
    for name, c in pairs(f) do
      if not met[name] then
        names[#names + 1], met[name] = name, c
      end
    end
  end
  local cols = {}
  for _, name in ipairs(names) do
    local pieces = {}
    local owner = ("concat: column '%s'"):format(name)
    for k, f in ipairs(list) do
      local c = frame.record(f).columns[name]
      pieces[k] = c or gaps_like(met[name], #f)
    end
    if #list > 1 then
      local absent = false
      for _, f in ipairs(list) do
        absent = absent or not frame.record(f).columns[name] and #f > 0
      end
      if absent and columns.is_tensor(met[name]) then
        for k, c in ipairs(pieces) do
          pieces[k] = columns.to_float(c, owner)
        end
      end
    end
    cols[name] = columns.concat(pieces, owner)
  end
  return frame.of(names, cols, total)
end

local function side_by_side(list)
  local all = {}
  for _, f in ipairs(list) do
    for name, c in pairs(f) do all[#all + 1] = {name, c} end
  end
  return frame.build(all, "concat", list[1] and #list[1])
end

local OPTIONS = columns.set "dim"

-- F.concat(frames[, {dim = 2}]); the option may stand in the list, too.
function concat.concat(list, options)
  if options == nil and type(list) == "table" and not getmetatable(list) then
    for name, v in pairs(list) do
      if type(name) == "string" then
        options = options or {}
        options[name] = v
      end
    end
  end
  local o = columns.options("concat", options, OPTIONS)
  if type(list) ~= "table" or frame.is_frame(list) or getmetatable(list) then
    fail("bad argument #1 to 'concat' (a list of frames expected, got %s)",
      columns.type_of(list))
  end
  for k, f in ipairs(list) do
    if not frame.is_frame(f) then
      fail("concat: entry %d: a frame expected, got %s", k, columns.type_of(f))
    end
  end
  if o.dim == nil or o.dim == 1 then return below(list) end
  if o.dim == 2 then return side_by_side(list) end
  fail("concat: dim: 1 (below) or 2 (side by side) expected, got %s",
    tostring(o.dim))
end

return concat
