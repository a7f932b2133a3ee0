-- lunarray.llm.families: what the families of models differ in, and where
-- their weights are. Names are those of GGUF; files of safetensors are mapped
-- to them.
local la = require "lunarray"
local families = {}

-- traditional: pairs of rotary positions are neighbours, as GGUF's llama has
-- them. gelu: in place of silu. scaled: embeddings times sqrt(features).
families.kinds = {
  llama = {traditional = true}, smollm3 = {traditional = true},
  qwen2 = {}, qwen3 = {}, phi3 = {},
  phi2 = {layer_norm = true, parallel = true, gelu = true, plain = true},
  gemma = {gelu = true, scaled = true},
  gemma2 = {gelu = true, scaled = true},
  gemma3 = {gelu = true, scaled = true, mixed = true},
}

local function fail(text, ...)
  error("llm.load: " .. text:format(...), 0)
end

-- The numbers of a model, by what its metadata says.
local function numbers(get, arch)
  local c = {arch = arch, kind = families.kinds[arch]}
  if not c.kind then
    local known = {}
    for name in pairs(families.kinds) do known[#known + 1] = name end
    table.sort(known)
    fail("the architecture '%s' is not known; known are %s", tostring(arch),
         table.concat(known, ", "))
  end
  local function need(key)
    local v = get(key)
    if type(v) ~= "number" or v < 1 or v > 1 << 24 then
      fail("%s: a positive number expected", key)
    end
    return math.tointeger(v) or fail("%s: an integer expected", key)
  end
  c.layers, c.features = need "block_count", need "embedding_length"
  c.heads = need "attention.head_count"
  c.groups = get "attention.head_count_kv" or c.heads
  c.width = get "attention.key_length" or c.features // c.heads
  c.context = get "context_length" or 2048
  c.eps = get "attention.layer_norm_rms_epsilon"
    or get "attention.layer_norm_epsilon" or 1e-5
  c.base = get "rope.freq_base" or 10000
  c.dims = get "rope.dimension_count" or c.width
  c.factor = get "rope.scaling.type" == "linear" and get "rope.scaling.factor"
    or get "rope.scale_linear" or 1
  c.window = get "attention.sliding_window" or 0
  c.attention_cap = get "attn_logit_softcapping" or 0
  c.final_cap = get "final_logit_softcapping" or 0
  for _, key in ipairs{"groups", "width", "dims"} do
    if math.type(c[key]) ~= "integer" or c[key] < 1 or c[key] > 1 << 20 then
      fail("%s: a positive integer expected", key)
    end
  end
  if c.heads % c.groups ~= 0 then
    fail("%d heads in %d groups", c.heads, c.groups)
  end
  return c
end

local NAMES = {"attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output",
  "attn_norm", "attn_q_norm", "attn_k_norm", "ffn_norm", "ffn_gate", "ffn_up",
  "ffn_down", "post_attention_norm", "post_ffw_norm"}

-- Vectors are float32 tensors, matrices stay as they are.
local function plain(t)
  if not t then return nil end
  return la.is_tensor(t) and t:float() or t:dequantize()
end
local function matrix(t)
  if t and la.is_tensor(t) then return t:float() end
  return t
end

-- Weights of a table name -> tensor or quantized, by layer.
local function weights(c, tensors)
  local function w(name) return matrix(tensors[name .. ".weight"]) end
  local m = {embed = tensors["token_embd.weight"],
             norm = plain(tensors["output_norm.weight"]),
             norm_bias = plain(tensors["output_norm.bias"]), layers = {}}
  if not m.embed or not m.norm then
    fail("token_embd or output_norm is missing")
  end
  m.output = w "output" or matrix(m.embed)
  m.output_bias = plain(tensors["output.bias"])
  m.factors = plain(tensors["rope_freqs.weight"])
  for i = 1, c.layers do
    local layer = {}
    for _, name in ipairs(NAMES) do
      local full = ("blk.%d.%s"):format(i - 1, name)
      local t = tensors[full .. ".weight"]
      layer[name] = name:find("norm") and plain(t) or matrix(t)
      layer[name .. "_bias"] = plain(tensors[full .. ".bias"])
    end
    if not (layer.attn_q or layer.attn_qkv) or not layer.attn_output
       or not layer.ffn_down or not layer.ffn_up then
      fail("weights of layer %d of %d are missing", i, c.layers)
    end
    m.layers[i] = layer
  end
  c.vocabulary = m.output.shape[1]
  return m
end

-- Cosines and sines of positions 0 to n - 1: {n, 2, dims / 2}.
function families.rotary(c, n, factors, base)
  local half = c.dims // 2
  local powers = la.arange(0, half):double() * (-2 / c.dims)
  local speed = (powers * math.log(base)):exp() / c.factor
  if factors then speed = speed / factors:double() end
  local angles = la.arange(0, n):double():view(n, 1) * speed:view(1, half)
  return la.stack({angles:cos(), angles:sin()}, 2):float()
end

-- The numbers and weights of a GGUF file that la.load gave.
function families.from_gguf(file)
  local arch = file.metadata["general.architecture"]
  local function get(key)
    local v = file.metadata[("%s.%s"):format(arch, key)]
    if type(v) == "table" then v = v[1] end
    return v
  end
  local c = numbers(get, arch)
  return c, weights(c, file.tensors)
end

-- ---- folders of safetensors ----

local TYPES = {llama = "llama", mistral = "llama", qwen2 = "qwen2",
  qwen3 = "qwen3", gemma = "gemma", gemma2 = "gemma2", gemma3_text = "gemma3",
  phi3 = "phi3", smollm3 = "smollm3"}

local KEYS = {block_count = "num_hidden_layers",
  embedding_length = "hidden_size",
  ["attention.head_count"] = "num_attention_heads",
  ["attention.head_count_kv"] = "num_key_value_heads",
  ["attention.key_length"] = "head_dim",
  context_length = "max_position_embeddings",
  ["attention.layer_norm_rms_epsilon"] = "rms_norm_eps",
  ["rope.freq_base"] = "rope_theta",
  ["attention.sliding_window"] = "sliding_window",
  attn_logit_softcapping = "attn_logit_softcapping",
  final_logit_softcapping = "final_logit_softcapping"}

local PARTS = {["self_attn.q_proj"] = "attn_q", ["self_attn.k_proj"] = "attn_k",
  ["self_attn.v_proj"] = "attn_v", ["self_attn.qkv_proj"] = "attn_qkv",
  ["self_attn.o_proj"] = "attn_output", ["self_attn.q_norm"] = "attn_q_norm",
  ["self_attn.k_norm"] = "attn_k_norm", ["input_layernorm"] = "attn_norm",
  ["mlp.gate_proj"] = "ffn_gate", ["mlp.up_proj"] = "ffn_up",
  ["mlp.gate_up_proj"] = "ffn_up", ["mlp.down_proj"] = "ffn_down",
  ["post_attention_layernorm"] = "ffn_norm"}
local WHOLE = {["model.embed_tokens"] = "token_embd", ["lm_head"] = "output",
               ["model.norm"] = "output_norm"}
local GEMMA = {["post_attention_layernorm"] = "post_attention_norm",
  ["pre_feedforward_layernorm"] = "ffn_norm",
  ["post_feedforward_layernorm"] = "post_ffw_norm"}

local function renamed(name, arch)
  local base, what = name:match("^(.*)%.(%a+)$")
  if WHOLE[base] then return WHOLE[base] .. "." .. what end
  local i, part = (base or ""):match("^model%.layers%.(%d+)%.(.*)$")
  local to = part and (arch:find("^gemma[23]") and GEMMA[part] or PARTS[part])
  return to and ("blk.%s.%s.%s"):format(i, to, what)
end

-- The same of a config.json's table and tensors by the names of transformers.
function families.from_folder(config, tensors)
  local arch = TYPES[config.model_type]
  if not arch then fail("model_type '%s' is not known", tostring(
                        config.model_type)) end
  local c = numbers(function(key)
    local v = config[KEYS[key] or key]
    return v ~= false and v or nil
  end, arch)
  c.kind = {}
  for k, v in pairs(families.kinds[arch]) do c.kind[k] = v end
  c.kind.traditional = false            -- pairs are not neighbours here
  if config.use_sliding_window == false then c.window = 0 end
  local named = {}
  for name, t in pairs(tensors) do
    local to = renamed(name, arch)
    if to and arch:find("^gemma") and to:find("norm%.weight$") then
      t = t:float() + 1
    end
    if to then named[to] = t end
  end
  return c, weights(c, named)
end

return families
