-- lunarray.tokenizer.json: JSON texts as Lua values; null is nil in objects,
-- and false in arrays, so that they have no holes. Nothing nests deeper than
-- 64. (The reader in C, src/io/json.h, is for headers of files: it has no
-- values of Lua and refuses all that such a header does not need.)
local json = {}

local ESCAPES = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"',
                 ["\\"] = "\\", ["/"] = "/"}

local function fail(text, at, what)
  local line = select(2, text:sub(1, at):gsub("\n", "")) + 1
  error(("JSON: %s at byte %d (line %d)"):format(what, at, line), 0)
end

local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

-- The code of \uHHHH at 'at', and where it ends; halves of a pair become one.
local function unicode(text, at)
  local code = tonumber(text:match("^%x%x%x%x", at), 16)
  if not code then fail(text, at, "four hexadecimal digits expected") end
  at = at + 4
  if code >= 0xd800 and code < 0xdc00 then
    local low = tonumber(text:match("^\\u(%x%x%x%x)", at), 16)
    if low and low >= 0xdc00 and low < 0xe000 then
      return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), at + 6
    end
  end
  if code >= 0xd800 and code < 0xe000 then code = 0xfffd end
  return code, at
end

-- The string whose first character is at 'at', and what is behind its quote.
local function read_string(text, at)
  local parts
  while true do
    local stop = text:find('["\\]', at)
    if not stop then fail(text, #text, "a string without an end") end
    local plain = text:sub(at, stop - 1)
    if text:byte(stop) == 34 then
      if not parts then return plain, stop + 1 end
      parts[#parts + 1] = plain
      return table.concat(parts), stop + 1
    end
    parts = parts or {}
    parts[#parts + 1] = plain
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      local code
      code, at = unicode(text, stop + 2)
      parts[#parts + 1] = utf8.char(code)
    else
      local c = ESCAPES[letter]
      if not c then fail(text, stop, "an unknown escape") end
      parts[#parts + 1] = c
      at = stop + 2
    end
  end
end

local WORDS = {{"true", true}, {"false", false}, {"null", nil}}

local read

local function read_array(text, at, depth)
  local list, n = {}, 0
  at = skip(text, at)
  if text:byte(at) == 93 then return list, at + 1 end
  while true do
    local v
    v, at = read(text, at, depth)
    n = n + 1
    list[n] = v == nil and false or v
    at = skip(text, at)
    local c = text:byte(at)
    if c == 93 then return list, at + 1 end
    if c ~= 44 then fail(text, at, "',' or ']' expected") end
    at = skip(text, at + 1)
  end
end

local function read_object(text, at, depth)
  local t = {}
  at = skip(text, at)
  if text:byte(at) == 125 then return t, at + 1 end
  while true do
    if text:byte(at) ~= 34 then fail(text, at, "a key expected") end
    local key
    key, at = read_string(text, at + 1)
    at = skip(text, at)
    if text:byte(at) ~= 58 then fail(text, at, "':' expected") end
    t[key], at = read(text, skip(text, at + 1), depth)
    at = skip(text, at)
    local c = text:byte(at)
    if c == 125 then return t, at + 1 end
    if c ~= 44 then fail(text, at, "',' or '}' expected") end
    at = skip(text, at + 1)
  end
end

function read(text, at, depth)
  local c = text:byte(at)
  if depth > 64 then fail(text, at, "nested too deep") end
  if c == 34 then return read_string(text, at + 1) end
  if c == 123 then return read_object(text, at + 1, depth + 1) end
  if c == 91 then return read_array(text, at + 1, depth + 1) end
  for _, word in ipairs(WORDS) do
    if text:sub(at, at + #word[1] - 1) == word[1] then
      return word[2], at + #word[1]
    end
  end
  local digits = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  local number = digits and tonumber(digits)
  if not number then fail(text, at, "a value expected") end
  return number, at + #digits
end

-- The value of a text.
function json.decode(text)
  local value, at = read(text, skip(text, 1), 0)
  at = skip(text, at)
  if at <= #text then fail(text, at, "nothing more expected") end
  return value
end

return json
