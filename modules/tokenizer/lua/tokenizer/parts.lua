-- lunarray.tokenizer.parts: what tokenizer.json is made of: normalizers (a text
-- to a text), pre-tokenizers (a list of pieces to another), decoders (a list of
-- tokens to another). Each is made of its description, the file's table.
local la = require "lunarray"
local parts = {}
local native = la.tokenizer.native()

local SPACE = "\u{2581}"
parts.SPACE = SPACE

local function unknown(what, kind)
  error(("tokenizer: the %s '%s' is not known"):format(what, tostring(kind)), 0)
end

local function plain(text) return (text:gsub("%p", "%%%0")) end
local function literal(text) return (text:gsub("%%", "%%%%")) end

local function regex_of(p)
  if p.Regex then return native.pattern(p.Regex) end
  return native.pattern((p.String:gsub("[%p]", "\\%0")))
end

-- text with every match replaced.
local function replacer(p, content)
  if p.String then
    local from, to = plain(p.String), literal(content)
    return function(text) return (text:gsub(from, to)) end
  end
  local pattern = regex_of(p)
  return function(text)
    local pieces, gaps, at = {}, {}, 1
    native.split(pattern, text, pieces, "Isolated")
    local rest = {}
    native.split(pattern, text, rest, "Removed")
    for _, piece in ipairs(pieces) do
      if rest[at] == piece then
        gaps[#gaps + 1] = piece
        at = at + 1
      else
        gaps[#gaps + 1] = content
      end
    end
    return table.concat(gaps)
  end
end

-- ---- normalizers ----

local function form(name)
  return function() return function(t) return native.normalize(t, name) end end
end

local function base64(text)
  local out, bits, n = {}, 0, 0
  for c in text:gmatch("[%w+/]") do
    local b = c:byte()
    local v = b >= 97 and b - 71 or b >= 65 and b - 65 or b >= 48 and b + 4
      or c == "+" and 62 or 63
    bits, n = bits << 6 | v, n + 6
    if n >= 8 then
      n = n - 8
      out[#out + 1] = string.char(bits >> n & 255)
      bits = bits & (1 << n) - 1
    end
  end
  return table.concat(out)
end

local function cleaner(how)
  return function(text) return native.clean(text, how) end
end

local NORMALIZERS = {
  NFC = form "NFC", NFD = form "NFD", NFKC = form "NFKC", NFKD = form "NFKD",
  Lowercase = function() return cleaner{lower = true} end,
  StripAccents = function() return cleaner{accents = true} end,
  Nmt = function() return cleaner{clean = true} end,
  ByteLevel = function() return native.bytes end,
  Replace = function(d) return replacer(d.pattern, d.content) end,
  Prepend = function(d)
    return function(t) return t == "" and t or d.prepend .. t end
  end,
  Strip = function(d)
    return function(t)
      if d.strip_left then t = t:gsub("^%s+", "") end
      if d.strip_right then t = t:gsub("%s+$", "") end
      return t
    end
  end,
  BertNormalizer = function(d)
    local accents = d.strip_accents
    if accents == nil then accents = d.lowercase end
    return cleaner{clean = d.clean_text, chinese = d.handle_chinese_chars,
                   accents = accents, lower = d.lowercase}
  end,
  Precompiled = function(d)
    local map = base64(d.precompiled_charsmap)
    return function(t) return native.map(map, t) end
  end,
}

function parts.normalizer(d)
  if not d then return function(t) return t end end
  if d.type == "Sequence" then
    local all = {}
    for i, each in ipairs(d.normalizers) do all[i] = parts.normalizer(each) end
    return function(t)
      for _, f in ipairs(all) do t = f(t) end
      return t
    end
  end
  return (NORMALIZERS[d.type] or unknown("normalizer", d.type))(d)
end

-- ---- pre-tokenizers ----

-- The pieces of each piece, by a pattern.
local function splitter(pattern, how, invert)
  return function(pieces)
    local out = {}
    for _, piece in ipairs(pieces) do
      native.split(pattern, piece, out, how or "Isolated", invert)
    end
    return out
  end
end

local GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+"
  .. "| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

local function each(f)
  return function(pieces)
    local out = {}
    for i, piece in ipairs(pieces) do out[i] = f(piece) end
    return out
  end
end

-- Spaces as visible ones, words from one to the next. 'first': is the piece the
-- begin of the text?
local function metaspace(d)
  local mark = d.replacement or SPACE
  local scheme = d.prepend_scheme
    or (d.add_prefix_space == false and "never" or "always")
  local cut = native.pattern(mark)
  return function(pieces, first)
    local out = {}
    for _, piece in ipairs(pieces) do
      piece = piece:gsub(" ", mark)
      if piece:sub(1, #mark) ~= mark
         and (scheme == "always" or scheme == "first" and first) then
        piece = mark .. piece
      end
      if d.split == false then out[#out + 1] = piece
      else native.split(cut, piece, out, "MergedWithNext") end
    end
    return out
  end
end

local PRE = {
  ByteLevel = function(d)
    local cut = d.use_regex ~= false and splitter(native.pattern(GPT2))
    return function(pieces)
      if d.add_prefix_space then
        pieces = each(function(p)
          return p:find("^%s") and p or " " .. p
        end)(pieces)
      end
      return each(native.bytes)(cut and cut(pieces) or pieces)
    end
  end,
  Split = function(d)
    return splitter(regex_of(d.pattern), d.behavior, d.invert)
  end,
  Digits = function(d)
    return splitter(native.pattern(d.individual_digits and "\\p{N}"
                                   or "\\p{N}+"))
  end,
  Punctuation = function(d)
    return splitter(native.pattern("[\\p{P}!-/:-@\\[-`{-~]"), d.behavior)
  end,
  Whitespace = function()
    return splitter(native.pattern("\\w+|[^\\w\\s]+"), "Removed", true)
  end,
  WhitespaceSplit = function()
    return splitter(native.pattern("\\s+"), "Removed")
  end,
  CharDelimiterSplit = function(d)
    return splitter(regex_of{String = d.delimiter}, "Removed")
  end,
  BertPreTokenizer = function()
    return function(pieces)
      local out = {}
      for _, piece in ipairs(pieces) do native.words(piece, out) end
      return out
    end
  end,
  Metaspace = metaspace,
}

function parts.pre(d)
  if not d then return function(pieces) return pieces end end
  if d.type == "Sequence" then
    local all = {}
    for i, one in ipairs(d.pretokenizers) do all[i] = parts.pre(one) end
    return function(pieces, first)
      for _, f in ipairs(all) do pieces = f(pieces, first) end
      return pieces
    end
  end
  return (PRE[d.type] or unknown("pre-tokenizer", d.type))(d)
end

-- A cut by several patterns, one after the other, as GGUF's kinds have them.
function parts.patterns(list, bytes)
  local all = {}
  for i, pattern in ipairs(list) do
    all[i] = splitter(native.pattern(pattern))
  end
  return function(pieces)
    for _, f in ipairs(all) do pieces = f(pieces) end
    return bytes and each(native.bytes)(pieces) or pieces
  end
end

-- ---- decoders ----

-- <0xHH> as bytes.
local function from_byte_tokens(tokens)
  return each(function(t)
    local hex = t:match("^<0x(%x%x)>$")
    return hex and string.char(tonumber(hex, 16)) or t
  end)(tokens)
end
parts.from_byte_tokens = from_byte_tokens

local function tidy(text)
  return (text:gsub(" ([.?!,])", "%1"):gsub(" ' ", "'"):gsub(" n't", "n't")
          :gsub(" 'm", "'m"):gsub(" do not", " don't"):gsub(" 's", "'s")
          :gsub(" 've", "'ve"):gsub(" 're", "'re"))
end

local DECODERS = {
  ByteLevel = function()
    return function(tokens) return {native.unbytes(table.concat(tokens))} end
  end,
  ByteFallback = function() return from_byte_tokens end,
  Fuse = function() return function(t) return {table.concat(t)} end end,
  Replace = function(d) return each(replacer(d.pattern, d.content)) end,
  Strip = function(d)
    local c = plain(d.content)
    return each(function(t)
      for _ = 1, d.start or 0 do t = t:gsub("^" .. c, "") end
      for _ = 1, d.stop or 0 do t = t:gsub(c .. "$", "") end
      return t
    end)
  end,
  WordPiece = function(d)
    local prefix = d.prefix or "##"
    return function(tokens)
      local out = {}
      for i, t in ipairs(tokens) do
        if i > 1 then
          if t:sub(1, #prefix) == prefix then t = t:sub(#prefix + 1)
          else t = " " .. t end
        end
        out[i] = d.cleanup ~= false and tidy(t) or t
      end
      return out
    end
  end,
  Metaspace = function(d)
    local mark = plain(d.replacement or SPACE)
    local keep = d.prepend_scheme == "never" or d.add_prefix_space == false
    return function(tokens)
      local out = {}
      for i, t in ipairs(tokens) do
        out[i] = t:gsub(mark, " ")
        if i == 1 and not keep then out[i] = out[i]:gsub("^ ", "") end
      end
      return out
    end
  end,
  BPEDecoder = function(d)
    local suffix = plain(d.suffix or "</w>")
    return function(tokens)
      local out = {}
      for i, t in ipairs(tokens) do
        out[i] = t:gsub(suffix, i < #tokens and " " or "")
      end
      return out
    end
  end,
}

function parts.decoder(d)
  if not d then
    return function(tokens) return {table.concat(tokens, " ")} end
  end
  if d.type == "Sequence" then
    local all = {}
    for i, one in ipairs(d.decoders) do all[i] = parts.decoder(one) end
    return function(tokens)
      for _, f in ipairs(all) do tokens = f(tokens) end
      return tokens
    end
  end
  return (DECODERS[d.type] or unknown("decoder", d.type))(d)
end

return parts
