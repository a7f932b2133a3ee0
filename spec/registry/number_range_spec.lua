-- Numbers outside the range of an integer dtype, in every row that takes a
-- number where it takes tensors: a call with bytes is refused, or has the
-- values of the same call with int64, which holds the number. The calls are
-- those of the golden records, with their numbers exchanged.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"

local MOST_CALLS = 12       -- of one operation
local NUMBERS = {300, 256, -1, -200, 1 << 40}
local NARROW = {"uint8", "int8"}

-- Sums and products take minus an element, and wrap around.
local WRAPS = {add = true, sub = true, rsub = true, mul = true, inner = true}

-- Factors are applied modulo the dtype, as all arithmetic of integers is.
local FACTORS = {alpha = true, beta = true, value = true}

-- Parameters of type Scalar and Tensor, by position and by name.
local takes = {}
for _, op in ipairs(la.operations()) do
  local list = takes[op.name] or {}
  takes[op.name] = list
  local text = (op.signature:match("%((.*)%)%s*%->") or ""):gsub("%b[]", "")
  local position = 0
  for part in text:gmatch("[^,]+") do
    local kind, name = part:match("^%s*([%w]+)%??%s+(%w+)")
    position = position + 1
    if kind == "Scalar" or kind == "Tensor" then
      list[position], list[name] = true, true
    end
  end
end

local function is_tensor(v) return la.is_tensor(v) end

local function is_whole(t)
  return not t:is_floating_point() and not t:is_complex() and t.dtype ~= "bool"
end

local function converted(v, dtype)
  if is_tensor(v) and is_whole(v) then
    return v:remainder(100):to(dtype)   -- the same in all dtypes
  elseif type(v) == "table" then
    local out = {}
    for k, x in pairs(v) do out[k] = converted(x, dtype) end
    return out
  end
  return v
end

-- Results as lists of numbers, of whatever dtype.
local values
function values(list)
  local out = {}
  for i = 1, list.n do
    local v = list[i]
    if is_tensor(v) then
      if v.dtype == "bool" then v = v:long() end
      out[#out + 1] = table.concat(v.shape, "x") .. ":"
        .. tostring(la.view_as_real(v:to("complex128")):reshape(-1))
    elseif type(v) == "table" then
      out[#out + 1] = values {n = #v, table.unpack(v)}
    else
      out[#out + 1] = tostring(v)
    end
  end
  return table.concat(out, "; ")
end

local function attempt(fn, args, keywords, dtype)
  local given = converted(args, dtype)
  given.n = args.n
  if keywords then
    given.n = given.n + 1
    given[given.n] = converted(keywords, dtype)
  end
  local results = table.pack(pcall(fn, table.unpack(given, 1, given.n)))
  if not results[1] then return nil, tostring(results[2]) end
  return {n = results.n - 1, table.unpack(results, 2, results.n)}
end

local function is_exchanged(v)
  return math.type(v) == "integer" or is_tensor(v) and is_whole(v)
end

-- fn(position or name, the call with a number there instead of what it was)
local function each_number(r, args, keywords, fn)
  local map = takes[r.op] or {}
  for i = 1, args.n do
    if map[i] and is_exchanged(args[i]) then
      for _, number in ipairs(NUMBERS) do
        local other = {n = args.n, table.unpack(args, 1, args.n)}
        other[i] = number
        fn(i, number, other, keywords)
      end
    end
  end
  for name, v in pairs(keywords or {}) do
    if map[name] and is_exchanged(v) and not FACTORS[name] then
      for _, number in ipairs(NUMBERS) do
        local other = {}
        for k, x in pairs(keywords) do other[k] = x end
        other[name] = number
        fn(name, number, args, other)
      end
    end
  end
end

local function has_whole(list)
  for _, v in pairs(list) do
    if is_tensor(v) and is_whole(v) then return true end
  end
  return false
end

local function fits(number, dtype, op)
  local range = la.iinfo(dtype)
  local least = WRAPS[op] and range.min == 0 and -range.max or range.min
  return number >= least and number <= range.max
end

describe("a number outside an integer dtype's range", function()
  it("is compared by value or refused, in every operation", function()
    local faults, total = {}, 0
    for _, path in ipairs(modules.golden()) do
      local calls, told = 0, {}
      for r in records.each(path) do
        local usable = r.args and not r.expect.error and calls < MOST_CALLS
          and r.style ~= "inplace" and not (r.kwargs and r.kwargs.out)
        local ok, fn, args, keywords = pcall(records.call_of, r)
        if usable and ok and has_whole(args) then
          local before = total
          each_number(r, args, keywords, function(at, number, a, k)
            for _, dtype in ipairs(NARROW) do
              local got = not fits(number, dtype, r.op)
                and attempt(fn, a, k, dtype)
              local want = got and attempt(fn, a, k, "int64")
              total = total + 1
              if got and (not want or values(got) ~= values(want))
                and not told[at] then
                told[at] = true
                faults[#faults + 1] = ("%s %s, %s for %s of %s: %s, not %s"):
                  format(r.op, r.id, number, at, dtype, values(got),
                    want and values(want) or "refused")
              end
            end
          end)
          if total > before then calls = calls + 1 end
        end
      end
    end
    assert.equal("", table.concat(faults, "\n"))
    assert.is_true(total > 1000, "calls: " .. total)
  end)
end)
