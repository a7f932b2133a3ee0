-- lunarray.repl.complete: what Tab offers.
--
-- The text before the cursor is read backwards: a name, the path it belongs
-- to, and the calls and indices between. Paths are followed in the user's
-- variables; of a call only what its callee is known to return is used. Nothing
-- is run but __index.
local is_tensor = require "lunarray.tensors".is_tensor
local help = require "lunarray.help"
local chunk = require "lunarray.repl.chunk"
local names = require "lunarray.repl.names"

-- Kept, as whoever types may wipe the globals.
local ipairs, next, pcall, rawget, type = ipairs, next, pcall, rawget, type
local table, _G = table, _G

local complete = {}

local KEYWORDS = [[and break do else elseif end false for function goto if in
  local nil not or repeat return then true until while]]

local COMMANDS = {}

-- ---- reading backwards ----

-- The position of the bracket that closes at 'at'; nil when there is none.
local function matching(text, at)
  local depth, k = 0, at
  while k >= 1 do
    local c = text:sub(k, k)
    if c:find("[%)%]}]") then depth = depth + 1
    elseif c:find("[%(%[{]") then
      depth = depth - 1
      if depth == 0 then return k end
    end
    k = k - 1
  end
end

-- The steps of the expression that ends at 'stop': names with the mark before
-- them ("", "." or ":"), "call" and "index"; nil for what is no such path.
local function steps_before(text, stop)
  local steps, k = {}, stop
  while true do
    local c = text:sub(k, k)
    if c == ")" or c == "]" or c == "}" then
      local from = matching(text, k)
      if not from then return nil end
      table.insert(steps, 1, {c == "]" and "index" or "call"})
      k = from - 1
    elseif c:find("[\"']") and text:sub(1, k - 1):find(c, 1, true) then
      local from = k - 1
      while text:sub(from, from) ~= c do from = from - 1 end
      if from == 1 or not text:sub(from - 1, from - 1):find("[%w_ ]") then
        table.insert(steps, 1, {"string"})
        return steps
      end
      table.insert(steps, 1, {"call"})
      k = from - 1
      while text:sub(k, k) == " " do k = k - 1 end
    elseif c:find("[%w_]") then
      local from = k
      while text:sub(from - 1, from - 1):find("[%w_]") do from = from - 1 end
      local mark = text:sub(from - 1, from - 1)
      if mark ~= "." and mark ~= ":" then
        table.insert(steps, 1, {"", text:sub(from, k)})
        return steps
      end
      table.insert(steps, 1, {mark, text:sub(from, k)})
      k = from - 2
    else
      return nil
    end
  end
end

-- ---- what a path leads to: a value, or a kind of which only names count ----

local TENSOR = {}        -- some tensor, at hand or not

-- Keys of tables that stand for what is not at hand: an object of a class of
-- the table of words, an object of a module's class, a method or function.
local CLASS, INSTANCE, METHOD = {}, {}, {}

-- What a call of a word gives first: a value, {[CLASS] = name}, or nil.
local function result_of(name)
  local kind = name and help.returns(name)
  if kind == "tensor" or kind == "tensor or table" then return TENSOR end
  if kind == "string" then return "" end
  local row = kind and help.find(kind)
  return row and row.kind ~= "property" and {[CLASS] = row.name} or nil
end

local function follow_name(value, name)
  if value == TENSOR then return {[METHOD] = "x:" .. name} end
  if type(value) == "table" and rawget(value, CLASS) then
    local known = help.names(value[CLASS])[name]
      or help.find("nn.Module:" .. name)
    return known and {[METHOD] = known.name}
  end
  local ok, found = pcall(function() return value[name] end)
  if not ok or found == nil then return nil end
  if is_tensor(value) and type(found) == "function" then
    return {[METHOD] = "x:" .. name}
  end
  return found
end

-- What a call of 'value' gives, as far as that is known without it.
local function follow_call(value)
  if type(value) == "table" then
    if rawget(value, METHOD) then return result_of(value[METHOD]) end
    local nn = package.loaded["lunarray.nn"]
    if nn and nn.is_module(value) then return TENSOR end
    if rawget(value, "_meta") then return {[INSTANCE] = value} end
  elseif type(value) == "function" then
    return result_of(help.name_of(value))
  end
end

local function follow(steps, locals)
  local value = nil
  for i, step in ipairs(steps) do
    local kind = step[1]
    if i == 1 then
      if kind == "string" then value = ""
      elseif kind == "" then
        value = chunk.value(locals, step[2])
        if value == nil then value = rawget(_G, step[2]) end
      end
    elseif kind == "call" then
      value = follow_call(value)
    elseif kind == "index" then
      if not (value == TENSOR or is_tensor(value)) then return nil end
      value = TENSOR
    else
      value = follow_name(value, step[2])
    end
    if value == nil then return nil end
  end
  return value
end

local function names_of(value)
  if value == TENSOR then return names.of_tensors() end
  if type(value) == "table" and rawget(value, INSTANCE) then
    local set = names.of(value[INSTANCE])
    set.super = nil
    return set
  end
  if type(value) == "table" and rawget(value, CLASS) then
    local set = {}
    for name in next, help.names(value[CLASS]) do set[name] = true end
    return set
  end
  return names.of(value)
end

-- ---- other words ----

-- The word that the expression before 'stop' is a call of.
local function callee(text, stop, locals)
  local steps = steps_before(text, stop)
  local value = steps and follow(steps, locals)
  if type(value) == "table" and rawget(value, METHOD) then
    return value[METHOD]
  end
  return help.name_of(value) or text:sub(1, stop):match("([%w_.:]+)$")
end

-- Names of keywords that the call around the cursor takes, with "=".
local function keywords(text, set, locals)
  local depth, k = 0, #text
  while k >= 1 do
    local c = text:sub(k, k)
    if c:find("[%)%]}]") then depth = depth + 1
    elseif c:find("[%(%[{]") then
      if depth == 0 and c == "(" then break end
      if depth == 0 and c == "{" and text:sub(1, k - 1):find("[%w_]$") then
        break
      end
      if depth > 0 then depth = depth - 1 end
    end
    k = k - 1
  end
  local name = k > 1 and callee(text, k - 1, locals)
  for _, keyword in ipairs(name and help.keywords(name) or {}) do
    set[keyword.name .. " ="] = true
  end
end

local DTYPES = [[bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16
  bfloat16 float32 float64 complex64 complex128]]

-- Files and folders that begin with 'path'; as the terminal lists them.
local function files(path, list)
  local folder, word = path:match("^(.*/)([^/]*)$")
  folder, word = folder or "", word or path
  local found = {}
  for _, name in ipairs(list(folder == "" and "." or folder) or {}) do
    if name:sub(1, #word) == word and (word ~= "" or name:sub(1, 1) ~= ".") then
      found[#found + 1] = name
    end
  end
  return found, word
end

-- Names of modules: those that are loaded or inside the program, and files of
-- package.path.
local function modules(word, list)
  local set = {}
  for name in next, package.loaded do set[name] = true end
  for name in next, package.preload do set[name] = true end
  local parent = word:match("^(.*)%.[^.]*$")
  for template in package.path:gmatch("[^;]+") do
    local folder = template:match("^(.*/)%?%.lua$")
    if folder then
      local inside = folder .. (parent and parent:gsub("%.", "/") .. "/" or "")
      for _, name in ipairs(list(inside) or {}) do
        name = name:match("^([%w_]+)%.lua$")
        if name then set[(parent and parent .. "." or "") .. name] = true end
      end
    end
  end
  return set
end

-- The text from the quote on that is open at the end of 'text', and what stands
-- before it; nil outside of strings.
local function open_string(text)
  local stop = nil
  for kind, word, at, after in chunk.tokens(text) do
    stop = kind == "string" and after > #text and word:find("^[\"']")
      and (#word == 1 or word:sub(-1) ~= word:sub(1, 1)) and at or nil
  end
  if stop then return text:sub(stop + 1), text:sub(1, stop - 1) end
end

-- ---- the answer ----

local function filter(set, word)
  local list = {}
  for name in next, set do
    if name:sub(1, #word) == word then list[#list + 1] = name end
  end
  table.sort(list)
  return list, word
end

local function words_set(text)
  local set = {}
  for word in text:gmatch("[%w_]+") do set[word] = true end
  return set
end

local function in_string(word, before, list)
  if before:find("require%s*%(?%s*$") then
    return filter(modules(word, list), word)
  elseif before:find("dtype%s*=%s*$") or before:find(":to%s*%(?%s*$") then
    return filter(words_set(DTYPES), word)
  elseif before:find("device%s*=%s*$") then
    return filter(words_set "cpu meta", word)
  elseif before:find("memory_format%s*=%s*$") then
    return filter(words_set "contiguous_format channels_last preserve_format",
      word)
  end
  return files(word, list)
end

local function candidates(text, locals, list)
  local command, rest = text:match("^%s*:(%a*)()")
  if command and rest > #text then
    return filter(COMMANDS, command)
  elseif text:find("^%s*:[%a]+%s") then
    local name = text:match("^%s*:(%a+)")
    if name == "load" or name == "save" then
      return files(text:match("(%S*)$"), list)
    end
    text = text:gsub("^%s*:%a+%s", "", 1)
  elseif text:find("^%s*!") then
    return files(text:match("([^%s!]*)$"), list)
  end
  local part, before = open_string(text)
  if part then return in_string(part, before, list) end
  text = text:gsub("^%s*%?+%s*", "", 1)
  local word = text:match("[%a_][%w_]*$") or ""
  local at = #text - #word
  local mark = text:sub(at, at)
  if mark == "." and text:sub(at - 1, at - 1) ~= "." or mark == ":" then
    local steps = steps_before(text, at - 1)
    local value = steps and follow(steps, locals)
    if value == nil then return {}, word end
    return filter(names_of(value), word)
  end
  if word == "" and not text:find("[%(,{]%s*$") then return {}, word end
  local set = {}
  keywords(text, set, locals)
  if word ~= "" then
    for name in next, words_set(KEYWORDS) do set[name] = true end
    for name in next, names.of(_G) do set[name] = true end
    for name in next, locals do set[name] = true end
  end
  return filter(set, word)
end

local function common_prefix(list)
  local prefix = list[1] or ""
  for _, word in ipairs(list) do
    while word:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

-- Names of the prompt's commands, for ":".
function complete.set_commands(set) COMMANDS = set end

-- Words that can go on the text, sorted, and what all of them have beyond what
-- is typed. 'locals' are the kept ones of the prompt; list(folder) gives names
-- of files, folders with a slash at their end.
function complete.words(text, locals, list)
  local found, word = candidates(text, locals or {}, list
    or function() return {} end)
  return found, common_prefix(found):sub(#word + 1)
end

return complete
