-- lunarray.values: plain values as strings of bytes, and back: nil,
-- booleans, numbers, strings, tensors, and tables of them without cycles.
local la = require "lunarray"
local is_tensor = require "lunarray.tensors".is_tensor

local values = {}

-- add(value, parts, open, tensors): appends the bytes of a value
local add

local function add_tensor(t, parts)
  t = t:detach()
  parts[#parts + 1] = "T" .. string.pack("<s1B", t.dtype, t.ndim)
  for d = 1, t.ndim do parts[#parts + 1] = string.pack("<i8", t:size(d)) end
  local raw = t:tobytes()
  parts[#parts + 1] = string.pack("<i8", #raw)
  parts[#parts + 1] = raw
end

local function add_table(t, parts, open, tensors)
  if open[t] then error("a table that contains itself has no bytes", 0) end
  open[t] = true
  parts[#parts + 1] = "{"
  for key, value in next, t do
    add(key, parts, open, tensors)
    add(value, parts, open, tensors)
  end
  parts[#parts + 1] = "}"
  open[t] = nil
end

function add(value, parts, open, tensors)
  local kind = math.type(value) or type(value)
  local n = #parts + 1
  if kind == "nil" then parts[n] = "N"
  elseif kind == "boolean" then parts[n] = value and "Y" or "F"
  elseif kind == "integer" then parts[n] = string.pack("<c1i8", "I", value)
  elseif kind == "float" then parts[n] = string.pack("<c1d", "D", value)
  elseif kind == "string" then parts[n] = string.pack("<c1s8", "S", value)
  elseif kind == "table" then add_table(value, parts, open, tensors)
  elseif is_tensor(value) and tensors then
    tensors[#tensors + 1] = value:detach()
    parts[n] = string.pack("<c1i8", "R", #tensors)
  elseif is_tensor(value) then add_tensor(value, parts)
  else error("a " .. kind .. " does not travel between ranks", 0) end
end

-- The bytes of a value; raises for what has none. Tensors go into the list
-- 'tensors' where there is one, and the bytes have their numbers.
function values.pack(value, tensors)
  local parts = {}
  add(value, parts, {}, tensors)
  return table.concat(parts)
end

-- take(text, at, tensors): the value there, and where the next begins
local take

local function take_tensor(text, at)
  local dtype, ndim, next_at = string.unpack("<s1B", text, at)
  local sizes = {}
  for d = 1, ndim do
    sizes[d], next_at = string.unpack("<i8", text, next_at)
  end
  local bytes, last = string.unpack("<s8", text, next_at)
  return la.from_raw(bytes, dtype, sizes), last
end

local function take_table(text, at, tensors)
  local out = {}
  while text:sub(at, at) ~= "}" do
    local key, value
    key, at = take(text, at, tensors)
    value, at = take(text, at, tensors)
    out[key] = value
  end
  return out, at + 1
end

local readers = {
  N = function(_, at) return nil, at end,
  Y = function(_, at) return true, at end,
  F = function(_, at) return false, at end,
  I = function(text, at) return string.unpack("<i8", text, at) end,
  D = function(text, at) return string.unpack("<d", text, at) end,
  S = function(text, at) return string.unpack("<s8", text, at) end,
  T = take_tensor,
  R = function(text, at, tensors)
    local k, last = string.unpack("<i8", text, at)
    return tensors[k], last
  end,
  ["{"] = take_table,
}

function take(text, at, tensors)
  local reader = readers[text:sub(at, at)]
  if not reader then error("these bytes are no packed value", 0) end
  return reader(text, at + 1, tensors)
end

function values.unpack(text, tensors)
  return (take(text, 1, tensors))
end

return values
