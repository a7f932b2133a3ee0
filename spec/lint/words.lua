-- The field's words: names, comments, messages and documents use none of the
-- words of vocabulary.lua, except in its allowed phrases.
--   lua5.4 spec/lint/words.lua [path ...]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"
local pending = require "pending"
local vocabulary = require "vocabulary"

local OWN = {["spec/lint/vocabulary.lua"] = true}

-- word -> what to say instead
local function index_of(list)
  local index = {}
  for instead, words in pairs(list) do
    for word in words:gmatch("%a+") do index[word] = instead end
  end
  return index
end

local everywhere = index_of(vocabulary.banned)
local in_names = index_of(vocabulary.names)
local in_file_names = index_of(vocabulary.file_names)

-- Whether an allowed phrase covers the word at 'first' of the line.
local function excused(line, first, last)
  for _, phrase in ipairs(vocabulary.allowed) do
    local from = math.max(1, last - #phrase + 1)
    local at = line:find(phrase, from, true)
    while at and at <= first do
      if at + #phrase - 1 >= last then return true end
      at = line:find(phrase, at + 1, true)
    end
  end
  return false
end

-- Identifiers are words between underscores and digits.
local function check_line(line, index, say)
  local lower = line:lower()
  for first, word in lower:gmatch("()(%a+)") do
    if index[word] and not excused(lower, first, first + #word - 1) then
      say(word, index[word])
    end
  end
end

local function check_file(path, found)
  local function look(lines, index)
    for i, line in ipairs(lines) do
      check_line(line, index, function(word, instead)
        found[#found + 1] = ("%s:%d: '%s': say %s"):format(path, i, word,
                                                          instead)
      end)
    end
  end
  look(files.lines(path), everywhere)
  if path:find("%.[ch]$") or path:find("%.inc$") then
    look(files.split(files.bare_c(files.text(path))), in_names)
  end
  for word in path:lower():gmatch("%a+") do
    local instead = everywhere[word] or in_file_names[word]
    if instead and not excused(path, 1, #path) then
      found[#found + 1] = ("%s: a file named '%s': say %s"):format(path, word,
                                                                   instead)
    end
  end
end

local function check(...)
  local found = {}
  for _, path in ipairs(files.sources(...)) do
    if not OWN[path] then check_file(path, found) end
  end
  return pending.filter(found, vocabulary.pending)
end

if arg and arg[0] and arg[0]:match("words%.lua$") then
  if arg[1] then vocabulary.pending = {} end
  files.main(check, table.unpack(arg))
end
return check
