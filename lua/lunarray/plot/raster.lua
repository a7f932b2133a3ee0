-- lunarray.plot.raster: a canvas of pixels.
--
-- A stroke, a letter or a polygon is first the part that it covers of each
-- pixel it touches (a sparse table), so that it does not blend with itself
-- where its parts meet; then one tensor operation blends it into the picture.
-- Coordinates are pixels of the picture, x to the right and y downwards;
-- 'scale' makes more of them.
local la = require "lunarray"
local colour = require "lunarray.plot.colour"
local font = require "lunarray.plot.font"

local raster = {}

local Raster = {area = true}      -- faint areas behind lines
Raster.__index = Raster

local abs, ceil, floor, max, min, sqrt = math.abs, math.ceil, math.floor,
  math.max, math.min, math.sqrt

function raster.new(width, height, scale)
  local w, h = floor(width * scale + 0.5), floor(height * scale + 0.5)
  return setmetatable({width = width, height = height, scale = scale,
    w = w, h = h, mask = {}, pixels = la.ones(3, h * w),
    left = 0, top = 0, right = w - 1, bottom = h - 1}, Raster)
end

-- ---- blending ----

local function channels(c)
  local r, g, b = colour.split(c)
  return la.tensor({{r / 255}, {g / 255}, {b / 255}}, {dtype = "float32"})
end

-- The mask in a colour, and a new mask.
function Raster:flush(c, alpha)
  local at, part = {}, {}
  for k, v in pairs(self.mask) do
    at[#at + 1], part[#part + 1] = k + 1, v
  end
  self.mask = {}
  if #at == 0 then return end
  local index = la.tensor(at)
  part = la.tensor(part, {dtype = "float32"}) * (alpha or 1)
  local old = self.pixels:index_select(2, index)
  self.pixels:index_copy_(2, index, old + (channels(c) - old) * part)
end

-- What is drawn until unclip stays in this rectangle.
function Raster:clip(x, y, w, h)
  local s = self.scale
  self.left, self.top = max(floor(x * s), 0), max(floor(y * s), 0)
  self.right = min(ceil((x + w) * s), self.w) - 1
  self.bottom = min(ceil((y + h) * s), self.h) - 1
end

function Raster:unclip()
  self.left, self.top, self.right, self.bottom = 0, 0, self.w - 1, self.h - 1
end

-- ---- strokes ----

-- Row or column 'j' of a segment: pixels from a to b along the other axis.
local function cover(self, j, a, b, upright, x0, y0, dx, dy, r)
  local mask, w, length = self.mask, self.w, dx * dx + dy * dy
  for i = a, b do
    local px, py = i + 0.5, j + 0.5
    if not upright then px, py = py, px end
    local t = 0
    if length > 0 then
      t = max(0, min(((px - x0) * dx + (py - y0) * dy) / length, 1))
    end
    local ex, ey = px - x0 - t * dx, py - y0 - t * dy
    local c = r + 0.5 - sqrt(ex * ex + ey * ey)
    if c > 0 then
      c = c < 1 and c or 1
      local at = upright and j * w + i or i * w + j
      if c > (mask[at] or 0) then mask[at] = c end
    end
  end
end

-- A segment with round ends, 2r wide: along its longer axis pixel by pixel,
-- over the other as far as it reaches.
local function segment(self, x0, y0, x1, y1, r)
  local upright = abs(y1 - y0) >= abs(x1 - x0)
  local dx, dy = x1 - x0, y1 - y0
  local from, along, to, across = y0, dy, x0, dx
  local low, high, left, right = self.top, self.bottom, self.left, self.right
  if not upright then
    from, along, to, across = x0, dx, y0, dy
    low, high, left, right = self.left, self.right, self.top, self.bottom
  end
  local reach = (r + 0.5) * (along == 0 and 1
    or sqrt(dx * dx + dy * dy) / abs(along))
  low = max(low, floor(min(from, from + along) - r - 0.5))
  high = min(high, floor(max(from, from + along) + r + 0.5))
  for j = low, high do
    local t = along == 0 and 0 or max(0, min((j + 0.5 - from) / along, 1))
    local middle = to + t * across
    cover(self, j, max(left, floor(middle - reach)),
      min(right, floor(middle + reach)), upright, x0, y0, dx, dy, r)
  end
end

-- A path in dashes: lengths on and off in turn.
local function dashed(self, xs, ys, r, dash)
  local k, on, left = 1, true, dash[1] * self.scale
  for i = 2, #xs do
    local x, y, x1, y1 = xs[i - 1], ys[i - 1], xs[i], ys[i]
    local length = sqrt((x1 - x) ^ 2 + (y1 - y) ^ 2)
    local done = 0
    while length - done > 1e-9 do
      local step = min(left, length - done)
      if on then
        local a, b = done / length, (done + step) / length
        segment(self, x + a * (x1 - x), y + a * (y1 - y), x + b * (x1 - x),
          y + b * (y1 - y), r)
      end
      done, left = done + step, left - step
      if left <= 1e-9 then
        on, k = not on, k % #dash + 1
        left = dash[k] * self.scale
      end
    end
  end
end

local function scaled(list, s)
  local out = {}
  for k, v in ipairs(list) do out[k] = v * s end
  return out
end

-- A line through points. style: color, width (1), alpha (1), dash (a list).
function Raster:path(xs, ys, style)
  local width = (style.width or 1) * self.scale
  local r, alpha = max(width, 1) / 2, (style.alpha or 1) * min(width, 1)
  xs, ys = scaled(xs, self.scale), scaled(ys, self.scale)
  if style.dash then
    dashed(self, xs, ys, r, style.dash)
  else
    if #xs == 1 then segment(self, xs[1], ys[1], xs[1], ys[1], r) end
    for k = 2, #xs do
      segment(self, xs[k - 1], ys[k - 1], xs[k], ys[k], r)
    end
  end
  self:flush(style.color, alpha)
end

-- ---- areas ----

local LINES = 4     -- a row of pixels is tried at so many heights

-- Adds the part of each pixel of a row between x = a and x = b.
local function add_span(self, row, a, b, weight)
  local mask = self.mask
  a, b = max(a, self.left), min(b, self.right + 1)
  for i = floor(a), min(ceil(b) - 1, self.right) do
    local part = min(b, i + 1) - max(a, i)
    local at = row * self.w + i
    if part > 0 then mask[at] = min((mask[at] or 0) + part * weight, 1) end
  end
end

local function fill(self, xs, ys)
  local low, high = math.huge, -math.huge
  for _, y in ipairs(ys) do low, high = min(low, y), max(high, y) end
  for row = max(floor(low), self.top), min(floor(high), self.bottom) do
    for line = 0, LINES - 1 do
      local y, cuts = row + (line + 0.5) / LINES, {}
      for k = 1, #xs do
        local n = k % #xs + 1
        local y0, y1 = ys[k], ys[n]
        if (y0 <= y) ~= (y1 <= y) then
          cuts[#cuts + 1] = xs[k] + (y - y0) / (y1 - y0) * (xs[n] - xs[k])
        end
      end
      table.sort(cuts)
      for k = 1, #cuts - 1, 2 do
        add_span(self, row, cuts[k], cuts[k + 1], 1 / LINES)
      end
    end
  end
end

local TEXT_LINES = 6

-- Closed lines together, by the rule of nonzero winding: letters. style: color,
-- alpha.
function Raster:outlines(lines, style)
  local s, low, high, edges = self.scale, math.huge, -math.huge, {}
  for _, line in ipairs(lines) do
    local xs, ys = line[1], line[2]
    for k = 1, #xs do
      local n = k % #xs + 1
      local y0, y1 = ys[k] * s, ys[n] * s
      low, high = min(low, y0), max(high, y0)
      if y0 ~= y1 then
        edges[#edges + 1] = {y0, y1, xs[k] * s,
          (xs[n] - xs[k]) * s / (y1 - y0)}
      end
    end
  end
  for row = max(floor(low), self.top), min(floor(high), self.bottom) do
    local near = {}
    for _, e in ipairs(edges) do
      if min(e[1], e[2]) < row + 1 and max(e[1], e[2]) > row then
        near[#near + 1] = e
      end
    end
    for line = 0, TEXT_LINES - 1 do
      local y, cuts = row + (line + 0.5) / TEXT_LINES, {}
      for _, e in ipairs(near) do
        if (e[1] <= y) ~= (e[2] <= y) then
          cuts[#cuts + 1] = {e[3] + (y - e[1]) * e[4], e[1] < e[2] and 1 or -1}
        end
      end
      table.sort(cuts, function(a, b) return a[1] < b[1] end)
      local winding, from = 0, nil
      for _, cut in ipairs(cuts) do
        if winding == 0 then from = cut[1] end
        winding = winding + cut[2]
        if winding == 0 then
          add_span(self, row, from, cut[1], 1 / TEXT_LINES)
        end
      end
    end
  end
  self:flush(style.color, style.alpha)
end

-- A closed shape. style: color, alpha.
function Raster:polygon(xs, ys, style)
  fill(self, scaled(xs, self.scale), scaled(ys, self.scale))
  self:flush(style.color, style.alpha)
end

function Raster:rect(x, y, w, h, style)
  local s = self.scale
  if w < 0 then x, w = x + w, -w end
  if h < 0 then y, h = y + h, -h end
  local top, bottom = y * s, (y + h) * s
  for row = max(floor(top), self.top), min(ceil(bottom) - 1, self.bottom) do
    add_span(self, row, x * s, (x + w) * s,
      min(bottom, row + 1) - max(top, row))
  end
  self:flush(style.color, style.alpha)
end

-- ---- dots ----

local function disc(self, x, y, r, alpha)
  local mask, w = self.mask, self.w
  for j = max(floor(y - r - 0.5), self.top),
    min(floor(y + r + 0.5), self.bottom) do
    for i = max(floor(x - r - 0.5), self.left),
      min(floor(x + r + 0.5), self.right) do
      local c = r + 0.5 - sqrt((i + 0.5 - x) ^ 2 + (j + 0.5 - y) ^ 2)
      if c > 0 then
        -- Dots cover each other, as they would one after the other.
        local at, part = j * w + i, (c < 1 and c or 1) * alpha
        mask[at] = 1 - (1 - (mask[at] or 0)) * (1 - part)
      end
    end
  end
end

local shapes = {
  x = function(self, x, y, r)
    segment(self, x - r, y - r, x + r, y + r, self.scale / 2)
    segment(self, x - r, y + r, x + r, y - r, self.scale / 2)
  end,
  ["+"] = function(self, x, y, r)
    segment(self, x - r, y, x + r, y, self.scale / 2)
    segment(self, x, y - r, x, y + r, self.scale / 2)
  end,
  s = function(self, x, y, r)
    fill(self, {x - r, x + r, x + r, x - r}, {y - r, y - r, y + r, y + r})
  end,
  ["^"] = function(self, x, y, r)
    fill(self, {x - r, x, x + r}, {y + r, y - r, y + r})
  end,
}

-- Marks of 'size' pixels at points. style: color, alpha, size, marker.
function Raster:dots(xs, ys, style)
  local s, shape = self.scale, shapes[style.marker]
  local r = (style.size or 5) / 2 * s
  for k = 1, #xs do
    if shape then shape(self, xs[k] * s, ys[k] * s, r)
    else disc(self, xs[k] * s, ys[k] * s, r, style.alpha or 1) end
  end
  self:flush(style.color, shape and style.alpha or 1)
end

-- ---- text and pictures ----

Raster.text = font.draw

-- Of n source rows, those of pixels a..b when 'size' pixels from 'start' show
-- them.
local function rows_of(a, b, start, size, n)
  local at = la.arange(a, b + 1, {dtype = "float64"}) + 0.5 - start
  return (at * (n / size)):floor():clamp(0, n - 1):long() + 1
end

-- A tensor {3 or 4, rows, columns} of 0 to 1 over a rectangle, without
-- smoothing. NaN leaves what was there.
function Raster:picture(x, y, w, h, image)
  local s = self.scale
  local a, b = max(floor(x * s + 0.5), self.left),
    min(floor((x + w) * s + 0.5) - 1, self.right)
  local c, d = max(floor(y * s + 0.5), self.top),
    min(floor((y + h) * s + 0.5) - 1, self.bottom)
  if a > b or c > d or image:numel() == 0 then return end
  local part = image:index_select(2, rows_of(c, d, y * s, h * s, image:size(2)))
    :index_select(3, rows_of(a, b, x * s, w * s, image:size(3))):float()
  local target = self.pixels:view(3, self.h, self.w)[{{}, {c + 1, d + 1},
    {a + 1, b + 1}}]
  local new = part[{{1, 3}}]
  if part:size(1) == 4 then new = target + (new - target) * part[{{4, 4}}] end
  target:copy_(target:where(new:isnan(), new))
end

-- How many cells are worth computing for a rectangle.
function Raster:grid(w, h)
  return max(2, ceil(w * self.scale)), max(2, ceil(h * self.scale))
end

function Raster:cells(x, y, w, h, values, mark)
  self:picture(x, y, w, h, colour.cells(values, mark))
end

-- {3, height, width}, uint8.
function Raster:image()
  return (self.pixels:view(3, self.h, self.w):clamp(0, 1) * 255):round()
    :to("uint8")
end

return raster
