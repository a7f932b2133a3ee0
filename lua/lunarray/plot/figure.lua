-- lunarray.plot.figure: figures, which have marks and options of their axes,
-- and grids of figures.
local la = require "lunarray"
local axis = require "lunarray.plot.axis"
local arguments = require "lunarray.plot.arguments"
local font = require "lunarray.plot.font"
local graphics = require "lunarray.plot.graphics"
local images = require "lunarray.images"
local layout = require "lunarray.plot.layout"
local pdf = require "lunarray.plot.pdf"
local raster = require "lunarray.plot.raster"
local svg = require "lunarray.plot.svg"
local terminal = require "lunarray.plot.terminal"
local numbers = require "lunarray.numbers"

local figure = {}

local Figure = {__name = "lunarray.plot.Figure"}
Figure.__index = Figure

figure.Figure = Figure

local max, min = math.max, math.min
local getenv, open = os and os.getenv, io and io.open     -- not in a sandbox

local WIDTH, HEIGHT = 60, 10          -- characters of a figure's text
local MOST_COLUMNS, MOST_ROWS = 100, 20     -- of one that fits a window
local SIZE = {640, 400}               -- pixels of a picture
local GAP = 2                         -- columns between figures of a grid
local MARGIN = 0.04                   -- of the range, around points in pictures
local MOST_PIXELS = 1e8

local function is_figure(v) return getmetatable(v) == Figure end

figure.is_figure = is_figure

function figure.new(options)
  return setmetatable({marks = {}, options = options or {}, count = 0}, Figure)
end

-- rows: a list of lists of figures.
function figure.grid(rows, options)
  local fig = figure.new(options)
  fig.rows = rows
  return fig
end

-- ---- marks ----

-- The number of the next series, which has a colour and a sign of its own.
function Figure:next()
  self.count = self.count + 1
  return self.count
end

function Figure:add(mark)
  self.marks[#self.marks + 1] = mark
  return mark
end

function Figure:merge(options)
  for key, value in pairs(options) do self.options[key] = value end
end

-- fig:set{title = ...}: options of the axes; the figure.
function Figure:set(options)
  local _, axes = arguments.options("set", {}, options)
  self:merge(axes)
  return self
end

-- fig:twin{ylabel = ...}: marks that share x and have numbers of their own at
-- the right; a figure to add them to.
function Figure:twin(options)
  if self.rows then error("twin: a grid has figures, and no axes", 0) end
  if not self.second then
    self.second = figure.new()
    self.second.count = self.count
  end
  if options ~= nil then self.second:set(options) end
  return self.second
end

-- ---- axes ----

local function limits(marks, xlog, ylog)
  local a, b, c, d = math.huge, -math.huge, math.huge, -math.huge
  for _, mark in ipairs(marks) do
    local x, x1, y, y1 = mark:limits(xlog, ylog)
    if x <= x1 then a, b = min(a, x), max(b, x1) end
    if y <= y1 then c, d = min(c, y), max(d, y1) end
  end
  return a, b, c, d
end

local function check_log(name, low, high, log)
  if log and (low <= 0 or high <= 0) then
    error(numbers.format("%s: a logarithmic axis has numbers above 0, got "
      .. "%g to %g", name, low, high), 0)
  end
end

local function new_axis(name, low, high, own, o)
  if own then
    check_log(name, own[1], own[2], o.log)
    o.fixed, low, high = true, own[1], own[2]
    if low > high then low, high, o.flip = high, low, not o.flip end
  end
  return axis.new(low, high, o)
end

local function all(marks, key)
  for _, mark in ipairs(marks) do if not mark[key] then return false end end
  return #marks > 0
end

local function any(marks, key)
  for _, mark in ipairs(marks) do if mark[key] then return mark end end
  return false
end

-- The figure as back ends draw it: axes with limits and ticks.
function Figure:view(margin, x_of)
  local o, marks = self.options, self.marks
  local xlog, ylog = o.xscale == "log", o.yscale == "log"
  local a, b, c, d = limits(marks, xlog, ylog)
  local second = self.second
  if second then
    local a2, b2 = limits(second.marks, xlog, second.options.yscale == "log")
    a, b = min(a, a2), max(b, b2)
  end
  local tight, zero = all(marks, "tight"), any(marks, "zero") and true
  local view = {marks = marks, options = o, bare = self.bare,
    grid = o.grid or o.grid == nil and not any(marks, "tight"),
    areas = any(marks, "zero") or any(marks, "tight"), bar = any(marks, "bar")}
  view.xaxis = new_axis("xlim", a, b, o.xlim, {log = xlog,
    time = o.xscale == "time" or o.xscale == nil and self.dated, tight = tight,
    margin = margin, ticks = o.xticks, zero = any(marks, "xzero") and true,
    whole = any(marks, "xwhole")})
  view.yaxis = new_axis("ylim", c, d, o.ylim, {log = ylog,
    time = o.yscale == "time", tight = tight,
    margin = margin, zero = zero, ticks = o.yticks, flip = self.down,
    whole = any(marks, "ywhole")})
  if self.square then
    view.square = max(b - a, 1e-9) / max(d - c, 1e-9)
  end
  if second and not x_of then
    view.second = second:view(margin, view.xaxis)
  end
  if not self.square and o.aspect then
    local x, y = view.xaxis, view.yaxis
    view.square = max(x.to - x.from, 1e-300) / max(y.to - y.from, 1e-300)
      / (o.aspect == "equal" and 1 or o.aspect)
  end
  return view
end

-- ---- text ----

-- Colours are for terminals that have them, unless NO_COLOR says no.
local function colours_of(window)
  if not window or not getenv then return 0 end
  local none, term = getenv "NO_COLOR", getenv "TERM" or "dumb"
  if none and none ~= "" or term == "dumb" then return 0 end
  local how = getenv "COLORTERM" or ""
  if how:find "truecolor" or how:find "24bit" or term:find "direct" then
    return 1 << 24
  end
  return 256
end

-- Characters above ASCII are for those who say that they can show them.
local function speaks_utf8()
  if not getenv then return false end
  for _, name in ipairs{"LC_ALL", "LC_CTYPE", "LANG"} do
    local tongue = getenv(name)
    if tongue and tongue ~= "" then
      return tongue:lower():find("utf%-?8") ~= nil
    end
  end
  return false
end

-- How standard output wants its figures: {ascii, colours}, and the columns and
-- rows of the window, where it is one.
function figure.style()
  local columns, rows = la.plot.window()
  return {ascii = not speaks_utf8(), colours = colours_of(columns)},
    columns, rows
end

local levels = {["256"] = 256, ["24bit"] = 1 << 24, none = 0}

local function text_style(options, own)
  local style, columns, rows = figure.style()
  style.columns, style.rows = columns, rows
  local color = options.color
  if color ~= nil then
    style.colours = color == true and 1 << 24 or color == false and 0
      or levels[numbers.text(color)]
    if not style.colours then
      error('text: color: true, false, "none", "256" or "24bit" expected', 0)
    end
  end
  if options.ascii ~= nil then style.ascii = options.ascii
  elseif own.ascii ~= nil then style.ascii = own.ascii end
  return style
end

-- Columns and rows of the marks; 'true' when the columns are those of all, as a
-- window has them. An image has two characters to a pixel without colours.
local function text_size(fig, given, style)
  local o, columns, rows = fig.options, style.columns, style.rows
  local w, h = given.width or o.width, given.height or o.height
  if fig.square then
    local shown = fig.marks[1] and fig.marks[1].columns or WIDTH
    w = w or math.floor(min(style.colours > 0 and shown or 2 * shown,
      max((columns or 81) - 1, 10)))
    local ratio = fig:view(0).square
    return w, h or max(1, math.floor(w / ratio / 2 + 0.5)), true
  end
  h = h or rows and max(5, min(rows // 2, MOST_ROWS)) or HEIGHT
  if w or not columns then return w or WIDTH, h, false end
  return max(min(columns - 1, MOST_COLUMNS), 12), h, true
end

local function draw_text(fig, given, style)
  if not fig.rows then
    local columns, rows, whole = text_size(fig, given, style)
    return terminal.draw(fig:view(0), columns, rows, style,
      given.whole or whole)
  end
  local most = 1
  for _, row in ipairs(fig.rows) do most = max(most, #row) end
  local whole = given.width or fig.options.width
    or max((style.columns or 81) - 1, 20)
  local each = max((whole - (most - 1) * GAP) // most, 16)
  local rows = {}
  for j, row in ipairs(fig.rows) do
    rows[j] = {}
    for i, one in ipairs(row) do
      rows[j][i] = draw_text(one, {width = each, whole = true,
        height = one.options.height or given.height
        or fig.options.height}, style)
    end
  end
  return terminal.join(rows, GAP, style)
end

-- fig:text{width=, height=, color=, ascii=}: for terminals and logs, without a
-- newline at the end. color: true or "24bit", "256", false or "none"; width and
-- height are those of the marks.
function Figure:text(options, y, text, more)
  if type(options) == "number" then      -- fig:text(x, y, text): a note
    return self:note(options, y, text, more)
  end
  local given = arguments.options("text", {width = "count", height = "count",
    color = "any", ascii = "boolean"}, options)
  for key in pairs(options or {}) do
    if given[key] == nil then given[key] = options[key] end
  end
  local style = text_style(given, self.options)
  local lines = draw_text(self, given, style):lines()
  if self.indent then
    for k, line in ipairs(lines) do lines[k] = self.indent .. line end
  end
  if self.rows and self.options.title then
    table.insert(lines, 1, (self.options.title:gsub("[\0-\31\127]", " ")))
  end
  return table.concat(lines, "\n")
end

Figure.__tostring = function(self) return self:text() end
Figure.__concat = function(a, b) return numbers.text(a) .. numbers.text(b) end

-- ---- pictures ----

local function draw_picture(fig, canvas, x, y, w, h)
  if not fig.rows then
    return layout.draw(fig:view(MARGIN), canvas, x, y, w, h)
  end
  if fig.options.title then
    canvas:text(x + w / 2, y + 20, fig.options.title, {color = 0x262626,
      size = 15, anchor = "middle"})
    y, h = y + 28, h - 28
  end
  local high = h / #fig.rows
  for j, row in ipairs(fig.rows) do
    local wide = w / (fig.columns or #row)
    for i, one in ipairs(row) do
      draw_picture(one, canvas, x + (i - 1) * wide, y + (j - 1) * high, wide,
        high)
    end
  end
end

-- Pixels that suit a figure: an image keeps its ratio, a grid is larger.
local function natural_size(fig)
  if fig.options.size then return table.unpack(fig.options.size) end
  if fig.rows then
    local most = 1
    for _, row in ipairs(fig.rows) do most = max(most, #row) end
    -- Panels of one figure: of many, each is smaller.
    local wide = most * max(240, 420 - 45 * (most - 1))
    local bare = true
    for _, row in ipairs(fig.rows) do
      for _, one in ipairs(row) do bare = bare and one.bare and one.square end
    end
    if bare then
      local each = min(300, 1200 // most)
      return max(each * most, 240), max(each * #fig.rows, 120)
        + (fig.options.title and 28 or 0)
    end
    return min(wide, 4000), min(wide / most * 0.72 * #fig.rows, 4000)
  end
  if fig.square and fig.marks[1] then
    local ratio = fig:view(0).square
    local w = ratio >= 1 and 480 or 480 * ratio
    w = max(w, 60)
    local extra = (fig.bare and 20 or 60) + (fig.options.title and 20 or 0)
    return w + (fig.bare and 16 or 100), min(max(w / ratio, 40), 4000) + extra
  end
  return SIZE[1], SIZE[2]
end

local PICTURE = {width = "number", height = "number", scale = "positive"}

local function picture_options(fig, name, options)
  local o = arguments.options(name, PICTURE, options)
  local w, h = natural_size(fig)
  w, h = o.width or w, o.height or h
  local scale = o.scale or 2
  if not (w >= 40 and h >= 40 and w * scale * h * scale <= MOST_PIXELS) then
    error(numbers.format("%s: at least 40 x 40 pixels and at most %g in all "
      .. "expected", name, MOST_PIXELS), 0)
  end
  return math.floor(w), math.floor(h), scale
end

function Figure:svg(options)
  local w, h = picture_options(self, "svg", options)
  local canvas = svg.new(w, h)
  draw_picture(self, canvas, 0, 0, w, h)
  return canvas:finish()
end

-- f() with the letters of the font that the figure names.
local function with_font(fig, f, ...)
  local path = fig.options.font
  return font.with(path and font.load(path), f, ...)
end

-- {3, height, width}, uint8.
function Figure:pixels(options)
  local w, h, scale = picture_options(self, "pixels", options)
  local canvas = raster.new(w, h, scale)
  with_font(self, draw_picture, self, canvas, 0, 0, w, h)
  return canvas:image()
end

-- The bytes of a page of that many points (pixels of the other forms).
function Figure:pdf(options)
  local w, h = picture_options(self, "pdf", options)
  local canvas = pdf.new(w, h)
  with_font(self, draw_picture, self, canvas, 0, 0, w, h)
  return canvas:finish()
end

function Figure:png(options)
  return images.get "png".encode(self:pixels(options), "png")
end

-- ---- output ----

-- Bytes to a file; 'name' is for errors.
function figure.write(path, bytes, name)
  if type(path) ~= "string" then
    error(("%s: a path expected, got %s"):format(name, type(path)), 0)
  end
  if not open then error(name .. ": no files in a sandbox", 0) end
  local file, why = open(path, "wb")
  if not file then error(name .. ": " .. why, 0) end
  local ok, problem = file:write(bytes)
  local closed, problem2 = file:close()
  if not (ok and closed) then
    error(("%s: %s: %s"):format(name, path, problem or problem2), 0)
  end
end

local function ending(path) return path:lower():match("%.(%w+)$") end

-- fig:save(path[, {width=, height=, scale=}])
function Figure:save(path, options)
  if type(path) ~= "string" then
    error(("save: a path expected, got %s"):format(type(path)), 0)
  end
  local kind = ending(path)
  if kind == "svg" or kind == "txt" or kind == "pdf" then
    local text = kind == "svg" and self:svg(options)
      or kind == "pdf" and self:pdf(options)
      or self:text{color = false} .. "\n"
    figure.write(path, text, "save")
  elseif kind == "png" or kind == "jpg" or kind == "jpeg" or kind == "bmp"
    or kind == "tga" then
    images.get "save".save(self:pixels(options), path)
  else
    error(("save: %s: a path that ends with .svg, .pdf, .png, .jpg, .bmp, .tga "
      .. "or .txt expected"):format(path), 0)
  end
  return self
end

-- A picture that fits the window, as bytes for a terminal that shows pictures;
-- nil where it does not.
local function terminal_picture(fig)
  local kind = graphics.kind()
  if not kind then return nil end
  local columns, _, wide = la.plot.window()
  local w = natural_size(fig)
  -- Where the terminal does not tell, a character is 8 pixels wide.
  local most = wide and wide > 0 and wide or 8 * (columns or 80)
  local scale = max(min(1, most / w), 0.25)
  if kind == "kitty" then return graphics.kitty(fig:png{scale = scale}) end
  return graphics.sixel(fig:pixels{scale = scale})
end

-- fig:show(): on standard output: as a picture where a notebook or the terminal
-- shows some, unless options ask for text.
function Figure:show(options)
  if figure.display then return figure.display(self) end
  print(options == nil and terminal_picture(self) or self:text(options))
end

return figure
