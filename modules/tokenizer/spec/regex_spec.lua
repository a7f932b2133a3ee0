-- Patterns that cut texts: random ones against a matcher that follows their
-- definition, and what each construct means by itself.
local la = require "lunarray"
local raises = require "spec.support.raises"

local native = la.tokenizer.native()

-- Characters of texts and of classes: of one byte and of several.
local LETTERS = {"a", "b", "A", "\u{e9}", "1", " ", "\u{4e2d}"}

---------------------------------------------------------------------------
-- The definition. A node is a function (chars, at, go) that calls go(next) for
-- each way in which it matches from 'at' on, in order of preference, until go
-- gives something; that is its result.

local function one_of(set, outside)
  return function(chars, at, go)
    local c = chars[at]
    if c and (set[c] or false) ~= outside then return go(at + 1) end
  end
end

local function sequence(list)
  local function from(k, chars, at, go)
    if k > #list then return go(at) end
    return list[k](chars, at, function(next)
      return from(k + 1, chars, next, go)
    end)
  end
  return function(chars, at, go) return from(1, chars, at, go) end
end

local function either(list)
  return function(chars, at, go)
    for _, node in ipairs(list) do
      local found = node(chars, at, go)
      if found then return found end
    end
  end
end

-- Its first way alone.
local function whole(node)
  return function(chars, at, go)
    local next = node(chars, at, function(i) return i end)
    return next and go(next)
  end
end

local function times(node, least, most, lazy)
  local function more(n, chars, at, go)
    local function again()
      return n < most and node(chars, at, function(next)
        return more(n + 1, chars, next, go)
      end) or nil
    end
    if n < least then return again() end
    if lazy then return go(at) or again() end
    return again() or go(at)
  end
  return function(chars, at, go) return more(0, chars, at, go) end
end

local function ahead(node, negative)
  return function(chars, at, go)
    local found = node(chars, at, function(i) return i end)
    if (found ~= nil) ~= negative then return go(at) end
  end
end

---------------------------------------------------------------------------
-- Random patterns: their text, the node, and may it match nothing?

local pattern

local function class()
  local outside, words, set = math.random(4) == 1, {}, {}
  for k = 1, math.random(3) do
    words[k] = LETTERS[math.random(#LETTERS)]
    set[words[k]] = true
  end
  return "[" .. (outside and "^" or "") .. table.concat(words) .. "]",
    one_of(set, outside), false
end

local function atom()
  local kind = math.random(8)
  if kind <= 4 then
    local c = LETTERS[math.random(3)]
    return c, one_of({[c] = true}, false), false
  elseif kind == 5 then
    return ".", one_of({["\n"] = true}, true), false
  elseif kind == 6 then
    return "$", function(chars, at, go)
      if at == #chars + 1 then return go(at) end
    end, true, true
  elseif kind == 7 then
    return "^", function(_, at, go) if at == 1 then return go(at) end end,
      true, true
  end
  return class()
end

-- A group; the last result: it can't be repeated.
local function group(depth)
  local text, node, empty = pattern(depth - 1)
  local kind = math.random(8)
  if kind > 2 then return "(?:" .. text .. ")", node, empty end
  return (kind == 1 and "(?=" or "(?!") .. text .. ")",
    ahead(node, kind == 2), true, true
end

local COUNTS = {{"?", 0, 1}, {"*", 0, math.huge}, {"+", 1, math.huge},
  {"{2}", 2, 2}, {"{1,3}", 1, 3}, {"{0,2}", 0, 2}, {"{2,}", 2, math.huge},
  {"{0}", 0, 0}, {"{3}", 3, 3}, {"{2,4}", 2, 4}, {"{0,1}", 0, 1}}

local function piece(depth)
  local text, node, empty, single
  if depth > 0 and math.random(2) == 1 then
    text, node, empty, single = group(depth)
  else
    text, node, empty, single = atom()
  end
  if single or math.random(2) == 1 then return text, node, empty end
  local count = COUNTS[math.random(#COUNTS)]
  if empty and count[3] == math.huge then count = COUNTS[1] end
  local mode = ({"", "", "?", "+"})[math.random(4)]
  local repeated = times(node, count[2], count[3], mode == "?")
  if mode == "+" then repeated = whole(repeated) end
  return text .. count[1] .. mode, repeated, empty or count[2] == 0
end

function pattern(depth)
  local texts, nodes, empty = {}, {}, false
  for k = 1, math.random(3) == 1 and 2 or 1 do
    local parts, list, nothing = {}, {}, true
    for i = 1, math.random(3) do
      local none
      parts[i], list[i], none = piece(depth)
      nothing = nothing and none
    end
    texts[k], nodes[k] = table.concat(parts), sequence(list)
    empty = empty or nothing
  end
  return table.concat(texts, "|"), either(nodes), empty
end

-- Pieces of the text: each match that is not empty, and what lies between.
local function cut(node, chars)
  local out, from, at = {}, 1, 1
  local function put(to)
    if to > from then out[#out + 1] = table.concat(chars, "", from, to - 1) end
    from = to
  end
  while at <= #chars do
    local next = node(chars, at, function(i) return i end)
    if next and next > at then
      put(at)
      put(next)
      at = next
    else
      at = at + 1
    end
  end
  put(#chars + 1)
  return out
end

local function split(text, chars)
  local out = {}
  native.split(native.pattern(text), table.concat(chars), out)
  return out
end

describe("a pattern", function()
  it("cuts where its definition does, for random ones", function()
    math.randomseed(20)
    for _ = 1, 3000 do
      local text, node = pattern(2)
      for _ = 1, 4 do
        local chars = {}
        for k = 1, math.random(0, 9) do
          chars[k] = LETTERS[math.random(math.random(2, #LETTERS))]
        end
        assert.same(cut(node, chars), split(text, chars),
          text .. " on '" .. table.concat(chars) .. "'")
      end
    end
  end)

  it("takes few, many, or all for good", function()
    local function pieces(p, text)
      local out = {}
      native.split(native.pattern(p), text, out)
      return table.concat(out, " ")
    end
    assert.equal("aaa b", pieces("a+", "aaab"))
    assert.equal("a a a b", pieces("a+?", "aaab"))
    assert.equal("aaab", pieces("a++ab", "aaab"))
    assert.equal("aaab", pieces("a+ab", "aaab"))
    assert.equal("ab ab ab", pieces("(ab){1,3}?", "ababab"))
    assert.equal("ababab", pieces("(ab){1,3}", "ababab"))
    assert.equal("ababc", pieces("(ab)++abc", "ababc"))
    assert.equal("ab c d", pieces("(ab){0}c", "abcd"))
    assert.equal("\u{e9}\u{e9} \u{e9}", pieces("\u{e9}{2}?", ("\u{e9}"):rep(3)))
  end)

  it("is refused with the byte of its fault", function()
    for text, why in pairs {
      ["a{3,2}"] = "} behind the times expected",
      ["a{,2}"] = "a number expected",
      ["a{2"] = "} behind the times expected",
      ["a{1001}"] = "more than 1000 times",
      ["*a"] = "nothing to repeat at byte 1",
      ["a|+"] = "nothing to repeat at byte 3",
      ["(a?)*"] = "what repeats may be empty",
      ["(a*|b)+"] = "what repeats may be empty",
      ["(a"] = ") expected at byte 3",
      ["a)"] = "( expected before at byte 2",
      ["[a"] = "] expected",
      ["[b-a]"] = "a range backwards",
      ["(?<a>b)"] = "an unknown group",
      ["\\p{Nope}"] = "an unknown category",
      ["\\pL"] = "a category between { and } expected",
      ["\\y"] = "an unknown escape",
      ["\\x{110z}"] = "hexadecimal digits expected",
      ["\\"] = "a letter expected",
    } do
      raises(why, native.pattern, text)
    end
    native.pattern("a{1000}")
    native.pattern("[]a-]")
    native.pattern(("("):rep(32) .. "a" .. (")"):rep(32))
    raises("groups nest too deep", native.pattern,
      ("("):rep(33) .. "a" .. (")"):rep(33))
    raises("too long", native.pattern, ("(a{2}b){500}"):rep(60))
  end)
end)
