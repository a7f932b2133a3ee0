-- lunarray.repl.chunk: chunks of the prompt, and the locals that survive them.
--
-- A local of a chunk's outermost block lives on in later chunks, as the same
-- variable that functions of its chunk see: a chunk that names it is compiled
-- inside a function with a local of that name, whose upvalue is then joined
-- with the kept one (debug.upvaluejoin). Nothing else of Lua's rules changes,
-- and chunks that name no kept local are compiled as they are.

-- Kept, as whoever types may wipe the globals.
local ipairs, pairs, select, debug = ipairs, pairs, select, debug
local table = table
local chunk = {}

local load, pack = load, table.pack
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
local join = debug.upvaluejoin

-- ---- tokens ----

-- The position after the long bracket that begins at 'at'; nil when it is
-- none, the end of the text where it has no end.
local function skip_long(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, stop = text:find("]" .. level .. "]", at, true)
  return (stop or #text) + 1
end

-- The position after the string that begins at 'at' with that quote.
local function skip_string(text, at, quote)
  local k = at + 1
  while k <= #text do
    local c = text:sub(k, k)
    if c == "\\" then k = k + 1
    elseif c == quote or c == "\n" then return k + 1 end
    k = k + 1
  end
  return k
end

local function skip_blank(text, at)
  while true do
    at = text:find("%S", at) or #text + 1
    if text:sub(at, at + 1) ~= "--" then return at end
    at = skip_long(text, at + 2) or (text:find("\n", at, true) or #text) + 1
  end
end

-- An iterator over the tokens from 'at' on: kind ("name", "string", "number" or
-- the character itself), text, position, position behind it. Texts that are no
-- Lua give some tokens too.
function chunk.tokens(text, at)
  at = at or 1
  return function()
    local from = skip_blank(text, at)
    local c = text:sub(from, from)
    if c == "" then return nil end
    local kind = c
    if c:find("[%a_]") then
      kind, at = "name", text:match("^[%w_]+()", from)
    elseif c:find("%d") then
      kind, at = "number", text:match("^[%w.]+()", from)
    elseif c == "'" or c == '"' then
      kind, at = "string", skip_string(text, from, c)
    elseif skip_long(text, from) then
      kind, at = "string", skip_long(text, from)
    elseif text:find("^%.%.", from) then
      kind, at = "..", text:match("^%.+()", from)
    else
      at = from + 1
    end
    return kind, text:sub(from, at - 1), from, at
  end
end

-- ---- what a chunk says of itself ----

local OPENS = {["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1,
  ["end"] = -1, ["until"] = -1}

-- Collects the names that "local" declares, token by token: false when the
-- declaration is over.
local function declare(state, kind, word)
  if state.attribute then
    if kind == ">" then state.attribute = false end
    return true
  elseif kind == "<" then
    state.attribute = true
    return true
  elseif kind == "name" and state.wants then
    state.wants = false
    if word == "function" then state.wants, state.single = true, true
    else state.names[#state.names + 1] = word end
    return not (state.single and word ~= "function")
  elseif kind == "," then
    state.wants = true
    return true
  end
  return false
end

-- A table: names, the locals of the outermost block in their order; mentions, a
-- set of all names; stop, the position of an outermost "return"; quiet, whether
-- the last token is a semicolon.
function chunk.read(text)
  local found = {names = {}, mentions = {}}
  local depth, state, before = 0, nil, nil
  for kind, word, at in chunk.tokens(text) do
    local key = kind == "name" and before ~= "." and before ~= ":"
    if state and not declare(state, kind, word) then state = nil end
    if key then
      found.mentions[word] = true
      if word == "local" and depth == 0 then
        state = {wants = true, names = found.names}
      elseif word == "return" and depth == 0 then
        found.stop = at
      end
      depth = depth + (OPENS[word] or 0)
    end
    before = kind
  end
  found.quiet = before == ";"
  return found
end

-- ---- compiling ----

-- A new set of kept locals: names to {f, i}, the function that has it as its
-- upvalue i.
function chunk.new_locals() return {} end

-- The value of the kept local 'name'; nil for others too.
function chunk.value(locals, name)
  local entry = locals[name]
  if not entry then return nil end
  return (select(2, getupvalue(entry.f, entry.i)))
end

local function hold(value)
  return {f = function() return value end, i = 1}
end

-- What the chunk calls at its end with a function that returns its locals. A
-- compile-time constant is no upvalue: its value is kept.
local function keeper(locals, names)
  return function(f)
    local index = {}
    for i = 1, 255 do
      local name = getupvalue(f, i)
      if not name then break end
      index[name] = i
    end
    local values = nil
    for k, name in ipairs(names) do
      values = values or not index[name] and pack(f())
      locals[name] = index[name] and {f = f, i = index[name]}
        or hold(values[k])
    end
  end
end

-- The text with a call of the keeper, which has that name, where its outermost
-- block ends.
local function with_keeper(text, found, keep)
  local seen, names = {}, {}
  for k = #found.names, 1, -1 do
    local name = found.names[k]
    if not seen[name] and #names < 100 then
      seen[name], names[#names + 1] = true, name
    end
  end
  local call = (" %s(function() return %s end) "):format(keep,
    table.concat(names, ", "))
  if found.stop then
    text = text:sub(1, found.stop - 1) .. call .. text:sub(found.stop)
  else
    text = text .. "\n" .. call
  end
  return text, names
end

-- The text, which Lua takes as it is, as a function that shares kept locals;
-- nil where that form is not possible (more variables than Lua has).
local function compile_shared(text, found, locals, name)
  local used, made = {}, {}
  for word in pairs(found.mentions) do
    if locals[word] then used[#used + 1] = word end
  end
  if #used == 0 and #found.names == 0 then return nil end
  local keep = "keep__"        -- or longer: a name that the chunk has not
  while found.mentions[keep] do keep = keep .. "_" end
  if #found.names > 0 then text, made = with_keeper(text, found, keep) end
  local first = "local " .. table.concat({keep, table.unpack(used)}, ", ")
  local outer = load(first .. " = ... return function(...) " .. text
    .. "\nend", name, "t")
  if not outer then return nil end
  local f = outer(keeper(locals, made))
  for i = 1, 255 do
    local upvalue = getupvalue(f, i)
    if not upvalue then break end
    local entry = upvalue ~= keep and locals[upvalue]
    if entry then join(f, i, entry.f, entry.i) end
  end
  return f
end

-- Lua's message on a text that only lacks its end says so.
local function lacks_end(message) return message:find("<eof>$") ~= nil end

-- A function, and whether its results are to be shown; or nil, the message and
-- whether only the end is missing. An expression is taken as if "return" stood
-- before it ("=" in front too); one that ends by a semicolon is quiet.
function chunk.compile(text, locals, name)
  local body = text:gsub("^%s*=", "", 1)
  local f = load("return " .. body, name, "t")
  local expression = f ~= nil
  if expression then
    body = "return " .. body
  else
    local message
    body = text
    f, message = load(text, name, "t")
    if not f then return nil, message, lacks_end(message) end
  end
  local found = chunk.read(body)
  return compile_shared(body, found, locals, name) or f,
    not (expression and found.quiet), expression
end

-- Is the text one to run: whole, or wrong in another way than having no end?
function chunk.finished(text)
  if load("return " .. text, "=stdin", "t") then return true end
  local f, message = load(text, "=stdin", "t")
  return f ~= nil or not lacks_end(message)
end

-- Set a kept local, where there is one of that name.
function chunk.assign(locals, name, value)
  local entry = locals[name]
  if entry then setupvalue(entry.f, entry.i, value) end
  return entry ~= nil
end

return chunk
