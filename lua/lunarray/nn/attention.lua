-- lunarray.nn.attention: MultiheadAttention and transformers.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"
local init = require "lunarray.nn.initial"
local multi_head = require "lunarray.multi_head"
local positions = require "lunarray.positions"

local options = nn._options

local Attention = nn.class "MultiheadAttention"
nn.MultiheadAttention = Attention

function Attention:init(...)
  local o = options("MultiheadAttention", {"embed_dim", "num_heads", "dropout",
    "bias", "batch_first", "dtype"}, {dropout = 0, bias = true,
    batch_first = false, ["!embed_dim"] = true, ["!num_heads"] = true}, ...)
  if o.embed_dim % o.num_heads ~= 0 then
    error("embed_dim must be divisible by num_heads", 3)
  end
  self.embed_dim, self.num_heads = o.embed_dim, o.num_heads
  self.dropout, self.batch_first = o.dropout, o.batch_first
  local n, like = o.embed_dim, {dtype = o.dtype}
  self.in_proj_weight = nn.Parameter(la.empty({3 * n, n}, like))
  if o.bias then self.in_proj_bias = nn.Parameter(la.zeros({3 * n}, like)) end
  self.out_proj = nn.Linear(n, n, {bias = o.bias, dtype = o.dtype})
  init.xavier_uniform_(self.in_proj_weight)
  if o.bias then init.zeros_(self.out_proj.bias) end
end

local known = {attn_mask = true, key_padding_mask = true, is_causal = true,
  need_weights = true, average_attn_weights = true}

-- forward(query, key, value[, options]): the result, and the weights averaged
-- over heads. Inputs are (length, batch, features), (batch, length, features)
-- with batch_first, or (length, features).
function Attention:forward(query, key, value, o)
  o = positions.own(o or {}, known)
  for name in pairs(o) do
    if not known[name] then
      error("MultiheadAttention: unknown option '" .. tostring(name) .. "'", 2)
    end
  end
  local single = query.ndim == 2
  local function time_first(x)
    if single then return x:unsqueeze(1) end
    return self.batch_first and x or x:transpose(1, 2)
  end
  local settings = {dropout_p = self.training and self.dropout or 0}
  for name, given in pairs(o) do settings[name] = given end
  local q = time_first(query)
  local k = rawequal(key, query) and q or time_first(key)
  local v = rawequal(value, key) and k or time_first(value)
  local out, weights = multi_head.batch_first(q, k, v, self.num_heads, {
      in_weight = self.in_proj_weight, in_bias = self.in_proj_bias,
      out_weight = self.out_proj.weight, out_bias = self.out_proj.bias},
    settings)
  if single then
    out, weights = out:squeeze(1), weights and weights:squeeze(1)
  elseif not self.batch_first then
    out = out:transpose(1, 2)
  end
  return out, weights
end

-- ---- layers ----

local layer_names = {"d_model", "nhead", "dim_feedforward", "dropout",
  "activation", "layer_norm_eps", "batch_first", "norm_first", "bias", "dtype"}

-- What layers of encoders (two norms) and decoders (three) have.
local function init_layer(self, what, norms, ...)
  local o = options(what, layer_names, {dim_feedforward = 2048,
    dropout = 0.1, activation = "relu", layer_norm_eps = 1e-5, bias = true,
    batch_first = false, norm_first = false, ["!d_model"] = true,
    ["!nhead"] = true}, ...)
  local like = {bias = o.bias, dtype = o.dtype}
  local norm = {eps = o.layer_norm_eps, bias = o.bias, dtype = o.dtype}
  local function attention()
    return Attention(o.d_model, o.nhead, {dropout = o.dropout, bias = o.bias,
      batch_first = o.batch_first, dtype = o.dtype})
  end
  self.self_attn = attention()
  if norms == 3 then self.multihead_attn = attention() end
  self.linear1 = nn.Linear(o.d_model, o.dim_feedforward, like)
  self.dropout = nn.Dropout(o.dropout)
  self.linear2 = nn.Linear(o.dim_feedforward, o.d_model, like)
  for k = 1, norms do self["norm" .. k] = nn.LayerNorm(o.d_model, norm) end
  for k = 1, norms do self["dropout" .. k] = nn.Dropout(o.dropout) end
  self.norm_first = o.norm_first
  self.activation = type(o.activation) == "string" and la[o.activation]
    or o.activation
end

local Layer = nn.class "TransformerEncoderLayer"
nn.TransformerEncoderLayer = Layer

function Layer:init(...)
  init_layer(self, "TransformerEncoderLayer", 2, ...)
end

local function attention_block(self, x, o)
  return self.dropout1((self.self_attn(x, x, x, {attn_mask = o.src_mask,
    key_padding_mask = o.src_key_padding_mask, is_causal = o.is_causal,
    need_weights = false})))
end

local function feed_block(self, x, drop)
  local hidden = self.activation(self.linear1(x))
  return drop(self.linear2(self.dropout(hidden)))
end

-- options: src_mask, src_key_padding_mask, is_causal
function Layer:forward(x, o)
  o = o or {}
  if self.norm_first then
    x = x + attention_block(self, self.norm1(x), o)
    return x + feed_block(self, self.norm2(x), self.dropout2)
  end
  x = self.norm1(x + attention_block(self, x, o))
  return self.norm2(x + feed_block(self, x, self.dropout2))
end

local DecoderLayer = nn.class "TransformerDecoderLayer"
nn.TransformerDecoderLayer = DecoderLayer

function DecoderLayer:init(...)
  init_layer(self, "TransformerDecoderLayer", 3, ...)
end

-- Attention of the target to itself, and to the memory.
local function target_block(self, x, o)
  return self.dropout1((self.self_attn(x, x, x, {attn_mask = o.tgt_mask,
    key_padding_mask = o.tgt_key_padding_mask, is_causal = o.tgt_is_causal,
    need_weights = false})))
end

local function memory_block(self, x, memory, o)
  return self.dropout2((self.multihead_attn(x, memory, memory, {
    attn_mask = o.memory_mask, is_causal = o.memory_is_causal,
    key_padding_mask = o.memory_key_padding_mask, need_weights = false})))
end

-- options: tgt_mask, memory_mask, tgt_key_padding_mask,
-- memory_key_padding_mask, tgt_is_causal, memory_is_causal
function DecoderLayer:forward(x, memory, o)
  o = o or {}
  if self.norm_first then
    x = x + target_block(self, self.norm1(x), o)
    x = x + memory_block(self, self.norm2(x), memory, o)
    return x + feed_block(self, self.norm3(x), self.dropout3)
  end
  x = self.norm1(x + target_block(self, x, o))
  x = self.norm2(x + memory_block(self, x, memory, o))
  return self.norm3(x + feed_block(self, x, self.dropout3))
end

-- ---- stacks of layers ----

local Encoder = nn.class "TransformerEncoder"
nn.TransformerEncoder = Encoder

-- 'layer' is copied num_layers times; norm (a module) comes last.
local function stack_of(name)
  return function(self, layer, num_layers, norm)
    if not nn.is_module(layer) then
      error(("bad argument #1 to '%s' (a layer expected, got %s)")
        :format(name, type(layer)), 3)
    end
    if dialect.type(num_layers) ~= "integer" then
      error(("bad argument #2 to '%s' (number of layers expected, got %s)")
        :format(name, type(num_layers)), 3)
    end
    local list = {}
    for k = 1, num_layers do list[k] = layer:clone() end
    self.layers = nn.ModuleList(list)
    self.norm = norm
  end
end
Encoder.init = stack_of "TransformerEncoder"

-- options: mask, src_key_padding_mask, is_causal
function Encoder:forward(x, o)
  o = o or {}
  local each = {src_mask = o.mask, is_causal = o.is_causal,
    src_key_padding_mask = o.src_key_padding_mask}
  for k = 1, #self.layers do x = self.layers[k](x, each) end
  return self.norm and self.norm(x) or x
end

local Decoder = nn.class "TransformerDecoder"
nn.TransformerDecoder = Decoder
Decoder.init = stack_of "TransformerDecoder"

-- options: those of its layers
function Decoder:forward(x, memory, o)
  for k = 1, #self.layers do x = self.layers[k](x, memory, o) end
  return self.norm and self.norm(x) or x
end

local Transformer = nn.class "Transformer"
nn.Transformer = Transformer

-- Both stacks end in a norm, as in "Attention is all you need".
function Transformer:init(...)
  local o = options("Transformer", {"d_model", "nhead", "num_encoder_layers",
    "num_decoder_layers", "dim_feedforward", "dropout", "activation",
    "layer_norm_eps", "batch_first", "norm_first", "bias", "dtype"},
    {d_model = 512, nhead = 8, num_encoder_layers = 6, num_decoder_layers = 6,
    dim_feedforward = 2048, dropout = 0.1, activation = "relu",
    layer_norm_eps = 1e-5, batch_first = false, norm_first = false,
    bias = true}, ...)
  local each, counts = {}, {o.num_encoder_layers, o.num_decoder_layers}
  for _, name in ipairs(layer_names) do each[name] = o[name] end
  local function norm()
    return nn.LayerNorm(o.d_model, {eps = o.layer_norm_eps, bias = o.bias,
      dtype = o.dtype})
  end
  self.encoder = Encoder(Layer(each), counts[1], norm())
  self.decoder = Decoder(DecoderLayer(each), counts[2], norm())
  for _, p in ipairs(self:parameters()) do
    if p.ndim > 1 then init.xavier_uniform_(p) end
  end
end

-- options: src_mask, src_key_padding_mask, src_is_causal, and the decoder's
function Transformer:forward(source, target, o)
  o = o or {}
  local memory = self.encoder(source, {mask = o.src_mask,
    src_key_padding_mask = o.src_key_padding_mask,
    is_causal = o.src_is_causal})
  return self.decoder(target, memory, o)
end

return nn
