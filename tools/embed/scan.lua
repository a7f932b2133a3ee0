-- What the preprocessed text of the whole file declares, unit by unit: names at
-- file scope, what is exported, and every identifier that occurs.
local scan = {}

local SKIPPED = {__attribute__ = true, __attribute = true, __asm__ = true,
  __asm = true, asm = true, __typeof__ = true, _Alignas = true,
  __declspec = true, typeof = true, _Static_assert = true,
  _Atomic = true}
local STORAGE = {static = true, extern = true, typedef = true, inline = true,
  __inline = true, __inline__ = true, const = true, volatile = true,
  _Thread_local = true, __restrict = true, _Noreturn = true,
  __extension__ = true}

-- Tokens without attributes and their like.
local function plain(tokens)
  local list, i = {}, 1
  while i <= #tokens do
    local token = tokens[i]
    if SKIPPED[token] then
      local depth = 0
      i = i + 1
      if tokens[i] == "(" then repeat
        if tokens[i] == "(" then depth = depth + 1 end
        if tokens[i] == ")" then depth = depth - 1 end
        i = i + 1
      until depth <= 0 or i > #tokens end
    else
      if token ~= "__extension__" then list[#list + 1] = token end
      i = i + 1
    end
  end
  return list
end

-- Declarators: the parts between commas outside of parentheses.
local function parts(tokens)
  local list, part, depth = {}, {}, 0
  for _, token in ipairs(tokens) do
    if token == "(" or token == "[" then depth = depth + 1 end
    if token == ")" or token == "]" then depth = depth - 1 end
    if token == "," and depth == 0 then
      list[#list + 1], part = part, {}
    else
      part[#part + 1] = token
    end
  end
  list[#list + 1] = part
  return list
end

local function is_name(token)
  return token and token:match("^[%a_]") and not STORAGE[token]
end

-- The name of one declarator.
local function declared(part)
  for i, token in ipairs(part) do
    if token == "(" then
      if part[i + 1] == "*" then   -- a pointer to a function or an array
        local k = i + 1
        while part[k] == "*" or STORAGE[part[k]] do k = k + 1 end
        return part[k]
      end
      return part[i - 1], true
    elseif token == "=" or token == "[" or token == ":" then
      return part[i - 1]
    end
  end
  return part[#part]
end

-- "struct tag {...}" is a name of the unit, "struct tag" a mention.
local function note_tags(unit, tokens)
  for i, token in ipairs(tokens) do
    if token == "(" or token == "=" then break end
    local tag = tokens[i + 1]
    if (token == "struct" or token == "union" or token == "enum")
       and is_name(tag) then
      if tokens[i + 2] == "{}" then
        unit.names[tag] = "tag"
      elseif token ~= "enum" then
        unit.forward[tag] = true
      end
    end
  end
end

local function storage_of(tokens)
  for _, token in ipairs(tokens) do
    if token == "static" or token == "typedef" or token == "extern" then
      return token
    end
    if token == "(" or token == "=" then break end
  end
end

-- The end of a declaration or definition at file scope.
local function finish(unit, tokens, body)
  tokens = plain(tokens)
  if #tokens == 0 then return end
  note_tags(unit, tokens)
  local storage, list = storage_of(tokens), {}
  for _, token in ipairs(tokens) do
    if token ~= "{}" then list[#list + 1] = token end
  end
  -- "struct tag;" and "enum {...};" declare nothing else
  if #list == 1 or list[1] == "enum" and not storage
     or #list == 2 and (list[1] == "struct" or list[1] == "union") then
    return
  end
  for _, part in ipairs(parts(list)) do
    local name, is_function = declared(part)
    if is_name(name) and storage == "typedef" then
      unit.names[name] = "type"
    elseif is_name(name) and storage == "static" then
      unit.names[name] = "static"
    elseif is_name(name) then
      -- "type_fn name;" declares a function
      local defines = body or storage ~= "extern" and not is_function
        and not list[1]:match("_fn_?$")
      unit.externs[name] = unit.externs[name] or defines
      unit.prototypes[name] = unit.prototypes[name] or tokens
    end
  end
end

local find, sub = string.find, string.sub

local scanner = {}
scanner.__index = scanner

function scanner:unit_of(name)
  local unit = self.units[name]
  if not unit then
    unit = {name = name, names = {}, externs = {}, refs = {}, members = {},
            fields = {}, forward = {}, prototypes = {}}
    self.units[name] = unit
  end
  return unit
end

-- The kind of the braces that open behind the declaration so far: enum,
-- struct, value (an initializer) or body.
function scanner:opens()
  local list = plain(self.decl)
  local last, before = list[#list], list[#list - 1]
  for _, token in ipairs(list) do
    if token == "=" then return "value" end
  end
  if last == "enum" or before == "enum" then return "enum" end
  if last == "struct" or last == "union" or before == "struct"
     or before == "union" then return "struct" end
  return "body"
end

function scanner:end_declaration(body)
  finish(self.unit, self.decl, body)
  self.decl = {}
end

function scanner:close_brace()
  self.depth = self.depth - 1
  if self.depth > 0 or self.parens > 0 then return end
  if self.kind == "body" then
    self:end_declaration(true)
  else
    self.decl[#self.decl + 1] = "{}"
  end
end

function scanner:punctuation(c)
  if c == "{" then
    if self.depth == 0 and self.parens == 0 then
      self.kind, self.fresh = self:opens(), true
    end
    self.depth = self.depth + 1
  elseif c == "}" then
    self:close_brace()
  elseif self.depth == 0 then
    if c == "(" then self.parens = self.parens + 1 end
    if c == ")" then self.parens = self.parens - 1 end
    if c == ";" and self.parens == 0 then
      self:end_declaration(false)
    else
      self.decl[#self.decl + 1] = c
    end
  elseif self.kind == "enum" and self.depth == 1 and c == "," then
    self.fresh = true
  end
end

function scanner:word(word, last)
  local unit, kind = self.unit, self.kind
  if last == "." or last == "->" then unit.members[word] = true end
  if self.depth == 0 then
    self.decl[#self.decl + 1] = word
  elseif kind == "body" or kind == "value" then
    unit.refs[word] = true
  elseif kind == "enum" and self.fresh and self.depth == 1 then
    unit.names[word] = "constant"
    self.fresh = false
  elseif kind == "struct" then
    unit.fields[word] = true
  end
end

-- Where the literal at 'at' ends.
local function literal_end(line, at, c)
  if c ~= '"' and c ~= "'" then
    return select(2, find(line, "^[%w_%.]+", at))
  end
  local e = at
  repeat
    e = e + 1
    local d = sub(line, e, e)
    if d == "\\" then e = e + 1 end
  until d == c or e >= #line
  return e
end

function scanner:line(line)
  local at, last = 1, ""
  while at <= #line do
    local s, e = find(line, "^[%a_][%w_]*", at)
    local c = sub(line, at, at)
    if s then
      local word = sub(line, s, e)
      self:word(word, last)
      last = word
    elseif find(c, "[\"'%d]") then
      e = literal_end(line, at, c)
      if self.depth == 0 then self.decl[#self.decl + 1] = "0" end
      last = "0"
    elseif c == "-" and sub(line, at + 1, at + 1) == ">" then
      e, last = at + 1, "->"
    else
      e = at
      if not find(c, "%s") then
        self:punctuation(c)
        last = c
      end
    end
    at = e + 1
  end
end

-- {[name] = unit} of the text that "cc -E" made, with marks
-- "#pragma LA_UNIT name" in it. own(file) is true for the file itself; what
-- comes from others is of the unit "<system>". A unit has
--   names       at file scope, without linkage or of the unit: their kind
--   externs     those with linkage: true where they are defined
--   refs        identifiers in bodies and initializers
--   members     identifiers behind . and ->
--   fields      identifiers in structs
--   forward     tags of structs that are only mentioned
--   prototypes  the tokens of the first declaration
function scan.units(text, own)
  local s = setmetatable({units = {}, decl = {}, depth = 0, parens = 0,
                          fresh = false}, scanner)
  local marked, system = s:unit_of("<head>"), s:unit_of("<system>")
  s.unit = marked
  for line in text:gmatch("[^\n]+") do
    if sub(line, 1, 1) == "#" then
      local file = line:match('^# %d+ "([^"]*)"')
      local name = line:match("^#pragma LA_UNIT (%S+)")
      if name then
        marked = s:unit_of(name)
        s.unit = marked
      elseif file then
        s.unit = own(file) and marked or system
      end
    else
      s:line(line)
    end
  end
  return s.units
end

return scan
