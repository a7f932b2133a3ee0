-- lunarray.plot.live: curves of a training that are drawn while it runs.
--
-- On a terminal the figure is redrawn in place, a few times a second at most;
-- elsewhere a line is written every so many steps. A live object keeps at most
-- MOST points of a series: beyond, neighbours become their mean.
local la = require "lunarray"
local arguments = require "lunarray.plot.arguments"
local figure = require "lunarray.plot.figure"
local numbers = require "lunarray.numbers"

local live = {}

local Live = {}
Live.__index = Live

local MOST = 4096
local RECENT = 10       -- seconds over which steps per second are counted

local OPTIONS = {steps = "steps", every = "steps", rate = "positive",
  items = "string", write = "function", clock = "function",
  window = "function"}

-- ---- series ----

-- Adds a value; two points become one when there are too many.
local function add(series, x, value)
  series.sum, series.n = series.sum + value, series.n + 1
  series.last = value
  if series.n < series.stride then return end
  local k = #series.x + 1
  series.x[k], series.y[k] = x, series.sum / series.n
  series.sum, series.n = 0, 0
  if k < MOST then return end
  local xs, ys = {}, {}
  for i = 2, k, 2 do
    xs[i // 2] = series.x[i]
    ys[i // 2] = (series.y[i - 1] + series.y[i]) / 2
  end
  series.x, series.y, series.stride = xs, ys, 2 * series.stride
end

local function number(name, value)
  if type(value) == "userdata" then
    if value:numel() ~= 1 then
      error(("live: %s: one number expected, got a tensor of %d"):format(name,
        value:numel()), 0)
    end
    value = value:item()
  end
  if math.type(value) then return value + 0.0 end
  error(("live: %s: a number expected, got %s"):format(name, type(value)), 0)
end

-- ---- time ----

local function duration(seconds)
  if not (seconds < 1e7) then return "-" end
  local s = math.floor(seconds + 0.5)
  if s < 60 then return ("%d s"):format(s) end
  if s < 3600 then return ("%d min %02d s"):format(s // 60, s % 60) end
  return ("%d h %02d min"):format(s // 3600, s % 3600 // 60)
end

-- Steps (or items) per second over the last seconds.
function Live:speed(now)
  local marks = self.marks
  while #marks > 2 and now - marks[2].time > RECENT do
    table.remove(marks, 1)
  end
  local from = marks[1]
  local passed = now - from.time
  if passed <= 0 then return nil end
  local items = self.counted and self.done - from.done
  return (self.step - from.step) / passed, items and items / passed
end

-- ---- what is shown ----

-- One line: the step, the last values, the speed, the time left.
function Live:line()
  local now = self.clock()
  local parts = {self.steps and ("%d/%d"):format(self.step, self.steps)
    or numbers.text(self.step)}
  for _, name in ipairs(self.order) do
    parts[#parts + 1] = numbers.format("%s %.4g", name, self.series[name].last)
  end
  local speed, items = self:speed(now)
  if items then
    parts[#parts + 1] = numbers.format("%.3g %s/s", items, self.items)
  elseif speed then
    parts[#parts + 1] = numbers.format("%.3g steps/s", speed)
  end
  if self.steps and speed and speed > 0 and self.step < self.steps then
    parts[#parts + 1] = duration((self.steps - self.step) / speed) .. " left"
  elseif self.step == self.steps or self.finished then
    parts[#parts + 1] = "took " .. duration(now - self.begun)
  end
  return table.concat(parts, "  ")
end

-- live:figure(): the curves so far.
function Live:figure()
  local plot = require "lunarray.plot"
  local fig
  for _, name in ipairs(self.order) do
    local s = self.series[name]
    local x, y = s.x, s.y
    if #x == 0 then x, y = {self.step}, {s.last} end
    local options = {label = name}
    fig = fig and fig:line(x, y, options) or plot.line(x, y, options)
  end
  fig = fig or figure.new()
  fig:merge(self.axes)
  if not fig.options.xlabel then fig.options.xlabel = "step" end
  return fig
end

-- Up over what stood there, line by line, and below it clear.
function Live:redraw()
  local columns = self.window()
  local text = self:figure():text() .. "\n"
    .. self:line():sub(1, math.max(columns - 1, 1))
  local up = self.rows > 0 and ("\27[%dA\r"):format(self.rows) or ""
  local lines = 0
  text = text:gsub("([^\n]*)\n?", function(line)
    if line ~= "" then lines = lines + 1 return line .. "\27[K\n" end
  end)
  self.rows = lines
  self.write(up .. text .. "\27[J")
end

-- live:update(values): a step has been made. values: numbers or tensors of one
-- element by name, and items, how many were worked on.
function Live:update(values)
  if type(values) ~= "table" then
    error(("live: a table of numbers expected, got %s"):format(type(values)), 2)
  end
  local names, read = {}, {}
  for name, value in pairs(values) do
    local text = numbers.text(name)
    read[text] = number(text, value)
    if text ~= "items" then names[#names + 1] = text end
  end
  table.sort(names)
  self.step = self.step + 1
  for _, name in ipairs(names) do
    local value = read[name]
    if not self.series[name] then
      self.series[name] = {x = {}, y = {}, sum = 0, n = 0, stride = 1}
      self.order[#self.order + 1] = name
    end
    add(self.series[name], self.step, value)
  end
  if read.items then
    self.counted, self.done = true, self.done + read.items
  end
  local now = self.clock()
  if now - self.marks[#self.marks].time >= 0.25 then
    table.insert(self.marks, {time = now, step = self.step, done = self.done})
  end
  self:show(now, self.step == self.steps)
end

function Live:show(now, last)
  if self.window() then
    if last or now - self.drawn >= 1 / self.rate then
      self.drawn = now
      self:redraw()
    end
  elseif last or self.step % self.every == 0 then
    self.write(self:line() .. "\n")
  end
  self.shown = last and self.step
end

-- live:finish(): the last state is shown, where it is not yet; the figure.
function Live:finish()
  if not self.finished then
    self.finished = true
    if self.step > 0 and self.shown ~= self.step then
      self:show(self.clock(), true)
    end
  end
  return self:figure()
end

Live.__close = Live.finish

local function default_write(text)
  io.stdout:write(text)
  io.stdout:flush()
end

-- plot.live{steps=, every=, rate=, items=, ...}
function live.new(options)
  local o, axes = arguments.options("live", OPTIONS, options)
  local clock = o.clock or la.plot._clock
  local now = clock()
  return setmetatable({steps = o.steps, rate = o.rate or 4, axes = axes,
    every = o.every or o.steps and math.max(1, o.steps // 20) or 100,
    items = o.items or "items", clock = clock,
    write = o.write or default_write, window = o.window or la.plot.window,
    series = {}, order = {}, step = 0, done = 0, counted = false, rows = 0,
    begun = now, drawn = -math.huge,
    marks = {{time = now, step = 0, done = 0}}}, Live)
end

return live
