-- lunarray.llm.template: chat templates, the part of Jinja that models bring:
-- for, if, set, macro, namespaces, filters, tests, slices, methods of texts.
-- Templates are data of a file: they are walked in counted steps, and reach
-- nothing but what they are given.
local syntax = require "lunarray.llm.syntax"
local values = require "lunarray.llm.values"
local template = {}
local NONE, UNDEFINED = values.NONE, values.UNDEFINED

local MOST_STEPS, MOST_TEXT, DEPTH = 200000, 1 << 24, 64

local function fail(text, ...) error("template: " .. text:format(...), 0) end

-- ---- running ----

local Run = {}
Run.__index = Run

function Run:tick()
  self.steps = self.steps + 1
  if self.steps > MOST_STEPS then fail("it takes too many steps") end
end

function Run:put(text)
  self.size = self.size + #text
  if self.size > MOST_TEXT then fail("its text is too long") end
  self.out[#self.out + 1] = text
end

local E = {}
function Run:eval(e)
  self:tick()
  return E[e[1]](self, e)
end

function E.constant(_, e) return e[2] end
function E.name(r, e)
  local scope = r.scope
  while scope do
    local v = scope.vars[e[2]]
    if v ~= nil then return v end
    scope = scope.up
  end
  return UNDEFINED
end
function E.list(r, e)
  local out = values.list()
  for i, x in ipairs(e[2]) do out[i] = r:eval(x) end
  return out
end
function E.dict(r, e)
  local d = values.dict()
  for _, pair in ipairs(e[2]) do values.set(d, r:eval(pair[1]),
                                            r:eval(pair[2])) end
  return d
end
function E.member(r, e)
  local v, key = r:eval(e[2]), r:eval(e[3])
  if v == UNDEFINED then
    fail("'%s' of something undefined", values.text(key))
  end
  local x = values.member(v, key)
  if x == UNDEFINED then
    local f = values.method(v, key)
    if f then return function(...) return f(v, ...) end end
  end
  return x
end
function E.slice(r, e)
  local function number(x)
    if not x then return nil end
    local v = r:eval(x)
    if v == NONE then return nil end
    return math.tointeger(v) or fail("an integer expected in a slice")
  end
  local v = r:eval(e[2])
  if type(v) ~= "string" and not values.is_list(v) then
    fail("a slice of %s", values.text(v))
  end
  return values.slice(v, number(e[3]), number(e[4]), number(e[5]))
end
E["not"] = function(r, e) return not values.truth(r:eval(e[2])) end
E["and"] = function(r, e)
  local a = r:eval(e[2])
  if not values.truth(a) then return a end
  return r:eval(e[3])
end
E["or"] = function(r, e)
  local a = r:eval(e[2])
  if values.truth(a) then return a end
  return r:eval(e[3])
end
E["in"] = function(r, e)
  local x = r:eval(e[2])
  return values.contains(r:eval(e[3]), x)
end
function E.choice(r, e)
  return r:eval(values.truth(r:eval(e[2])) and e[3] or e[4])
end
function E.minus(r, e)
  local v = r:eval(e[2])
  return type(v) == "number" and -v or fail("minus %s", values.text(v))
end

local function numeric(a, b, sign)
  if type(a) ~= "number" or type(b) ~= "number" then
    fail("%s %s %s", values.text(a), sign, values.text(b))
  end
end
local ARITHMETIC = {
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b) return a / b end,
  ["//"] = function(a, b) return b ~= 0 and a // b or fail("division by 0") end,
  ["%"] = function(a, b) return b ~= 0 and a % b or fail("division by 0") end,
}
function E.binary(r, e)
  local a, b, sign = r:eval(e[3]), r:eval(e[4]), e[2]
  if sign == "~" or sign == "+" and type(a) == "string"
     and type(b) == "string" then
    local text = values.text(a) .. values.text(b)
    if #text > MOST_TEXT then fail("a text is too long") end
    r.steps = r.steps + #text // 256
    return text
  end
  if sign == "+" and values.is_list(a) and values.is_list(b) then
    r.steps = r.steps + #a + #b
    return values.list(table.move(b, 1, #b, #a + 1,
                                  table.move(a, 1, #a, 1, {})))
  end
  numeric(a, b, sign)
  return sign == "+" and a + b or ARITHMETIC[sign](a, b)
end
local COMPARE = {
  ["<"] = function(a, b) return a < b end,
  [">"] = function(a, b) return a > b end,
  ["<="] = function(a, b) return a <= b end,
  [">="] = function(a, b) return a >= b end,
}
function E.compare(r, e)
  local a, b = r:eval(e[3]), r:eval(e[4])
  if e[2] == "==" then return values.equal(a, b) end
  if e[2] == "!=" then return not values.equal(a, b) end
  if not (type(a) == "string" and type(b) == "string") then
    numeric(a, b, e[2])
  end
  return COMPARE[e[2]](a, b)
end

local function evaluated(r, list, named)
  local out, keys = {}, nil
  for i, x in ipairs(list) do out[i] = r:eval(x) end
  for _, pair in ipairs(named or {}) do
    keys = keys or {}
    keys[pair[1]] = r:eval(pair[2])
  end
  return out, #list, keys
end

-- Keywords of filters and methods that have them, as the argument they are.
local POSITIONS = {indent = 1, attribute = 2, default_value = 1, boolean = 2,
                sep = 1, maxsplit = 2, d = 1, first = 2, width = 1}
function E.filter(r, e)
  local f = values.filters[e[3]] or fail("no filter '%s'", e[3])
  local v = r:eval(e[2])
  local args, n, keys = evaluated(r, e[4], e[5])
  if e[3] == "map" and keys then return f(v, nil, keys) end
  for key, x in pairs(keys or {}) do
    local at = POSITIONS[key]
    if at then
      args[at] = x
      n = math.max(n, at)
    end
  end
  r.steps = r.steps + values.length(v) // 16
  return f(v, table.unpack(args, 1, n))
end
function E.test(r, e)
  local f = values.tests[e[3]] or fail("no test '%s'", e[3])
  local yes = f(r:eval(e[2]), (evaluated(r, e[4]))[1])
  return yes ~= (e[5] or false)
end
function E.call(r, e)
  local f = r:eval(e[2])
  if type(f) ~= "function" then
    fail("a call of %s", f == UNDEFINED and "something undefined"
         or values.text(f))
  end
  local args, n, keys = evaluated(r, e[3], e[4])
  if keys then args[n + 1], n = keys, n + 1 end
  local v = f(table.unpack(args, 1, n))
  if type(v) == "string" then r.steps = r.steps + #v // 64 end
  if v == nil then return NONE end
  return v
end

local X = {}
local function run_all(r, nodes)
  r.depth = r.depth + 1
  if r.depth > 4 * DEPTH then fail("macros nest too deep") end
  for _, node in ipairs(nodes) do
    r:tick()
    local leave = X[node[1]](r, node)
    if leave then
      r.depth = r.depth - 1
      return leave
    end
  end
  r.depth = r.depth - 1
end

local function scoped(r, vars)
  r.scope = {vars = vars or {}, up = r.scope}
end

-- What the nodes write, as a text.
local function captured(r, nodes)
  local out = r.out
  r.out = {}
  run_all(r, nodes)
  local text = table.concat(r.out)
  r.out = out
  return text
end

X["break"] = function() return "break" end
X.continue = function() return "continue" end
function X.text(r, n) r:put(n[2]) end
function X.put(r, n) r:put(values.text(r:eval(n[2]))) end
function X.block(r, n) return run_all(r, n[2]) end
X["if"] = function(r, n)
  for _, case in ipairs(n[2]) do
    if values.truth(r:eval(case[1])) then return run_all(r, case[2]) end
  end
  if n.other then return run_all(r, n.other) end
end
function X.set(r, n)
  local v = n.body and captured(r, n.body) or r:eval(n[3])
  if n.field then
    local target = E.name(r, {"name", n[2][1]})
    if not values.is_dict(target) then fail("no namespace '%s'", n[2][1]) end
    values.set(target, n.field, v)
  elseif #n[2] == 1 then r.scope.vars[n[2][1]] = v
  else
    for i, name in ipairs(n[2]) do
      r.scope.vars[name] = values.member(v, i - 1)
    end
  end
end
function X.macro(r, n)
  local scope = r.scope
  r.scope.vars[n[2]] = function(...)
    local args, keys, vars = {...}, {}, {}
    local last = args[#args]
    if type(last) == "table" and getmetatable(last) == nil then
      keys = table.remove(args)
    end
    local before = r.scope
    r.scope = {vars = vars, up = scope}
    for i, name in ipairs(n[3]) do
      local v = args[i]
      if v == nil then v = keys[name] end
      if v == nil then v = n[4][i] and r:eval(n[4][i]) or UNDEFINED end
      vars[name] = v
    end
    local text = captured(r, n[5])
    r.scope = before
    return text
  end
end

local function loop_of(items, i)
  local d = values.dict()
  values.set(d, "index", i)
  values.set(d, "index0", i - 1)
  values.set(d, "first", i == 1)
  values.set(d, "last", i == #items)
  values.set(d, "length", #items)
  values.set(d, "revindex", #items - i + 1)
  values.set(d, "revindex0", #items - i)
  values.set(d, "previtem", items[i - 1] or UNDEFINED)
  values.set(d, "nextitem", items[i + 1] or UNDEFINED)
  return d
end

local function bind(names, v)
  local vars = {}
  if #names == 1 then vars[names[1]] = v
  else
    for i, name in ipairs(names) do vars[name] = values.member(v, i - 1) end
  end
  return vars
end

X["for"] = function(r, n)
  local all = values.iterate(r:eval(n[3]))
  local outer, items = r.scope, all
  if n.only then
    items = values.list()
    for _, v in ipairs(all) do
      r:tick()
      scoped(r, bind(n[2], v))
      if values.truth(r:eval(n.only)) then items[#items + 1] = v end
      r.scope = outer
    end
  end
  if #items == 0 and n.other then return run_all(r, n.other) end
  for i, v in ipairs(items) do
    r:tick()
    local vars = bind(n[2], v)
    vars.loop = loop_of(items, i)
    scoped(r, vars)
    local leave = run_all(r, n.body)
    r.scope = outer
    if leave == "break" then break end
  end
end

local function range(a, b, step)
  local out = values.list()
  if b == nil then a, b = 0, a end
  step = step or 1
  if step == 0 or math.abs(b - a) > 100000 then
    fail("a range that is too long")
  end
  for i = a, step > 0 and b - 1 or b + 1, step do out[#out + 1] = i end
  return out
end

local function globals()
  return {
    range = range,
    namespace = function(keys)
      local d = values.dict()
      local names = {}
      for key in pairs(keys or {}) do names[#names + 1] = key end
      table.sort(names)
      for _, key in ipairs(names) do values.set(d, key, keys[key]) end
      return d
    end,
    dict = function(keys) return values.from_lua(keys or {}) end,
    raise_exception = function(text)
      error("template: " .. values.text(text), 0)
    end,
    strftime_now = function(form) return os.date(form) end,
  }
end

-- A function of variables (messages, ...) that gives the text. Raises for what
-- is no template, and in the call for what the template refuses.
function template.compile(source)
  local nodes = syntax.parse(source)
  return function(variables)
    local vars = globals()
    for key, v in pairs(variables) do vars[key] = values.from_lua(v) end
    local r = setmetatable({steps = 0, size = 0, depth = 0, out = {},
                            scope = {vars = vars}}, Run)
    run_all(r, nodes)
    return table.concat(r.out)
  end
end

return template
