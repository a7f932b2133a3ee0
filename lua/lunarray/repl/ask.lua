-- lunarray.repl.ask: what "?" answers.
local la = require "lunarray"
local help = require "lunarray.help"
local is_tensor = require "lunarray.tensors".is_tensor
local names = require "lunarray.repl.names"
local pretty = require "lunarray.repl.pretty"

-- Kept, as whoever types may wipe the globals.
local getmetatable, next, tostring, type = getmetatable, next, tostring, type
local debug, io, math, table, utf8 = debug, io, math, table, utf8

local ask = {}

local function help_of(name)
  local text = name and help.text(name)
  return text and (text:gsub("%s+$", ""))
end

-- The lines of a Lua function; nil for functions in C and lost sources.
local function source_of(f, sources)
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return nil end
  local text = sources[info.source]
  if not text and info.source:sub(1, 1) == "@" then
    local file = io.open(info.source:sub(2), "r")
    text = file and file:read "a"
    if file then file:close() end
  end
  if not text then return nil end
  local lines, k = {}, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    k = k + 1
    if k >= info.linedefined and k <= info.lastlinedefined then
      lines[#lines + 1] = line
    end
  end
  return table.concat(lines, "\n"), info
end

local function signature(f)
  local info, list = debug.getinfo(f, "uS"), {}
  for i = 1, info.nparams do list[i] = debug.getlocal(f, i) or "?" end
  if info.isvararg then list[#list + 1] = "..." end
  return ("function(%s), %s:%d"):format(table.concat(list, ", "),
    (info.short_src:gsub("^stdin%[%d+%]$", "stdin")), info.linedefined)
end

-- One line about a function: its first call as the help has it, or its
-- parameters and where it stands.
function ask.signature(f)
  local row = help.find(help.name_of(f) or "")
  local call = row and row.signatures and row.signatures[1]
  if call then return (call:gsub("%s+", " ")) end
  local info = debug.getinfo(f, "S")
  return info.what == "C" and "in C" or signature(f)
end

local function of_function(f, sources, whole)
  local text = help_of(help.name_of(f))
  if text and not whole then return text end
  local source = whole and source_of(f, sources)
  if source then return source end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then
    return text or "a function in C: its source is not at hand"
  end
  return signature(f)
end

-- Help of a value: its text where it has one, else what it is.
local function of_value(value, sources, whole)
  if is_tensor(value) then return tostring(la.describe(value)) end
  if type(value) == "function" then
    return of_function(value, sources, whole)
  end
  local text = type(value) == "table" and help_of(help.name_of(value))
  if text then return text end
  if type(value) == "table" then
    local list = {}
    for key in next, names.of(value) do list[#list + 1] = key end
    table.sort(list)
    if getmetatable(value) and #list > 0 then
      return ("%s\nhas: %s"):format(tostring(value), table.concat(list, ", "))
    end
    return pretty.text(value)
  end
  if type(value) == "string" then
    return ("string of %d bytes: %s"):format(#value, pretty.quote(value))
  end
  return type(value) .. ": " .. tostring(value)
end

-- ---- searching ----

local function list_text(found, width)
  local lines, most = {}, 40
  for i = 1, math.min(#found, most) do
    local line = ("%-20s %s"):format(found[i].name, found[i].brief)
    if utf8.len(line) and utf8.len(line) > width then
      line = line:sub(1, utf8.offset(line, width - 2) - 1) .. "..."
    end
    lines[i] = line
  end
  if #found > most then
    lines[most + 1] = ("... and %d more"):format(#found - most)
  end
  return table.concat(lines, "\n")
end

-- The answer to "?word": text. evaluate(word) gives the value of an expression
-- or nil; sources are the texts of chunks; whole: "??word", with source code.
function ask.about(word, evaluate, sources, whole, width)
  local value = evaluate(word)
  local text = help_of(word)
  if value ~= nil and not (text and type(value) == "string"
    and word:find("^la%.")) then
    return of_value(value, sources, whole)
  end
  if text then return text end
  local found = help.search(word:find("%s") and word
    or word:match("[%w_]+$") or word)
  if #found > 0 then return list_text(found, width) end
  local near = help.near(word)[1]
  return ("nothing is known of '%s'%s"):format(word,
    near and (": did you mean %s?"):format(near) or "")
end

return ask
