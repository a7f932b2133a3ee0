-- lunarray.onnx.ops.transformer: attention of the domain com.microsoft, which
-- onnxruntime's optimisers and exporters of language models write.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local attention = require "lunarray.onnx.ops.attention"

local op = rows.domain("com.microsoft")

-- ---- masks ----

-- Numbers to add to scores: 'value' where a key is hidden. keep is true where
-- it is seen.
local function hidden(keep, value, dtype)
  return la.zeros({}, {dtype = dtype}):masked_fill(keep:logical_not(), value)
end

local function positions(n) return la.range(0, n - 1):long() end

-- What a mask of the batch says, as (B, 1 or H, T or 1, S) of booleans: of keys
-- (B, S), of pairs (B, T, S), of lengths (B), of ends and begins (2 B).
local function kept_keys(mask, batch, keys)
  if mask.ndim == 2 then
    return mask:ne(0):reshape(batch, 1, 1, -1)
  elseif mask.ndim == 3 then
    return mask:ne(0):unsqueeze(2)
  elseif mask.ndim == 1 and mask:size(1) == batch then
    return positions(keys):lt(mask:long():reshape(batch, 1, 1, 1))
  elseif mask.ndim == 1 and mask:size(1) == 2 * batch then
    local ends, begins = table.unpack(mask:long():split(batch, 1))
    local at = positions(keys)
    return at:lt(ends:reshape(batch, 1, 1, 1))
      :logical_and(at:ge(begins:reshape(batch, 1, 1, 1)))
  end
  error(("a mask of %s for a batch of %d"):format(tostring(mask.shape), batch),
    0)
end

local function added(a, b) return a and b and a + b or a or b end

-- ---- the product of all heads ----

-- q (B, H, T, D), k and v (B, H, S, D), a bias of the scores or nil. Joined,
-- and the scores.
local function attend(q, k, v, bias, scale)
  local y = la.scaled_dot_product_attention(q, k, v,
    {attn_mask = bias, scale = scale})
  return attention.joined(y)
end

local function causal(queries, keys, past, value, dtype)
  return hidden(attention.window(queries, keys, past, nil, 0), value, dtype)
end

-- ---- MultiHeadAttention ----

-- Queries, keys and values by heads, of the forms that a node may give them in:
-- apart, keys and values packed, all packed, keys by heads already.
local function split_heads(q, k, v, bias, n)
  if q.ndim == 5 then
    local parts = {}
    for i = 1, 3 do parts[i] = q:select(4, i):transpose(2, 3) end
    return table.unpack(parts)
  end
  local bq, bk, bv
  if bias then
    local width = q:size(3)
    bq, bk = bias:narrow(1, 1, width), bias:narrow(1, width + 1, width)
    bv = bias:narrow(1, 2 * width + 1, bias:size(1) - 2 * width)
  end
  q = attention.heads(bq and q + bq or q, n)
  if k.ndim == 5 then
    return q, k:select(4, 1):transpose(2, 3), k:select(4, 2):transpose(2, 3)
  elseif k.ndim == 4 then
    return q, k, v
  end
  return q, attention.heads(bk and k + bk or k, n),
    attention.heads(bv and v + bv or v, n)
end

function op.MultiHeadAttention(node)
  local n, value = node:get("num_heads"), node:get("mask_filter_value", -10000)
  local fixed = node:get("scale", 0)
  local one_way = node:get("unidirectional", 0) == 1
  if node.outs[4] then return node:refuse("the scores as a result") end
  return function(q, k, v, bias, mask, more, past_key, past_value)
    q, k, v = split_heads(q, k, v, bias, n)
    local past = past_key and past_key:size(3) or 0
    if past_key then k = la.cat({past_key, k}, 3) end
    if past_value then v = la.cat({past_value, v}, 3) end
    local keys = k:size(3)
    local add = more
    if mask then
      add = added(add, hidden(kept_keys(mask, q:size(1), keys), value,
        q.dtype))
    end
    if one_way then
      add = added(add, causal(q:size(3), keys, past, -math.huge, q.dtype))
    end
    local scale = fixed ~= 0 and fixed or 1 / math.sqrt(q:size(4))
    return attend(q, k, v, add, scale), k, v
  end
end

-- ---- Attention: with the products that make queries, keys and values ----

function op.Attention(node)
  local n, value = node:get("num_heads"), node:get("mask_filter_value", -10000)
  local fixed, widths = node:get("scale", 0), node.attributes.qkv_hidden_sizes
  local one_way = node:get("unidirectional", 0) == 1
  if node:get("do_rotary", 0) ~= 0 then return node:refuse("do_rotary") end
  if node:get("past_present_share_buffer", 0) ~= 0 then
    return node:refuse("past_present_share_buffer")
  end
  return function(x, w, b, mask, past, more)
    local all = x:matmul(w)
    if b then all = all + b end
    local width = all:size(3)
    local list = widths or {width // 3, width // 3, width // 3}
    local q, k, v = table.unpack(all:split(list, 3))
    q, k, v = attention.heads(q, n), attention.heads(k, n),
      attention.heads(v, n)
    if past then
      k = la.cat({past:select(1, 1), k}, 3)
      v = la.cat({past:select(1, 2), v}, 3)
    end
    local keys, add = k:size(3), more
    if mask then
      add = added(add, hidden(kept_keys(mask, q:size(1), keys), value,
        q.dtype))
    end
    if one_way then
      add = added(add, causal(q:size(3), keys, keys - q:size(3), value,
        q.dtype))
    end
    local scale = fixed ~= 0 and fixed or 1 / math.sqrt(q:size(4))
    local present = node.outs[2] and la.stack({k, v}, 1) or nil
    return attend(q, k, v, add, scale), present
  end
end

-- ---- RotaryEmbedding ----

-- Rows of the tables of angles for positions (B or 1, T): (B, T, 1, n).
local function angles(t, at)
  return t:index_select(1, (at + 1):flatten())
    :reshape(at:size(1), at:size(2), 1, -1)
end

function op.RotaryEmbedding(node)
  local interleaved = node:get("interleaved", 0) == 1
  local n, heads = node:get("rotary_embedding_dim", 0), node:get("num_heads", 0)
  local scale = node:get("scale", 1.0)
  return function(x, ids, cos, sin)
    local four = x.ndim == 4
    local y = four and x:transpose(2, 3)
    local width = n > 0 and n or 2 * cos:size(2)
    if not y then
      local count = heads > 0 and heads or x:size(3) // width
      y = x:reshape(x:size(1), x:size(2), count, -1)
    end
    local at = ids:long()
    if at.ndim == 1 then at = (at + positions(y:size(2))):unsqueeze(1) end
    local out = attention.rotate(y, angles(cos, at), angles(sin, at),
      interleaved, width)
    if scale ~= 1 then out = out * scale end
    return four and out:transpose(2, 3) or out:reshape(rows.sizes(x))
  end
end

-- ---- GroupQueryAttention: fewer heads of keys, which earlier calls left ----

-- Keys or values so far with the new ones behind: entry b of the batch has
-- before[b] of them in 'past'. The result has 'size' positions.
local function continued(past, new, before, size)
  local batch, t = new:size(1), new:size(3)
  local out = la.zeros({batch, new:size(2), size, new:size(4)},
    {dtype = new.dtype})
  local list = {}
  for b = 1, batch do
    local n, parts = before[b], {}
    if n > 0 then parts[1] = past:select(1, b):narrow(2, 1, n) end
    parts[#parts + 1] = new:select(1, b)
    if n + t < size then
      parts[#parts + 1] = out:select(1, b):narrow(2, 1, size - n - t)
    end
    list[b] = la.cat(parts, 2):narrow(2, 1, size)
  end
  return la.stack(list, 1)
end

local function unpacked(q, k, v, heads, groups)
  if k then
    return q:reshape(q:size(1), q:size(2), heads, -1),
      k:reshape(k:size(1), k:size(2), groups, -1),
      v:reshape(v:size(1), v:size(2), groups, -1)
  end
  local all = q:reshape(q:size(1), q:size(2), heads + 2 * groups, -1)
  return table.unpack(all:split({heads, groups, groups}, 3))
end

local function softcapped(q, k, v, bias, scale, cap)
  local scores = ((q:matmul(k:transpose(-1, -2)) * scale) / cap):tanh() * cap
  return attention.joined(attention.softmax(scores + bias, bias):matmul(v))
end

function op.GroupQueryAttention(node)
  local heads, groups = node:get("num_heads"), node:get("kv_num_heads")
  local fixed, cap = node:get("scale", 0), node:get("softcap", 0)
  local window = node:get("local_window_size", -1)
  local rotary = node:get("do_rotary", 0) == 1
  local interleaved = node:get("rotary_interleaved", 0) == 1
  if node:get("smooth_softmax", 0) > 0 then
    return node:refuse("smooth_softmax")
  end
  if node.given[12] then return node:refuse("the input head_sink") end
  return function(q, k, v, past_key, past_value, lengths, total, cos, sin, ids,
    more)
    local y
    y, k, v = unpacked(q, k, v, heads, groups)
    local t, whole = y:size(2), rows.number(total)
    local before = rows.list(lengths:long())
    local counts = {}
    for b, last in ipairs(before) do
      counts[b] = t == whole and 0 or last + 1 - t
    end
    local offsets = rows.tensor(counts, "int64")
    if rotary then
      local at = ids and ids:long()
        or offsets:unsqueeze(2) + positions(t):unsqueeze(1)
      local c, s, n = angles(cos, at), angles(sin, at), 2 * cos:size(2)
      y = attention.rotate(y, c, s, interleaved, n)
      k = attention.rotate(k, c, s, interleaved, n)
    end
    y, k, v = y:transpose(2, 3), k:transpose(2, 3), v:transpose(2, 3)
    local size = math.max(past_key and past_key:size(3) or 0, whole)
    k = continued(past_key, k, counts, size)
    v = continued(past_value, v, counts, size)
    local bias = hidden(attention.window(t, size, offsets, window > 0
      and window - 1 or nil, 0), -math.huge, y.dtype)
    if more then
      bias = bias:narrow(4, 1, more:size(4)) + more
    end
    local seen = bias:size(4)
    local wide_k = attention.repeated(k:narrow(3, 1, seen), heads)
    local wide_v = attention.repeated(v:narrow(3, 1, seen), heads)
    local scale = fixed ~= 0 and fixed or 1 / math.sqrt(y:size(4))
    if cap > 0 then
      return softcapped(y, wide_k, wide_v, bias, scale, cap), k, v
    end
    return attend(y, wide_k, wide_v, bias, scale), k, v
  end
end
