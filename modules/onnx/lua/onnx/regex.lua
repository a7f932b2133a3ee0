-- lunarray.onnx.regex: regular expressions of RE2's syntax that match a whole
-- text, in time linear in its length: all states that the expression can be in
-- are followed at once (K. Thompson, 1968). (The engine of lunarray.tokenizer
-- finds the parts of a text and looks ahead, which needs backtracking; here
-- patterns come with the model, so that their time must have a limit.)
local regex = {}

-- Expressions compile to at most so many states: counts {m,n} copy theirs.
local MOST = 20000

local CLASSES = {d = "0-9", w = "0-9A-Za-z_", s = " \t\n\r\f\v"}
local ESCAPES = {n = "\n", t = "\t", r = "\r", f = "\f", v = "\v", a = "\a"}

local function fail(text) error("regular expression: " .. text, 0) end

-- ---- parsing: a tree of {kind, ...} ----

-- A set of code points: ranges {first, last}, negated or not.
local function set_of(text, negated)
  local set, k = {negated = negated}, 1
  while k <= #text do
    local first = text:byte(k)
    if text:sub(k + 1, k + 1) == "-" then
      set[#set + 1] = {first, text:byte(k + 2)}
      k = k + 3
    else
      set[#set + 1] = {first, first}
      k = k + 1
    end
  end
  return set
end

local function has(set, c)
  local found = false
  for _, range in ipairs(set) do
    if range.set then found = found or has(range.set, c)
    elseif c >= range[1] and c <= range[2] then found = true end
  end
  return found ~= (set.negated == true)
end

local Parser = {}
Parser.__index = Parser

function Parser:peek() return self.points[self.at] end
function Parser:is(char) return self:peek() == char:byte() end
function Parser:accept(char)
  if not self:is(char) then return false end
  self.at = self.at + 1
  return true
end

-- What stands behind a backslash: a set, or one code point.
function Parser:escape()
  local c = self:peek()
  if not c then fail("nothing behind a backslash") end
  self.at = self.at + 1
  if c > 127 then return nil, c end
  local char = string.char(c)
  local class = CLASSES[char:lower()]
  if class and char:find("[a-zA-Z]") then
    return set_of(class, char ~= char:lower())
  end
  if ESCAPES[char] then return nil, ESCAPES[char]:byte() end
  if char == "b" or char == "B" then return nil, nil, char end
  if char:find("[%w]") then fail("\\" .. char .. " is not known") end
  return nil, c
end

function Parser:class()
  local set = {negated = self:accept("^")}
  local first = true
  while first or not self:is("]") do
    first = false
    local c = self:peek()
    if not c then fail("a set is not closed") end
    self.at = self.at + 1
    local inner
    if c == 92 then inner, c = self:escape() end
    if inner then
      set[#set + 1] = {set = inner}
    elseif self:is("-") and self.points[self.at + 1] ~= 93
      and self.points[self.at + 1] then
      self.at = self.at + 1
      local last = self:peek()
      self.at = self.at + 1
      if last == 92 then last = select(2, self:escape()) end
      set[#set + 1] = {c, last or c}
    else
      set[#set + 1] = {c, c}
    end
  end
  self.at = self.at + 1
  return {kind = "set", set = set}
end

function Parser:atom()
  local c = self:peek()
  self.at = self.at + 1
  if c == 40 then
    if self:accept("?") and not self:accept(":") then
      if self:accept("P") then
        while self:peek() and not self:accept(">") do self.at = self.at + 1 end
      else
        fail("groups of this kind are not known")
      end
    end
    self.depth = self.depth + 1
    if self.depth > 64 then fail("nested deeper than 64") end
    local inner = self:choice()
    self.depth = self.depth - 1
    if not self:accept(")") then fail("a group is not closed") end
    return inner
  elseif c == 91 then
    return self:class()
  elseif c == 46 then
    return {kind = "set", set = {negated = true, {10, 10}}}
  elseif c == 94 or c == 36 then
    return {kind = "anchor", first = c == 94}
  elseif c == 92 then
    local set, point, edge = self:escape()
    if edge then return {kind = "anchor", edge = edge} end
    return {kind = "set", set = set or {{point, point}}}
  elseif c == 42 or c == 43 or c == 63 then
    fail("nothing to repeat")
  end
  return {kind = "set", set = {{c, c}}}
end

function Parser:counts()
  local text, k = {}, self.at + 1
  while self.points[k] and self.points[k] ~= 125 and #text < 24 do
    text[#text + 1] = self.points[k] < 128 and string.char(self.points[k])
      or "?"
    k = k + 1
  end
  local low, comma, high = table.concat(text):match("^(%d+)(,?)(%d*)$")
  if not low or self.points[k] ~= 125 then return nil end
  self.at = k + 1
  low = tonumber(low)
  high = comma == "" and low or tonumber(high)
  if low > 1000 or (high or 0) > 1000 then fail("more than 1000 times") end
  return low, high
end

function Parser:repeated()
  local node = self:atom()
  while true do
    local low, high
    if self:accept("*") then low = 0
    elseif self:accept("+") then low = 1
    elseif self:accept("?") then low, high = 0, 1
    elseif self:is("{") then
      low, high = self:counts()
      if not low then return node end
    else
      return node
    end
    self:accept("?")
    node = {kind = "repeat", node, low = low, high = high}
  end
end

function Parser:sequence()
  local list = {kind = "sequence"}
  while self:peek() and not self:is("|") and not self:is(")") do
    list[#list + 1] = self:repeated()
  end
  return list
end

function Parser:choice()
  local list = {kind = "choice", self:sequence()}
  while self:accept("|") do list[#list + 1] = self:sequence() end
  return list
end

-- ---- states: {set, next} reads, {first, second} goes on for free ----

local build

local function new_state(states, state)
  states[#states + 1] = state
  if #states > MOST then fail("too large") end
  return #states
end

local BUILD = {}
function BUILD.set(states, node, follow)
  return new_state(states, {set = node.set, follow})
end
function BUILD.anchor(states, node, follow)
  return new_state(states, {anchor = node.edge or node.first and "^" or "$",
    follow})
end
function BUILD.sequence(states, node, follow)
  for k = #node, 1, -1 do follow = build(states, node[k], follow) end
  return follow
end
function BUILD.choice(states, node, follow)
  local at = build(states, node[#node], follow)
  for k = #node - 1, 1, -1 do
    at = new_state(states, {build(states, node[k], follow), at})
  end
  return at
end
BUILD["repeat"] = function(states, node, follow)
  local at = follow
  if node.high then
    for _ = node.low + 1, node.high do
      at = new_state(states, {build(states, node[1], at), follow})
    end
  else
    at = new_state(states, {0, follow})
    states[at][1] = build(states, node[1], at)
  end
  for _ = 1, node.low do at = build(states, node[1], at) end
  return at
end

function build(states, node, follow)
  return BUILD[node.kind](states, node, follow)
end

local function points_of(text)
  local out = {}
  if not utf8.len(text) then return {text:byte(1, -1)} end
  for _, c in utf8.codes(text) do out[#out + 1] = c end
  return out
end

local WORD = set_of(CLASSES.w)

-- Does an anchor hold between two code points? nil is an end of the text.
local function holds(anchor, before, after)
  if anchor == "^" then return before == nil end
  if anchor == "$" then return after == nil end
  local edge = (before ~= nil and has(WORD, before))
    ~= (after ~= nil and has(WORD, after))
  return edge == (anchor == "b")
end

-- States that are reached without reading, from 'start'.
local function close(states, start, set, list, before, after)
  local stack = {start}
  while #stack > 0 do
    local k = table.remove(stack)
    if not set[k] then
      set[k] = true
      list[#list + 1] = k
      local state = states[k]
      if state.anchor then
        if holds(state.anchor, before, after) then
          stack[#stack + 1] = state[1]
        end
      elseif not state.set then
        for i = 1, 2 do
          if state[i] then stack[#stack + 1] = state[i] end
        end
      end
    end
  end
end

-- A function that says whether a whole text matches.
function regex.compile(pattern)
  local parser = setmetatable({points = points_of(pattern), at = 1, depth = 0},
    Parser)
  local tree = parser:choice()
  if parser:peek() then fail("a ) without its (") end
  local states = {{final = true}}
  local start = build(states, tree, 1)
  return function(text)
    local points = points_of(text)
    local list, set = {}, {}
    close(states, start, set, list, nil, points[1])
    for at, c in ipairs(points) do
      local follow, seen = {}, {}
      for _, k in ipairs(list) do
        local state = states[k]
        if state.set and has(state.set, c) then
          close(states, state[1], seen, follow, c, points[at + 1])
        end
      end
      list, set = follow, seen
    end
    return set[1] == true
  end
end

return regex
