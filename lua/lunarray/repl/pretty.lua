-- lunarray.repl.pretty: values as the prompt shows them.
--
-- Tables are written as Lua would read them, nested and sorted, broken into
-- lines where the window ends; tensors inside them as dtype and sizes. What
-- prints itself (__tostring) does.
local is_tensor = require "lunarray.tensors".is_tensor

-- Kept, as whoever types may wipe the globals.
local ipairs, next, pcall, rawget = ipairs, next, pcall, rawget
local rawlen, tostring, type, debug = rawlen, tostring, type, debug
local math, table, utf8 = math, table, utf8

local pretty = {}

local MOST_ROWS = 100        -- entries of one table
local MOST_DEPTH = 6

-- "float32 [2, 3]"
function pretty.brief(t)
  local ok, text = pcall(function()
    return ("%s [%s]"):format(t.dtype, table.concat(t.shape, ", "))
  end)
  return ok and text or "tensor"
end

local function is_name(key)
  return type(key) == "string" and key:find("^[%a_][%w_]*$") ~= nil
end

-- Does the value print itself?
local function own_text(value)
  local mt = debug.getmetatable(value)
  if type(mt) ~= "table" or rawget(mt, "__tostring") == nil then return nil end
  return tostring(value)
end

-- Short strings are quoted; control characters and bad UTF-8 as escapes.
local function quote(s)
  if #s > 200 then s = s:sub(1, 200) .. "..." end
  local text = ("%q"):format(s):gsub("\\\n", "\\n"):gsub("%c", function(c)
    return ("\\%03d"):format(c:byte())
  end)
  if not utf8.len(text) then
    text = text:gsub("[\128-\255]", function(c)
      return ("\\%03d"):format(c:byte())
    end)
  end
  return text
end

-- A string as Lua reads it, cut after 200 bytes.
function pretty.quote(s) return quote(s) end

local function atom(value, style)
  if is_tensor(value) then
    local text = pretty.brief(value)
    local ok, n = pcall(value.numel, value)
    if ok and n == 1 and value.device ~= "meta" then
      ok, text = pcall(function() return tostring(value:detach()) end)
      text = ok and text:gsub("%s*\n%s*", " ") or pretty.brief(value)
    end
    return style("tensor", text)
  elseif type(value) == "string" then
    return style("string", quote(value))
  elseif type(value) == "function" then
    local info = debug.getinfo(value, "S")
    return style("dim", info.what == "C" and "function"
      or ("function: %s:%d"):format(info.short_src, info.linedefined))
  elseif type(value) == "number" or type(value) == "boolean" then
    return style("number", tostring(value))
  end
  return style("dim", tostring(value))
end

local RANK = {number = 1, string = 2, boolean = 3}

local function before(a, b)
  local x, y = RANK[type(a)] or 4, RANK[type(b)] or 4
  if x ~= y then return x < y end
  if x <= 2 then return a < b end
  return tostring(a) < tostring(b)
end

-- Keys beyond the list part, sorted.
local function other_keys(t, n)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, before)
  return keys
end

-- How wide a text is on the screen: characters, without colours.
local function width_of(text)
  text = text:gsub("\27%[[%d;]*m", "")
  return utf8.len(text) or #text
end

local write

-- The entries of a table as texts.
local function rows_of(t, o, depth)
  local rows, n = {}, rawlen(t)
  local deeper = {style = o.style, width = o.width - 2, seen = o.seen}
  for i = 1, math.min(n, MOST_ROWS) do
    rows[i] = write(rawget(t, i), deeper, depth + 1)
  end
  local keys = other_keys(t, n)
  local count = #rows
  for _, key in ipairs(keys) do
    if count >= MOST_ROWS then break end
    count = count + 1
    local name = is_name(key) and key or "[" .. atom(key, o.style) .. "]"
    rows[count] = o.style("key", name) .. " = "
      .. write(rawget(t, key), deeper, depth + 1)
  end
  local left = n + #keys - count
  if left > 0 then
    rows[count + 1] = o.style("dim", ("... %d more"):format(left))
  end
  return rows
end

-- In one line where that fits, short entries side by side, else one a line.
local function arrange(rows, o)
  local line = "{" .. table.concat(rows, ", ") .. "}"
  if #rows == 0 then return "{}" end
  if not line:find("\n", 1, true) and width_of(line) <= o.width then
    return line
  end
  local widest, several = 0, false
  for _, row in ipairs(rows) do
    widest = math.max(widest, width_of(row))
    several = several or row:find("\n", 1, true) ~= nil
  end
  local columns = (o.width - 2) // (widest + 2)
  if several or columns < 2 then
    for i, row in ipairs(rows) do rows[i] = row:gsub("\n", "\n  ") end
    return "{\n  " .. table.concat(rows, ",\n  ") .. "\n}"
  end
  local lines = {}
  for at = 1, #rows, columns do
    local parts = {}
    for i = at, math.min(at + columns - 1, #rows) do
      local mark = i < #rows and "," or ""
      parts[#parts + 1] = rows[i] .. mark
        .. (" "):rep(widest - width_of(rows[i]))
    end
    lines[#lines + 1] = "  " .. table.concat(parts, " "):gsub("%s+$", "")
  end
  return "{\n" .. table.concat(lines, "\n") .. "\n}"
end

function write(value, o, depth)
  if type(value) ~= "table" then return atom(value, o.style) end
  if depth == 0 then
    local text = own_text(value)  -- an error of its own is told
    if text then return text end
  end
  local ok, text = pcall(own_text, value)
  if ok and text then return o.style("dim", text) end
  if o.seen[value] or depth >= MOST_DEPTH then
    return o.style("dim", o.seen[value] and "{...}" or "{ ... }")
  end
  o.seen[value] = true
  text = arrange(rows_of(value, o, depth), o)
  o.seen[value] = nil
  return text
end

local function plain(_, text) return text end

-- A value as text. options: width (80), style (function(kind, text), which may
-- colour "key", "string", "number", "tensor", "dim"). Strings that stand alone
-- are shown as they are.
function pretty.text(value, options)
  options = options or {}
  if type(value) ~= "table" then return tostring(value) end
  return write(value, {width = options.width or 80,
    style = options.style or plain, seen = {}}, 0)
end

return pretty
