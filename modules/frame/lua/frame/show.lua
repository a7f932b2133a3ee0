-- lunarray.frame.show: frames as texts: for the window, for notebooks, and what
-- describes them.
local la = require "lunarray"
local columns = require "lunarray.frame.columns"
local frame = require "lunarray.frame.table"
local numbers = require "lunarray.numbers"
local recipes = require "lunarray.frame.recipes"
local fail = columns.fail
local Frame, methods, record = frame.Frame, frame.methods, frame.record

local ROWS, WIDTH, LONGEST = 20, 80, 32

-- ---- cells ----

local ESCAPES = {["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r",
  ["\a"] = "\\a", ["\b"] = "\\b", ["\f"] = "\\f", ["\v"] = "\\v",
  ["\\"] = "\\\\"}

-- Control characters as Lua writes them; what is no UTF-8 as bytes.
local function harmless(text)
  if not text:find "[%c]" and utf8.len(text) then return text end
  text = text:gsub("%c", function(c)
    return ESCAPES[c] or ("\\%d"):format(c:byte())
  end)
  if utf8.len(text) then return text end
  return (text:gsub("[\x80-\xff]", function(c)
    return ("\\x%02X"):format(c:byte())
  end))
end

local function cut(text, most)
  local n = utf8.len(text)
  if n <= most then return text end
  return text:sub(1, utf8.offset(text, most) - 1) .. "…"
end

local function number_text(v)
  if math.type(v) == "integer" then return ("%d"):format(v) end
  if v == math.huge then return "inf" elseif v == -math.huge then
    return "-inf"
  end
  local text = numbers.format("%.6g", v)
  return text:find "^-?%d+$" and text .. ".0" or text
end

local function cell(v)
  if v == nil then return "nil" end
  if type(v) == "number" then return number_text(v) end
  if type(v) == "boolean" then return tostring(v) end
  return cut(harmless(v), LONGEST)
end

-- ---- a table of texts ----

-- The rows that are shown, as frames, and where the second begins.
local function ends_of(f, most)
  local n = #f
  if n <= most then return {f}, {1} end
  local top = (most + 1) // 2
  local bottom = most - top
  return {frame.slice(f, 1, top), frame.slice(f, n - bottom + 1, n)},
    {1, n - bottom + 1}
end

-- The texts of a column in the parts, "..." between them.
local function texts_of(parts, name)
  local list = {}
  for k, part in ipairs(parts) do
    if k > 1 then list[#list + 1] = "..." end
    local c = record(part).columns[name]
    local values = columns.list(c)
    for i = 1, #part do list[#list + 1] = cell(values[i]) end
  end
  return list
end

local function is_right(c)
  return columns.is_tensor(c) and c.dtype ~= "bool"
end

local function pad(text, width, right)
  local gap = (" "):rep(width - utf8.len(text))
  return right and gap .. text or text .. gap
end

-- A column that is shown: heading, texts, width.
local function shown_column(head, kind, texts, right)
  local width = math.max(utf8.len(head), utf8.len(kind))
  for _, text in ipairs(texts) do width = math.max(width, utf8.len(text)) end
  return {head = head, kind = kind, texts = texts, right = right,
    width = width}
end

local function numbers_column(parts, from, n)
  local texts = {}
  for k, part in ipairs(parts) do
    if k > 1 then texts[#texts + 1] = "..." end
    for i = 1, #part do
      texts[#texts + 1] = ("%d"):format(from[k] + i - 1)
    end
  end
  return shown_column("", "", texts, true), n
end

local function line_of(list, get)
  local cells = {}
  for k, c in ipairs(list) do cells[k] = pad(get(c), c.width, c.right) end
  return (table.concat(cells, "  "):gsub(" +$", ""))
end

local function plural(n, word) return ("%d %s%s"):format(n, word,
  n == 1 and "" or "s") end

-- "[2 rows, 9 columns; not shown: e, f]", cut to the width.
local function footer(f, hidden, width)
  local text = ("[%s, %s"):format(plural(#f, "row"),
    plural(#record(f).names, "column"))
  if #hidden == 0 then return text .. "]" end
  local names = {}
  for k, name in ipairs(hidden) do names[k] = harmless(name) end
  text = text .. "; not shown: " .. table.concat(names, ", ") .. "]"
  return cut(text, width)
end

local OPTIONS = columns.set "width rows"

local function check_size(word, key, v, default)
  if v == nil then return default end
  local i = math.tointeger(v)
  if not i or i < 1 then
    fail("%s: %s: a number from 1 on expected, got %s", word, key, tostring(v))
  end
  return i
end

-- The lines of the table.
local function lines_of(f, width, rows)
  local parts, from = ends_of(f, rows)
  local list = {(numbers_column(parts, from, #f))}
  local used, hidden, names = list[1].width, {}, record(f).names
  for k, name in ipairs(names) do
    local c = record(f).columns[name]
    local s = shown_column(cut(harmless(name), LONGEST), columns.kind(c),
      texts_of(parts, name), is_right(c))
    if k > 1 and used + 2 + s.width > width then
      table.move(names, k, #names, 1, hidden)
      break
    end
    list[#list + 1] = s
    used = used + 2 + s.width
  end
  local lines = {}
  if #names > 0 then
    lines[1] = line_of(list, function(c) return c.head end)
    lines[2] = line_of(list, function(c) return c.kind end)
    for i = 1, #list[1].texts do
      lines[i + 2] = line_of(list, function(c) return c.texts[i] end)
    end
  end
  lines[#lines + 1] = footer(f, hidden, width)
  return lines
end

local function window_width()
  local window = la.plot and la.plot.window and la.plot.window()
  return window or WIDTH
end

function methods:tostring(options)
  local o = columns.options("tostring", options, OPTIONS)
  return table.concat(lines_of(self,
    check_size("tostring", "width", o.width, WIDTH),
    check_size("tostring", "rows", o.rows, ROWS)), "\n")
end

function methods:print(options)
  local o = columns.options("print", options, OPTIONS)
  if not print then error("print: the host gives no print, use tostring", 2) end
  print(table.concat(lines_of(self,
    check_size("print", "width", o.width, window_width()),
    check_size("print", "rows", o.rows, ROWS)), "\n"))
end

function Frame:__tostring()
  return table.concat(lines_of(self, window_width(), ROWS), "\n")
end

-- ---- notebooks ----

local ENTITIES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
  ['"'] = "&quot;"}

local function escaped(text) return (text:gsub('[&<>"]', ENTITIES)) end

local HTML = columns.set "rows"

function methods:html(options)
  local o = columns.options("html", options, HTML)
  local parts, from = ends_of(self, check_size("html", "rows", o.rows, ROWS))
  local names = record(self).names
  local out = {'<table class="lunarray">', "<thead>"}
  local heads, kinds = {"<th></th>"}, {"<th></th>"}
  local list = {(numbers_column(parts, from, #self))}
  for _, name in ipairs(names) do
    local c = record(self).columns[name]
    heads[#heads + 1] = ("<th>%s</th>"):format(escaped(harmless(name)))
    kinds[#kinds + 1] = ("<td><i>%s</i></td>"):format(columns.kind(c))
    list[#list + 1] = {texts = texts_of(parts, name), right = is_right(c)}
  end
  out[#out + 1] = "<tr>" .. table.concat(heads) .. "</tr>"
  out[#out + 1] = "<tr>" .. table.concat(kinds) .. "</tr>"
  out[#out + 1] = "</thead>\n<tbody>"
  for i = 1, #list[1].texts do
    local cells = {}
    for k, c in ipairs(list) do
      cells[k] = (k == 1 and "<th>%s</th>" or c.right
        and '<td style="text-align: right">%s</td>'
        or '<td style="text-align: left">%s</td>'):format(escaped(c.texts[i]))
    end
    out[#out + 1] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  out[#out + 1] = "</tbody>\n</table>"
  out[#out + 1] = ("<p>%s</p>"):format(escaped(footer(self, {}, WIDTH)))
  return table.concat(out, "\n")
end

function Frame:__html() return self:html() end

-- ---- what it is ----

local STATS = {"count", "mean", "std", "min", "25%", "50%", "75%", "max"}

-- A frame of what describes the columns of numbers.
function methods:describe()
  local F = recipes.words
  local list = {{"stat", columns.new_text(STATS)}}
  for name, c in pairs(self) do
    if columns.is_tensor(c) and c.dtype ~= "bool" then
      local x = c:to "float64"
      local values = {F.count(x), F.mean(x), F.std(x), F.min(x),
        F.quantile(x, 0.25), F.median(x), F.quantile(x, 0.75), F.max(x)}
      for k = 1, #STATS do
        values[k] = values[k] and values[k] + 0.0 or 0 / 0
      end
      list[#list + 1] = {name, la.tensor(values, {dtype = "float64"})}
    end
  end
  return frame.build(list, "describe")
end
Frame.__describe = methods.describe

local function bytes_of(c)
  local raw = columns.raw(c)
  local n = raw:numel() * raw:element_size()
  if columns.is_text(c) then
    for _, v in ipairs(c.categories) do n = n + #v end
  end
  return n
end

local function bytes_text(n)
  if n < 1024 then return ("%d bytes"):format(n) end
  local units, k = {"KB", "MB", "GB", "TB"}, 0
  while n >= 1024 and k < #units do n, k = n / 1024, k + 1 end
  return numbers.format("%.1f %s", n, units[k])
end

-- Kinds, gaps and bytes of each column.
function methods:info()
  local rows, all = {{"column", "kind", "gaps", "bytes", ""}}, 0
  local notes = record(self).notes or {}
  for name, c in pairs(self) do
    local gaps = columns.isna(c):sum():item()
    local n = bytes_of(c)
    all = all + n
    local note = notes[name] and notes[name].column == c
      and notes[name].text or ""
    if columns.is_text(c) then
      note = ("%s%s%s"):format(plural(#c.categories, "category")
        :gsub("category?s$", "categories"), note ~= "" and "; " or "", note)
    end
    rows[#rows + 1] = {cut(harmless(name), LONGEST), columns.kind(c),
      ("%d"):format(math.tointeger(gaps) or gaps), bytes_text(n), note}
  end
  local widths = {0, 0, 0, 0, 0}
  for _, row in ipairs(rows) do
    for k = 1, 5 do widths[k] = math.max(widths[k], utf8.len(row[k])) end
  end
  local lines = {("frame of %s, %s: %s"):format(plural(#self, "row"),
    plural(#record(self).names, "column"), bytes_text(all))}
  for _, row in ipairs(rows) do
    local cells = {}
    for k = 1, 5 do cells[k] = pad(row[k], widths[k], k == 3 or k == 4) end
    lines[#lines + 1] = (table.concat(cells, "  "):gsub(" +$", ""))
  end
  return table.concat(lines, "\n")
end

-- ---- figures ----

local PLOT = columns.set "by kind"
local DRAWN = columns.set "line scatter bar hist"

-- Coordinates of a mark; dates as seconds since 1970.
local function drawn(f, name)
  local c = frame.column(f, name, "plot")
  if columns.is_date(c) then
    return c:since("1970-01-01", "second"), true
  elseif columns.is_text(c) then
    return nil, false, c
  end
  return c:detach():to "float64"
end

local function draw_bars(fig, f, x, y, label)
  local values, _, text = drawn(f, x)
  local heights = drawn(f, y)
  local names = text and text:totable() or values:totable()
  for k = 1, #f do names[k] = cell(names[k]) end
  return fig(names, heights, {label = label})
end

local function draw(kind, fig, f, x, y, label)
  if kind == "hist" then
    local values = drawn(f, x)
    if not values then fail("plot: column '%s' is text", x) end
    return fig(values:masked_select(values:isnan():logical_not()),
      {label = label})
  elseif kind == "bar" then
    return draw_bars(fig, f, x, y, label)
  end
  local a, time, text = drawn(f, x)
  local b = drawn(f, y)
  if text or not b then
    fail("plot: column '%s' is text, a number is needed (kind = \"bar\")",
      text and x or y)
  end
  return fig(a, b, {label = label}), time
end

-- f:plot(x, y[, {by=, kind=}]): a figure.
function methods:plot(x, y, options)
  local o = columns.options("plot", options, PLOT)
  local kind = o.kind or "line"
  if not DRAWN[kind] then
    fail("plot: kind: line, scatter, bar or hist expected, got %s",
      tostring(kind))
  end
  local fig, time
  local function add(f, label)
    local function mark(...)
      if not fig then fig = la.plot[kind](...) else fig[kind](fig, ...) end
      return fig
    end
    local _, t = draw(kind, mark, f, x, y, label)
    time = time or t
  end
  if o.by then
    for part, key in self:group(o.by):iter() do add(part, cell(key)) end
  else
    add(self, nil)
  end
  return fig or la.plot[kind]({}, {})
end

return methods
