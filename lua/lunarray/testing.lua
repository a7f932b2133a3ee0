-- lunarray.testing: assertions on tensors. Reached as la.testing.
local la = require "lunarray"
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"

local testing = {}

local is_tensor = tensors.is_tensor

-- {rtol, atol} for results of a dtype, those of PyTorch; zeros for all others.
local TOLERANCES = {
  float16 = {1e-3, 1e-5}, bfloat16 = {1.6e-2, 1e-5}, float32 = {1.3e-6, 1e-5},
  float64 = {1e-7, 1e-7}, complex32 = {1e-3, 1e-5},
  complex64 = {1.3e-6, 1e-5}, complex128 = {1e-7, 1e-7},
}
local KEYS = {rtol = "number", atol = "number", equal_nan = "boolean",
  check_dtype = "boolean", check_device = "boolean", check_stride = "boolean",
  msg = true}

local function is_number(v)
  return type(v) == "number" or type(v) == "boolean"
end

-- The looser tolerances of the two dtypes, where none are given.
local function tolerances(a, b, o)
  if o.rtol then return o.rtol, o.atol end
  local x, y = TOLERANCES[a.dtype], TOLERANCES[b.dtype]
  return math.max(x and x[1] or 0, y and y[1] or 0),
    math.max(x and x[2] or 0, y and y[2] or 0)
end

-- Element k (from 1) of a tensor of that shape: "{2, 1}".
local function index_text(k, shape)
  local index, rest = {}, k - 1
  for d = #shape, 1, -1 do
    index[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  return "{" .. table.concat(index, ", ") .. "}"
end

local function limit_text(limit, exact)
  return exact and "" or numbers.format(" (up to %s allowed)",
    limit)
end

-- The greatest of the differences, where it is, and what was allowed.
local function greatest(what, diff, shape, limit)
  local value, at = diff:reshape(-1):max(1)
  return numbers.format("Greatest %s difference: %s at index %s%s", what,
    value:item(), index_text(at:item(), shape), limit)
end

-- Without numbers that wrap or do not subtract.
local function wide(t)
  if t:is_complex() or t:is_floating_point() then return t end
  return t:to(t.dtype == "uint64" and "float64" or "int64")
end

local function value_text(t)
  local re, im = t:item()
  return im and numbers.format("%s%+gi", re, im) or numbers.text(re)
end

-- PyTorch's report; 'close' marks the elements that match. Indices count from
-- one.
local function report(a, b, close, rtol, atol, scalar)
  local exact = rtol == 0 and atol == 0
  local count, n = (~close):sum():item(), close:numel()
  local x, y = wide(a), wide(b)
  local diff = (x - y):abs():masked_fill(close, 0)
  local ratio = (diff / y:abs()):masked_fill(close, 0)
  local word = exact and "equal" or "close"
  if scalar then
    return table.concat({("Scalars are not %s!\n"):format(word),
      ("Expected %s but got %s."):format(value_text(b), value_text(a)),
      numbers.format("Absolute difference: %s%s", diff:item(),
        limit_text(atol, exact)),
      numbers.format("Relative difference: %s%s", ratio:item(),
        limit_text(rtol, exact))}, "\n")
  end
  return table.concat({("Tensor-likes are not %s!\n"):format(word),
    numbers.format("Mismatched elements: %d / %d (%.1f%%)", count, n,
      count / n * 100),
    greatest("absolute", diff, a.shape, limit_text(atol, exact)),
    greatest("relative", ratio, a.shape, limit_text(rtol, exact))}, "\n")
end

local function differs(what, a, b)
  return ("The values for attribute '%s' do not match: %s != %s.")
    :format(what, tostring(a), tostring(b))
end

local function strides(t)
  return "{" .. table.concat({t:stride()}, ", ") .. "}"
end

-- What is wrong with the two tensors, or nil.
local function compare(a, b, o, scalar)
  if a.shape ~= b.shape then return differs("shape", a.shape, b.shape) end
  if o.check_device ~= false and a.device ~= b.device then
    return differs("device", a.device, b.device)
  end
  if o.check_dtype ~= false and a.dtype ~= b.dtype then
    return differs("dtype", a.dtype, b.dtype)
  end
  if o.check_stride and strides(a) ~= strides(b) then
    return differs("stride()", strides(a), strides(b))
  end
  if a:is_meta() or b:is_meta() then return nil end
  local rtol, atol = tolerances(a, b, o)
  local dtype = la.promote_types(a.dtype, b.dtype)
  a, b = a:detach():to(dtype), b:detach():to(dtype)
  local close = la.isclose(a, b, {rtol = rtol, atol = atol,
    equal_nan = o.equal_nan or false})
  if close:all() then return nil end
  return report(a, b, close, rtol, atol, scalar or a.ndim == 0)
end

local function as_tensor(v)
  if is_tensor(v) then return v end
  return la.tensor(v, type(v) == "number" and math.type(v) == "float"
    and {dtype = "float64"} or nil)
end

local function key_text(k)
  return type(k) == "string" and ('["%s"]'):format(k) or ("[%s]"):format(k)
end

-- The keys that a has and b has not, in order.
local function missing(a, b)
  local list = {}
  for k in pairs(a) do
    if b[k] == nil then list[#list + 1] = key_text(k) end
  end
  table.sort(list)
  return #list > 0 and table.concat(list, ", ")
end

local compare_any

local function compare_tables(a, b, o)
  if #a ~= #b then
    return ("The length of the sequences mismatch: %d != %d"):format(#a, #b)
  end
  local less, more = missing(b, a), missing(a, b)
  if less or more then
    return "The keys of the mappings do not match:"
      .. (less and "\nMissing keys in the actual mapping: " .. less or "")
      .. (more and "\nAdditional keys in the actual mapping: " .. more or "")
  end
  local keys = {}
  for k in pairs(a) do keys[#keys + 1] = k end
  table.sort(keys, function(x, y)
    if type(x) == type(y) then return x < y end
    return type(x) < type(y)
  end)
  for _, k in ipairs(keys) do
    local text, path = compare_any(a[k], b[k], o)
    if text then return text, key_text(k) .. (path or "") end
  end
end

-- What is wrong, and in which item of tables.
function compare_any(a, b, o)
  if is_tensor(a) and is_tensor(b) then return compare(a, b, o) end
  if is_number(a) and is_number(b) then
    if type(a) ~= type(b) then
      return differs("type", type(a), type(b))
    end
    return compare(as_tensor(a), as_tensor(b),
      setmetatable({check_dtype = false}, {__index = o}), true)
  end
  if type(a) == "table" and type(b) == "table" then
    return compare_tables(a, b, o)
  end
  return ("No comparison of a %s with a %s: tensors, numbers, booleans or "
    .. "tables of them expected on both sides"):format(
    is_tensor(a) and "tensor" or type(a), is_tensor(b) and "tensor" or type(b))
end

local function check_options(o)
  for key, value in pairs(o) do
    local kind = KEYS[key]
    if not kind then
      error(("assert_close: unknown keyword '%s' (known: atol, check_device, "
        .. "check_dtype, check_stride, equal_nan, msg, rtol)"):format(key), 0)
    elseif kind ~= true and type(value) ~= kind then
      error(("assert_close: %s: %s expected, got %s"):format(key, kind,
        type(value)), 0)
    end
  end
  if (o.rtol == nil) ~= (o.atol == nil) then
    error(("assert_close: both rtol and atol, or neither, expected, but got no "
      .. "%s"):format(o.rtol and "atol" or "rtol"), 0)
  end
end

-- The report of what differs, or nil.
local function verdict(actual, expected, o)
  local text, path = compare_any(actual, expected, o)
  if text and path then
    text = text .. "\n\nThe failure occurred for item " .. path
  end
  if text and type(o.msg) == "function" then return o.msg(text) end
  return text and o.msg or text
end

-- Raises a report unless actual and expected (tensors, numbers, or tables of
-- them) are of one shape and dtype, and |a - b| <= atol + rtol |b| everywhere.
function testing.assert_close(actual, expected, options)
  tensors.check("assert_close", 3, options, "options")
  check_options(options or {})
  local text = verdict(actual, expected, options or {})
  if text then
    error(text, tensors.user_level(), "testing.assert_close")
  end
end

-- luassert(assert): makes assert.tensors_close(actual, expected[, options])
-- with the same report in busted.
function testing.luassert(assert)
  require "say":set("assertion.tensors_close", "%s")
  assert:register("assertion", "tensors_close", function(state, arguments)
    local o = arguments[3] or {}
    check_options(o)
    local text = verdict(arguments[1], arguments[2], o)
    state.failure_message = text
    return text == nil
  end, "assertion.tensors_close")
  return assert
end

return testing
