-- lunarray.plot.font: texts as outlines, for pictures of pixels and PDF.
--
-- Letters are those of a part of DejaVu Sans that the library carries (Latin,
-- Greek, Cyrillic, signs), so that a picture is the same everywhere; a figure
-- may name another TrueType font. A sign that neither has is looked for in the
-- fonts of the system, and is an empty box where those lack it too.
local truetype = require "lunarray.plot.truetype"

local font = {}

local open = io and io.open             -- not in a sandbox

-- ---- fonts ----

local digits = {}
for k = 1, 64 do
  digits[("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    :byte(k)] = k - 1
end

-- RFC 4648, without blanks; the last characters may be "=".
local function from_base64(text)
  local out, byte = {}, string.byte
  for at = 1, #text, 4 do
    local a, b, c, d = byte(text, at, at + 3)
    local word = digits[a] << 18 | digits[b] << 12 | (digits[c] or 0) << 6
      | (digits[d] or 0)
    local part = string.char(word >> 16, word >> 8 & 255, word & 255)
    out[#out + 1] = not digits[c] and part:sub(1, 1)
      or not digits[d] and part:sub(1, 2) or part
  end
  return table.concat(out)
end

local own

local function own_font()
  if not own then
    local text = require "lunarray.plot.dejavu"
    own = assert(truetype.open(from_base64((text:gsub("#[^\n]*\n", "")
      :gsub("%s", "")))))
  end
  return own
end

local loaded = {}       -- fonts by path; false: none

local function font_at(path)
  if loaded[path] == nil then
    local file = open and open(path, "rb")
    local data = file and file:read "a"
    if file then file:close() end
    loaded[path] = data and truetype.open(data) or false
  end
  return loaded[path] or nil
end

-- A font for figures: errors name the path.
function font.load(path)
  if not open then error("font: no files in a sandbox", 0) end
  local found = font_at(path)
  if not found then
    error(("font: %s: no TrueType font (.ttf) that can be read"):format(path),
      0)
  end
  return found
end

local SYSTEM = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
  "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
  "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
  "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
  "/Library/Fonts/Arial Unicode.ttf", "C:\\Windows\\Fonts\\arial.ttf"}

local unknown = {width = 0.6, lines = {{{0.08, 0.08, 0.52, 0.52},
  {0, 0.7, 0.7, 0}}, {{0.14, 0.46, 0.46, 0.14}, {0.06, 0.06, 0.64, 0.64}}}}

local function letter_of(code, first)
  local letter = first and first:letter(code) or own_font():letter(code)
  if letter then return letter end
  for _, path in ipairs(SYSTEM) do
    local other = font_at(path)
    letter = other and other:letter(code)
    if letter then return letter end
  end
  return unknown
end

-- ---- texts ----

-- The font of the figure that is drawn; nil: the library's.
local current

-- f() with the letters of another font.
function font.with(other, f, ...)
  local before = current
  current = other
  local results = table.pack(pcall(f, ...))
  current = before
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

local function each(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  return utf8.codes((text:gsub("[\0-\31\127]", " ")))
end

-- How wide a text of this size is, in pixels.
function font.width(text, size)
  local wide = 0
  for _, code in each(text) do
    wide = wide + letter_of(code, current).width
  end
  return wide * size
end

-- The letters of a text as closed lines: a list of {xs, ys} in pixels, y
-- downwards, to be filled by the rule of nonzero winding. x, y: where the base
-- line begins; 'upwards': along the y axis, from below.
function font.outlines(text, size, x, y, upwards)
  local out, at = {}, 0
  for _, code in each(text) do
    local letter = letter_of(code, current)
    for _, line in ipairs(letter.lines) do
      local xs, ys = {}, {}
      for k, px in ipairs(line[1]) do
        local right, up = (at + px) * size, line[2][k] * size
        xs[k] = upwards and x - up or x + right
        ys[k] = upwards and y - right or y - up
      end
      out[#out + 1] = {xs, ys}
    end
    at = at + letter.width
  end
  return out
end

-- A line of text on a canvas that draws outlines; x, y is its base line's
-- start, middle or end. style: color, size (11), anchor ("start", "middle",
-- "end"), upwards.
function font.draw(canvas, x, y, text, style)
  local size = style.size or 11
  local wide = font.width(text, size)
  local back = style.anchor == "middle" and wide / 2
    or style.anchor == "end" and wide or 0
  if style.upwards then y = y + back else x = x - back end
  canvas:outlines(font.outlines(text, size, x, y, style.upwards), style)
end

return font
