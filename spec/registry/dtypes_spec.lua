-- The column dtypes of the rows against what calls do: what a row promises
-- works in some call of the golden records, anything else is refused there.
-- Rows with kernel tables are compared with these in spec/c/op/test_registry.c.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"
local row_calls = require "spec.support.row_calls"

local DTYPES = {}
for name in ([[bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16
  bfloat16 float32 float64 complex32 complex64 complex128]]):gmatch("%S+") do
  DTYPES[#DTYPES + 1] = name
end

local MOST_CALLS = 12       -- of one operation

-- What any row of a name promises. Promotion lets element-wise rows take more
-- than they compute in.
local function promises()
  local map = {}
  for _, op in ipairs(la.operations()) do
    local p = map[op.name] or {refuses = true}
    for _, name in ipairs(op.dtypes) do p[name] = true end
    if op.promotes then p.refuses = false end
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

-- Calls that the integers of a row need: its defaults are for floats.
local function summed(loss)
  return function(dtype)
    local t = la.ones(4, {dtype = dtype})
    return pcall(loss, t, t, {reduction = "sum"})
  end
end
local OTHERS = {
  mse_loss = summed(la.mse_loss), l1_loss = summed(la.l1_loss),
  dropout = function(dtype)
    return pcall(la.dropout, la.ones(4, {dtype = dtype}), 0.5, false)
  end,
  bernoulli_ = function(dtype)
    return pcall(function()
      return la.ones(4, {dtype = dtype}):bernoulli_(la.rand(4))
    end)
  end,
}

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

-- Composites that users call, with the set of their dtypes.
local function each_composite()
  return coroutine.wrap(function()
    for _, op in ipairs(la.operations()) do
      if op.composite and op.forms & 3 ~= 0 then
        coroutine.yield(op, set_of(op.dtypes))
      end
    end
  end)
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

  it("are what a composite takes as its first tensor", function()
    local faults, refused = {}, 0
    for op, takes in each_composite() do
      local call = row_calls.any(op)
      for _, dtype in ipairs(call and DTYPES or {}) do
        local ok, why = true, nil
        if not takes[dtype] then ok, why = call.run(dtype) end
        refused = refused + (why and 1 or 0)
        if why and not why:find('" not implemented for \'', 1, true)
          and not why:find("expected, got table", 1, true)
          and not why:find('say dtype = "', 1, true)      -- it may be given
          and not why:find("on a bool tensor", 1, true)   -- of the operator
          or ok and not takes[dtype] then
          faults[#faults + 1] = ("%s of %s: %s"):format(op.row, dtype,
            tostring(why))
        end
      end
    end
    assert.same({}, faults)
    assert.truthy(refused > 1000)
  end)

  it("work in calls of composites that have no record", function()
    local faults, works, tried = {}, trials(), 0
    for op, takes in each_composite() do
      local call = not works[op.name] and row_calls.find(op)
      tried = tried + (call and 1 or 0)
      for dtype in pairs(call and takes or {}) do
        local ok = call.run(dtype)
        if not ok and OTHERS[op.name] then ok = OTHERS[op.name](dtype) end
        if not ok then
          faults[#faults + 1] = op.row .. " promises " .. dtype
        end
      end
    end
    table.sort(faults)
    assert.same({}, faults)
    assert.truthy(tried > (modules.all() and 100 or 20))
  end)

  it("are shown by help", function()
    assert.truthy(la.help("gcd"):find("dtypes: integers;", 1, true))
    assert.truthy(la.help("add"):find("dtypes: all", 1, true))
  end)
end)
