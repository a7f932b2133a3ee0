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
-- method, in place.
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
    x[1] = la.iinfo(dtype).max
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

local function tensor_text(call)
  if #call.tensors > 0 and chance(15) then
    return ("V(%s, %q)"):format(pick(call.tensors), pick(VIEWS))
  end
  local dtype = chance(70) and call.dtype or pick(DTYPES)
  local sizes = chance(60) and call.sizes or sizes_text(random(0, 4))
  local text = ("T(%q, %s, %d)"):format(dtype, sizes, random(1, 100))
  if chance(8) then text = text .. ':to("meta")' end
  if chance(40) then text = ("V(%s, %q)"):format(text, pick(VIEWS)) end
  if chance(15) and dtype:find("float") then
    text = text .. ":detach():requires_grad_()"
  end
  local name = "t" .. #call.tensors + 1
  call.tensors[#call.tensors + 1] = name
  call.lines[#call.lines + 1] = ("local %s = %s"):format(name, text)
  return name
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

local function call_text(op)
  local call = {lines = {}, tensors = {}, dtype = pick(DTYPES),
                sizes = sizes_text(random(0, 4))}
  local positional, keywords = {}, {}
  for _, p in ipairs(parameters(op.signature)) do
    local text = value_text(p.kind, call)
    if (p.keyword and chance(40)) or (not p.keyword and #positional > 0
        and chance(10)) then
      keywords[#keywords + 1] = ("[%q] = %s"):format(p.name, text)
    elseif not p.keyword then
      positional[#positional + 1] = text
    end
  end
  if chance(10) then
    keywords[#keywords + 1] = "out = " .. tensor_text(call)
  end
  if chance(5) then
    keywords[#keywords + 1] = "dtype = " .. by_type.dtype(call)
  end
  if chance(2) then keywords[#keywords + 1] = "odd = 1" end
  local name = op.name:match("^[^.]*")
  local self = table.remove(positional, 1) or "nil"
  local method = self:match("^t%d+$") and name ~= "repeat" and has_method(name)
    and (la[name] == nil or chance(50))
  if method and chance(40) and has_method(name .. "_") then
    name = name .. "_"
  end
  if not method then table.insert(positional, 1, self) end
  if #keywords > 0 then
    positional[#positional + 1] = "{" .. table.concat(keywords, ", ") .. "}"
  end
  call.lines[#call.lines + 1] = ("local y = %s(%s)"):format(
    method and self .. ":" .. name or ("la[%q]"):format(name),
    table.concat(positional, ", "))
  if chance(15) then
    call.lines[#call.lines + 1] = "if y.requires_grad then"
      .. " y:abs():sum():backward() end"
  end
  call.lines[#call.lines + 1] = "return tostring(y)"
  return table.concat(call.lines, "\n")
end

-- ---- a child: its calls, each written down before it is made ----

local function operations()
  local list = {}
  for _, op in ipairs(la.operations()) do
    if op.name:find(option.ops) then list[#list + 1] = op end
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

local function child()
  local log = assert(io.open(option.child, "w"))
  local list, bad = operations(), 0
  math.randomseed(option.seed)
  for i = 1, option.calls do
    local text = PRELUDE .. call_text(pick(list))
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
  end
  log:close()
  os.exit(bad == 0 and 0 or UNFAIR)
end

-- ---- the parent ----

local PER_CHILD = 2000

local function read(path)
  local file = io.open(path)
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

local function parent()
  local program = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"
  local path, failed, made = os.tmpname(), 0, 0
  while made < option.calls do
    local n = math.min(PER_CHILD, option.calls - made)
    local command = ("timeout 600 %s spec/registry/fuzz.lua --child %s "
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
    made = made + n
  end
  os.remove(path)
  print(("fuzz: %d calls, seed %d: %d of the programs failed"):format(made,
    option.seed, failed))
  os.exit(failed == 0 and 0 or 1)
end

if option.child ~= "" then child() else parent() end
