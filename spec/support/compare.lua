-- Compares what was got with what a reference record wants. Every function
-- returns nil when they agree, else the reason.
local la = require "lunarray"
local numbers = require "spec.support.numbers"

local compare = {}

-- All leaves of a nested table, in order.
local function flatten(v, out)
  if type(v) ~= "table" then
    out[#out + 1] = v
    return out
  end
  for i = 1, #v do flatten(v[i], out) end
  return out
end

local function elements(x)
  if numbers.part_of(x.dtype) then x = la.view_as_real(x:resolve_conj()) end
  return flatten(x:totable(), {})
end

local function kind_error(i, got, dtype)
  return ("element %d: totable gives a %s for %s")
    :format(i, math.type(got) or type(got), dtype)
end

local function differs(i, got, want)
  return ("element %d: got %s, want %s")
    :format(i, numbers.show(got), numbers.show(want))
end

-- What the modulus of a complex element allows its part number i.
local function slack(i, want, data, dtype, tol)
  local other = data[i % 2 == 1 and i + 1 or i - 1]
  if type(other) ~= "number" or want ~= want then return 0 end
  return numbers.modulus_slack(want, other, dtype, tol)
end

local function check_float(i, got, data, dtype, tol)
  if math.type(got) ~= "float" then return kind_error(i, got, dtype) end
  local part = numbers.part_of(dtype)
  local real = part or dtype
  local want = numbers.round(numbers.decode(data[i]), real)
  local extra = part and slack(i, want, data, real, tol) or 0
  if not numbers.close(got, want, real, tol, extra) then
    return differs(i, got, want)
  end
end

local function check_bool(i, got, data)
  if type(got) ~= "boolean" then return kind_error(i, got, "bool") end
  local want = data[i] ~= 0
  if got ~= want then return differs(i, got, want) end
end

local function check_integer(i, got, data, dtype, tol, index)
  if math.type(got) ~= "integer" then return kind_error(i, got, dtype) end
  local want = data[i]
  if index and want >= 0 then want = want + 1 end
  local off = tol.int and (tol.atol or 0) + (tol.rtol or 0) * math.abs(want)
  if got ~= want and not (off and math.abs(got - want) <= off) then
    return differs(i, got, want)
  end
end

-- Flat Lua values against encoded data; "?" is not compared.
local function check_data(got, data, dtype, tol, index)
  if #got ~= #data then
    return ("%d elements, want %d"):format(#got, #data)
  end
  local check = check_integer
  if dtype == "bool" then check = check_bool
  elseif numbers.is_float(dtype) or numbers.part_of(dtype) then
    check = check_float
  end
  for i = 1, #data do
    local why = data[i] ~= "?" and check(i, got[i], data, dtype, tol, index)
    if why then return why end
  end
end

-- The whole storage 'x' (any shape) against encoded data.
function compare.storage(x, data, dtype, tol, index)
  return check_data(elements(x), data, dtype, tol, index)
end

local function list_text(list)
  local out = {}
  for i = 1, #list do out[i] = tostring(list[i]) end
  return "{" .. table.concat(out, ",") .. "}"
end

local function check_shape(x, want)
  local shape = x.shape
  local same = #shape == #want
  for i, size in ipairs(want) do same = same and shape[i] == size end
  if not same then
    return ("shape %s, want %s"):format(list_text(shape), list_text(want))
  end
end

-- Strides of dims that are never stepped are free, and the offset of nothing.
local function check_geometry(x, want)
  local n = x:numel()
  local strides = want.stride and {x:stride()} or {}
  for i, size in ipairs(want.shape) do
    if want.stride and n > 0 and size > 1 and strides[i] ~= want.stride[i] then
      return ("strides %s, want %s")
        :format(list_text(strides), list_text(want.stride))
    end
  end
  if want.offset and n > 0 and x:storage_offset() ~= want.offset + 1 then
    return ("storage offset %d, want %d")
      :format(x:storage_offset(), want.offset + 1)
  end
end

-- Only the elements at the positions 'at' (from 0).
local function pick(all, at, complex)
  local out = {}
  for _, k in ipairs(at) do
    if complex then
      out[#out + 1] = all[2 * k + 1]
      out[#out + 1] = all[2 * k + 2]
    else
      out[#out + 1] = all[k + 1]
    end
  end
  return out
end

function compare.tensor(x, want, tol)
  if type(x) == "boolean" and #want.shape == 0 then  -- any, all
    return x ~= (want.data[1] ~= 0) and "got " .. tostring(x) or nil
  end
  if type(x) ~= "userdata" then
    return ("got a %s, want a tensor"):format(type(x))
  end
  if x.dtype ~= want.dtype then
    return ("dtype %s, want %s"):format(x.dtype, want.dtype)
  end
  local why = check_shape(x, want.shape) or check_geometry(x, want)
  if why then return why end
  local got = elements(x)
  if want.at then
    got = pick(got, want.at, numbers.part_of(x.dtype) ~= nil)
  end
  return check_data(got, want.data, x.dtype, tol, want.index)
end

local function check_plain(got, want)
  if got ~= want or math.type(got) ~= math.type(want) then
    return ("got %s, want %s"):format(numbers.show(got), numbers.show(want))
  end
end

local function check_list(got, want, tol, index)
  if type(got) ~= "table" then return "got a " .. type(got) end
  if #got ~= #want then return ("%d values, want %d"):format(#got, #want) end
  for i = 1, #want do
    local why = compare.value(got[i], want[i], tol, index)
    if why then return ("value %d: %s"):format(i, why) end
  end
end

-- A result that is no tensor. 'index': it is a position.
function compare.value(got, want, tol, index)
  if want.list then return check_list(got, want.list, tol, index) end
  if want.none then return check_plain(got, nil) end
  if want.int then
    return check_plain(got, index and want.int + 1 or want.int)
  end
  if want.float ~= nil then
    local x = numbers.decode(want.float)
    if math.type(got) ~= "float" then return check_plain(got, x) end
    return not numbers.close(got, x, "float64", tol)
      and ("got %s, want %s"):format(numbers.show(got), numbers.show(x)) or nil
  end
  if want.bool ~= nil then return check_plain(got, want.bool) end
  return check_plain(tostring(got), want.dtype or want.str)
end

return compare
