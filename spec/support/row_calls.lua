-- Small calls of operations that have none in the golden records: arguments are
-- made for the parameters that the signature has no default for, and sizes are
-- tried until one works.
--
-- row_calls.find(op) returns a call of an entry of la.operations(), or nil;
-- call.run(dtype) makes it with its first tensor, and those of the same dtype,
-- in another one: true and the results, or false and the error.
local la = require "lunarray"
local reach = require "spec.support.reach"

local row_calls = {}

local SIZES = {{4}, {3}, {3, 3}, {2, 3}, {4, 4}, {2, 4, 4}, {2, 2, 4, 4}, {},
  {2, 3, 3, 3, 3}, {5, 5}, {4, 2}, {6}, {2}, {1}, {8}, {64}, {1, 6}}
local VALUES = {
  int = {1, 2, 4}, dim = {1, 2, 1}, index = {1, 2, 1},
  float = {0.5, 1, 2}, Scalar = {0.5, 1, 2}, bool = {true, false, true},
  str = {"sum", "mean", "hann"}, dtype = {"float32", "int64", "bool"},
  list = {{1}, {4, 4}, {2, 2, 2}},
}

-- "a, b[2], c" as a list of its parts.
local function parameters(signature)
  local list, depth, from = {}, 0, 1
  local text = (signature:match("%((.*)%)%s*%->") or "") .. ","
  for at, c in text:gmatch("()(.)") do
    depth = depth + (c:match("[%[(]") and 1 or c:match("[%])]") and -1 or 0)
    if c == "," and depth == 0 then
      list[#list + 1] = text:sub(from, at - 1):match("^%s*(.-)%s*$")
      from = at + 1
    end
  end
  return list
end

-- The types of what a call must have; nil where something between may be left
-- out.
local function required(signature)
  local types, gap = {}, false
  for _, p in ipairs(parameters(signature)) do
    if p == "*" or p == "" then break end
    local optional = p:find("=", 1, true)
    if gap and not optional then return nil end
    gap = gap or optional
    if not optional then types[#types + 1] = p:match("^%S+") end
  end
  return types
end

-- The function that users call: of the library, of a theme, or a method.
local function function_of(name)
  local method = reach.member(la.zeros(1), name)
  return reach.of_row(name) or type(method) == "function" and method or nil
end

local function is_tensor(kind)
  return kind == "Tensor" or kind == "Tensor[]" or kind == "Array"
end

local function value(kind, choice)
  if kind:find("[", 1, true) then return VALUES.list[choice] end
  return VALUES[kind] and VALUES[kind][choice]
end

-- The arguments (with n), or nil and what there is no value for.
local function arguments(call, lead)
  local args, k = {n = #call.types}, 0
  for i, kind in ipairs(call.types) do
    if is_tensor(kind) then
      k = k + 1
      local dtype = (k == 1 or call.dtypes[k] == call.dtypes[1]) and lead
        or call.dtypes[k]
      local t = la.ones(SIZES[call.sizes[k]], {dtype = dtype})
      args[i] = kind == "Tensor[]" and {t, t:clone()} or t
    else
      args[i] = value(kind, call.choice)
    end
    if args[i] == nil then return nil, kind end
  end
  return args
end

local function run(call, lead)
  local args, kind = arguments(call, lead)
  if not args then return false, "no value for " .. kind end
  return pcall(call.fn, table.unpack(args, 1, args.n))
end

local function first_dtype(op)
  local has = {}
  for _, name in ipairs(op.dtypes) do has[name] = true end
  for _, name in ipairs{"float32", "complex64", "int64", "uint8"} do
    if has[name] then return name end
  end
end

-- Number c of the ways to give sizes to n tensors: the first has its own, the
-- others have one.
local function sizes_of(c, n)
  local list = {}
  for k = 1, n do
    list[k] = k == 1 and c // #SIZES % #SIZES + 1 or c % #SIZES + 1
  end
  if n == 1 then list[1] = c % #SIZES + 1 end
  return list
end

local function tensors_in(types)
  local n = 0
  for _, kind in ipairs(types) do n = n + (is_tensor(kind) and 1 or 0) end
  return n
end

-- The arguments of a call that was found.
function row_calls.arguments(call)
  return arguments(call, call.dtypes[1])
end

function row_calls.find(op)
  local call = {fn = function_of(op.name), types = required(op.signature)}
  local n, lead = tensors_in(call.types or {}), first_dtype(op)
  if not call.fn or n == 0 then return nil end
  function call.run(dtype) return run(call, dtype) end
  for _, rest in ipairs{lead, "int64", "bool"} do
    for choice = 1, 3 do
      for c = 0, (n > 1 and #SIZES or 1) * #SIZES - 1 do
        call.choice, call.sizes, call.dtypes = choice, sizes_of(c, n), {}
        for k = 1, n do call.dtypes[k] = k == 1 and lead or rest end
        if call.run(lead) then return call end
      end
    end
  end
end

-- A call that may fail: what the first tensor is refused for comes first.
function row_calls.any(op)
  local call = {fn = function_of(op.name), types = required(op.signature)}
  local n = tensors_in(call.types or {})
  if not call.fn or n == 0 or not is_tensor(call.types[1]) then return nil end
  call.choice, call.sizes, call.dtypes = 1, sizes_of(0, n), {}
  for k = 1, n do call.dtypes[k] = k == 1 and "first" or "float32" end
  function call.run(dtype) return run(call, dtype) end
  return call
end

-- Arguments of a small call (with n) and the function; nil where none is known.
function row_calls.arguments_of(op)
  local call = row_calls.find(op)
  if not call then return nil end
  local fn, args = call.fn, nil
  call.fn = function(...) args = table.pack(...) end
  for _, dtype in ipairs {"float32", "int64", "complex64", "bool"} do
    if call.run(dtype) and args then break end
  end
  call.fn = fn
  return args, fn
end

return row_calls
