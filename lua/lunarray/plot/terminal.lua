-- lunarray.plot.terminal: a figure as text.
--
-- The canvas is a matrix of characters, each with a colour of its own and one
-- behind it. Marks draw dots: 2 x 4 to a character in Braille, one in ASCII.
-- Cells of pictures are two to a character (half blocks) where there are
-- colours, and more or less ink where there are none.
local la = require "lunarray"
local colour = require "lunarray.plot.colour"
local layout = require "lunarray.plot.layout"

local terminal = {}

local Text = {}
Text.__index = Text

local floor, max, min = math.floor, math.max, math.min

local bits = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
local ink = " .:-=+*#%@"
local marks_of_series = {"*", "+", "o", "x", "#", "@"}

-- style: ascii, colours (0, 256 or 2^24).
local function new_text(columns, rows, style)
  return setmetatable({columns = columns, rows = rows, style = style,
    chars = {}, braille = {}, front = {}, back = {}, scale = 1, slack = 0,
    wide = style.ascii and 1 or 2, high = style.ascii and 1 or 4}, Text)
end

-- ---- characters ----

-- What a character takes: 0 for accents, 2 for most of East Asia's and emoji.
local function columns_of(code)
  if code < 32 or code >= 127 and code < 160 then return -1 end
  if code >= 0x300 and code < 0x370 or code >= 0x200B and code <= 0x200F
    or code >= 0xFE00 and code <= 0xFE0F then
    return 0
  end
  if code >= 0x1100 and code <= 0x115F or code >= 0x2E80 and code <= 0xA4CF
    or code >= 0xAC00 and code <= 0xD7A3 or code >= 0xF900 and code <= 0xFAFF
    or code >= 0xFE30 and code <= 0xFE6F or code >= 0xFF00 and code <= 0xFF60
    or code >= 0x1F300 and code <= 0x1FAFF then
    return 2
  end
  return 1
end

-- A text as cells: each a character with the accents on it; "" is the second
-- half of a wide one. Control characters are spaces, bytes that are no UTF-8
-- are "?".
local function cells_of(text)
  local out = {}
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  for _, code in utf8.codes(text) do
    local n, char = columns_of(code), utf8.char(code)
    if n < 0 then n, char = 1, " " end
    if n == 0 then
      if #out > 0 then out[#out] = out[#out] .. char end
    else
      out[#out + 1] = char
      if n == 2 then out[#out + 1] = "" end
    end
  end
  return out
end

function terminal.width(text) return #cells_of(text) end

-- A text at a column and row from 0; what is outside is cut off.
function Text:put(column, row, text, front)
  if row < 0 or row >= self.rows then return end
  for k, char in ipairs(cells_of(text)) do
    local at = column + k - 1
    if at >= 0 and at < self.columns then
      local index = row * self.columns + at
      self.chars[index], self.front[index] = char, front
      self.braille[index], self.back[index] = nil, nil
    end
  end
end

-- ---- dots ----

-- The dot x, y from the upper left.
local function set_dot(self, x, y, style)
  local column, row = x // self.wide, y // self.high
  if column < 0 or row < 0 or column >= self.columns or row >= self.rows then
    return
  end
  local at = row * self.columns + column
  self.front[at] = style.color
  if self.style.ascii then
    self.chars[at] = style.sign or marks_of_series[
      ((style.mark or 1) - 1) % #marks_of_series + 1]
  else
    self.braille[at] = (self.braille[at] or 0)
      | bits[y % 4 + 1][x % 2 + 1]
    self.chars[at] = nil
  end
end

-- Coordinates of planes are dots; a dot is drawn where its middle is nearest.
local function near(v) return floor(v + 0.5) end

local function line(self, x, y, x1, y1, style, state)
  local steps = max(math.abs(x1 - x), math.abs(y1 - y))
  local dash = style.dash and not self.style.ascii and style.dash
  for k = 0, steps do
    local t = steps == 0 and 0 or k / steps
    state.count = state.count + 1
    if not dash or state.count % 6 < (dash[1] < 2 and 2 or 4)
      and not (dash[1] < 2 and state.count % 3 ~= 0) then
      set_dot(self, near(x + t * (x1 - x)), near(y + t * (y1 - y)), style)
    end
  end
end

function Text:path(xs, ys, style)
  local state = {count = 0}
  if #xs == 1 then set_dot(self, near(xs[1]), near(ys[1]), style) end
  for k = 2, #xs do
    line(self, near(xs[k - 1]), near(ys[k - 1]), near(xs[k]), near(ys[k]),
      style, state)
  end
end

function Text:dots(xs, ys, style)
  for k = 1, #xs do
    set_dot(self, near(xs[k]), near(ys[k]), style)
  end
end

function Text:polygon(xs, ys, style)
  local low, high = math.huge, -math.huge
  for _, y in ipairs(ys) do low, high = min(low, y), max(high, y) end
  local sparse = style.alpha and style.alpha < 1
  for row = near(low), near(high) do
    local cuts, y = {}, row + 1e-7
    for k = 1, #xs do
      local n = k % #xs + 1
      if (ys[k] <= y) ~= (ys[n] <= y) then
        cuts[#cuts + 1] = xs[k] + (y - ys[k]) / (ys[n] - ys[k])
          * (xs[n] - xs[k])
      end
    end
    table.sort(cuts)
    for k = 1, #cuts - 1, 2 do
      for x = near(cuts[k]), near(cuts[k + 1]) do
        if not sparse or (x + row) % 2 == 0 and row % 2 == 0 then
          set_dot(self, x, row, style)
        end
      end
    end
  end
end

-- ---- bars ----

local EIGHTHS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

-- A bar upwards of whole columns, its top in eighths; downwards and ASCII ones
-- in whole characters.
function Text:rect(x, y, w, h, style)
  if w < 0 then x, w = x + w, -w end
  local down = h > 0        -- from the line of 0, which is at y + h
  local first = floor(x / self.wide + 0.5)
  local last = max(floor((x + w) / self.wide + 0.5) - 1, first)
  local base, top = (y + h) / self.high, y / self.high
  local sign = marks_of_series[((style.mark or 1) - 1) % #marks_of_series + 1]
  if style.mark == nil or style.mark == 1 then sign = "#" end
  local low, high = min(base, top), max(base, top)
  for column = max(first, 0), min(last, self.columns - 1) do
    for row = max(floor(low), 0), min(math.ceil(high) - 1, self.rows - 1) do
      local part = min(high, row + 1) - max(low, row)
      local eighth = floor(part * 8 + 0.5)
      local char = EIGHTHS[eighth]
      if self.style.ascii then char = part >= 0.5 and sign or nil
      elseif not down and eighth < 8 and row > floor(low) then
        char = part >= 0.5 and "█" or nil
      end
      if char then
        local at = row * self.columns + column
        self.chars[at], self.braille[at] = char, nil
        self.front[at] = style.color
      end
    end
  end
end

-- ---- pictures ----

local function index_of(n, m)
  return ((la.arange(n, {dtype = "float64"}) + 0.5) * (m / n)):floor()
    :clamp(0, m - 1):long() + 1
end

-- Averages where a matrix has more rows and columns than are shown, else the
-- nearest.
local function resized(t, h, w)
  if t:size(2) > h or t:size(3) > w then
    if not t:isnan():any() then
      t = la.adaptive_avg_pool2d(t:unsqueeze(1), {min(h, t:size(2)),
        min(w, t:size(3))}):squeeze(1)
    end
  end
  return t:index_select(2, index_of(h, t:size(2)))
    :index_select(3, index_of(w, t:size(3)))
end

local function packed(rgb, j, i)
  local r, g, b = rgb[1][j][i], rgb[2][j][i], rgb[3][j][i]
  if r ~= r then return nil end
  return math.tointeger(r) << 16 | math.tointeger(g) << 8 | math.tointeger(b)
end

-- As Raster:cells; a picture with alpha stands on black.
function Text:cells(x, y, w, h, values, mark)
  if values:numel() == 0 then return end
  local column, row = floor(x / self.wide + 0.5), floor(y / self.high + 0.5)
  local wide = max(floor((x + w) / self.wide + 0.5) - column, 1)
  local high = max(floor((y + h) / self.high + 0.5) - row, 1)
  if self.style.colours == 0 then
    return self:shade(column, row, wide, high, values, mark)
  end
  local rgb = colour.cells(resized(values.ndim == 2 and values:unsqueeze(1)
    or values, 2 * high, wide):squeeze(values.ndim == 2 and {1} or {}), mark)
  if rgb:size(1) == 4 then rgb = rgb[{{1, 3}}] * rgb[{{4, 4}}] end
  rgb = (rgb:clamp(0, 1) * 255):round():totable()
  for j = 1, high do
    for i = 1, wide do
      local upper, lower = packed(rgb, 2 * j - 1, i), packed(rgb, 2 * j, i)
      local at = (row + j - 1) * self.columns + column + i - 1
      if i + column <= self.columns and (upper or lower) then
        self.braille[at] = nil
        self.chars[at] = upper and "▀" or "▄"
        self.front[at] = upper or lower
        self.back[at] = upper and lower or nil
      end
    end
  end
end

-- Without colours: brighter is more ink.
function Text:shade(column, row, w, h, values, mark)
  local part
  if values.ndim == 3 then
    local c = values:size(1)
    part = c == 1 and values[1] or values[1] * 0.299 + values[2] * 0.587
      + values[3] * 0.114
    if c == 4 then part = part * values[4] end
  else
    part = (values - mark.low) / (mark.high - mark.low)
  end
  part = resized(part:unsqueeze(1), h, w):squeeze(1):nan_to_num(0):clamp(0, 1)
  for j, line_ in ipairs((part * 9):round():totable()) do
    for i, v in ipairs(line_) do
      local at = math.tointeger(v) + 1
      self:put(column + i - 1, row + j - 1, ink:sub(at, at))
    end
  end
end

function Text:grid(w, h)
  return max(2, floor(w / self.wide)), max(2, floor(h / self.high) * 2)
end

function Text:clip() end

-- A text on the canvas: its characters, from the one at x, y on.
function Text:text(x, y, text, style)
  local column = floor(x / self.wide)
  local wide = terminal.width(text)
  if style.anchor == "middle" then column = column - wide // 2
  elseif style.anchor == "end" then column = column - wide end
  self:put(column, floor(y / self.high), text, style.color)
end
Text.unclip = Text.clip

-- ---- text ----

local function escape(style, front, back)
  local parts = {}
  for k, c in ipairs{front or false, back or false} do
    if c then
      local r, g, b = colour.split(c)
      parts[#parts + 1] = style.colours > 256
        and ("%d;2;%d;%d;%d"):format(28 + 10 * k, r, g, b)
        or ("%d;5;%d"):format(28 + 10 * k, colour.to_256(c))
    end
  end
  return "\27[" .. table.concat(parts, ";") .. "m"
end

-- The lines, without blanks at their ends.
function Text:lines()
  local out = {}
  for row = 0, self.rows - 1 do
    local line_, last, blank = {}, "", 0
    for column = 0, self.columns - 1 do
      local at = row * self.columns + column
      local char = self.chars[at]
        or self.braille[at] and utf8.char(0x2800 + self.braille[at])
      if not char or char == " " and not self.back[at] then
        blank = blank + 1
      else
        if last ~= "" and blank > 0 then
          line_[#line_ + 1], last = "\27[0m", ""
        end
        line_[#line_ + 1], blank = (" "):rep(blank), 0
        local code = ""
        if self.style.colours > 0 and (self.front[at] or self.back[at]) then
          code = escape(self.style, self.front[at], self.back[at])
        end
        if code ~= last then
          line_[#line_ + 1] = (last ~= "" and "\27[0m" or "") .. code
        end
        line_[#line_ + 1], last = char, code
      end
    end
    if last ~= "" then line_[#line_ + 1] = "\27[0m" end
    out[row + 1] = table.concat(line_)
  end
  return out
end

-- ---- a figure ----

-- A plane on dots: part 0 of an axis is the first dot, 1 the last.
local function new_plane(text, view, column, row, w, h)
  local x, y = column * text.wide, row * text.high
  local right, bottom = (column + w) * text.wide - 1, (row + h) * text.high - 1
  -- Areas end at the edges of characters, dots in their middles.
  local plane = layout.plane(text, view.xaxis, view.yaxis, x, y,
    max(right - x, 1e-3), max(bottom - y, 1e-3))
  if view.areas then
    plane = layout.plane(text, view.xaxis, view.yaxis, x, y, right + 1 - x,
      bottom + 1 - y)
  end
  return plane
end

local function y_labels(view, rows)
  return view.yaxis:labels(max(2, floor(rows / 2.5)))
end

local function x_labels(view, columns)
  for n = max(2, columns // 8), 2, -1 do
    local labels, total = view.xaxis:labels(n), 0
    for _, label in ipairs(labels) do total = total + #label[2] + 2 end
    if total <= columns + 2 then return labels end
  end
  return view.xaxis:labels(2)
end

local signs = {
  [true] = {side = "|", tick = "|", corner = "+", floor = "-", below = "-"},
  [false] = {side = "│", tick = "┤", corner = "└", floor = "─", below = "┬"},
}

local function draw_axes(text, plane, labels, column, row, w, h)
  local sign = signs[text.style.ascii]
  for k = 0, h - 1 do text:put(column - 1, row + k, sign.side) end
  local taken = {}
  for _, label in ipairs(labels.y) do
    local at = min(floor(plane:y(label[1]) / text.high), row + h - 1)
    if at >= row and not taken[at] then
      taken[at] = true
      text:put(column - 1, at, sign.tick)
      text:put(column - 1 - terminal.width(label[2]), at, label[2])
    end
  end
  text:put(column - 1, row + h, sign.corner .. sign.floor:rep(w))
  local free = 0
  for _, label in ipairs(labels.x) do
    local at = min(floor(plane:x(label[1]) / text.wide), column + w - 1)
    local n = terminal.width(label[2])
    local from = max(min(at - n // 2, text.columns - n), free)
    if at >= column and from + n <= text.columns then
      text:put(at, row + h, sign.below)
      text:put(from, row + h + 1, label[2])
      free = from + n + 1
    end
  end
end

local function middle(text, row, column, w, words)
  text:put(max(column + (w - terminal.width(words)) // 2, 0), row, words)
end

local function draw_legend(text, view, row, column)
  for _, mark in ipairs(view.marks) do
    if mark.label and mark.swatch then
      local sign = text.style.ascii and marks_of_series[
        ((mark.mark or 1) - 1) % #marks_of_series + 1]
        or mark.swatch == "box" and "█" or mark.swatch == "dot" and "•" or "━━"
      text:put(column, row, sign, mark.color)
      column = column + terminal.width(sign) + 1
      text:put(column, row, mark.label)
      column = column + terminal.width(mark.label) + 2
    end
  end
end

local function has_legend(view)
  if view.options.legend == false then return false end
  for _, mark in ipairs(view.marks) do
    if mark.label and mark.swatch then return true end
  end
  return false
end

-- A figure in so many columns and rows of marks as a matrix of characters; what
-- is around them comes on top, but to the left where columns are the 'whole'.
function terminal.draw(view, columns, rows, style, whole)
  local o = view.options
  local legend = has_legend(view)
  local head = (o.title and 1 or 0) + (o.ylabel and 1 or 0)
    + (legend and 1 or 0)
  if view.bare then
    local text = new_text(columns, head + rows, style)
    if o.title then middle(text, 0, 0, columns, o.title) end
    local plane = new_plane(text, view, 0, head, columns, rows)
    for _, mark in ipairs(view.marks) do mark:draw(plane) end
    return text
  end
  local labels = {y = y_labels(view, rows)}
  local left = 1
  for _, label in ipairs(labels.y) do
    left = max(left, terminal.width(label[2]) + 1)
  end
  if not whole then columns = columns + left
  else left = min(left, max(columns - 10, 1)) end
  local w = max(columns - left, 1)
  labels.x = x_labels(view, w)
  local text = new_text(columns, head + rows + 2 + (o.xlabel and 1 or 0), style)
  local plane = new_plane(text, view, left, head, w, rows)
  for _, mark in ipairs(view.marks) do mark:draw(plane) end
  if view.second then
    local other = new_plane(text, view.second, left, head, w, rows)
    for _, mark in ipairs(view.second.marks) do mark:draw(other) end
  end
  draw_axes(text, plane, labels, left, head, w, rows)
  local row = 0
  if o.title then
    middle(text, row, left, w, o.title)
    row = row + 1
  end
  if legend then
    draw_legend(text, view, row, left)
    row = row + 1
  end
  if o.ylabel then text:put(0, row, o.ylabel) end
  if o.xlabel then middle(text, head + rows + 2, left, w, o.xlabel) end
  return text
end

-- Several texts in rows: a list of lists of what terminal.draw gives.
function terminal.join(rows, gap, style)
  local high, wide = 0, 0
  for _, row in ipairs(rows) do
    local most, total = 0, 0
    for _, text in ipairs(row) do
      most, total = max(most, text.rows), total + text.columns + gap
    end
    high, wide = high + most, max(wide, total - gap)
  end
  local whole, top = new_text(max(wide, 1), high, style), 0
  for _, row in ipairs(rows) do
    local left, most = 0, 0
    for _, text in ipairs(row) do
      for at = 0, text.columns * text.rows - 1 do
        local to = (top + at // text.columns) * whole.columns + left
          + at % text.columns
        for _, key in ipairs{"chars", "braille", "front", "back"} do
          whole[key][to] = text[key][at]
        end
      end
      left, most = left + text.columns + gap, max(most, text.rows)
    end
    top = top + most
  end
  return whole
end

return terminal
