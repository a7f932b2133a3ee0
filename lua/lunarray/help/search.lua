-- lunarray.help.search: words of the library that a phrase asks for: by what it
-- means (lunarray.help.meanings), by name, by text.
local meanings = require "lunarray.help.meanings"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"

local search = {}

-- Words that mean the same in a question; the first of a line stands for all.
local SAME = [[
remove delete drop erase discard
table frame dataframe
column field
make create build construct new
tensor array ndarray
show display view
load read open import parse
save write export store
picture image photo
sound audio music
join merge
invert inverse
train fit
plot draw
random randomly
average mean
sum total
gradient derivative
largest biggest maximum greatest highest max
smallest minimum lowest least min
copy clone duplicate
text string
date datetime
time timing
parallel parallelize multithreaded
]]

-- "plotting", "plotted" and "plot" are one, as are "merge" and "merging", and
-- one and many: what is left need not be a word.
local function stem(word)
  if #word > 3 then word = word:gsub("([^s])s$", "%1") end
  if #word > 6 then
    word = word:gsub("ing$", ""):gsub("ed$", "")
      :gsub("([bdgmnprt])%1$", "%1")
  end
  return #word > 4 and word:gsub("e$", "") or word
end

local stands_for = {}
for line in SAME:gmatch "[^\n]+" do
  local first = line:match "%S+"
  for word in line:gmatch "%S+" do stands_for[stem(word)] = first end
end

-- One spelling for British and American words, singular for plural, and one
-- word for those of SAME.
local function spelling(word)
  word = word:gsub("our$", "or"):gsub("^grey", "gray")
  word = word:gsub("isation", "ization"):gsub("ise$", "ize")
    :gsub("ised$", "ized"):gsub("centre", "center")
  word = word:gsub("neighbour", "neighbor"):gsub("colour", "color")
  word = stem(word)
  return stands_for[word] or word
end

-- The words of a phrase, without those that say nothing.
local SILENT = {a = true, an = true, the = true, of = true, to = true,
  ["in"] = true, ["for"] = true, with = true, i = true, how = true,
  ["do"] = true, my = true, is = true, ["and"] = true, can = true, what = true,
  it = true, on = true, at = true, ["or"] = true,
  get = true, compute = true, calculate = true, use = true, using = true,
  does = true, this = true, that = true, me = true, please = true, lua = true}

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
  known = {list = {}, by_phrase = {}, counts = {}, weights = {}}
  local text = meanings:gsub("\n  ", " ")
  for phrases, names in text:gmatch("([^\n]-): ([^\n:]+:?[^\n]*)\n") do
    local words = {}
    for name in names:gmatch("%S+") do words[#words + 1] = name end
    for phrase in phrases:gmatch("%s*([^,]+)") do
      local row = {words = words_of(phrase), names = words, phrase = phrase}
      known.list[#known.list + 1] = row
      local key = table.concat(row.words, " ")
      known.by_phrase[key] = known.by_phrase[key] or {}
      table.insert(known.by_phrase[key], row)
      for _, word in ipairs(row.words) do
        known.counts[word] = (known.counts[word] or 0) + 1
      end
    end
  end
  return known
end

-- All phrases, each with the names that it means: {phrase=, names=, words=}.
function search.phrases() return all_meanings().list end

-- How much a word says: the rarer among the phrases, the more.
local function weight(word)
  local all = all_meanings()
  local w = all.weights[word]
  if not w then
    w = math.log(1 + #all.list / (all.counts[word] or 1))
    all.weights[word] = w
  end
  return w
end

-- The share of what two lists of words say that both have, from 0 to 1.
local function likeness(words, others)
  local set, both, all = {}, 0, 0
  for _, word in ipairs(others) do
    if not set[word] then all = all + weight(word) end
    set[word] = true
  end
  for _, word in ipairs(words) do
    if set[word] then
      both, set[word] = both + weight(word), nil
    else
      all = all + weight(word)
    end
  end
  return all > 0 and both / all or 0
end

-- Phrases that are less alike are not meant.
local LEAST_LIKE = 0.3

-- Names to ranks: those that the phrase means, and those of phrases like it.
local function by_meaning(words)
  local ranks = {}
  local function add(row, rank)
    for k, name in ipairs(row.names) do
      local at = rank + k / 100
      if not ranks[name] or at < ranks[name] then ranks[name] = at end
    end
  end
  local all = all_meanings()
  for _, row in ipairs(all.by_phrase[table.concat(words, " ")] or {}) do
    add(row, 0)
  end
  for _, row in ipairs(all.list) do
    local like = likeness(words, row.words)
    if like >= LEAST_LIKE then
      add(row, (#words > 1 and 1.2 or 2.6) + 2 * (1 - like))
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
  if #words > 1 and #words.joined > 3 then
    local bare = row.short:lower():gsub("_", "")
    if bare == words.joined then return 1 end
    if bare:find(words.joined, 1, true) then return 2 end
  end
  if names:find(word, 1, true) then return 3 end
  if text:find(word, 1, true) then return 4 end
  if #words < 2 then return nil end
  if name == words.first then return 3.6 end
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
  words.joined = word:gsub("%s+", "")
  for each in word:gmatch "[%w_]+" do
    if not SILENT[each] then words.first = words.first or each end
  end
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
