-- out= and operands that require a gradient, for every row: a result that would
-- have a history is refused, one that has none is written without one, and a
-- tensor that requires a gradient is never written to.
local la = require "lunarray"
local row_calls = require "spec.support.row_calls"

local OUT = 8                   -- the form's bit in 'forms'
local TEXT = "out=... arguments don't support automatic differentiation"

local is_tensor = la.is_tensor
local function is_inexact(t) return t:is_floating_point() or t:is_complex() end

-- The arguments with leaves in place of what can have a gradient, or nil.
local function with_leaves(args)
  local list, found = {n = args.n}, false
  local function leaf(t)
    if not (is_tensor(t) and is_inexact(t)) then return t end
    found = true
    return t:detach():clone():requires_grad_()
  end
  for k = 1, args.n do
    local v = args[k]
    list[k] = leaf(v)
    if type(v) == "table" then
      list[k] = {}
      for i, member in pairs(v) do list[k][i] = leaf(member) end
    end
  end
  return found and list or nil
end

-- The results of the call, or nil and the error.
local function call(fn, args, out)
  local list, n = table.move(args, 1, args.n, 1, {}), args.n
  if out then
    n = n + 1
    list[n] = {out = #out > 1 and out or out[1]}
  end
  la.manual_seed(1)
  local results = table.pack(pcall(fn, table.unpack(list, 1, n)))
  if not results[1] then return nil, results[2] end
  return table.move(results, 2, results.n, 1, {})
end

local function like(results)
  local list = {}
  for k, t in ipairs(results) do
    list[k] = la.full(t.shape, 1, {dtype = t.dtype})
  end
  return list
end

local function same(a, b)
  for k = 1, #a do
    if not la.allclose(a[k], b[k], 0, 0, true) then return false end
  end
  return true
end

local function any(results, f)
  for _, t in ipairs(results) do
    if f(t) then return true end
  end
  return false
end

local function needs(t) return t.requires_grad end

-- The call with out=: what is wrong, or nil.
local function fault_of(fn, args, want)
  local out = like(want)
  local done, why = call(fn, args, out)
  if any(want, needs) then
    if done then return "is taken though the result has a history" end
    if not why:find(TEXT, 1, true) then return why end
    if not same(out, like(want)) then return "is written to" end
  else
    if not done then return why end
    if any(out, needs) then return "gets a history" end
    if not same(out, want) then return "another result" end
  end
  out = like(want)
  for _, t in ipairs(out) do
    if is_inexact(t) then t:requires_grad_() end
  end
  done, why = call(fn, args, out)
  if done then return "writes to a leaf that requires a gradient" end
  if not why:find(TEXT, 1, true) then return why end
  return not same(out, like(want)) and "a leaf is written to" or nil
end

describe("out= of operands that require a gradient", function()
  it("never gets a history, for every row", function()
    local bad, tried = {}, 0
    for _, op in ipairs(la.operations()) do
      local args, fn
      if op.forms & OUT ~= 0 then args, fn = row_calls.arguments_of(op) end
      args = args and with_leaves(args)
      local want = args and call(fn, args)
      if want and is_tensor(want[1]) and any(want, is_inexact) then
        local why = fault_of(fn, args, want)
        -- the row without dims has no out=
        if not (why and why:find("unknown keyword 'out'", 1, true)) then
          tried = tried + 1
          bad[#bad + 1] = why and op.row .. ": " .. why
        end
      end
    end
    assert.equal("", table.concat(bad, "\n"))
    assert.is_true(tried > 300, tried)
  end)
end)
