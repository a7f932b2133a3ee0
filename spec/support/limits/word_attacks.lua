-- The examples of all words, calls of them with an argument that is hostile:
-- for spec/c/api/test_word_attacks.c, in a sandbox with limits.
--
-- A call that an example makes is caught where the library begins: functions of
-- la, of its themes and modules, methods of tensors. One argument is exchanged
-- there, or one more given: for a table that acts when it is read (frees or
-- resizes the tensors of the call, raises, yields, collects), for a callback
-- that does so or calls the function again, for numbers, texts and tensors that
-- nothing fits, or the collector is made to run a finalizer that acts within
-- the call. They may end in any way.
local la, debug, seed = ...
local rows = require "lunarray.help.rows"
local random = math.random
local pack, unpack = table.pack, table.unpack

local x = la.zeros(1)
local TENSOR = debug.getmetatable(x)
local clone, resize, free, set = x.clone, x.resize_, x.free, x.set_
local zeros, ones, full = la.zeros, la.ones, la.full

local function is_tensor(v)
  return type(v) == "userdata" and debug.getmetatable(v) == TENSOR
end

local function pick(list) return list[random(#list)] end

-- ---- catching calls ----

-- 'on': calls are counted, and number 'target' is handed to 'change'.
local on, count, target, change = false, 0, 0, nil

local function caught(f)
  return function(...)
    if not on then return f(...) end
    count = count + 1
    if count ~= target then return f(...) end
    on = false
    local args = pack(...)
    change(f, args)
    return f(unpack(args, 1, args.n))
  end
end

local function catch(t, depth)
  local keys = {}
  for k in next, t do
    if type(k) == "string" and k:sub(1, 1) ~= "_" then keys[#keys + 1] = k end
  end
  for _, k in ipairs(keys) do
    local v = rawget(t, k)
    if type(v) == "function" then rawset(t, k, caught(v))
    elseif type(v) == "table" and depth > 0 then catch(v, depth - 1) end
  end
end

local function catch_all()
  for _, theme in pairs(la) do          -- makes what they have
    if type(theme) == "table" then for _ in pairs(theme) do end end
  end
  catch(la, 1)
  for _, name in ipairs{"nn", "optim", "data", "plot"} do
    catch(require("lunarray." .. name), 0)
  end
  for i = 1, 255 do
    local name, methods = debug.getupvalue(TENSOR.__index, i)
    if not name then break end
    if type(methods) == "table" then catch(methods, 0) end
  end
end

-- ---- what is hostile ----

local function tensors(args, list, depth)
  for _, v in next, args do
    if is_tensor(v) then list[#list + 1] = v
    elseif type(v) == "table" and depth > 0 then tensors(v, list, depth - 1) end
  end
  return list
end

local function each(f)
  return function(list) for _, t in ipairs(list) do pcall(f, t) end end
end

local EFFECTS = {
  each(free), each(function(t) resize(t, 0) end),
  each(function(t) resize(t, 100, 100) end),
  each(function(t) t:storage():resize_(0) end),
  each(function(t) set(t, zeros(1, {dtype = t.dtype})) end),
  each(function(t) t:requires_grad_() end),
  function() error(setmetatable({}, {__tostring = error})) end,
  function() error(nil) end,
  function() coroutine.yield(1) end,
  function() for _ = 1, 3000 do local _ = {} end end,
}

local NUMBERS = {0, -1, 1, 2, 3, math.maxinteger, math.mininteger, 1 << 31,
  1 << 32, (1 << 31) - 1, 1 << 40, 1 << 62, -(1 << 31), 65536, 256, 0 / 0,
  1 / 0, -1 / 0, 1e308, 1e-320, 0.5, -0.0, 2 ^ 53, 2 ^ 63}
local TEXTS = {"", "\0", "%s%n%d", ("x"):rep(100000), "\255\254",
  ("["):rep(5000), ("("):rep(3000), "../", "-", "1e999", "nan",
  ("{"):rep(2000), "float32", "sum", "\n", "a,b", ("a|"):rep(2000), "(a*)*b",
  "%", "\27[31m"}
local DTYPES = {"float32", "float64", "float16", "bfloat16", "uint8", "bool",
  "int8", "int64", "uint64", "complex64"}

local TENSORS = {
  function(dtype) return zeros(0, {dtype = dtype}) end,
  function(dtype) return zeros({}, {dtype = dtype}) end,
  function(dtype) return ones(1, {dtype = dtype}):expand(3, 1 << 12) end,
  function(dtype) return zeros(2, 0, 3, {dtype = dtype}) end,
  function(dtype) return ones(1, 1, 1, 1, 1, 1, 1, 1, {dtype = dtype}) end,
  function() local t = zeros(3) free(t) return t end,
  function() return full({2, 2, 2}, -5, {dtype = "int64"}) end,
  function(dtype, t) return t:to(dtype) end,
  function(_, t) return t:flip(1) end,
  function(_, t) return t:to("meta") end,
  function(_, t) return t:double():requires_grad_() end,
  function(_, t) return t:double() * (0 / 0) end,
  function(_, t) return full(t.shape, math.maxinteger, {dtype = "int64"}) end,
  function(_, t) return t:unsqueeze(1) end,
  function(_, t) return clone(t):as_strided({2, 2}, {0, 0}) end,
}

local function tensor_for(t)
  local ok, other = pcall(pick(TENSORS), pick(DTYPES), t)
  return ok and other or zeros(0)
end

-- Holds the same as 't', and acts when it is asked for the nth time.
local function proxy(t, act, n)
  local asked = 0
  local function ask()
    asked = asked + 1
    if asked == n then act() end
  end
  local function truth() ask() return true end
  return setmetatable({}, {
    __index = function(_, k) ask() return t[k] end,
    __newindex = function(_, k, v) ask() t[k] = v end,
    __len = function() ask() return #t end,
    __pairs = function() ask() return pairs(t) end,
    __call = function() ask() return t end,
    __eq = truth, __lt = truth, __le = truth, __close = ask, __gc = ask,
    __tostring = function() ask() return "x" end, __concat = ask,
    __unm = ask, __name = "%s%n"})
end

local ENDLESS = {__len = function() return 1 << 40 end,
                 __index = function() return 1 end}

local function callback(f, whole, args, list)
  local calls, at, effect = 0, random(3), pick(EFFECTS)
  return function(...)
    calls = calls + 1
    if calls ~= at then return f(...) end
    local way = random(8)
    if way <= 4 then
      effect(tensors({...}, {unpack(list)}, 0))
      return f(...)
    end
    if way == 5 then return nil end
    if way == 6 then return setmetatable({}, ENDLESS) end
    if way == 7 then return whole(unpack(args, 1, args.n)) end
    return pick{0, "x", true, print, {}, 0 / 0, zeros(0),
                coroutine.create(print)}
  end
end

local function anything(list)
  return pick{0, "x", true, false, {}, 1 << 62, 0 / 0, print, zeros(2),
              coroutine.create(print),
              proxy({}, function() pick(EFFECTS)(list) end, 1)}
end

local instead

local function table_for(v, whole, args, list)
  local way = random(4)
  if way <= 2 then
    local effect = pick(EFFECTS)
    return proxy(v, function() effect(list) end, random(4))
  end
  if way == 3 then
    return pick{{}, {1}, {{}}, {{{1}}}, {1 << 62, 1 << 62}, {[1 << 40] = 1},
                setmetatable({}, ENDLESS)}
  end
  local copy, keys = {}, {}
  for k, part in next, v do
    copy[k], keys[#keys + 1] = part, k
  end
  if #keys > 0 then
    local k = pick(keys)
    copy[k] = instead(copy[k], whole, args, list)
  end
  return pcall(setmetatable, copy, getmetatable(v)) and copy
end

function instead(v, whole, args, list)
  local kind = type(v)
  if is_tensor(v) then return tensor_for(v) end
  if kind == "function" then return callback(v, whole, args, list) end
  if kind == "table" then return table_for(v, whole, args, list) end
  if kind == "string" then return pick(TEXTS) end
  if kind == "number" then return pick(NUMBERS) end
  return anything(list)
end

-- Two: the first is freed by a step that comes before the call's own.
local function plant(list)
  for _ = 1, 2 do
    setmetatable({}, {__gc = function()
      setmetatable({}, {__gc = function() pick(EFFECTS)(list) end})
    end})
  end
  for _ = 1, 300 do local _ = {{}} end
end

function change(f, args)
  local list = tensors(args, {}, 1)
  if args.n == 0 or random(10) == 1 then
    args.n = args.n + 1
    args[args.n] = anything(list)
    return
  end
  local i, way = random(args.n), random(12)
  if way == 1 then args[i] = nil
  elseif way == 2 then args[i] = anything(list)
  elseif way == 3 then plant(list)
  else args[i] = instead(args[i], f, args, list) end
end

-- ---- running ----

-- Results are looked at, too.
local function use(v, depth)
  if is_tensor(v) then pcall(function() return v:sum():item() end) end
  if type(v) == "table" and depth > 0 then
    for _, part in next, v do use(part, depth - 1) end
  end
  pcall(tostring, v)
end

local function run(example)
  local env = setmetatable({la = la, nn = la.nn, optim = la.optim,
    data = la.data, plot = la.plot, print = type}, {__index = _G})
  local co = coroutine.create(function()
    for _, step in ipairs(example) do
      local f = load("return " .. step.code, "example", "t", env)
        or load(step.code, "example", "t", env)
      local results = f and {pcall(f)} or {}
      local was = on
      on = false
      for k = 2, #results do use(results[k], 2) end
      on = was
    end
  end)
  for _ = 1, 5 do
    if not coroutine.resume(co) or coroutine.status(co) == "dead" then break end
  end
  pcall(coroutine.close, co)
end

catch_all()
local list = rows.all().list

-- attack(i, most): the word number i, its calls 'most' times at the most;
-- returns its name, nil after the last.
return function(i, most)
  local row = list[i]
  if not row then return nil end
  math.randomseed(seed + i)
  on, count, target = true, 0, -1
  run(row.entry.example)
  local calls = count
  for _ = 1, math.min(most, 3 * calls) do
    on, count, target = true, 0, random(calls)
    run(row.entry.example)
  end
  on = false
  return row.name
end
