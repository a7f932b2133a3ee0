-- lunarray.plot.arguments: what users give, as tensors and checked options.
-- Errors are strings without a position; plot.lua says whose call it was.
local la = require "lunarray"
local colour = require "lunarray.plot.colour"
local dates = require "lunarray.plot.dates"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"

local arguments = {}

-- A figure stays as it was made when its tensors change, so data is copied.
local function plain(name, t)
  if t:is_complex() then
    error(("%s: real numbers expected, got %s (abs or real gives some)")
      :format(name, t.dtype), 0)
  end
  t = t:detach():cpu():to("float64", {copy = true})
  return t
end

local function is_tensor(v) return type(v) == "userdata" end

-- As the numbers stand in a list: nil or other holes are an error.
local function list_tensor(name, list)
  for k = 1, #list do
    if type(list[k]) ~= "number" then
      if is_tensor(list[k]) and list[k]:numel() == 1 then
        local copy = {}
        for i, v in ipairs(list) do
          copy[i] = is_tensor(v) and v:numel() == 1 and v:item() or v
        end
        return list_tensor(name, copy)
      end
      error(("%s: numbers expected, got %s at [%d]"):format(name,
        type(list[k]), k), 0)
    end
  end
  if #list == 0 then return la.zeros(0, {dtype = "float64"}) end
  return la.tensor(list, {dtype = "float64"})
end

-- Texts of dates as seconds since 1970.
local function moments(name, list)
  local out = {}
  for k, text in ipairs(list) do
    out[k] = type(text) == "string" and dates.parse(text)
    if not out[k] then
      error(("%s: numbers or dates (\"2024-05-17\", \"2024-05-17 12:30\") "
        .. "expected, got %s at [%d]"):format(name, type(text) == "string"
        and numbers.text(text) or type(text), k), 0)
    end
  end
  return out
end

-- A tensor of one dim, float64, from a list, a tensor of at most one dim or a
-- number.
function arguments.series(name, v)
  if type(v) == "number" then v = {v} end
  if type(v) == "table" and type(v[1]) == "string" then v = moments(name, v) end
  if is_tensor(v) then
    if v.ndim > 1 then
      error(("%s: a tensor of 1 dim expected, got %d"):format(name, v.ndim), 0)
    end
    return plain(name, v):reshape(-1)
  elseif type(v) ~= "table" then
    error(("%s: numbers expected, got %s"):format(name, type(v)), 0)
  end
  return list_tensor(name, v)
end

-- A list of series: from one, a list of them, or the columns of a matrix.
function arguments.several(name, v)
  if is_tensor(v) and v.ndim == 2 then
    local list, t = {}, plain(name, v)
    for k = 1, t:size(2) do list[k] = t:select(2, k) end
    return list
  elseif type(v) == "table" and type(v[1]) ~= "number"
    and type(v[1]) ~= "string" and #v > 0
    and not (is_tensor(v[1]) and v[1].ndim == 0) then
    local list = {}
    for k, one in ipairs(v) do list[k] = arguments.series(name, one) end
    return list
  end
  return {arguments.series(name, v)}
end

function arguments.matrix(name, v)
  if type(v) == "table" and type(v[1]) == "table" then
    v = la.tensor(v, {dtype = "float64"})
  end
  if not is_tensor(v) or v.ndim ~= 2 then
    error(name .. ": a tensor of 2 dims expected", 0)
  end
  return plain(name, v)
end

-- {height, width}, {1, ...}, {3, ...} or {4, ...} of an image; and whether the
-- dtype says that 255 is white.
function arguments.picture(name, v)
  if type(v) == "table" and type(v[1]) == "table" then v = la.tensor(v) end
  local n = is_tensor(v) and v.ndim
  if n == 2 then v = v:unsqueeze(1) end
  local c = (n == 2 or n == 3) and v:size(1)
  if c ~= 1 and c ~= 3 and c ~= 4 then
    error(name .. ": a tensor of 2 dims expected, or {1, 3 or 4 channels,"
      .. " height, width}", 0)
  end
  return plain(name, v), v.dtype
end

-- Same sizes, or an error that shows them.
function arguments.same(name, x, y)
  if x:numel() ~= y:numel() then
    error(("%s: as many x as y expected, got %d and %d"):format(name,
      x:numel(), y:numel()), 0)
  end
end

-- ---- options ----

-- What all figures know. Widths and heights are characters of the terminal's
-- text, size is that of pictures in pixels.
local AXES = {title = "string", xlabel = "string", ylabel = "string",
  xlim = "pair", ylim = "pair", xscale = "scale", yscale = "scale",
  xticks = "list", yticks = "list", legend = "legend", grid = "boolean",
  aspect = "aspect", font = "string",
  width = "count", height = "count", size = "pair", ascii = "boolean"}

-- Where a legend may stand: parts of the free part to its left and above it.
arguments.legends = {best = true, outside = true,
  ["upper right"] = {1, 0}, ["upper left"] = {0, 0},
  ["upper center"] = {0.5, 0}, ["lower right"] = {1, 1},
  ["lower left"] = {0, 1}, ["lower center"] = {0.5, 1},
  left = {0, 0.5}, right = {1, 0.5}, center = {0.5, 0.5}}

local checks = {
  count = function(v)
    return math.type(v) and v >= 1 and v <= 10000 and v == math.floor(v)
      and math.tointeger(v), "an integer from 1 to 10000"
  end,
  steps = function(v)
    return math.type(v) and v >= 1 and v < 2 ^ 53 and v == math.floor(v)
      and math.tointeger(v), "an integer above 0"
  end,
  ["function"] = function(v) return type(v) == "function" and v, "a function"
  end,
  pair = function(v)
    local ok = type(v) == "table" and #v == 2 and tonumber(v[1])
      and tonumber(v[2]) and math.abs(v[1]) < math.huge
      and math.abs(v[2]) < math.huge and v[1] ~= v[2] or false
    return ok and {v[1] + 0.0, v[2] + 0.0}, "{low, high}, two finite numbers"
  end,
  size = function(v)
    local ok = type(v) == "table" and #v == 2
    for k = 1, 2 do
      ok = ok and math.type(v[k]) and v[k] >= 40 and v[k] <= 10000
    end
    return ok and v, "{width, height}, pixels from 40 to 10000"
  end,
  scale = function(v)
    return (v == "linear" or v == "log" or v == "time") and v,
      '"linear", "log" or "time"'
  end,
  legend = function(v)
    local known = type(v) == "boolean" or arguments.legends[v]
    return known and {v}, "a boolean, \"best\", or a corner or side such as "
      .. "\"upper left\", \"right\", \"lower center\", \"outside\""
  end,
  aspect = function(v)
    return (v == "equal" or math.type(v) and v > 0 and v < math.huge) and v,
      '"equal" or a number above 0'
  end,
  list = function(v) return type(v) == "table" and v, "a list" end,
  positive = function(v)
    return math.type(v) and v > 0 and v <= 1000 and v,
      "a number above 0, at most 1000"
  end,
  part = function(v)
    return math.type(v) and v >= 0 and v <= 1 and v, "a number from 0 to 1"
  end,
  number = function(v)
    return math.type(v) and v == v and math.abs(v) < math.huge and v,
      "a finite number"
  end,
  any = function(v) return v, "a value" end,
}
AXES.size = "size"

local function sorted_names(known)
  local names = {}
  for k in pairs(known) do names[#names + 1] = k end
  for k in pairs(AXES) do
    if not known[k] then names[#names + 1] = k end
  end
  table.sort(names)
  return table.concat(names, ", ")
end

local function check(name, key, value, kind)
  if kind == "string" or kind == "boolean" then
    if type(value) == "number" and kind == "string" then
      return numbers.text(value)
    end
    if type(value) == kind then return value end
    error(("%s: %s: a %s expected, got %s"):format(name, key, kind,
      type(value)), 0)
  end
  local ok, wanted = checks[kind](value)
  if kind == "legend" and ok then return ok[1] end
  if ok or kind == "any" then return ok end
  error(("%s: %s: %s expected"):format(name, key, wanted), 0)
end

-- The options of a mark (keys of 'known', a table of kinds) and those of its
-- axes, apart.
function arguments.options(name, known, options)
  local own, axes = {}, {}
  if options ~= nil and type(options) ~= "table" then
    error(("%s: a table of options expected, got %s"):format(name,
      type(options)), 0)
  end
  options = positions.own(options or {}, known, AXES)
  for key, value in pairs(options) do
    if known[key] then own[key] = check(name, key, value, known[key])
    elseif AXES[key] then axes[key] = check(name, key, value, AXES[key])
    else
      error(("%s: unknown option '%s' (known: %s)"):format(name,
        numbers.text(key), sorted_names(known)), 0)
    end
  end
  return own, axes
end

-- The k-th of what may be one value for all series or a list with one each.
function arguments.pick(value, k)
  if type(value) == "table" then return value[k] end
  if k == 1 or type(value) ~= "string" then return value end
  return nil
end

-- The colour of the k-th series: given, or the next of the figure's.
function arguments.color(name, value, k)
  if type(value) == "table" and type(value[1]) ~= "number" then
    value = value[k]
  end
  return value ~= nil and colour.parse(value, name) or nil
end

-- Labels as texts.
function arguments.texts(name, list)
  local out = {}
  for k, v in ipairs(list) do
    if type(v) ~= "string" and type(v) ~= "number" then
      error(("%s: texts expected, got %s at [%d]"):format(name, type(v), k), 0)
    end
    out[k] = numbers.text(v)
  end
  return out
end

return arguments
