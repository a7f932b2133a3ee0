-- lunarray.frame.groups: rows with equal keys, and steps of time.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local concat = require "lunarray.frame.concat".concat
local frame = require "lunarray.frame.table"
local near = require "lunarray.near"
local recipes = require "lunarray.frame.recipes"
local C, fail = columns.C, columns.fail
local methods, record = frame.methods, frame.record

local Groups = {__name = "lunarray.Groups"}
local words = {}            -- methods of groups

-- ---- making ----

-- ids and count of rows, and a column for each key with a row for each group.
-- 'context' is where values of rows are computed; 'parts' where those of groups
-- are, and what iter and apply see.
local function new(f, names, ids, count, keys, skipped)
  local context = {frame = f, n = #f, ids = ids, count = count,
    skipped = skipped}
  return setmetatable({frame = f, names = names, total = count, keys = keys,
    context = context, parts = context}, Groups)
end

-- The different values of one key: ids, their number, a column of them. An
-- ordered text has all of its categories.
local function key_values(c, skip)
  if columns.is_text(c) and c.ordered then
    local n, gaps = #c.categories, not skip and columns.first_gap(c)
    local ids = c.codes - 1
    local all = (la.arange(n) + 1):to "int32"
    if gaps then
      ids = la.where(ids:lt(0), n, ids):to "int32"
      all = la.cat{all, la.zeros({1}, {dtype = "int32"})}
      n = n + 1
    end
    return ids, n, columns.text_of(all, c.categories, true)
  end
  local ids, n, first = columns.group({c}, true, skip)
  return ids, n, columns.take(c, first)
end

-- Every combination of the keys' values.
local function complete(f, names, skip)
  local ids, count, values = nil, 1, {}
  for k, name in ipairs(names) do
    local id, n, c = key_values(record(f).columns[name], skip)
    id = id:to "int64"
    if count * n > 2^31 - 2 then
      fail("group: complete: more than 2^31 - 2 combinations")
    end
    if ids then
      local none = ids:lt(0):logical_or(id:lt(0))
      ids = (ids * n + id):masked_fill(none, -1)
    else
      ids = id
    end
    count, values[k] = count * n, {c, n}
  end
  local keys, after = {}, count
  for k, v in ipairs(values) do
    after = v[2] > 0 and after // v[2] or 0
    local rows = after > 0
      and la.arange(count):floor_divide(after) % v[2]
      or la.zeros({0}, {dtype = "int64"})
    keys[k] = columns.take(v[1], columns.plain(rows:to "int32"))
  end
  return new(f, names, columns.plain(ids:to "int32"), count, keys, skip)
end

local OPTIONS = columns.set "dropna sort complete"

function methods:group(cols, options)
  local o = columns.options("group", options, OPTIONS)
  local names = frame.names_given(self, "group", cols)
  if not names or #names == 0 then
    fail("bad argument #1 to 'group' (a name or a list of names expected)")
  end
  if o.complete then return complete(self, names, o.dropna == true) end
  local list = frame.columns_of(self, names)
  local ids, count, first = columns.group(list, o.sort ~= false,
    o.dropna == true)
  local keys = {}
  for k, c in ipairs(list) do keys[k] = columns.take(c, first) end
  return new(self, names, ids, count, keys, o.dropna == true)
end

-- The parts of steps of time are in the order of time, as pandas has them: the
-- first value of a day is its earliest, wherever it stands in the frame.
local function in_time(g, dates)
  local rows = columns.order({dates}, nil, "last")
  local c = g.context
  if C.is_whole(rows, c.n) then return g end
  g.parts = {frame = frame.take(g.frame, rows), n = c.n, count = c.count,
    ids = columns.take(c.ids, rows), skipped = c.skipped}
  return g
end

-- f:resample("when", unit[, n])
methods.resample = function(self, name, unit, n)
  local c = frame.column(self, name, "resample")
  if not columns.is_date(c) then
    fail("resample: column '%s' is %s, dates are needed", name,
      columns.kind(c))
  end
  local floors = c:floor(unit, n)
  local known = floors.values:masked_select(columns.isna(c):logical_not())
  if known:numel() == 0 then
    local ids, count, first = columns.group({floors}, true, false)
    return new(self, {name}, ids, count, {columns.take(floors, first)})
  end
  local function at(v)
    return columns.date_of(la.tensor({v}, {dtype = "int64"}), c.unit, c.offset)
  end
  local bins = columns.date_range(at(known:min():item()),
    at(known:max():item()), unit, n)
  bins = columns.convert(bins, c.unit)
  local all = columns.date_of(la.cat{bins.values, floors.values}, c.unit,
    c.offset)
  local ids, count, first = columns.group({all}, true, false)
  return in_time(new(self, {name}, columns.plain(ids[{{#bins + 1, #all}}]),
    count, {columns.take(all, first)}), c)
end

-- ---- looking ----

function Groups:__len() return rawget(self, "total") end

function Groups:__index(key)
  local method = words[key]
  if method then return method end
  if type(key) ~= "string" or key:find "^__" then return nil end
  local meant = near.nearest(key, words)
  fail("groups have no '%s'%s", key,
    meant and (" (did you mean '%s'?)"):format(meant) or "")
end

function Groups:__tostring()
  return ("%d groups by %s of a frame of %d rows"):format(self.total,
    table.concat(self.names, ", "), #self.frame)
end

-- for part, key, key... in g:iter()
function words:iter()
  local k = 0
  return function()
    k = k + 1
    if k > self.total then return nil end
    local keys = {}
    for i, c in ipairs(self.keys) do keys[i] = columns.value(c, k) end
    return recipes.part(self.parts, k), table.unpack(keys, 1, #self.keys)
  end
end

-- ---- one row each ----

-- Keys in front of other columns of as many rows.
local function behind_keys(self, list, word)
  local all = {}
  for k, name in ipairs(self.names) do all[k] = {name, self.keys[k]} end
  for _, e in ipairs(list) do all[#all + 1] = e end
  return frame.build(all, word, self.total)
end

function words:agg(spec)
  local list = {}
  for k, e in ipairs(recipes.entries("agg", spec)) do
    list[k] = {e[1], recipes.values(self.parts, e[2],
      ("agg: column '%s'"):format(e[1]))}
  end
  return behind_keys(self, list, "agg")
end

local ANY_KIND = columns.set "min max first last count nunique"

-- The names that a word takes: those given, else all but the keys that it can
-- work on.
local function names_for(self, word, ...)
  local names = frame.names_given(self.frame, word, ...)
  if names then return names end
  local key, list = {}, {}
  for _, name in ipairs(self.names) do key[name] = true end
  for name, c in pairs(self.frame) do
    if not key[name] and (ANY_KIND[word] or columns.is_tensor(c)) then
      list[#list + 1] = name
    end
  end
  return list
end

local function by_word(word, ...)
  local F = recipes.words
  local extra = ...
  return function(self, ...)
    local list = {}
    for k, name in ipairs(names_for(self, word, ...)) do
      list[k] = {name, recipes.values(self.parts, F[word](name, extra),
        ("%s: column '%s'"):format(word, name))}
    end
    return behind_keys(self, list, word)
  end
end

for word in ("count sum prod mean median min max std var first last nunique "
  .. "any all"):gmatch "%S+" do
  words[word] = by_word(word)
end

-- g:quantile(q, names...), or the names first, as F.quantile has them.
function words:quantile(...)
  local given = table.pack(...)
  local q = type(given[1]) == "number" and table.remove(given, 1)
  if not q then
    q, given[given.n] = given[given.n], nil
  end
  return by_word("quantile", q)(self, table.unpack(given))
end

function words:size() return self:agg{size = recipes.words.size()} end

-- ---- rows stay ----

function words:with(spec)
  return frame.with_columns(self.frame, recipes.entries("with", spec),
    function(v, owner) return recipes.rows(self.context, v, owner) end)
end

-- Groups for which the function, or a recipe of one value, is true.
function words:filter(condition)
  local keep
  if recipes.is_recipe(condition) and not condition.fn then
    keep = recipes.values(self.parts, condition, "filter")
    if not columns.is_tensor(keep) or keep.dtype ~= "bool" then
      fail("filter: true or false for each group expected, got %s",
        columns.kind(keep))
    end
  else
    if type(condition) ~= "function" and not recipes.is_recipe(condition) then
      fail("bad argument #1 to 'filter' (a function of the group's frame "
        .. "expected, got %s)", columns.type_of(condition))
    end
    local list = {}
    if type(condition) == "function" then
      for k = 1, self.total do
        list[k] = condition(recipes.part(self.parts, k))
      end
    else
      list = recipes.run(self.parts, condition)
    end
    for k = 1, self.total do
      local v = list[k]
      if columns.is_tensor(v) and v:numel() == 1 then v = v:item() end
      list[k] = v and v ~= columns.gap and true or false
    end
    keep = la.tensor(list, {dtype = "bool"})
  end
  if self.total == 0 then return frame.slice(self.frame, 1, 0) end
  local mask = recipes.broadcast({ids = self.context.ids, n = #self.frame},
    keep:to "uint8")
  return frame.take(self.frame, C.of_mask(columns.plain(mask:eq(1))))
end

-- ---- frames ----

local function piece(self, v, k)
  if frame.is_frame(v) then return v end
  if type(v) == "table" and not getmetatable(v) then
    local list = {}
    for name in pairs(v) do
      if type(name) ~= "string" then
        fail("apply: a frame or a record expected, got a list")
      end
      list[#list + 1] = name
    end
    table.sort(list, C.before)
    for i, name in ipairs(list) do list[i] = {name, v[name]} end
    return frame.build(list, "apply")
  end
  fail("apply: group %d: a frame or a record expected, got %s", k,
    columns.type_of(v))
end

-- What fn gives for each group, stacked behind the keys.
function words:apply(fn)
  if type(fn) ~= "function" then
    fail("bad argument #1 to 'apply' (a function expected, got %s)",
      columns.type_of(fn))
  end
  local pieces, rows = {}, {}
  for k = 1, self.total do
    local v = fn(recipes.part(self.parts, k))
    if v ~= nil then
      local p = piece(self, v, k)
      pieces[#pieces + 1] = p
      rows[#rows + 1] = la.full({#p}, k - 1, {dtype = "int32"})
    end
  end
  local all = concat(pieces)
  local at = #rows > 0 and la.cat(rows) or la.zeros({0}, {dtype = "int32"})
  local list = {}
  for k, name in ipairs(self.names) do
    list[k] = {name, columns.take(self.keys[k], columns.plain(at))}
  end
  for name, c in pairs(all) do
    local key = false
    for _, other in ipairs(self.names) do key = key or other == name end
    if not key then list[#list + 1] = {name, c} end
  end
  return frame.build(list, "apply", at:size(1))
end

-- ---- counting ----

local COUNTS = columns.set "normalize"

function methods:value_counts(cols, options)
  local o = columns.options("value_counts", options, COUNTS)
  local names = frame.names_given(self, "value_counts", cols)
    or frame.copy_names(self)
  local counted = self:group(names):agg{count = recipes.words.size()}
  counted = counted:sort("count", {descending = true})
  if not o.normalize then return counted end
  local r = record(counted)
  local share = r.columns.count:to "float64" / math.max(1, #self)
  return counted:drop "count":with{proportion = share}
end

Groups.methods = words

return Groups
