-- lunarray.numbers: numbers as texts that are the same in every locale. Lua's
-- own follow the process, which may have a comma for the point.
local dialect = require "lunarray.dialect"

local numbers = {}

local native, find = string.format, string.find
local unpack, type_of = dialect.unpack, dialect.type

-- 'text' is a number as the locale has it, 'point' the locale's.
local function mend(text, point)
  local first, last = find(text, point, 1, true)
  if not first then return text end
  return text:sub(1, first - 1) .. "." .. text:sub(last + 1)
end

-- The bytes between the digits of 0.5. Asked each time, as the process may set
-- another locale at any time.
local function point_now()
  return native("%.1f", 0.5):sub(2, -2)
end

-- tostring(value)
function numbers.text(value)
  local text = tostring(value)
  if type_of(value) ~= "float" then return text end
  local point = point_now()
  return point == "." and text or mend(text, point)
end

-- pattern:format(...)
function numbers.format(pattern, ...)
  local point = point_now()
  if point == "." then return native(pattern, ...) end
  local values, k = {...}, 0
  pattern = pattern:gsub("%%([-+ #0-9.]*)(.)", function(flags, conversion)
    if conversion == "%" then return nil end
    k = k + 1
    if type_of(values[k]) ~= "float" and not find("aAeEfFgG", conversion, 1,
                                                    true) then
      return nil
    elseif conversion == "s" then
      values[k] = mend(tostring(values[k]), point)
      return nil
    elseif conversion == "d" then
      return nil
    end
    values[k] = mend(native("%" .. flags .. conversion, values[k]), point)
    return "%s"
  end)
  return native(pattern, unpack(values, 1, select("#", ...)))
end

return numbers
