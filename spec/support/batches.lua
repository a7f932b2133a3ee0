-- A call on a batch two ways: by la.vmap, and element by element.
local la = require "lunarray"
local vary = require "spec.support.vary"

local batches = {}

local N = 3
batches.size = N

local ROUGH = {float16 = 2e-2, bfloat16 = 8e-2, complex32 = 2e-2,
  float32 = 2e-5, complex64 = 2e-5}
local EXACT = {bool = true, uint8 = true, int8 = true, int16 = true,
  int32 = true, int64 = true, uint16 = true, uint32 = true, uint64 = true}

-- Three tensors of one kind: itself, the elements in another order, halves.
-- Orders that the operation refuses (a matrix that is not definite, an index
-- out of range) show in the loop; then only sizes of elements change.
local function variants(t, orders)
  if EXACT[t.dtype] then
    return orders and {t, t.ndim > 0 and t:roll(1) or t, t} or {t, t, t}
  end
  return {t, orders and t.ndim > 0 and t:roll(1) or t * 0.75, t * 0.5}
end

-- The k-th tensor (from 1) is a part of the batch in these modes.
batches.modes = {
  all = function() return true end,
  first = function(k) return k == 1 end,
  others = function(k) return k > 1 end,
}

-- Results as a list of tensors; nil where one is something else.
local function tensors_of(results)
  local out = {}
  local function add(v)
    if vary.is_tensor(v) then out[#out + 1] = v return true end
    if type(v) ~= "table" then return v == nil end
    for _, x in ipairs(v) do if not add(x) then return false end end
    return true
  end
  for k = 1, results.n do if not add(results[k]) then return nil end end
  return #out > 0 and out or nil
end

-- In place on a copy, whose state is the result.
local function run(call, args, keywords)
  local n = call.args.n
  if keywords then
    n = n + 1
    args[n] = keywords
  end
  if call.style == "inplace" or call.style == "setitem" then
    args[1] = args[1]:clone()
    call.fn(table.unpack(args, 1, n))
    return {args[1], n = 1}
  end
  return table.pack(call.fn(table.unpack(args, 1, n)))
end

-- The call with f(tensor, k) in place of its k-th tensor.
local function replaced(call, f)
  local k = 0
  return vary.converted(call, function(t)
    k = k + 1
    return f(t, k)
  end)
end

local function by_loop(call, lists)
  local rows = {}
  for i = 1, N do
    local args, keywords = replaced(call, function(_, k) return lists[k][i] end)
    local results = tensors_of(run(call, args, keywords))
    if not results then return nil end
    rows[i] = results
  end
  return rows
end

local function by_vmap(call, lists, batched)
  local inputs, at = {}, {}
  for k, list in ipairs(lists) do
    if batched(k) then
      inputs[#inputs + 1] = la.stack(list)
      at[k] = #inputs
    end
  end
  return {la.vmap(function(...)
    local given = {...}
    local args, keywords = replaced(call, function(_, k)
      return at[k] and given[at[k]] or lists[k][1]
    end)
    return table.unpack((tensors_of(run(call, args, keywords))))
  end)(table.unpack(inputs))}
end

local function differs(got, rows, j)
  local want = rows[1][j]
  for i = 1, N do
    if rows[i][j].shape ~= want.shape then return nil, "uneven" end
  end
  want = {}
  for i = 1, N do want[i] = rows[i][j]:resolve_conj() end
  want = la.stack(want)
  if got.shape ~= want.shape then
    return ("shape %s, want %s"):format(got.shape, want.shape)
  elseif got.dtype ~= want.dtype then
    return ("dtype %s, want %s"):format(got.dtype, want.dtype)
  end
  if EXACT[got.dtype] then
    return not la.equal(got, want) and "other values" or nil
  end
  local tol = ROUGH[got.dtype] or 1e-10
  local wide = got:is_complex() and "complex128" or "float64"
  local a, b = got:to(wide), want:to(wide)
  if not la.allclose(a, b, tol, tol, true) then
    return "other values"
  end
end

-- nil, or how the two ways disagree; and whether the loop was refused.
function batches.disagreement(call, mode, orders)
  local batched, lists, any = batches.modes[mode], {}, false
  for k, t in ipairs(vary.tensors(call)) do
    local list = batched(k) and la.stack(variants(t, orders))
    lists[k] = list and list:unbind() or {t, t, t}
    any = any or batched(k)
  end
  local writes = call.style == "inplace" or call.style == "setitem"
  if not any or (writes and not batched(1)) then return nil end
  local fine, rows = pcall(by_loop, call, lists)
  if fine and not rows then return nil end      -- Lua values
  local ok, got = pcall(by_vmap, call, lists, batched)
  if not fine then
    return ok and "raises only in the loop: " .. tostring(rows) or nil, true
  end
  if not ok then
    for j = 1, #rows[1] do
      local _, uneven = differs(rows[1][j], rows, j)
      if uneven then return nil end
    end
    return "raises: " .. tostring(got)
  end
  if #got ~= #rows[1] then return "other number of results" end
  for j = 1, #got do
    local why, uneven = differs(got[j], rows, j)
    if uneven then return "no error for results of different shapes" end
    if why then return ("result %d: %s"):format(j, why) end
  end
end

return batches
