-- lunarray.llm.values: the values of chat templates, which are Python's: lists,
-- dicts in order, none and undefined; their texts, their methods and filters.
local numbers = require "lunarray.numbers"
local values = {}

local List, Dict = {}, {}
values.NONE = setmetatable({}, {__tostring = function() return "None" end})
values.UNDEFINED = setmetatable({}, {__tostring = function() return "" end})
local NONE, UNDEFINED = values.NONE, values.UNDEFINED

function values.list(items) return setmetatable(items or {}, List) end
function values.dict() return setmetatable({keys = {}, map = {}}, Dict) end
function values.is_list(v) return getmetatable(v) == List end
function values.is_dict(v) return getmetatable(v) == Dict end
local is_list, is_dict, list = values.is_list, values.is_dict, values.list

function values.set(d, key, v)
  if d.map[key] == nil then d.keys[#d.keys + 1] = key end
  d.map[key] = v
end

-- A Lua value as one of these; tables with element 1, and empty ones, are
-- lists.
function values.from_lua(v, depth)
  depth = depth or 0
  if depth > 64 then error("template: nested too deep", 0) end
  if v == nil then return NONE end
  if type(v) ~= "table" then return v end
  if is_list(v) or is_dict(v) or v == NONE then return v end
  if v[1] ~= nil or next(v) == nil then
    local out = list()
    for i, x in ipairs(v) do out[i] = values.from_lua(x, depth + 1) end
    return out
  end
  local keys, d = {}, values.dict()
  for key in pairs(v) do keys[#keys + 1] = tostring(key) end
  table.sort(keys, function(a, b)       -- the role stands before the content
    if (a == "role") ~= (b == "role") then return a == "role" end
    return a < b
  end)
  for _, key in ipairs(keys) do
    values.set(d, key, values.from_lua(v[key], depth + 1))
  end
  return d
end

function values.truth(v)
  if v == NONE or v == UNDEFINED or v == false or v == 0 or v == "" then
    return false
  end
  if is_list(v) then return #v > 0 end
  if is_dict(v) then return #v.keys > 0 end
  return true
end

function values.equal(a, b)
  if is_list(a) and is_list(b) then
    if #a ~= #b then return false end
    for i = 1, #a do if not values.equal(a[i], b[i]) then return false end end
    return true
  end
  return a == b
end

-- ---- texts ----

local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function(c)
    return ({["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"',
             ["\\"] = "\\\\"})[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function number_text(v)
  if math.type(v) == "integer" then return tostring(v) end
  if v == math.floor(v) and math.abs(v) < 1e16 then
    return ("%d.0"):format(math.tointeger(v))
  end
  return numbers.format("%.14g", v)
end

-- JSON, as filter tojson writes it; indent: spaces, or nil for one line.
function values.to_json(v, indent, level)
  level = level or 0
  if level > 64 then error("template: nested too deep", 0) end
  if v == NONE or v == UNDEFINED then return "null" end
  if type(v) == "string" then return quote(v) end
  if type(v) == "boolean" then return tostring(v) end
  if type(v) == "number" then return number_text(v) end
  local parts, open, close = {}, "[", "]"
  if is_dict(v) then
    open, close = "{", "}"
    for i, key in ipairs(v.keys) do
      parts[i] = quote(tostring(key)) .. ": "
        .. values.to_json(v.map[key], indent, level + 1)
    end
  elseif is_list(v) then
    for i, x in ipairs(v) do parts[i] = values.to_json(x, indent, level + 1) end
  else
    error("template: tojson of a function", 0)
  end
  if not indent or #parts == 0 then
    return open .. table.concat(parts, ", ") .. close
  end
  local pad = "\n" .. (" "):rep(indent * (level + 1))
  return open .. pad .. table.concat(parts, "," .. pad) .. "\n"
    .. (" "):rep(indent * level) .. close
end

local function inner(v)
  if type(v) == "string" then return "'" .. v:gsub("'", "\\'") .. "'" end
  return values.text(v)
end

-- What {{ v }} writes.
function values.text(v)
  if type(v) == "string" then return v end
  if v == true then return "True" end
  if v == false then return "False" end
  if type(v) == "number" then return number_text(v) end
  local parts = {}
  if is_list(v) then
    for i, x in ipairs(v) do parts[i] = inner(x) end
    return "[" .. table.concat(parts, ", ") .. "]"
  elseif is_dict(v) then
    for i, key in ipairs(v.keys) do
      parts[i] = inner(key) .. ": " .. inner(v.map[key])
    end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return tostring(v)
end

-- ---- methods ----

local function set_of(chars, default)
  return "[" .. (chars or default):gsub("[%^%]%-%%]", "%%%0") .. "]"
end

local S = {}
function S.strip(s, chars) return S.lstrip(S.rstrip(s, chars), chars) end
function S.lstrip(s, chars)
  return (s:gsub("^" .. set_of(chars, " \t\n\r\f\v") .. "+", ""))
end
-- From the end, by hand: a pattern would try every run of a long text.
function S.rstrip(s, chars)
  local set, n = set_of(chars, " \t\n\r\f\v"), #s
  while n > 0 and s:find("^" .. set, n) do n = n - 1 end
  return s:sub(1, n)
end
function S.upper(s) return s:upper() end
function S.lower(s) return s:lower() end
function S.capitalize(s) return s:sub(1, 1):upper() .. s:sub(2):lower() end
function S.title(s)
  return (s:lower():gsub("%a+", function(w)
    return w:sub(1, 1):upper() .. w:sub(2)
  end))
end
local function any_of(s, what, test)
  if not is_list(what) then return test(s, what) end
  for _, w in ipairs(what) do if test(s, w) then return true end end
  return false
end
function S.startswith(s, what)
  return any_of(s, what, function(a, b) return a:sub(1, #b) == b end)
end
function S.endswith(s, what)
  return any_of(s, what, function(a, b)
    return #a >= #b and a:sub(#a - #b + 1) == b
  end)
end
function S.split(s, by, most)
  local out, at = list(), 1
  if by == nil or by == NONE then
    for word in s:gmatch("%S+") do out[#out + 1] = word end
    return out
  end
  if by == "" then error("template: split by nothing", 0) end
  while true do
    local from, to = s:find(by, at, true)
    if not from or most and most >= 0 and #out >= most then break end
    out[#out + 1] = s:sub(at, from - 1)
    at = to + 1
  end
  out[#out + 1] = s:sub(at)
  return out
end
function S.replace(s, from, to)
  if from == "" then return s end
  return table.concat(S.split(s, from), to)
end
function S.find(s, what)
  local at = s:find(what, 1, true)
  return at and at - 1 or -1
end
function S.count(s, what) return #S.split(s, what) - 1 end
function S.join(s, items)
  local parts = {}
  for i, x in ipairs(items) do parts[i] = values.text(x) end
  return table.concat(parts, s)
end

local D = {}
function D.items(d)
  local out = list()
  for i, key in ipairs(d.keys) do out[i] = list{key, d.map[key]} end
  return out
end
function D.keys(d) return list{table.unpack(d.keys)} end
function D.values(d)
  local out = list()
  for i, key in ipairs(d.keys) do out[i] = d.map[key] end
  return out
end
function D.get(d, key, default)
  local v = d.map[key]
  if v == nil then return default == nil and NONE or default end
  return v
end
function D.update(d, more)
  for _, key in ipairs(more.keys) do values.set(d, key, more.map[key]) end
  return NONE
end

local L = {}
function L.append(l, v)
  l[#l + 1] = v
  return NONE
end
function L.pop(l) return table.remove(l) or UNDEFINED end
function L.extend(l, more)
  for _, v in ipairs(more) do l[#l + 1] = v end
  return NONE
end

-- The method of a value, or nil.
function values.method(v, name)
  if type(v) == "string" then return S[name] end
  return is_dict(v) and D[name] or is_list(v) and L[name] or nil
end

-- v[key] or v.key.
function values.member(v, key)
  if is_dict(v) then
    local x = v.map[key]
    return x == nil and UNDEFINED or x
  end
  if math.type(key) ~= "integer" then return UNDEFINED end
  if is_list(v) then
    return v[key < 0 and #v + key + 1 or key + 1] or UNDEFINED
  elseif type(v) == "string" then
    local at = key < 0 and utf8.len(v) + key + 1 or key + 1
    return values.slice(v, at - 1, at)
  end
  return UNDEFINED
end

-- v[first:last:step], as Python counts.
function values.slice(v, first, last, step)
  if type(v) == "string" then
    local chars = list()
    for c in v:gmatch("[\0-\x7f\xc2-\xfd][\x80-\xbf]*") do
      chars[#chars + 1] = c
    end
    return table.concat(values.slice(chars, first, last, step))
  end
  local out, n = list(), #v
  step = step or 1
  if step == 0 then error("template: a slice with step 0", 0) end
  local function at(i, low, high)
    if i < 0 then i = i + n end
    return math.max(low, math.min(high, i))
  end
  if step > 0 then
    for i = at(first or 0, 0, n), at(last or n, 0, n) - 1, step do
      out[#out + 1] = v[i + 1]
    end
  else
    local stop = last and at(last, -1, n - 1) or -1
    for i = at(first or n - 1, -1, n - 1), stop + 1, step do
      out[#out + 1] = v[i + 1]
    end
  end
  return out
end

-- The elements that a loop walks.
function values.iterate(v)
  if is_list(v) then return v end
  if is_dict(v) then return D.keys(v) end
  if type(v) == "string" then return values.slice(v .. "", 0, nil, 1) end
  if v == UNDEFINED or v == NONE then return list() end
  error("template: a list expected, got " .. values.text(v), 0)
end

function values.length(v)
  if is_dict(v) then return #v.keys end
  if is_list(v) then return #v end
  if type(v) == "string" then return utf8.len(v) or #v end
  return 0
end

function values.contains(v, x)
  if type(v) == "string" then
    return type(x) == "string" and v:find(x, 1, true) ~= nil
  elseif is_dict(v) then
    return v.map[x] ~= nil
  elseif is_list(v) then
    for _, e in ipairs(v) do if values.equal(e, x) then return true end end
  end
  return false
end

-- ---- filters and tests ----

local F = {}
values.filters = F
function F.trim(v, chars) return S.strip(values.text(v), chars) end
function F.upper(v) return values.text(v):upper() end
function F.lower(v) return values.text(v):lower() end
F.capitalize, F.title = S.capitalize, S.title
F.length, F.count = values.length, values.length
F.items = function(v) return is_dict(v) and D.items(v) or list() end
function F.string(v) return values.text(v) end
F.safe = function(v) return v end
function F.int(v) return math.tointeger(tonumber(v) or 0)
  or math.floor(tonumber(v) or 0) end
function F.float(v) return (tonumber(v) or 0) + 0.0 end
function F.abs(v) return math.abs(v) end
function F.list(v) return list{table.unpack(values.iterate(v))} end
function F.first(v) return values.member(values.iterate(v), 0) end
function F.last(v) return values.member(values.iterate(v), -1) end
function F.join(v, by) return S.join(by or "", values.iterate(v)) end
function F.replace(v, from, to) return S.replace(values.text(v), from, to) end
function F.split(v, by) return S.split(v, by) end
function F.tojson(v, indent) return values.to_json(v, indent) end
function F.default(v, other, falsy)
  if v == UNDEFINED or falsy and not values.truth(v) then return other end
  return v
end
F.d = F.default
function F.reverse(v)
  if type(v) == "string" then return v:reverse() end
  return values.slice(values.iterate(v), nil, nil, -1)
end
function F.unique(v)
  local out = list()
  for _, x in ipairs(values.iterate(v)) do
    if not values.contains(out, x) then out[#out + 1] = x end
  end
  return out
end
function F.sort(v)
  local out = F.list(v)
  table.sort(out, function(a, b)
    if type(a) == type(b) and type(a) ~= "table" then return a < b end
    return values.text(a) < values.text(b)
  end)
  return out
end
F.dictsort = function(v) return F.items(v) end
function F.indent(v, n, first)
  local pad = (" "):rep(n or 4)
  return (first == true and pad or "") .. v:gsub("\n", "\n" .. pad)
end

local T = {}
values.tests = T
function T.defined(v) return v ~= UNDEFINED end
function T.undefined(v) return v == UNDEFINED end
function T.none(v) return v == NONE end
function T.string(v) return type(v) == "string" end
function T.number(v) return type(v) == "number" end
function T.integer(v) return math.type(v) == "integer" end
function T.float(v) return math.type(v) == "float" end
function T.boolean(v) return type(v) == "boolean" end
T["true"] = function(v) return v == true end
T["false"] = function(v) return v == false end
T.mapping = is_dict
function T.iterable(v)
  return is_list(v) or is_dict(v) or type(v) == "string"
end
T.sequence = T.iterable
function T.callable(v) return type(v) == "function" end
T.equalto, T.eq = values.equal, values.equal
T["in"] = function(v, x) return values.contains(x, v) end
function T.odd(v) return v % 2 == 1 end
function T.even(v) return v % 2 == 0 end

-- Filters of filters: selectattr("role", "equalto", "user"), map("upper").
local function chosen(v, name, test, arg, want)
  local out = list()
  for _, x in ipairs(values.iterate(v)) do
    local m = name and values.member(x, name) or x
    local yes
    if test then
      if not T[test] then error("template: no test '" .. test .. "'", 0) end
      yes = T[test](m, arg)
    else
      yes = values.truth(m)
    end
    if yes == want then out[#out + 1] = x end
  end
  return out
end
function F.selectattr(v, name, test, arg)
  return chosen(v, name, test, arg, true)
end
function F.rejectattr(v, name, test, arg)
  return chosen(v, name, test, arg, false)
end
function F.select(v, test, arg) return chosen(v, nil, test, arg, true) end
function F.reject(v, test, arg) return chosen(v, nil, test, arg, false) end
function F.map(v, name, keywords)
  local out = list()
  for i, x in ipairs(values.iterate(v)) do
    if type(name) == "string" and F[name] then out[i] = F[name](x)
    else out[i] = values.member(x, keywords and keywords.attribute or name) end
  end
  return out
end

return values
