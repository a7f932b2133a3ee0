-- lunarray.frame.recipes: the words of F. Given a column they compute now,
-- given a name they make a recipe, which with, agg and filter run on a frame,
-- or on its groups.
--
-- A context says where a recipe runs: the frame, the id of each row's group
-- (nil: one group), their number, and the rows group by group where they are
-- asked for. A word of one value gives a column with a row for each group, one
-- of rows a column as long as the frame.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local frame = require "lunarray.frame.table"
local numbers = require "lunarray.numbers"
local C, fail = columns.C, columns.fail

local recipes = {}
local words = {}            -- what F has
recipes.words = words

local Recipe = {__name = "lunarray.Recipe"}

local function is_recipe(v)
  return type(v) == "table" and getmetatable(v) == Recipe
end
recipes.is_recipe = is_recipe

function Recipe:__tostring()
  return ("recipe %s(%s)"):format(self.word, self.x and tostring(self.x) or "")
end

-- ---- contexts ----

-- All rows as one group.
function recipes.whole(f)
  return {frame = f, n = #f, count = 1}
end

-- Rows group by group, and where each begins; nil, nil for one group.
local function parts(ctx)
  if not ctx.ids then return nil, nil end
  if not ctx.rows then
    ctx.rows, ctx.offsets = C.segments(ctx.ids, ctx.count)
  end
  return ctx.rows, ctx.offsets
end
recipes.parts = parts

-- The frame of group k.
function recipes.part(ctx, k)
  if not ctx.ids then return ctx.frame end
  local rows, offsets = parts(ctx)
  ctx.sorted = ctx.sorted or frame.take(ctx.frame, rows)
  ctx.bounds = ctx.bounds or offsets:totable()
  return frame.slice(ctx.sorted, ctx.bounds[k] + 1, ctx.bounds[k + 1])
end

-- The rows of column c in group k.
local function column_part(ctx, c, k)
  if not ctx.ids then return c end
  local rows, offsets = parts(ctx)
  ctx.bounds = ctx.bounds or offsets:totable()
  local from, to = ctx.bounds[k] + 1, ctx.bounds[k + 1]
  return columns.take(c, columns.plain(rows[{{from, to}}]))
end

-- ---- running ----

-- The column that an argument of a recipe stands for.
local function argument(ctx, recipe)
  local x = recipe.x
  if x == nil then return nil end
  if is_recipe(x) then
    local c = recipes.run(ctx, x)
    return x.single and recipes.broadcast(ctx, c) or c
  end
  return frame.column(ctx.frame, x, recipe.word)
end

-- Runs a recipe.
function recipes.run(ctx, recipe)
  return recipe.run(ctx, argument(ctx, recipe), recipe)
end

-- One value for each group as a column of the rows.
function recipes.broadcast(ctx, c)
  local rows = ctx.ids or la.zeros({ctx.n}, {dtype = "int32"})
  return columns.take(c, columns.plain(rows), ctx.skipped)
end

-- ---- words ----

local function number_column(word, c, x)
  if columns.is_tensor(c) then return c end
  fail("%s: %s is %s, a number is needed", word, type(x) == "string"
    and ("column '%s'"):format(x) or "the column", columns.kind(c))
end

-- The value now: 'x' is a column or a list.
local function compute(recipe, x)
  local c = columns.make(x, nil, recipe.word)
  local ctx = {n = columns.length(c), count = 1}
  local result = recipe.run(ctx, c, recipe)
  if recipe.single then return columns.value(result, 1) end
  return result
end

-- Defines a word: fn(ctx, column, recipe) with the recipe's options in it;
-- 'read' brings arguments behind the column to the recipe.
local function define(word, single, fn, read)
  words[word] = function(x, ...)
    local recipe = setmetatable({word = word, single = single, run = fn},
      Recipe)
    if read then read(recipe, ...) end
    if type(x) == "string" or is_recipe(x) then
      recipe.x = x
      return recipe
    end
    if x == nil then
      fail("bad argument #1 to '%s' (the name of a column, or a column, "
        .. "expected)", word)
    end
    return compute(recipe, x)
  end
end
recipes.define = define

-- f(raw, letter, ids, count) of the engine.
local function engine(ctx, c)
  local raw, letter = columns.engine(c)
  return raw, letter, ctx.ids, ctx.count
end

-- ---- one value ----

function words.size(x)
  if x ~= nil and type(x) ~= "string" then
    return columns.length(columns.make(x, nil, "size"))
  end
  return setmetatable({word = "size", single = true, run = function(ctx)
    local ones = la.zeros({ctx.n}, {dtype = "bool"})
    return C.count(ones, "n", ctx.ids, ctx.count)
  end}, Recipe)
end

define("count", true, function(ctx, c) return C.count(engine(ctx, c)) end)

-- float32 stays, halves too.
local function as(c, like)
  if columns.FLOATS[like.dtype] and like.dtype ~= "float64" then
    return c:to(like.dtype)
  end
  return c
end

local function total(prod)
  return function(ctx, c, recipe)
    number_column(recipe.word, c, recipe.x)
    local raw, letter, ids, count = engine(ctx, c)
    if not columns.is_float(c) then
      return C.isum(raw, letter, ids, count, prod)
    end
    return as(C.sum(raw, letter, ids, count, prod), c)
  end
end
define("sum", true, total(false))
define("prod", true, total(true))

local function means(ctx, c)
  local raw, letter, ids, count = engine(ctx, c)
  local sums, counts = C.sum(raw, letter, ids, count, false)
  return sums / counts:to "float64", counts, raw, letter
end

define("mean", true, function(ctx, c, recipe)
  number_column("mean", c, recipe.x)
  return as((means(ctx, c)), c)
end)

local function variance(ctx, c)
  local mean, counts, raw, letter = means(ctx, c)
  local squares = C.squares(raw, letter, ctx.ids, ctx.count, mean)
  local v = squares / (counts - 1):to "float64"
  return v:masked_fill(counts:lt(2), 0 / 0)
end

define("var", true, function(ctx, c, recipe)
  number_column("var", c, recipe.x)
  return as(variance(ctx, c), c)
end)

define("std", true, function(ctx, c, recipe)
  number_column("std", c, recipe.x)
  return as(variance(ctx, c):sqrt(), c)
end)

local function quantile(ctx, c, recipe)
  number_column(recipe.word, c, recipe.x)
  local raw, letter, ids, count = engine(ctx, c)
  return as(C.quantile(raw, letter, ids, count, recipe.q), c)
end

define("median", true, quantile, function(recipe) recipe.q = 0.5 end)
define("quantile", true, quantile, function(recipe, q)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    fail("quantile: a number from 0 to 1 expected, got %s",
      type(q) == "number" and tostring(q) or columns.type_of(q))
  end
  recipe.q = q
end)

-- The rows that have the values; the column's kind stays.
for _, word in ipairs{"min", "max", "first", "last"} do
  define(word, true, function(ctx, c)
    local raw, letter, ids, count = engine(ctx, c)
    local rows = C.pick(raw, letter, ids, count, word)
    return columns.take(c, rows, columns.has_none(rows), word)
  end)
end

define("nunique", true, function(ctx, c) return C.nunique(engine(ctx, c)) end)

-- Gaps count for neither.
local function truth(zero)
  return function(ctx, c, recipe)
    number_column(recipe.word, c, recipe.x)
    local mask = zero and c:eq(0) or c:ne(0)
    if columns.is_float(c) then
      mask = mask:logical_and(c:isnan():logical_not())
    end
    local n = C.isum(columns.plain(mask), "n", ctx.ids, ctx.count, false)
    return zero and n:eq(0) or n:gt(0)
  end
end
define("any", true, truth(false))
define("all", true, truth(true))

-- ---- one value for each row ----

local function check_integer(word, n, default)
  if n == nil then return default end
  local i = math.tointeger(n)
  if not i then
    fail("%s: an integer expected, got %s", word,
      type(n) == "number" and tostring(n) or columns.type_of(n))
  end
  return i
end

local function shifted(ctx, c, by, word)
  local raw, letter = columns.engine(c)
  local rows = C.shift(raw, letter, nil, nil, by)
  if ctx.ids then
    local order, offsets = parts(ctx)
    rows = C.shift(raw, letter, order, offsets, by)
  end
  return columns.take(c, rows, columns.has_none(rows), word)
end

local function read_n(word)
  return function(recipe, n) recipe.n = check_integer(word, n, 1) end
end

define("shift", false, function(ctx, c, recipe)
  return shifted(ctx, c, recipe.n, "shift")
end, read_n "shift")

-- Dates give the seconds, or days, between.
define("diff", false, function(ctx, c, recipe)
  if columns.is_text(c) then number_column("diff", c, recipe.x) end
  local before = shifted(ctx, c, recipe.n, "diff")
  if columns.is_date(c) then return c:since(before, c.unit) end
  if before.dtype == "bool" then before = before:to "float64" end
  return as(c:to(before.dtype) - before, before)
end, read_n "diff")

for _, word in ipairs{"cumsum", "cumprod", "cummax", "cummin"} do
  define(word, false, function(ctx, c, recipe)
    number_column(word, c, recipe.x)
    local raw, letter = columns.engine(c)
    local rows, offsets = parts(ctx)
    local result = C.scan(raw, letter, rows, offsets, word)
    if word:find "m[ai][xn]$" then return result:to(c.dtype) end
    return as(result, c)
  end)
end

for _, word in ipairs{"ffill", "bfill"} do
  define(word, false, function(ctx, c)
    local raw, letter = columns.engine(c)
    local order, offsets = parts(ctx)
    return columns.take(c, C.fill(raw, letter, order, offsets,
      word == "bfill"))
  end)
end

define("isna", false, function(_, c) return columns.isna(c) end)

function words.number()
  return setmetatable({word = "number", single = false, run = function(ctx)
    local rows, offsets = parts(ctx)
    return C.number(la.zeros({ctx.n}, {dtype = "bool"}), "n", rows, offsets)
  end}, Recipe)
end

local RANK = columns.set "method descending"
local TIES = columns.set "average min max dense first"

define("rank", false, function(ctx, c, recipe)
  local raw, letter, ids, count = engine(ctx, c)
  return C.rank(raw, letter, ids, count, recipe.method, recipe.descending)
end, function(recipe, options)
  local o = columns.options("rank", options, RANK)
  recipe.method = o.method or "average"
  recipe.descending = o.descending == true
  if not TIES[recipe.method] then
    fail("rank: method: average, min, max, dense or first expected, got %s",
      tostring(recipe.method))
  end
end)

-- ---- rolling ----

local HOW = columns.set "count sum mean var std min max median"
local ROLLING = columns.set "min center on"
local PER_DAY = {day = 1, hour = 24, minute = 1440, second = 86400,
  week = 1 / 7, millisecond = 864e5, microsecond = 864e8, nanosecond = 864e11}

-- Values of 'times' that a window of n units is wide, in the finer unit.
local function time_window(times, n, unit)
  if not PER_DAY[unit] then
    fail("rolling: unit: week, day, hour, minute, second, millisecond, "
      .. "microsecond or nanosecond expected, got %s", tostring(unit))
  end
  local stored = unit == "week" and "day"
    or (unit == "hour" or unit == "minute") and "second" or unit
  if PER_DAY[stored] > PER_DAY[times.unit] then
    times = columns.convert(times, stored)
  end
  return times, math.floor(n * PER_DAY[times.unit] / PER_DAY[unit] + 0.5)
end

-- What fn gives for the values of each window, gaps left out. The bounds of the
-- windows are the least and the greatest of the rows' positions in them, in the
-- order of the groups.
local function rolling_by(fn, ctx, c, recipe, size, times)
  local order, offsets = parts(ctx)
  local position = la.arange(1, #c + 1, {dtype = "float64"})
  if order then
    position = order:argsort():double()
    c = columns.take(c, columns.plain(order))
  end
  local raw, letter = columns.engine(position)
  local function bounds(how)
    return C.rolling(raw, letter, order, offsets, how, size, times, 1,
      recipe.center):totable()
  end
  local low, high, out = bounds "min", bounds "max", {}
  for k = 1, #low do
    local window = c[{{low[k] // 1 | 0, high[k] // 1 | 0}}]
    if window.dtype:find "float" then
      window = window[window:isnan():logical_not()]
    end
    out[k] = 0 / 0
    if #window >= recipe.least then
      local value = fn(window)
      if columns.is_tensor(value) then value = value:item() end
      out[k] = tonumber(value) or fail("rolling: the function gave %s for row "
        .. "%d, a number is needed", columns.type_of(value), k)
    end
  end
  return la.tensor(out, {dtype = "float64"})
end

local function rolling(ctx, c, recipe)
  number_column("rolling", c, recipe.x)
  local raw, letter = columns.engine(c)
  local order, offsets = parts(ctx)
  local times, size = nil, recipe.n
  if recipe.unit then
    times = recipe.on
    if type(times) == "string" then
      if not ctx.frame then fail("rolling: on: a Date expected") end
      times = frame.column(ctx.frame, times, "rolling")
    end
    if not columns.is_date(times) then
      fail("rolling: on: a column of dates expected, got %s",
        columns.is_column(times) and columns.kind(times)
        or columns.type_of(times))
    end
    times, size = time_window(times, recipe.n, recipe.unit)
    times = columns.plain(times.values)
  end
  if type(recipe.how) == "function" then
    return rolling_by(recipe.how, ctx, c, recipe, size, times)
  end
  return C.rolling(raw, letter, order, offsets, recipe.how, size, times,
    recipe.least, recipe.center)
end

define("rolling", false, rolling, function(recipe, n, how, options)
  local o = columns.options("rolling", options, ROLLING)
  if type(n) == "table" then
    recipe.unit, n = n[2], n[1]
    if o.on == nil then fail("rolling: a window of time needs on=") end
    if o.center then fail("rolling: center goes with rows, not with time") end
  elseif o.on ~= nil then
    fail('rolling: on= goes with a window such as {7, "day"}')
  end
  recipe.n = check_integer("rolling", n)
  if not recipe.n or recipe.n < 1 then
    fail("rolling: a number of rows from 1 on expected, got %s", tostring(n))
  end
  if not HOW[how] and type(how) ~= "function" then
    fail("rolling: how: count, sum, mean, var, std, min, max, median or a "
      .. "function expected, got %s", tostring(how))
  end
  recipe.how, recipe.on, recipe.center = how, o.on, o.center == true
  recipe.least = check_integer("rolling", o.min,
    recipe.unit and 1 or recipe.n)
end)

-- ---- bins ----

local CUT = columns.set "labels right"

local function edge_text(v)
  if v == math.floor(v) and math.abs(v) < 2^53 then
    return ("%d"):format(math.floor(v))
  end
  return numbers.format("%.6g", v)
end

-- 'lowest': the first bin has its lower edge, too.
local function bin_labels(edges, right, given, lowest)
  if given then
    if #given ~= #edges - 1 then
      fail("cut: %d labels for %d bins", #given, #edges - 1)
    end
    return given
  end
  local list = {}
  for k = 1, #edges - 1 do
    local form = not right and "[%s, %s)" or lowest and k == 1 and "[%s, %s]"
      or "(%s, %s]"
    list[k] = form:format(edge_text(edges[k]), edge_text(edges[k + 1]))
  end
  return list
end

local function edges_of(word, edges)
  if columns.is_tensor(edges) then edges = edges:totable() end
  if type(edges) ~= "table" or #edges < 2 then
    fail("%s: a list of at least two edges expected", word)
  end
  for k = 2, #edges do
    if not (edges[k - 1] < edges[k]) then
      fail("%s: the edges do not rise: %s, then %s", word,
        tostring(edges[k - 1]), tostring(edges[k]))
    end
  end
  return edges
end

-- The bin of each value from 1, 0 outside. 'lowest': the first edge belongs to
-- the first bin.
local function bins_of(c, edges, right, lowest)
  local x = c:detach():to "float64"
  local bounds = la.tensor(edges, {dtype = "float64"})
  local at = la.searchsorted(bounds, x:contiguous(), {right = not right})
  -- searchsorted counts from 1: the index where x would go in.
  at = (at - 1):to "int32"
  if lowest then at = at:masked_fill(x:eq(edges[1]), 1) end
  local outside = at:gt(#edges - 1):logical_or(at:lt(1))
    :logical_or(x:isnan())
  return at:masked_fill(outside, 0)
end

local function binned(bins, labels, numbered)
  if not numbered then return columns.text_of(bins, labels, true) end
  local gaps = bins:eq(0)
  if not gaps:any() then return bins:to "int64" end
  return bins:to "float64":masked_fill(gaps, 0 / 0)
end

define("cut", false, function(_, c, recipe)
  number_column("cut", c, recipe.x)
  return binned(bins_of(c, recipe.edges, recipe.right), recipe.labels,
    recipe.numbered)
end, function(recipe, edges, options)
  local o = columns.options("cut", options, CUT)
  recipe.edges, recipe.right = edges_of("cut", edges), o.right ~= false
  recipe.numbered = o.labels == false
  recipe.labels = bin_labels(recipe.edges, recipe.right, o.labels or nil)
end)

local QCUT = columns.set "labels"

-- Bins of as many values, by quantiles; equal edges are an error.
define("qcut", false, function(ctx, c, recipe)
  number_column("qcut", c, recipe.x)
  local raw, letter = columns.engine(c)
  local edges, n = {}, recipe.n
  for k = 0, n do
    edges[k + 1] = C.quantile(raw, letter, nil, 1, k / n):item(1)
  end
  if #c == 0 or edges[1] ~= edges[1] then
    return binned(la.zeros({ctx.n}, {dtype = "int32"}), {}, recipe.numbered)
  end
  edges = edges_of("qcut", edges)
  return binned(bins_of(c, edges, true, true),
    bin_labels(edges, true, recipe.labels, true), recipe.numbered)
end, function(recipe, n, options)
  local o = columns.options("qcut", options, QCUT)
  recipe.n = check_integer("qcut", n)
  if not recipe.n or recipe.n < 1 then
    fail("qcut: a number of bins from 1 on expected, got %s", tostring(n))
  end
  recipe.numbered, recipe.labels = o.labels == false, o.labels or nil
end)

-- ---- functions ----

-- Values of a function for each group as a column.
function recipes.of_values(list, n, owner)
  for k = 1, n do
    local v = list[k]
    if columns.is_tensor(v) and v:numel() == 1 then list[k] = v:item() end
  end
  return columns.of_list(list, n, owner)
end

-- Columns of groups joined to one of the rows.
local function joined(ctx, list, owner)
  local rows, offsets = parts(ctx)
  local pieces = {}
  for k, v in ipairs(list) do
    local n = rows and offsets:item(k + 1) - offsets:item(k) or ctx.n
    local c, scalar = columns.given(v, owner)
    if scalar then c = columns.full(c, n) end
    if columns.length(c) ~= n then
      fail("%s: a column of %d rows or one value expected, got %d rows", owner,
        n, columns.length(c))
    end
    pieces[k] = c
  end
  if not rows then return pieces[1] end
  local all = columns.concat(pieces, owner)
  local back = la.empty({ctx.n}, {dtype = "int32"})
  back:fill_(-1)
  local n = rows:size(1)
  if n > 0 then back[rows:to "int64" + 1] = la.arange(n):to "int32" end
  return columns.take(all, back, columns.has_none(back), owner)
end

local function calls(ctx, get, fn)
  local list = {}
  for k = 1, ctx.count do
    local v = fn(get(k))
    if v == nil then v = columns.gap end
    list[k] = v
  end
  return list
end

words.apply = function(x, fn)
  if type(fn) ~= "function" then
    fail("bad argument #2 to 'apply' (a function expected, got %s)",
      columns.type_of(fn))
  end
  local recipe = setmetatable({word = "apply", fn = fn}, Recipe)
  recipe.run = function(ctx, c)
    return calls(ctx, function(k) return column_part(ctx, c, k) end, fn)
  end
  if type(x) ~= "string" and not is_recipe(x) then
    return fn(columns.make(x, nil, "apply"))
  end
  recipe.x = x
  return recipe
end

-- ---- what is given to with, agg, filter ----

-- Lists of values of a function, or nil.
local function called(ctx, v)
  if is_recipe(v) and v.fn then return recipes.run(ctx, v) end
  if type(v) == "function" then
    return calls(ctx, function(k) return recipes.part(ctx, k) end, v)
  end
end

-- A column of the frame's rows.
function recipes.rows(ctx, v, owner)
  local list = called(ctx, v)
  if list then
    if ctx.count == 0 then return la.zeros({ctx.n}, {dtype = "float64"}) end
    return joined(ctx, list, owner)
  end
  if is_recipe(v) then
    local c = recipes.run(ctx, v)
    return v.single and recipes.broadcast(ctx, c) or c
  end
  return columns.make(v, ctx.n, owner)
end

-- A column with a row for each group.
function recipes.values(ctx, v, owner)
  local list = called(ctx, v)
  if list then
    for k, value in ipairs(list) do
      if columns.is_column(value)
        and not (columns.is_tensor(value) and value:numel() == 1) then
        fail("%s: one value for each group expected, got a column", owner)
      end
      list[k] = value
    end
    return recipes.of_values(list, ctx.count, owner)
  end
  if is_recipe(v) then
    if not v.single then
      fail("%s: %s gives a value for each row, one for each group is needed "
        .. "(with takes it)", owner, v.word)
    end
    return recipes.run(ctx, v)
  end
  fail("%s: a recipe such as F.mean(\"x\") or a function expected, got %s",
    owner, columns.type_of(v))
end

-- The entries of a table by name (by bytes), or of a list of pairs.
function recipes.entries(word, spec)
  if type(spec) ~= "table" or getmetatable(spec) then
    fail("bad argument #1 to '%s' (a table of columns expected, got %s)", word,
      columns.type_of(spec))
  end
  local list = {}
  if spec[1] ~= nil then
    for k, p in ipairs(spec) do
      if type(p) ~= "table" or type(p[1]) ~= "string" then
        fail("%s: entry %d: a pair {name, value} expected", word, k)
      end
      list[k] = p
    end
    return list
  end
  for name, v in pairs(spec) do
    if type(name) ~= "string" then
      fail("%s: names of columns are strings, got a %s", word,
        columns.type_of(name))
    end
    list[#list + 1] = {name, v}
  end
  table.sort(list, function(a, b) return C.before(a[1], b[1]) end)
  return list
end

return recipes
