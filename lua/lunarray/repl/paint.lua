-- lunarray.repl.paint: the text that one types, in colours.
--
-- A terminal's colours are sequences between characters: what is painted has
-- the same characters as the text, and so lies over it. The bracket that
-- belongs to the one before or under the cursor is underlined with it.
local chunk = require "lunarray.repl.chunk"

-- Kept, as whoever types may wipe the globals.
local table = table

local paint = {}

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local
  nil not or repeat return then true until while]]):gmatch "%a+" do
  KEYWORDS[word] = true
end

local COLOURS = {keyword = "35", string = "32", number = "36", comment = "2",
  match = "1;4"}

local CLOSES = {[")"] = "(", ["]"] = "[", ["}"] = "{"}
local OPENS = {["("] = true, ["["] = true, ["{"] = true}

local LONGEST = 20000           -- bytes; longer texts stay as they are

-- The positions of brackets, each with that of its partner.
local function brackets(text)
  local partner, open = {}, {}
  for kind, _, at in chunk.tokens(text) do
    if OPENS[kind] then
      open[#open + 1] = {kind, at}
    elseif CLOSES[kind] and open[#open] and open[#open][1] == CLOSES[kind] then
      local from = table.remove(open)[2]
      partner[from], partner[at] = at, from
    end
  end
  return partner
end

-- The two brackets to be shown, when the cursor (bytes before it) is behind one
-- or on one.
local function marked(text, cursor)
  local partner = brackets(text)
  local at = partner[cursor] and cursor or cursor + 1
  return partner[at] and {[at] = true, [partner[at]] = true} or {}
end

local function kind_of(kind, word)
  if kind == "name" then return KEYWORDS[word] and "keyword" end
  return (kind == "string" or kind == "number") and kind
end

-- The bytes of the text behind the first 'from', in colours; nil where it is
-- too long. 'cursor' bytes are before the cursor; without it no bracket is
-- marked.
function paint.text(text, from, cursor)
  if #text > LONGEST then return nil end
  local marks = cursor and marked(text, cursor) or {}
  local out, done = {}, from
  local function put(upto, colour)
    if upto <= done then return end
    local part = text:sub(done + 1, upto)
    out[#out + 1] = colour and ("\27[%sm%s\27[0m"):format(COLOURS[colour], part)
      or part
    done = upto
  end
  -- Between tokens are blanks and comments.
  local function put_gap(upto)
    local dashes = text:find("--", done + 1, true)
    if dashes and dashes <= upto then
      put(dashes - 1)
      put(upto, "comment")
    end
    put(upto)
  end
  for kind, word, at, stop in chunk.tokens(text) do
    put_gap(at - 1)
    put(stop - 1, marks[at] and "match" or kind_of(kind, word))
  end
  put_gap(#text)
  return table.concat(out)
end

return paint
