-- lunarray.nn.attention: MultiheadAttention and the transformer encoder layer.
local la = require "lunarray"
local nn = require "lunarray.nn.module"
local init = require "lunarray.nn.initial"

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

-- (batch, length, features) to (batch, heads, length, features / heads)
local function split_heads(self, x)
  return x:unflatten(3, {self.num_heads, self.embed_dim // self.num_heads})
    :transpose(2, 3)
end

local function project(self, x, part)
  local n, b = self.embed_dim, self.in_proj_bias
  local rows = {part * n + 1, part * n + n}
  return split_heads(self, la.linear(x, self.in_proj_weight[{rows}],
    b and b[{rows}]))
end

-- What may not be seen, as a float mask of (batch or 1, heads or 1, L, S). Bool
-- masks of this module are PyTorch's: true hides.
local function hiding(self, q, k, o)
  local mask
  local function join(part)
    if part.dtype == "bool" then
      part = la.zeros(part.shape, {dtype = q.dtype})
        :masked_fill(part, -math.huge)
    end
    mask = mask and mask + part or part
  end
  if o.attn_mask then
    local m = o.attn_mask
    if m.ndim == 3 then m = m:unflatten(1, {-1, self.num_heads}) end
    join(m)
  elseif o.is_causal then
    join(la.ones({q:size(3), k:size(3)}, {dtype = "bool"}):triu(1))
  end
  if o.key_padding_mask then
    local m = o.key_padding_mask
    if m.ndim == 1 then m = m:unsqueeze(1) end
    join(m:unsqueeze(2):unsqueeze(2))
  end
  return mask
end

local known = {attn_mask = true, key_padding_mask = true, is_causal = true,
  need_weights = true, average_attn_weights = true}

-- With weights the scores are made in full; without, by the operation.
local function attend(self, q, k, v, mask, o)
  local drop = self.training and self.dropout or 0
  if o.need_weights == false then
    return la.scaled_dot_product_attention(q, k, v, {attn_mask = mask,
      dropout_p = drop})
  end
  local scores = (q * (1 / math.sqrt(q:size(-1)))):matmul(k:transpose(-2, -1))
  if mask then scores = scores + mask end
  local share = scores:softmax(-1)
  if drop > 0 then share = la.dropout(share, drop, true) end
  return share:matmul(v), share
end

-- forward(query, key, value[, options]): the result, and the weights averaged
-- over heads. Inputs are (length, batch, features), (batch, length, features)
-- with batch_first, or (length, features).
function Attention:forward(query, key, value, o)
  o = o or {}
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
  local q = project(self, time_first(query), 0)
  local k = project(self, time_first(key), 1)
  local v = project(self, time_first(value), 2)
  local out, weights = attend(self, q, k, v, hiding(self, q, k, o), o)
  out = self.out_proj(out:transpose(2, 3):flatten(3, 4))
  if weights and o.average_attn_weights ~= false then
    weights = weights:mean(2)
  end
  if single then
    out, weights = out:squeeze(1), weights and weights:squeeze(1)
  elseif not self.batch_first then
    out = out:transpose(1, 2)
  end
  return out, weights
end

-- ---- encoder layer ----

local Layer = nn.class "TransformerEncoderLayer"
nn.TransformerEncoderLayer = Layer

function Layer:init(...)
  local o = options("TransformerEncoderLayer", {"d_model", "nhead",
    "dim_feedforward", "dropout", "activation", "layer_norm_eps",
    "batch_first", "norm_first", "bias", "dtype"}, {dim_feedforward = 2048,
    dropout = 0.1, activation = "relu", layer_norm_eps = 1e-5, bias = true,
    batch_first = false, norm_first = false, ["!d_model"] = true,
    ["!nhead"] = true}, ...)
  local like = {bias = o.bias, dtype = o.dtype}
  local norm = {eps = o.layer_norm_eps, bias = o.bias, dtype = o.dtype}
  self.self_attn = Attention(o.d_model, o.nhead, {dropout = o.dropout,
    bias = o.bias, batch_first = o.batch_first, dtype = o.dtype})
  self.linear1 = nn.Linear(o.d_model, o.dim_feedforward, like)
  self.dropout = nn.Dropout(o.dropout)
  self.linear2 = nn.Linear(o.dim_feedforward, o.d_model, like)
  self.norm1 = nn.LayerNorm(o.d_model, norm)
  self.norm2 = nn.LayerNorm(o.d_model, norm)
  self.dropout1 = nn.Dropout(o.dropout)
  self.dropout2 = nn.Dropout(o.dropout)
  self.norm_first = o.norm_first
  self.activation = type(o.activation) == "string" and la[o.activation]
    or o.activation
end

local function attention_block(self, x, o)
  return self.dropout1((self.self_attn(x, x, x, {attn_mask = o.src_mask,
    key_padding_mask = o.src_key_padding_mask, is_causal = o.is_causal,
    need_weights = false})))
end

local function feed_block(self, x)
  local hidden = self.activation(self.linear1(x))
  return self.dropout2(self.linear2(self.dropout(hidden)))
end

-- options: src_mask, src_key_padding_mask, is_causal
function Layer:forward(x, o)
  o = o or {}
  if self.norm_first then
    x = x + attention_block(self, self.norm1(x), o)
    return x + feed_block(self, self.norm2(x))
  end
  x = self.norm1(x + attention_block(self, x, o))
  return self.norm2(x + feed_block(self, x))
end

-- ---- a stack of layers ----

local Encoder = nn.class "TransformerEncoder"
nn.TransformerEncoder = Encoder

-- 'layer' is copied num_layers times; norm (a module) comes last.
function Encoder:init(layer, num_layers, norm)
  local list = {}
  for k = 1, num_layers do list[k] = layer:clone() end
  self.layers = nn.ModuleList(list)
  self.norm = norm
end

-- options: mask, src_key_padding_mask, is_causal
function Encoder:forward(x, o)
  o = o or {}
  local each = {src_mask = o.mask, is_causal = o.is_causal,
    src_key_padding_mask = o.src_key_padding_mask}
  for k = 1, #self.layers do x = self.layers[k](x, each) end
  return self.norm and self.norm(x) or x
end

return nn
