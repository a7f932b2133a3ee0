-- Random calls of every operation, to find what crashes or never ends.
--
--   lua5.4 spec/registry/fuzz.lua [--calls N] [--seed N] [--ops PATTERN]
--
-- The parent starts children of a few thousand calls each (LUNARRAY_PROGRAM, a
-- build with sanitizers for instance; by default build/lunarray). A child that
-- dies, or whose answer breaks a rule below, is an error; its last call is
-- printed as a program that repeats it. What an operation computes is not
-- looked at: a call gives a result, or an error that is a text.
--
-- Arguments come from the schema of the row (la.operations()), of the right
-- type most of the time: tensors of all dtypes, layouts and devices, some of
-- them the same, views of one another, or in need of gradients; sizes, dims
-- and numbers from small to hostile; keywords, dtype=, out=; as function, as
-- method, in place. Most such calls are errors before anything is computed:
-- those that gave a result are kept, and half of the calls are one of them with
-- a part or two made anew.
local la = require "lunarray"

local option = require "spec.support.options"("fuzz.lua", {calls = 20000,
  seed = 1, ops = "", child = ""})

-- ---- what a call in a printed program may use ----

local PRELUDE = [[
local la = require "lunarray"
la.set_memory_limit(1 << 28)
local inf, nan = math.huge, 0/0
-- A tensor whose elements depend on the seed: small, some special.
local function T(dtype, sizes, seed)
  local n = 1
  for _, s in ipairs(sizes) do n = n * s end
  local bits = la.arange(seed, seed + n, {dtype = "int64"}) * 2654435761
  local x = ((bits // 64) % 7 - 3)
  if dtype == "bool" then return x:gt(0):view(sizes) end
  if dtype:find("float") or dtype:find("complex") then
    x = x:to("float64") / 2
    if seed % 3 == 0 and n > 2 then x[1] = inf x[2] = nan x[3] = -0.0 end
  elseif dtype:find("^uint") then
    x = x:abs()
  end
  x = x:to(dtype)
  if seed % 4 == 0 and dtype:find("int") and n > 0 then
    x[1] = dtype == "uint64" and math.maxinteger or la.iinfo(dtype).max
    x[n] = la.iinfo(dtype).min
  end
  return x:view(sizes)
end
-- A view of t where it has one, else t.
local function V(t, view)
  local ok, y = pcall(load("local t = ... return t" .. view), t)
  return ok and y or t
end
]]

-- ---- random arguments, as texts ----

local random = math.random
local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local DTYPES = {}
for name in ([[float32 float32 float32 float64 float64 float16 bfloat16 bool
  uint8 uint16 uint32 uint64 int8 int16 int32 int64 int64 complex32 complex64
  complex128]]):gmatch("%S+") do
  DTYPES[#DTYPES + 1] = name
end
local SIZES = {0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17, 33}
local INTS = {"0", "0", "1", "1", "1", "1", "2", "2", "2", "3", "3", "-1",
  "-1", "-2", "4", "7", "1", "2", "3", "1", "64", "-64", "255", "1 << 31",
  "-(1 << 31)", "1 << 40", "1 << 62",
  "math.maxinteger", "math.mininteger"}
local DIMS = {"1", "1", "1", "2", "2", "-1", "-1", "-1", "-2", "3", "1", "2",
  "4", "0", "-9", "1 << 40"}
local FLOATS = {"0", "1", "0.5", "0.5", "-1", "2", "2.5", "1e-30", "1e300",
  "-0.0", "inf", "-inf", "nan", "3"}
local WORDS = {"mean", "sum", "none", "reflect", "replicate", "circular",
  "constant", "nearest", "bilinear", "floor", "trunc", "linear", "ij", "xy",
  "amax", "amin", "prod", "full", "valid", "same", "ii->i", "ij,jk->ik",
  "...,...->...", "", "euclidean", "tanh", "fro", "nuc", "left", "x\\0y"}
local FORMATS = {"contiguous", "channels_last", "preserve", "odd"}

local function sizes_text(rank)
  local list = {}
  for i = 1, rank do list[i] = tostring(pick(SIZES)) end
  return "{" .. table.concat(list, ", ") .. "}"
end

local function ints(list, most)
  local out = {}
  for i = 1, random(0, most) do out[i] = pick(list) end
  return "{" .. table.concat(out, ", ") .. "}"
end

-- Views that keep the rank, behind a tensor of at least one dim.
local VIEWS = {":t()", ":transpose(1, -1)", ":flip(1)",
  "[{{1, -1, 2}}]", "[{{2, -1}}]", ":clone():conj()", ":neg()",
  ":narrow(1, 1, 1):expand(4)", ":unsqueeze(1)", ":detach()",
  ":as_strided({2, 2}, {1, 1})", ":as_strided({3}, {0})", ":contiguous()"}

local function new_tensor(call)
  local dtype = chance(70) and call.dtype or pick(DTYPES)
  local sizes = chance(60) and call.sizes or sizes_text(random(0, 4))
  local text = ("T(%q, %s, %d)"):format(dtype, sizes, random(1, 100))
  if chance(8) then text = text .. ':to("meta")' end
  if chance(40) then text = ("V(%s, %q)"):format(text, pick(VIEWS)) end
  if chance(15) and dtype:find("float") then
    text = text .. ":detach():requires_grad_()"
  end
  return text
end

-- call.tensors: how the tensors t1, t2, ... are made.
local function tensor_text(call)
  local n = #call.tensors
  if n > 0 and chance(15) then
    return ("V(t%d, %q)"):format(random(n), pick(VIEWS))
  end
  call.tensors[n + 1] = new_tensor(call)
  return "t" .. n + 1
end

local by_type
local function value_text(kind, call)
  if kind:sub(-1) == "?" then
    if chance(35) then return "nil" end
    kind = kind:sub(1, -2)
  end
  if chance(3) then     -- something else
    return pick{"nil", "{}", "true", '"x"', "print", "{1, {2}}", "0.5", "-1",
                tensor_text(call), "io.stdout", "{[3] = 1}", "{x = 1}"}
  end
  return (by_type[kind] or by_type.int)(call)
end

local function list_of(make, most)
  return function(call)
    local out = {}
    for i = 1, random(0, most) do out[i] = make(call) end
    return "{" .. table.concat(out, ", ") .. "}"
  end
end

by_type = {
  Tensor = function(call)
    return chance(10) and pick(FLOATS) or tensor_text(call)
  end,
  ["Tensor[]"] = list_of(tensor_text, 3),
  ["Tensor?[]"] = list_of(tensor_text, 3),
  ["Number[]"] = list_of(function(call)
    return chance(60) and pick(FLOATS) or tensor_text(call)
  end, 4),
  Array = tensor_text,
  Scalar = function()
    return chance(50) and pick(FLOATS) or pick(INTS)
  end,
  int = function() return pick(INTS) end,
  index = function() return pick(INTS) end,
  dim = function() return pick(DIMS) end,
  float = function() return pick(FLOATS) end,
  bool = function() return pick{"true", "false"} end,
  str = function() return '"' .. pick(WORDS) .. '"' end,
  dtype = function() return '"' .. pick(DTYPES) .. '"' end,
  device = function() return pick{'"cpu"', '"meta"', '"none"'} end,
  memory_format = function() return '"' .. pick(FORMATS) .. '"' end,
  names = function() return pick{'{"a"}', '{"a", "b"}', '{"a", "a"}', "{}"} end,
  Generator = function() return "la.Generator and la.Generator(3)" end,
  ["int[]"] = function() return ints(INTS, 4) end,
  ["index[]"] = function() return ints(INTS, 4) end,
  ["size[]"] = function()
    return chance(70) and sizes_text(random(0, 4)) or ints(INTS, 4)
  end,
  ["cell[]"] = function()
    return chance(70) and ints(INTS, 2) or
      ("{%s, %s}"):format(ints(INTS, 2), ints(INTS, 2))
  end,
  ["dim[]"] = function() return ints(DIMS, 3) end,
  ["dim[][]"] = function()
    return ("{%s, %s}"):format(ints(DIMS, 3), ints(DIMS, 3))
  end,
}

-- The parameters of a signature: {type, name, keyword only}.
local function parameters(signature)
  local inside, out, keyword = signature:match("^[^(]*%((.*)%) %->"), {}, false
  for piece in (inside or ""):gmatch("[^,]+") do
    local kind, name = piece:match("^%s*(%S+) ([%w_]+)")
    if piece:match("^%s*%*%s*$") then keyword = true end
    if kind then
      kind = kind:gsub("%.%.%.$", "[]")
      out[#out + 1] = {kind = kind, name = name, keyword = keyword}
    end
  end
  return out
end

local sample = la.ones(1)
local function has_method(name)
  local found, value = pcall(function() return sample[name] end)
  return found and type(value) == "function"
end

-- "out", "dtype" and a name that nobody knows, besides those of the row.
local function add_keywords(call)
  local function add(name, text)
    call.keywords[#call.keywords + 1] = ("[%q] = %s"):format(name, text)
  end
  if chance(10) then add("out", tensor_text(call)) end
  if chance(5) then add("dtype", by_type.dtype(call)) end
  if chance(2) then add("odd", "1") end
end

local function new_call(op)
  local call = {op = op, tensors = {}, positional = {}, keywords = {},
                dtype = pick(DTYPES), sizes = sizes_text(random(0, 4))}
  for k, p in ipairs(op.parameters) do
    local is_first = k == 1
    if not p.keyword and (is_first or not chance(10)) then
      call.positional[#call.positional + 1] = {p.kind, value_text(p.kind, call)}
    elseif not p.keyword or chance(40) then
      call.keywords[#call.keywords + 1] = ("[%q] = %s"):format(p.name,
        value_text(p.kind, call))
    end
  end
  add_keywords(call)
  call.as_method, call.inplace = chance(50), chance(40)
  call.backward = chance(15)
  return call
end

-- The call with a tensor, an argument or the keywords made anew.
local function changed(old)
  local call = {op = old.op, dtype = old.dtype, sizes = old.sizes,
    tensors = table.move(old.tensors, 1, #old.tensors, 1, {}),
    positional = table.move(old.positional, 1, #old.positional, 1, {}),
    keywords = old.keywords, as_method = old.as_method,
    inplace = old.inplace, backward = chance(30)}
  for _ = 1, random(2) do
    local what = random(10)
    if what <= 5 and #call.tensors > 0 then
      local i = random(#call.tensors)
      call.tensors[i] = chance(50) and new_tensor(call) or
        ("V(%s, %q)"):format(old.tensors[i], pick(VIEWS))
    elseif what <= 8 and #call.positional > 0 then
      local i = random(#call.positional)
      local kind = call.positional[i][1]
      call.positional[i] = {kind, value_text(kind, call)}
    elseif what == 9 then
      call.keywords = {}
      add_keywords(call)
    else
      call.as_method, call.inplace = chance(50), chance(40)
    end
  end
  return call
end

local function text_of(call)
  local lines, arguments = {}, {}
  for i, text in ipairs(call.tensors) do
    lines[i] = ("local t%d = %s"):format(i, text)
  end
  for i, p in ipairs(call.positional) do arguments[i] = p[2] end
  if #call.keywords > 0 then
    arguments[#arguments + 1] = "{" .. table.concat(call.keywords, ", ") .. "}"
  end
  local name = call.op.name:match("^[^.]*")
  local self = arguments[1] or "nil"
  local is_method = name ~= "repeat" and has_method(name)
    and (la[name] == nil or call.as_method and self:find("^t%d+$"))
  if is_method then
    table.remove(arguments, 1)
    if call.inplace and has_method(name .. "_") then name = name .. "_" end
  end
  lines[#lines + 1] = ("local y = %s(%s)"):format(
    is_method and ("(%s):%s"):format(self, name) or ("la[%q]"):format(name),
    table.concat(arguments, ", "))
  if call.backward then
    lines[#lines + 1] = "if la.is_tensor(y) and y.requires_grad then"
      .. " y:abs():sum():backward() end"
  end
  lines[#lines + 1] = "return tostring(y)"
  return table.concat(lines, "\n")
end

-- ---- a child: its calls, each written down before it is made ----

-- Those that have a name in Lua; others are parts of them.
local function operations()
  local list = {}
  for _, op in ipairs(la.operations()) do
    local name = op.name:match("^[^.]*")
    if op.name:find(option.ops) and (la[name] ~= nil or has_method(name)) then
      list[#list + 1] = {name = op.name, good = {},
                         parameters = parameters(op.signature)}
    end
  end
  return list
end

local function check_answer(ok, message)
  if ok then return end
  assert(type(message) == "string", "an error that is no text")
  assert(#message > 0 and #message < 4000, "an error of a strange length")
  assert(not message:find("%(null%)"), "an error with (null): " .. message)
  assert(not message:find("0x%x%x%x%x%x%x"), "an address: " .. message)
end

local UNFAIR = 3      -- status of a child that has printed what was wrong

local KEPT = 20        -- calls of an operation that gave a result

local function next_call(list)
  local op = pick(list)
  return #op.good > 0 and chance(50) and changed(pick(op.good)) or new_call(op)
end

local function keep(call)
  local good = call.op.good
  good[#good < KEPT and #good + 1 or random(KEPT)] = call
end

local function child()
  local log = assert(io.open(option.child, "w"))
  local list, bad, good = operations(), 0, 0
  math.randomseed(option.seed)
  for i = 1, option.calls do
    local call = next_call(list)
    local text = PRELUDE .. text_of(call)
    log:seek("set", 0)
    log:write("-- call ", i, "\n", text, "\n", (" "):rep(200), "\n")
    log:flush()
    local run = assert(load(text))
    local ok, message = pcall(run)
    local fair, why = pcall(check_answer, ok, message)
    if not fair then
      bad = bad + 1
      print("-- " .. tostring(why) .. "\n" .. text)
    end
    if ok then
      good = good + 1
      keep(call)
    end
  end
  log:seek("set", 0)
  log:write("-- ended ", good, "\n")
  log:close()
  os.exit(bad == 0 and 0 or UNFAIR)
end

-- ---- the parent ----

local PER_CHILD = 20000

local function read(path)
  local file = io.open(path)
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

local function parent()
  local program = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"
  local path, failed, made, good = os.tmpname(), 0, 0, 0
  while made < option.calls do
    local n = math.min(PER_CHILD, option.calls - made)
    local command = ("timeout 1800 %s spec/registry/fuzz.lua --child %s "
      .. "--calls %d --seed %d --ops '%s'"):format(program, path, n,
                                         option.seed + made, option.ops)
    local ok, how, code = os.execute(command)
    if not ok then
      failed = failed + 1
      if how == "signal" or code ~= UNFAIR then
        local last = read(path)
        n = tonumber(last:match("^%-%- call (%d+)")) or 1
        print(("-- died (%s %d); its last call:"):format(how, code))
        print((last:gsub("%s+$", "")))
      end
    end
    good = good + (tonumber(read(path):match("^%-%- ended (%d+)")) or 0)
    made = made + n
  end
  os.remove(path)
  print(("fuzz: %d calls (%d gave results), seed %d: %d of the programs failed")
          :format(made, good, option.seed, failed))
  os.exit(failed == 0 and 0 or 1)
end

if option.child ~= "" then child() else parent() end
