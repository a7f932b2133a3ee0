-- lunarray.plot.marks: what stands in a figure, and how it is drawn.
--
-- A mark has limits(xlog, ylog), four numbers (low > high for none), and
-- draw(plane). A plane is a rectangle of a canvas with axes: plane:x(v) and
-- plane:y(v) are coordinates on the canvas, of numbers and of tensors.
local la = require "lunarray"
local axis = require "lunarray.plot.axis"
local colour = require "lunarray.plot.colour"
local curve = require "lunarray.plot.curve"
local font = require "lunarray.plot.font"
local numbers = require "lunarray.numbers"

local marks = {LINE = 1.8}      -- how wide lines are

local function class(fields)
  fields.__index = fields
  return function(o) return setmetatable(o, fields) end
end

-- Smallest and largest of what an axis can show.
local function limits_of(t, log)
  if t:numel() == 0 then return math.huge, -math.huge end
  local open = t:abs():le(axis.MOST)          -- false of NaN
  if log then open = open:logical_and(t:gt(0)) end
  local low = t:masked_fill(open:logical_not(), math.huge):min():item()
  local high = t:masked_fill(open:logical_not(), -math.huge):max():item()
  return low, high
end

local function both(x, y, xlog, ylog)
  local a, b = limits_of(x, xlog)
  local c, d = limits_of(y, ylog)
  return a, b, c, d
end

local dashes = {["--"] = {6, 4}, [":"] = {1.5, 3}, ["-."] = {6, 3, 1.5, 3}}

-- ---- lines ----

marks.line = class{
  swatch = "line",
  limits = function(self, xlog, ylog)
    return both(self.x, self.y, xlog, ylog)
  end,
  draw = function(self, plane)
    local xs, ys = curve.points(plane:x(self.x), plane:y(self.y), plane)
    if self.style ~= "" then
      local style = {color = self.color, width = self.linewidth or marks.LINE,
        alpha = self.alpha, dash = dashes[self.style], mark = self.mark}
      curve.runs(xs, ys, plane, function(px, py)
        plane.canvas:path(px, py, style)
      end)
    end
    if self.marker then
      local px, py = curve.inside(xs, ys, plane)
      plane.canvas:dots(px, py, {color = self.color, alpha = self.alpha,
        size = self.size or 5, marker = self.marker, mark = self.mark})
    end
  end,
}

-- ---- scatter ----

-- Points of about the same colour are drawn together: 64 steps of the map.
local STEPS = 64

marks.scatter_fields = {
  swatch = "dot",
  limits = function(self, xlog, ylog)
    return both(self.x, self.y, xlog, ylog)
  end,
  draw = function(self, plane)
    local xs, ys = plane:x(self.x):totable(), plane:y(self.y):totable()
    local function draw(px, py, c)
      px, py = curve.inside(px, py, plane)
      plane.canvas:dots(px, py, {color = c, alpha = self.alpha,
        size = self.size or 5, marker = self.marker, mark = self.mark})
    end
    if self.sizes then return self:draw_sizes(plane, xs, ys) end
    if not self.values then return draw(xs, ys, self.color) end
    local part = (self.values - self.low) / (self.high - self.low)
    local groups = {}
    for k, v in ipairs(part:totable()) do
      if v == v then
        v = math.floor(math.max(0, math.min(v, 1)) * (STEPS - 1) + 0.5)
        local g = groups[v] or {{}, {}}
        groups[v] = g
        g[1][#g[1] + 1], g[2][#g[2] + 1] = xs[k], ys[k]
      end
    end
    for v = 0, STEPS - 1 do
      if groups[v] then
        draw(groups[v][1], groups[v][2],
          colour.at(self.points, v / (STEPS - 1)))
      end
    end
  end,
}
marks.scatter = class(marks.scatter_fields)

-- Points of several sizes, the largest first.
marks.scatter_fields.draw_sizes = function(self, plane, xs, ys)
  local sizes, order = self.sizes:totable(), {}
  local values = self.values and ((self.values - self.low)
    / (self.high - self.low)):totable()
  for k = 1, #xs do order[k] = k end
  table.sort(order, function(a, b)
    if sizes[a] ~= sizes[b] then return sizes[a] > sizes[b] end
    return a < b
  end)
  for _, k in ipairs(order) do
    local px, py = curve.inside({xs[k]}, {ys[k]}, plane)
    local v = values and values[k]
    if sizes[k] > 0 and (not values or v == v) then
      plane.canvas:dots(px, py, {alpha = self.alpha, size = sizes[k],
        color = v and colour.at(self.points, math.max(0, math.min(v, 1)))
          or self.color, marker = self.marker, mark = self.mark})
    end
  end
end

-- ---- bars, histograms ----

-- The sides of a bar, on whole pixels where it is wide enough: neighbours share
-- a side, and what covers a pixel by half on both sides of it is a seam.
local function edges(a, b)
  if a > b then a, b = b, a end
  if b - a < 3 then return a, b end
  return math.floor(a + 0.5), math.floor(b + 0.5)
end

-- Rectangles from 'base' to heights; left and right are tensors.
marks.bars = class{
  swatch = "box", zero = true,
  limits = function(self, xlog, ylog)
    local a, b = limits_of(la.cat({self.left, self.right}, 1), xlog)
    local c, d = limits_of(self.heights, ylog)
    if not ylog and c <= d then c, d = math.min(c, 0), math.max(d, 0) end
    return a, b, c, d
  end,
  draw = function(self, plane)
    local left = plane:x(self.left):totable()
    local right = plane:x(self.right):totable()
    local tops = plane:y(self.heights):totable()
    local zero = plane.ylog and plane.bottom or plane:y(0)
    zero = math.max(plane.top, math.min(zero, plane.bottom))
    local bases = self.bases and plane:y(self.bases):totable()
    for k = 1, #tops do
      local x, x1, y = left[k], right[k], tops[k]
      if bases then zero = math.max(plane.top, math.min(bases[k],
        plane.bottom)) end
      if x == x and x1 == x1 and y == y then
        if plane.canvas.area then x, x1 = edges(x, x1)
        else x, x1 = math.min(x, x1), math.max(x, x1) end
        x, x1 = math.max(x, plane.left), math.min(x1, plane.right)
        y = math.max(plane.top, math.min(y, plane.bottom))
        if x1 > x and y ~= zero then
          plane.canvas:rect(x, y, x1 - x, zero - y, {color = self.color,
            alpha = self.alpha, mark = self.mark})
        end
      end
    end
  end,
}

-- The same lying down: top and bottom are tensors, from 'bases' to lengths.
marks.lying = class{
  swatch = "box", is_lying = true, xzero = true,
  limits = function(self, xlog, ylog)
    local c, d = limits_of(la.cat({self.left, self.right}, 1), ylog)
    local a, b = limits_of(self.heights, xlog)
    if not xlog and a <= b then a, b = math.min(a, 0), math.max(b, 0) end
    return a, b, c, d
  end,
  draw = function(self, plane)
    local low, high = plane:y(self.left):totable(), plane:y(self.right)
      :totable()
    local tips = plane:x(self.heights):totable()
    local bases = self.bases and plane:x(self.bases):totable()
    local function inside(x) return math.max(plane.left,
      math.min(x, plane.right)) end
    for k = 1, #tips do
      local from = inside(bases and bases[k] or plane:x(0))
      local to = inside(tips[k])
      if to == to and to ~= from then
        plane.canvas:rect(from, low[k], to - from, high[k] - low[k],
          {color = self.color, alpha = self.alpha, mark = self.mark})
      end
    end
  end,
}

-- ---- bands ----

marks.band = class{
  swatch = "box",
  limits = function(self, xlog, ylog)
    return both(self.x, la.cat({self.low, self.high}, 1), xlog, ylog)
  end,
  draw = function(self, plane)
    local xs, low = curve.points(plane:x(self.x), plane:y(self.low), plane)
    local x2, high = curve.points(plane:x(self.x), plane:y(self.high), plane)
    local style = {color = self.color, alpha = self.alpha,
      mark = self.mark}
    local px, py, back = {}, {}, {}
    local function finish()
      local n = #px
      for k = n, 1, -1 do
        px[2 * n + 1 - k], py[2 * n + 1 - k] = px[k], back[k]
      end
      if n > 1 then plane.canvas:polygon(px, py, style) end
      px, py, back = {}, {}, {}
    end
    for k = 1, math.min(#xs, #x2) do
      local x, a, b = xs[k], low[k], high[k]
      if x == x and a == a and b == b then
        local n = #px + 1
        px[n] = math.max(plane.left - 1, math.min(x, plane.right + 1))
        py[n] = math.max(plane.top - 1, math.min(a, plane.bottom + 1))
        back[n] = math.max(plane.top - 1, math.min(b, plane.bottom + 1))
      else
        finish()
      end
    end
    finish()
  end,
}

-- ---- boxes ----

-- Quartiles and whiskers of groups: {at, low, q1, median, q3, high, outliers}.
marks.boxes = class{
  swatch = "box",
  limits = function(self, _, ylog)
    local low, high = math.huge, -math.huge
    for _, b in ipairs(self.boxes) do
      local a, z = limits_of(b.values, ylog)
      low, high = math.min(low, a), math.max(high, z)
    end
    return 0.5, #self.boxes + 0.5, low, high
  end,
  draw = function(self, plane)
    local canvas = plane.canvas
    local style = {color = self.color, width = 1.2, mark = self.mark}
    local function line(...)
      local xs, ys, p = {}, {}, {...}
      for k = 1, #p, 2 do
        xs[#xs + 1], ys[#ys + 1] = plane:x(p[k]), plane:y(p[k + 1])
      end
      curve.runs(xs, ys, plane, function(px, py)
        canvas:path(px, py, style)
      end)
    end
    for k, b in ipairs(self.boxes) do
      if b.q1 then
        local l, r = k - 0.28, k + 0.28
        if canvas.area then
          local top = math.max(plane.top, plane:y(b.q3))
          local bottom = math.min(plane.bottom, plane:y(b.q1))
          if bottom > top then
            canvas:rect(plane:x(l), top, plane:x(r) - plane:x(l), bottom - top,
              {color = self.color, alpha = 0.25})
          end
        end
        line(l, b.q1, r, b.q1, r, b.q3, l, b.q3, l, b.q1)
        line(l, b.median, r, b.median)
        line(k, b.q1, k, b.low)
        line(k, b.q3, k, b.high)
        line(k - 0.14, b.low, k + 0.14, b.low)
        line(k - 0.14, b.high, k + 0.14, b.high)
        local xs, ys = {}, {}
        for i, v in ipairs(b.outliers) do
          xs[i], ys[i] = plane:x(k), plane:y(v)
        end
        xs, ys = curve.inside(xs, ys, plane)
        canvas:dots(xs, ys, {color = self.color, size = 4, mark = self.mark})
      end
    end
  end,
}

-- ---- pictures ----

-- The cells of a matrix in the colours of a map; row 1 is at the top where
-- 'down' says so. low and high are the ends of the map.
marks.cells = class{
  tight = true,
  limits = function(self) return table.unpack(self.extent) end,
  draw = function(self, plane)
    local e = self.extent
    local x, x1 = plane:x(e[1]), plane:x(e[2])
    local y, y1 = plane:y(e[4]), plane:y(e[3])
    if y > y1 then y, y1 = y1, y end
    local picture = self.rgb
    if not picture then
      local v = self.values
      if not self.down then v = v:flip(1) end
      picture = v
      if self.log then picture = picture:log10() end
    end
    plane.canvas:cells(x, y, x1 - x, y1 - y, picture, self)
  end,
}

-- ---- contours ----

-- How far a box of w x h around a point reaches into those in 'boxes', which
-- hold centres and sizes; 0 where it is clear of all of them.
local function overlap(boxes, x, y, w, h)
  local sum = 0
  for _, box in ipairs(boxes) do
    local dx = (w + box[3]) / 2 - math.abs(x - box[1])
    local dy = (h + box[4]) / 2 - math.abs(y - box[2])
    if dx > 0 and dy > 0 then sum = sum + dx * dy end
  end
  return sum
end

-- The number of a line in a gap of it, where it is long enough: at the point
-- that runs the most level among those that are clear of other numbers and of
-- the frame. A line that has none goes without.
local function number_line(plane, boxes, xs, ys, level, color)
  local n, length = #xs, 0
  for k = 2, n do
    length = length + math.abs(xs[k] - xs[k - 1]) + math.abs(ys[k] - ys[k - 1])
  end
  local text = numbers.format("%.4g", level):gsub("^%-", "−")
  local wide = font.width(text, 11) + 3
  if length < 4 * wide or n < 5 then return end
  local best, least
  for k = 2, n - 1 do
    local x, y = xs[k], ys[k]
    local steep = math.abs(ys[k + 1] - ys[k - 1])
      / (math.abs(xs[k + 1] - xs[k - 1]) + 1e-9)
    -- Between level points, one in the middle of the line.
    steep = math.min(steep, 5) + math.abs(k / n - 0.5) / 10
    if (not least or steep < least) and x - plane.left > wide / 2
      and plane.right - x > wide / 2 and y - plane.top > 6
      and plane.bottom - y > 6
      and overlap(boxes, x, y, wide + 8, 16) == 0 then
      best, least = k, steep
    end
  end
  if not best then return end
  local x, y = xs[best], ys[best]
  boxes[#boxes + 1] = {x, y, wide, 12}
  plane.canvas:rect(x - wide / 2, y - 6, wide, 12, {color = 0xFFFFFF})
  plane.canvas:text(x, y + 4, text, {color = color, size = 11,
    anchor = "middle"})
end

marks.contour = class{
  tight = true,
  limits = function(self)
    local a, b = limits_of(self.x)
    local c, d = limits_of(self.y)
    return a, b, c, d
  end,
  draw = function(self, plane)
    local contours = require "lunarray.plot.contours"
    if self.filled then
      local w, h = plane.canvas:grid(plane.width, plane.height)
      local steps = contours.filled(self, plane, w, h)
      plane.canvas:cells(plane.left, plane.top, plane.width, plane.height,
        steps, {low = 0, high = 1, points = self.points})
      return
    end
    local boxes, numbered = {}, {}
    for k, level in ipairs(self.levels) do
      local part = #self.levels > 1 and (k - 1) / (#self.levels - 1) or 0.5
      local style = {color = colour.at(self.points, part), width = 1.5,
        mark = self.mark}
      for _, line in ipairs(contours.lines(self, level)) do
        local xs, ys = {}, {}
        for i = 1, #line[1] do
          xs[i], ys[i] = plane:x(line[1][i]), plane:y(line[2][i])
        end
        curve.runs(xs, ys, plane, function(px, py)
          plane.canvas:path(px, py, style)
        end)
        numbered[#numbered + 1] = {xs, ys, level, style.color}
      end
    end
    if not self.labels or not plane.canvas.text then return end
    for _, line in ipairs(numbered) do
      number_line(plane, boxes, table.unpack(line))
    end
  end,
}

marks.limits_of, marks.class, marks.dashes = limits_of, class, dashes

return marks
