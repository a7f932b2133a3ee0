-- lunarray.frame.text: columns of texts. A Text is int32 codes from 1 into a
-- list of categories, 0 for gaps. The categories are sorted by bytes, or stand
-- in the order that order{} gave, so that the order of codes is that of texts.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local near = require "lunarray.near"
local numbers = require "lunarray.numbers"
local C, fail = columns.C, columns.fail

local Text = columns.Text
Text.__name = "lunarray.Text"
local methods = {}

-- ---- making ----

-- Codes into categories that are in order already; 'ordered' if by order{}.
function columns.text_of(codes, categories, ordered)
  return setmetatable({codes = codes, categories = categories,
    ordered = ordered or false}, Text)
end

local text_of = columns.text_of

-- The codes whose texts are any list: false in it is a gap, equal ones are one.
function columns.recode(codes, list)
  local map, categories = C.encode(list, #list, columns.gap)
  if not map then
    fail("text: a string expected, got %s",
      columns.type_of(list[categories]))
  end
  return text_of(C.take(map, "t", columns.plain(codes) - 1), categories)
end

-- F.text(list): {} and nothing but gaps are texts, too.
function columns.new_text(list, n)
  if columns.is_text(list) then return list end
  if type(list) ~= "table" or getmetatable(list) then
    fail("bad argument #1 to 'text' (a list of strings expected, got %s)",
      columns.type_of(list))
  end
  local codes, categories = C.encode(list, n or #list, columns.gap)
  if not codes then
    fail("text: row %d: a string expected, got %s", categories,
      columns.type_of(list[categories]))
  end
  return text_of(codes, categories)
end

-- Texts with codes into one list of categories. The order of the first ordered
-- one is kept where it has all of them.
function columns.unify(list)
  local first, same = list[1], true
  for _, t in ipairs(list) do
    same = same and t.categories == first.categories
  end
  if same then
    local codes = {}
    for k, t in ipairs(list) do codes[k] = t.codes end
    return codes, first.categories, first.ordered
  end
  for _, t in ipairs(list) do
    if t.ordered then return columns.unify_ordered(list, t) end
  end
  local all, n = {}, 0
  for _, t in ipairs(list) do
    for _, v in ipairs(t.categories) do n = n + 1; all[n] = v end
  end
  local map, categories = C.encode(all, n, columns.gap)
  local codes, at = {}, 0
  for k, t in ipairs(list) do
    local m = #t.categories
    local part = m > 0 and map[{{at + 1, at + m}}]:contiguous()
      or map[{{1, 0}}]:contiguous()
    codes[k] = C.take(part, "t", columns.plain(t.codes) - 1)
    at = at + m
  end
  return codes, categories, false
end

-- Codes into the categories of 'lead', with those of others behind.
function columns.unify_ordered(list, lead)
  local categories, index = {}, {}
  for k, v in ipairs(lead.categories) do categories[k], index[v] = v, k end
  for _, t in ipairs(list) do
    for _, v in ipairs(t.categories) do
      if not index[v] then
        categories[#categories + 1] = v
        index[v] = #categories
      end
    end
  end
  local codes = {}
  for k, t in ipairs(list) do
    local map = {}
    for i, v in ipairs(t.categories) do map[i] = index[v] end
    codes[k] = C.take(la.tensor(map, {dtype = "int32"}), "t",
      columns.plain(t.codes) - 1)
  end
  return codes, categories, true
end

-- ---- looking ----

function Text:__len() return self.codes:size(1) end

local FIELDS = {codes = true, categories = true, ordered = true}

local function missing(self, key)
  local set = {}
  for name in pairs(methods) do set[name] = true end
  for name in pairs(FIELDS) do set[name] = true end
  local meant = near.nearest(tostring(key), set)
  fail("text has no '%s'%s", tostring(key),
    meant and (" (did you mean '%s'?)"):format(meant) or "")
end

function Text:__index(key)
  if type(key) == "string" then
    local method = methods[key]
    if method then return method end
    if key:find "^__" then return nil end
    return missing(self, key)
  elseif math.type(key) == "integer" then
    local n = self.codes:size(1)
    if key < 0 then key = key + n + 1 end
    if key < 1 or key > n then return nil end
    return self.categories[self.codes:item(key)]
  end
  return columns.pick(self, key)
end

function Text:__newindex(key)
  fail("text: '%s' can't be set: columns are made anew (map, F.text)",
    tostring(key))
end

-- x[{i, j}], x[mask], x[indices] of a Text or a Date.
function columns.pick(c, key)
  if type(key) == "table" and type(key[1]) == "number" then key = {key} end
  if type(key) == "table" or columns.is_tensor(key) then
    return columns.like(c, columns.raw(c)[key])
  end
  fail("%s: a number, a range {i, j}, a mask or indices expected, got %s",
    columns.kind(c), columns.type_of(key))
end

function methods:totable()
  local list, names = self.codes:totable(), self.categories
  for i = 1, #list do list[i] = names[list[i]] end
  return list
end

function Text:__tostring()
  local shown, n = {}, #self
  for i = 1, math.min(n, 10) do
    local v = self[i]
    shown[i] = v and ("%q"):format(v):gsub("\\\n", "\\n") or "nil"
  end
  if n > 10 then shown[11] = "..." end
  return ("text{%s}%s"):format(table.concat(shown, ", "),
    n > 10 and (" of %d"):format(n) or "")
end

function Text.__eq(a, b)
  if not columns.is_text(a) or not columns.is_text(b) or #a ~= #b then
    return false
  end
  local codes = columns.unify{a, b}
  return codes[1]:equal(codes[2])
end

-- ---- comparing ----

-- The index of the first category that is not before 'text', and whether it is
-- that text.
local function position(self, text)
  local list = self.categories
  if self.ordered then
    for k, v in ipairs(list) do if v == text then return k, true end end
    fail("text: '%s' is not in its order (%s)", text,
      table.concat(list, ", "))
  end
  local low, high = 1, #list + 1
  while low < high do
    local mid = (low + high) // 2
    if C.before(list[mid], text) then low = mid + 1 else high = mid end
  end
  return low, list[low] == text
end

local function check_other(word, self, other)
  if type(other) == "string" then return end
  if columns.is_text(other) then
    if #other ~= #self then
      fail("%s: %d texts, and %d", word, #self, #other)
    end
    return
  end
  fail("bad argument #2 to '%s' (a string or Text expected, got %s)", word,
    columns.type_of(other))
end

local function equal_to(self, text)
  local at, found
  if self.ordered then
    for k, v in ipairs(self.categories) do
      if v == text then at, found = k, true end
    end
  else
    at, found = position(self, text)
  end
  return self.codes:eq(found and at or -1)
end

function methods:eq(other)
  check_other("eq", self, other)
  if type(other) == "string" then return equal_to(self, other) end
  local codes = columns.unify{self, other}
  return codes[1]:eq(codes[2]):logical_and(codes[1]:gt(0))
end

function methods:ne(other)
  check_other("ne", self, other)
  return self:eq(other):logical_not()
end

-- Each comparison by codes: with a text whose index is 'at', with other codes.
local COMPARE = {
  lt = {function(c, at) return c:lt(at) end, "lt"},
  le = {function(c, at, found) return c:lt(found and at + 1 or at) end, "le"},
  gt = {function(c, at, found) return c:ge(found and at + 1 or at) end, "gt"},
  ge = {function(c, at) return c:ge(at) end, "ge"},
}

for word, row in pairs(COMPARE) do
  methods[word] = function(self, other)
    check_other(word, self, other)
    local codes = self.codes
    if type(other) == "string" then
      local at, found = position(self, other)
      return row[1](codes, at, found):logical_and(codes:gt(0))
    end
    local both = columns.unify{self, other}
    return both[1][row[2]](both[1], both[2]):logical_and(both[1]:gt(0))
      :logical_and(both[2]:gt(0))
  end
end

function methods:isin(list)
  if columns.is_text(list) then list = list.categories end
  if type(list) ~= "table" then
    fail("bad argument #2 to 'isin' (a list of strings expected, got %s)",
      columns.type_of(list))
  end
  local set, with_gap = {}, false
  for _, v in ipairs(list) do
    if v == columns.gap then with_gap = true else set[v] = true end
  end
  return columns.by_category(self, function(v) return set[v] == true end,
    with_gap)
end

-- A mask by a function of the text; gaps are 'gap', else false.
function columns.by_category(self, f, gap)
  local list = {}
  for k, v in ipairs(self.categories) do list[k] = f(v) and true or false end
  list[#list + 1] = gap or false
  local flags = la.tensor(list, {dtype = "bool"})
  local rows = self.codes - 1
  local last = #list - 1
  return C.take(flags, "n", la.where(rows:lt(0), last, rows):to "int32")
end

function methods:has(pattern, plain)
  if type(pattern) ~= "string" then
    fail("bad argument #2 to 'has' (a pattern expected, got %s)",
      columns.type_of(pattern))
  end
  return columns.by_category(self, function(v)
    return v:find(pattern, 1, plain) ~= nil
  end)
end

-- ---- changing ----

-- Each category by f, which gives a string, or nil for a gap.
local function each(self, f)
  local list = {}
  for k, v in ipairs(self.categories) do
    local new = f(v)
    if type(new) == "number" then new = numbers.text(new) end
    list[k] = new or false
  end
  return columns.recode(self.codes, list)
end

for _, word in ipairs{"upper", "lower", "sub", "rep", "gsub", "match"} do
  local f = string[word]
  methods[word] = function(self, ...)
    local a, b, c = ...
    local ok, result = pcall(each, self, function(v)
      return (f(v, a, b, c))
    end)
    if ok then return result end
    fail("%s", (tostring(result):gsub("^.-:%d+: ", "")))
  end
end

-- Numbers by category; gaps as one.
local function numbers_of(self, list)
  local c = columns.of_list(list, #self.categories, "map")
  local rows = columns.plain(self.codes) - 1
  return columns.take(c, rows, columns.has_none(rows), "map")
end

function methods:len()
  local list = {}
  for k, v in ipairs(self.categories) do list[k] = #v end
  if #list == 0 then list[1] = 0 end
  local c = la.tensor(list, {dtype = "int64"})
  local rows = columns.plain(self.codes) - 1
  return columns.take(c, rows, columns.has_none(rows), "len")
end

-- f is called once for each different text.
function methods:map(f)
  if type(f) ~= "function" and type(f) ~= "table" then
    fail("bad argument #2 to 'map' (a function or table expected, got %s)",
      columns.type_of(f))
  end
  local list, text = {}, true
  for k, v in ipairs(self.categories) do
    local new
    if type(f) == "table" then new = f[v] else new = f(v) end
    list[k] = new
    text = text and (new == nil or new == columns.gap
      or type(new) == "string")
  end
  if not text then return numbers_of(self, list) end
  for k = 1, #self.categories do
    if list[k] == nil or list[k] == columns.gap then list[k] = false end
  end
  return columns.recode(self.codes, list)
end

local function joined(a, b)
  if columns.is_text(a) and columns.is_text(b) then
    if #a ~= #b then fail("concat: %d texts, and %d", #a, #b) end
    local ids, count, first = columns.group({a, b}, true, false)
    local left, right, list = columns.take(a, first), columns.take(b, first), {}
    for k = 1, count do
      local x, y = left[k], right[k]
      list[k] = x and y and x .. y or false
    end
    return columns.recode(ids + 1, list)
  end
  local before = not columns.is_text(a)
  local text, other = before and b or a, before and a or b
  if type(other) == "number" then other = numbers.text(other) end
  if type(other) ~= "string" then
    fail("attempt to concatenate text with a %s", columns.type_of(other))
  end
  return each(text, function(v) return before and other .. v or v .. other end)
end

Text.__concat = joined

-- Sort, groups and comparisons go by the order of the list.
function methods:order(list)
  if type(list) ~= "table" then
    fail("bad argument #2 to 'order' (a list of strings expected, got %s)",
      columns.type_of(list))
  end
  local at, categories = {}, {}
  for k, v in ipairs(list) do
    if type(v) ~= "string" or at[v] then
      fail("order: entry %d: %s", k, type(v) == "string"
        and ("'%s' stands twice"):format(v) or "a string expected")
    end
    at[v], categories[k] = k, v
  end
  local map, occurs = {}, nil
  for k, v in ipairs(self.categories) do
    map[k] = at[v] or 0
    if not at[v] then
      occurs = occurs or la.bincount(self.codes + 1,
        {minlength = #self.categories + 1}):totable()
      if occurs[k + 1] > 0 then
        fail("order: '%s' occurs and is not in the list", v)
      end
    end
  end
  if #map == 0 then map[1] = 0 end
  return text_of(C.take(la.tensor(map, {dtype = "int32"}), "t",
    columns.plain(self.codes) - 1), categories, true)
end

return methods
