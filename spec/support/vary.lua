-- Variations of a call: {fn, args (with n), keywords or nil, op, style}.
local la = require "lunarray"

local vary = {}

local DTYPES = {}
for name in ([[bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16
  bfloat16 float32 float64 complex32 complex64 complex128]]):gmatch "%S+" do
  DTYPES[#DTYPES + 1] = name
end
local OUT_DTYPES = {"bool", "uint8", "int64", "float16", "float64",
  "complex128"}
local NUMBERS = {-1000, -1, 0, 1, 7, 1000, 2.5, true}

local TENSOR = getmetatable(la.zeros(1))
function vary.is_tensor(v)
  return type(v) == "userdata" and getmetatable(v) == TENSOR
end

-- A copy of nested tables with f(tensor) for each tensor.
local function map(v, f)
  if vary.is_tensor(v) then return f(v) end
  if type(v) ~= "table" then return v end
  local out = {}
  for k, x in pairs(v) do out[k] = map(x, f) end
  return out
end

function vary.converted(call, f)
  return map(call.args, f), call.keywords and map(call.keywords, f)
end

function vary.tensors(call)
  local list = {}
  vary.converted(call, function(t) list[#list + 1] = t return t end)
  return list
end

---------------------------------------------------------------------------
-- Values

local function sizes_of(t)
  local list = {}
  for d = 1, t.ndim do list[d] = t.shape[d] end
  return list
end

function vary.strides_of(t)
  local list = {}
  for d = 1, t.ndim do list[d] = t:stride(d) end
  return list
end

local function strided(t, device)
  return la.empty_strided(sizes_of(t), vary.strides_of(t),
    {dtype = t.dtype, device = device})
end

-- Without bits, on the device, with the strides of 't'; elements that no
-- operation refuses: an index, a divisor, a probability.
function vary.benign(t)
  local x = strided(t, "cpu")
  if t:is_floating_point() or t:is_complex() then x:fill_(0.5)
  else x:fill_(1) end
  return x
end

function vary.on_meta(t) return strided(t, "meta") end

---------------------------------------------------------------------------
-- Variations

local function with_tensors(call, f)
  local k = 0
  local args, keywords = vary.converted(call, function(t)
    k = k + 1
    return f(t, k)
  end)
  return {fn = call.fn, args = args, keywords = keywords, op = call.op,
    style = call.style}
end

-- The dtype of the first tensor that is no mask.
local function lead_of(call)
  local list = vary.tensors(call)
  for _, t in ipairs(list) do
    if t.dtype ~= "bool" then return t.dtype end
  end
  return list[1] and list[1].dtype
end

local function dtypes(call, fn)
  local lead = lead_of(call)
  for _, dtype in ipairs(lead and DTYPES or {}) do
    fn(with_tensors(call, function(t)
      return t.dtype == lead and la.zeros(sizes_of(t), {dtype = dtype}) or t
    end), "in " .. dtype)
    fn(with_tensors(call, function(t, k)
      return k == 1 and la.zeros(sizes_of(t), {dtype = dtype}) or t
    end), "first of " .. dtype)
  end
end

local SHAPES = {
  ["0-dim"] = function() return {} end,
  empty = function() return {0} end,
  ["no rows"] = function(s) s[1] = 0 return s end,
  ["no columns"] = function(s) s[#s > 0 and #s or 1] = 0 return s end,
  ["one more dim"] = function(s) table.insert(s, 1, 2) return s end,
  ["one dim less"] = function(s) table.remove(s, 1) return s end,
  ["one more column"] = function(s)
    s[#s > 0 and #s or 1] = (s[#s] or 0) + 1
    return s
  end,
  ["one row"] = function(s) s[1] = 1 return s end,
}

local function shapes(call, fn)
  for k = 0, math.min(#vary.tensors(call), 4) do
    for what, change in pairs(SHAPES) do
      fn(with_tensors(call, function(t, i)
        if k > 0 and i ~= k then return t end
        return la.zeros(change(sizes_of(t)), {dtype = t.dtype})
      end), ("tensor %d %s"):format(k, what))
    end
  end
end

local function permuted(t)
  if t.ndim < 2 then return t end
  local sizes = sizes_of(t)
  sizes[1], sizes[#sizes] = sizes[#sizes], sizes[1]
  return la.zeros(sizes, {dtype = t.dtype}):transpose(1, -1)
end

-- The dims but the longest of size 1, or the first alone, with the strides of
-- another order of dims.
local function of_ones(t, all)
  local sizes, longest = sizes_of(t), 1
  for d = 2, #sizes do
    if sizes[d] > sizes[longest] then longest = d end
  end
  for d = 1, #sizes do
    if all and d ~= longest or d == 1 and #sizes > 1 then sizes[d] = 1 end
  end
  local reversed = {}
  for d = 1, #sizes do reversed[d] = sizes[#sizes + 1 - d] end
  local order = {}
  for d = 1, #sizes do order[d] = #sizes + 1 - d end
  return la.zeros(reversed, {dtype = t.dtype}):permute(order)
end

local LAYOUTS = {
  transposed = permuted,
  ["one row, reversed"] = function(t) return of_ones(t, false) end,
  ["ones, reversed"] = function(t) return of_ones(t, true) end,
  ["every second"] = function(t)
    local sizes = sizes_of(t)
    if #sizes == 0 then return t end
    sizes[#sizes] = 2 * sizes[#sizes] + 1
    return la.zeros(sizes, {dtype = t.dtype}):narrow(-1, 1, sizes[#sizes] - 1)
      :unflatten(-1, {-1, 2}):select(-1, 1)
  end,
  channels_last = function(t)
    if t.ndim ~= 4 then return t end
    return la.empty(sizes_of(t), {dtype = t.dtype,
      memory_format = "channels_last"})
  end,
  expanded = function(t)
    local sizes = sizes_of(t)
    if #sizes == 0 then return t end
    sizes[1] = 1
    return la.zeros(sizes, {dtype = t.dtype}):expand(sizes_of(t))
  end,
}

local function layouts(call, fn)
  for k = 0, math.min(#vary.tensors(call), 3) do
    for what, change in pairs(LAYOUTS) do
      local ok, other = pcall(with_tensors, call, function(t, i)
        return (k == 0 or i == k) and change(t) or t
      end)
      if ok then fn(other, ("tensor %d %s"):format(k, what)) end
    end
  end
end

local function numbers(call, fn)
  local function try(list, key)
    local before = list[key]
    if type(before) ~= "number" and type(before) ~= "boolean" then return end
    for _, v in ipairs(NUMBERS) do
      list[key] = v
      fn(call, ("%s = %s"):format(key, v))
    end
    list[key] = before
  end
  for i = 1, call.args.n do
    try(call.args, i)
    local list = call.args[i]
    if type(list) == "table" then
      for j = 1, #list do try(list, j) end
    end
  end
  for name in pairs(call.keywords or {}) do try(call.keywords, name) end
end

local function outputs(call, fn)
  local before = call.keywords
  if call.style ~= "function" or before and before.out then return end
  for _, dtype in ipairs(OUT_DTYPES) do
    for what, sizes in pairs({empty = {0}, two = {2, 2}}) do
      local keywords = {}
      for k, v in pairs(before or {}) do keywords[k] = v end
      keywords.out = la.zeros(sizes, {dtype = dtype})
      call.keywords = keywords
      fn(call, ("out %s %s"):format(dtype, what))
    end
  end
  call.keywords = before
end

-- fn(call, what) for the call and each of its variations.
function vary.each(call, fn)
  fn(call, "as it is")
  dtypes(call, fn)
  shapes(call, fn)
  layouts(call, fn)
  numbers(call, fn)
  outputs(call, fn)
end

return vary
