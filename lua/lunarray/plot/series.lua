-- lunarray.plot.series: marks that are made of lines, dots and texts: error
-- bars, steps, stems, arrows, surfaces, lines across, notes. Called by
-- lunarray.plot with its table of methods.
local la = require "lunarray"
local arguments = require "lunarray.plot.arguments"
local axis = require "lunarray.plot.axis"
local colour = require "lunarray.plot.colour"
local curve = require "lunarray.plot.curve"
local font = require "lunarray.plot.font"
local marks = require "lunarray.plot.marks"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"

local float64 = {dtype = "float64"}
local dashes = marks.dashes

-- ---- error bars ----

marks.errorbar = marks.class{
  swatch = "line",
  limits = function(self, xlog, ylog)
    local x = la.cat({self.x - self.left, self.x + self.right}, 1)
    local y = la.cat({self.y - self.low, self.y + self.high}, 1)
    local a, b = marks.limits_of(x, xlog)
    local c, d = marks.limits_of(y, ylog)
    return a, b, c, d
  end,
  draw = function(self, plane)
    local style = {color = self.color, width = self.linewidth or 1.5,
      alpha = self.alpha, mark = self.mark}
    local cap = plane.canvas.area and (self.capsize or 3) or 0
    local xs, ys = self.x:totable(), self.y:totable()
    local low, high = self.low:totable(), self.high:totable()
    local left, right = self.left:totable(), self.right:totable()
    local px, py = {}, {}
    for k = 1, #xs do
      local x, y = plane:x(xs[k]), plane:y(ys[k])
      px[k], py[k] = x, y
      local function bar(x1, y1, x2, y2, dx, dy)
        curve.runs({x1, x2}, {y1, y2}, plane, function(ax, ay)
          plane.canvas:path(ax, ay, style)
        end)
        local ends = cap > 0 and {{x1, y1}, {x2, y2}} or {}
        for _, end_ in ipairs(ends) do
          curve.runs({end_[1] - dx, end_[1] + dx}, {end_[2] - dy,
            end_[2] + dy}, plane, function(ax, ay)
              plane.canvas:path(ax, ay, style)
            end)
        end
      end
      if low[k] + high[k] > 0 then
        bar(x, plane:y(ys[k] - low[k]), x, plane:y(ys[k] + high[k]), cap, 0)
      end
      if left[k] + right[k] > 0 then
        bar(plane:x(xs[k] - left[k]), y, plane:x(xs[k] + right[k]), y, 0, cap)
      end
    end
    if self.style ~= "" then
      local line = {color = self.color, width = style.width,
        alpha = self.alpha, dash = dashes[self.style], mark = self.mark}
      curve.runs(px, py, plane, function(ax, ay)
        plane.canvas:path(ax, ay, line)
      end)
    end
    px, py = curve.inside(px, py, plane)
    plane.canvas:dots(px, py, {color = self.color, alpha = self.alpha,
      size = self.size or 7, marker = self.marker, mark = self.mark})
  end,
}

-- ---- arrows ----

-- An arrow with an open head; coordinates are those of the canvas.
local function draw_arrow(canvas, plane, x0, y0, x1, y1, style, head)
  local dx, dy = x1 - x0, y1 - y0
  local length = math.sqrt(dx * dx + dy * dy)
  if not (length > 0) then return end
  head = math.min(head, length * 0.4)
  local ux, uy = dx / length * head, dy / length * head
  local function part(xs, ys)
    curve.runs(xs, ys, plane, function(ax, ay) canvas:path(ax, ay, style) end)
  end
  part({x0, x1}, {y0, y1})
  part({x1 - ux - uy * 0.5, x1, x1 - ux + uy * 0.5},
    {y1 - uy + ux * 0.5, y1, y1 - uy - ux * 0.5})
end

marks.quiver = marks.class{
  swatch = "line",
  limits = function(self, xlog, ylog)
    local a, b = marks.limits_of(self.x, xlog)
    local c, d = marks.limits_of(self.y, ylog)
    -- Arrows reach beyond the outermost points.
    local sx, sy = (b - a) * 0.04, (d - c) * 0.04
    return a - sx, b + sx, c - sy, d + sy
  end,
  draw = function(self, plane)
    local xs, ys = plane:x(self.x):totable(), plane:y(self.y):totable()
    local us, vs = self.u:totable(), self.v:totable()
    local longest = math.max((self.u * self.u + self.v * self.v):sqrt()
      :nan_to_num(0):max():item(), 1e-300)
    local each = math.sqrt(plane.width * plane.height / math.max(#xs, 1))
    local scale = each * 0.9 / longest * (self.scale or 1)
    local style = {color = self.color, width = self.linewidth or 1.5,
      alpha = self.alpha, mark = self.mark}
    for k = 1, #xs do
      local own = style
      if self.values then
        local speed = math.sqrt(us[k] ^ 2 + vs[k] ^ 2)
        own = {color = colour.at(self.points, math.max(0, math.min(
          (speed - self.low) / (self.high - self.low), 1))),
          width = style.width, alpha = style.alpha, mark = self.mark}
      end
      draw_arrow(plane.canvas, plane, xs[k], ys[k], xs[k] + us[k] * scale,
        ys[k] - vs[k] * scale, own, each * 0.3)
    end
  end,
}

-- ---- lines across, notes ----

marks.across = marks.class{
  swatch = "line", aside = true,
  limits = function(self)
    if self.upright then
      return self.at, self.at, math.huge, -math.huge
    end
    return math.huge, -math.huge, self.at, self.at
  end,
  draw = function(self, plane)
    local style = {color = self.color, width = self.linewidth or 1.4,
      alpha = self.alpha, dash = dashes[self.style], mark = self.mark}
    local xs, ys = {plane.left, plane.right}
    if self.upright then
      local x = plane:x(self.at)
      xs, ys = {x, x}, {plane.top, plane.bottom}
    else
      local y = plane:y(self.at)
      ys = {y, y}
    end
    curve.runs(xs, ys, plane, function(ax, ay)
      plane.canvas:path(ax, ay, style)
    end)
  end,
}

local back_of = {left = "start", center = "middle", right = "end"}

marks.note = marks.class{
  aside = true, over = true,
  limits = function(self)
    return self.x, self.x, self.y, self.y
  end,
  draw = function(self, plane)
    local x, y = plane:x(self.x), plane:y(self.y)
    local canvas, size = plane.canvas, self.size or 13
    if not (x == x and y == y) or not canvas.text then return end
    if self.to then
      local tx, ty = plane:x(self.to[1]), plane:y(self.to[2])
      local half = font.width(self.text, size) / 2
      -- From the side of the text that is nearest.
      local fx = x + (self.anchor == "start" and half or self.anchor == "end"
        and -half or 0)
      local fy = y - size * 0.35
      if math.abs(tx - fx) > half then
        fx = fx + (tx > fx and half + 4 or -half - 4)
      else
        fy = fy + (ty > fy and size * 0.8 or -size * 0.8)
      end
      draw_arrow(canvas, plane, fx, fy, tx, ty, {color = self.color, width = 1,
        mark = self.mark}, 8)
    end
    canvas:text(x, y, self.text, {color = self.color, size = size,
      anchor = self.anchor})
  end,
}

-- ---- surfaces ----

-- Corners of a cube of -0.5 to 0.5, seen from an azimuth and an elevation in
-- degrees: right, up, and depth (larger is nearer).
local function seen(azimuth, elevation)
  local a, e = math.rad(azimuth), math.rad(elevation)
  local ca, sa, ce, se = math.cos(a), math.sin(a), math.cos(e), math.sin(e)
  return function(x, y, z)
    local right, away = -sa * x + ca * y, ca * x + sa * y
    return right, ce * z - se * away, ce * away + se * z
  end
end

marks.surface_fields = {
  tight = true,
  limits = function() return 0, 1, 0, 1 end,
  draw = function(self, plane)
    local view = seen(self.azimuth, self.elevation)
    local size = math.min(plane.width / 1.5, plane.height / 1.45)
    local mx, my = plane.left + plane.width / 2, plane.top + plane.height / 2
    local function at(x, y, z)
      local right, up, near = view(x - 0.5, y - 0.5, (z - 0.5) * 0.8)
      return mx + right * size, my - up * size, near
    end
    local rows, columns = self.z:size(1), self.z:size(2)
    local part = ((self.z - self.low) / (self.high - self.low)):totable()
    local function unit(t, k)
      return (t[k] - t[1]) / (t[#t] - t[1])
    end
    self:draw_box(plane, at, view)
    local tiles = {}
    for j = 1, rows - 1 do
      for i = 1, columns - 1 do
        local xs, ys, depth, height = {}, {}, 0, 0
        for k, c in ipairs{{0, 0}, {0, 1}, {1, 1}, {1, 0}} do
          local z = part[j + c[1]][i + c[2]]
          local near
          xs[k], ys[k], near = at(unit(self.xs, i + c[2]),
            unit(self.ys, j + c[1]), z)
          depth, height = depth + near, height + z
        end
        if depth == depth then
          tiles[#tiles + 1] = {depth, xs, ys, height / 4}
        end
      end
    end
    table.sort(tiles, function(p, q) return p[1] < q[1] end)
    local edge = math.max(rows, columns) <= 60
    for _, tile in ipairs(tiles) do
      local _, xs, ys, height = table.unpack(tile)
      local c = colour.at(self.points, math.max(0, math.min(height, 1)))
      plane.canvas:polygon(xs, ys, {color = c, mark = self.mark})
      xs[5], ys[5] = xs[1], ys[1]
      plane.canvas:path(xs, ys, {color = edge and 0xFFFFFF or c,
        width = edge and 0.5 or 0.6, alpha = edge and 0.6 or 1,
        mark = self.mark})
    end
  end,
}
marks.surface = marks.class(marks.surface_fields)

-- The edges of the box that are behind, and numbers at its ends.
function marks.surface_box(self, plane, at)
  local canvas = plane.canvas
  local style = {color = 0xB0B0B0, width = 1, mark = self.mark}
  local function line(a, b)
    local x0, y0 = at(table.unpack(a))
    local x1, y1 = at(table.unpack(b))
    canvas:path({x0, x1}, {y0, y1}, style)
  end
  -- The corner of the ground that is farthest away.
  local farthest, fx, fy = math.huge, 0, 0
  for x = 0, 1 do
    for y = 0, 1 do
      local _, _, near = at(x, y, 0.5)
      if near < farthest then farthest, fx, fy = near, x, y end
    end
  end
  for x = 0, 1 do line({x, 0, 0}, {x, 1, 0}) end
  for y = 0, 1 do line({0, y, 0}, {1, y, 0}) end
  line({fx, fy, 0}, {fx, fy, 1})
  line({fx, 0, 1}, {fx, 1, 1})
  line({0, fy, 1}, {1, fy, 1})
  line({fx, 1 - fy, 0}, {fx, 1 - fy, 1})
  line({1 - fx, fy, 0}, {1 - fx, fy, 1})
  if not canvas.text then return end
  local function label(v, x, y, z, dx, dy, anchor)
    local px, py = at(x, y, z)
    canvas:text(px + dx, py + dy, v, {color = 0x262626, size = 12,
      anchor = anchor})
  end
  local function ends(low, high, point)
    local scale = axis.new(low, high, {fixed = true})
    for _, tick in ipairs(scale:labels(4)) do
      point(tick[2]:gsub("^%-", "−"), (tick[1] - low) / (high - low))
    end
  end
  local nx, ny = 1 - fx, 1 - fy
  local cx = at(0.5, 0.5, 0)
  ends(self.xs[1], self.xs[#self.xs], function(text, t)
    local px = at(t, ny, 0)
    local middle = at(0.5, ny, 0)
    label(text, t, ny, 0, (middle < cx and -6 or 6), 14, middle < cx and "end"
      or "start")
    return px
  end)
  ends(self.ys[1], self.ys[#self.ys], function(text, t)
    local middle = at(nx, 0.5, 0)
    label(text, nx, t, 0, (middle < cx and -6 or 6), 14, middle < cx and "end"
      or "start")
  end)
  local left = at(nx, fy, 0) < at(fx, ny, 0)
  ends(self.low, self.high, function(text, t)
    if left then label(text, nx, fy, t, -6, 4, "end")
    else label(text, fx, ny, t, -6, 4, "end") end
  end)
end
marks.surface_fields.draw_box = marks.surface_box

-- ---- what users call ----

local ERROR = {label = "any", color = "any", marker = "any", style = "any",
  markersize = "positive", linewidth = "positive", alpha = "part", yerr = "any",
  xerr = "any", capsize = "number"}

-- An error as two tensors, below and above: a number, one for each point, or
-- {below, above}.
local function error_of(name, v, like)
  if v == nil then return la.zeros_like(like), la.zeros_like(like) end
  if type(v) == "table" and #v == 2 and (type(v[1]) ~= "number") then
    local low = arguments.series(name, v[1])
    local high = arguments.series(name, v[2])
    arguments.same(name, low, like)
    arguments.same(name, high, like)
    return low, high
  end
  local one = arguments.series(name, v)
  if one:numel() == 1 then one = one:expand(like:numel()):clone() end
  arguments.same(name, one, like)
  return one, one
end

local STEP = {label = "any", color = "any", style = "any", alpha = "part",
  linewidth = "positive", where = "any"}

-- The corners of steps through points: they change before the next point
-- ("pre"), after it has been reached ("post") or half way ("mid").
local function corners(x, y, where)
  local n = x:numel()
  if n < 2 then return x, y end
  local inner, before = x[{{2, n}}], x[{{1, n - 1}}]
  local change = where == "post" and inner or where == "mid"
    and (inner + before) / 2 or before
  local next_y, y0 = y[{{2, n}}], y[{{1, n - 1}}]
  local xs = la.stack({before, change, change}, 2):reshape(-1)
  local ys = la.stack({y0, y0, next_y}, 2):reshape(-1)
  return la.cat({xs, x[{{n, n}}]}, 1), la.cat({ys, y[{{n, n}}]}, 1)
end

local STEM = {label = "any", color = "any", alpha = "part", marker = "any",
  markersize = "positive", linewidth = "positive"}

marks.stem = marks.class{
  swatch = "dot", zero = true,
  limits = function(self, xlog, ylog)
    local a, b = marks.limits_of(self.x, xlog)
    local c, d = marks.limits_of(self.y, ylog)
    if not ylog and c <= d then c, d = math.min(c, 0), math.max(d, 0) end
    return a, b, c, d
  end,
  draw = function(self, plane)
    local style = {color = self.color, width = self.linewidth or 1.4,
      alpha = self.alpha, mark = self.mark}
    local xs, ys = plane:x(self.x):totable(), plane:y(self.y):totable()
    local zero = plane.ylog and plane.bottom or plane:y(0)
    curve.runs({plane.left, plane.right}, {zero, zero}, plane, function(ax, ay)
      plane.canvas:path(ax, ay, {color = 0x999999, width = 1})
    end)
    for k = 1, #xs do
      curve.runs({xs[k], xs[k]}, {zero, ys[k]}, plane, function(ax, ay)
        plane.canvas:path(ax, ay, style)
      end)
    end
    xs, ys = curve.inside(xs, ys, plane)
    plane.canvas:dots(xs, ys, {color = self.color, alpha = self.alpha,
      size = self.size or 7, marker = self.marker, mark = self.mark})
  end,
}

local QUIVER = {label = "any", color = "any", alpha = "part",
  scale = "positive", linewidth = "positive", colormap = "any"}
local SURFACE = {x = "any", y = "any", colormap = "any", azimuth = "number",
  elevation = "number", colorbar = "boolean"}
local ACROSS = {label = "any", color = "any", style = "any", alpha = "part",
  linewidth = "positive"}
local NOTE = {color = "any", size = "positive", anchor = "any", at = "pair"}

return function(methods, tools)
  local points, dress = tools.points, tools.dress

  function methods.errorbar(fig, ...)
    local x, y, o = points(fig, "errorbar", ERROR, ...)
    local low, high = error_of("errorbar: yerr", o.yerr, y)
    local left, right = error_of("errorbar: xerr", o.xerr, x)
    fig:add(dress(fig, "errorbar", marks.errorbar{x = x, y = y, low = low,
      high = high, left = left, right = right, style = o.style or "",
      marker = tools.check_marker("errorbar", o.marker or "o"),
      size = o.markersize, linewidth = o.linewidth, capsize = o.capsize}, o, 1))
  end

  function methods.step(fig, ...)
    local x, y, o = points(fig, "step", STEP, ...)
    if o.where ~= nil and o.where ~= "pre" and o.where ~= "post"
      and o.where ~= "mid" then
      error('step: where: "pre", "post" or "mid" expected', 0)
    end
    x, y = corners(x, y, o.where or "post")
    fig:add(dress(fig, "step", marks.line{x = x, y = y, style = o.style or "-",
      linewidth = o.linewidth}, o, 1))
  end

  function methods.stem(fig, ...)
    local x, y, o = points(fig, "stem", STEM, ...)
    fig:add(dress(fig, "stem", marks.stem{x = x, y = y, size = o.markersize,
      marker = tools.check_marker("stem", o.marker or "o"),
      linewidth = o.linewidth}, o, 1))
  end

  function methods.quiver(fig, x, y, u, v, options)
    local o, axes = arguments.options("quiver", QUIVER, options)
    fig:merge(axes)
    local function flat(t)
      if type(t) == "userdata" then t = t:reshape(-1) end
      return arguments.series("quiver", t)
    end
    x, y, u, v = flat(x), flat(y), flat(u), flat(v)
    arguments.same("quiver", x, y)
    arguments.same("quiver", x, u)
    arguments.same("quiver", x, v)
    local mark = dress(fig, "quiver", marks.quiver{x = x, y = y, u = u, v = v,
      scale = o.scale, linewidth = o.linewidth}, o, 1)
    if o.colormap then
      mark.values = (u * u + v * v):sqrt()
      mark.low, mark.high = tools.ends("quiver", mark.values, {})
      mark.points = colour.points(o.colormap, "quiver")
      mark.bar = true
    end
    fig:add(mark)
  end

  function methods.surface(fig, matrix, options)
    local o, axes = arguments.options("surface", SURFACE, options)
    fig:merge(axes)
    local z = arguments.matrix("surface", matrix)
    if z:size(1) < 2 or z:size(2) < 2 then
      error(("surface: a matrix of at least 2 x 2 expected, got %d x %d")
        :format(z:size(1), z:size(2)), 0)
    end
    local function along(name, given, n)
      local t = arguments.series("surface: " .. name, given
        or la.arange(1, n + 1, float64))
      if t:numel() ~= n or n > 1 and not t:diff():gt(0):all() then
        error(("surface: %s: %d numbers that increase expected"):format(name,
          n), 0)
      end
      return t:totable()
    end
    local mark = marks.surface{z = z, xs = along("x", o.x, z:size(2)),
      ys = along("y", o.y, z:size(1)), azimuth = o.azimuth or -60,
      elevation = o.elevation or 30,
      points = colour.points(o.colormap or "viridis", "surface")}
    mark.low, mark.high = tools.ends("surface", z:reshape(-1), {})
    mark.bar = o.colorbar ~= false
    fig.bare = true
    mark.mark = fig:next()
    fig:add(mark)
  end

  local function across(name, upright)
    return function(fig, at, options)
      local o, axes = arguments.options(name, ACROSS, options)
      fig:merge(axes)
      for k, v in ipairs(arguments.series(name, at):totable()) do
        local mark = marks.across{at = v, upright = upright,
          linewidth = o.linewidth, style = o.style or "--", alpha = o.alpha,
          color = arguments.color(name, o.color, k) or 0x555555, mark = 7}
        mark.label = k == 1 and o.label and numbers.text(o.label) or nil
        fig:add(mark)
      end
    end
  end
  methods.hline = across("hline", false)
  methods.vline = across("vline", true)

  local function note(name, fig, x, y, text, to, options)
    local o, axes = arguments.options(name, NOTE, options)
    fig:merge(axes)
    if type(text) ~= "string" and type(text) ~= "number" then
      error(("%s: a text expected, got %s"):format(name, type(text)), 0)
    end
    for _, v in ipairs{x, y, to and to[1] or 0, to and to[2] or 0} do
      if type(v) ~= "number" then
        error(("%s: numbers x and y expected, got %s"):format(name, type(v)),
          0)
      end
    end
    local anchor = back_of[o.anchor or "left"]
    if not anchor then
      error(name .. ': anchor: "left", "center" or "right" expected', 0)
    end
    fig:add(marks.note{x = x, y = y, text = numbers.text(text), to = to,
      size = o.size, anchor = anchor,
      color = arguments.color(name, o.color, 1) or 0x262626, mark = 7})
  end

  function methods.note(fig, x, y, text, options)
    note("note", fig, x, y, text, nil, options)
  end

  function methods.annotate(fig, text, point, options)
    if type(point) ~= "table" or #point ~= 2 then
      error("annotate: a text and the point {x, y} expected", 0)
    end
    local at = type(options) == "table" and options.at or nil
    if at ~= nil and (type(at) ~= "table" or #at ~= 2) then
      error("annotate: at: {x, y} of the text expected", 0)
    end
    local own = {}
    for key, value in pairs(positions.own(options or {}, NOTE)) do
      if key ~= "at" then own[key] = value end
    end
    if at then note("annotate", fig, at[1], at[2], text, point, own)
    else note("annotate", fig, point[1], point[2], text, nil, own) end
  end

  function methods.fill_between(fig, x, low, high, options)
    methods.band(fig, x, low, high, options)
  end
end
