-- lunarray.multi_head: attention in several heads as a function of its weights,
-- reached as la.multi_head_attention_forward; what nn.MultiheadAttention calls.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local tensors = require "lunarray.tensors"
local is_tensor, user_level = tensors.is_tensor, tensors.user_level

local multi_head = {}

-- What may not be seen, as a float mask of (batch or 1, heads or 1, L, S). Bool
-- masks are PyTorch's: true hides.
local function hiding(q, k, o)
  local mask
  local function join(part)
    if part.dtype == "bool" then
      part = part:new_zeros(part.shape, {dtype = q.dtype})
        :masked_fill(part, -math.huge)
    end
    mask = mask and mask + part or part
  end
  if o.attn_mask then
    local m = o.attn_mask
    if m.ndim == 3 then m = m:unflatten(1, {-1, q:size(2)}) end
    join(m)
  elseif o.is_causal then
    join(q:new_ones({q:size(3), k:size(3)}, {dtype = "bool"}):triu(1))
  end
  if o.key_padding_mask then
    local m = o.key_padding_mask
    if m.ndim == 1 then m = m:unsqueeze(1) end
    join(m:unsqueeze(2):unsqueeze(2))
  end
  return mask
end

-- With weights the scores are made in full; without, by the operation.
local function attend(q, k, v, mask, o)
  local drop = o.dropout_p or 0
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

-- Inputs are (batch, length, features); w and b have the rows of query, key and
-- value one after the other. The result has weights of all heads.
local function heads(x, heads_n, w, b, part)
  local n = w:size(2)
  local rows = {part * n + 1, part * n + n}
  return la.linear(x, w[{rows}], b and b[{rows}])
    :unflatten(3, {heads_n, math.floor(n / heads_n)}):transpose(2, 3)
end

-- Queries, keys and values of one input come from one product, whose gradient
-- for the weight needs no parts.
local function projections(query, key, value, heads_n, p)
  local w, b = p.in_weight, p.in_bias
  if rawequal(query, key) and rawequal(key, value) then
    local n = w:size(2)
    return dialect.unpack(la.linear(query, w, b)
      :unflatten(3, {3, heads_n, math.floor(n / heads_n)})
      :permute(3, 1, 4, 2, 5):unbind(1))
  end
  return heads(query, heads_n, w, b, 0), heads(key, heads_n, w, b, 1),
    heads(value, heads_n, w, b, 2)
end

-- The same with (batch, length, features) in front and back: for the module.
function multi_head.batch_first(query, key, value, heads_n, p, o)
  local q, k, v = projections(query, key, value, heads_n, p)
  local out, weights = attend(q, k, v, hiding(q, k, o), o)
  out = la.linear(out:transpose(2, 3):flatten(3, 4), p.out_weight, p.out_bias)
  if weights and o.average_attn_weights ~= false then
    weights = weights:mean(2)
  end
  return out, weights
end

local known = {attn_mask = true, key_padding_mask = true, is_causal = true,
  need_weights = true, average_attn_weights = true, dropout_p = true}

local function check(o)
  for name in pairs(o) do
    if not known[name] then
      error("multi_head_attention_forward: unknown option '" .. tostring(name)
        .. "'", user_level())
    end
  end
end

-- What must be a tensor, of so many dims.
local function check_dims(x, what, least, most)
  if is_tensor(x) and x.ndim >= least and x.ndim <= most then return end
  error(("multi_head_attention_forward: %s: tensor of %s dims expected, got %s")
    :format(what, least == most and least or least .. " or " .. most,
      is_tensor(x) and x.ndim .. " dims" or type(x)), user_level())
end

-- query (L, N, E), key and value (S, N, E), or all without N.
function multi_head.multi_head_attention_forward(query, key, value, embed_dim,
    num_heads, in_weight, in_bias, out_weight, out_bias, o)
  o = o or {}
  check(o)
  check_dims(query, "query", 2, 3)
  check_dims(key, "key", query.ndim, query.ndim)
  check_dims(value, "value", query.ndim, query.ndim)
  if dialect.type(num_heads) ~= "integer" or num_heads < 1
    or dialect.type(embed_dim) ~= "integer" or embed_dim % num_heads ~= 0 then
    error("multi_head_attention_forward: embed_dim must be divisible by "
      .. "num_heads", user_level())
  end
  if query:size(-1) ~= embed_dim then
    error(("multi_head_attention_forward: embed_dim is %d, but the query has "
      .. "%d features"):format(embed_dim, query:size(-1)), user_level())
  end
  check_dims(in_weight, "in_proj_weight", 2, 2)
  check_dims(out_weight, "out_proj_weight", 2, 2)
  local single = query.ndim == 2
  local function batch_in_front(x)
    return single and x:unsqueeze(1) or x:transpose(1, 2)
  end
  local q = batch_in_front(query)
  local k = rawequal(key, query) and q or batch_in_front(key)
  local v = rawequal(value, key) and k or batch_in_front(value)
  local out, weights = multi_head.batch_first(q, k, v, num_heads, {
    in_weight = in_weight, in_bias = in_bias,
    out_weight = out_weight, out_bias = out_bias}, o)
  if not single then return out:transpose(1, 2), weights end
  return out:squeeze(1), weights and weights:squeeze(1)
end

return multi_head
