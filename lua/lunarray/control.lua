-- lunarray.control: control flow that depends on values. Reached as la.cond,
-- la.while_loop and la.scan.
--
-- Outside of a program these are plain Lua: the branch that is taken runs, and
-- what runs is recorded for derivatives as any other call. Within la.vmap a
-- condition may differ from element to element. Then both branches run on the
-- whole batch, and la.where chooses; a loop goes on until all elements are
-- done, and those that are done keep their values.
--
-- A carry keeps its structure, sizes and dtypes from step to step, so that what
-- runs here runs as a program too.
local la = require "lunarray"
local tensors = require "lunarray.tensors"

local control = {}

local is_tensor, check_arg = tensors.is_tensor, tensors.check

-- Tensors in tables count, tables in them too, to this depth.
local MAX_DEPTH = 16

local function fail(what, format, ...)
  error(what .. ": " .. format:format(...), tensors.user_level())
end

-- Argument 'n' of function 'what' is not as it must be.
local function fail_arg(what, n, format, ...)
  error(("bad argument #%d to '%s' (%s)"):format(n, what, format:format(...)),
    tensors.user_level())
end

local function form_of(value)
  if not is_tensor(value) then return type(value) end
  return ("%s tensor of %s"):format(value.dtype, value.shape)
end

-- ---- values ----

-- make(leaf, same leaf of others ...) for each leaf of a value: the same
-- structure of results. What is no table is a leaf.
local function map(what, make, value, other, where, depth)
  if type(value) ~= "table" then return make(value, other, where) end
  if (depth or 0) == MAX_DEPTH then
    fail(what, "tables in tables, more than %d deep", MAX_DEPTH)
  end
  local out = {}
  for key, v in pairs(value) do
    local o
    if type(other) == "table" then o = other[key] end
    out[key] = map(what, make, v, o, ("%s[%s]"):format(where, key),
      (depth or 0) + 1)
  end
  return out
end

-- Raise unless 'value', which function 'n' of the arguments gave, has the
-- structure, sizes and dtypes of 'like'.
local function check_same(what, n, value, like, where, of)
  if type(value) == "table" and type(like) == "table" then
    for key in pairs(like) do
      if value[key] == nil then
        fail_arg(what, n, "%s[%s] is missing, which %s has", where, key, of)
      end
    end
    for key, v in pairs(value) do
      check_same(what, n, v, like[key], ("%s[%s]"):format(where, key), of)
    end
    return
  end
  local same = type(value) == type(like)
  if is_tensor(value) or is_tensor(like) then
    same = is_tensor(value) and is_tensor(like) and value.dtype == like.dtype
      and value.shape == like.shape
  end
  if not same then
    fail_arg(what, n, "%s: %s, but %s has %s there", where, form_of(value), of,
      form_of(like))
  end
end

-- ---- conditions ----

-- true or false, or nil and the condition as a bool tensor without dims where
-- it differs within a batch. Numbers other than 0 count as true.
local function truth(what, behind, where, value)
  if type(value) == "boolean" then return value end
  if not is_tensor(value) or value:numel() ~= 1 then
    fail_arg(what, 1, "%s: a boolean or a tensor of one element expected, got "
      .. "%s", where, form_of(value))
  end
  local flag = value.dtype == "bool" and value or value:ne(0)
  local batch, holds = behind(flag)
  if batch then return nil, flag:reshape({}) end
  if holds ~= nil then return holds end
  return flag:item()
end

-- Leaves of 'yes' where the flag is true, of 'no' elsewhere.
local function choose(what, flag, yes, no, where, of)
  check_same(what, 2, yes, no, where, of)
  return map(what, function(a, b, at)
    if is_tensor(a) then return la.where(flag, a, b) end
    if a ~= b then
      fail(what, "%s: %s and %s: a value that differs within a batch must be "
        .. "a tensor", at, tostring(a), tostring(b))
    end
    return a
  end, yes, no, where)
end

-- The leaves of a value as a list, in the order of those of 'like'; the value
-- like another that has those of a list. nil where one of them is no tensor.
local function flatten(like, value)
  local list, fits = {}, true
  map("while_loop", function(_, t)
    if is_tensor(t) then list[#list + 1] = t else fits = false end
  end, like, value, "carry")
  return fits and list or nil
end

local function unflatten(value, list)
  local n = 0
  return map("while_loop", function()
    n = n + 1
    return list[n]
  end, value, nil, "carry")
end

-- Both functions as parts of the program that is recorded: the results, or nil
-- where they can't be that.
local function both(behind, pred, f, g, ...)
  local args = {...}
  local list = la._recording() and is_tensor(pred)
    and select("#", ...) == #args and flatten(args, args)
  if not list or pred:numel() ~= 1 then return end
  local like
  local function part(h)
    return function(leaves)
      local values = unflatten(args, leaves)
      local out = table.pack(h(table.unpack(values, 1, #args)))
      local n = out.n
      out.n = nil
      if n == 0 or n ~= #out then return end
      if not like then like = out end
      if not pcall(check_same, "cond", 2, out, like, "result", "f's") then
        return
      end
      return flatten(like, out)
    end
  end
  local flag = pred.dtype == "bool" and pred or pred:ne(0)
  local leaves = behind(part(f), part(g), list, flag)
  return leaves and unflatten(like, leaves)
end

-- la.cond(pred, f, g, ...): f(...) where pred holds, else g(...).
function control.cond(behind, pred, f, g, ...)
  check_arg("cond", 2, f, "function")
  check_arg("cond", 3, g, "function")
  local results = both(behind, pred, f, g, ...)
  if results then return table.unpack(results) end
  local holds, flag = truth("cond", behind, "pred", pred)
  if holds then return f(...) end
  if holds == false then return g(...) end
  local yes, no = table.pack(f(...)), table.pack(g(...))
  local out = choose("cond", flag, yes, no, "result", "the second function's")
  return table.unpack(out, 1, out.n)
end

-- The loop as a step of the program that is recorded: the carry behind it, and
-- true where it has ended. nil where nothing is recorded.
local function recorded(behind, test, body, carry)
  local like = {table.unpack(carry, 1, carry.n)}
  local list = la._recording() and #like == carry.n and flatten(like, like)
  if not list or #list == 0 then return end
  local function unpacked(leaves)
    return table.unpack(unflatten(like, leaves), 1, carry.n)
  end
  local ended, rest = behind(function(leaves)
    local value = test(unpacked(leaves))
    if not is_tensor(value) or value:numel() ~= 1 then return value end
    return value.dtype == "bool" and value or value:ne(0)
  end, function(leaves)
    local new = table.pack(body(unpacked(leaves)))
    check_same("while_loop", 2, new, carry, "result", "the value before")
    return flatten(like, new)
  end, list)
  if not ended and not rest then return end
  local new = unflatten(like, ended or rest)
  new.n = carry.n
  return new, ended
end

-- la.while_loop(test, body, ...): the values ... while test(...) holds, each
-- time replaced by body(...).
function control.while_loop(behind, test, body, ...)
  check_arg("while_loop", 1, test, "function")
  check_arg("while_loop", 2, body, "function")
  local carry = table.pack(...)
  local new, ended = recorded(behind, test, body, carry)
  if ended then return table.unpack(new, 1, new.n) end
  carry = new or carry
  while true do
    local holds, flag = truth("while_loop", behind, "its result",
      test(table.unpack(carry, 1, carry.n)))
    if flag then holds = behind(flag):any() end
    if not holds then return table.unpack(carry, 1, carry.n) end
    new = table.pack(body(table.unpack(carry, 1, carry.n)))
    check_same("while_loop", 2, new, carry, "result", "the value before")
    carry = flag and choose("while_loop", flag, new, carry, "carry", "before")
      or new
  end
end

-- ---- scan ----

-- How many elements dim 1 of all tensors of xs has.
local function length_of(xs)
  local n
  map("scan", function(x, _, where)
    if not is_tensor(x) then
      fail_arg("scan", 3, "%s: tensor expected, got %s", where,
        type(x))
    end
    if x.ndim == 0 then
      fail_arg("scan", 3, "%s has no dims to run over", where)
    end
    n = n or x:size(1)
    if x:size(1) ~= n then
      fail_arg("scan", 3, "%s has %d elements along dim 1, others "
        .. "have %d", where, x:size(1), n)
    end
  end, xs, nil, "xs")
  if not n then fail_arg("scan", 3, "xs: a table without tensors") end
  return n
end

-- A function of i that gives the elements i of xs along dim 1. Where gradients
-- flow they are parts of one node, whose gradient is one tensor.
local function elements_of(xs)
  local parts = map("scan", function(x)
    return x.requires_grad and la.is_grad_enabled() and {list = x:unbind(1)}
      or {tensor = x}
  end, xs, nil, "xs")
  local function at(part, i)
    if part.list then return part.list[i] end
    if is_tensor(part.tensor) then return part.tensor:select(1, i) end
    local out = {}
    for key, p in pairs(part) do out[key] = at(p, i) end
    return out
  end
  return function(i) return at(parts, i) end
end

-- The sizes of y where xs has no elements are known from a call on zeros, which
-- leaves no trace in gradients and random numbers.
local function empty_result(f, init, xs)
  local function zero(x)
    local sizes = {table.unpack(x.shape, 2)}
    return x:new_zeros(sizes)
  end
  local function copy(c) return is_tensor(c) and c:detach():clone() or c end
  local _, y = la.no_grad(la.fork_rng, function()
    return f(map("scan", copy, init, nil, "init"),
      map("scan", zero, xs, nil, "xs"))
  end)
  return map("scan", function(t, _, where)
    if t == nil then return nil end
    if not is_tensor(t) then
      fail_arg("scan", 1, "%s: tensor expected, got %s", where, type(t))
    end
    return t:new_zeros({0, table.unpack(t.shape)})
  end, y, nil, "y")
end

-- What f returned as y may be written by a later step, so a copy is kept.
local function keep(y, first, i)
  if i > 1 then
    check_same("scan", 1, y, first, "y", "y of the first step")
  end
  return map("scan", function(t, _, where)
    if t == nil then return nil end
    if not is_tensor(t) then
      fail_arg("scan", 1, "%s: tensor expected, got %s", where,
        type(t))
    end
    return t:clone()
  end, y, nil, "y")
end

-- Leaf by leaf: the list of all steps' tensors, stacked.
local function stack(steps)
  local function at(first, path)
    if first == nil then return nil end
    local list, out = {}, {}
    if type(first) == "table" then
      for key, v in pairs(first) do
        path[#path + 1] = key
        out[key] = at(v, path)
        path[#path] = nil
      end
      return out
    end
    for i, y in ipairs(steps) do
      for _, key in ipairs(path) do y = y[key] end
      list[i] = y
    end
    return la.stack(list, 1)
  end
  return at(steps[1], {})
end

-- la.scan(f, init, xs): carry, y = f(carry, x) for each x along dim 1 of xs;
-- the last carry, and all y stacked along dim 1.
function control.scan(_, f, init, xs)
  check_arg("scan", 1, f, "function")
  if type(xs) ~= "table" and not is_tensor(xs) then
    check_arg("scan", 3, xs, "tensors")
  end
  local n = length_of(xs)
  if n == 0 then return init, empty_result(f, init, xs) end
  local element, carry, steps = elements_of(xs), init, {}
  for i = 1, n do
    local new, y = f(carry, element(i))
    check_same("scan", 1, new, carry, "carry", i == 1 and "init"
      or "the carry before")
    carry, steps[i] = new, keep(y, steps[1], i)
  end
  return carry, stack(steps)
end

return control
