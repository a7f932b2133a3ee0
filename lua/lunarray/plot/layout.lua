-- lunarray.plot.layout: a figure on a canvas of pixels (raster or svg): frame,
-- ticks, labels, legend, and the marks in the middle.
local font = require "lunarray.plot.font"

local layout = {}

local INK, PALE, LINE = 0x262626, 0xE4E4E4, 0x808080
local SMALL, LARGE = 11, 13          -- sizes of the font

-- ---- planes ----

-- A rectangle with axes, as lunarray.plot.marks wants one.
function layout.plane(canvas, xaxis, yaxis, x, y, w, h)
  local plane = {canvas = canvas, left = x, top = y, right = x + w,
    bottom = y + h, width = w, height = h, xaxis = xaxis, yaxis = yaxis,
    ylog = yaxis.log}
  function plane:x(v) return xaxis:at(v) * w + x end
  function plane:y(v) return yaxis:at(v) * -h + (y + h) end
  return plane
end

local function widest(labels)
  local most = 0
  for _, label in ipairs(labels) do
    most = math.max(most, font.width(label[2], SMALL))
  end
  return most
end

-- As many labels as fit side by side.
local function x_labels(axis, w)
  local wanted = math.max(2, math.floor(w / 70))
  for n = wanted, 2, -1 do
    local labels = axis:labels(n)
    if #labels < 2 or widest(labels) + 12 < w / #labels then return labels end
  end
  return axis:labels(2)
end

local function y_labels(axis, h)
  return axis:labels(math.max(2, math.floor(h / 40)))
end

-- ---- frame ----

local function draw_grid(canvas, plane, xs, ys)
  local style = {color = PALE, width = 1}
  for _, label in ipairs(xs) do
    local x = plane:x(label[1])
    canvas:path({x, x}, {plane.top, plane.bottom}, style)
  end
  for _, label in ipairs(ys) do
    local y = plane:y(label[1])
    canvas:path({plane.left, plane.right}, {y, y}, style)
  end
end

local function draw_ticks(canvas, plane, xs, ys)
  local style = {color = LINE, width = 1}
  for _, v in ipairs(plane.xaxis:minor()) do
    local x = plane:x(v)
    canvas:path({x, x}, {plane.bottom, plane.bottom + 2.5}, style)
  end
  for _, v in ipairs(plane.yaxis:minor()) do
    local y = plane:y(v)
    canvas:path({plane.left - 2.5, plane.left}, {y, y}, style)
  end
  for _, label in ipairs(xs) do
    local x = plane:x(label[1])
    canvas:path({x, x}, {plane.bottom, plane.bottom + 5}, style)
    canvas:text(x, plane.bottom + 17, label[2], {color = INK, size = SMALL,
      anchor = "middle"})
  end
  for _, label in ipairs(ys) do
    local y = plane:y(label[1])
    canvas:path({plane.left - 5, plane.left}, {y, y}, style)
    canvas:text(plane.left - 8, y + 4, label[2], {color = INK, size = SMALL,
      anchor = "end"})
  end
  canvas:path({plane.left, plane.right, plane.right, plane.left, plane.left},
    {plane.bottom, plane.bottom, plane.top, plane.top, plane.bottom}, style)
end

-- ---- legend ----

local function draw_swatch(canvas, mark, x, y)
  if mark.swatch == "box" then
    canvas:rect(x, y - 5, 20, 10, {color = mark.color, alpha = mark.alpha})
  elseif mark.swatch == "line" and mark.style ~= "" then
    canvas:path({x, x + 20}, {y, y}, {color = mark.color,
      width = mark.linewidth or 1.5, alpha = mark.alpha,
      dash = mark.style == "--" and {6, 4} or mark.style == ":" and {1.5, 3}
        or mark.style == "-." and {6, 3, 1.5, 3} or nil})
  end
  if mark.marker or mark.swatch == "dot" then
    canvas:dots({x + 10}, {y}, {color = mark.color, alpha = mark.alpha,
      size = mark.size or 5, marker = mark.marker})
  end
end

-- The corner where the fewest points are: of 300 of each mark.
local function best_corner(plane, list, w, h)
  local counts = {0, 0, 0, 0}
  local function look(x, y)
    if x > plane.left + w and x < plane.right - w then return end
    local right = x > plane.right - w
    if y < plane.top + h then
      counts[right and 1 or 2] = counts[right and 1 or 2] + 1
    elseif y > plane.bottom - h then
      counts[right and 3 or 4] = counts[right and 3 or 4] + 1
    end
  end
  for _, mark in ipairs(list) do
    local x = mark.x or mark.left
    local y = mark.heights or mark.high or mark.y
    if type(y) == "userdata" and type(x) == "userdata" and x.ndim == 1
      and x:numel() == y:numel() and x:numel() > 0 then
      local stride = math.max(1, x:numel() // 300)
      local px = plane:x(x[{{1, -1, stride}}]):totable()
      local py = plane:y(y[{{1, -1, stride}}]):totable()
      for k = 1, #px do look(px[k], py[k]) end
    end
  end
  local best = 1
  for k = 2, 4 do if counts[k] < counts[best] then best = k end end
  return best
end

local function draw_legend(canvas, plane, marks)
  local list, wide = {}, 0
  for _, mark in ipairs(marks) do
    if mark.label and mark.swatch then
      list[#list + 1] = mark
      wide = math.max(wide, font.width(mark.label, SMALL))
    end
  end
  if #list == 0 then return end
  local w, h = wide + 44, #list * 17 + 8
  local corner = best_corner(plane, marks, w + 8, h + 8)
  local x = (corner == 1 or corner == 3) and plane.right - w - 8
    or plane.left + 8
  local y = corner <= 2 and plane.top + 8 or plane.bottom - h - 8
  canvas:rect(x, y, w, h, {color = 0xFFFFFF, alpha = 0.85})
  canvas:path({x, x + w, x + w, x, x}, {y, y, y + h, y + h, y},
    {color = 0xCCCCCC, width = 1})
  for k, mark in ipairs(list) do
    local middle = y + 4 + (k - 0.5) * 17
    draw_swatch(canvas, mark, x + 8, middle)
    canvas:text(x + 36, middle + 4, mark.label, {color = INK, size = SMALL})
  end
end

-- The bar of a map of colours; how wide it is with its labels.
local function bar_labels(mark, h)
  local axis = require "lunarray.plot.axis"
  local scale = axis.new(mark.low, mark.high, {fixed = true})
  return scale, scale:labels(math.max(2, math.floor(h / 40)))
end

local function draw_bar(canvas, mark, x, y, h)
  local la = require "lunarray"
  local steps = mark.levels and #mark.levels + 1 or 128
  local part = (la.arange(steps, {dtype = "float64"}):flip(1)
    / math.max(steps - 1, 1)):unsqueeze(2)
  canvas:cells(x, y, 14, h, part, {low = 0, high = 1, points = mark.points})
  local style = {color = LINE, width = 1}
  canvas:path({x, x + 14, x + 14, x, x}, {y, y, y + h, y + h, y}, style)
  local scale, labels = bar_labels(mark, h)
  for _, label in ipairs(labels) do
    local at = y + h - scale:at(label[1]) * h
    canvas:path({x + 14, x + 18}, {at, at}, style)
    canvas:text(x + 21, at + 4, label[2], {color = INK, size = SMALL})
  end
end

-- ---- a figure ----

-- A rectangle for marks in w x h at x, y, whose sides are in the ratio of the
-- data where the figure asks for square cells.
local function square(view, x, y, w, h)
  if not view.square then return x, y, w, h end
  local ratio = view.square
  if w / h > ratio then
    local less = h * ratio
    return x + (w - less) / 2, y, less, h
  end
  local less = w / ratio
  return x, y + (h - less) / 2, w, less
end

local function draw_names(canvas, o, plane, x)
  local middle = (plane.left + plane.right) / 2
  if o.title then
    canvas:text(middle, plane.top - 9, o.title, {color = INK, size = LARGE,
      anchor = "middle"})
  end
  if o.xlabel then
    canvas:text(middle, plane.bottom + 34, o.xlabel, {color = INK,
      size = SMALL + 1, anchor = "middle"})
  end
  if o.ylabel then
    canvas:text(x + 14, (plane.top + plane.bottom) / 2, o.ylabel,
      {color = INK, size = SMALL + 1, anchor = "middle", upwards = true})
  end
end

-- Draws the axes of a figure (fig:view() has resolved them) into a rectangle.
function layout.draw(view, canvas, x, y, w, h)
  local o = view.options
  local top = o.title and 30 or 12
  local bottom = view.bare and 8 or o.xlabel and 44 or 26
  local bar = view.bar
  local right = bar and 34 + widest((select(2, bar_labels(bar, h)))) or 14
  local inner = math.max(h - top - bottom, 10)
  local ys = view.bare and {} or y_labels(view.yaxis, inner)
  local left = view.bare and 8 or widest(ys) + 14 + (o.ylabel and 18 or 0)
  local px, py, pw, ph = square(view, x + left, y + top,
    math.max(w - left - right, 10), inner)
  -- Frames on the middle of pixels are sharp.
  px, py = math.floor(px) + 0.5, math.floor(py) + 0.5
  pw, ph = math.floor(pw), math.floor(ph)
  local plane = layout.plane(canvas, view.xaxis, view.yaxis, px, py, pw, ph)
  local xs = view.bare and {} or x_labels(view.xaxis, pw)
  if not view.bare and view.grid then draw_grid(canvas, plane, xs, ys) end
  canvas:clip(px, py, pw, ph)
  for _, mark in ipairs(view.marks) do mark:draw(plane) end
  canvas:unclip()
  if not view.bare then draw_ticks(canvas, plane, xs, ys) end
  draw_names(canvas, o, plane, x)
  if bar then draw_bar(canvas, bar, px + pw + 12, py, ph) end
  if o.legend ~= false then draw_legend(canvas, plane, view.marks) end
end

return layout
