-- lunarray.onnx.ops.text: strings. A tensor of strings is a list with its sizes
-- (lunarray.onnx.rows).
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local regex = require "lunarray.onnx.regex"

local op = rows.domain("")
local sizes = rows.sizes

-- ---- two operands ----

-- Indices of both where they are broadcast together, and the sizes of that.
local function together(a, b)
  local x = la.range(#a):reshape(rows.string_shape(a))
  local y = la.range(#b):reshape(rows.string_shape(b))
  local both = la.broadcast_tensors{x, y}
  return both[1]:flatten():totable(), both[2]:flatten():totable(),
    sizes(both[1])
end

function rows.equal_strings(a, b)
  local x, y, shape = together(a, b)
  local out = {}
  for k = 1, #x do out[k] = a[x[k]] == b[y[k]] end
  return rows.tensor(out, "bool"):reshape(shape)
end

function rows.where_strings(condition, a, b)
  local x = la.range(#a):reshape(rows.string_shape(a))
  local y = la.range(#b):reshape(rows.string_shape(b))
  local chosen = la.where(condition, x, -y)
  local out = {}
  for k, at in ipairs(chosen:flatten():totable()) do
    out[k] = at > 0 and a[at] or b[-at]
  end
  return rows.strings(out, sizes(chosen))
end

function op.StringConcat()
  return function(a, b)
    local x, y, shape = together(a, b)
    local out = {}
    for k = 1, #x do out[k] = a[x[k]] .. b[y[k]] end
    return rows.strings(out, shape)
  end
end

-- ---- splitting ----

local function split_blanks(text, most)
  local parts, at = {}, 1
  while true do
    local first = text:find("[^ \t\n\r\f\v]", at)
    if not first then return parts end
    if #parts >= most then
      parts[#parts + 1] = text:sub(first):gsub("[ \t\n\r\f\v]+$", "")
      return parts
    end
    local behind = text:find("[ \t\n\r\f\v]", first) or #text + 1
    parts[#parts + 1] = text:sub(first, behind - 1)
    at = behind
  end
end

local function split_at(text, delimiter, most)
  local parts, at = {}, 1
  while #parts < most do
    local first, last = text:find(delimiter, at, true)
    if not first then break end
    parts[#parts + 1] = text:sub(at, first - 1)
    at = last + 1
  end
  parts[#parts + 1] = text:sub(at)
  return parts
end

function op.StringSplit(node)
  local delimiter, most = node:get("delimiter", ""), node:get("maxsplit", -1)
  if most < 0 then most = math.huge end
  return function(x)
    local all, counts, widest = {}, {}, 0
    for k, text in ipairs(x) do
      all[k] = delimiter == "" and split_blanks(text, most)
        or split_at(text, delimiter, most)
      counts[k] = #all[k]
      widest = math.max(widest, counts[k])
    end
    local out = {}
    for _, parts in ipairs(all) do
      for k = 1, widest do out[#out + 1] = parts[k] or "" end
    end
    local shape = table.move(rows.string_shape(x), 1, #rows.string_shape(x), 1,
      {})
    local counted = rows.tensor(counts, "int64"):reshape(shape)
    shape[#shape + 1] = widest
    out.shape = shape
    return out, counted
  end
end

-- ---- letters ----

-- Pairs of capital and small letters in blocks of code points.
local BLOCKS = {{65, 90, 32}, {0xC0, 0xDE, 32}, {0x391, 0x3A9, 32},
  {0x410, 0x42F, 32}, {0x400, 0x40F, 80}}

local function change_case(text, upper)
  if not utf8.len(text) then return text end
  local out = {}
  for _, c in utf8.codes(text) do
    for _, block in ipairs(BLOCKS) do
      local low, high, step = block[1], block[2], block[3]
      if c ~= 0xD7 and c ~= 0xF7 then
        if not upper and c >= low and c <= high then
          c = c + step
          break
        elseif upper and c >= low + step and c <= high + step then
          c = c - step
          break
        end
      end
    end
    out[#out + 1] = utf8.char(c)
  end
  return table.concat(out)
end

function op.StringNormalizer(node)
  local action = node:get("case_change_action", "NONE")
  local exact = node:get("is_case_sensitive", 0) == 1
  local function changed(text)
    if action == "NONE" then return text end
    return change_case(text, action == "UPPER")
  end
  local stop = {}
  for _, word in ipairs(node:get("stopwords", {})) do
    stop[exact and word or change_case(word, false)] = true
  end
  return function(x)
    local out = {}
    for _, text in ipairs(x) do
      if not stop[exact and text or change_case(text, false)] then
        out[#out + 1] = changed(text)
      end
    end
    if #out == 0 then out[1] = "" end
    local shape = rows.string_shape(x)
    return rows.strings(out, #shape == 2 and {1, #out} or nil)
  end
end

function op.RegexFullMatch(node)
  local matches = regex.compile(node:get("pattern", ""))
  return function(x)
    local out = {}
    for k, text in ipairs(x) do out[k] = matches(text) end
    return rows.tensor(out, "bool"):reshape(rows.string_shape(x))
  end
end

-- ---- counts of sequences of words ----

-- The sequences of a pool: a tree by their words, with an index at its leaves.
local function tree_of(pool, starts, least, most)
  local tree, index = {}, 0
  for length, first in ipairs(starts) do
    local last = starts[length + 1] or #pool
    for at = first + 1, last, length do
      index = index + 1
      if length >= least and length <= most and at + length - 1 <= #pool then
        local node = tree
        for k = 0, length - 1 do
          local word = pool[at + k]
          node[word] = node[word] or {}
          node = node[word]
        end
        node[tree] = index          -- a key that is no word
      end
    end
  end
  return tree
end

local function count_row(row, tree, o, out)
  for skip = 1, o.skips + 1 do
    for first = 1, #row do
      local node, at, length = tree, first, 0
      while node and at <= #row and length < o.most do
        node = node[row[at]]
        length = length + 1
        local index = node and node[tree]
        if index and length >= o.least and not (length == 1 and skip > 1) then
          local column = o.columns[index] + 1
          out[column] = out[column] + 1
        end
        at = at + skip
      end
    end
  end
end

function op.TfIdfVectorizer(node)
  local pool = node.attributes.pool_strings or node.attributes.pool_int64s
  local o = {least = node:get("min_gram_length"),
    most = node:get("max_gram_length"), skips = node:get("max_skip_count"),
    columns = node:get("ngram_indexes")}
  local tree = tree_of(pool or {}, node:get("ngram_counts"), o.least, o.most)
  local weights, mode = node.attributes.weights, node:get("mode")
  local width = 0
  for _, column in ipairs(o.columns) do width = math.max(width, column + 1) end
  rows.check_count(width)
  return function(x)
    local strings = rows.is_strings(x)
    local shape = strings and rows.string_shape(x) or sizes(x)
    local flat = strings and x or x:flatten():totable()
    local n = #shape == 1 and 1 or shape[1]
    local length, all = shape[#shape] or 1, {}
    for r = 1, n do
      local row, out = {}, {}
      for k = 1, length do row[k] = flat[(r - 1) * length + k] end
      for k = 1, width do out[k] = 0.0 end
      count_row(row, tree, o, out)
      for k = 1, width do
        if mode == "IDF" and out[k] > 0 then out[k] = 1.0 end
        if mode ~= "TF" and weights and out[k] > 0 then
          -- Weights stand in the order of the sequences, not of the columns.
          out[k] = out[k] * (weights[k] or 1)
        end
        all[#all + 1] = out[k]
      end
    end
    local y = rows.tensor(all, "float32")
    return #shape == 1 and y or y:reshape(n, width)
  end
end
