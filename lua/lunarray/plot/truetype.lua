-- lunarray.plot.truetype: letters of a TrueType font as outlines.
--
-- Reads what a picture needs of a font's tables (Apple, TrueType Reference
-- Manual): cmap (formats 4 and 12), hmtx, loca, glyf. Offsets that lead out of
-- the file are errors of string.unpack, after which a letter counts as absent.
local truetype = {}

local Font = {}
Font.__index = Font

local unpack = string.unpack

local function tables_of(data)
  local count = unpack(">I2", data, 5)
  local found = {}
  for k = 0, count - 1 do
    local tag, _, at = unpack(">c4I4I4", data, 13 + 16 * k)
    found[tag] = at + 1
  end
  return found
end

-- The reader of a subtable of cmap: a function from code points to glyphs.
local function segments(data, at)
  local n = unpack(">I2", data, at + 6) // 2
  local ends, starts = at + 14, at + 16 + 2 * n
  local deltas, offsets = starts + 2 * n, starts + 4 * n
  return function(code)
    for k = 0, n - 1 do
      if code <= unpack(">I2", data, ends + 2 * k) then
        local first = unpack(">I2", data, starts + 2 * k)
        if code < first then return 0 end
        local delta = unpack(">I2", data, deltas + 2 * k)
        local offset = unpack(">I2", data, offsets + 2 * k)
        if offset == 0 then return (code + delta) & 0xffff end
        local glyph = unpack(">I2", data, offsets + 2 * k + offset
          + 2 * (code - first))
        return glyph == 0 and 0 or (glyph + delta) & 0xffff
      end
    end
    return 0
  end
end

local function groups(data, at)
  local n = unpack(">I4", data, at + 12)
  return function(code)
    for k = 0, n - 1 do
      local first, last, glyph = unpack(">I4I4I4", data, at + 16 + 12 * k)
      if code < first then return 0 end
      if code <= last then return glyph + code - first end
    end
    return 0
  end
end

local function map_of(data, at)
  local best
  for k = 0, unpack(">I2", data, at + 2) - 1 do
    local platform, kind, offset = unpack(">I2I2I4", data, at + 4 + 8 * k)
    local form = unpack(">I2", data, at + offset)
    if platform == 0 or platform == 3 and (kind == 1 or kind == 10) then
      if form == 12 then return groups(data, at + offset) end
      if form == 4 then best = segments(data, at + offset) end
    end
  end
  return best
end

-- A font of the bytes of a file; nil and a reason when it is none that can be
-- read.
function truetype.open(data)
  local ok, font = pcall(function()
    local t = tables_of(data)
    if not t.glyf then error("it has no TrueType outlines", 0) end
    local font = {data = data, tables = t, cache = {}}
    font.units = unpack(">I2", data, t.head + 18)
    font.long = unpack(">i2", data, t.head + 50) ~= 0
    font.count = unpack(">I2", data, t.maxp + 4)
    font.metrics = unpack(">I2", data, t.hhea + 34)
    font.glyph = map_of(data, t.cmap)
    if not font.glyph or font.units == 0 or font.metrics == 0 then
      error("it has no map of characters", 0)
    end
    return setmetatable(font, Font)
  end)
  if ok then return font end
  return nil, "no TrueType font"
end

local function place_of(self, glyph)
  local t = self.tables
  if glyph < 0 or glyph >= self.count then return nil end
  local from, to
  if self.long then
    from, to = unpack(">I4I4", self.data, t.loca + 4 * glyph)
  else
    from, to = unpack(">I2I2", self.data, t.loca + 2 * glyph)
    from, to = 2 * from, 2 * to
  end
  return to > from and t.glyf + from or nil
end

-- Flags and coordinates of a simple glyph's points.
local function points_of(data, at, n)
  local flags, xs, ys = {}, {}, {}
  while #flags < n do
    local flag = unpack("B", data, at)
    at = at + 1
    flags[#flags + 1] = flag
    if flag & 8 ~= 0 then
      for _ = 1, unpack("B", data, at) do flags[#flags + 1] = flag end
      at = at + 1
    end
  end
  local function read(out, short, same)
    local v = 0
    for k = 1, n do
      local flag = flags[k]
      if flag & short ~= 0 then
        local d = unpack("B", data, at)
        at = at + 1
        v = v + (flag & same ~= 0 and d or -d)
      elseif flag & same == 0 then
        v = v + unpack(">i2", data, at)
        at = at + 2
      end
      out[k] = v
    end
  end
  read(xs, 2, 16)
  read(ys, 4, 32)
  return flags, xs, ys
end

local CURVE = 5         -- straight parts of a curve

-- The closed line of points first..last: quadratic curves, between two control
-- points a point in their middle.
local function contour(flags, xs, ys, first, last)
  local px, py, n = {}, {}, last - first + 1
  local function at(k)
    k = first + k % n
    return xs[k], ys[k], flags[k] & 1 ~= 0
  end
  local start = 0
  while start < n and not select(3, at(start)) do start = start + 1 end
  local x0, y0
  if start == n then
    start = 0
    local ax, ay = at(0)
    local bx, by = at(n - 1)
    x0, y0 = (ax + bx) / 2, (ay + by) / 2
    start = -1
  else
    x0, y0 = at(start)
  end
  px[1], py[1] = x0, y0
  local cx, cy
  local function curve_to(x, y)
    if not cx then px[#px + 1], py[#py + 1] = x, y
    else
      local ax, ay = px[#px], py[#py]
      for k = 1, CURVE do
        local t = k / CURVE
        local u = 1 - t
        px[#px + 1] = u * u * ax + 2 * u * t * cx + t * t * x
        py[#py + 1] = u * u * ay + 2 * u * t * cy + t * t * y
      end
      cx, cy = nil, nil
    end
  end
  for k = start + 1, start + n do
    local x, y, on = at(k)
    if on then curve_to(x, y)
    else
      if cx then curve_to((cx + x) / 2, (cy + y) / 2) end
      cx, cy = x, y
    end
  end
  curve_to(x0, y0)
  return {px, py}
end

local outline

local function simple(self, at, count)
  local data, out, ends = self.data, {}, {}
  for k = 1, count do ends[k] = unpack(">I2", data, at + 8 + 2 * k) end
  at = at + 10 + 2 * count
  at = at + 2 + unpack(">I2", data, at)
  local flags, xs, ys = points_of(data, at, (ends[count] or -1) + 1)
  local first = 1
  for k = 1, count do
    local last = ends[k] + 1
    if last > first then
      out[#out + 1] = contour(flags, xs, ys, first, last)
    end
    first = last + 1
  end
  return out
end

-- A glyph of others, each moved and scaled.
local function composite(self, at, depth)
  local data, out, flags = self.data, {}, nil
  at = at + 10
  repeat
    local glyph, dx, dy
    flags, glyph = unpack(">I2I2", data, at)
    at = at + 4
    if flags & 1 ~= 0 then
      dx, dy = unpack(">i2i2", data, at)
      at = at + 4
    else
      dx, dy = unpack("bb", data, at)
      at = at + 2
    end
    if flags & 2 == 0 then dx, dy = 0, 0 end
    local a, b, c, d = 1, 0, 0, 1
    local function next_part()
      at = at + 2
      return unpack(">i2", data, at - 2) / 16384
    end
    if flags & 8 ~= 0 then
      a = next_part()
      d = a
    elseif flags & 64 ~= 0 then a, d = next_part(), next_part()
    elseif flags & 128 ~= 0 then
      a, b, c, d = next_part(), next_part(), next_part(), next_part()
    end
    for _, line in ipairs(outline(self, glyph, depth + 1)) do
      local xs, ys = {}, {}
      for k, x in ipairs(line[1]) do
        local y = line[2][k]
        xs[k], ys[k] = a * x + c * y + dx, b * x + d * y + dy
      end
      out[#out + 1] = {xs, ys}
    end
  until flags & 32 == 0
  return out
end

function outline(self, glyph, depth)
  local at = place_of(self, glyph)
  if not at or depth > 6 then return {} end
  local count = unpack(">i2", self.data, at)
  if count >= 0 then return simple(self, at, count) end
  return composite(self, at, depth)
end

-- A letter: {width =, lines = a list of {xs, ys}}, in sizes of the font, y
-- upwards from the base line; nil for a code point that the font has not.
function Font:letter(code)
  local kept = self.cache[code]
  if kept ~= nil then return kept or nil end
  local ok, letter = pcall(function()
    local glyph = self.glyph(code)
    if glyph == 0 then return false end
    local at = self.tables.hmtx + 4 * math.min(glyph, self.metrics - 1)
    local lines = outline(self, glyph, 0)
    for _, line in ipairs(lines) do
      for k = 1, #line[1] do
        line[1][k] = line[1][k] / self.units
        line[2][k] = line[2][k] / self.units
      end
    end
    return {width = unpack(">I2", self.data, at) / self.units, lines = lines}
  end)
  self.cache[code] = ok and letter or false
  return ok and letter or nil
end

return truetype
