-- lunarray.onnx.ops.attention: attention in its forms, positions by rotation,
-- gates.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local run = require "lunarray.onnx.run"

local op = rows.domain("")
local flex = rows.domain("ai.onnx.preview")

local attention = {}

-- ---- parts ----

-- (B, T, H D) as (B, H, T, D).
function attention.heads(x, n)
  return x:reshape(x:size(1), x:size(2), n, -1):transpose(2, 3)
end

-- The reverse.
function attention.joined(x)
  return x:transpose(2, 3):reshape(x:size(1), x:size(3), -1)
end

-- A head of keys or values for each head of queries.
function attention.repeated(x, heads)
  if x:size(2) == heads then return x end
  return x:repeat_interleave(heads // x:size(2), 2)
end

local function minus_infinity(allowed, dtype)
  return la.zeros({}, {dtype = dtype}):masked_fill(allowed:logical_not(),
    -math.huge)
end

-- Which keys a query may see, by the distance in front of it and behind;
-- 'offset' keys came before the first query: a number, or one for each batch.
function attention.window(queries, keys, offset, left, right)
  local i = la.range(0, queries - 1):long():reshape(queries, 1)
  local j = la.range(0, keys - 1):long():reshape(1, keys)
  if type(offset) ~= "number" then offset = offset:reshape(-1, 1, 1, 1) end
  local ahead = j - (i + offset)
  local allowed
  if right then allowed = ahead:le(right) end
  if left then
    local near = ahead:ge(-left)
    allowed = allowed and allowed:logical_and(near) or near
  end
  return allowed
end

-- Rows without any key are all zero.
function attention.softmax(scores, bias)
  local p = la.softmax(scores, -1)
  if not bias then return p end
  local blind = bias:amax({bias.ndim}, true):eq(-math.huge)
  return p:masked_fill(blind, 0)
end

-- ---- Attention ----

-- The mask of a node as numbers to add; shorter ones end with what is hidden.
local function bias_of_mask(mask, keys, dtype)
  local missing = keys - mask:size(mask.ndim)
  if mask.dtype == "bool" then mask = minus_infinity(mask, dtype) end
  if missing > 0 then
    mask = la.pad(mask, {0, missing}, "constant", -math.huge)
  end
  return mask
end

local function bias_of(t, o)
  local queries, keys = t.q:size(3), t.k:size(3)
  local dtype = t.q.dtype
  local bias = t.mask and bias_of_mask(t.mask, keys, dtype)
  local offset = t.past or 0
  if t.lengths and not t.past then offset = t.lengths:to("int64") - queries end
  local right = o.causal and 0 or o.right
  if right or o.left then
    if right and o.right and o.causal then right = math.min(right, o.right) end
    local seen = minus_infinity(
      attention.window(queries, keys, offset, o.left, right), dtype)
    bias = bias and bias + seen or seen
  end
  if t.lengths then
    local there = la.range(0, keys - 1):long()
      :lt(t.lengths:to("int64"):reshape(-1, 1, 1, 1))
    local seen = minus_infinity(there, dtype)
    bias = bias and bias + seen or seen
  end
  return bias
end

local function attend(t, o)
  local q, k, v = t.q, t.k, t.v
  local bias = bias_of(t, o)
  local heads = q:size(2)
  k, v = attention.repeated(k, heads), attention.repeated(v, heads)
  local scale = o.scale or 1 / math.sqrt(q:size(4))
  if not bias and not o.softcap and o.mode == nil and not o.precision
    and q.dtype == "float32" then
    return la.scaled_dot_product_attention(q, k, v, {scale = scale})
  end
  local root = la.tensor(math.sqrt(scale), {dtype = q.dtype})
  local scores = (q * root):matmul((k * root):transpose(-1, -2))
  if o.softcap then
    scores = (scores / o.softcap):tanh() * o.softcap
  end
  local shown = scores
  if bias then scores = scores + bias end
  if o.mode == 2 then shown = scores end
  local p = attention.softmax(o.precision and scores:to(o.precision) or scores,
    bias)
  p = p:to(q.dtype)
  if o.mode == 3 then shown = p end
  return p:matmul(v), shown
end

function op.Attention(node)
  local code = node:get("softmax_precision", 0)
  local softcap = node:get("softcap", 0.0)
  local left, right = node:get("left_window_size", -1),
    node:get("right_window_size", -1)
  local o = {causal = node:get("is_causal", 0) == 1,
    scale = node.attributes.scale, softcap = softcap > 0 and softcap or nil,
    precision = code ~= 0 and rows.dtypes[code] or nil,
    left = left >= 0 and left or nil, right = right >= 0 and right or nil,
    mode = node.outs[4] and node:get("qk_matmul_output_mode", 0) or nil}
  local nq, nk = node.attributes.q_num_heads, node.attributes.kv_num_heads
  return function(q, k, v, mask, past_key, past_value, lengths)
    local flat = q.ndim == 3
    if flat then
      q, k = attention.heads(q, nq), attention.heads(k, nk)
      v = attention.heads(v, nk)
    end
    if past_key then k = la.cat({past_key, k}, 3) end
    if past_value then v = la.cat({past_value, v}, 3) end
    local y, shown = attend({q = q, k = k, v = v, mask = mask,
      past = past_key and past_key:size(3), lengths = lengths}, o)
    return flat and attention.joined(y) or y, k, v, shown
  end
end

-- Functions of the file between the parts.
flex.FlexAttention = {state = true, keeps = true, make = function(node)
  local scores_of, weights_of = node.graphs.score_mod, node.graphs.prob_mod
  local code, fixed = node:get("softmax_precision", 0), node.attributes.scale
  return function(state, frame, q, k, v)
    local heads = q:size(2)
    k, v = attention.repeated(k, heads), attention.repeated(v, heads)
    local root = la.tensor(math.sqrt(fixed or 1 / math.sqrt(q:size(4))),
      {dtype = q.dtype})
    local scores = (q * root):matmul((k * root):transpose(-1, -2))
    local wide = code ~= 0 and rows.dtypes[code]
      or (q.dtype == "float64" and "float64" or "float32")
    scores = scores:to(wide)
    if scores_of then
      scores = run.inner(state, frame, scores_of, {scores})[1]
    end
    local p = la.softmax(scores, -1)
    if weights_of then p = run.inner(state, frame, weights_of, {p})[1] end
    return p:matmul(v:to(wide)):to(v.dtype)
  end
end}

-- ---- positions ----

-- Pairs of numbers (halves, or neighbours) are rotated by the angles of their
-- position. x is (B, T, H, D); cos and sin are (B or 1, T, 1, n).
function attention.rotate(x, cos, sin, interleaved, n)
  local width = x:size(4)
  local part = n < width and x:narrow(4, 1, n) or x
  local a, b
  if interleaved then
    a, b = part:slice(4, 1, n, 2), part:slice(4, 2, n, 2)
  else
    a, b = part:narrow(4, 1, n // 2), part:narrow(4, n // 2 + 1, n // 2)
  end
  local re, im = a * cos - b * sin, a * sin + b * cos
  local y
  if interleaved then
    y = la.stack({re, im}, 5):reshape(x:size(1), x:size(2), x:size(3), n)
  else
    y = la.cat({re, im}, 4)
  end
  return n < width and la.cat({y, x:narrow(4, n + 1, width - n)}, 4) or y
end

-- Rows of a table of angles for ids (B, T), or the table of every batch.
function attention.angles(t, ids)
  if ids then
    t = t:index_select(1, rows.positions(ids):flatten())
      :reshape(ids:size(1), ids:size(2), -1)
  end
  return t:unsqueeze(3)
end

function op.RotaryEmbedding(node)
  local interleaved = node:get("interleaved", 0) == 1
  local n, heads = node:get("rotary_embedding_dim", 0), node:get("num_heads", 0)
  return function(x, cos, sin, ids)
    local four = x.ndim == 4
    local y = four and x:transpose(2, 3)
      or x:reshape(x:size(1), x:size(2), heads, -1)
    local width = n > 0 and n or y:size(4)
    y = attention.rotate(y, attention.angles(cos, ids),
      attention.angles(sin, ids), interleaved, width)
    if four then return y:transpose(2, 3) end
    return y:reshape(rows.sizes(x))
  end
end

-- ---- attention without a softmax: a state that forgets ----

local function linear_step(s, t, o, state)
  if o.gated then
    state = state * s.decay:select(3, t):exp():unsqueeze(4)
  end
  local k, v = s.k:select(3, t), s.v:select(3, t)
  if o.delta then
    local found = k:unsqueeze(3):matmul(state):squeeze{3}
    v = s.beta:select(3, t) * (v - found)
  end
  state = state + k:unsqueeze(4) * v:unsqueeze(3)
  local read = attention.repeated(state, o.q)
  local y = s.q:select(3, t):unsqueeze(3):matmul(read):squeeze{3} * o.scale
  return y, state
end

function op.LinearAttention(node)
  local rule = node:get("update_rule", "gated_delta")
  local o = {q = node:get("q_num_heads"), kv = node:get("kv_num_heads"),
    gated = rule == "gated" or rule == "gated_delta",
    delta = rule == "delta" or rule == "gated_delta"}
  local fixed = node:get("scale", 0.0)
  return function(q, k, v, past, decay, beta)
    local s = {q = attention.heads(q, o.q):to("float32"),
      k = attention.heads(k, o.kv):to("float32"),
      v = attention.heads(v, o.kv):to("float32")}
    if decay then s.decay = attention.heads(decay, o.kv):to("float32") end
    if beta then s.beta = attention.heads(beta, beta:size(3)):to("float32") end
    o.scale = fixed ~= 0 and fixed or 1 / math.sqrt(s.q:size(4))
    local state = past and past:to("float32")
      or la.zeros({q:size(1), o.kv, s.k:size(4), s.v:size(4)})
    local list = {}
    for t = 1, q:size(2) do list[t], state = linear_step(s, t, o, state) end
    local y = la.stack(list, 3)
    return attention.joined(y):to(q.dtype),
      state:to(past and past.dtype or q.dtype)
  end
end

function op.CausalConvWithState(node)
  local gate = node:get("activation", "none") ~= "none"
  return function(x, w, b, past)
    local n = w:size(3) - 1
    if not past then
      past = la.zeros({x:size(1), x:size(2), n}, {dtype = x.dtype})
    end
    local long = la.cat({past, x}, 3)
    local y = la.conv1d(long, w, b, {1}, {0}, {1}, x:size(2))
    if gate then y = la.silu(y:to("float32")):to(x.dtype) end
    return y, long:narrow(3, long:size(3) - n + 1, n)
  end
end

function op.SwiGLU(node)
  local alpha = node:get("alpha", 1.0)
  return function(a, b) return a * (a * alpha):sigmoid() * b end
end

return attention
