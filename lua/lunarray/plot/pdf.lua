-- lunarray.plot.pdf: a canvas that writes PDF 1.4. Its methods are those of
-- lunarray.plot.raster. Texts are outlines, so that no font is needed to show
-- them; what is drawn is clipped and transparent as in the other forms.
local colour = require "lunarray.plot.colour"
local font = require "lunarray.plot.font"
local numbers = require "lunarray.numbers"

local pdf = {}

local Pdf = {area = true}
Pdf.__index = Pdf

function pdf.new(width, height)
  return setmetatable({width = width, height = height, scale = 1, parts = {},
    states = {}, state_count = 0, images = {}}, Pdf)
end

local function number(v)
  local text = numbers.format("%.2f", v)
  if text:find(".", 1, true) then text = text:gsub("%.?0+$", "") end
  return text == "-0" and "0" or text
end

-- Operators with their operands; y grows upwards in PDF.
function Pdf:add(text) self.parts[#self.parts + 1] = text end

function Pdf:point(x, y, operator)
  self:add(number(x) .. " " .. number(self.height - y) .. " " .. operator)
end

local function parts_of(c)
  local r, g, b = colour.split(c)
  return number(r / 255) .. " " .. number(g / 255) .. " " .. number(b / 255)
end

-- The colour and, by a graphics state, the alpha of what follows.
function Pdf:dress(c, alpha)
  alpha = number(alpha or 1)
  if not self.states[alpha] then
    self.state_count = self.state_count + 1
    self.states[alpha] = "G" .. self.state_count
  end
  self:add("/" .. self.states[alpha] .. " gs")
  self:add(parts_of(c) .. " rg " .. parts_of(c) .. " RG")
end

function Pdf:line(xs, ys)
  for k = 1, #xs do self:point(xs[k], ys[k], k == 1 and "m" or "l") end
end

function Pdf:path(xs, ys, style)
  self:dress(style.color, style.alpha)
  local lengths = {}
  for k, v in ipairs(style.dash or {}) do lengths[k] = number(v) end
  self:add(("%s w %d J 1 j [%s] 0 d"):format(number(style.width or 1),
    style.dash and 0 or 1, table.concat(lengths, " ")))
  if #xs == 1 then xs, ys = {xs[1], xs[1]}, {ys[1], ys[1]} end
  self:line(xs, ys)
  self:add "S"
end

function Pdf:polygon(xs, ys, style)
  if #xs == 0 then return end
  self:dress(style.color, style.alpha)
  self:line(xs, ys)
  self:add "h f*"
end

function Pdf:outlines(lines, style)
  self:dress(style.color, style.alpha)
  for _, line in ipairs(lines) do
    self:line(line[1], line[2])
    self:add "h"
  end
  self:add "f"
end

function Pdf:rect(x, y, w, h, style)
  if w < 0 then x, w = x + w, -w end
  if h < 0 then y, h = y + h, -h end
  self:dress(style.color, style.alpha)
  self:add(("%s %s %s %s re f"):format(number(x), number(self.height - y - h),
    number(w), number(h)))
end

-- A circle of four curves.
local ROUND = 0.5523

function Pdf:disc(x, y, r)
  local c = r * ROUND
  self:point(x + r, y, "m")
  local function curve(...)
    local p, out = {...}, {}
    for k = 1, #p, 2 do
      out[#out + 1] = number(x + p[k])
      out[#out + 1] = number(self.height - y - p[k + 1])
    end
    self:add(table.concat(out, " ") .. " c")
  end
  curve(r, c, c, r, 0, r)
  curve(-c, r, -r, c, -r, 0)
  curve(-r, -c, -c, -r, 0, -r)
  curve(c, -r, r, -c, r, 0)
end

function Pdf:dots(xs, ys, style)
  local r, marker = (style.size or 5) / 2, style.marker
  if #xs == 0 then return end
  self:dress(style.color, style.alpha)
  self:add "1 w [] 0 d"
  for k = 1, #xs do
    local x, y = xs[k], ys[k]
    if marker == "x" then
      self:line({x - r, x + r}, {y - r, y + r})
      self:line({x - r, x + r}, {y + r, y - r})
    elseif marker == "+" then
      self:line({x - r, x + r}, {y, y})
      self:line({x, x}, {y - r, y + r})
    elseif marker == "s" then
      self:line({x - r, x + r, x + r, x - r}, {y - r, y - r, y + r, y + r})
    elseif marker == "^" then
      self:line({x - r, x, x + r}, {y + r, y - r, y + r})
    else
      self:disc(x, y, r)
    end
    local open = marker == "x" or marker == "+"
    self:add(open and "S" or "h f")
  end
end

Pdf.text = font.draw

function Pdf:clip(x, y, w, h)
  self:add(("q %s %s %s %s re W n"):format(number(x),
    number(self.height - y - h), number(w), number(h)))
end

function Pdf:unclip() self:add "Q" end

-- ---- pictures ----

-- As Raster:picture; NaN and an alpha of zero are a mask.
function Pdf:picture(x, y, w, h, image)
  if image:numel() == 0 then return end
  local rgb = image[{{1, 3}}]
  local alpha = image:size(1) == 4 and image[{{4, 4}}]
    or rgb[{{1, 1}}]:isnan():logical_not():to(image.dtype)
  local function bytes(t)
    return (t:nan_to_num(0):clamp(0, 1) * 255):round():to("uint8")
      :permute(2, 3, 1):contiguous():tostring_raw()
  end
  local one = {bytes = bytes(rgb), w = image:size(3), h = image:size(2)}
  if not alpha:eq(1):all() then one.mask = bytes(alpha) end
  self.images[#self.images + 1] = one
  self:dress(0, 1)
  self:add(("q %s 0 0 %s %s %s cm /I%d Do Q"):format(number(w), number(h),
    number(x), number(self.height - y - h), #self.images))
end

function Pdf:grid(w, h) return math.ceil(w), math.ceil(h) end

function Pdf:cells(x, y, w, h, values, mark)
  -- Few cells are drawn large: readers smooth small pictures.
  local picture = colour.cells(values, mark)
  local rows, columns = picture:size(2), picture:size(3)
  local more = math.max(1, math.ceil(600 / math.max(rows, columns, 1)))
  if more > 1 and picture:numel() > 0 then
    picture = picture:repeat_interleave(more, 2):repeat_interleave(more, 3)
  end
  self:picture(x, y, w, h, picture)
end

-- ---- the file ----

local function stream(head, bytes)
  return ("<< %s/Length %d >>\nstream\n%s\nendstream"):format(head, #bytes,
    bytes)
end

local function image_head(one, space)
  return ("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /%s "
    .. "/BitsPerComponent 8 "):format(one.w, one.h, space)
end

-- The bytes of the file: a page, its content, graphics states and pictures.
function Pdf:finish()
  local objects = {"<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", false,
    stream("", table.concat(self.parts, "\n"))}
  local states, pictures, names = {}, {}, {}
  for alpha, name in pairs(self.states) do names[#names + 1] = {name, alpha} end
  table.sort(names, function(a, b) return a[1] < b[1] end)
  for k, pair in ipairs(names) do
    states[k] = ("/%s << /ca %s /CA %s >>"):format(pair[1], pair[2], pair[2])
  end
  for k, one in ipairs(self.images) do
    local mask = ""
    if one.mask then
      objects[#objects + 1] = stream(image_head(one, "DeviceGray"), one.mask)
      mask = ("/SMask %d 0 R "):format(#objects)
    end
    objects[#objects + 1] = stream(image_head(one, "DeviceRGB") .. mask,
      one.bytes)
    pictures[k] = ("/I%d %d 0 R"):format(k, #objects)
  end
  objects[3] = ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents "
    .. "4 0 R /Resources << /ExtGState << %s >> /XObject << %s >> >> >>")
    :format(number(self.width), number(self.height),
      table.concat(states, " "), table.concat(pictures, " "))
  local out, at, offsets = {"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"}, 15, {}
  for k, object in ipairs(objects) do
    local text = ("%d 0 obj\n%s\nendobj\n"):format(k, object)
    offsets[k] = ("%010d 00000 n \n"):format(at)
    out[#out + 1], at = text, at + #text
  end
  out[#out + 1] = ("xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d "
    .. "/Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"):format(#objects + 1,
    table.concat(offsets), #objects + 1, at)
  return table.concat(out)
end

return pdf
