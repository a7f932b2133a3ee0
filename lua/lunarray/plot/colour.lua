-- lunarray.plot.colour: colours of series, names of colours, and maps from
-- 0..1 to colours. A colour is an integer 0xRRGGBB here.
local la = require "lunarray"
local numbers = require "lunarray.numbers"

local colour = {}

-- Colours that people with any kind of colour vision tell apart: those of Okabe
-- and Ito (2008), without black, and with grey for the yellow that white paper
-- hides.
colour.series = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9,
  0x7F7F7F, 0x8C564B}

local names = {black = 0x000000, white = 0xFFFFFF, red = 0xD62728,
  green = 0x2CA02C, blue = 0x1F77B4, orange = 0xFF7F0E, purple = 0x9467BD,
  brown = 0x8C564B, pink = 0xE377C2, gray = 0x7F7F7F, grey = 0x7F7F7F,
  cyan = 0x17BECF, magenta = 0xD33682, yellow = 0xE6C619}

-- Points at equal distances of maps that are even to the eye (viridis, magma:
-- Smith and van der Walt; coolwarm: Moreland).
local maps = {
  gray = {0x000000, 0xFFFFFF},
  viridis = {0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80,
    0x5EC962, 0xADDC30, 0xFDE725},
  magma = {0x000004, 0x1D1147, 0x51127C, 0x832681, 0xB73779, 0xE75263,
    0xFC8961, 0xFEC488, 0xFCFDBF},
  coolwarm = {0x3B4CC0, 0x688AEF, 0x99BAFF, 0xC9D8EF, 0xDDDDDD, 0xEDD1C2,
    0xF7A889, 0xE26952, 0xB40426},
}

local function sorted(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, ", ")
end

function colour.split(c) return c >> 16 & 255, c >> 8 & 255, c & 255 end

-- "#rgb", "#rrggbb", a name, the number of a series' colour, or {r, g, b} from
-- 0 to 1; 'name' is for the error.
function colour.parse(value, name)
  if math.type(value) == "integer" and value >= 1 then
    return colour.series[(value - 1) % #colour.series + 1]
  elseif type(value) == "table" and #value == 3 then
    local c = 0
    for k = 1, 3 do
      local part = tonumber(value[k]) or 0
      part = part == part and math.max(0, math.min(part, 1)) or 0
      c = c << 8 | math.floor(part * 255 + 0.5)
    end
    return c
  elseif type(value) == "string" then
    local hex = value:match("^#(%x+)$")
    if hex and #hex == 6 then return tonumber(hex, 16) end
    if hex and #hex == 3 then return tonumber(hex:gsub(".", "%0%0"), 16) end
    if names[value] then return names[value] end
  end
  error(("%s: unknown color '%s' (#rgb, #rrggbb, {r, g, b}, a number, or %s)")
    :format(name, numbers.text(value), sorted(names)), 0)
end

function colour.hex(c) return ("#%06x"):format(c) end

-- A colour between: part of the way from a to b.
function colour.mix(a, b, part)
  local r, g, bl = colour.split(a)
  local r2, g2, b2 = colour.split(b)
  return math.floor(r + (r2 - r) * part + 0.5) << 16
    | math.floor(g + (g2 - g) * part + 0.5) << 8
    | math.floor(bl + (b2 - bl) * part + 0.5)
end

-- The points of a map, by name or as a list of colours.
function colour.points(map, name)
  if type(map) == "table" and #map >= 2 then
    local list = {}
    for k, c in ipairs(map) do list[k] = colour.parse(c, name) end
    return list
  end
  return maps[map] or error(("%s: unknown colormap '%s' (a list of colors, %s)")
    :format(name, numbers.text(map), sorted(maps)), 0)
end

-- The colour of a part from 0 to 1.
function colour.at(points, part)
  part = part == part and math.max(0, math.min(part, 1)) or 0
  local at = part * (#points - 1)
  local k = math.min(math.floor(at), #points - 2)
  return colour.mix(points[k + 1], points[k + 2], at - k)
end

-- The same of a tensor: {h, w} of parts to {3, h, w} from 0 to 1. NaN stays,
-- and is left open by those who draw.
function colour.apply(points, part)
  local list = {}
  for c = 1, 3 do
    local row = {}
    for k, p in ipairs(points) do row[k] = (p >> 24 - 8 * c & 255) / 255 end
    list[c] = row
  end
  local table_ = la.tensor(list, {dtype = "float64"})
  local at = part:clamp(0, 1) * (#points - 1)
  local open = at:isnan()
  local k = at:nan_to_num(0):floor():clamp(0, #points - 2)
  local rest, index = at - k, (k + 1):long():reshape(-1)
  local sizes = {3, part:size(1), part:size(2)}
  local a = table_:index_select(2, index):reshape(sizes)
  local b = table_:index_select(2, index + 1):reshape(sizes)
  return (a + (b - a) * rest):masked_fill(open, 0 / 0)
end

-- What cells show, {3 or 4, h, w} from 0 to 1: a picture is that already, a
-- matrix of values gets the colours of mark.points between mark.low and high.
function colour.cells(values, mark)
  if values.ndim == 3 then return values end
  return colour.apply(mark.points, (values - mark.low)
    / (mark.high - mark.low))
end

-- ---- terminals ----

local function nearest_level(v) return v < 48 and 0 or v < 115 and 1
  or (v - 35) // 40 end

-- The nearest of the 6 x 6 x 6 colours and 24 greys of 256-colour terminals.
function colour.to_256(c)
  local r, g, b = colour.split(c)
  local level = {[0] = 0, 95, 135, 175, 215, 255}
  local i, j, k = nearest_level(r), nearest_level(g), nearest_level(b)
  local function far(x, y, z)
    return (x - r) ^ 2 + (y - g) ^ 2 + (z - b) ^ 2
  end
  local grey = math.max(0, math.min(((r + g + b) // 3 - 3) // 10, 23))
  local tone = 8 + 10 * grey
  if far(tone, tone, tone) < far(level[i], level[j], level[k]) then
    return 232 + grey
  end
  return 16 + 36 * i + 6 * j + k
end

return colour
