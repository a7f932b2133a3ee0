-- lunarray.plot.layout: a figure on a canvas of pixels (raster or svg): frame,
-- ticks, labels, legend, and the marks in the middle.
local arguments = require "lunarray.plot.arguments"
local font = require "lunarray.plot.font"
local kinds = require "lunarray.plot.marks"

local layout = {}

local INK, PALE, LINE = 0x262626, 0xE4E4E4, 0x808080
local SMALL, LARGE = 13, 16          -- sizes of the font

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

local RAISED = {["-"] = "⁻", ["0"] = "⁰", ["1"] = "¹", ["2"] = "²",
  ["3"] = "³", ["4"] = "⁴", ["5"] = "⁵", ["6"] = "⁶", ["7"] = "⁷",
  ["8"] = "⁸", ["9"] = "⁹"}

local function power_of_ten(v)
  local k = v > 0 and math.floor(math.log(v, 10) + 0.5)
  return k and math.abs(v / 10.0 ^ k - 1) < 1e-9 and k or nil
end

-- Labels as one prints them: a minus that is none of a word, powers of ten with
-- raised digits, all or none of a logarithmic axis.
local function tidy(axis, labels)
  if axis.named or axis.time then return labels end
  local powers, far = axis.log and #labels > 0, false
  for _, label in ipairs(labels) do
    local k = axis.log and power_of_ten(label[1])
    powers = powers and k ~= nil
    far = far or k and (k > 3 or k < -2)
  end
  local out = {}
  for n, label in ipairs(labels) do
    local text = label[2]
    local digits, power = text:match("^(.-)e(%-?%d+)$")
    if powers and far then
      text = "10" .. ("%d"):format(power_of_ten(label[1])):gsub(".", RAISED)
    elseif digits then
      text = (digits == "1" and "" or digits .. "·") .. "10"
        .. power:gsub(".", RAISED)
    end
    out[n] = {label[1], (text:gsub("^%-", "−"))}
  end
  return out
end

-- As many labels as fit side by side; a small panel has them closer together.
local function x_labels(axis, w)
  local wanted = math.max(5, math.floor(w / 70))
  for n = wanted, 2, -1 do
    local labels = tidy(axis, axis:labels(n))
    if #labels < 2 or widest(labels) + 12 < w / #labels then return labels end
  end
  return tidy(axis, axis:labels(2))
end

-- How many numbers stand above each other.
local function fit(h)
  return math.max(2, math.floor(math.max(math.min(5, h / 22), h / 42)))
end

-- Names stand at every bar, numbers where there is margin.
local function y_labels(axis, h)
  return tidy(axis, axis:labels(axis.named and math.max(2, h // 16)
    or fit(h)))
end

-- ---- frame ----

-- Names need no lines: each stands at what it names.
local function draw_grid(canvas, plane, xs, ys)
  local style = {color = PALE, width = 1}
  for _, label in ipairs(plane.xaxis.named and {} or xs) do
    local x = plane:x(label[1])
    canvas:path({x, x}, {plane.top, plane.bottom}, style)
  end
  for _, label in ipairs(plane.yaxis.named and {} or ys) do
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
    canvas:text(x, plane.bottom + 18, label[2], {color = INK, size = SMALL,
      anchor = "middle"})
  end
  for _, label in ipairs(ys) do
    local y = plane:y(label[1])
    canvas:path({plane.left - 5, plane.left}, {y, y}, style)
    canvas:text(plane.left - 8, y + 4.5, label[2], {color = INK, size = SMALL,
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
      width = mark.linewidth or kinds.LINE, alpha = mark.alpha,
      dash = kinds.dashes[mark.style]})
  end
  if mark.marker or mark.swatch == "dot" then
    canvas:dots({x + 10}, {y}, {color = mark.color, alpha = mark.alpha,
      size = mark.size or 5, marker = mark.marker})
  end
end

-- Points in the rectangles of bars, from their bases to their tips; of lying
-- ones the sides are exchanged.
local function add_bars(mark, plane, add)
  local stride = math.max(1, mark.left:numel() // 300)
  local every = {{1, -1, stride}}
  local across, along = plane.x, plane.y
  if mark.is_lying then across, along = along, across end
  local a, b = across(plane, mark.left[every]), across(plane, mark.right[every])
  local tips = along(plane, mark.heights[every]):totable()
  local bases = mark.bases and along(plane, mark.bases[every]):totable()
  local from, to = a:totable(), b:totable()
  for k, tip in ipairs(tips) do
    local base = bases and bases[k] or not mark.is_lying and plane.ylog
      and plane.bottom or along(plane, 0)
    for i = 0, 4 do
      local x = from[k] + i / 4 * (to[k] - from[k])
      for t = 0, 1, 0.125 do
        local y = base + t * (tip - base)
        if mark.is_lying then add(y, x) else add(x, y) end
      end
    end
  end
end

-- Points of the marks on the canvas, about 300 of each, those between two of a
-- line and inside of bars too.
local function points_of(plane, list)
  local out = {}
  local function add(x, y) out[#out + 1] = {x, y} end
  for _, mark in ipairs(list) do
    local own = mark.plane or plane
    local x, y = mark.x, mark.high or mark.y
    if mark.heights then
      add_bars(mark, own, add)
    elseif type(y) == "userdata" and type(x) == "userdata" and x.ndim == 1
      and x:numel() == y:numel() and x:numel() > 0 then
      local stride = math.max(1, x:numel() // 300)
      local px = own:x(x[{{1, -1, stride}}]):totable()
      local py = own:y(y[{{1, -1, stride}}]):totable()
      for k = 1, #px do
        add(px[k], py[k])
        local steps = mark.swatch == "line" and px[k + 1]
          and math.min(20, math.ceil((math.abs(px[k + 1] - px[k])
          + math.abs(py[k + 1] - py[k])) / 10)) or 1
        if steps ~= steps then steps = 1 end
        for i = 1, steps - 1 do
          local t = i / steps
          add(px[k] + t * (px[k + 1] - px[k]), py[k] + t * (py[k + 1] - py[k]))
        end
      end
    end
  end
  return out
end

local CORNERS = {"upper right", "upper left", "lower left", "lower right",
  "right", "left", "lower center", "upper center", "center"}

-- Where a legend of w x h hides the fewest points: its left and top.
local function best_position(plane, list, w, h, position)
  local points = position and {} or points_of(plane, list)
  local best, least
  for _, name in ipairs(position and {position} or CORNERS) do
    local part = arguments.legends[name]
    local x = plane.left + 8 + part[1] * (plane.width - w - 16)
    local y = plane.top + 8 + part[2] * (plane.height - h - 16)
    local count = 0
    for _, p in ipairs(points) do
      if p[1] > x - 3 and p[1] < x + w + 3 and p[2] > y - 3
        and p[2] < y + h + 3 then
        count = count + 1
      end
    end
    if not least or count < least then best, least = {x, y}, count end
    if count == 0 then break end
  end
  return best[1], best[2]
end

-- The marks that a legend names, and its width and height.
local function legend_of(marks)
  local list, wide = {}, 0
  for _, mark in ipairs(marks) do
    if mark.label and mark.swatch then
      list[#list + 1] = mark
      wide = math.max(wide, font.width(mark.label, SMALL))
    end
  end
  return list, wide + 46, #list * 18 + 8
end

local function draw_legend(canvas, plane, marks, position)
  local list, w, h = legend_of(marks)
  if #list == 0 then return end
  local x, y = plane.right + 10 + (plane.aside or 0), plane.top
  if position ~= "outside" then
    x, y = best_position(plane, marks, w, h, position ~= "best"
      and position ~= true and position or nil)
  end
  canvas:rect(x, y, w, h, {color = 0xFFFFFF, alpha = 0.85})
  canvas:path({x, x + w, x + w, x, x}, {y, y, y + h, y + h, y},
    {color = 0xCCCCCC, width = 1})
  for k, mark in ipairs(list) do
    local middle = y + 4 + (k - 0.5) * 18
    draw_swatch(canvas, mark, x + 8, middle)
    canvas:text(x + 36, middle + 4.5, mark.label, {color = INK, size = SMALL})
  end
end

-- The scale of a bar of colours and its labels: at the levels between filled
-- areas, unless they are too many.
local function bar_labels(mark, h)
  local axis = require "lunarray.plot.axis"
  local levels = mark.levels and #mark.levels <= h / 16 and mark.levels
  local scale = axis.new(mark.low, mark.high, {fixed = true,
    ticks = levels or nil})
  return scale, tidy(scale, scale:labels(fit(h)))
end

-- The parts of the map of colours that stand in a bar of n rows, the highest
-- first: with levels those of the areas, as wide as they lie apart.
local function bar_parts(mark, n)
  local la = require "lunarray"
  local part = (la.arange(n, {dtype = "float64"}):flip(1) + 0.5) / n
  if not mark.levels then return part:unsqueeze(2) end
  local value = part * (mark.high - mark.low) + mark.low
  local count = la.zeros(n, {dtype = "float64"})
  for _, level in ipairs(mark.levels) do
    count = count + value:ge(level):double()
  end
  return (count / math.max(#mark.levels, 1)):unsqueeze(2)
end

local function draw_bar(canvas, mark, x, y, h)
  local part = bar_parts(mark, mark.levels and math.max(1, h // 1) or 128)
  canvas:cells(x, y, 14, h, part, {low = 0, high = 1, points = mark.points})
  local style = {color = LINE, width = 1}
  canvas:path({x, x + 14, x + 14, x, x}, {y, y, y + h, y + h, y}, style)
  local scale, labels = bar_labels(mark, h)
  for _, label in ipairs(labels) do
    local at = y + h - scale:at(label[1]) * h
    canvas:path({x + 14, x + 18}, {at, at}, style)
    canvas:text(x + 21, at + 4.5, label[2], {color = INK, size = SMALL})
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
    canvas:text(middle, plane.bottom + 37, o.xlabel, {color = INK,
      size = SMALL + 1, anchor = "middle"})
  end
  if o.ylabel then
    canvas:text(x + 18, (plane.top + plane.bottom) / 2, o.ylabel,
      {color = INK, size = SMALL + 1, anchor = "middle", upwards = true})
  end
end

-- Numbers and the name of a second axis, at the right.
local function draw_second(canvas, plane, labels, name)
  local style = {color = LINE, width = 1}
  for _, label in ipairs(labels) do
    local y = plane:y(label[1])
    canvas:path({plane.right, plane.right + 5}, {y, y}, style)
    canvas:text(plane.right + 8, y + 4.5, label[2], {color = INK, size = SMALL})
  end
  if name then
    canvas:text(plane.right + widest(labels) + 26,
      (plane.top + plane.bottom) / 2, name, {color = INK, size = SMALL + 1,
        anchor = "middle", upwards = true})
  end
end

-- What stands right of the frame, and how much margin it takes.
local function right_margin(view, h)
  local bar, second, o = view.bar, view.second, view.options
  local margin = bar and 42 + widest((select(2, bar_labels(bar, h)))) or 18
  local labels = second and y_labels(second.yaxis, h)
  local aside = 0
  if second then
    aside = widest(labels) + 14 + (second.options.ylabel and 18 or 0)
    margin = margin + aside
  end
  if o.legend == "outside" then
    local list, wide = legend_of(view.marks)
    if #list > 0 then margin = margin + wide + 8 end
  end
  return margin, labels, aside
end

-- Draws the axes of a figure (fig:view() has resolved them) into a rectangle.
function layout.draw(view, canvas, x, y, w, h)
  local o, second = view.options, view.second
  local top = o.title and 32 or 12
  local bottom = view.bare and 8 or o.xlabel and 48 or 28
  local inner = math.max(h - top - bottom, 10)
  local right, second_labels, aside = right_margin(view, inner)
  local ys = view.bare and {} or y_labels(view.yaxis, inner)
  local left = view.bare and 8 or widest(ys) + 18 + (o.ylabel and 18 or 0)
  local px, py, pw, ph = square(view, x + left, y + top,
    math.max(w - left - right, 10), inner)
  -- Frames on the middle of pixels are sharp.
  px, py = math.floor(px) + 0.5, math.floor(py) + 0.5
  pw, ph = math.floor(pw), math.floor(ph)
  local plane = layout.plane(canvas, view.xaxis, view.yaxis, px, py, pw, ph)
  plane.aside = aside + (view.bar and right - 14 - aside or 0)
  local xs = view.bare and {} or x_labels(view.xaxis, pw)
  if not view.bare and view.grid then draw_grid(canvas, plane, xs, ys) end
  local all = {}
  canvas:clip(px, py, pw, ph)
  for _, mark in ipairs(view.marks) do
    if not mark.over then mark:draw(plane) end
    all[#all + 1] = mark
  end
  if second then
    local other = layout.plane(canvas, view.xaxis, second.yaxis, px, py, pw, ph)
    for _, mark in ipairs(second.marks) do
      mark:draw(other)
      all[#all + 1] = setmetatable({plane = other}, {__index = mark})
    end
    canvas:unclip()
    draw_second(canvas, other, second_labels, second.options.ylabel)
  else
    canvas:unclip()
  end
  if not view.bare then draw_ticks(canvas, plane, xs, ys) end
  -- Notes may reach over the frame.
  for _, mark in ipairs(view.marks) do
    if mark.over then mark:draw(plane) end
  end
  draw_names(canvas, o, plane, x)
  if view.bar then draw_bar(canvas, view.bar, px + pw + 12 + aside, py, ph) end
  if o.legend ~= false then
    draw_legend(canvas, plane, all, o.legend or true)
  end
end

return layout
