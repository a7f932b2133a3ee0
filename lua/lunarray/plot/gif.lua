-- lunarray.plot.gif: pictures one after the other as an animated GIF (GIF89a;
-- its codes are Welch's, "A Technique for High-Performance Data Compression",
-- 1984).
local la = require "lunarray"

local gif = {}

local pack = string.pack

-- ---- colours ----

-- For pictures of many colours: a cube of 6 x 6 x 6 and 40 greys, which lines
-- and letters of figures are made of.
local SIDE, GREYS = 6, 40
local CUBE = SIDE * SIDE * SIDE

local function cube()
  local out = {}
  for k = 0, CUBE - 1 do
    local r, g, b = k // (SIDE * SIDE), k // SIDE % SIDE, k % SIDE
    out[#out + 1] = string.char(r * 255 // (SIDE - 1), g * 255 // (SIDE - 1),
      b * 255 // (SIDE - 1))
  end
  for k = 0, GREYS - 1 do
    out[#out + 1] = string.rep(string.char(k * 255 // (GREYS - 1)), 3)
  end
  return table.concat(out)
end

local function in_cube(frame)
  local t = frame:float() / 255
  local level = (t * (SIDE - 1)):round()
  local colour = level[1] * (SIDE * SIDE) + level[2] * SIDE + level[3]
  local grey = (t:mean(1) * (GREYS - 1)):round() + CUBE
  return la.where((t:amax(1) - t:amin(1)):lt(0.06), grey, colour):long()
end

local function packed(frame)
  local t = frame:long()
  return t[1] * 65536 + t[2] * 256 + t[3]
end

-- The palette of all frames, and a function that gives the indices of one: the
-- colours themselves where there are at most 256.
local function palette_of(frames)
  local all
  for _, frame in ipairs(frames) do
    local some = packed(frame):unique()
    all = all and la.cat({all, some}, 1):unique() or some
    if all:numel() > 256 then return cube(), in_cube end
  end
  local out = {}
  for k, c in ipairs(all:totable()) do
    out[k] = string.char(c >> 16, c >> 8 & 255, c & 255)
  end
  return table.concat(out), function(frame)
    return la.searchsorted(all, packed(frame)) - 1
  end
end

-- ---- codes ----

-- Bytes in blocks of at most 255, each after its length, and an empty one.
local function blocks(bytes)
  local out = {}
  for at = 1, #bytes, 255 do
    out[#out + 1] = pack("s1", bytes:sub(at, at + 254))
  end
  out[#out + 1] = "\0"
  return table.concat(out)
end

-- The codes of indices (a list) of 'bits' bits each.
local function compress(indices, bits)
  local clear, stop = 1 << bits, (1 << bits) + 1
  local known, next_code, size = {}, stop + 1, bits + 1
  local out, buffer, filled = {}, 0, 0
  local function put(code)
    buffer, filled = buffer | code << filled, filled + size
    while filled >= 8 do
      out[#out + 1] = string.char(buffer & 255)
      buffer, filled = buffer >> 8, filled - 8
    end
  end
  put(clear)
  local prefix = indices[1]
  for k = 2, #indices do
    local index = indices[k]
    local key = prefix << 8 | index
    local code = known[key]
    if code then prefix = code
    else
      put(prefix)
      if next_code < 4096 then
        known[key] = next_code
        if next_code == 1 << size then size = size + 1 end
        next_code = next_code + 1
      else
        put(clear)
        known, next_code, size = {}, stop + 1, bits + 1
      end
      prefix = index
    end
  end
  put(prefix)
  put(stop)
  if filled > 0 then out[#out + 1] = string.char(buffer & 255) end
  return blocks(table.concat(out))
end

-- ---- the file ----

-- The bytes of frames {3, height, width} of uint8 and one size, each shown for
-- 'delay' hundredths of a second; loops: how often, 0 without end.
function gif.encode(frames, delay, loops)
  local palette, index = palette_of(frames)
  local bits = 2
  while #palette > 3 << bits do bits = bits + 1 end
  palette = palette .. ("\0"):rep((3 << bits) - #palette)
  local h, w = frames[1]:size(2), frames[1]:size(3)
  local out = {pack("<c6I2I2BBB", "GIF89a", w, h, 0xF0 | bits - 1, 0, 0),
    palette}
  if #frames > 1 then
    out[#out + 1] = pack("<BBs1BBI2B", 0x21, 0xFF, "NETSCAPE2.0", 3, 1, loops,
      0)
  end
  for _, frame in ipairs(frames) do
    out[#out + 1] = pack("<BBBBI2BB", 0x21, 0xF9, 4, 4, delay, 0, 0)
    out[#out + 1] = pack("<BI2I2I2I2BB", 0x2C, 0, 0, w, h, 0, bits)
    out[#out + 1] = compress(index(frame):reshape(-1):totable(), bits)
  end
  out[#out + 1] = ";"
  return table.concat(out)
end

return gif
