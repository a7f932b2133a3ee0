-- lunarray.llm.syntax: the syntax of chat templates: a list of nodes, each a
-- table whose first element says what it is. lunarray.llm.template runs them.
local values = require "lunarray.llm.values"
local syntax = {}
local NONE, UNDEFINED = values.NONE, values.UNDEFINED

local DEPTH = 64

local function fail(text, ...) error("template: " .. text:format(...), 0) end

-- ---- parts of a template: texts, {{ }}, {% %} ----

local CLOSE = {["{{"] = "}}", ["{%"] = "%}", ["{#"] = "#}"}

-- The quote that ends the text which begins at 'from'.
local function end_of_quote(source, from)
  local quote, at = source:sub(from, from), from
  while true do
    at = source:find("[\\" .. quote .. "]", at + 1)
    if not at then fail("a text without its end") end
    if source:sub(at, at) == quote then return at end
    at = at + 1
  end
end

-- Where the tag ends, past texts in quotes and braces in pairs.
local function find_close(source, at, close)
  local open = 0
  while true do
    local from = source:find("[\"'{}%%%-]", at)
    if not from then fail("a tag without %s", close) end
    local c = source:sub(from, from)
    at = from + 1
    if c == '"' or c == "'" then
      at = end_of_quote(source, from) + 1
    elseif open == 0 and source:sub(from, from + 2) == "-" .. close then
      return from, from + 2, true
    elseif open == 0 and source:sub(from, from + 1) == close then
      return from, from + 1, false
    elseif c == "{" then
      open = open + 1
    elseif c == "}" then
      open = math.max(0, open - 1)
    end
  end
end

-- A list of {kind, text}. As the tools of the models do, a newline behind a
-- block goes, and blanks between a line's begin and a block.
local function scan(source)
  local parts, at, strip, newline = {}, 1, false, false
  while at <= #source do
    local from = source:find("{[{%%#]", at) or #source + 1
    local text = source:sub(at, from - 1)
    local kind = source:sub(from, from + 1)
    local cut = source:sub(from + 2, from + 2)
    if strip then text = text:gsub("^%s+", "")
    elseif newline then text = text:gsub("^\n", "") end
    if cut == "-" then text = text:gsub("%s+$", "")
    elseif kind == "{%" or kind == "{#" then
      local line = text:match("()[ \t]*$")
      if line == 1 and (#parts == 0 or newline) or text:sub(line - 1, line - 1)
         == "\n" then text = text:sub(1, line - 1) end
    end
    if text ~= "" then parts[#parts + 1] = {kind = "text", text = text} end
    if from > #source then break end
    local open = from + 2 + (cut == "-" and 1 or 0)
    local last, stop
    if kind == "{#" then
      last = source:find("#}", open, true)
      if not last then fail("a comment without #}") end
      strip = source:sub(last - 1, last - 1) == "-"
      stop = last + 1
    else
      last, stop, strip = find_close(source, open, CLOSE[kind])
      parts[#parts + 1] = {kind = kind, text = source:sub(open, last - 1)}
    end
    newline, at = kind ~= "{{", stop + 1
  end
  return parts
end

-- ---- expressions ----

local SIGNS = {"==", "!=", "<=", ">=", "//", "**", "<", ">", "+", "-", "*", "/",
               "%", "~", "(", ")", "[", "]", "{", "}", ",", ":", ".", "|", "="}
local LETTERS = {n = "\n", t = "\t", r = "\r"}

local function lex(text)
  local out, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then break end
    local name = text:match("^[%a_][%w_]*", at)
    local number = text:match("^%d+%.?%d*", at)
    local c = text:sub(at, at)
    if name then
      out[#out + 1] = {kind = "name", v = name}
      at = at + #name
    elseif number then
      number = number:gsub("%.$", "")
      out[#out + 1] = {kind = "value", v = tonumber(number)}
      at = at + #number
    elseif c == '"' or c == "'" then
      local stop = end_of_quote(text, at)
      local s = text:sub(at + 1, stop - 1):gsub("\\(.)", function(e)
        return LETTERS[e] or e
      end)
      out[#out + 1] = {kind = "value", v = s}
      at = stop + 1
    else
      local sign
      for _, s in ipairs(SIGNS) do
        if text:sub(at, at + #s - 1) == s then sign = s break end
      end
      if not sign then fail("'%s' is no sign", c) end
      out[#out + 1] = {kind = "sign", v = sign}
      at = at + #sign
    end
  end
  return out
end

local Parser = {}
Parser.__index = Parser

local function parser(text)
  return setmetatable({list = lex(text), at = 1, depth = 0, text = text},
                      Parser)
end
function Parser:peek(v)
  local t = self.list[self.at]
  return t and t.kind ~= "value" and t.v == v
end
function Parser:accept(v)
  if not self:peek(v) then return false end
  self.at = self.at + 1
  return true
end
function Parser:expect(v)
  if not self:accept(v) then fail("'%s' expected in '%s'", v, self.text) end
end
function Parser:name()
  local t = self.list[self.at]
  if not t or t.kind ~= "name" then
    fail("a name expected in '%s'", self.text)
  end
  self.at = self.at + 1
  return t.v
end

local CONSTANTS = {["true"] = true, True = true, ["false"] = false,
                   False = false, none = NONE, None = NONE}

-- Arguments up to ')': a list, and names with values.
function Parser:arguments()
  local list, named = {}, {}
  while not self:accept(")") do
    local t, n = self.list[self.at], self.list[self.at + 1]
    if t and t.kind == "name" and n and n.kind == "sign" and n.v == "=" then
      self.at = self.at + 2
      named[#named + 1] = {t.v, self:expression()}
    else
      list[#list + 1] = self:expression()
    end
    if not self:peek(")") then self:expect(",") end
  end
  return list, named
end

function Parser:items(close)
  local list = {}
  while not self:accept(close) do
    list[#list + 1] = self:expression()
    if not self:peek(close) then self:expect(",") end
  end
  return list
end

function Parser:primary()
  local t = self.list[self.at]
  if not t then fail("an expression expected in '%s'", self.text) end
  self.at = self.at + 1
  if t.kind == "value" then
    local v = t.v                       -- texts next to each other are one
    while type(v) == "string" and self.list[self.at]
          and self.list[self.at].kind == "value" do
      v = v .. tostring(self.list[self.at].v)
      self.at = self.at + 1
    end
    return {"constant", v}
  end
  if t.kind == "name" then
    if CONSTANTS[t.v] ~= nil then return {"constant", CONSTANTS[t.v]} end
    return {"name", t.v}
  end
  if t.v == "(" then
    local e = self:expression()
    if self:peek(",") then
      self:accept(",")
      local list = self:items(")")
      table.insert(list, 1, e)
      return {"list", list}
    end
    self:expect(")")
    return e
  elseif t.v == "[" then
    return {"list", self:items("]")}
  elseif t.v == "{" then
    local pairs_ = {}
    while not self:accept("}") do
      local key = self:expression()
      self:expect(":")
      pairs_[#pairs_ + 1] = {key, self:expression()}
      if not self:peek("}") then self:expect(",") end
    end
    return {"dict", pairs_}
  end
  fail("'%s' not expected in '%s'", t.v, self.text)
end

function Parser:subscript(e)
  local first, last, step
  if not self:peek(":") then first = self:expression() end
  if self:accept("]") then return {"member", e, first} end
  self:expect(":")
  if not self:peek("]") and not self:peek(":") then
    last = self:expression()
  end
  if self:accept(":") and not self:peek("]") then step = self:expression() end
  self:expect("]")
  return {"slice", e, first, last, step}
end

function Parser:postfix()
  local e = self:primary()
  while true do
    if self:accept(".") then
      local t = self.list[self.at]
      self.at = self.at + 1
      if not t then fail("a name expected in '%s'", self.text) end
      e = {"member", e, {"constant", t.v}}
    elseif self:accept("[") then e = self:subscript(e)
    elseif self:accept("(") then
      local list, named = self:arguments()
      e = {"call", e, list, named}
    elseif self:accept("|") then
      local name, list, named = self:name(), {}, {}
      if self:accept("(") then list, named = self:arguments() end
      e = {"filter", e, name, list, named}
    elseif self:accept("is") then
      local negative = self:accept("not")
      local name, list = self:name(), {}
      local t = self.list[self.at]
      if self:accept("(") then list = self:arguments()
      elseif t and (t.kind == "value" or t.kind == "name"
                    and not ({["and"] = 1, ["or"] = 1, ["else"] = 1, ["if"] = 1,
                              ["not"] = 1, ["in"] = 1, is = 1})[t.v]) then
        list = {self:primary()}
      end
      e = {"test", e, name, list, negative}
    else
      return e
    end
  end
end

function Parser:unary()
  if self:accept("-") then return {"minus", self:unary()} end
  if self:accept("+") then return self:unary() end
  return self:postfix()
end

-- Operators of two operands, from the weakest level on.
local LEVELS = {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}}
function Parser:level(n)
  if n > #LEVELS then return self:unary() end
  local e = self:level(n + 1)
  while true do
    local found
    for _, sign in ipairs(LEVELS[n]) do
      if self:accept(sign) then found = sign break end
    end
    if not found then return e end
    e = {"binary", found, e, self:level(n + 1)}
  end
end

function Parser:comparison()
  local e = self:level(1)
  while true do
    local found
    for _, sign in ipairs{"==", "!=", "<=", ">=", "<", ">"} do
      if self:accept(sign) then found = sign break end
    end
    if found then e = {"compare", found, e, self:level(1)}
    elseif self:accept("in") then e = {"in", e, self:level(1)}
    elseif self:peek("not") and self.list[self.at + 1]
           and self.list[self.at + 1].v == "in" then
      self.at = self.at + 2
      e = {"not", {"in", e, self:level(1)}}
    else
      return e
    end
  end
end

function Parser:negation()
  if self:accept("not") then return {"not", self:negation()} end
  return self:comparison()
end

function Parser:conjunction()
  local e = self:negation()
  while self:accept("and") do e = {"and", e, self:negation()} end
  return e
end

function Parser:disjunction()
  local e = self:conjunction()
  while self:accept("or") do e = {"or", e, self:conjunction()} end
  return e
end

function Parser:expression()
  self.depth = self.depth + 1
  if self.depth > DEPTH then fail("nested too deep") end
  local e = self:disjunction()
  if self:accept("if") then
    local test = self:disjunction()
    local other = {"constant", UNDEFINED}
    if self:accept("else") then other = self:expression() end
    e = {"choice", test, e, other}
  end
  self.depth = self.depth - 1
  return e
end

local function expression(text)
  local p = parser(text)
  local e = p:expression()
  if p.at <= #p.list then fail("more than an expression in '%s'", text) end
  return e
end

-- ---- statements ----

local function targets(p)
  local list = {}
  repeat list[#list + 1] = p:name() until not p:accept(",")
  return list
end

local read_body

local STATEMENTS = {}

STATEMENTS["for"] = function(parts, p)
  local node = {"for", targets(p)}
  p:expect("in")
  node[3] = p:disjunction()
  if p:accept("if") then node.only = p:expression() end
  local stop
  node.body, stop = read_body(parts, {"else", "endfor"})
  if stop == "else" then node.other = read_body(parts, {"endfor"}) end
  return node
end

STATEMENTS["if"] = function(parts, p)
  local node = {"if", {}}
  local test = p:expression()
  while true do
    local body, stop, rest = read_body(parts, {"elif", "else", "endif"})
    table.insert(node[2], {test, body})
    if stop == "endif" then return node end
    if stop == "else" then
      node.other = read_body(parts, {"endif"})
      return node
    end
    test = rest:expression()
  end
end

function STATEMENTS.set(parts, p)
  local names = targets(p)
  local field = p:accept(".") and p:name()
  if p:accept("=") then
    return {"set", names, p:expression(), field = field}
  end
  return {"set", names, body = read_body(parts, {"endset"})}
end

function STATEMENTS.macro(parts, p)
  local name, names, defaults = p:name(), {}, {}
  p:expect("(")
  while not p:accept(")") do
    names[#names + 1] = p:name()
    if p:accept("=") then defaults[#names] = p:expression() end
    if not p:peek(")") then p:expect(",") end
  end
  return {"macro", name, names, defaults, read_body(parts, {"endmacro"})}
end

function STATEMENTS.generation(parts)
  return {"block", read_body(parts, {"endgeneration"})}
end
STATEMENTS["break"] = function() return {"break"} end
STATEMENTS.continue = function() return {"continue"} end

-- Nodes up to a statement of 'stops': these, its name and its parser.
function read_body(parts, stops)
  local nodes = {}
  parts.depth = (parts.depth or 0) + 1
  if parts.depth > DEPTH then fail("blocks nest too deep") end
  while parts[parts.at] do
    local part = parts[parts.at]
    parts.at = parts.at + 1
    if part.kind == "text" then nodes[#nodes + 1] = {"text", part.text}
    elseif part.kind == "{{" then
      nodes[#nodes + 1] = {"put", expression(part.text)}
    else
      local p = parser(part.text)
      local word = p:name()
      for _, stop in ipairs(stops) do
        if stop == word then
          parts.depth = parts.depth - 1
          return nodes, word, p
        end
      end
      if not STATEMENTS[word] then fail("no statement '%s'", word) end
      nodes[#nodes + 1] = STATEMENTS[word](parts, p)
    end
  end
  if #stops > 0 then fail("'%s' is missing", stops[#stops]) end
  return nodes
end

-- The nodes of a template.
function syntax.parse(source)
  local parts = scan(source)
  parts.at = 1
  return (read_body(parts, {}))
end

return syntax
