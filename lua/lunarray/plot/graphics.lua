-- lunarray.plot.graphics: pictures of pixels in terminals that show them, by
-- kitty's protocol or as sixels, and how a terminal is asked which it knows.
local la = require "lunarray"
local svg = require "lunarray.plot.svg"

local graphics = {}

local getenv = os and os.getenv

-- ---- which ----

-- A query of kitty's (a picture of one pixel that is not to be kept), then the
-- device attributes (DA1), which every terminal answers: when these have come,
-- no more will.
local QUERY = "\27_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\27\\\27[c"
local WAIT = 0.3        -- seconds, for terminals that say nothing

-- "kitty", "sixel" or nil, by what a terminal answered.
function graphics.read(reply)
  if reply:find("\27_Gi=31;OK", 1, true) then return "kitty" end
  local attributes = reply:match "\27%[%?([%d;]*)c"
  for number in (attributes or ""):gmatch "%d+" do
    if number == "4" then return "sixel" end
  end
end

local asked, answer = false, nil

-- What standard output's terminal shows: "kitty", "sixel", or nil. The
-- environment's LUNARRAY_GRAPHICS ("kitty", "sixel", "none") is believed; else
-- the terminal is asked, once.
function graphics.kind()
  local own = getenv and getenv "LUNARRAY_GRAPHICS"
  if own == "kitty" or own == "sixel" then return own end
  if own == "none" or not la.plot.window() then return nil end
  local term = getenv and getenv "TERM" or "dumb"
  if term == "dumb" or term == "linux" then return nil end
  if not asked then
    asked = true
    local reply = la.plot._ask(QUERY, WAIT)
    answer = reply and graphics.read(reply)
  end
  return answer
end

-- ---- kitty ----

local CHUNK = 4096      -- bytes of base64 in one escape sequence, at most

-- The bytes of a PNG file as escape sequences of kitty's graphics protocol.
function graphics.kitty(png)
  local data, out = svg.base64(png), {}
  for at = 1, #data, CHUNK do
    local more = at + CHUNK <= #data and 1 or 0
    local keys = at == 1 and "a=T,f=100,q=2,m=" or "m="
    out[#out + 1] = ("\27_G%s%d;%s\27\\"):format(keys, more,
      data:sub(at, at + CHUNK - 1))
  end
  return table.concat(out)
end

-- ---- sixels ----

-- A cube of colours: 6 reds, 7 greens, 6 blues.
local R, G, B = 6, 7, 6

local function palette()
  local out = {}
  for k = 0, R * G * B - 1 do
    local r, g, b = k // (G * B), k // B % G, k % B
    out[#out + 1] = ("#%d;2;%d;%d;%d"):format(k,
      math.floor(r * 100 / (R - 1) + 0.5), math.floor(g * 100 / (G - 1) + 0.5),
      math.floor(b * 100 / (B - 1) + 0.5))
  end
  return table.concat(out)
end

local function indices(image)
  local t = image:to("float32") / 255
  local function level(channel, n)
    return (t[channel] * (n - 1)):round()
  end
  return (level(1, R) * (G * B) + level(2, G) * B + level(3, B)):long()
    :totable()
end

local function run(out, bits, count)
  local char = string.char(63 + bits)
  if count > 3 then out[#out + 1] = ("!%d%s"):format(count, char)
  else out[#out + 1] = char:rep(count) end
end

-- Six rows: for each colour in them the columns that have it, as six bits.
local function band(out, rows, first, height, width)
  local columns, order = {}, {}
  for j = first, math.min(first + 5, height) do
    local row, bit = rows[j], 1 << (j - first)
    for i = 1, width do
      local c = row[i]
      local set = columns[c]
      if not set then
        set = {}
        columns[c], order[#order + 1] = set, c
      end
      set[i] = (set[i] or 0) | bit
    end
  end
  for k, c in ipairs(order) do
    out[#out + 1] = (k > 1 and "$#%d" or "#%d"):format(c)
    local bits, count = columns[c][1] or 0, 1
    for i = 2, width do
      local now = columns[c][i] or 0
      if now == bits then count = count + 1
      else
        run(out, bits, count)
        bits, count = now, 1
      end
    end
    if bits ~= 0 then run(out, bits, count) end
  end
  out[#out + 1] = "-"
end

-- An image {3, height, width} of uint8 as sixels (DEC's manual of the VT340).
function graphics.sixel(image)
  local height, width = image:size(2), image:size(3)
  local rows = indices(image)
  local out = {("\27P0;1q\"1;1;%d;%d"):format(width, height), palette()}
  for first = 1, height, 6 do band(out, rows, first, height, width) end
  out[#out + 1] = "\27\\"
  return table.concat(out)
end

return graphics
