-- A small model of random weights with a vocabulary of bytes, as a GGUF file.
local la = require "lunarray"

-- Options: arch, layers, and whatever stands in metadata.
return function(path, options)
  options = options or {}
  local arch = options.arch or "llama"
  la.manual_seed(options.seed or 11)
  local n, heads, groups, width, hidden = 32, 4, 2, 8, 64
  local tokens, kinds, scores = {"<unk>", "<s>", "</s>"}, {2, 3, 3}, {0, 0, 0}
  for b = 0, 255 do
    tokens[#tokens + 1], kinds[#kinds + 1] = ("<0x%02X>"):format(b), 6
    scores[#scores + 1] = 0
  end
  local metadata = {["general.architecture"] = arch,
    ["tokenizer.ggml.model"] = "llama", ["tokenizer.ggml.tokens"] = tokens,
    ["tokenizer.ggml.scores"] = scores,
    ["tokenizer.ggml.token_type"] = kinds,
    ["tokenizer.ggml.unknown_token_id"] = 0,
    ["tokenizer.ggml.bos_token_id"] = 1, ["tokenizer.ggml.eos_token_id"] = 2,
    ["tokenizer.ggml.add_bos_token"] = true,
    ["tokenizer.ggml.add_space_prefix"] = false,
    ["tokenizer.chat_template"] = "{% for m in messages %}{{ m.role }}: "
      .. "{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:"
      .. "{% endif %}"}
  local function set(key, v) metadata[arch .. "." .. key] = v end
  set("block_count", options.layers or 2)
  set("embedding_length", n)
  set("attention.head_count", heads)
  set("attention.head_count_kv", groups)
  set("attention.key_length", width)
  set("attention.layer_norm_rms_epsilon", 1e-5)
  set("context_length", 256)
  for key, v in pairs(options.metadata or {}) do set(key, v) end
  local t = {["token_embd.weight"] = la.randn(#tokens, n),
             ["output_norm.weight"] = la.rand(n) + 0.5,
             ["output.weight"] = la.randn(#tokens, n) * 0.3}
  for i = 0, (options.layers or 2) - 1 do
    local function put(name, ...)
      t[("blk.%d.%s"):format(i, name)] = la.randn(...) * 0.2
    end
    put("attn_q.weight", heads * width, n)
    put("attn_k.weight", groups * width, n)
    put("attn_v.weight", groups * width, n)
    put("attn_output.weight", n, heads * width)
    put("ffn_gate.weight", hidden, n)
    put("ffn_up.weight", hidden, n)
    put("ffn_down.weight", n, hidden)
    for _, name in ipairs{"attn_norm", "ffn_norm"} do
      t[("blk.%d.%s.weight"):format(i, name)] = la.rand(n) + 0.5
    end
    if options.extra then options.extra(put, i, t) end
  end
  la.gguf.save({metadata = metadata, tensors = t}, path)
  return t, metadata
end
