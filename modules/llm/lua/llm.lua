-- lunarray.llm: language models. A model holds weights; a session holds what
-- was said so far, keys and values in pages that sessions share until one of
-- them writes. Ids of tokens count from 0, as the model's file has them.
local la = require "lunarray"
local families = require "lunarray.llm.families"
local sample = require "lunarray.llm.sample"
local llm = {}

local PAGE = 64               -- positions of a page
local CHUNK = 256             -- rows that are computed at once
local PIECE = 2               -- and between two pauses

local Model = {__name = "llm"}
Model.__index = Model
local Session = {__name = "llm.session"}
Session.__index = Session

-- ---- layers ----

local function product(x, w, bias, fast)
  local y
  if la.is_tensor(w) then y = la.linear(x, w)
  else y = la.gguf.product(x, w.blocks, w.type, fast) end
  return bias and y + bias or y
end

-- The norm of rows; 'name' is that of its weight.
local function norm(m, x, weight, bias)
  if m.kind.layer_norm then
    return la.layer_norm(x, {x.shape[2]}, weight, bias, m.config.eps)
  end
  return la.rms_norm(x, {x.shape[2]}, weight, m.config.eps)
end

local function head_norm(m, x, weight)
  return weight and la.rms_norm(x, {x.shape[3]}, weight, m.config.eps) or x
end

-- Which positions a layer sees, and its table of positions: some families mix
-- layers of a window with layers of all.
local function view_of(m, i)
  local c = m.config
  if c.arch == "gemma2" then return i % 2 == 1 and c.window or 0, m.rotary end
  if m.kind.mixed then
    if i % 6 ~= 0 then return c.window, m.rotary_near end
    return 0, m.rotary
  end
  return c.window, m.rotary
end

local function split_heads(m, layer, x)
  local c, n = m.config, x.shape[1]
  local q, k, v
  if layer.attn_qkv then
    local all = product(x, layer.attn_qkv, layer.attn_qkv_bias, m.fast)
    local a, b = c.heads * c.width, c.groups * c.width
    q, k, v = all:narrow(2, 1, a), all:narrow(2, a + 1, b),
              all:narrow(2, a + b + 1, b)
  else
    q = product(x, layer.attn_q, layer.attn_q_bias, m.fast)
    k = product(x, layer.attn_k, layer.attn_k_bias, m.fast)
    v = product(x, layer.attn_v, layer.attn_v_bias, m.fast)
  end
  return q:reshape(n, c.heads, c.width), k:reshape(n, c.groups, c.width),
         v:reshape(n, c.groups, c.width)
end

local function attend(m, s, i, layer, x, start)
  local c, n = m.config, x.shape[1]
  local q, k, v = split_heads(m, layer, x)
  local window, table = view_of(m, i)
  table = table:narrow(1, start + 1, n)
  q = la.llm.rotate(head_norm(m, q, layer.attn_q_norm), table,
                    m.kind.traditional or false)
  k = la.llm.rotate(head_norm(m, k, layer.attn_k_norm), table,
                    m.kind.traditional or false)
  s:_keep(i, start, k, v)
  local y = la.llm.attention(q, s.tensors, i, start, m.scale, window,
                             c.attention_cap)
  return product(y:view(n, c.heads * c.width), layer.attn_output,
                 layer.attn_output_bias, m.fast)
end

local function feed_forward(m, layer, x)
  local up = product(x, layer.ffn_up, layer.ffn_up_bias, m.fast)
  local gate
  if layer.ffn_gate then
    gate = product(x, layer.ffn_gate, layer.ffn_gate_bias, m.fast)
  elseif not m.kind.plain then
    local half = up.shape[2] // 2
    gate, up = up:narrow(2, 1, half), up:narrow(2, half + 1, half)
  end
  local y
  if gate then
    y = (m.kind.gelu and la.gelu(gate, {approximate = "tanh"})
         or la.silu(gate)) * up
  else
    y = la.gelu(up, {approximate = "tanh"})
  end
  return product(y, layer.ffn_down, layer.ffn_down_bias, m.fast)
end

-- Layer i of rows x from position 'start' on.
local function run_layer(m, s, i, x, start)
  local layer = m.weights.layers[i]
  local h = norm(m, x, layer.attn_norm, layer.attn_norm_bias)
  local a = attend(m, s, i, layer, h, start)
  if layer.post_attention_norm then
    a = norm(m, a, layer.post_attention_norm)
  end
  if m.kind.parallel then return x + a + feed_forward(m, layer, h) end
  x = x + a
  h = norm(m, x, layer.ffn_norm, layer.ffn_norm_bias)
  local y = feed_forward(m, layer, h)
  if layer.post_ffw_norm then y = norm(m, y, layer.post_ffw_norm) end
  return x + y
end

local function embed(m, ids, first, n)
  local at = {}
  for i = 1, n do at[i] = ids[first + i - 1] + 1 end
  at = la.tensor(at)
  local e = m.weights.embed
  local x = la.is_tensor(e) and e:index_select(1, at):float() or e:rows(at)
  return m.kind.scaled and x * math.sqrt(m.config.features) or x
end

local SLICE = 4096            -- words of the vocabulary between two pauses

-- The product with the words of the vocabulary, in slices with pauses.
local function words_product(m, x, pause)
  local w, parts = m.weights.output, {}
  for at = 1, m.config.vocabulary, SLICE do
    local n = math.min(SLICE, m.config.vocabulary - at + 1)
    local part = la.is_tensor(w) and w:narrow(1, at, n)
      or {blocks = w.blocks:narrow(1, at, n), type = w.type}
    parts[#parts + 1] = la.no_grad(product, x, part, nil, m.fast)
    pause()
  end
  return la.cat(parts, 2)
end

-- The logits of the last row.
local function finish(m, x, pause)
  local w = m.weights
  x = norm(m, x:narrow(1, x.shape[1], 1), w.norm, w.norm_bias)
  local y = pause and words_product(m, x, pause)
    or product(x, w.output, nil, m.fast)
  if w.output_bias then y = y + w.output_bias end
  y = y:view(-1)
  local cap = m.config.final_cap
  return cap > 0 and (y / cap):tanh() * cap or y
end

-- ---- sessions: pages ----

-- A page that can be written: alone, and there. Memory is taken as it is
-- written, and of a shared page what the session uses is copied.
local function own_page(s, i)
  local page, c = s.pages[i], s.model.config
  if page and page.users == 1 then return end
  local t = la.empty(c.layers, 2, PAGE, c.groups, c.width)
  if page then
    local used = math.min(#s.ids - (i - 1) * PAGE, PAGE)
    if used > 0 then
      t:narrow(3, 1, used):copy_(page.tensor:narrow(3, 1, used))
    end
    page.users = page.users - 1
  end
  s.pages[i] = {tensor = t, users = 1}
  s.tensors[i] = t
end

-- Pages for positions start + 1 to start + n.
local function reserve(s, start, n)
  for i = start // PAGE + 1, (start + n - 1) // PAGE + 1 do own_page(s, i) end
end

-- Keys and values of a layer from a position on.
function Session:_keep(layer, start, k, v)
  local n, done = k.shape[1], 0
  while done < n do
    local at = start + done
    local part = math.min(n - done, PAGE - at % PAGE)
    local page = self.tensors[at // PAGE + 1][layer]
    page[1]:narrow(1, at % PAGE + 1, part):copy_(k:narrow(1, done + 1, part))
    page[2]:narrow(1, at % PAGE + 1, part):copy_(v:narrow(1, done + 1, part))
    done = done + part
  end
end

local function drop_pages(s, keep)
  for i = #s.pages, keep + 1, -1 do
    s.pages[i].users = s.pages[i].users - 1
    s.pages[i], s.tensors[i] = nil, nil
  end
end

-- Gives its pages back at once; the session is empty afterwards.
function Session:close()
  drop_pages(self, 0)
  self.ids, self.waiting, self.work, self.last = {}, {}, nil, nil
end
Session.__gc = Session.close
Session.__close = Session.close

-- ---- sessions: what is fed ----

local function check_ids(s, ids, name)
  if la.is_tensor(ids) then ids = ids:flatten():totable() end
  if math.type(ids) == "integer" then ids = {ids} end
  if type(ids) ~= "table" then
    error(name .. ": a list of ids expected, got " .. type(ids), 3)
  end
  local most = s.model.config.vocabulary
  for i, id in ipairs(ids) do
    if math.type(id) ~= "integer" or id < 0 or id >= most then
      error(("%s: ids[%d]: 0 to %d expected, got %s"):format(
            name, i, most - 1, tostring(id)), 3)
    end
  end
  local after = #s.ids + #s.waiting + #ids
  if after > s.model.context then
    error(("%s: %d tokens are more than the context of %d"):format(
          name, after, s.model.context), 3)
  end
  return ids
end

-- Computes what waits; 'pause' is called after each layer.
local function compute(s, pause, chunk)
  while #s.waiting > 0 do
    local n, start = math.min(#s.waiting, chunk), #s.ids
    local x
    la.no_grad(function()
      reserve(s, start, n)
      x = embed(s.model, s.waiting, 1, n)
    end)
    if pause then pause() end
    for i = 1, s.model.config.layers do
      la.no_grad(function() x = run_layer(s.model, s, i, x, start) end)
      if pause then pause() end
    end
    local last = n == #s.waiting
    if last and pause then s.last = finish(s.model, x, pause)
    elseif last then s.last = la.no_grad(finish, s.model, x) end
    for i = 1, n do s.ids[start + i] = s.waiting[i] end
    table.move(s.waiting, n + 1, #s.waiting + n, 1)
  end
end

-- Calls progress(done, all) with tokens as layers of them are computed.
local function teller(s, progress)
  if not progress then return nil end
  local all, layers = #s.waiting, s.model.config.layers
  local steps, told = -1, -1
  return function()
    steps = steps + 1
    local before = steps // (layers + 1) * CHUNK
    local done = math.min(all, before + math.min(CHUNK, all - before)
                               * (steps % (layers + 1)) // layers)
    if done > told then
      told = done
      progress(done, all)
    end
  end
end

-- Takes ids (or one) in; what they lead to is computed now. progress: a
-- function of how many tokens are done, and of all. The session.
function Session:feed(ids, progress)
  ids = check_ids(self, ids, "feed")
  if progress ~= nil and type(progress) ~= "function" then
    error("feed: progress: a function expected, got " .. type(progress), 2)
  end
  self.last = #ids > 0 and nil or self.last
  for _, id in ipairs(ids) do self.waiting[#self.waiting + 1] = id end
  local work = self.work
  while work do                 -- what advance has begun
    local ok, more = coroutine.resume(work, math.huge)
    if not ok then error(more, 0) end
    if coroutine.status(work) == "dead" then work, self.work = nil, nil end
  end
  compute(self, teller(self, progress), CHUNK)
  return self
end

-- Takes ids in, which advance computes.
function Session:queue(ids)
  for _, id in ipairs(check_ids(self, ids, "queue")) do
    self.waiting[#self.waiting + 1] = id
    self.last = nil
  end
  return self
end

-- The logits of what comes next, a tensor {vocabulary}.
function Session:logits()
  if not self.last then
    error("logits: feed a token first",
          require "lunarray.tensors".user_level())
  end
  return self.last
end

-- The id of the next token, by the logits; it is not fed.
function Session:sample(options)
  return self:_pick(sample.check("sample", options))
end

-- As sample, with options that were looked at.
function Session:_pick(options)
  if options.seed and options.seed ~= self.seed then
    self.seed, self.random = options.seed, sample.random(options.seed)
  end
  return sample.next(self:logits(), self.ids, options, self.random)
end

-- A token when one is ready, else nil: computes for about so many microseconds,
-- one step at least, and begins none that is likely to take longer. The token
-- is taken in. Options are those of sample.
function Session:advance(microseconds, options)
  if type(microseconds) ~= "number" or not (microseconds >= 0) then
    error("advance: microseconds from 0 on expected, got "
          .. tostring(microseconds), 2)
  end
  options = sample.check("advance", options)
  local clock, m = os.clock, self.model
  local ends = clock() + microseconds * 1e-6
  -- one step, while nobody knows how long they are
  local stop = m.step == 0 and 0 or ends - 1.5 * m.step
  if #self.waiting > 0 then
    self.work = self.work or coroutine.create(function(till)
      local begun = clock()
      compute(self, function()
        local now = clock()
        m.step = math.max(now - begun, m.step * 0.95)
        if now >= till then till = coroutine.yield() end
        begun = clock()
      end, PIECE)
    end)
    local ok, why = coroutine.resume(self.work, stop)
    if not ok then
      self.work = nil
      error(why, 0)
    end
    if coroutine.status(self.work) ~= "dead" then return nil end
    self.work = nil
    if clock() + m.pick >= ends then return nil end
  end
  local begun = clock()
  local id = self:_pick(options)
  m.pick = math.max(clock() - begun, m.pick * 0.95)
  if #self.ids < self.model.context then self:queue{id} end
  return id
end

-- How many tokens were computed.
function Session:length() return #self.ids end

-- Forgets all but the first n tokens.
function Session:truncate(n)
  if math.type(n) ~= "integer" or n < 0 or n > #self.ids then
    error(("truncate: 0 to %d tokens expected, got %s"):format(
          #self.ids, tostring(n)), 2)
  end
  self.waiting, self.work = {}, nil
  if n == #self.ids then return self end
  for i = #self.ids, n + 1, -1 do self.ids[i] = nil end
  drop_pages(self, (n + PAGE - 1) // PAGE)
  self.last = nil
  return self
end

local function new_session(m)
  return setmetatable({model = m, ids = {}, waiting = {}, pages = {},
                       tensors = {}, seed = 0,
                       random = sample.random(0)}, Session)
end

-- A session that goes on from here, for itself. Pages are shared until one of
-- the sessions writes to them.
function Session:fork()
  if self.work or #self.waiting > 0 then self:feed{} end
  local s = new_session(self.model)
  table.move(self.ids, 1, #self.ids, 1, s.ids)
  for i, page in ipairs(self.pages) do
    page.users = page.users + 1
    s.pages[i], s.tensors[i] = page, page.tensor
  end
  s.last, s.seed = self.last, self.seed
  s.random = sample.random(self.seed)
  return s
end

-- The file of a session: a .safetensors, whose end may be left out, or .npz.
local function file_of(path)
  local known = path:find "%.safetensors$" or path:find "%.npz$"
  return known and path or path .. ".safetensors"
end

-- Writes ids, keys and values to a file.
function Session:save(path)
  if type(path) ~= "string" then
    error("save: a path expected, got " .. type(path), 2)
  end
  if self.work or #self.waiting > 0 then self:feed{} end
  local file = {ids = la.tensor(self.ids, "int64")}
  if #self.ids > 0 then
    file.pages = la.cat(self.tensors, 3):narrow(3, 1, #self.ids):contiguous()
  end
  if self.last then file.logits = self.last end
  la.save(file, file_of(path))
end

function Session:__tostring()
  return ("session(%d tokens)"):format(#self.ids)
end

-- ---- models ----

-- An empty session, or one that save wrote.
function Model:session(path)
  local s = new_session(self)
  if not path then return s end
  if type(path) ~= "string" then
    error("session: a path expected, got " .. type(path), 2)
  end
  local file, c = la.load(file_of(path)), self.config
  local ids = file.ids:totable()
  check_ids(s, ids, "session")
  if #ids == 0 then return s end
  local want = {c.layers, 2, #ids, c.groups, c.width}
  if not file.pages or table.concat(file.pages.shape, " ")
     ~= table.concat(want, " ") then
    error("session: '" .. path .. "' is one of another model", 2)
  end
  reserve(s, 0, #ids)
  for i = 1, #s.pages do
    local n = math.min(PAGE, #ids - (i - 1) * PAGE)
    s.tensors[i]:narrow(3, 1, n):copy_(
      file.pages:narrow(3, (i - 1) * PAGE + 1, n))
  end
  s.ids, s.last = ids, file.logits
  return s
end

local function check_messages(messages)
  if type(messages) ~= "table" or la.is_tensor(messages) then
    error("chat: a list of messages {role =, content =} expected, got "
          .. type(messages), 0)
  end
  for i, message in ipairs(messages) do
    if type(message) ~= "table" or type(message.role) ~= "string" then
      error(("chat: messages[%d]: {role =, content =} expected"):format(i), 0)
    end
    local content = message.content
    if type(content) ~= "string" and type(content) ~= "table"
      and message.tool_calls == nil then
      error(("chat: messages[%d]: content: a string expected, got %s")
        :format(i, type(content)), 0)
    end
  end
  if #messages == 0 then error("chat: there are no messages", 0) end
end

-- The text that a list of messages becomes, by the model's template.
function Model:render(messages, options)
  check_messages(messages)
  options = options or {}
  local template = options.template or self.template
  if template then return template(messages, options) end
  error("llm: the model has no chat template; give llm.load one, template = "
        .. "function(messages)", 2)
end

-- Text that is complete in UTF-8, and the rest.
local function whole_text(text)
  for k = 1, math.min(3, #text) do
    local c = text:byte(-k)
    if c >= 0xc0 then
      local need = c >= 0xf0 and 4 or c >= 0xe0 and 3 or 2
      if need > k then return text:sub(1, -k - 1), text:sub(-k) end
      break
    elseif c < 0x80 then
      break
    end
  end
  return text, ""
end

-- The text up to the first stop word, and true; else what surely belongs to the
-- answer, the rest, and false.
local function cut_at_stop(text, stops)
  local first, held = nil, 0
  for _, stop in ipairs(stops) do
    local at = text:find(stop, 1, true)
    if at and (not first or at < first) then first = at end
    for n = math.min(#stop - 1, #text), 1, -1 do
      if text:sub(-n) == stop:sub(1, n) then
        held = math.max(held, n)
        break
      end
    end
  end
  if first then return text:sub(1, first - 1), "", true end
  return text:sub(1, #text - held), held > 0 and text:sub(-held) or "", false
end

-- Pieces of text that follow, while 'next_id' gives tokens.
local function pieces(m, s, options, next_id)
  local stops = options.stop or {}
  if type(stops) == "string" then stops = {stops} end
  local most, count, rest, done = options.max or 256, 0, "", false
  local function step()
    if count >= most or #s.ids + #s.waiting >= m.context then
      done = true
      return rest
    end
    local id = next_id()
    count = count + 1
    if m.ends[id] then
      done = true
      return rest
    end
    local text, tail = whole_text(rest .. m.tokenizer:piece(id))
    local shown, held, stopped = cut_at_stop(text, stops)
    done, rest = stopped, held .. tail
    if not stopped then s:feed{id} end
    return shown
  end
  return function()
    while not done do
      local shown = step()
      if shown ~= "" then return shown end
    end
  end
end

-- An iterator over the pieces of an answer. Options: max, temperature, top_k,
-- top_p, min_p, repeat_penalty, seed, stop, allow, session (which goes on),
-- template (of the messages, in place of the model's).
function Model:chat(messages, options)
  options = sample.check("chat", options, true)
  if not self.tokenizer then
    error("chat: the model has no tokenizer", 2)
  end
  local text = self:render(messages, options)
  local ids = self.tokenizer:encode(text, {special = false, parse = true})
  local bos = self.tokenizer.before[1]
  if bos and ids[1] ~= bos then table.insert(ids, 1, bos) end
  local s = options.session or self:session()
  s.seed = options.seed or s.seed
  s.random = sample.random(s.seed)
  local same = 0                -- what the session knows already
  while same < #ids - 1 and s.ids[same + 1] == ids[same + 1] do
    same = same + 1
  end
  s:truncate(same)
  s:feed(table.move(ids, same + 1, #ids, 1, {}), options.progress)
  return pieces(self, s, options, function() return s:_pick(options) end)
end

-- The text that follows a text, without a template; else as chat.
function Model:complete(text, options)
  options = sample.check("complete", options, true)
  if not self.tokenizer then
    error("complete: the model has no tokenizer", 2)
  end
  local s = options.session or self:session()
  s.seed = options.seed or s.seed
  s.random = sample.random(s.seed)
  s:feed(self.tokenizer:encode(text, {special = s:length() == 0}),
         options.progress)
  return pieces(self, s, options, function() return s:_pick(options) end)
end

function Model:__tostring()
  local c = self.config
  return ("llm(%s, %d layers of %d)"):format(c.arch, c.layers, c.features)
end

-- ---- load ----

local ENDS = {"<|im_end|>", "<|eot_id|>", "<end_of_\116urn>", "<|end|>",
              "<|endoftext|>", "</s>", "<|end_of_text|>", "<|eom_id|>"}

local function ends_of(t)
  local ends = {}
  if not t then return ends end
  for _, word in ipairs(ENDS) do
    local id = t.by_content[word] and t:id(word)
    if id then ends[id] = true end
  end
  if t.eos then ends[t.eos] = true end
  return ends
end

local function template_of(source, t, options)
  if options.template then return options.template end
  if type(source) ~= "string" then return nil end
  local template = require "lunarray.llm.template"
  local function word(id) return id and t and t:token(id) or "" end
  local run
  return function(messages, o)
    run = run or template.compile(source)
    return run{messages = messages, tools = o.tools,
               add_generation_prompt = true, bos_token = word(t and t.bos),
               eos_token = word(t and t.eos)}
  end
end

local function new_model(c, weights, t, source, options)
  local m = {config = c, kind = c.kind, weights = weights, tokenizer = t,
             fast = options.fast or false, ends = ends_of(t),
             step = 0, pick = 0}    -- the longest of each, for advance
  m.context = math.min(options.context or 2048, 1 << 20) // 1 | 0
  m.scale = 1 / math.sqrt(c.width)
  m.rotary = families.rotary(c, m.context, weights.factors, c.base)
  if c.kind.mixed then
    m.rotary_near = families.rotary({dims = c.dims, factor = 1}, m.context, nil,
                                    10000)
  end
  m.template = template_of(source, t, options)
  return setmetatable(m, Model)
end

-- A text file, by the state's own way to files; nil where there is none.
local function read(path)
  local ok, bytes = pcall(la.gguf.map, path)
  return ok and bytes:tostring_raw() or nil
end

local function load_folder(path, options)
  local json = require "lunarray.tokenizer.json"
  local config = read(path .. "/config.json")
  if not config then
    error(("llm.load: '%s' is neither a .gguf nor a folder with config.json")
          :format(path), 0)
  end
  local index = path .. "/model.safetensors.index.json"
  local tensors = la.load(read(index) and index
                          or path .. "/model.safetensors")
  local c, weights = families.from_folder(json.decode(config), tensors)
  local t = read(path .. "/tokenizer.json")
    and la.tokenizer.load(path .. "/tokenizer.json")
  local more = read(path .. "/tokenizer_config.json")
  more = more and json.decode(more) or {}
  local function id(key)
    local v = more[key]
    if type(v) == "table" then v = v.content end
    return t and type(v) == "string" and t:id(v) or nil
  end
  if t then t.bos, t.eos = id "bos_token", id "eos_token" end
  return new_model(c, weights, t, more.chat_template
                   or read(path .. "/chat_template.jinja"), options)
end

local function load_gguf(path, options)
  local file = la.load(path)
  local c, weights = families.from_gguf(file)
  local t
  if file.metadata["tokenizer.ggml.tokens"] then
    t = la.tokenizer.from_metadata(file.metadata)
  end
  return new_model(c, weights, t, file.metadata["tokenizer.chat_template"],
                   options)
end

local OPTIONS = {context = "number", template = "function", fast = "boolean"}

-- A model of a GGUF file, or of a folder with config.json, safetensors and
-- tokenizer.json. Options: context (tokens of a session at most), fast
-- (products with 8-bit activations), template (a function of messages).
function llm.load(path, options)
  options = options or {}
  if type(path) ~= "string" then
    error("llm.load: a path expected, got " .. type(path), 2)
  end
  for key, v in pairs(options) do
    if type(v) ~= OPTIONS[key] then
      error(("llm.load: %s: %s"):format(tostring(key), OPTIONS[key]
            and OPTIONS[key] .. " expected, got " .. type(v)
            or "no such option (context, fast, template)"), 2)
    end
  end
  local context = options.context
  if context and (context < 1 or context % 1 ~= 0) then
    error("llm.load: context: a number of tokens from 1 on expected, got "
          .. tostring(context), 2)
  end
  local load = path:find("%.gguf$") and load_gguf or load_folder
  local m = load(path, options)
  pcall(collectgarbage)         -- the file's words, now and not in a frame
  return m
end

return llm
