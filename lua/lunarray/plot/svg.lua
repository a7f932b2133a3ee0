-- lunarray.plot.svg: a canvas that writes SVG. Its methods are those of
-- lunarray.plot.raster.
local la = require "lunarray"
local colour = require "lunarray.plot.colour"
local images = require "lunarray.images"
local numbers = require "lunarray.numbers"

local svg = {}

local Svg = {area = true}
Svg.__index = Svg

function svg.new(width, height)
  return setmetatable({width = width, height = height, scale = 1, clips = 0,
    parts = {numbers.format("<svg xmlns=\"http://www.w3.org/2000/svg\" "
      .. "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      .. "font-family=\"Helvetica, Arial, sans-serif\">", width,
      height, width, height),
      numbers.format("<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>",
        width, height)}}, Svg)
end

function Svg:add(format, ...)
  self.parts[#self.parts + 1] = numbers.format(format, ...)
end

-- Two decimals are a hundredth of a pixel.
local function number(v)
  local text = numbers.format("%.2f", v):gsub("%.?0+$", "")
  return text == "-0" and "0" or text
end

local function points(xs, ys)
  local out = {}
  for k = 1, #xs do out[k] = number(xs[k]) .. "," .. number(ys[k]) end
  return table.concat(out, " ")
end

local function opacity(alpha, name)
  if not alpha or alpha >= 1 then return "" end
  return (' %s="%s"'):format(name or "fill-opacity", number(alpha))
end

-- Text in XML: characters that XML has no way to write are left out.
local function escape(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  return (text:gsub("[%z\1-\8\11\12\14-\31\127]", ""):gsub('[&<>"]', {
    ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}))
end

function Svg:path(xs, ys, style)
  local dash = ""
  if style.dash then
    local lengths = {}
    for k, v in ipairs(style.dash) do lengths[k] = numbers.text(v) end
    dash = (' stroke-dasharray="%s"'):format(table.concat(lengths, " "))
  end
  if #xs == 1 then xs, ys = {xs[1], xs[1]}, {ys[1], ys[1]} end
  self:add('<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" '
    .. 'stroke-linejoin="round" stroke-linecap="%s"%s%s/>', points(xs, ys),
    colour.hex(style.color), number(style.width or 1),
    style.dash and "butt" or "round", dash,
    opacity(style.alpha, "stroke-opacity"))
end

function Svg:polygon(xs, ys, style)
  self:add('<polygon points="%s" fill="%s"%s/>', points(xs, ys),
    colour.hex(style.color), opacity(style.alpha))
end

function Svg:rect(x, y, w, h, style)
  if w < 0 then x, w = x + w, -w end
  if h < 0 then y, h = y + h, -h end
  self:add('<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>',
    number(x), number(y), number(w), number(h), colour.hex(style.color),
    opacity(style.alpha))
end

local shapes = {
  x = "M%s,%s m-%s,-%s l%s,%s m0,-%s l-%s,%s",
  ["+"] = "M%s,%s m-%s,0 h%s m-%s,-%s v%s",
}

-- One path of all crosses; circles, squares and triangles one by one.
function Svg:dots(xs, ys, style)
  local r, c = (style.size or 5) / 2, colour.hex(style.color)
  local alpha = opacity(style.alpha)
  local half, whole = number(r), number(2 * r)
  if shapes[style.marker] then
    local parts = {}
    for k = 1, #xs do
      local x, y = number(xs[k]), number(ys[k])
      if style.marker == "x" then
        parts[k] = shapes.x:format(x, y, half, half, whole, whole, whole,
          whole, whole)
      else
        parts[k] = shapes["+"]:format(x, y, half, whole, half, half, whole)
      end
    end
    self:add('<path d="%s" fill="none" stroke="%s"%s/>',
      table.concat(parts, " "), c, opacity(style.alpha, "stroke-opacity"))
    return
  end
  self:add('<g fill="%s"%s>', c, alpha)
  for k = 1, #xs do
    local x, y = xs[k], ys[k]
    if style.marker == "s" then
      self:add('<rect x="%s" y="%s" width="%s" height="%s"/>', number(x - r),
        number(y - r), whole, whole)
    elseif style.marker == "^" then
      self:add('<polygon points="%s"/>',
        points({x - r, x, x + r}, {y + r, y - r, y + r}))
    else
      self:add('<circle cx="%s" cy="%s" r="%s"/>', number(x), number(y), half)
    end
  end
  self:add "</g>"
end

function Svg:text(x, y, text, style)
  local at = style.upwards and (' transform="rotate(-90 %s %s)"'):format(
    number(x), number(y)) or ""
  self:add('<text x="%s" y="%s" font-size="%s" fill="%s" text-anchor="%s"%s>'
    .. '%s</text>', number(x), number(y), number(style.size or 11),
    colour.hex(style.color), style.anchor or "start", at, escape(text))
end

function Svg:clip(x, y, w, h)
  self.clips = self.clips + 1
  self:add('<clipPath id="clip%d"><rect x="%s" y="%s" width="%s" height="%s"/>'
    .. '</clipPath><g clip-path="url(#clip%d)">', self.clips, number(x),
    number(y), number(w), number(h), self.clips)
end

function Svg:unclip() self:add "</g>" end

-- ---- pictures ----

local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  .. "+/"

-- RFC 4648.
function svg.base64(bytes)
  local out = {}
  for k = 1, #bytes, 3 do
    local a, b, c = bytes:byte(k, k + 2)
    local word = a << 16 | (b or 0) << 8 | (c or 0)
    local text = ""
    for shift = 18, 0, -6 do
      local at = (word >> shift & 63) + 1
      text = text .. digits:sub(at, at)
    end
    if not b then text = text:sub(1, 2) .. "=="
    elseif not c then text = text:sub(1, 3) .. "=" end
    out[#out + 1] = text
  end
  return table.concat(out)
end

local MOST_CELLS = 2500   -- more are a picture in the file

-- Cells as rectangles, neighbours of one colour in a row as one.
local function cells(self, x, y, w, h, image)
  local rows, columns = image:size(2), image:size(3)
  local bytes = (image:clamp(0, 1) * 255):round():nan_to_num(-1):totable()
  for j = 1, rows do
    local from = 1
    for i = 1, columns do
      local function at(k)
        local r, g, b = bytes[1][j][k], bytes[2][j][k], bytes[3][j][k]
        return r and r >= 0 and math.tointeger(r) << 16
          | math.tointeger(g) << 8 | math.tointeger(b) or nil
      end
      local c = at(i)
      if c ~= at(i + 1) or i == columns then
        if c then
          local left, right = x + (from - 1) * w / columns, x + i * w / columns
          local top = y + (j - 1) * h / rows
          self:rect(left, top, right - left, h / rows, {color = c})
        end
        from = i + 1
      end
    end
  end
end

-- As Raster:picture.
function Svg:picture(x, y, w, h, image)
  if image:numel() == 0 then return end
  if image:size(1) == 3 and image:size(2) * image:size(3) <= MOST_CELLS then
    self:add '<g shape-rendering="crispEdges">'
    cells(self, x, y, w, h, image)
    self:add "</g>"
    return
  end
  if image:size(1) == 3 then
    local alpha = image[{{1, 1}}]:isnan():logical_not():to(image.dtype)
    image = la.cat({image:nan_to_num(0), alpha}, 1)
  end
  self:add('<image x="%s" y="%s" width="%s" height="%s" '
    .. 'preserveAspectRatio="none" style="image-rendering:pixelated" '
    .. 'href="data:image/png;base64,%s"/>', number(x), number(y), number(w),
    number(h), svg.base64(images.get "svg".encode(image:float(), "png")))
end

function Svg:grid(w, h) return math.ceil(w), math.ceil(h) end

function Svg:cells(x, y, w, h, values, mark)
  self:picture(x, y, w, h, colour.cells(values, mark))
end

function Svg:finish()
  return table.concat(self.parts, "\n") .. "\n</svg>\n"
end

return svg
