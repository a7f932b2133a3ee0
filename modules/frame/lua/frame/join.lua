-- lunarray.frame.join: rows of two frames with equal keys.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local frame = require "lunarray.frame.table"
local C, fail = columns.C, columns.fail
local methods, record = frame.methods, frame.record
require "lunarray.frame.concat"

local OPTIONS = columns.set "how suffix fill validate"
local HOW = columns.set "inner left right outer semi anti"
local VALIDATE = columns.set "1:1 1:m m:1 m:m"

-- Names of keys on the left and on the right.
local function keys_of(f, g, on)
  local left, right = {}, {}
  if type(on) == "string" then
    left[1], right[1] = on, on
  elseif type(on) == "table" and on[1] ~= nil then
    for k, name in ipairs(on) do left[k], right[k] = name, name end
  elseif type(on) == "table" and next(on) ~= nil and not getmetatable(on) then
    for name in pairs(on) do left[#left + 1] = name end
    if type(left[1]) == "string" then table.sort(left, C.before) end
    for k, name in ipairs(left) do right[k] = on[name] end
  else
    fail("bad argument #2 to 'join' (names of keys expected: a name, a list, "
      .. "or {left = \"right\"})")
  end
  for k = 1, #left do
    frame.column(f, left[k], "join", 2)
    local name = right[k]
    if type(name) ~= "string" or not record(g).columns[name] then
      fail("bad argument #2 to 'join' (the other frame has no column '%s'; "
        .. "%s)", tostring(name),
        columns.hint(name, record(g).columns, record(g).names))
    end
  end
  return left, right
end

-- Ids of the rows of both by one key that needs no conversion: the left is
-- looked up among the right, and what it alone has is -1.
local function looked_up(a, b)
  local raw_a, letter = columns.engine(a)
  local raw_b, other = columns.engine(b)
  if letter ~= other or letter == "t" or raw_a.dtype ~= raw_b.dtype
    or letter == "d" and a.unit ~= b.unit then
    return nil
  end
  return C.match(raw_a, raw_b, letter)
end

-- Ids of the rows of both, -1 for keys with gaps, and their number. 'all': the
-- left's keys have ids even where the right has them not.
local function ids_of(f, g, left, right, all)
  local list = {}
  for k, name in ipairs(left) do
    local a, b = record(f).columns[name], record(g).columns[right[k]]
    local owner = ("join: keys '%s' and '%s'"):format(name, right[k])
    if columns.is_tensor(a) and columns.is_tensor(b) and a.dtype ~= b.dtype
      and columns.is_float(a) ~= columns.is_float(b) then
      a, b = columns.to_float(a, owner), columns.to_float(b, owner)
    end
    if #left == 1 and not all then
      local l, r, count = looked_up(a, b)
      if l then return l, r, count end
    end
    list[k] = columns.concat({a, b}, owner)
  end
  local ids, count = columns.group(list, true, true)
  local n, m = #f, #g
  return columns.plain(ids[{{1, n}}]), columns.plain(ids[{{n + 1, n + m}}]),
    count
end

local function key_text(f, names, row)
  local list = {}
  for k, name in ipairs(names) do
    list[k] = tostring(columns.value(record(f).columns[name], row))
  end
  return table.concat(list, ", ")
end

local function check_once(f, names, ids, count, validate, side)
  local row = C.twice(ids, count)
  if row then
    fail("join: validate = \"%s\": the key %s stands twice on the %s (row %d)",
      validate, key_text(f, names, row), side, row)
  end
end

-- Rows of both; of the outer join also the right's unmatched ones.
local function match(l, r, count, how)
  if how == "right" then
    local b, a = C.join(r, l, count, true)
    return a, b
  end
  local a, b = C.join(l, r, count, how ~= "inner")
  if how ~= "outer" then return a, b end
  local used = la.zeros({r:size(1)}, {dtype = "bool"})
  local hit = b:masked_select(b:ge(0))
  if hit:numel() > 0 then used[hit:to "int64" + 1] = true end
  local rest = C.of_mask(columns.plain(used:logical_not()))
  return la.cat{a, la.full({rest:size(1)}, -1, {dtype = "int32"})},
    la.cat{b, rest}
end

-- Rows, with 'fill' or gaps where there are none; the column itself for all of
-- its rows in their order.
local function taken(c, rows, gaps, fill, name)
  if not gaps then
    if C.is_whole(rows, columns.length(c)) then return c end
    return columns.take(c, rows)
  end
  if fill == nil then return columns.take(c, rows, true, "join") end
  local value = columns.make(fill, 1, ("join: fill: column '%s'"):format(name))
  local both = columns.concat({c, value},
    ("join: fill: column '%s'"):format(name))
  if columns.is_tensor(c) and not columns.is_float(c)
    and columns.is_float(both) and math.type(fill) == "integer" then
    both = both:to(c.dtype)
  end
  local n = columns.length(c)
  return columns.take(both, columns.plain(
    la.where(rows:lt(0), n, rows):to "int32"))
end

-- Left keys, where the left has no row those of the right.
local function key_column(a, b, rows_a, rows_b, gaps)
  if not gaps then return taken(a, rows_a) end
  local both = columns.concat({a, b}, "join")
  local n = columns.length(a)
  local rows = la.where(rows_a:lt(0), rows_b + n, rows_a):to "int32"
  return columns.take(both, columns.plain(rows))
end

local function check_fill(fill)
  if fill == nil then return {} end
  if type(fill) ~= "table" then
    fail("join: fill: a table of values by name expected, got %s",
      columns.type_of(fill))
  end
  return fill
end

local function assemble(f, g, left, right, a, b, o)
  local gaps_a, gaps_b = columns.has_none(a), columns.has_none(b)
  local fill = check_fill(o.fill)
  local key, met, list = {}, {}, {}
  for k, name in ipairs(left) do key[name] = right[k] end
  local of_right = {}
  for _, name in ipairs(right) do of_right[name] = true end
  for name, c in pairs(f) do
    met[name] = true
    list[#list + 1] = {name, key[name]
      and key_column(c, record(g).columns[key[name]], a, b, gaps_a)
      or taken(c, a, gaps_a, fill[name], name)}
  end
  local suffix = o.suffix or "_right"
  for name, c in pairs(g) do
    if not of_right[name] then
      local called = met[name] and name .. suffix or name
      if met[called] then
        fail("join: two columns '%s': another suffix is needed", called)
      end
      list[#list + 1] = {called, taken(c, b, gaps_b, fill[called], called)}
    end
  end
  local used = {}
  for _, e in ipairs(list) do used[e[1]] = true end
  for name in pairs(fill) do
    if not used[name] then
      fail("join: fill: the result has no column '%s'", tostring(name))
    end
  end
  return frame.build(list, "join", a:size(1))
end

-- f:join(g, on[, {how=, suffix=, fill=, validate=}])
function methods:join(other, on, options)
  local o = columns.options("join", options, OPTIONS)
  if not frame.is_frame(other) then
    fail("bad argument #1 to 'join' (a frame expected, got %s)",
      columns.type_of(other))
  end
  local how, validate = o.how or "inner", o.validate
  if not HOW[how] then
    fail("join: how: inner, left, right, outer, semi or anti expected, got %s",
      tostring(how))
  end
  if validate ~= nil and not VALIDATE[validate] then
    fail('join: validate: "1:1", "1:m" or "m:1" expected, got %s',
      tostring(validate))
  end
  local left, right = keys_of(self, other, on)
  local l, r, count = ids_of(self, other, left, right,
    validate == "1:1" or validate == "1:m")
  if validate == "1:1" or validate == "1:m" then
    check_once(self, left, l, count, validate, "left")
  end
  if validate == "1:1" or validate == "m:1" then
    check_once(other, right, r, count, validate, "right")
  end
  if how == "semi" or how == "anti" then
    local has = la.zeros({count + 1}, {dtype = "bool"})
    local hit = r:masked_select(r:ge(0))
    if hit:numel() > 0 then has[hit:to "int64" + 1] = true end
    local rows = la.where(l:lt(0), count, l):to "int32"
    local mask = C.take(columns.plain(has), "n", columns.plain(rows))
    if how == "anti" then mask = mask:logical_not() end
    return frame.take(self, C.of_mask(columns.plain(mask)))
  end
  local a, b = match(l, r, count, how)
  return assemble(self, other, left, right, columns.plain(a),
    columns.plain(b), o)
end

return methods
