-- The column dtypes of the rows against what calls do: what a row promises
-- works in some call of the golden records, anything else is refused there.
-- Rows with kernel tables are compared with these in spec/c/op/test_registry.c.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"

local DTYPES = {}
for name in ([[bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16
  bfloat16 float32 float64 complex32 complex64 complex128]]):gmatch("%S+") do
  DTYPES[#DTYPES + 1] = name
end

local MOST_CALLS = 12       -- of one operation

-- What any row of a name promises; composites are as wide as their parts, and
-- promotion lets element-wise rows take more than they compute in.
local function promises()
  local map = {}
  for _, op in ipairs(la.operations()) do
    local p = map[op.name] or {refuses = true}
    for _, name in ipairs(op.dtypes) do p[name] = true end
    if op.composite or op.promotes then p.refuses = false end
    map[op.name] = p
  end
  return map
end

local function is_tensor(v)
  return type(v) == "userdata" and v ~= la.newaxis
end

-- The dtype of the first tensor that is no mask (of the first, where all are):
-- those of its dtype go with it.
local function lead_of(args)
  local first
  for i = 1, args.n do
    local v = type(args[i]) == "table" and args[i][1] or args[i]
    if is_tensor(v) then
      first = first or v.dtype
      if v.dtype ~= "bool" then return v.dtype end
    end
  end
  return first
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

-- works[name][dtype]: a call of the records succeeds in the dtype.
local function trials()
  local works, calls = {}, {}
  for _, path in ipairs(modules.golden()) do
    for r in records.each(path) do
      local n = calls[r.op] or 0
      local usable = r.args and r.style ~= "inplace" and not r.expect.error
        and not (r.kwargs and r.kwargs.dtype) and n < MOST_CALLS
      local found, fn, args, keywords
      if usable then found, fn, args, keywords = pcall(records.call_of, r) end
      local lead = found and lead_of(args)
      if lead then
        calls[r.op] = n + 1
        works[r.op] = works[r.op] or {}
        for _, dtype in ipairs(DTYPES) do
          works[r.op][dtype] = works[r.op][dtype] or pcall(function()
            local given = cast(args, lead, dtype)
            given[args.n + 1] = keywords
            return fn(table.unpack(given, 1, args.n + (keywords and 1 or 0)))
          end)
        end
      end
    end
  end
  return works
end

describe("the dtypes of a row", function()
  it("are those in which calls of the golden records work", function()
    local faults, promised = {}, promises()
    for name, works in pairs(trials()) do
      local p = promised[name]
      for _, dtype in ipairs(p and DTYPES or {}) do
        if p[dtype] and not works[dtype] then
          faults[#faults + 1] = name .. " promises " .. dtype
        elseif p.refuses and works[dtype] and not p[dtype] then
          faults[#faults + 1] = name .. " takes " .. dtype
        end
      end
    end
    table.sort(faults)
    assert.same({}, faults)
  end)

  it("are shown by help", function()
    assert.truthy(la.help("gcd"):find("dtypes: integers;", 1, true))
    assert.truthy(la.help("add"):find("dtypes: all", 1, true))
  end)
end)
