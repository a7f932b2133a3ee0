-- Prints one line per operation and dtype: name, dtype, and a hash of the bits
-- of its results in calls of the golden records, in the same calls with more
-- elements, and in those of lockstep_calls.lua. Two runs that compute alike
-- print the same text.
--   lua5.4 spec/support/values/lockstep_bits.lua MODE THREADS SHARE [PATTERN]
-- MODE is the argument of use_deterministic ("lockstep", or "none"); SHARE says
-- which operations, by a hash of their names: "2/12" is the second of twelve
-- parts, "1/1" all of them with more calls of each. PATTERN: only names that
-- match. NaN is one value here, whatever its bits.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"
local extra = require "spec.support.values.lockstep_calls"

local MODE, THREADS, SHARE, PATTERN = arg[1], arg[2], arg[3], arg[4] or ""
local DTYPES = {"float32", "float64", "float16", "bfloat16", "complex64",
  "complex128", "int32"}
local LONG = {[0] = {}, {4099}, {65, 70}, {5, 33, 40}, {2, 5, 17, 40}}

la.set_num_threads(tonumber(THREADS))
if MODE ~= "none" then la.use_deterministic(MODE) end

local part, parts = SHARE:match("(%d+)/(%d+)")
local MOST_CALLS = parts == "1" and 24 or 8   -- of one operation
local function is_due(name)
  local h = 5381
  for i = 1, #name do h = (h * 33 + name:byte(i)) % 1000003 end
  return h % tonumber(parts) == part % parts and name:find(PATTERN)
end

local function is_tensor(v)
  return type(v) == "userdata" and v ~= la.newaxis and v.dtype ~= nil
end

---------------------------------------------------------------------------
-- Results

local function fold(h, v)
  for k = 0, 56, 8 do h = (h ~ (v >> k & 255)) * 0x100000001b3 end
  return h
end

local function text_of(v)
  local h = 0xcbf29ce484222325
  for i = 1, #v do h = (h ~ v:byte(i)) * 0x100000001b3 end
  return h
end

-- Of NaN some fixed number.
local function plain(x)
  if x:is_complex() then x = la.view_as_real(x:resolve_conj():contiguous()) end
  if not x:is_floating_point() then return x end
  return la.where(x:ne(x), la.tensor(-12345.0, {dtype = x.dtype}), x)
end

local function hash_of(v)
  if is_tensor(v) then return la.hash(plain(v:detach():resolve_neg())) end
  if type(v) == "table" then
    local h = #v
    for _, x in ipairs(v) do h = fold(h, hash_of(x)) end
    return h
  elseif type(v) == "number" and v ~= v then return 1
  elseif math.type(v) == "float" then
    return string.unpack("<i8", string.pack("<d", v))
  end
  return type(v) == "userdata" and 2 or text_of(tostring(v))
end

local sums, order, failures = {}, {}, {}
local function note(name, dtype, h)
  local key = name .. "\t" .. dtype
  if not sums[key] then
    sums[key] = 0
    order[#order + 1] = key
  end
  sums[key] = fold(sums[key], h)
end

-- The call's results, or the fact that it fails. An operation that the mode
-- refuses is named by it alone.
local function run(name, dtype, fn, args, n)
  la.manual_seed(7)
  local r = table.pack(pcall(fn, table.unpack(args, 1, n)))
  if not r[1] then
    local refused = tostring(r[2]):match("lockstep[^\n]*")
    if refused then failures[name] = refused end
    return note(name, dtype, 3)
  end
  local h = 0
  for k = 2, r.n do h = fold(h, hash_of(r[k])) end
  note(name, dtype, h)
end

---------------------------------------------------------------------------
-- Arguments

-- Numbers of every size that the functions care for, with all digits, by
-- arithmetic that is rounded once at most.
local function numbers(sizes, dtype, salt)
  local n = 1
  for _, size in ipairs(sizes) do n = n * size end
  local i = la.arange(n, {dtype = "int64"}) * 7919 + salt * 104729
  local x = (i * i % 100003 * 2 - 100003):double() / 65521
  local k = i % 13
  x = la.where(k:eq(0), x * 32, la.where(k:eq(1), x / 4096, x))
  if dtype:find("^complex") then
    local wide = la.complex(x, x:flip(1))
    return wide:to(dtype):view(sizes)
  end
  if dtype == "int32" then x = x * 8 end
  return x:to(dtype):view(sizes)
end

local function cast(v, lead, dtype)
  if is_tensor(v) and v.dtype == lead then
    return v:detach():resolve_conj():to(dtype)
  elseif type(v) == "table" then
    local out = {}
    for k, x in pairs(v) do out[k] = cast(x, lead, dtype) end
    return out
  end
  return v
end

-- Every tensor of 'lead' by more numbers. Element-wise rows: of one size; with
-- a single tensor: as many dims as it has.
local function grown(args, lead, dtype, wise)
  local out, tensors = {n = args.n}, 0
  for i = 1, args.n do
    local v = args[i]
    out[i] = v
    if is_tensor(v) then
      tensors = tensors + 1
      if v.dtype ~= lead then return nil end
      local sizes = wise and {4099} or LONG[v.ndim]
      if not sizes then return nil end
      out[i] = numbers(sizes, dtype, tensors)
    elseif type(v) == "table" and #v > 0 and is_tensor(v[1]) then
      return nil
    end
  end
  return (wise or tensors == 1) and out or nil
end

local function lead_of(args)
  for i = 1, args.n do
    local v = type(args[i]) == "table" and args[i][1] or args[i]
    if is_tensor(v) and v.dtype ~= "bool" then return v.dtype end
  end
end

---------------------------------------------------------------------------
-- The walk

local wise = {}
for _, op in ipairs(la.operations()) do
  if op.promotes then wise[op.name] = true end
end

local function usable(r)
  return r.args and r.style ~= "inplace" and r.style ~= "setitem"
    and r.style ~= "attr" and not (r.expect and r.expect.error)
end

local function vary(name, fn, args, keywords)
  local lead = lead_of(args)
  local n = args.n + (keywords and 1 or 0)
  if not lead then
    args[args.n + 1] = keywords
    return run(name, "-", fn, args, n)
  end
  for _, dtype in ipairs(DTYPES) do
    local given = cast(args, lead, dtype)
    given[args.n + 1] = keywords
    run(name, dtype, fn, given, n)
    local more = grown(args, lead, dtype, wise[name])
    if more then
      more[args.n + 1] = keywords
      run(name, dtype, fn, more, n)
    end
  end
end

local function walk_records()
  local calls = {}
  -- a file with the paths, where there is no shell to ask
  local list = os.getenv "LOCKSTEP_RECORDS"
  local paths = list and {} or modules.golden()
  for path in list and io.lines(list) or function() end do
    paths[#paths + 1] = path
  end
  for _, path in ipairs(paths) do
    if is_due(path:match("([^/]+)%.jsonl$")) then
      for r in records.each(path) do
        local c = calls[r.op] or 0
        if usable(r) and c < MOST_CALLS then
          local ok, fn, args, keywords = pcall(records.call_of, r)
          if ok and fn then
            calls[r.op] = c + 1
            vary(r.op, fn, args, keywords)
          end
        end
      end
    end
  end
end

walk_records()
for _, c in ipairs(extra(numbers)) do
  if is_due(c.name) then run(c.name, c.dtype, c.fn, c, #c) end
end
table.sort(order)
for _, key in ipairs(order) do
  local name = key:match("^[^\t]*")
  print(key, failures[name] and "refused" or ("%016x"):format(sums[key]))
end
