-- lunarray.plot: figures for terminals, and the same as SVG and PNG. Reached as
-- la.plot; la.plot(y) is plot.line(y).
--
-- plot.line and its kin make a figure with one mark, or several; the methods of
-- the same names add more to it. Data are lists or tensors, of which a figure
-- keeps copies. What is not finite is left out.
local la = require "lunarray"

-- One for each state: figures of two copies would not know each other.
local known = rawget(la.plot, "_module")
if known then return known end

local arguments = require "lunarray.plot.arguments"
local colour = require "lunarray.plot.colour"
local figure = require "lunarray.plot.figure"
local marks = require "lunarray.plot.marks"
local statistics = require "lunarray.plot.statistics"
local numbers = require "lunarray.numbers"

local plot = {}

local Figure = figure.Figure
local float64 = {dtype = "float64"}

-- ---- what is given ----

local function is_options(v)
  if type(v) ~= "table" then return false end
  local key = next(v)
  if getmetatable(v) then return key == nil and #v == 0 end
  return key == nil or type(key) == "string"
end

-- x and y of marks that have both: (y), (x, y), each with options behind.
-- A list of no numbers stands for no points, {} behind y for no options.
local function pair(x, y, options)
  if y == nil or is_options(y) and options == nil then
    return nil, x, y
  end
  return x, y, options
end

local function check_marker(name, marker)
  if marker == nil or marker == "o" or marker == "x" or marker == "+"
    or marker == "s" or marker == "^" then
    return marker
  end
  error(name .. ': marker: "o", "x", "+", "s" or "^" expected', 0)
end

local styles = {["-"] = true, ["--"] = true, [":"] = true, ["-."] = true,
  [""] = true}

-- A mark's colour, label and number among the series of its figure.
local function dress(fig, name, mark, o, k)
  mark.mark = fig:next()
  mark.color = arguments.color(name, o.color, k)
    or colour.parse(mark.mark, name)
  local label = arguments.pick(o.label, k)
  mark.label = label ~= nil and numbers.text(label) or nil
  mark.alpha = o.alpha
  return mark
end

-- ---- marks ----

local methods = {}

local LINE = {label = "any", color = "any", style = "any", marker = "any",
  linewidth = "positive", markersize = "positive", alpha = "part",
  points = "count"}

-- A function of a number, at points of xlim (-1 to 1).
local function sample(f, o, axes)
  local limits, n = axes.xlim or {-1, 1}, o.points or 400
  local xs, ys = {}, {}
  for k = 1, n do
    local part = (k - 1) / math.max(n - 1, 1)
    local x = limits[1] + (limits[2] - limits[1]) * part
    if axes.xscale == "log" and limits[1] > 0 then
      x = limits[1] * (limits[2] / limits[1]) ^ part
    end
    local y = f(x)
    if type(y) == "userdata" then y = y:item() end
    xs[k], ys[k] = x, type(y) == "number" and y or 0 / 0
  end
  return la.tensor(xs, float64), la.tensor(ys, float64)
end

local function counted(y)
  return la.arange(1, y:numel() + 1, float64)
end

-- The points that a method draws, x counted where it is left out, and its
-- options; those of the axes are the figure's from here on.
local function points(fig, name, keys, x, y, options)
  x, y, options = pair(x, y, options)
  local o, axes = arguments.options(name, keys, options)
  fig:merge(axes)
  y = arguments.series(name, y)
  x = x ~= nil and arguments.series(name, x) or counted(y)
  arguments.same(name, x, y)
  return x, y, o
end

function methods.line(fig, x, y, options)
  x, y, options = pair(x, y, options)
  local o, axes = arguments.options("line", LINE, options)
  fig:merge(axes)
  if o.style ~= nil and not styles[o.style] then
    error('line: style: "-", "--", ":", "-." or "" expected', 0)
  end
  local list, xs
  if type(y) == "function" and x == nil then
    local at, values = sample(y, o, fig.options)
    xs, list = {at}, {values}
  else
    list = arguments.several("line", y)
    xs = x ~= nil and arguments.several("line", x) or {}
  end
  if x ~= nil and #xs > 1 and #xs ~= #list then
    error(("line: one x or as many as y expected, got %d and %d"):format(#xs,
      #list), 0)
  end
  for k, one in ipairs(list) do
    local at = xs[k] or xs[1]
    local mark = marks.line{x = at or counted(one), y = one,
      xwhole = not at, style = o.style or "-",
      marker = check_marker("line", o.marker), linewidth = o.linewidth,
      size = o.markersize}
    arguments.same("line", mark.x, one)
    fig:add(dress(fig, "line", mark, o, k))
  end
end

local SCATTER = {label = "any", color = "any", marker = "any",
  markersize = "any", alpha = "part", values = "any", colormap = "any",
  low = "number", high = "number"}

-- The ends of a map of colours: given, or those of the finite values. Where all
-- of these lie beyond the end that is given, it stands for both.
local function ends(name, values, o)
  if o.low and o.high and o.low > o.high then
    error(name .. numbers.format(": low (%.6g) is above high (%.6g)", o.low,
      o.high), 0)
  end
  local low, high = marks.limits_of(values)
  if not (low <= high) then low, high = o.low or o.high, o.high or o.low end
  low, high = low or 0, high or 1
  low, high = o.low or math.min(low, o.high or low),
    o.high or math.max(high, o.low or high)
  if low == high then low, high = low - 0.5, high + 0.5 end
  return low, high
end

function methods.scatter(fig, ...)
  local x, y, o = points(fig, "scatter", SCATTER, ...)
  -- One colour or size for each point.
  local many = type(o.color) == "userdata" or type(o.color) == "table"
    and #o.color == y:numel() and #o.color ~= 3 and type(o.color[1]) == "number"
  if many then o.values, o.color = o.values or o.color, nil end
  local size, sizes = o.markersize, nil
  if type(size) == "table" or type(size) == "userdata" then
    sizes, size = arguments.series("scatter: markersize", size), nil
    arguments.same("scatter: markersize", sizes, y)
  elseif size ~= nil and not (type(size) == "number" and size > 0
    and size <= 1000) then
    error("scatter: markersize: a number above 0, at most 1000, or one for "
      .. "each point expected", 0)
  end
  local mark = dress(fig, "scatter", marks.scatter{x = x, y = y, sizes = sizes,
    marker = check_marker("scatter", o.marker), size = size}, o, 1)
  if o.values ~= nil then
    mark.values = arguments.series("scatter: values", o.values)
    arguments.same("scatter: values", mark.values, y)
    mark.low, mark.high = ends("scatter", mark.values, o)
    mark.points = colour.points(o.colormap or "viridis", "scatter")
    mark.bar, mark.swatch = true, false
  end
  fig:add(mark)
end

local BAR = {label = "any", color = "any", alpha = "part", names = "list",
  stacked = "boolean", horizontal = "boolean"}

function methods.bar(fig, names, values, options)
  names, values, options = pair(names, values, options)
  local o, axes = arguments.options("bar", BAR, options)
  fig:merge(axes)
  names = names or o.names
  if type(names) == "table" and type(names[1]) == "string" then
    fig.options[o.horizontal and "yticks" or "xticks"] = arguments.texts("bar",
      names)
    names = nil
  end
  local list = arguments.several("bar", values)
  local at = names and arguments.series("bar", names)
  local ups, downs
  for k, one in ipairs(list) do
    local x = at or counted(one)
    arguments.same("bar", x, one)
    local step = statistics.least_step(x)
    local whole = 0.8 * step / (o.stacked and 1 or #list)
    local left = x - 0.4 * step + (o.stacked and 0 or (k - 1) * whole)
    -- Stacked: on what is there of the same sign.
    local base
    if o.stacked then
      ups, downs = ups or la.zeros_like(one), downs or la.zeros_like(one)
      base = la.where(one:ge(0), ups, downs)
      local tip = base + one:nan_to_num(0)
      ups, downs = la.where(one:ge(0), tip, ups), la.where(one:lt(0), tip,
        downs)
      one = base + one
    end
    local mark = {left = left, right = left + whole, heights = one,
      bases = base}
    if o.horizontal then
      mark.ywhole = not at
      fig.down = type(fig.options.yticks) == "table"
      fig:add(dress(fig, "bar", marks.lying(mark), o, k))
    else
      mark.xwhole = not at
      fig:add(dress(fig, "bar", marks.bars(mark), o, k))
    end
  end
end

local HIST = {label = "any", color = "any", alpha = "part", bins = "any",
  range = "pair", density = "boolean"}

function methods.hist(fig, values, options)
  local o, axes = arguments.options("hist", HIST, options)
  fig:merge(axes)
  local list = arguments.several("hist", values)
  local edges = statistics.edges(list, o.bins, o.range)
  for k, one in ipairs(list) do
    local left, right, counts = statistics.counts(one, edges, o.density)
    local mark = dress(fig, "hist", marks.bars{left = left, right = right,
      heights = counts}, o, k)
    if #list > 1 then mark.alpha = mark.alpha or 0.6 end
    fig:add(mark)
  end
end

local BOX = {label = "any", color = "any", names = "list"}

function methods.box(fig, values, options)
  local o, axes = arguments.options("box", BOX, options)
  fig:merge(axes)
  local boxes = {}
  for k, one in ipairs(arguments.several("box", values)) do
    boxes[k] = statistics.box(one)
  end
  if o.names then fig.options.xticks = arguments.texts("box", o.names)
  elseif not fig.options.xticks then
    local labels = {}
    for k = 1, #boxes do labels[k] = tostring(k) end
    fig.options.xticks = labels
  end
  fig:add(dress(fig, "box", marks.boxes{boxes = boxes}, o, 1))
end

local BAND = {label = "any", color = "any", alpha = "part"}

function methods.band(fig, x, low, high, options)
  local o, axes = arguments.options("band", BAND, options)
  fig:merge(axes)
  low = arguments.series("band", low)
  high = arguments.series("band", high)
  x = x ~= nil and arguments.series("band", x) or counted(low)
  arguments.same("band", x, low)
  arguments.same("band", x, high)
  local last = fig.marks[#fig.marks]
  if o.color == nil and last and last.swatch == "line" then
    o.color = ("#%06x"):format(last.color)       -- the curve that it belongs to
  end
  o.alpha = o.alpha or 0.3
  fig:add(dress(fig, "band", marks.band{x = x, low = low, high = high}, o, 1))
end

-- ---- matrices ----

local HEAT = {low = "number", high = "number", colormap = "any", x = "pair",
  y = "pair", colorbar = "boolean", xnames = "list", ynames = "list"}

function methods.heatmap(fig, matrix, options)
  local o, axes = arguments.options("heatmap", HEAT, options)
  fig:merge(axes)
  local values = arguments.matrix("heatmap", matrix)
  local rows, columns = values:size(1), values:size(2)
  local x, y = o.x or {0.5, columns + 0.5}, o.y or {0.5, rows + 0.5}
  local mark = marks.cells{values = values, down = not o.y,
    extent = {math.min(x[1], x[2]), math.max(x[1], x[2]),
      math.min(y[1], y[2]), math.max(y[1], y[2])},
    points = colour.points(o.colormap or "viridis", "heatmap")}
  mark.xwhole, mark.ywhole = not o.x, not o.y
  if rows == 0 or columns == 0 then mark.extent = {0, 1, 0, 1} end
  mark.low, mark.high = ends("heatmap", values, o)
  mark.bar = o.colorbar ~= false
  fig.down = mark.down
  if o.xnames then fig.options.xticks = arguments.texts("heatmap", o.xnames) end
  if o.ynames then fig.options.yticks = arguments.texts("heatmap", o.ynames) end
  fig:add(mark)
end

local CONTOUR = {x = "any", y = "any", levels = "any", filled = "boolean",
  labels = "boolean", colormap = "any", colorbar = "boolean"}

local function increasing(name, t, n)
  t = arguments.series("contour: " .. name, t)
  if t:numel() ~= n then
    error(("contour: %s: %d numbers expected, got %d"):format(name, n,
      t:numel()), 0)
  end
  if not t:isfinite():all() or n > 1
    and not t:diff():gt(0):all() then
    error(("contour: %s: finite numbers that increase expected"):format(name),
      0)
  end
  return t
end

function methods.contour(fig, matrix, options)
  local o, axes = arguments.options("contour", CONTOUR, options)
  fig:merge(axes)
  local z = arguments.matrix("contour", matrix)
  if z:size(1) < 2 or z:size(2) < 2 then
    error(("contour: a matrix of at least 2 x 2 expected, got %d x %d"):format(
      z:size(1), z:size(2)), 0)
  end
  local mark = marks.contour{z = z, filled = o.filled,
    labels = o.labels ~= false,
    x = increasing("x", o.x or la.arange(1, z:size(2) + 1, float64),
      z:size(2)),
    y = increasing("y", o.y or la.arange(1, z:size(1) + 1, float64),
      z:size(1)),
    points = colour.points(o.colormap or "viridis", "contour")}
  mark.levels = statistics.levels(z, o.levels)
  mark.low = mark.levels[1] or 0
  mark.high = mark.levels[#mark.levels] or 1
  -- Areas reach to the ends of the data.
  local low, high = marks.limits_of(z:reshape(-1))
  if o.filled and low <= high then
    mark.low, mark.high = math.min(mark.low, low), math.max(mark.high, high)
  end
  if mark.low == mark.high then mark.high = mark.low + 1 end
  mark.bar = (o.colorbar or o.colorbar == nil and o.filled) and true or nil
  fig:add(mark)
end

local IMAGE = {low = "number", high = "number", colormap = "any",
  indent = "string"}

function methods.image(fig, t, options)
  local o, axes = arguments.options("image", IMAGE, options)
  fig:merge(axes)
  local image, dtype = arguments.picture("image", t)
  local h, w = image:size(2), image:size(3)
  local mark = marks.cells{extent = {0, math.max(w, 1), 0, math.max(h, 1)},
    down = true, columns = w}
  if image:size(1) == 1 then
    mark.values = image[1]
    mark.low, mark.high = ends("image", image:reshape(-1), o)
    mark.points = colour.points(o.colormap or "gray", "image")
  else
    local white = dtype == "uint8" and 255 or dtype == "uint16" and 65535 or 1
    mark.rgb = (image / white):clamp(0, 1)
  end
  fig.bare, fig.down, fig.square = true, true, true
  fig.indent = o.indent
  fig:add(mark)
end

require "lunarray.plot.series"(methods, {points = points,
  dress = dress, ends = ends, check_marker = check_marker})

-- ---- figures ----

-- Errors are the caller's, 'level' calls above: those of modules of the library
-- lose their position, those that have the caller's keep it.
local function raise(problem, level)
  if type(problem) ~= "string" then error(problem, 0) end
  problem = problem:gsub("^lunarray[%w_.]*:%d+: ", "")
  error(problem, problem:find "^[^:\n]+:%d+: " and 0 or level + 1)
end

local function call(level, f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then raise(results[2], level + 1) end
  return table.unpack(results, 2, results.n)
end

local function new_figure(level, add, ...)
  local fig = figure.new()
  call(level + 1, add, fig, ...)
  return fig
end

-- x of dates, in texts, stands on an axis of time.
for _, name in ipairs{"line", "scatter", "errorbar", "step", "stem", "band",
  "fill_between"} do
  local add = methods[name]
  methods[name] = function(fig, x, y, ...)
    if y ~= nil and type(x) == "table" and type(x[1]) == "string" then
      fig.dated = true
    end
    return add(fig, x, y, ...)
  end
end

for name, add in pairs(methods) do
  plot[name] = function(...)
    local fig = new_figure(2, add, ...)
    return fig
  end
  Figure[name] = function(fig, ...)
    if fig.rows then
      error(name .. ": a grid has figures, and no marks of its own", 2)
    end
    call(2, add, fig, ...)
    return fig
  end
end

-- la.plot(...), which comes by way of C.
function plot._call(...)
  local fig = new_figure(3, methods.line, ...)
  return fig
end

-- plot.live{steps=, ...}: curves of a training while it runs.
function plot.live(options)
  local live = require "lunarray.plot.live"
  local object = call(2, live.new, options)
  return object
end

for _, name in ipairs{"save", "text", "twin", "show", "svg", "png", "pixels",
  "pdf", "set"} do
  local f = Figure[name]
  Figure[name] = function(...)
    local results = table.pack(call(2, f, ...))
    return table.unpack(results, 1, results.n)
  end
end

local function grid_rows(list, columns)
  local rows = {}
  for k, one in ipairs(list) do
    if figure.is_figure(one) then
      local j = (k - 1) // columns + 1
      rows[j] = rows[j] or {}
      table.insert(rows[j], one)
    elseif type(one) == "table" and figure.is_figure(one[1]) then
      rows[#rows + 1] = {}
      for _, inner in ipairs(one) do
        if not figure.is_figure(inner) then
          error("grid: figures or rows of figures expected", 0)
        end
        table.insert(rows[#rows], inner)
      end
    else
      error("grid: figures or rows of figures expected", 0)
    end
  end
  if #rows == 0 then error("grid: no figures", 0) end
  return rows
end

-- plot.grid{a, b, c, d, columns = 2} or plot.grid{{a, b}, {c}}: several figures
-- as one.
function plot.grid(list)
  local fig
  call(2, function()
    if type(list) ~= "table" or getmetatable(list) then
      error("grid: a list of figures expected", 0)
    end
    local options = {}
    for key, value in pairs(list) do
      if math.type(key) ~= "integer" then options[key] = value end
    end
    local o, axes = arguments.options("grid", {columns = "count"}, options)
    local columns = o.columns or math.ceil(math.sqrt(#list))
    fig = figure.grid(grid_rows(list, columns), axes)
    fig.columns = figure.is_figure(list[1]) and math.min(columns, #list) or nil
  end)
  return fig
end

-- A frame as {3, height, width} of uint8: a figure's pixels, or an image.
local function frame_of(one, options)
  if figure.is_figure(one) then return one:pixels(options) end
  local image, dtype = arguments.picture("animate", one)
  if image:size(1) == 1 then image = image:expand(3, -1, -1) end
  local white = dtype == "uint8" and 255 or dtype == "uint16" and 65535 or 1
  return (image[{{1, 3}}] / white * 255):clamp(0, 255):round():to("uint8")
end

local ANIMATE = {fps = "positive", loops = "number", width = "number",
  height = "number", scale = "positive"}

-- plot.animate(frames, path[, {fps = 10, loops = 0}]): figures or images one
-- after the other as a GIF; its bytes where the path is nil.
function plot.animate(frames, path, options)
  local bytes
  call(2, function()
    if type(frames) ~= "table" or getmetatable(frames) or #frames == 0 then
      error("animate: a list of figures or images expected", 0)
    end
    local o = arguments.options("animate", ANIMATE, options)
    local list = {}
    for k, one in ipairs(frames) do
      list[k] = frame_of(one, {scale = o.scale or 1, width = o.width,
        height = o.height})
      if list[k]:size(2) ~= list[1]:size(2)
        or list[k]:size(3) ~= list[1]:size(3) then
        error(("animate: frame %d is %d x %d, the first %d x %d"):format(k,
          list[k]:size(3), list[k]:size(2), list[1]:size(3), list[1]:size(2)),
          0)
      end
    end
    local loops = math.tointeger(o.loops or 0)
    if not loops or loops < 0 or loops > 65535 then
      error("animate: loops: an integer from 0 to 65535 expected", 0)
    end
    bytes = require "lunarray.plot.gif".encode(list,
      math.max(1, math.floor(100 / (o.fps or 10) + 0.5)), loops)
    if path ~= nil then figure.write(path, bytes, "animate") end
  end)
  return path == nil and bytes or nil
end

-- columns, rows, and the width and height in pixels (0 when it does not tell)
-- of the terminal that standard output is; nil where it is none.
for _, name in ipairs{"window", "_ask", "_clock"} do
  plot[name] = la.plot[name]
end

rawset(la.plot, "_module", plot)

return plot
