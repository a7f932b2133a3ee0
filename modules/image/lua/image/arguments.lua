-- lunarray.image.arguments: what the functions on images ask about theirs.
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"
local is_tensor, user_level = tensors.is_tensor, tensors.user_level

local arguments = {}

-- Raise in the line that called into the library.
function arguments.fail(name, text, ...)
  error(("image.%s: "):format(name) .. text:format(...), user_level())
end
local fail = arguments.fail

-- An image: at least two dims; with 'channels' so many in the dim before them,
-- "3" or "3 or 4".
function arguments.check(name, x, channels)
  if not is_tensor(x) then fail(name, "tensor expected, got %s", type(x)) end
  local least = channels and 3 or 2
  if x.ndim < least then
    fail(name, "{%sheight, width} expected, got %d dims",
         channels and "..., channels, " or "..., ", x.ndim)
  end
  local n = channels and x:size(-3)
  if channels and not channels:find(("%d"):format(n), 1, true) then
    fail(name, "%s channels expected, got %d", channels, n)
  end
end

-- A floating dtype; integers would have to be divided by their largest value.
function arguments.check_float(name, x)
  if not is_tensor(x) then fail(name, "tensor expected, got %s", type(x)) end
  if not x:is_floating_point() then
    fail(name, "floats from 0 to 1 expected, got %s%s", x.dtype,
         x.dtype == "uint8" and ": divide by 255" or
         x.dtype == "uint16" and ": divide by 65535" or "")
  end
end

-- A table of options, or nil, without unknown keys; 'known' is a list.
function arguments.options(name, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then
    fail(name, "table of options expected, got %s", type(options))
  end
  for key in pairs(options) do
    local found = false
    for _, k in ipairs(known) do found = found or k == key end
    if not found then
      fail(name, "unknown option '%s' (known: %s)", numbers.text(key),
           table.concat(known, ", "))
    end
  end
  return options
end

-- An integer of at least 'least'.
function arguments.integer(name, what, value, least)
  local v = math.tointeger(value)
  if type(value) ~= "number" or not v or v < least then
    fail(name, "%s: integer of at least %d expected, got %s", what, least,
         numbers.text(value))
  end
  return v
end

-- One value for both dims, or {vertical, horizontal}.
function arguments.pair(name, what, value)
  if type(value) ~= "table" then return value, value end
  if #value ~= 2 then
    fail(name, "%s: one value or {vertical, horizontal} expected, got %d",
         what, #value)
  end
  return value[1], value[2]
end

-- One of the words of a list.
function arguments.word(name, what, value, known)
  for _, word in ipairs(known) do
    if value == word then return value end
  end
  fail(name, "%s '%s': one of %s expected", what, numbers.text(value),
       table.concat(known, ", "))
end

-- x in a dtype to compute in (16-bit floats in float32, integers in
-- 'integers'), and whether that is another one.
function arguments.widened(x, integers)
  local dtype = x.dtype
  if dtype == "float32" or dtype == "float64" then return x, false end
  return x:to(x:is_floating_point() and "float32" or integers), true
end

return arguments
