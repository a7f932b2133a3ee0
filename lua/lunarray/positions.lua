-- lunarray.positions: arguments by position, and a table of options behind
-- them, as one table.
local numbers = require "lunarray.numbers"
local user_level = require "lunarray.tensors".user_level

local positions = {}

-- Keys behind an __index cannot be listed. Options that have one as a plain
-- table: their own keys, and those of these sets that stand behind __index.
function positions.own(options, ...)
  if type(options) ~= "table" or not getmetatable(options) then
    return options
  end
  local out = {}
  for _, known in ipairs{...} do
    for key in pairs(known) do out[key] = options[key] end
  end
  for key, value in pairs(options) do out[key] = value end
  return out
end

-- Is the last argument a table of options? An object that is one has no keys
-- of its own but options.
local function is_options(last, known)
  if type(last) ~= "table" then return false end
  if not getmetatable(last) then
    return next(last) == nil or type(next(last)) == "string"
  end
  for key in next, last do
    if not known[key] then return false end
  end
  return #last == 0
end

-- 'names' in order; 'known' holds the names of all options, 'list' those for
-- the message about an unknown one.
function positions.read(what, names, known, list, ...)
  local n, out, given = select("#", ...), {}, {...}
  while n > 0 and given[n] == nil do n = n - 1 end
  local last = given[n]
  if n > 0 and is_options(last, known) then
    for key, value in pairs(positions.own(last, known)) do
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
