-- lunarray.profile: what la.profile gives, as tables, as text, and as a file of
-- trace events for a browser's viewer.
--
-- The record comes from modules/profile/lua/profile.c, which has measured.
local profile = {}

local Profile = {}
Profile.__index = Profile
Profile.__name = "lunarray.Profile"

local format = string.format

-- ---- sums ----

-- "add" in a backward pass is "AddBackward", as x.grad_fn says it.
local function title(row)
  if row.kind ~= "gradient" then return row.name end
  local name = row.name:gsub("^_", "")
  if not name:find("^%l") then return name end
  return name:gsub("^%l", string.upper) .. "Backward"
end

local FIELDS = {"count", "self", "total", "bytes_self", "bytes"}

-- Rows with the same 'key' as one, the most self time first.
local function grouped(rows, key)
  local list, by = {}, {}
  for _, row in ipairs(rows) do
    local group = by[row[key]]
    if not group then
      group = {[key] = row[key]}
      for _, field in ipairs(FIELDS) do group[field] = 0 end
      by[row[key]] = group
      list[#list + 1] = group
    end
    for _, field in ipairs(FIELDS) do
      group[field] = group[field] + row[field]
    end
  end
  return list
end

local function sorted(list)
  table.sort(list, function(a, b)
    if a.self ~= b.self then return a.self > b.self end
    return (a.op or "") .. (a.line or "") < (b.op or "") .. (b.line or "")
  end)
  return list
end

function profile.new(record)
  local rows = {}
  for i, row in ipairs(record:rows()) do
    row.op, row.name = title(row), nil
    rows[i] = row
  end
  local self = setmetatable({record = record, indexed = rows, inside = 0},
    Profile)
  self.time, self.events, self.dropped, self.lost = record:sums()
  for _, row in ipairs(rows) do self.inside = self.inside + row.self end
  self.rows = sorted(table.move(rows, 1, #rows, 1, {}))
  return self
end

-- One entry for each operation, whatever line called it.
function Profile:by_op() return sorted(grouped(self.rows, "op")) end

-- One entry for each line, whatever it called. The time of a line is the sum of
-- its self times; totals would count what is inside of a call twice.
function Profile:by_line()
  local list = grouped(self.rows, "line")
  for _, row in ipairs(list) do
    row.total, row.bytes = row.self, row.bytes_self
  end
  return sorted(list)
end

-- ---- text ----

local function seconds(s)
  if s >= 1 then return format("%.3f s", s) end
  if s >= 1e-3 then return format("%.2f ms", s * 1e3) end
  return format("%.1f us", s * 1e6)
end

local function bytes_text(n)
  local units, k = {"B", "KB", "MB", "GB", "TB"}, 1
  local size = math.abs(n)
  while size >= 999.5 and k < #units do size, k = size / 1000, k + 1 end
  return format(k == 1 and "%s%d %s" or "%s%.3g %s", n < 0 and "-" or "", size,
    units[k])
end

-- Lines of cells: the first column to the left, the others to the right.
local function aligned(lines)
  local widths, out = {}, {}
  for _, cells in ipairs(lines) do
    for k, cell in ipairs(cells) do
      widths[k] = math.max(widths[k] or 0, utf8.len(cell) or #cell)
    end
  end
  for i, cells in ipairs(lines) do
    local parts = {}
    for k, cell in ipairs(cells) do
      local gap = (" "):rep(widths[k] - (utf8.len(cell) or #cell))
      parts[k] = k == 1 and cell .. gap or gap .. cell
    end
    out[i] = table.concat(parts, "  ")
  end
  return out
end

-- Long paths lose their beginning.
local function short(text)
  if (utf8.len(text) or #text) <= 36 then return text end
  return "..." .. text:sub(-33)
end

local function section(out, list, key, most, time, show)
  local heading = key == "op" and "operation" or key
  local lines = {{heading, "calls", "self", "%", "total", "memory"}}
  for i = 1, math.min(most, #list) do
    local row = list[i]
    lines[#lines + 1] = {show(row[key]), tostring(row.count),
      seconds(row.self), format("%.1f", 100 * row.self / time),
      seconds(row.total), bytes_text(row.bytes_self)}
  end
  for _, line in ipairs(aligned(lines)) do out[#out + 1] = line end
  if #list > most then out[#out + 1] = format("... %d more", #list - most) end
end

-- Two tables of at most 'most' rows (12): by operation, by line. 'show' gives
-- the text of a line "file:12" (the same, or its end).
function Profile:table(most, show)
  most = most or 12
  if math.type(most) ~= "integer" or most < 1 then
    error("table: a number of rows expected", 2)
  end
  local time, out = math.max(self.time, 1e-9), {}
  section(out, self:by_op(), "op", most, time, short)
  out[#out + 1] = ""
  section(out, self:by_line(), "line", most, time, show or short)
  out[#out + 1] = ""
  out[#out + 1] = format("%s in all, %s (%.0f %%) in operations",
    seconds(self.time), seconds(self.inside), 100 * self.inside / time)
  if self.lost > 0 then
    out[#out + 1] = format("%d calls lost: not enough memory", self.lost)
  end
  return table.concat(out, "\n")
end

function Profile:__tostring() return self:table() end

-- ---- the file ----

local ESCAPES = {['"'] = '\\"', ["\\"] = "\\\\"}

-- Bytes that are no UTF-8 (file names) become "?": JSON has none.
local function json_text(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  return '"' .. text:gsub('[%c"\\\x7f]', function(c)
    return ESCAPES[c] or format("\\u%04x", c:byte())
  end) .. '"'
end

local function write_events(self, write)
  local heads = {}
  for i, row in ipairs(self.indexed) do
    heads[i] = format('{"name":%s,"cat":"%s","args":{"line":%s,"bytes":',
      json_text(row.op), row.kind, json_text(row.line))
  end
  write('{"traceEvents":[\n{"name":"process_name","ph":"M","pid":1,"tid":1,',
    '"args":{"name":"lunarray"}},\n')
  write(format('{"name":"profile","cat":"profile","ph":"X","pid":1,"tid":1,'
    .. '"ts":0,"dur":%.3f}', self.time * 1e6))
  for i = 1, self.events do
    local row, depth, begun, took, bytes, used = self.record:event(i)
    write(",\n", heads[row], format('%d},"ph":"X","pid":1,"tid":1,"ts":%.3f,'
      .. '"dur":%.3f}', bytes, begun, took))
    if depth == 0 then
      write(format(',\n{"name":"tensors","ph":"C","pid":1,"ts":%.3f,'
        .. '"args":{"bytes":%d}}', begun + took, used))
    end
  end
  write('\n],"displayTimeUnit":"ns"}\n')
end

-- Trace events as JSON, for chrome://tracing or ui.perfetto.dev. Raises where
-- the file can't be written whole; it is gone then.
function Profile:save(path)
  if type(path) ~= "string" then
    error(format("bad argument #1 to 'save' (file name expected, got %s)",
      type(path)), 2)
  end
  local file, message = io.open(path, "w")
  if not file then error("save: " .. message, 2) end
  local failed
  write_events(self, function(...)
    local ok, why = file:write(...)
    failed = failed or not ok and why
  end)
  local ok, why = file:close()
  failed = failed or not ok and why
  if failed then
    os.remove(path)
    error(format("save: %s: %s", path, failed), 2)
  end
  return path
end

return profile
