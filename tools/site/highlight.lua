-- Colours for code in HTML: comments, strings, numbers and keywords of Lua and
-- C in <span class="c|s|n|k">. Text of other languages is only escaped.
local highlight = {}

local function set(words)
  local t = {}
  for word in words:gmatch("%S+") do t[word] = true end
  return t
end

local KEYWORDS = {
  lua = set[[and break do else elseif end false for function goto if in local
    nil not or repeat return then true until while]],
  c = set[[break case char const continue do double else enum float for if int
    int64_t long return size_t sizeof static struct switch typedef unsigned
    void while bool true false NULL]],
}

function highlight.escape(text)
  return (text:gsub("[&<>\"]", {["&"] = "&amp;", ["<"] = "&lt;",
    [">"] = "&gt;", ['"'] = "&quot;"}))
end

-- Patterns of what begins at a position, most particular first.
local RULES = {
  lua = {{"c", "^%-%-%[%[.-%]%]"}, {"c", "^%-%-[^\n]*"}, {"s", "^%[%[.-%]%]"},
    {"n", "^0x%x+"}, {"n", "^%d+%.?%d*[eE][+-]?%d+"}, {"n", "^%d+%.%d+"},
    {"n", "^%d+"}},
  c = {{"c", "^/%*.-%*/"}, {"c", "^//[^\n]*"}, {"k", "^#%a+[^\n]*"},
    {"n", "^%d+%.?%d*f?"}},
}

-- The end of the string that begins with a quote at 'first'.
local function string_end(text, first)
  local quote, i = text:sub(first, first), first + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == "\\" then i = i + 1
    elseif c == quote or c == "\n" then return i end
    i = i + 1
  end
  return #text
end

local function token(text, i, language)
  for _, rule in ipairs(RULES[language]) do
    local _, last = text:find(rule[2], i)
    if last then return rule[1], last end
  end
  if text:find("^[\"']", i) then return "s", string_end(text, i) end
  local _, last = text:find("^[%a_][%w_]*", i)
  if last then
    return KEYWORDS[language][text:sub(i, last)] and "k" or false, last
  end
  return false, i
end

function highlight.html(text, language)
  if not RULES[language] then return highlight.escape(text) end
  local out, i = {}, 1
  while i <= #text do
    local class, last = token(text, i, language)
    local piece = highlight.escape(text:sub(i, last))
    out[#out + 1] = class and ('<span class="%s">%s</span>'):format(class,
      piece) or piece
    i = last + 1
  end
  return table.concat(out)
end

return highlight
