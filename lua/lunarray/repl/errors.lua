-- lunarray.repl.errors: an error as one line in the user's terms, with the line
-- of code that raised it, the shapes in it, and a hint.
local is_tensor = require "lunarray.tensors".is_tensor
local chunk = require "lunarray.repl.chunk"
local elsewhere = require "lunarray.repl.elsewhere"
local names = require "lunarray.repl.names"
local near = require "lunarray.near"
local pretty = require "lunarray.repl.pretty"

-- Kept, as whoever types may wipe the globals.
local next, pcall, rawget, setmetatable = next, pcall, rawget, setmetatable
local tostring, type, debug, table, _G = tostring, type, debug, table, _G

local errors = {}

local getinfo, getlocal = debug.getinfo, debug.getlocal
local getupvalue, traceback = debug.getupvalue, debug.traceback

-- ---- what is known where the error is ----

-- Names to values that the function at 'level' sees: its locals, its upvalues.
local function variables(level)
  local seen = {}
  local info = getinfo(level + 1, "f")
  if not info then return seen end
  for i = 1, 255 do
    local name, value = getupvalue(info.func, i)
    if not name then break end
    seen[name] = value
  end
  for i = 1, 255 do
    local name, value = getlocal(level + 1, i)
    if not name then break end
    if not name:find("^%(") then seen[name] = value end
  end
  return seen
end

-- The line of user code that led to the error, by the chunk names of 'sources'
-- (names to texts).
local function user_line(sources)
  for level = 3, 200 do
    local info = getinfo(level, "Sl")
    if not info then return nil end
    local text = sources[info.source]
    if text then
      local line, k = nil, 0
      for one in (text .. "\n"):gmatch("(.-)\n") do
        k = k + 1
        if k == info.currentline then line = one end
      end
      return {source = info.source, line = info.currentline,
        code = line or "", whole = k == 1,
        variables = variables(level)}
    end
  end
end

-- The error value as text, as the program lua shows it.
local function text_of(message)
  if type(message) == "string" then return message end
  if type(message) == "number" then return tostring(message) end
  local mt = debug.getmetatable(message)
  if type(mt) == "table" and mt.__tostring then
    local ok, text = pcall(tostring, message)
    if ok and type(text) == "string" then return text end
  end
  return ("(error object is a %s value)"):format(type(message))
end

-- A traceback without the prompt's own frames, which are its last.
local function user_part(text)
  local lines, last = {}, nil
  for line in text:gmatch("[^\n]+") do
    lines[#lines + 1] = line
    if line:find("^\t%[C%]: in .*'call'") then last = last or #lines end
    if line:find("^\tstdin") then last = nil end
  end
  return table.concat(lines, "\n", 1, (last or #lines + 1) - 1)
end

-- A message handler for calls of chunks with those texts: gives a record of the
-- error for errors.report.
function errors.handler(sources)
  return function(message)
    local record = {message = text_of(message)}
    if type(message) == "string" then
      record.traceback = user_part(traceback(message, 2))
    end
    local ok, found = pcall(user_line, sources)
    if ok then record.at = found end
    return record
  end
end

-- ---- hints ----

local function value_of(path, known)
  local value, first = nil, true
  for name in path:gmatch("[%a_][%w_]*") do
    if first then
      value = known[name]
      if value == nil then value = rawget(_G, name) end
      first = false
    else
      local ok, inner = pcall(function() return value[name] end)
      if not ok then return nil end
      value = inner
    end
    if value == nil then return nil end
  end
  return value
end

local function escape(word) return (word:gsub("%p", "%%%0")) end

-- The shortest name that begins with the word, of three letters at least.
local function longer(word, set)
  local best
  for name in next, set do
    if #word >= 3 and name:sub(1, #word) == word
      and (not best or #name < #best or #name == #best and name < best) then
      best = name
    end
  end
  return best
end

-- Of a name that led to nil: what it may have been meant to be.
local function nearest(kind, word, at)
  if kind == "global" then
    local here = elsewhere.name(word)
    if here then return here end
    local library = rawget(_G, "la")
    if type(library) == "table" and rawget(library, word) ~= nil then
      return "la." .. word
    end
    local set = names.of(_G)
    for name in next, at.variables do set[name] = true end
    local meant = near.nearest(word, set)
    if meant or type(library) ~= "table" then return meant end
    meant = near.nearest(word, names.of(library))
    return meant and "la." .. meant
  end
  local owner = at.code:match("([%a_][%w_%.]*)%s*[.:]%s*" .. escape(word)
    .. "%f[^%w_]")
  local value = owner and value_of(owner, at.variables)
  if value == nil and kind == "method" then
    return near.nearest(word, names.of_tensors())
  end
  local set = names.of(value)
  return near.nearest(word, set) or longer(word, set)
end

-- The key of a table of keywords that was meant, of those that the message says
-- are known.
local function keyword_of(message)
  local word, list = message:match("unknown %a+ '([%w_]+)' %(known: ([^)]*)%)")
  local known = {}
  for name in (list or ""):gmatch("[%w_]+") do known[name] = true end
  return word and near.nearest(word, known)
end

local function hint_of(message, at)
  local keyword = keyword_of(message)
  if keyword then return ("did you mean %s?"):format(keyword) end
  local kind, word = message:match("nil value %((%a+) '([%w_]+)'%)")
  if not kind or kind == "local" or kind == "upvalue" then return nil end
  if kind == "constant" then return nil end
  local meant = nearest(kind, word, at)
  return meant and ("did you mean %s?"):format(meant)
end

-- ---- programs ----

-- A line of the file that a source names, or of the code that the program was
-- given for it (its registry has that), or "".
local function line_of(info)
  local text = debug.getregistry()[info.source]
  if info.source:sub(1, 1) == "@" then
    local file = io.open(info.source:sub(2), "rb")
    text = file and file:read "a"
    if file then file:close() end
  end
  local k = 0
  for line in ((type(text) == "string" and text or "") .. "\n")
    :gmatch "(.-)\n" do
    k = k + 1
    if k == info.currentline then return line end
  end
  return ""
end

-- The code of the user's that runs, below functions of the library and of C.
local function running()
  for level = 2, 200 do
    local info = getinfo(level, "Sl")
    if not info then return nil end
    if info.what ~= "C" and not info.short_src:find "^lunarray%." then
      return {code = line_of(info), variables = variables(level)}
    end
  end
end

-- A hint for an error of a program, from its message handler, or nil.
function errors.hint(message)
  local ok, hint = pcall(function()
    local at = running()
    return at and hint_of(message, at)
  end)
  return ok and hint or nil
end

-- ---- the report ----

-- The tensors that the line of code names, with their shapes.
local function shapes_of(at)
  local list, seen, before = {}, {}, nil
  for kind, word in chunk.tokens(at.code) do
    if kind == "name" and before ~= "." and before ~= ":" and not seen[word]
      and #list < 6 then
      seen[word] = true
      local value = value_of(word, at.variables)
      if is_tensor(value) then
        list[#list + 1] = word .. ": " .. pretty.brief(value)
      end
    end
    before = kind
  end
  return list
end

-- What the user sees: a list of kinds ("error", "code", "hint") and texts. The
-- numbers that tell chunks apart are not shown.
function errors.report(record)
  local at = record.at
  local message = record.message
  local ours = message:match("^lunarray[%w_.]*:%d+: ()")
  if ours and at then
    message = at.source:sub(2) .. ":" .. at.line .. ": " .. message:sub(ours)
  end
  local out = {{"error", (message:gsub("stdin%[%d+%]:", "stdin:"))}}
  if not at then return out end
  local shapes = shapes_of(at)
  if not at.whole then
    out[#out + 1] = {"code", at.code:match("^%s*(.-)%s*$")}
  end
  if #shapes > 0 then
    out[#out + 1] = {"code", table.concat(shapes, "   ")}
  end
  local ok, hint = pcall(hint_of, message, at)
  if ok and hint then out[#out + 1] = {"hint", hint} end
  return out
end

-- Names that stand for something, globals and kept locals.
local function visible(locals)
  local set = names.of(_G)
  for name in next, locals do set[name] = true end
  return set
end

-- A hint for an expression such as x.shpe or lenght that gave nil.
function errors.hint_of_nil(text, locals)
  local owner, word = text:match("^%s*([%a_][%w_%.]*)%.([%a_][%w_]*)%s*$")
  if not owner then
    local name = text:match("^%s*([%a_][%w_]*)%s*$")
    local here = name and elsewhere.name(name)
    if here then return ("it is %s here"):format(here) end
    local meant = name and not locals[name] and rawget(_G, name) == nil
      and near.nearest(name, visible(locals))
    return meant and ("there is no %s: did you mean %s?"):format(name, meant)
  end
  local known = setmetatable({}, {__index = function(_, name)
    return chunk.value(locals, name)
  end})
  local value = value_of(owner, known)
  if type(value) ~= "table" and not is_tensor(value) then return nil end
  local set = names.of(value)
  if set[word] then return nil end
  local meant = near.nearest(word, set)
  if not is_tensor(value) then
    meant = meant or longer(word, set)
    return meant and ("there is no %s.%s: did you mean %s?"):format(owner, word,
      meant)
  end
  return ("a tensor has no %s"):format(word)
    .. (meant and (": did you mean %s?"):format(meant) or "")
end

return errors
