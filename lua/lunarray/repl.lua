-- lunarray.repl: the prompt of the program lunarray.
--
-- The program gives a table of functions for the terminal (src/repl/prompt.c)
-- and calls what repl.start returns: step() for each text that is entered,
-- finished(text) to know whether Enter runs it, complete(text) for Tab,
-- paint(text, from, cursor) for its colours.
local la = require "lunarray"
local ask = require "lunarray.repl.ask"
local chunk = require "lunarray.repl.chunk"
local commands = require "lunarray.repl.commands"
local complete = require "lunarray.repl.complete"
local elsewhere = require "lunarray.repl.elsewhere"
local errors = require "lunarray.repl.errors"
local paint = require "lunarray.repl.paint"
local pretty = require "lunarray.repl.pretty"

-- Kept, as whoever types may wipe the globals.
local ipairs, load, next, rawget, rawset = ipairs, load, next, rawget, rawset
local setmetatable, tostring, type, io = setmetatable, tostring, type, io
local math, os, table, _G = math, os, table, _G

local repl = {}

local write, getenv, open = io.write, os.getenv, io.open
local pack, unpack = table.pack, table.unpack

local COLOURS = {error = "31", hint = "33", code = "36", dim = "2", key = "36",
  string = "32", number = "35", tensor = "34", prompt = "1;34"}

local MOST_RESULTS = 3       -- _1 to _3 hold on to their tensors

local Prompt = {}
Prompt.__index = Prompt

-- ---- output ----

-- Colours are for terminals, unless NO_COLOR says that none are wanted.
local function wants_colour(terminal)
  local none, term = getenv "NO_COLOR", getenv "TERM"
  return terminal.interactive and terminal.colour
    and (not none or none == "") and term ~= "dumb"
end

function Prompt:style(kind, text)
  local colour = self.colours and COLOURS[kind]
  return colour and ("\27[%sm%s\27[0m"):format(colour, text) or text
end

-- A value as text, for the window's width; a function with its signature.
function Prompt:text_of(value)
  if type(value) == "function" then
    return tostring(value) .. "  " .. self:style("dim", ask.signature(value))
  end
  return pretty.text(value, {width = self.terminal.interactive
    and self.terminal.window() or 80,
    style = function(kind, text) return self:style(kind, text) end})
end

function Prompt:say(text) write(text, "\n") end

-- A text that may be longer than the window goes through a pager (PAGER; empty:
-- none), where there is one.
function Prompt:page(text)
  local _, rows = self.terminal.window()
  local _, lines = text:gsub("\n", "")
  local pager = getenv "PAGER" or "less"
  if not self.terminal.interactive or lines + 2 < rows or pager == ""
    or not os.execute(("command -v %s > /dev/null 2>&1"):format(
      pager:match "%S+")) then
    return self:say(text)
  end
  self.terminal.flush()
  local pipe = io.popen(pager:match "^less$" and "less -R" or pager, "w")
  if not pipe then return self:say(text) end
  pipe:write(text, "\n")
  pipe:close()
end

-- Standard output first: the error stands after what was printed before it.
function Prompt:complain(text, kind)
  self.terminal.flush()
  io.stderr:write(self:style(kind or "error", text), "\n")
end

-- ---- running ----

-- The name of the next chunk: errors say "stdin:1:", on a terminal numbers tell
-- the chunks apart, which are not shown.
function Prompt:new_name(text)
  self.count = self.count + 1
  local name = self.terminal.interactive and ("=stdin[%d]"):format(self.count)
    or "=stdin"
  self.sources[name] = text
  return name
end

-- Calls f; true and its results, or false, after the error has been shown.
function Prompt:call(f, ...)
  local results = pack(self.terminal.call(self.handler, f, ...))
  if not results[1] then
    self:show_error(results[2])
    return false
  end
  return unpack(results, 1, results.n)
end

function Prompt:show_error(record)
  if type(record) ~= "table" then record = {message = tostring(record)} end
  self.last_error = record
  for i, row in ipairs(errors.report(record)) do
    if i == 1 then self:complain(row[2])
    elseif self.terminal.interactive then
      self:complain("  " .. row[2], row[1])
    end
  end
end

-- A hint stands below what it is about, on terminals.
function Prompt:advise(hint)
  if hint and self.terminal.interactive then
    self:complain("  " .. hint, "hint")
  end
end

-- The last values: _ and _1, then _2, _3.
local function keep_results(value)
  for k = MOST_RESULTS, 2, -1 do
    rawset(_G, "_" .. k, rawget(_G, "_" .. k - 1))
  end
  rawset(_G, "_1", value)
  rawset(_G, "_", value)
end

-- Show the results of an expression, and remember the first.
function Prompt:show(results, quiet)
  if results.n == 0 then return end
  if results[1] ~= nil then keep_results(results[1]) end
  if quiet then return end
  local texts = {}
  for k = 1, results.n do texts[k] = self:text_of(results[k]) end
  self:say(table.concat(texts, "\t"))
end

-- Compile and run a text; true when all went well.
function Prompt:run(text)
  local name = self:new_name(text)
  local f, shows, expression = chunk.compile(text, self.locals, name)
  if not f then
    self:complain((shows:gsub("stdin%[%d+%]:", "stdin:")))
    self:advise(elsewhere.hint(text))
    self.last_error = {message = shows}
    return false
  end
  local results = pack(self:call(f))
  if not results[1] then return false end
  results = pack(unpack(results, 2, results.n))
  local ok = self:call(self.show, self, results, not shows)
  if ok and expression and results.n == 1 and results[1] == nil then
    self:advise(errors.hint_of_nil(text, self.locals))
  end
  return ok
end

-- The value of an expression, or nil; nothing is shown.
function Prompt:value(text)
  local f = chunk.compile(text, self.locals, "=?")
  if not f or not load("return " .. text, "=?", "t") then return nil end
  local ok, value = self.terminal.call(function(m) return m end, f)
  if ok then return value end
end

-- ---- a step ----

function Prompt:ask(text)
  local marks, word = text:match("^%s*(%?+)%s*(.-)%s*$")
  if not marks then
    word, marks = text:match("^%s*([%w_.:]+)(%?+)%s*$")
  end
  if word == "" then return self:say(commands.help_text()) end
  local width = self.terminal.window()
  self:page(ask.about(word, function(w)
    if not w:find("^[%a_][%w_.]*$") then return nil end
    return self:value(w)
  end, self.sources, #marks > 1, width))
end

-- Words that people type first, and which Lua does not know: "help",
-- "help sum", "exit", "quit()". What the user has by such a name stays that.
-- Gives "help" and the word that it is about, or "exit".
function Prompt:plain_word(text)
  local word, rest = text:match("^%s*(%a+)%s*(.-)%s*$")
  if word ~= "help" and word ~= "exit" and word ~= "quit" then return nil end
  if self.locals[word] or rawget(_G, word) ~= nil then return nil end
  local argument = rest:match("^%(?%s*[\"']?([%w_.:]*)[\"']?%s*%)?$")
  if not argument then return nil end
  if word == "help" then return "help", argument end
  return argument == "" and "exit" or nil
end

-- Lines that are no Lua: "?x", "x?", ":command", "!program". True for those.
function Prompt:special(text)
  local plain, argument = self:plain_word(text)
  if plain == "exit" then
    self.ended = true
  elseif plain then
    self:call(self.ask, self, "?" .. argument)
  elseif text:find("^%s*%?") or text:find("^%s*[%a_][%w_.:]*%?+%s*$") then
    self:call(self.ask, self, text)
  elseif text:find("^%s*!") then
    self.terminal.flush()
    os.execute((text:gsub("^%s*!", "", 1)))
  elseif text:find("^%s*:%a") then
    self:call(commands.run, self, text)
  else
    return false
  end
  return true
end

local function is_special(text)
  return text:find("^%s*[?!]") ~= nil or text:find("^%s*:%a") ~= nil
    or text:find("^%s*[%a_][%w_.:]*%?+%s*$") ~= nil
end

function Prompt:prompt_text(global, usual)
  local own = rawget(_G, global)
  if type(own) == "string" or type(own) == "number" then
    return tostring(own)
  end
  if not self.colours then return usual end
  return ("\1\27[%sm\1%s\1\27[0m\1 "):format(COLOURS.prompt,
    usual:gsub(" $", ""))
end

-- A whole chunk, or nil and "end" or "stopped". Without an editor it comes line
-- by line; with one it is whole but where the input ends.
function Prompt:read()
  local text, why = self.terminal.read(self:prompt_text("_PROMPT", "> "),
    self:prompt_text("_PROMPT2", ">> "))
  if not text then return nil, why end
  while not repl.finished(text) do
    local more
    more, why = self.terminal.read(self:prompt_text("_PROMPT2", ">> "))
    if not more then
      if why == "stopped" then return nil, why end
      break
    end
    text = text .. "\n" .. more
  end
  if text:find("%S") then self.terminal.remember(text) end
  return text
end

-- The window may have another size than before; a width that the user set
-- stays.
function Prompt:fit()
  if not self.terminal.interactive then return end
  local options = la.get_printoptions()
  if self.width and options.linewidth ~= self.width then return end
  -- As in PyTorch, the brackets that close a row are not counted.
  local columns = math.max(20, math.min((self.terminal.window()), 400)) - 4
  if options.linewidth ~= columns then
    la.set_printoptions{linewidth = columns}
  end
  self.width = columns
end

-- Read and run one text; false when there is no more input, or no more output.
function Prompt:step()
  local text, why = self:read()
  if not text then return why == "stopped" end
  self:fit()
  if text:find("%S") and not self:special(text) and self:run(text) then
    self.inputs[#self.inputs + 1] = text
  end
  return self.terminal.flush() and not self.ended
end

-- ---- start ----

-- Does Enter run the text? Empty ones and commands do.
function repl.finished(text)
  return not text:find("%S") or is_special(text)
    or chunk.finished((text:gsub("^%s*=", "", 1)))
end

-- Words that can go on the text, sorted, and what all of them have beyond what
-- is typed.
function repl.complete(text) return complete.words(text) end

-- The user's own start: ~/.config/lunarray/init.lua, on terminals.
function Prompt:run_startup()
  local folder, user = getenv "XDG_CONFIG_HOME", getenv "HOME"
  if not folder or folder == "" then
    folder = user and user ~= "" and user .. "/.config"
  end
  if not folder or not self.terminal.interactive
    or self.terminal.no_environment then
    return
  end
  local path = folder .. "/lunarray/init.lua"
  local file = open(path, "r")
  if not file then return end
  file:close()
  self:call(function() dofile(path) end)
end

-- What the program calls; 'terminal' is described in src/repl/prompt.c.
function repl.start(terminal)
  local prompt = setmetatable({terminal = terminal, count = 0, inputs = {},
    sources = {}, locals = chunk.new_locals()}, Prompt)
  prompt.colours = wants_colour(terminal)
  prompt.handler = errors.handler(prompt.sources)
  prompt.known = {}
  for name in next, _G do prompt.known[name] = true end
  complete.set_commands(commands.names())
  prompt:run_startup()
  return {
    step = function() return prompt:step() end,
    finished = repl.finished,
    complete = function(text)
      return complete.words(text, prompt.locals, terminal.list)
    end,
    paint = function(text, from, cursor)
      return prompt.colours and paint.text(text, from, cursor) or nil
    end,
  }
end

return repl
