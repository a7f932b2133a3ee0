-- la.llm: a small model against a definition by loops over positions and heads;
-- sessions, forks, sampling and budgets against what they promise.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"
local tiny = require "modules.llm.spec.tiny"

local files, model, tensors

setup(function()
  files = folder.new()
  tensors = tiny(files:path("tiny.gguf"))
  model = la.llm.load(files:path("tiny.gguf"), {context = 200})
end)
teardown(function() files:remove() end)

-- ---- the definition ----

local function rms(x, w) return x / ((x * x):mean() + 1e-5):sqrt() * w end

-- Pairs of neighbours, or halves, rotated by position and frequency.
local function rotated(x, pos, near)
  local y, half = x:clone(), x.shape[1] // 2
  for i = 0, half - 1 do
    local a, b = near and 2 * i + 1 or i + 1, near and 2 * i + 2 or i + 1 + half
    local angle = pos * 10000.0 ^ (-2 * i / (2 * half))
    local u, v = x[a]:item(), x[b]:item()
    y[a] = u * math.cos(angle) - v * math.sin(angle)
    y[b] = v * math.cos(angle) + u * math.sin(angle)
  end
  return y
end

-- The logits behind a list of ids, in float64.
local function reference(t, ids, near)
  local function w(name) return t[name]:double() end
  local xs = {}
  for p, id in ipairs(ids) do xs[p] = w("token_embd.weight")[id + 1] end
  for layer = 0, 1 do
    local function l(name)
      return w(("blk.%d.%s.weight"):format(layer, name))
    end
    local q, k, v = {}, {}, {}
    for p, x in ipairs(xs) do
      local h = rms(x, l "attn_norm")
      q[p] = l("attn_q"):matmul(h):view(4, 8)
      k[p] = l("attn_k"):matmul(h):view(2, 8)
      v[p] = l("attn_v"):matmul(h):view(2, 8)
    end
    local next_xs = {}
    for p, x in ipairs(xs) do
      local heads = {}
      for head = 1, 4 do
        local group = (head + 1) // 2
        local scores = {}
        for s = 1, p do
          scores[s] = rotated(q[p][head], p - 1, near)
            :dot(rotated(k[s][group], s - 1, near)):item() / math.sqrt(8)
        end
        local a = la.tensor(scores, "float64"):softmax(1)
        local sum = la.zeros(8):double()
        for s = 1, p do sum = sum + v[s][group] * a[s] end
        heads[head] = sum
      end
      x = x + l("attn_output"):matmul(la.cat(heads))
      local h = rms(x, l "ffn_norm")
      local gate = l("ffn_gate"):matmul(h)
      next_xs[p] = x + l("ffn_down"):matmul(
        gate * gate:sigmoid() * l("ffn_up"):matmul(h))
    end
    xs = next_xs
  end
  return w("output.weight"):matmul(rms(xs[#xs], w "output_norm.weight"))
end

local function near(a, b, eps)
  assert.is_true((a:double() - b:double()):abs():max():item() < (eps or 1e-4))
end

local IDS = {1, 75, 104, 8, 8, 111, 35}

describe("a model", function()
  it("gives the logits of the definition", function()
    near(reference(tensors, IDS, true), model:session():feed(IDS):logits())
  end)

  it("rotates halves in the other families", function()
    local path = files:path("qwen.gguf")
    local t = tiny(path, {arch = "qwen2"})
    local m = la.llm.load(path)
    near(reference(t, IDS, false), m:session():feed(IDS):logits())
  end)

  it("does not depend on how tokens are fed", function()
    local long = {}
    for i = 1, 150 do long[i] = i * 37 % 259 end
    local want = model:session():feed(long):logits()
    local s = model:session()
    for i = 1, 150, 7 do
      s:feed(table.move(long, i, math.min(i + 6, 150), 1, {}))
    end
    near(want, s:logits())
    local one = model:session()
    for _, id in ipairs(long) do one:feed{id} end
    near(want, one:logits())
  end)

  it("sees a window of positions", function()
    local path = files:path("window.gguf")
    tiny(path, {metadata = {["attention.sliding_window"] = 3}, layers = 1})
    local m = la.llm.load(path)
    local a = m:session():feed{9, 8, 7, 6, 5}:logits()
    near(a, m:session():feed{100, 101, 7, 6, 5}:logits(), 1e-3)
    assert.is_false(la.allclose(a, m:session():feed{9, 8, 1, 6, 5}:logits()))
  end)

  it("of every family runs, with what it has besides", function()
    local function norms(put, i, t)
      for _, name in ipairs{"post_attention_norm", "post_ffw_norm"} do
        t[("blk.%d.%s.weight"):format(i, name)] = la.rand(32) + 0.5
      end
      for _, name in ipairs{"attn_q_norm", "attn_k_norm"} do
        t[("blk.%d.%s.weight"):format(i, name)] = la.rand(8) + 0.5
      end
      put("attn_q.bias", 32)
    end
    for _, arch in ipairs{"qwen3", "gemma", "gemma2", "gemma3", "smollm3"} do
      local path = files:path(arch .. ".gguf")
      tiny(path, {arch = arch, extra = norms, layers = 7, metadata = {
        ["attention.sliding_window"] = 4, final_logit_softcapping = 30.0,
        attn_logit_softcapping = 50.0}})
      local m = la.llm.load(path)
      local y = m:session():feed(IDS):logits()
      assert.is_true(y:isfinite():all())
      local s = m:session()
      for _, id in ipairs(IDS) do s:feed{id} end
      near(y, s:logits(), 1e-3)
    end
  end)

  it("multiplies quantized weights as they are", function()
    local path = files:path("quant.gguf")
    local t, metadata = tiny(path)
    for name, x in pairs(t) do
      if #x.shape == 2 then
        -- Q8_0 by the format's own rule
        local parts = x:view(-1, 32)
        local d = (parts:abs():amax(2, true) / 127):half()
        local q = (parts / d:float()):round():to("int8")
        local bytes = la.cat({d:view("uint8"), q:view("uint8")}, 2)
        t[name] = la.gguf.quantized(
          bytes:view(x.shape[1], x.shape[2] // 32 * 34), "Q8_0")
      end
    end
    la.gguf.save({metadata = metadata, tensors = t}, path)
    local exact = la.llm.load(path):session():feed(IDS):logits()
    local plain = {}
    for name, x in pairs(t) do
      plain[name] = la.gguf.is_quantized(x) and x:dequantize() or x
    end
    near(reference(plain, IDS, true), exact)
    local fast = la.llm.load(path, {fast = true}):session():feed(IDS):logits()
    assert.is_true(la.cosine_similarity(exact, fast, 1):item() > 0.999)
  end)
end)

describe("a session", function()
  it("forks, and each goes on for itself", function()
    local a = model:session():feed(IDS)
    local b = a:fork()
    near(a:logits(), b:logits(), 1e-9)
    assert.equal(a.tensors[1], b.tensors[1])      -- shared until written
    b:feed{50, 51}
    a:feed{60}
    near(model:session():feed{1, 75, 104, 8, 8, 111, 35, 50, 51}:logits(),
         b:logits())
    near(model:session():feed{1, 75, 104, 8, 8, 111, 35, 60}:logits(),
         a:logits())
    assert.same({8, 9}, {a:length(), b:length()})
  end)

  it("is cut, saved and read", function()
    local s = model:session():feed(IDS)
    local want = s:logits()
    s:feed{9, 9, 9}:truncate(6):feed{35}
    near(want, s:logits())
    local path = files:path("s.safetensors")
    s:save(path)
    local r = model:session(path)
    assert.same({7, IDS}, {r:length(), r.ids})
    near(s:feed{3}:logits(), r:feed{3}:logits())
    s:save(files:path("plain"))
    near(model:session(files:path("plain")):feed(4):logits(),
      s:feed{4}:logits())
    s:truncate(0)
    raises("feed a token first", s.logits, s)
    raises("0 to 0", s.truncate, s, 1)
    s:close()
  end)

  it("keeps within its context and its vocabulary", function()
    local s = la.llm.load(files:path("tiny.gguf"), {context = 4}):session()
    raises("context of 4", s.feed, s, {1, 2, 3, 4, 5})
    raises("ids[2]: 0 to 258", s.feed, s, {1, 259})
    raises("ids[1]", s.feed, s, {1.5})
    raises("context: a number of tokens from 1 on expected, got 0", la.llm.load,
      files:path("tiny.gguf"), {context = 0})
    s:feed{1, 2, 3, 4}
    assert.equal(4, s:length())
    raises("context", s.feed, s, {1})
  end)

  it("works within a budget", function()
    local want = {}
    local s = model:session():feed(IDS)
    for i = 1, 5 do
      want[i] = s:sample{temperature = 0}
      s:feed{want[i]}
    end
    local b, got, calls = model:session():queue(IDS), {}, 0
    while #got < 5 do
      got[#got + 1] = b:advance(1, {temperature = 0})
      calls = calls + 1
      assert.is_true(calls < 1000)
    end
    assert.same(want, got)
    assert.is_true(calls > 5)
    b:feed{}                    -- the rest of what was begun
    assert.equal(#IDS + 5, b:length())
  end)
end)

describe("sampling", function()
  local function counts(options, n)
    local s, seen = model:session():feed(IDS), {}
    options.seed = 5
    for _ = 1, n or 200 do
      local id = s:sample(options)
      seen[id] = (seen[id] or 0) + 1
    end
    return seen, s:logits()
  end

  local function size(t)
    local n = 0
    for _ in pairs(t) do n = n + 1 end
    return n
  end

  it("follows the probabilities", function()
    local seen, logits = counts({temperature = 1}, 4000)
    local p = logits:softmax(1):totable()
    for id, count in pairs(seen) do
      local want = 4000 * p[id + 1]
      assert.is_true(math.abs(count - want) < 6 * math.sqrt(want) + 6)
    end
  end)

  it("is cut by top_k, top_p, min_p, temperature", function()
    assert.equal(3, size(counts{top_k = 3, temperature = 5}))
    assert.equal(1, size(counts{top_k = 1}))
    assert.equal(1, size(counts{temperature = 0}))
    assert.equal(1, size(counts{top_p = 1e-6}))
    assert.equal(1, size(counts{min_p = 1}))
    assert.is_true(size(counts{temperature = 9}) > 50)
  end)

  it("takes any token of a flat vocabulary, and top_p its most probable",
  function()
    local sample = require "lunarray.llm.sample"
    la.manual_seed(8)
    local logits = la.randn(3000) * 0.1
    local p, order = logits:double():softmax(1):sort(1, true)
    p, order = p:totable(), order:totable()
    local rank = {}
    for i, id in ipairs(order) do rank[id - 1] = i end
    local sum, last = 0, 0
    while sum < 0.5 do
      last = last + 1
      sum = sum + p[last]
    end
    for point = 0, 0.999, 0.037 do
      local function random() return point end
      -- the token at which the sum of probabilities passes the point
      local function at(total)
        local passed = 0
        for i = 1, #p do
          passed = passed + p[i]
          if passed > point * total then return i end
        end
      end
      local free = sample.next(logits, {}, {temperature = 1}, random)
      assert.is_true(math.abs(rank[free] - at(1)) <= 1)
      local narrow = sample.next(logits, {}, {temperature = 1, top_p = 0.5},
        random)
      assert.is_true(math.abs(rank[narrow] - at(sum)) <= 1)
      assert.is_true(rank[narrow] <= last + 1)
    end
  end)

  it("names the option that is no good", function()
    local s = model:session():feed(IDS)
    raises("sample: warmth: no such option", s.sample, s, {warmth = 1})
    raises("sample: top_p: a number from 0 to 1 expected, got 2", s.sample, s,
      {top_p = 2})
    raises("sample: top_k: an integer from 0 on", s.sample, s, {top_k = 1.5})
    raises("sample: allow: a function expected", s.sample, s, {allow = {}})
    raises("sample: options: a table expected", s.sample, s, 1)
    raises("advance: microseconds from 0 on", s.advance, s, "soon")
    raises("chat: max: an integer from 0 on", model.chat, model,
      {{role = "user", content = "?"}}, {max = -1})
    raises("chat: a list of messages", model.chat, model, "hello")
    raises("chat: messages[1]:", model.chat, model, {"hello"})
    raises("complete: stop: a text or a list", model.complete, model, "x",
      {stop = 1})
  end)

  it("repeats with a seed", function()
    local function run(seed)
      local s, ids = model:session():feed(IDS), {}
      for i = 1, 20 do
        ids[i] = s:sample{temperature = 2, seed = seed}
        s:feed{ids[i]}
      end
      return ids
    end
    assert.same(run(3), run(3))
    assert.are_not.same(run(3), run(4))
  end)

  it("allows what a function allows", function()
    local seen = counts{temperature = 9, allow = function(ids, mask)
      assert.same(IDS, ids)
      mask:fill_(false)
      mask[65 + 1] = true
      mask[66 + 1] = true
    end}
    assert.same({true, true, 2}, {seen[65] ~= nil, seen[66] ~= nil, size(seen)})
    assert.same({[7] = 200}, (counts{allow = function() return {7} end}))
    local s = model:session():feed(IDS)
    raises("leaves no token", s.sample, s, {allow = function() return {} end})
  end)

  it("repeats less with a penalty", function()
    local s = model:session():feed(IDS)
    local best = s:sample{temperature = 0}
    s:feed{best}:truncate(7)
    s = model:session():feed{best, 1, 75, 104, 8, 8, 111, 35}
    local id = s:sample{temperature = 0}
    assert.are_not.equal(id, model:session()
      :feed{id, 1, 75, 104, 8, 8, 111, 35}
      :sample{temperature = 0, repeat_penalty = 1e6})
  end)
end)

describe("chat", function()
  local MESSAGES = {{role = "user", content = "hi"}}

  it("renders, generates, stops", function()
    assert.equal("user: hi\nassistant:", model:render(MESSAGES))
    local text = {}
    for piece in model:chat(MESSAGES, {max = 12, temperature = 0}) do
      text[#text + 1] = piece
    end
    local s = model:session()
    s:feed(model.tokenizer:encode("user: hi\nassistant:", {special = true}))
    local ids = {}
    for i = 1, 12 do
      ids[i] = s:sample{temperature = 0}
      if ids[i] == 2 then break end
      s:feed{ids[i]}
    end
    assert.equal(model.tokenizer:decode(ids), table.concat(text))
  end)

  it("says which message is none, and takes a template", function()
    raises("messages[2]: content: a string expected, got nil", model.chat,
      model, {MESSAGES[1], {role = "user"}})
    raises("there are no messages", model.chat, model, {})
    local seen
    for _ in model:chat(MESSAGES, {max = 1, template = function(messages)
      seen = messages
      return "x"
    end}) do break end
    assert.equal(MESSAGES, seen)
  end)

  it("holds back what may be a stop word", function()
    local function answer(options)
      local ids = {4 + 97, 4 + 98, 4 + 35, 4 + 35, 4 + 99, 2}
      local at = 0
      options.allow = function()
        at = at + 1
        return {ids[at] - 1}
      end
      options.temperature = 0
      local out = {}
      for piece in model:chat(MESSAGES, options) do out[#out + 1] = piece end
      return table.concat(out, "|")
    end
    assert.equal("a|b", answer{stop = {"##"}})
    assert.equal("a|b|##c", answer{stop = {"###"}, max = 5})
    assert.equal("a|b|#", answer{max = 3})
  end)

  it("goes on with a session, whose tokens are not computed again", function()
    local s = model:session()
    for _ in model:chat(MESSAGES, {max = 1, temperature = 0, session = s}) do
    end
    local n = s:length()
    assert.is_true(n >= 19)
    local more = {MESSAGES[1], {role = "assistant", content = "x"},
                  {role = "user", content = "y"}}
    for _ in model:chat(more, {max = 1, temperature = 0, session = s}) do end
    assert.is_true(s:length() > n)
  end)

  it("takes a template as a function", function()
    local m = la.llm.load(files:path("tiny.gguf"), {
      template = function(messages) return messages[1].content end})
    assert.equal("hi", m:render(MESSAGES))
  end)
end)

describe("folders", function()
  it("of safetensors are the same model", function()
    local path = files:path("qwen.gguf")
    local t = tiny(path, {arch = "qwen2"})
    local names = {["token_embd"] = "model.embed_tokens",
                   ["output_norm"] = "model.norm", ["output"] = "lm_head"}
    local parts = {attn_q = "self_attn.q_proj", attn_k = "self_attn.k_proj",
      attn_v = "self_attn.v_proj", attn_output = "self_attn.o_proj",
      attn_norm = "input_layernorm", ffn_norm = "post_attention_layernorm",
      ffn_gate = "mlp.gate_proj", ffn_up = "mlp.up_proj",
      ffn_down = "mlp.down_proj"}
    local out = {}
    for name, x in pairs(t) do
      local i, part = name:match("^blk%.(%d+)%.(.*)%.weight$")
      local to = i and ("model.layers.%s.%s"):format(i, parts[part])
        or names[name:match("^(.*)%.weight$")]
      out[to .. ".weight"] = x
    end
    la.save(out, files:path("model.safetensors"))
    local config = assert(io.open(files:path("config.json"), "w"))
    config:write([[{"model_type": "qwen2", "num_hidden_layers": 2,
      "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2,
      "head_dim": 8, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
      "use_sliding_window": false, "sliding_window": 4}]])
    config:close()
    local m = la.llm.load((files:path("config.json"):gsub("/config.json$", "")))
    near(la.llm.load(path):session():feed(IDS):logits(),
         m:session():feed(IDS):logits())
  end)
end)

describe("a wrong file", function()
  it("is named", function()
    local path = files:path("wrong.gguf")
    tiny(path, {arch = "mamba"})
    raises("architecture 'mamba' is not known", la.llm.load, path)
    local t, metadata = tiny(path)
    t["blk.1.ffn_up.weight"] = nil
    la.gguf.save({metadata = metadata, tensors = t}, path)
    raises("layer 2 of 2", la.llm.load, path)
    metadata["llama.block_count"] = 1 << 30
    la.gguf.save({metadata = metadata, tensors = t}, path)
    raises("block_count", la.llm.load, path)
    raises("no such option", la.llm.load, path, {size = 1})
    raises("a path expected", la.llm.load, 5)
    raises("config.json", la.llm.load, "nowhere")
  end)
end)

describe("operations", function()
  it("check pages and tables", function()
    local page = la.zeros(1, 2, 4, 1, 2)
    raises("position 4", la.llm.attention, la.ones(1, 2, 2), {page}, 1, 4, 1.0)
    raises("layer 2 of 1", la.llm.attention, la.ones(1, 2, 2), {page}, 2, 0,
           1.0)
    raises("pages expected", la.llm.attention, la.ones(1, 2, 2), {}, 1, 0, 1.0)
    raises("page 2", la.llm.attention, la.ones(1, 2, 2),
           {page, la.zeros(1, 2, 4, 1, 3)}, 1, 0, 1.0)
    raises("groups", la.llm.attention, la.ones(1, 2, 3), {page}, 1, 0, 1.0)
    raises("table", la.llm.rotate, la.ones(1, 2, 2), la.ones(1, 2, 2))
    assert.same({0, 2, 2}, {table.unpack(la.llm.attention(
      la.ones(0, 2, 2), {page}, 1, 0, 1.0).shape)})
  end)
end)
