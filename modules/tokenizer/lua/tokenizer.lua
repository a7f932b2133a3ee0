-- lunarray.tokenizer: texts as ids and back, from tokenizer.json, GGUF files
-- and vocab.txt. Ids are the file's own, from 0.
local la = require "lunarray"
local json = require "lunarray.tokenizer.json"
local parts = require "lunarray.tokenizer.parts"
local tokenizer = {}
local native = la.tokenizer.native()

local Tokenizer = {__name = "tokenizer"}
Tokenizer.__index = Tokenizer

-- ---- tokens that are found in a text as they stand ----

-- Lists of tokens by their first byte, the longest first, and a class of these
-- bytes.
local function finder(tokens)
  local by, class = {}, {}
  for _, t in ipairs(tokens) do
    local c = t.content:byte()
    if not by[c] then
      by[c] = {}
      class[#class + 1] = ("%%%c"):format(c):gsub("^%%(%w)$", "%1")
    end
    table.insert(by[c], t)
  end
  for _, list in pairs(by) do
    table.sort(list, function(a, b)
      if #a.content ~= #b.content then return #a.content > #b.content end
      return a.id < b.id
    end)
  end
  if #class == 0 then return nil end
  return {by = by, class = "[" .. table.concat(class) .. "]"}
end

local function is_word(text, at)
  return at >= 1 and text:find("^[%w_\x80-\xff]", at) ~= nil
end

local function token_at(f, text, at, all)
  for _, t in ipairs(f.by[text:byte(at)]) do
    if text:sub(at, at + #t.content - 1) == t.content
       and (all or not t.special)
       and not (t.single_word and (is_word(text, at - 1)
                                   or is_word(text, at + #t.content))) then
      return t
    end
  end
end

-- Appends pieces of the text, tokens and texts between them, to 'out'.
local function partition(f, text, all, out)
  local from, at = 1, 1
  while f do
    at = text:find(f.class, at)
    if not at then break end
    local t = token_at(f, text, at, all)
    if t then
      local before, stop = text:sub(from, at - 1), at + #t.content
      if t.lstrip then before = before:gsub("%s+$", "") end
      if t.rstrip then stop = text:find("%S", stop) or #text + 1 end
      if before ~= "" then out[#out + 1] = before end
      out[#out + 1] = t
      from, at = stop, stop
    else
      at = at + 1
    end
  end
  if from <= #text then out[#out + 1] = text:sub(from) end
  return out
end

-- ---- encode ----

local function put_text(self, text, first, ids)
  for _, piece in ipairs(self.pre({text}, first)) do
    native.encode(self.vocab, piece, ids)
  end
end

local function encode_plain(self, text, all, ids)
  local first = true
  for _, part in ipairs(partition(self.raw, text, all, {})) do
    if type(part) == "table" then
      ids[#ids + 1] = part.id
    else
      part = self.normalize(part, first)
      for _, piece in ipairs(partition(self.normalized, part, all, {})) do
        if type(piece) == "table" then ids[#ids + 1] = piece.id
        else put_text(self, piece, first, ids) end
        first = false
      end
    end
    first = false
  end
  return ids
end

-- The ids of a text, a list. Options: special (are the file's own tokens put
-- around?), parse (are special tokens in the text found?).
function Tokenizer:encode(text, options)
  if type(text) ~= "string" then
    error("encode: string expected, got " .. type(text), 2)
  end
  options = options or {}
  if type(options) ~= "table" then
    error("encode: options: a table expected, got " .. type(options), 2)
  end
  for key, v in pairs(options) do
    if key ~= "special" and key ~= "parse" or type(v) ~= "boolean" then
      error(("encode: %s: %s"):format(tostring(key), (key == "special"
            or key == "parse") and "a boolean expected, got " .. type(v)
            or "no such option (special, parse)"), 2)
    end
  end
  local special = options.special
  if special == nil then special = self.adds end
  local ids = {}
  if special then
    for _, id in ipairs(self.before) do ids[#ids + 1] = id end
  end
  encode_plain(self, text, options.parse ~= false, ids)
  if special then
    for _, id in ipairs(self.after) do ids[#ids + 1] = id end
  end
  return ids
end

-- ---- decode ----

-- The token of an id as the file has it.
function Tokenizer:token(id)
  return self.added[id] and self.added[id].content
    or native.text(self.vocab, id)
end

-- The id of a token, or nil.
function Tokenizer:id(token)
  local t = self.by_content[token]
  return t and t.id or native.id(self.vocab, token)
end

-- The text of ids. Options: special (are special tokens shown?).
function Tokenizer:decode(ids, options)
  local tokens = {}
  local special = options and options.special
  local out = {}
  local function flush()
    if #tokens > 0 then
      out[#out + 1] = table.concat(self.decoder(tokens))
      tokens = {}
    end
  end
  if la.is_tensor(ids) then ids = ids:flatten():totable() end
  if math.type(ids) == "integer" then ids = {ids} end
  if type(ids) ~= "table" then
    error("decode: a list of ids expected, got " .. type(ids), 2)
  end
  for i, id in ipairs(ids) do
    local t = self.added[id]
    local text = t and t.content or native.text(self.vocab, id)
    if not text then
      error(("decode: id %s at %d: 0 to %d expected"):format(
            tostring(id), i, self.size - 1), 2)
    end
    if not t then tokens[#tokens + 1] = text
    elseif not t.special or special then
      if self.joins then tokens[#tokens + 1] = text
      else
        flush()
        out[#out + 1] = text
      end
    end
  end
  flush()
  return table.concat(out)
end

-- The bytes that an id adds to a text that goes on.
function Tokenizer:piece(id)
  local t = self.added[id]
  if t then return t.special and "" or t.content end
  return self.bytes_of(native.text(self.vocab, id) or "")
end

function Tokenizer:__tostring()
  return ("tokenizer(%s, %d tokens)"):format(self.model, self.size)
end
Tokenizer.__len = function(self) return self.size end

-- How many tokens the vocabulary has, or how many a text becomes, with the
-- options of encode.
function Tokenizer:count(text, options)
  if text == nil then return self.size end
  return #self:encode(text, options)
end

-- ---- making one ----

local function identity(x) return x end

-- Completes the fields: vocab, model, size, added (a list of {id, content,
-- special, normalized, ...}), normalize, pre, decoder, before, after.
local function finish(t, added)
  local raw, normalized = {}, {}
  t.added, t.by_content = {}, {}
  for _, a in ipairs(added) do
    if a.content ~= "" then
      t.added[a.id], t.by_content[a.content] = a, a
      table.insert(a.normalized and normalized or raw, a)
    end
  end
  for _, a in ipairs(normalized) do
    a.content = t.normalize(a.content, false)
    if a.content == "" then a.content = "\0\0" end
  end
  t.raw, t.normalized = finder(raw), finder(normalized)
  t.before, t.after = t.before or {}, t.after or {}
  return setmetatable(t, Tokenizer)
end

-- A list from 0 of an object {token = id}; gaps hold texts that no word has.
local function tokens_of(vocab)
  local list, n, count = {}, 0, 0
  for _ in pairs(vocab) do count = count + 1 end
  for token, id in pairs(vocab) do
    if math.type(id) ~= "integer" or id < 0 or id > 2 * count + 1000 then
      error(("tokenizer: token '%s': an id expected"):format(token), 0)
    end
    list[id + 1] = token
    n = math.max(n, id + 1)
  end
  for i = 1, n do list[i] = list[i] or ("\0unused%d"):format(i) end
  return list
end

-- ---- tokenizer.json ----

local MODELS = {}

function MODELS.BPE(m)
  local tokens = tokens_of(m.vocab)
  return "bpe", tokens, nil, m.merges, {
    unknown = m.unk_token and m.vocab[m.unk_token],
    ignore_merges = m.ignore_merges, byte_fallback = m.byte_fallback,
    fuse_unknown = m.fuse_unk, suffix = m.end_of_word_suffix}
end

function MODELS.WordPiece(m)
  return "wordpiece", tokens_of(m.vocab), nil, nil, {
    unknown = m.vocab[m.unk_token or "[UNK]"],
    next = m.continuing_subword_prefix or "##",
    most = m.max_input_chars_per_word or 100}
end

function MODELS.WordLevel(m)
  return "wordpiece", tokens_of(m.vocab), nil, nil, {
    unknown = m.vocab[m.unk_token or "<unk>"], next = "\1\xff"}
end

function MODELS.Unigram(m)
  local tokens, scores = {}, {}
  for i, pair in ipairs(m.vocab) do tokens[i], scores[i] = pair[1], pair[2] end
  return "unigram", tokens, scores, nil, {
    unknown = m.unk_id, byte_fallback = m.byte_fallback, fuse_unknown = true}
end

-- Special tokens around a text, by the post-processor.
local function around(d, t, by)
  if not d then return end
  t.adds = true
  if d.type == "Sequence" then
    for _, one in ipairs(d.processors) do around(one, t, by) end
  elseif d.type == "TemplateProcessing" then
    local before, after = {}, {}
    local list = before
    for _, item in ipairs(d.single) do
      if item.Sequence then list = after
      else
        local special = d.special_tokens[item.SpecialToken.id]
        for _, id in ipairs(special.ids) do list[#list + 1] = id end
      end
    end
    t.before, t.after = before, after
  elseif d.type == "BertProcessing" or d.type == "RobertaProcessing" then
    t.before, t.after = {d.cls[2]}, {d.sep[2]}
  end
end

-- Bytes that a token adds, where decoders are those of byte level tokens.
local function bytes_by_decoder(d)
  local kinds = {}
  local function walk(one)
    if not one then return end
    kinds[one.type] = true
    for _, inner in ipairs(one.decoders or {}) do walk(inner) end
  end
  walk(d)
  if kinds.ByteLevel then return native.unbytes end
  return function(token)
    token = parts.from_byte_tokens({token})[1]
    return (token:gsub(parts.SPACE, " "))
  end, not kinds.ByteLevel
end

local function from_json(text)
  local d = json.decode(text)
  if type(d) ~= "table" or type(d.model) ~= "table" then
    error("no tokenizer.json: there is no model", 0)
  end
  local m = d.model
  local kind = m.type or (m.merges and "BPE") or "WordPiece"
  if not MODELS[kind] then
    error("the model '" .. tostring(kind) .. "' is not known", 0)
  end
  local name, tokens, scores, merges, options = MODELS[kind](m)
  local t = {model = kind, adds = false,
             vocab = native.vocab(name, tokens, scores, merges, options),
             normalize = parts.normalizer(d.normalizer),
             pre = parts.pre(d.pre_tokenizer), size = #tokens}
  t.decoder = parts.decoder(d.decoder)
  t.bytes_of, t.joins = bytes_by_decoder(d.decoder)
  around(d.post_processor, t)
  local added = {}
  for i, a in ipairs(d.added_tokens or {}) do
    added[i] = a
    t.size = math.max(t.size, a.id + 1)
  end
  return finish(t, added)
end

-- ---- GGUF ----

local function added_of(metadata, tokens, options)
  local kinds, added = metadata["tokenizer.ggml.token_type"] or {}, {}
  for i, token in ipairs(tokens) do
    local kind = kinds[i]
    if kind == 2 or kind == 3 or kind == 4 then
      added[#added + 1] = {id = i - 1, content = token, special = kind ~= 4,
                           rstrip = options.rstrip and kind == 3}
    end
  end
  return added
end

-- Spaces become visible; one is put before the text, and behind a special
-- token, as SentencePiece does.
local function visible_spaces(prefix, collapse)
  return function(text)
    if collapse then text = text:gsub("^ +", ""):gsub(" +", " ") end
    if prefix then text = " " .. text end
    return (text:gsub(" ", parts.SPACE))
  end
end

local function spaces_back(first)
  return function(tokens)
    local text = table.concat(parts.from_byte_tokens(tokens))
    text = text:gsub(parts.SPACE, " ")
    return {first and text:gsub("^ ", "") or text}
  end
end

local function token_bytes(token)
  return (parts.from_byte_tokens({token})[1]:gsub(parts.SPACE, " "))
end

local GGUF = {}

function GGUF.gpt2(g, t)
  local patterns = require "lunarray.tokenizer.patterns"
  local pre = g("pre") or "default"
  if not patterns.kinds[pre] then
    error("the way '" .. pre .. "' to cut a text into words is not known", 0)
  end
  if g("model") == "gemma4" or pre == "gemma4" then return GGUF.gemma4(g, t) end
  t.model, t.kind = "BPE", "bpe"
  t.options.ignore_merges = patterns.whole[pre]
  t.pre = parts.patterns(patterns.kinds[pre], true)
  t.decoder = function(tokens)
    return {native.unbytes(table.concat(tokens))}
  end
  t.bytes_of = native.unbytes
end

function GGUF.gemma4(g, t)
  local patterns = require "lunarray.tokenizer.patterns"
  t.model, t.kind = "BPE", "bpe"
  t.options.byte_fallback = true
  t.normalize = visible_spaces(g("add_space_prefix") == true)
  local cut = parts.patterns(patterns.kinds.gemma4, false)
  t.pre = cut
  t.lines = true
  t.decoder, t.bytes_of = spaces_back(false), token_bytes
end

function GGUF.llama(g, t)
  t.model, t.kind = "SentencePiece", "spm"
  t.options.byte_fallback = true
  local prefix = g("add_space_prefix") ~= false
  t.normalize = visible_spaces(prefix)
  t.decoder, t.bytes_of = spaces_back(prefix), token_bytes
end

function GGUF.t5(g, t)
  t.model, t.kind = "Unigram", "unigram"
  t.options.fuse_unknown = true
  local map = g("precompiled_charsmap")
  local prefix = g("add_space_prefix") ~= false
  local spaces = visible_spaces(prefix, g("remove_extra_whitespaces"))
  if map then
    for i, b in ipairs(map) do map[i] = string.char(b & 255) end
    map = table.concat(map)
  end
  t.normalize = function(text)
    return spaces(map and native.map(map, text) or text)
  end
  t.decoder, t.bytes_of = spaces_back(prefix), token_bytes
end

function GGUF.bert(_, t)
  t.model, t.kind = "WordPiece", "wordpiece"
  t.options.start, t.options.next = parts.SPACE, ""
  t.normalize = function(text)
    return native.clean(text, {clean = true, chinese = true, accents = true,
                               lower = true})
  end
  t.pre = parts.pre{type = "BertPreTokenizer"}
  t.decoder, t.bytes_of = spaces_back(true), token_bytes
end

-- A tokenizer of a GGUF file's metadata.
function tokenizer.from_metadata(metadata)
  local function g(key) return metadata["tokenizer.ggml." .. key] end
  local tokens, model = g("tokens"), g("model")
  if type(tokens) ~= "table" or not GGUF[model] then
    error("tokenizer: no tokens of a known model: " .. tostring(model), 0)
  end
  local t = {options = {unknown = g("unknown_token_id")}, adds = false,
             size = #tokens, normalize = identity, pre = identity}
  GGUF[model](g, t)
  t.vocab = native.vocab(t.kind, tokens, g("scores"), g("merges"), t.options)
  local function special(key, fallback)
    local add = g("add_" .. key .. "_token")
    if add == nil then add = fallback end
    return add and g(key .. "_token_id") or nil
  end
  local begins = model == "llama" or model == "bert" or model == "t5"
    or t.options.ignore_merges
  local first = special("bos", begins) or model == "bert" and g("cls_token_id")
  t.before = {first or nil}
  t.after = {special("eos", model == "t5")
             or model == "bert" and g("seperator_token_id") or nil}
  t.bos, t.eos = g("bos_token_id"), g("eos_token_id")
  return finish(t, added_of(metadata, tokens, t.options))
end

-- ---- vocab.txt ----

local function from_lines(text)
  if text:find("\0", 1, true) or not utf8.len(text) then
    error("it is no tokenizer.json, no GGUF file, and no text of tokens", 0)
  end
  local tokens, vocab = {}, {}
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    tokens[#tokens + 1] = line
    vocab[line] = vocab[line] or #tokens - 1
  end
  if tokens[#tokens] == "" then tokens[#tokens] = nil end
  local added = {}
  for _, word in ipairs{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} do
    if vocab[word] then
      added[#added + 1] = {id = vocab[word], content = word, special = true}
    end
  end
  local lower = not text:find("\n[A-Z][a-z]+\r?\n")
  local adds = vocab["[CLS]"] ~= nil and vocab["[SEP]"] ~= nil
  local t = {model = "WordPiece", adds = adds, size = #tokens,
    vocab = native.vocab("wordpiece", tokens, nil, nil,
                         {unknown = vocab["[UNK]"], next = "##", most = 100}),
    normalize = parts.normalizer{type = "BertNormalizer", clean_text = true,
                                 handle_chinese_chars = true,
                                 lowercase = lower},
    pre = parts.pre{type = "BertPreTokenizer"}, joins = true,
    decoder = parts.decoder{type = "WordPiece"}, bytes_of = identity,
    before = {vocab["[CLS]"]}, after = {vocab["[SEP]"]}}
  return finish(t, added)
end

-- ---- load ----

-- A tokenizer from the bytes of a file.
function tokenizer.decode(bytes)
  if bytes:sub(1, 4) == "GGUF" then
    return tokenizer.from_metadata(la.gguf.decode(bytes).metadata)
  end
  if bytes:find("^[%s\xef\xbb\xbf]*{") then return from_json(bytes) end
  return from_lines(bytes)
end

-- A tokenizer from tokenizer.json, a GGUF file or vocab.txt.
function tokenizer.load(path)
  if type(path) ~= "string" then
    error("tokenizer.load: a path expected, got " .. type(path), 2)
  end
  local ok, t = pcall(function()
    if path:find("%.gguf$") then
      return tokenizer.from_metadata(la.gguf.info(path).metadata)
    end
    return tokenizer.decode(la.gguf.map(path):tostring_raw())
  end)
  if not ok then
    error(("tokenizer.load: '%s': %s"):format(path, tostring(t)), 0)
  end
  return t
end

return tokenizer
