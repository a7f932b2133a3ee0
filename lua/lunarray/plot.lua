-- lunarray.plot: curves, histograms and images as text, for terminals and logs.
-- Every function returns a string without a newline at its end.

local plot = {}

-- ---- arguments ----

local function is_tensor(value) return type(value) == "userdata" end

local function check_options(name, known, options)
  local all = {}
  for key, value in pairs(options or {}) do
    if known[key] == nil then
      local names = {}
      for k in pairs(known) do names[#names + 1] = k end
      table.sort(names)
      error(string.format("%s: unknown option '%s' (known: %s)", name,
        tostring(key), table.concat(names, ", ")), 3)
    end
    all[key] = value
  end
  return all
end

-- A list of numbers from a list or from a tensor of one dim.
local function numbers(name, values)
  if is_tensor(values) then
    if values.ndim ~= 1 then
      error(string.format("%s: a tensor of 1 dim expected, got %d", name,
        values.ndim), 3)
    end
    return values:detach():double():totable()
  end
  if type(values) ~= "table" then
    error(string.format("%s: numbers expected, got %s", name, type(values)), 3)
  end
  return values
end

local function is_finite(v)
  return v == v and v > -math.huge and v < math.huge
end

-- Characters above ASCII are for terminals that say they can show them.
local function speaks_utf8()
  if not os.getenv then return false end    -- in a sandbox
  local tongue = os.getenv "LC_ALL" or os.getenv "LC_CTYPE" or os.getenv "LANG"
  return tongue ~= nil and tongue:lower():find("utf%-?8") ~= nil
end

local function use_ascii(options)
  if options.ascii ~= nil then return options.ascii end
  return not speaks_utf8()
end

-- ---- a canvas of dots: 2 x 4 to a character in Braille, or one mark ----

local bits = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

local function new_canvas(columns, rows, ascii)
  return {columns = columns, rows = rows, ascii = ascii, cells = {},
    wide = ascii and columns or 2 * columns,
    high = ascii and rows or 4 * rows}
end

-- The dot x, y counts from 0 at the lower left.
local function set_dot(canvas, x, y, mark)
  y = canvas.high - 1 - y
  if canvas.ascii then
    canvas.cells[y * canvas.columns + x] = mark
  else
    local at = (y // 4) * canvas.columns + x // 2
    canvas.cells[at] = (canvas.cells[at] or 0) | bits[y % 4 + 1][x % 2 + 1]
  end
end

local function row_text(canvas, row)
  local out = {}
  for k = 0, canvas.columns - 1 do
    local cell = canvas.cells[row * canvas.columns + k]
    if canvas.ascii then out[k + 1] = cell or " "
    else out[k + 1] = cell and utf8.char(0x2800 + cell) or " " end
  end
  return table.concat(out)
end

-- ---- curves ----

local marks = {"*", "+", "o", "x", "#", "@"}

local function limits_of(series)
  local low, high, longest = math.huge, -math.huge, 0
  for _, values in ipairs(series) do
    longest = math.max(longest, #values)
    for _, v in ipairs(values) do
      if is_finite(v) then low, high = math.min(low, v), math.max(high, v) end
    end
  end
  if low > high then low, high = 0, 1 end
  if low == high then low, high = low - 0.5, high + 0.5 end
  return low, high, longest
end

-- A column gets the line between its two values, so that steps stay joined.
local function draw_series(canvas, values, low, high, longest, mark)
  local before
  local top, right = canvas.high - 1, canvas.wide - 1
  for x = 0, right do
    local at = longest > 1 and 1 + x * (longest - 1) / right or 1
    local k = math.floor(at)
    local a, b = values[k], values[k + 1]
    local v = a
    if at > k and b then v = a + (b - a) * (at - k) end
    if v and is_finite(v) then
      local y = math.floor((v - low) / (high - low) * top + 0.5)
      local from = before or y
      if canvas.ascii then from = y end
      for dot = math.min(from, y), math.max(from, y) do
        set_dot(canvas, x, dot, mark)
      end
      before = y
    else
      before = nil
    end
  end
end

local function label(v) return string.format("%9.4g", v) end

-- plot.line(values) draws a curve, plot.line{a, b} several over one scale.
-- Values are lists or tensors of one dim; what is not finite leaves a gap.
-- options: width (60), height (10), title, ascii (by the locale).
function plot.line(values, options)
  local o = check_options("line", {width = 1, height = 1, title = 1,
    ascii = 1}, options)
  local list = {values}
  if type(values) == "table" and type(values[1]) ~= "number" then
    list = values
  end
  local series = {}
  for k, one in ipairs(list) do series[k] = numbers("line", one) end
  local low, high, longest = limits_of(series)
  local canvas = new_canvas(o.width or 60, o.height or 10, use_ascii(o))
  for k, one in ipairs(series) do
    draw_series(canvas, one, low, high, longest, marks[(k - 1) % #marks + 1])
  end
  local lines = {}
  if o.title then lines[1] = (" "):rep(11) .. o.title end
  for row = 0, canvas.rows - 1 do
    local side = (" "):rep(9)
    if row == 0 then side = label(high)
    elseif row == canvas.rows - 1 then side = label(low) end
    lines[#lines + 1] = (side .. " |" .. row_text(canvas, row)):gsub(" +$", "")
  end
  local last = tostring(longest)
  lines[#lines + 1] = (" "):rep(10) .. "+" .. ("-"):rep(canvas.columns)
  lines[#lines + 1] = (" "):rep(11) .. "1"
    .. (" "):rep(math.max(canvas.columns - 1 - #last, 1)) .. last
  return table.concat(lines, "\n")
end

-- ---- histograms ----

-- plot.hist(values): how many values fall into each of 'bins' equal ranges.
-- options: bins (10), width (40).
function plot.hist(values, options)
  local o = check_options("hist", {bins = 1, width = 1}, options)
  local list, bins, width = numbers("hist", values), o.bins or 10, o.width or 40
  local low, high = limits_of{list}
  local counts, most = {}, 1
  for k = 1, bins do counts[k] = 0 end
  for _, v in ipairs(list) do
    if is_finite(v) then
      local k = math.min(math.floor((v - low) / (high - low) * bins) + 1, bins)
      counts[k] = counts[k] + 1
      most = math.max(most, counts[k])
    end
  end
  local lines = {}
  for k, n in ipairs(counts) do
    lines[k] = (label(low + (k - 1) * (high - low) / bins) .. " |"
      .. ("#"):rep(math.floor(n * width / most + 0.5)) .. " " .. n)
  end
  return table.concat(lines, "\n")
end

-- ---- images ----

local ink = " .:-=+*#%@"

-- plot.image(t): a matrix with two characters a pixel; more ink is a larger
-- value. options: low, high (the limits of the values), indent (a string).
function plot.image(t, options)
  local o = check_options("image", {low = 1, high = 1, indent = 1}, options)
  if not is_tensor(t) or t.ndim ~= 2 then
    error("image: a tensor of 2 dims expected", 2)
  end
  t = t:detach():double()
  local low, high = o.low, o.high
  if t:numel() > 0 then
    low, high = low or t:min():item(), high or t:max():item()
  end
  local lines = {}
  for k, row in t:iter() do
    local line = {}
    for i, v in ipairs(row:totable()) do
      local part = high > low and (v - low) / (high - low) or 0
      part = part == part and math.max(0, math.min(part, 1)) or 0
      local at = math.floor(part * 9 + 0.5) + 1
      line[i] = ink:sub(at, at):rep(2)
    end
    lines[k] = (o.indent or "") .. table.concat(line)
  end
  return table.concat(lines, "\n")
end

return plot
