-- lunarray.help.search: words of the library that a phrase asks for: by what it
-- means (lunarray.help.meanings), by name, by text.
local meanings = require "lunarray.help.meanings"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"

local search = {}

-- One spelling for British and American words, singular for plural.
local function spelling(word)
  word = word:gsub("our$", "or"):gsub("^grey", "gray")
  word = word:gsub("isation", "ization"):gsub("ise$", "ize")
    :gsub("ised$", "ized"):gsub("centre", "center")
  word = word:gsub("neighbour", "neighbor"):gsub("colour", "color")
  return #word > 3 and word:gsub("([^s])s$", "%1") or word
end

-- The words of a phrase, without those that say nothing.
local SILENT = {a = true, an = true, the = true, of = true, to = true,
  ["in"] = true, ["for"] = true, with = true, i = true, how = true,
  ["do"] = true, my = true, is = true, and_ = true}

local function words_of(phrase)
  local list = {}
  for word in phrase:lower():gmatch("[%w_@=]+") do
    if not SILENT[word] then list[#list + 1] = spelling(word) end
  end
  return list
end

-- Phrases, spelled as above, with the names that they mean; made once.
local known

local function all_meanings()
  if known then return known end
  known = {list = {}, by_phrase = {}}
  local text = meanings:gsub("\n  ", " ")
  for phrases, names in text:gmatch("([^\n]-): ([^\n:]+:?[^\n]*)\n") do
    local words = {}
    for name in names:gmatch("%S+") do words[#words + 1] = name end
    for phrase in phrases:gmatch("%s*([^,]+)") do
      local row = {words = words_of(phrase), names = words, phrase = phrase}
      known.list[#known.list + 1] = row
      known.by_phrase[table.concat(row.words, " ")] = row
    end
  end
  return known
end

-- All phrases, each with the names that it means: {phrase=, names=, words=}.
function search.phrases() return all_meanings().list end

local function holds(words, others)
  local set = {}
  for _, word in ipairs(others) do set[word] = true end
  for _, word in ipairs(words) do
    if not set[word] then return false end
  end
  return #words > 0
end

-- Names to ranks: those that the phrase means, and those of phrases of which it
-- is a part, or which are parts of it.
local function by_meaning(words)
  local ranks = {}
  local function add(row, rank)
    for k, name in ipairs(row.names) do
      local at = rank + k / 100
      if not ranks[name] or at < ranks[name] then ranks[name] = at end
    end
  end
  local all = all_meanings()
  local exact = all.by_phrase[table.concat(words, " ")]
  if exact then add(exact, 0) end
  for _, row in ipairs(all.list) do
    if #words > 1 and holds(row.words, words) then
      add(row, 2.5 - #row.words / 10)
    elseif holds(words, row.words) then
      add(row, 3.5 + #row.words / 10)
    end
  end
  return ranks
end

-- What is searched of a row: its names and its text; kept while the row lives.
local texts = setmetatable({}, {__mode = "k"})

local function text_of(row)
  local kept = texts[row]
  if kept then return kept[1], kept[2] end
  local text = row.entry.text
  for _, op in ipairs(row.ops or {}) do text = text .. " " .. op.doc end
  kept = {(row.name .. " " .. table.concat(row.aliases, " ")):lower(),
    text:lower()}
  texts[row] = kept
  return kept[1], kept[2]
end

local function rank_of(row, word, words)
  local name = row.name:lower()
  local names, text = text_of(row)
  if name == word then return 0.5 end
  if row.short:lower() == word then return 1 end
  if names:find(word, 1, true) then return 3 end
  if text:find(word, 1, true) then return 4 end
  if #words < 2 then return nil end
  for _, each in ipairs(words) do
    if not text:find(each, 1, true) and not names:find(each, 1, true) then
      return nil
    end
  end
  return 5
end

-- The line about a row, made when it is asked for.
local with_brief = {__index = function(found, key)
  if key ~= "brief" then return nil end
  found.brief = page.brief(found.row)
  return found.brief
end}

-- Rows for a word or a phrase, the likeliest first, as a list of {name=,
-- brief=, row=, rank=}. What its meaning gives has a rank below 4.
function search.rows(phrase)
  local word = phrase:lower():match("^%s*(.-)%s*$")
  local words = words_of(word)
  local ranks, list = by_meaning(words), {}
  for k, row in ipairs(rows.all(true).list) do
    local rank = ranks[row.name]
    local other = rank_of(row, word, words)
    if other and (not rank or other < rank) then rank = other end
    if rank then
      list[#list + 1] = setmetatable({name = row.name, row = row, rank = rank,
        at = k}, with_brief)
    end
  end
  table.sort(list, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    return a.at < b.at
  end)
  return list
end

return search
