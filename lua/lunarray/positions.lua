-- lunarray.positions: arguments by position, and a table of options behind
-- them, as one table.
local numbers = require "lunarray.numbers"
local user_level = require "lunarray.tensors".user_level

local positions = {}

-- 'names' in order; 'known' holds the names of all options, 'list' those for
-- the message about an unknown one.
function positions.read(what, names, known, list, ...)
  local n, out, given = select("#", ...), {}, {...}
  while n > 0 and given[n] == nil do n = n - 1 end
  local last = given[n]
  if n > 0 and type(last) == "table" and not getmetatable(last)
    and (next(last) == nil or type(next(last)) == "string") then
    for key, value in pairs(last) do
      if not known[key] then
        error(("%s: unknown option '%s' (known: %s)"):format(what,
          numbers.text(key), table.concat(list, ", ")), user_level())
      end
      out[key] = value
    end
    n = n - 1
  end
  if n > #names then error(what .. ": too many arguments", user_level()) end
  for k = 1, n do
    if given[k] ~= nil then out[names[k]] = given[k] end
  end
  return out
end

-- A set of a list.
function positions.set(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

-- An error unless 'value' is of a type, or of one of "number or table".
function positions.check(what, name, value, types)
  local got = type(value)
  if (" " .. types .. " "):find(" " .. got .. " ", 1, true) then return end
  error(("%s: %s: %s expected, got %s"):format(what, name, types, got),
    user_level())
end

return positions
