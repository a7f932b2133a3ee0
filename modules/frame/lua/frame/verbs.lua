-- lunarray.frame.verbs: methods that choose, compute and order.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local convert = require "lunarray.frame.convert"
local frame = require "lunarray.frame.table"
local recipes = require "lunarray.frame.recipes"
local C, fail = columns.C, columns.fail
local methods, record, of = frame.methods, frame.record, frame.of

-- ---- columns ----

-- A frame of the names, some with another name.
local function chosen(f, names, new)
  local cols, list = {}, {}
  for k, name in ipairs(names) do
    local called = new and new[name] or name
    if cols[called] then
      fail("%s: two columns '%s'", new and "rename" or "select", called)
    end
    list[k], cols[called] = called, record(f).columns[name]
  end
  return of(list, cols, record(f).rows)
end

local function by_function(f, fn, want)
  local list = {}
  for name, c in pairs(f) do
    local yes = fn(name, columns.kind(c))
    if (yes and true or false) == want then list[#list + 1] = name end
  end
  return list
end

function methods:select(first, ...)
  if type(first) == "function" then
    return chosen(self, by_function(self, first, true))
  end
  return chosen(self, frame.names_given(self, "select", first, ...) or {})
end

function methods:drop(first, ...)
  if type(first) == "function" then
    return chosen(self, by_function(self, first, false))
  end
  local gone, list = {}, {}
  for _, name in ipairs(frame.names_given(self, "drop", first, ...) or {}) do
    gone[name] = true
  end
  for _, name in ipairs(record(self).names) do
    if not gone[name] then list[#list + 1] = name end
  end
  return chosen(self, list)
end

function methods:rename(new)
  if type(new) ~= "table" then
    fail("bad argument #1 to 'rename' (a table {old = \"new\"} expected, got "
      .. "%s)", columns.type_of(new))
  end
  for name, to in pairs(new) do
    frame.column(self, name, "rename")
    if type(to) ~= "string" then
      fail("rename: the new name of '%s': a string expected, got %s", name,
        columns.type_of(to))
    end
  end
  return chosen(self, record(self).names, new)
end

local TO = columns.set "strict"

function methods:to(kinds, options)
  local o = columns.options("to", options, TO)
  if type(kinds) == "string" then
    local kind = kinds
    kinds = {}
    for _, name in ipairs(record(self).names) do kinds[name] = kind end
  end
  if type(kinds) ~= "table" then
    fail("bad argument #1 to 'to' (a table of kinds by name expected, got %s)",
      columns.type_of(kinds))
  end
  for name in pairs(kinds) do frame.column(self, name, "to") end
  return frame.each(self, #self, function(c, name)
    if kinds[name] == nil then return c end
    return convert.to(c, kinds[name], ("to: column '%s'"):format(name),
      o.strict ~= false)
  end)
end

function methods:map(fn, ...)
  if type(fn) ~= "function" then
    fail("bad argument #1 to 'map' (a function expected, got %s)",
      columns.type_of(fn))
  end
  local given = frame.names_given(self, "map", ...)
  local list = {}
  local chosen_ = {}
  for _, name in ipairs(given or {}) do chosen_[name] = true end
  for name, c in pairs(self) do
    if given and not chosen_[name] then list[#list + 1] = {name, c}
    else list[#list + 1] = {name, fn(c, name)} end
  end
  return frame.build(list, "map", #self)
end

-- ---- computing ----

-- A copy with the entries' columns; 'make' gives them.
function frame.with_columns(f, entries, make)
  local names, cols = frame.copy_names(f), {}
  for name, c in pairs(f) do cols[name] = c end
  for _, e in ipairs(entries) do
    local name = e[1]
    local c = make(e[2], ("with: column '%s'"):format(name))
    if #names > 0 and columns.length(c) ~= #f then
      fail("with: column '%s' has %d row%s, the frame has %d", name,
        columns.length(c), columns.length(c) == 1 and "" or "s", #f)
    end
    if not cols[name] then names[#names + 1] = name end
    cols[name] = c
  end
  local n = #names > 0 and columns.length(cols[names[1]]) or 0
  return of(names, cols, n)
end

function methods:with(spec)
  local ctx = recipes.whole(self)
  if #record(self).names == 0 then ctx.n = nil end
  return frame.with_columns(self, recipes.entries("with", spec),
    function(v, owner) return recipes.rows(ctx, v, owner) end)
end

function methods:agg(spec)
  local ctx, list = recipes.whole(self), {}
  for k, e in ipairs(recipes.entries("agg", spec)) do
    list[k] = {e[1], recipes.values(ctx, e[2],
      ("agg: column '%s'"):format(e[1]))}
  end
  return frame.build(list, "agg", 1)
end

-- ---- rows ----

function methods:filter(condition)
  local mask = condition
  if recipes.is_recipe(mask) or type(mask) == "function" then
    mask = recipes.rows(recipes.whole(self), mask, "filter")
  end
  if not columns.is_tensor(mask) or mask.dtype ~= "bool" then
    fail("filter: a mask (bool) expected, got %s", columns.is_tensor(mask)
      and mask.dtype or columns.is_column(mask) and columns.kind(mask)
      or columns.type_of(mask))
  end
  return frame.take(self, frame.rows_of(self, mask, "filter"))
end

-- cols as a list of names, all where there are none.
local function given(f, word, cols)
  local names = frame.names_given(f, word, cols)
  return names or frame.copy_names(f)
end

local KEEP = columns.set "keep"

-- The rows (int32) that are kept of equal ones.
local function kept(f, word, cols, options)
  local o = columns.options(word, options, KEEP)
  local keep = o.keep or "first"
  if keep ~= "first" and keep ~= "last" then
    fail("%s: keep: \"first\" or \"last\" expected, got %s", word,
      tostring(keep))
  end
  local names = given(f, word, cols)
  if #names == 0 then return la.arange(0):to "int32" end
  local ids, count, first = columns.group(frame.columns_of(f, names), false,
    false)
  if keep == "first" then return first end
  local rows = C.pick(la.zeros({#f}, {dtype = "bool"}), "n", ids, count,
    "last")
  return rows:sort()
end

function methods:unique(cols, options)
  return frame.take(self, columns.plain(kept(self, "unique", cols, options)))
end

function methods:duplicated(cols, options)
  local rows = kept(self, "duplicated", cols, options)
  local mask = la.ones({#self}, {dtype = "bool"})
  if rows:numel() > 0 then mask[rows:to "int64" + 1] = false end
  return mask
end

local DROPNA = columns.set "how"

function methods:dropna(cols, options)
  local o = columns.options("dropna", options, DROPNA)
  local how = o.how or "any"
  if how ~= "any" and how ~= "all" then
    fail("dropna: how: \"any\" or \"all\" expected, got %s", tostring(how))
  end
  local mask
  for _, name in ipairs(given(self, "dropna", cols)) do
    local gap = columns.isna(record(self).columns[name])
    mask = mask and (how == "any" and mask:logical_or(gap)
      or how == "all" and mask:logical_and(gap)) or gap
  end
  if not mask then return self:select(frame.copy_names(self)) end
  return frame.take(self, C.of_mask(columns.plain(mask:logical_not())))
end

-- Gaps of a column become v; nil where v is of another kind and 'strict' is
-- not set.
local function filled(c, v, owner, strict)
  if columns.is_text(c) then
    if type(v) ~= "string" then
      if not strict then return c end
      fail("%s is text, a string is needed, got %s", owner, columns.type_of(v))
    end
    local gaps = c.codes:eq(0)
    if not gaps:any() then return c end
    local both, categories, ordered = columns.unify{c,
      columns.text_of(la.ones({1}, {dtype = "int32"}), {v})}
    return columns.text_of(both[1]:masked_fill(gaps, both[2]:item(1)),
      categories, ordered)
  elseif columns.is_date(c) then
    if type(v) ~= "string" then
      if not strict then return c end
      fail("%s is a date, a text is needed, got %s", owner,
        columns.type_of(v))
    end
    local d = columns.try_dates(columns.full(v, 1), {offset = c.offset}, owner)
    if not d then
      if not strict then return c end
      fail("%s: '%s' is no date", owner, v)
    end
    local all = columns.concat({c, d}, owner)
    local values = all.values
    return columns.date_of(columns.slice(values, 1, #c)
      :masked_fill(columns.isna(c), values:item(#c + 1)), all.unit, c.offset)
  end
  if type(v) ~= "number" and type(v) ~= "boolean" then
    if not strict then return c end
    fail("%s is %s, a number is needed, got %s", owner, columns.kind(c),
      columns.type_of(v))
  end
  if not columns.is_float(c) then return c end
  if type(v) == "boolean" then v = v and 1 or 0 end
  return c:masked_fill(c:detach():isnan(), v)
end

function methods:fillna(v)
  local each = type(v) == "table" and not getmetatable(v)
  if each then
    for name in pairs(v) do frame.column(self, name, "fillna") end
  elseif v == nil or type(v) == "table" then
    fail("bad argument #1 to 'fillna' (a value or a table of values by name "
      .. "expected, got %s)", columns.type_of(v))
  end
  return frame.each(self, #self, function(c, name)
    local with = v
    if each then with = v[name] end
    if with == nil then return c end
    return filled(c, with, ("fillna: column '%s'"):format(name), each)
  end)
end
frame.filled = filled

-- ---- order ----

local SORT = columns.set "descending missing"

function methods:sort(cols, options)
  local o = columns.options("sort", options, SORT)
  local names = frame.names_given(self, "sort", cols)
  if not names or #names == 0 then
    fail("bad argument #1 to 'sort' (a name or a list of names expected)")
  end
  local missing = o.missing or "last"
  if missing ~= "last" and missing ~= "first" then
    fail("sort: missing: \"last\" or \"first\" expected, got %s",
      tostring(missing))
  end
  local down = {}
  if type(o.descending) == "table" and #o.descending ~= #names then
    fail("sort: descending: %d for %d columns", #o.descending, #names)
  end
  for k = 1, #names do
    if type(o.descending) == "table" then down[k] = o.descending[k]
    else down[k] = o.descending == true end
  end
  return frame.take(self, columns.order(frame.columns_of(self, names), down,
    missing))
end

return methods
