-- lunarray.repl.commands: lines that begin with ":".
local la = require "lunarray"
local numbers = require "lunarray.numbers"
local is_tensor = require "lunarray.tensors".is_tensor
local chunk = require "lunarray.repl.chunk"
local pretty = require "lunarray.repl.pretty"

-- Kept, as whoever types may wipe the globals.
local error, ipairs, load, next = error, ipairs, load, next
local rawlen, rawset, select, tonumber = rawlen, rawset, select, tonumber
local tostring, type, collectgarbage, io = tostring, type, collectgarbage, io
local math, os, table, utf8, _G = math, os, table, utf8, _G

local commands = {}

-- name -> {arguments, text, function(prompt, rest)}
local rows = {}
local order = {}

local function command(name, arguments, text, f)
  rows[name] = {arguments = arguments, text = text, run = f}
  order[#order + 1] = name
end

-- ---- numbers for people ----

function commands.bytes_text(n)
  local sign, units = n < 0 and "-" or "", {"KB", "MB", "GB", "TB"}
  n = math.abs(n)
  if n < 1000 then return ("%s%d bytes"):format(sign, n) end
  local k = 0
  repeat
    n, k = n / 1000, k + 1
  until n < 999.5 or k == #units
  return numbers.format("%s%.3g %s", sign, n, units[k])
end

function commands.seconds_text(s)
  if s >= 1 then return numbers.format("%.3f s", s) end
  if s >= 1e-3 then return numbers.format("%.3g ms", s * 1e3) end
  if s >= 1e-6 then return numbers.format("%.3g us", s * 1e6) end
  return numbers.format("%.3g ns", s * 1e9)
end

local bytes_text, seconds_text = commands.bytes_text, commands.seconds_text

-- ---- measuring ----

-- The text as a function; nil after the message has been shown.
local function compile(prompt, text, name)
  if not text:find("%S") then
    error((":%s needs an expression or a statement"):format(name), 0)
  end
  local f, message = chunk.compile(text, prompt.locals, prompt:new_name(text))
  if not f then error(message, 0) end
  return f
end

command("time", "code", "run it once: time, tensor memory", function(p, rest)
  local f, clock = compile(p, rest, "time"), p.terminal.clock
  collectgarbage()
  local used, at = la.memory(), clock()
  local results = table.pack(f())
  local took = clock() - at
  local grown, peak = la.memory() - used, select(2, la.memory())
  p:show(results, results.n == 0)
  p:say(p:style("dim", ("%s, tensors %s%s (peak of the session %s)"):format(
    seconds_text(took), grown >= 0 and "+" or "", bytes_text(grown),
    bytes_text(peak))))
end)

-- How long one call takes: f is called in rounds of at least 10 ms.
local function measure(f, clock)
  f()
  local times, calls, stop = {}, 1, clock() + 1
  while #times < 5 or clock() < stop and #times < 200 do
    local at = clock()
    for _ = 1, calls do f() end
    local took = clock() - at
    if took < 0.01 and #times == 0 then
      calls = calls * math.max(2, math.min(10, math.floor(0.012 / took)))
    else
      times[#times + 1] = took / calls
    end
    if took > 2 then break end
  end
  table.sort(times)
  return times[1], times[(#times + 1) // 2], #times, calls
end

command("bench", "code", "run it for a second: best and median time",
  function(p, rest)
    local best, middle, rounds, calls = measure(compile(p, rest, "bench"),
      p.terminal.clock)
    p:say(("%s (median %s of %d rounds of %d)"):format(seconds_text(best),
      seconds_text(middle), rounds, calls))
  end)

command("mem", "", "memory of tensors and of Lua", function(p)
  collectgarbage()
  local used, peak, cap = la.memory()
  p:say(("tensors %s (peak %s%s), Lua %s"):format(bytes_text(used),
    bytes_text(peak), cap > 0 and ", limit " .. bytes_text(cap) or "",
    bytes_text(math.floor(collectgarbage "count" * 1024))))
end)

require "lunarray.additions"("commands", command, compile)

-- ---- variables ----

-- Names and values of the session: kept locals, and globals that were not
-- there at its start.
local function variables(prompt)
  local list = {}
  for name in next, prompt.locals do
    list[#list + 1] = {name, chunk.value(prompt.locals, name), "local"}
  end
  for name, value in next, _G do
    if type(name) == "string" and not prompt.known[name]
      and not name:find("^_%d?$") then
      list[#list + 1] = {name, value, "global"}
    end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

local function say_rows(p, list)
  local widths = {}
  for _, row in ipairs(list) do
    for k, text in ipairs(row) do
      widths[k] = math.max(widths[k] or 0, utf8.len(text) or #text)
    end
  end
  for _, row in ipairs(list) do
    local parts = {}
    for k, text in ipairs(row) do
      parts[k] = text .. (" "):rep(widths[k] - (utf8.len(text) or #text))
    end
    p:say((table.concat(parts, "  "):gsub("%s+$", "")))
  end
end

command("who", "", "the variables of the session", function(p)
  local list = {}
  for _, row in ipairs(variables(p)) do
    local value = row[2]
    local text = is_tensor(value) and pretty.brief(value)
      or (type(value) == "string" or type(value) == "table")
        and ("%s (%d)"):format(type(value), rawlen(value))
      or type(value) == "function" and "function" or tostring(value)
    list[#list + 1] = {row[1], row[3], text}
  end
  if #list == 0 then return p:say "no variables" end
  say_rows(p, list)
end)

command("shapes", "", "the tensors of the session: shapes, bytes", function(p)
  local list, sum = {}, 0
  for _, row in ipairs(variables(p)) do
    local t = row[2]
    if is_tensor(t) then
      local bytes = t:nbytes()
      sum = sum + bytes
      list[#list + 1] = {row[1], pretty.brief(t), bytes_text(bytes),
        t.requires_grad and "requires grad" or ""}
    end
  end
  if #list == 0 then return p:say "no tensors" end
  list[#list + 1] = {"", "together", bytes_text(sum)}
  say_rows(p, list)
end)

command("reset", "", "forget the variables of the session", function(p)
  for _, row in ipairs(variables(p)) do
    if row[3] == "global" then rawset(_G, row[1], nil) end
  end
  for name in next, p.locals do p.locals[name] = nil end
  for _, name in ipairs{"_", "_1", "_2", "_3"} do rawset(_G, name, nil) end
  p.last_error = nil
  collectgarbage()
end)

-- ---- texts ----

local function read_file(path)
  local file, message = io.open(path, "r")
  if not file then error(message, 0) end
  local text = file:read "a"
  file:close()
  return text or error(path .. ": cannot be read", 0)
end

local function write_file(path, text)
  local file, message = io.open(path, "w")
  if not file then error(message, 0) end
  local ok
  ok, message = file:write(text)
  local closed, why = file:close()
  if not ok or not closed then error(message or why, 0) end
end

local function path_of(rest, name)
  local path = rest:match("^%s*(.-)%s*$")
  if path == "" then error((":%s needs a file"):format(name), 0) end
  return path
end

-- An input as a statement of a script: the value of an expression goes to _, as
-- at the prompt, where one that stands alone is none in Lua.
local function as_statement(text)
  local value = text:match "^%s*return%f[%W](.*)$" or text:match "^%s*=(.*)$"
  if not value and not load(text, "=", "t")
    and load("return " .. text, "=", "t") then
    value = text
  end
  return value and "_ = " .. value:match "^%s*(.-)[%s;]*$" or text
end

command("save", "file", "write what was entered to a file, but what failed",
  function(p, rest)
    local path = path_of(rest, "save")
    local lines = {}
    for k, text in ipairs(p.inputs) do lines[k] = as_statement(text) end
    write_file(path, table.concat(lines, "\n") .. "\n")
    p:say(("%s: %d chunks"):format(path, #p.inputs))
  end)

command("load", "file", "run a file; its locals stay", function(p, rest)
  local text = read_file(path_of(rest, "load"))
  if p:run((text:gsub("^#[^\n]*", "", 1))) then
    p.inputs[#p.inputs + 1] = text
  end
end)

command("edit", "[n]", "the last chunk (or the n-th) in $EDITOR, then run it",
  function(p, rest)
    local editor = os.getenv "VISUAL" or os.getenv "EDITOR" or "vi"
    local n = tonumber(rest) or #p.inputs
    local path = os.tmpname()
    local lua = path .. ".lua"
    os.remove(path)
    write_file(lua, (p.inputs[n] or "") .. "\n")
    p.terminal.flush()
    local done = os.execute(("%s '%s'"):format(editor, lua))
    local text = read_file(lua)
    os.remove(lua)
    if not done then error(editor .. " failed: nothing is run", 0) end
    text = text:gsub("%s+$", "")
    if text == "" then return end
    p:say(text)
    p.terminal.remember(text)
    if p:run(text) then p.inputs[#p.inputs + 1] = text end
  end)

command("paste", "", "take lines as they are up to one that says :end",
  function(p)
    local lines = {}
    while true do
      local line = p.terminal.read ""
      if not line or line:find("^%s*:end%s*$") then break end
      lines[#lines + 1] = line
    end
    local text = table.concat(lines, "\n")
    if text:find("%S") and p:run(text) then
      p.terminal.remember(text)
      p.inputs[#p.inputs + 1] = text
    end
  end)

-- ---- questions ----

command("doc", "name", "what is known of a function, method or module",
  function(p, rest) p:ask("?" .. rest) end)

command("tb", "", "the traceback of the last error", function(p)
  local record = p.last_error
  if not record then return p:say "no error so far" end
  p:say((tostring(record.traceback or record.message)
    :gsub("stdin%[%d+%]:", "stdin:")))
end)

function commands.help_text()
  local lines = {
    "An expression shows its value; one that ends by ; does not. _ is the last",
    "value, _2 and _3 those before. Top-level locals stay.",
    "  ?name           what it is; ??name: its source; ?word: search",
    "  !command        run a program of the system",
  }
  for _, name in ipairs(order) do
    local row = rows[name]
    lines[#lines + 1] = ("  %-15s %s"):format(":" .. name
      .. (row.arguments ~= "" and " " .. row.arguments or ""), row.text)
  end
  lines[#lines + 1] = "Tab completes, Alt-Enter breaks a line, Ctrl-C stops, "
    .. "Ctrl-D ends."
  return table.concat(lines, "\n")
end

command("help", "", "this list", function(p) p:say(commands.help_text()) end)

-- A set of the names.
function commands.names()
  local set = {}
  for name in next, rows do set[name] = true end
  return set
end

-- Run the line ":name rest"; a beginning that only one command has is enough.
function commands.run(prompt, text)
  local name, rest = text:match("^%s*:(%a+)%s*(.*)$")
  local found = rows[name] and name
  if not found then
    for _, other in ipairs(order) do
      if other:sub(1, #name) == name then
        if found then error((":%s may be :%s or :%s"):format(name, found,
          other), 0) end
        found = other
      end
    end
  end
  if not found then error((":%s is no command; :help lists them"):format(name),
    0) end
  rows[found].run(prompt, rest)
end

return commands
