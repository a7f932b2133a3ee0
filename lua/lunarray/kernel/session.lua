-- lunarray.kernel.session: the child of the Jupyter kernel, which runs cells.
--
-- A frame is a line "kind bytes", then so many bytes. Requests come on one file
-- and answers go to another; standard output is the user's. Requests: execute
-- (a cell's number, a newline, its text), complete (the text before the
-- cursor), inspect ("level before", a zero byte, "after"), is_complete, line
-- and end (the answer to input). Answers: "data <mime type>" and then result or
-- display, error (message, a zero byte, traceback), input, word and match,
-- text, status; done ends each request.
local la = require "lunarray"
local ask = require "lunarray.repl.ask"
local chunk = require "lunarray.repl.chunk"
local complete = require "lunarray.repl.complete"
local errors = require "lunarray.repl.errors"
local figure = require "lunarray.plot.figure"
local images = require "lunarray.images"
local is_tensor = require "lunarray.tensors".is_tensor
local plot = require "lunarray.plot"
local pretty = require "lunarray.repl.pretty"

-- Kept, as whoever types may wipe the globals.
local ipairs, load, pcall, rawget = ipairs, load, pcall, rawget
local rawset, setmetatable, tonumber = rawset, setmetatable, tonumber
local tostring, type, io, math, table = tostring, type, io, math, table
local _G = _G

local session = {}

local Session = {}
Session.__index = Session

local pack, unpack = table.pack, table.unpack
local stdout = io.stdout

-- ---- frames ----

function Session:send(kind, text)
  text = text or ""
  stdout:flush()
  self.to:write(("%s %d\n"):format(kind, #text), text)
  self.to:flush()
end

-- The next request: kind and text; nil at the end.
function Session:receive()
  local head = self.from:read "l"
  local kind, size = (head or ""):match "^([%w_]+) (%d+)$"
  if not kind then return nil end
  size = math.tointeger(size)
  return kind, size == 0 and "" or self.from:read(size)
end

-- ---- what is shown ----

local MOST_SVG = 200000      -- bytes; larger figures are pixels alone
local LEAST_IMAGE = 8        -- pixels of a side; smaller tensors are text

-- Is it an image as la.image gives them? Of floats nobody knows.
local function is_image(t)
  if not is_tensor(t) or t.ndim ~= 3 or t.dtype ~= "uint8" then return false end
  local c = t:size(1)
  return (c == 1 or c == 3 or c == 4) and t:size(2) >= LEAST_IMAGE
    and t:size(3) >= LEAST_IMAGE
end

local function numbered(text) return (text:gsub("stdin%[(%d+)%]", "In[%1]")) end

-- The method that gives a value's HTML, where its metatable says that it has
-- one: frames (modules/frame).
local function html_of(value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(meta) == "table" and meta.__html and meta.__html(value) or nil
end

-- A value by its MIME types.
function Session:bundle(value)
  if figure.is_figure(value) then
    local svg = value:svg()
    if #svg <= MOST_SVG then self:send("data image/svg+xml", svg) end
    if images.present then self:send("data image/png", value:png()) end
    self:send("data text/plain", value:text{color = false})
    return
  end
  local html = html_of(value)
  if html then self:send("data text/html", html) end
  if images.present and is_image(value) then
    self:send("data image/png", images.get "png".encode(value, "png"))
  end
  self:send("data text/plain", pretty.text(value))
end

-- Results of a cell: plain ones side by side, figures and images each alone.
function Session:show(results)
  local rich = false
  for k = 1, results.n do
    rich = rich or figure.is_figure(results[k]) or is_image(results[k])
      or html_of(results[k]) ~= nil
  end
  if rich and results.n > 1 then
    for k = 1, results.n do
      self:bundle(results[k])
      self:send "display"
    end
  elseif rich then
    self:bundle(results[1])
    self:send "result"
  else
    local texts = {}
    for k = 1, results.n do texts[k] = pretty.text(results[k]) end
    self:send("data text/plain", table.concat(texts, "\t"))
    self:send "result"
  end
end

function Session:complain(record)
  if type(record) ~= "table" then record = {message = tostring(record)} end
  local lines = {}
  for k, row in ipairs(errors.report(record)) do
    lines[k] = (k > 1 and "  " or "") .. row[2]
  end
  local trace = record.traceback
    and record.traceback:gsub("^.-\n(stack traceback:)", "%1")
  local message = lines[1]:gsub("^stdin:", ("In[%d]:"):format(self.count))
  lines[1] = message
  if trace and trace ~= "" then lines[#lines + 1] = numbered(trace) end
  self:send("error", message .. "\0" .. table.concat(lines, "\n"))
end

-- ---- cells ----

-- The text with "return" in front of its last statement where that is an
-- expression, as the prompt has it for a text that is one.
local function with_result(text)
  if load("return " .. text, "=cell", "t") then return text end
  local starts = {1}
  for at in text:gmatch "\n()" do starts[#starts + 1] = at end
  for k = #starts, 2, -1 do
    local rest = text:sub(starts[k])
    local first = rest:match "^%s*(%S)"
    if first and first ~= "(" and first ~= "{" and first ~= '"'
      and first ~= "'" and first ~= "[" and not rest:find "^%s*%-%-" then
      local before = text:sub(1, starts[k] - 1)
      if load("return " .. rest, "=cell", "t") and load(before, "=cell", "t")
        then
        return before .. "return " .. rest
      end
    end
  end
  return text
end

-- Calls f: its results, or nil after the error has been sent.
function Session:call(f, ...)
  local results = pack(self.terminal.call(self.handler, f, ...))
  if results[1] then return pack(unpack(results, 2, results.n)) end
  self:complain(results[2])
end

function Session:evaluate(text)
  local f = load("return " .. text, "=?", "t")
    and chunk.compile(text, self.locals, "=?")
  if not f then return nil end
  local ok, value = self.terminal.call(function(m) return m end, f)
  if ok then return value end
end

function Session:about(word, whole)
  return ask.about(word, function(w)
    if not w:find "^[%a_][%w_.]*$" then return nil end
    return self:evaluate(w)
  end, self.sources, whole, 80)
end

-- "?word" and "word?": help.
function Session:question(text)
  local marks, word = text:match "^%s*(%?+)%s*(.-)%s*$"
  if not marks then
    word, marks = text:match "^%s*([%w_.:]+)(%?+)%s*$"
  end
  if not marks or word == "" then return false end
  local results = self:call(self.about, self, word, #marks > 1)
  if results then
    self:send("data text/plain", results[1])
    self:send "result"
  end
  return true
end

function Session:execute(request)
  local count, text = request:match "^(%d+)\n(.*)$"
  if not count or not text:find "%S" or self:question(text) then return end
  self.count = tonumber(count)
  local name = ("=stdin[%d]"):format(self.count)
  self.sources[name] = text
  local f, shows = chunk.compile(with_result(text), self.locals, name)
  if not f then return self:complain{message = shows} end
  local results = self:call(f)
  if not results or results.n == 0 or not shows then return end
  local last
  for kind in chunk.tokens(text) do last = kind end
  if last == ";" then return end
  if results.n == 1 and results[1] == nil then return end
  if results[1] ~= nil then rawset(_G, "_", results[1]) end
  self:call(self.show, self, results)
end

-- ---- questions of the editor ----

-- The part of the text that the matches go on with.
local function open_word(text, list)
  local first = list[1] or ""
  for n = math.min(#first, #text), 1, -1 do
    if text:sub(-n) == first:sub(1, n) then return text:sub(-n) end
  end
  return ""
end

function Session:complete(text)
  local list = complete.words(text, self.locals, self.terminal.list)
  self:send("word", open_word(text, list))
  for k = 1, math.min(#list, 1000) do self:send("match", list[k]) end
end

function Session:inspect(text)
  local level, before, after = text:match "^(%d+) (.-)%z(.*)$"
  if not level then return end
  before = before:gsub("%(%s*$", "")
  local word = before:match "[%a_]?[%w_.:]*$" .. after:match "^[%w_]*"
  if word == "" then return end
  local answer = self:about(word, level ~= "0")
  if answer and not answer:find "^nothing is known" then
    self:send("text", answer)
  end
end

function Session:is_complete(text)
  local status = "incomplete"
  if chunk.finished(text) then
    local whole = load("return " .. text, "=cell", "t")
      or load(text, "=cell", "t") or text:find "^%s*%?" or text:find "%?%s*$"
    status = whole and "complete" or "invalid"
  end
  self:send("status", status)
end

local REQUESTS = {execute = true, complete = true, inspect = true,
  is_complete = true}

-- ---- input ----

-- io.read asks the notebook for a line; other formats than lines and numbers
-- read what standard input has, which is nothing.
function Session:ask_line(prompt)
  self:send("input", prompt or "")
  local kind, text = self:receive()
  if kind == "line" then return text end
end

local function replace_read(self)
  local old = io.read
  rawset(io, "read", function(format, ...)
    local kind = type(format) == "string" and format:gsub("^%*", "") or format
    if kind ~= nil and kind ~= "l" and kind ~= "L" and kind ~= "n" then
      return old(format, ...)
    end
    local line = self:ask_line()
    if line and kind == "L" then return line .. "\n" end
    if line and kind == "n" then return tonumber(line) end
    return line
  end)
end

-- ---- the loop ----

-- Runs until the requests end. terminal: call(handler, f, ...), which Ctrl-C
-- interrupts, and list(folder), as for the prompt; from and to are files.
function session.run(terminal, from, to)
  local self = setmetatable({terminal = terminal, from = from, to = to,
    count = 0, sources = {}, locals = chunk.new_locals()}, Session)
  self.handler = errors.handler(self.sources)
  stdout:setvbuf "line"
  replace_read(self)
  rawset(_G, "la", la)
  rawset(_G, "plot", rawget(_G, "plot") or plot)
  figure.display = function(fig)
    self:bundle(fig)
    self:send "display"
  end
  while true do
    local kind, text = self:receive()
    if not kind or not text then return end
    if REQUESTS[kind] then
      local ok, problem = pcall(self[kind], self, text)
      if not ok then self:complain{message = tostring(problem)} end
      self:send "done"
    end
  end
end

return session
