-- lunarray.frame.table: the frame itself: how it is made, read and changed. The
-- words that compute are methods which other modules add.
--
-- A frame keeps its names, its columns by name and the number of its rows in
-- one record, the only raw field; all else comes by __index: methods, then what
-- it tells of itself, then columns.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local C, fail = columns.C, columns.fail

local frame = {}
local Frame = {__name = "lunarray.Frame"}
local methods = {}
frame.Frame, frame.methods = Frame, methods

local RECORD = {}

local function is_frame(v)
  return type(v) == "table" and getmetatable(v) == Frame
end
frame.is_frame = is_frame

local function record(f) return rawget(f, RECORD) end
frame.record = record

-- A frame of the names, the columns by name (of n rows, both kept).
function frame.of(names, cols, n)
  return setmetatable({[RECORD] = {names = names, columns = cols, rows = n}},
    Frame)
end

local of = frame.of

-- The names in a new list.
local function copy_names(f)
  return table.move(record(f).names, 1, #record(f).names, 1, {})
end
frame.copy_names = copy_names

-- ---- making ----

-- Columns of pairs {name, value}: of one length, scalars repeated.
function frame.build(pairs_, owner, rows)
  owner = owner or "frame"
  local names, cols, scalars, n, lead = {}, {}, {}, rows, nil
  for k, p in ipairs(pairs_) do
    local name = p[1]
    if type(name) ~= "string" then
      fail("%s: the name of column %d: a string expected, got %s", owner, k,
        columns.type_of(name))
    end
    if cols[name] ~= nil then fail("%s: two columns '%s'", owner, name) end
    local c, scalar = columns.given(p[2], ("%s: column '%s'"):format(owner,
      name))
    names[k], cols[name] = name, c
    if scalar then
      scalars[#scalars + 1] = name
    else
      local m = columns.length(c)
      if n and m ~= n then
        fail("%s: column '%s' has %d row%s, %s", owner, name, m,
          m == 1 and "" or "s", lead and ("'%s' has %d"):format(lead, n)
          or ("the frame has %d"):format(n))
      end
      n, lead = m, lead or name
    end
  end
  n = n or (#names > 0 and 1 or 0)
  for _, name in ipairs(scalars) do
    cols[name] = columns.full(cols[name], n)
  end
  return of(names, cols, n)
end

-- Names of a table of columns: in its own list, in 'names', or all by bytes.
local function names_of(t, given)
  if given then return given end
  if type(t[1]) == "string" then return table.move(t, 1, #t, 1, {}) end
  local inside = rawget(t, "names")
  if type(inside) == "table" and not columns.is_column(inside)
    and not is_frame(inside) then
    local known = #inside > 0 or next(t, next(t)) == nil
    for _, name in ipairs(inside) do
      known = known and type(name) == "string" and t[name] ~= nil
    end
    if known then return inside end
  end
  local list = {}
  for name in pairs(t) do
    if type(name) ~= "string" then
      fail("frame: names of columns are strings, got a %s",
        columns.type_of(name))
    end
    list[#list + 1] = name
  end
  table.sort(list, C.before)
  return list
end

local function of_columns(t, given)
  local list = {}
  for k, name in ipairs(names_of(t, given)) do
    if t[name] == nil then
      fail("frame: names: there is no column '%s'", tostring(name))
    end
    list[k] = {name, t[name]}
  end
  return frame.build(list)
end

-- A list of records: the union of their names, by bytes.
local function of_records(list, given)
  local names, lists = given or {}, {}
  for _, name in ipairs(names) do lists[name] = {} end
  for i, r in ipairs(list) do
    if type(r) ~= "table" or getmetatable(r) then
      fail("frame: record %d: a table expected, got %s", i, columns.type_of(r))
    end
    for name, v in pairs(r) do
      if type(name) ~= "string" then
        fail("frame: record %d: names are strings, got a %s", i,
          columns.type_of(name))
      end
      if not lists[name] and not given then
        names[#names + 1], lists[name] = name, {}
      end
      if lists[name] then lists[name][i] = v end
    end
  end
  if not given then table.sort(names, C.before) end
  return frame.of_lists(names, lists, #list)
end

-- Columns of lists with holes.
function frame.of_lists(names, lists, n)
  local cols = {}
  for _, name in ipairs(names) do
    cols[name] = columns.of_list(lists[name], n,
      ("frame: column '%s'"):format(name))
  end
  return of(names, cols, n)
end

local function of_matrix(x, names)
  if x.ndim ~= 2 then
    fail("frame: a matrix or columns expected, got a tensor of %d dim%s",
      x.ndim, x.ndim == 1 and "" or "s")
  end
  if names and #names ~= x:size(2) then
    fail("frame: names: %d for %d columns", #names, x:size(2))
  end
  local list = {}
  for k = 1, x:size(2) do
    list[k] = {names and names[k] or tostring(k), x:select(2, k)}
  end
  return frame.build(list, "frame", x:size(1))
end

local OPTIONS = columns.set "names"

-- la.frame(columns[, {names=}])
function frame.new(t, options)
  local o = columns.options("frame", options, OPTIONS)
  if columns.is_tensor(t) then return of_matrix(t, o.names) end
  if is_frame(t) then
    return o.names and t:select(o.names) or t:select(copy_names(t))
  end
  if type(t) ~= "table" or getmetatable(t) then
    fail("bad argument #1 to 'frame' (columns expected: a table by name, a "
      .. "list of pairs or of records, or a matrix; got %s)",
      columns.type_of(t))
  end
  if type(t[1]) == "table" and not getmetatable(t[1]) then
    if type(t[1][1]) == "string" then return frame.build(t) end
    return of_records(t, o.names)
  end
  return of_columns(t, o.names)
end

-- ---- columns ----

-- The column of that name; 'word' is whose argument it is.
function frame.column(f, name, word, arg)
  local r = record(f)
  local c = type(name) == "string" and r.columns[name]
  if c then return c end
  if type(name) ~= "string" then
    fail("bad argument #%d to '%s' (a name of a column expected, got %s)",
      arg or 1, word, columns.type_of(name))
  end
  fail("bad argument #%d to '%s' (no column '%s'; %s)", arg or 1, word, name,
    columns.hint(name, r.columns, r.names))
end

-- Names that were given one by one or as a list; all are there. None: nil.
function frame.names_given(f, word, first, ...)
  local list
  if type(first) == "table" and not getmetatable(first) then list = first
  elseif first ~= nil then list = {first, ...}
  else return nil end
  for _, name in ipairs(list) do frame.column(f, name, word) end
  return list
end

-- The columns of a list of names.
function frame.columns_of(f, names)
  local list = {}
  for k, name in ipairs(names) do list[k] = record(f).columns[name] end
  return list
end

-- Each column by g(column, name), in a new frame of n rows.
function frame.each(f, n, g)
  local r, cols = record(f), {}
  for _, name in ipairs(r.names) do cols[name] = g(r.columns[name], name) end
  return of(copy_names(f), cols, n)
end

-- The rows of an int32 tensor, -1 giving gaps where 'gaps' is set.
function frame.take(f, rows, gaps)
  return frame.each(f, rows:size(1), function(c, name)
    return columns.take(c, rows, gaps, name)
  end)
end

function frame.slice(f, i, j)
  return frame.each(f, j - i + 1, function(c)
    return columns.slice(c, i, j)
  end)
end

-- ---- looking ----

local TELL = {
  names = copy_names,
  kinds = function(f)
    local kinds = {}
    for name, c in pairs(record(f).columns) do kinds[name] = columns.kind(c) end
    return kinds
  end,
  shape = function(f)
    return {record(f).rows, #record(f).names}
  end,
}

local function row_of(f, i)
  local r, row = record(f), {}
  if i < 0 then i = i + r.rows + 1 end
  if i < 1 or i > r.rows then return nil end
  for name, c in pairs(r.columns) do row[name] = columns.value(c, i) end
  return row
end

-- Rows of a mask of bool, or of indices.
function frame.rows_of(f, key, word)
  local r = record(f)
  if key.ndim ~= 1 then
    fail("%s: a mask or indices of 1 dim expected, got %d dims", word, key.ndim)
  end
  if key.dtype == "bool" then
    if key:size(1) ~= r.rows then
      fail("%s: a mask of %d rows, the frame has %d", word, key:size(1),
        r.rows)
    end
    return C.of_mask(columns.plain(key))
  end
  if columns.is_float(key) then
    fail("%s: a mask or integers expected, got %s", word, key.dtype)
  end
  return C.of_indices(columns.plain(key:to "int64"), r.rows)
end

-- f[{i, j}], f[{i, j, step}] as tensors' ranges.
local function range_of(f, key)
  local n = record(f).rows
  if #key == 0 or type(key[1]) == "table" then
    fail("frame: a range {first, last} expected")
  end
  local picked = la.arange(n)[{key}]
  return frame.take(f, picked:to "int32")
end

function Frame:__index(key)
  if type(key) == "string" then
    local method = methods[key]
    if method then return method end
    if TELL[key] then return TELL[key](self) end
    local r = record(self)
    local c = r.columns[key]
    if c ~= nil then return c end
    if key:find "^__" then return nil end
    local set = {}
    for name in pairs(r.columns) do set[name] = true end
    for name in pairs(methods) do set[name] = true end
    for name in pairs(TELL) do set[name] = true end
    fail("frame has no column '%s' (%s)", key, columns.hint(key, set, r.names))
  elseif math.type(key) == "integer" then
    return row_of(self, key)
  elseif columns.is_tensor(key) then
    return frame.take(self, frame.rows_of(self, key, "frame"))
  elseif type(key) == "table" and not getmetatable(key) then
    return range_of(self, key)
  end
  fail("frame: a name, a row, a range {i, j}, a mask or indices expected, "
    .. "got %s", columns.type_of(key))
end

local function remove(r, name)
  for k, other in ipairs(r.names) do
    if other == name then
      table.remove(r.names, k)
      r.columns[name] = nil
      return
    end
  end
end

-- f.x = v: a column is added or replaced; nil drops it.
function Frame:__newindex(name, v)
  local r = record(self)
  if type(name) ~= "string" then
    fail("frame: the name of a column: a string expected, got %s (rows can't "
      .. "be set)", columns.type_of(name))
  end
  if v == nil then remove(r, name) return end
  local owner = ("frame: column '%s'"):format(name)
  local empty = #r.names == 0 or #r.names == 1 and r.columns[name] ~= nil
  local c = columns.make(v, not (empty and r.rows == 0) and r.rows or nil,
    owner)
  local n = columns.length(c)
  if not empty and n ~= r.rows then
    fail("frame: column '%s' has %d row%s, '%s' has %d", name, n,
      n == 1 and "" or "s", r.names[1] == name and r.names[2] or r.names[1],
      r.rows)
  end
  if not r.columns[name] then r.names[#r.names + 1] = name end
  r.columns[name], r.rows = c, n
end

function Frame:__len() return record(self).rows end

function Frame:__pairs()
  local r, k = record(self), 0
  return function()
    k = k + 1
    local name = r.names[k]
    if name ~= nil then return name, r.columns[name] end
  end, self, nil
end

-- Equal tensors, where gaps are.
local function same_column(a, b)
  if columns.kind(a) ~= columns.kind(b) then return false end
  if not columns.is_tensor(a) then return a == b end
  a, b = a:detach(), b:detach()
  if not columns.is_float(a) then return a:equal(b) end
  local gap = a:isnan()
  return gap:equal(b:isnan())
    and a:masked_fill(gap, 0):equal(b:masked_fill(gap, 0))
end

function Frame.__eq(f, g)
  if not is_frame(f) or not is_frame(g) then return false end
  local a, b = record(f), record(g)
  if a.rows ~= b.rows or #a.names ~= #b.names then return false end
  for k, name in ipairs(a.names) do
    if b.names[k] ~= name
      or not same_column(a.columns[name], b.columns[name]) then return false end
  end
  return true
end

function methods:col(name) return frame.column(self, name, "col") end

-- ---- rows ----

local BLOCK = 4096

-- Lists of the values of rows i to j by name.
local function lists_of(f, i, j)
  local lists = {}
  for name, c in pairs(record(f).columns) do
    lists[name] = columns.list(columns.slice(c, i, j))
  end
  return lists
end

-- for i, row in f:rows()
function methods:rows()
  local n, i, from, lists = record(self).rows, 0, 0, nil
  local names = copy_names(self)
  return function()
    if i >= n then return nil end
    if i == from then
      local to = math.min(from + BLOCK, n)
      lists = lists_of(self, from + 1, to)
      lists[BLOCK], from = from, to
    end
    i = i + 1
    local row, at = {}, i - lists[BLOCK]
    for _, name in ipairs(names) do row[name] = lists[name][at] end
    return i, row
  end
end

function methods:records()
  local list = {}
  for i, row in self:rows() do list[i] = row end
  return list
end

-- Columns by name as tensors and lists, with names.
function methods:table()
  local r, out = record(self), {}
  for name, c in pairs(r.columns) do
    out[name] = columns.is_tensor(c) and c or c:totable()
  end
  if out.names ~= nil then
    for k, name in ipairs(r.names) do out[k] = name end
  else
    out.names = copy_names(self)
  end
  return out
end

local TENSOR_OPTIONS = columns.set "dtype"

-- f:tensor("a", "b") or f:tensor{"a", "b", dtype=}: rows x columns.
function methods:tensor(first, ...)
  local names, dtype = nil, nil
  if type(first) == "table" and not getmetatable(first) then
    local o = {}
    names = {}
    for key, v in pairs(first) do
      if math.type(key) == "integer" then names[key] = v else o[key] = v end
    end
    dtype = columns.options("tensor", o, TENSOR_OPTIONS).dtype
    if #names == 0 then names = nil end
  elseif first ~= nil then
    names = {first, ...}
  end
  names = names or copy_names(self)
  local list = {}
  for k, name in ipairs(names) do
    local c = frame.column(self, name, "tensor")
    if not columns.is_tensor(c) then
      fail("tensor: column '%s' is %s, a number is needed", name,
        columns.kind(c))
    end
    list[k] = dtype and c:to(dtype) or c
  end
  if #list == 0 then
    return la.zeros({record(self).rows, 0}, {dtype = dtype or "float64"})
  end
  local common = list[1].dtype
  for k = 2, #list do common = la.promote_types(common, list[k].dtype) end
  for k = 1, #list do list[k] = list[k]:to(common) end
  return la.stack(list, 2)
end

function methods:head(n)
  n = math.min(frame.count_given("head", n, 5), record(self).rows)
  return frame.slice(self, 1, n)
end

function methods:tail(n)
  local all = record(self).rows
  n = math.min(frame.count_given("tail", n, 5), all)
  return frame.slice(self, all - n + 1, all)
end

-- A number of rows from 0 on, or its default.
function frame.count_given(word, n, default)
  if n == nil then return default end
  local i = math.tointeger(n)
  if not i or i < 0 then
    fail("%s: a number of rows from 0 on expected, got %s", word,
      type(n) == "number" and tostring(n) or columns.type_of(n))
  end
  return i
end

local SAMPLE = columns.set "replace generator"

function methods:sample(n, options)
  local o = columns.options("sample", options, SAMPLE)
  local all = record(self).rows
  n = frame.count_given("sample", n, 1)
  local with = {generator = o.generator}
  local rows
  if o.replace then
    if all == 0 and n > 0 then fail("sample: the frame has no rows") end
    rows = n == 0 and la.zeros({0}, {dtype = "int64"})
      or la.randint(1, all, {n}, with)
  else
    if n > all then
      fail("sample: %d rows of %d: {replace = true} takes some twice", n, all)
    end
    rows = la.randperm(all, with)[{{1, n}}]
  end
  return frame.take(self, C.of_indices(columns.plain(rows:to "int64"), all))
end

return frame
