-- lunarray.frame.shape: cells to columns, columns to cells.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local convert = require "lunarray.frame.convert"
local frame = require "lunarray.frame.table"
local recipes = require "lunarray.frame.recipes"
local C, fail = columns.C, columns.fail
local methods, record = frame.methods, frame.record

local PIVOT = columns.set "index columns values agg fill"

local function as_names(f, word, v)
  local names = frame.names_given(f, word, v)
  if not names or #names == 0 then
    fail("%s: names of columns expected", word)
  end
  return names
end

-- What cells are made of: the names given, or the only column that is left.
local function values_of(f, o, index, heads)
  if o.values ~= nil then return as_names(f, "pivot", o.values) end
  local used, list = {}, {}
  for _, name in ipairs(index) do used[name] = true end
  for _, name in ipairs(heads) do used[name] = true end
  for _, name in ipairs(record(f).names) do
    if not used[name] then list[#list + 1] = name end
  end
  if #list == 1 then return list end
  if o.agg == "size" or o.agg == recipes.words.size then return {false} end
  fail("pivot: values: a name is needed (columns: %s)",
    table.concat(list, ", "))
end

-- A recipe of the word, the function of F, or a function of the column.
local function recipe_of(agg, name)
  local F = recipes.words
  if type(agg) == "string" then
    if not F[agg] then fail("pivot: agg: F has no '%s'", agg) end
    agg = F[agg]
  end
  if agg == F.size then return F.size() end
  if type(agg) ~= "function" then
    fail("pivot: agg: a word of F or a function expected, got %s",
      columns.type_of(agg))
  end
  for _, known in pairs(F) do
    if known == agg then return agg(name) end
  end
  return F.apply(name, agg)
end

local function head_text(v)
  if v == nil then return "nil" end
  return type(v) == "string" and v or convert.text(v)
end

-- The text of each new column, from the keys of all 'heads'.
local function head_names(list, count)
  local names = {}
  for k = 1, count do
    local parts = {}
    for i, c in ipairs(list) do parts[i] = head_text(columns.value(c, k)) end
    names[k] = table.concat(parts, "_")
  end
  return names
end

local function taken(list, rows)
  local out = {}
  for k, c in ipairs(list) do out[k] = columns.take(c, rows) end
  return out
end

-- Columns of cells: 'cells' has a value for each group, group 'at' stands in
-- row and column 'row', 'col' (int32).
local function cell_column(cells, row, col, nrows, k, fill, owner)
  local here = columns.plain(col:eq(k - 1))
  local groups = C.of_mask(here)
  local rows = la.full({nrows}, -1, {dtype = "int32"})
  if groups:numel() > 0 then
    rows[C.take(row, "n", groups):to "int64" + 1] = groups
  end
  local gaps = columns.has_none(rows)
  if not gaps or fill == nil then
    return columns.take(cells, rows, gaps, owner)
  end
  local both = columns.concat({cells, columns.make(fill, 1, owner)}, owner)
  if columns.is_tensor(cells) and columns.is_tensor(both)
    and not columns.is_float(cells) and math.type(fill) == "integer" then
    both = both:to(cells.dtype)
  end
  return columns.take(both, columns.plain(
    la.where(rows:lt(0), columns.length(cells), rows):to "int32"))
end

local function check_single(ctx, index, heads)
  local row = C.twice(ctx.ids, ctx.count)
  if not row then return end
  local parts = {}
  for _, name in ipairs(index) do
    parts[#parts + 1] = head_text(columns.value(
      record(ctx.frame).columns[name], row))
  end
  for _, name in ipairs(heads) do
    parts[#parts + 1] = head_text(columns.value(
      record(ctx.frame).columns[name], row))
  end
  fail("pivot: the cell %s is met twice (row %d): agg says what to do",
    table.concat(parts, ", "), row)
end

-- f:pivot{index=, columns=, values=, agg=, fill=}
function methods:pivot(options)
  local o = columns.options("pivot", options, PIVOT)
  local index = as_names(self, "pivot", o.index)
  local heads = as_names(self, "pivot", o.columns)
  local values = values_of(self, o, index, heads)
  local row_ids, nrows, first_row = columns.group(frame.columns_of(self, index),
    true, false)
  local col_ids, ncols, first_col = columns.group(frame.columns_of(self, heads),
    true, false)
  local ids, count, first = C.group({row_ids, col_ids}, "nn", true, false)
  local ctx = {frame = self, n = #self, ids = ids, count = count}
  if o.agg == nil then check_single(ctx, index, heads) end
  local row, col = C.take(row_ids, "n", first), C.take(col_ids, "n", first)
  local names = head_names(taken(frame.columns_of(self, heads), first_col),
    ncols)
  local list = {}
  for k, c in ipairs(taken(frame.columns_of(self, index), first_row)) do
    list[k] = {index[k], c}
  end
  for _, value in ipairs(values) do
    local agg = o.agg or "first"
    local owner = ("pivot: column '%s'"):format(value or "size")
    local cells = recipes.values(ctx, recipe_of(agg, value), owner)
    for k = 1, ncols do
      local name = #values > 1 and value .. "_" .. names[k] or names[k]
      list[#list + 1] = {name, cell_column(cells, row, col, nrows, k, o.fill,
        owner)}
    end
  end
  return frame.build(list, "pivot", nrows)
end

local MELT = columns.set "id_vars value_vars var_name value_name"

-- f:melt{id_vars=, value_vars=, var_name=, value_name=}
function methods:melt(options)
  local o = columns.options("melt", options, MELT)
  local ids = frame.names_given(self, "melt", o.id_vars) or {}
  local values = frame.names_given(self, "melt", o.value_vars)
  local key = {}
  for _, name in ipairs(ids) do key[name] = true end
  if not values then
    values = {}
    for _, name in ipairs(record(self).names) do
      if not key[name] then values[#values + 1] = name end
    end
  end
  local n, m, list = #self, #values, {}
  local rows = la.arange(n):to "int32"
  local all = m > 0 and la.cat((function()
    local pieces = {}
    for k = 1, m do pieces[k] = rows end
    return pieces
  end)()) or la.zeros({0}, {dtype = "int32"})
  for k, name in ipairs(ids) do
    list[k] = {name, columns.take(record(self).columns[name],
      columns.plain(all))}
  end
  local at = la.arange(n * m):floor_divide(math.max(1, n)):to "int32"
  list[#list + 1] = {o.var_name or "variable", columns.recode(at + 1, values)}
  local cells = frame.columns_of(self, values)
  list[#list + 1] = {o.value_name or "value",
    m > 0 and columns.concat(cells, "melt", values)
    or la.zeros({0}, {dtype = "float64"})}
  return frame.build(list, "melt", n * m)
end

return methods
