-- Sample inputs for derivatives, made from the golden records of an operation:
-- the calls are the record's, the numbers are drawn anew, distinct and away
-- from each other, in the first range where all results are finite.
--
-- samples.each(name) iterates samples: f(t1, t2, ...) of all float tensors of
-- the call, and inputs(), which makes leaves in float64 or complex128.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"

local samples = {}

local MOST = 14             -- calls per operation
local LARGEST = 4000        -- elements of an input
local RANGES = {{-1.7, 1.9}, {0.15, 0.85}, {1.2, 2.6}}

local is_tensor = la.is_tensor

local function is_float(t) return t:is_floating_point() or t:is_complex() end

local wide = {float16 = "float64", bfloat16 = "float64", float32 = "float64",
  float64 = "float64", complex32 = "complex128", complex64 = "complex128",
  complex128 = "complex128"}

---------------------------------------------------------------------------
-- Values

-- n distinct numbers between the ends, in random order.
local function distinct(n, range, g)
  local low, high = range[1], range[2]
  local steps = la.randperm(n, {generator = g}):double()
  local jitter = la.rand(n, {dtype = "float64", generator = g})
  return (steps - 0.75 + jitter * 0.5) * ((high - low) / math.max(n, 1)) + low
end

local function numbers_for(n, dtype, range, g)
  if dtype == "float64" then return distinct(n, range, g) end
  return la.complex(distinct(n, range, g), distinct(n, range, g))
end

-- How far a storage must reach for sizes and strides.
local function extent(shape, stride)
  local last = 1
  for d = 1, #shape do
    if shape[d] == 0 then return 0 end
    last = last + (shape[d] - 1) * stride[d]
  end
  return last
end

-- A leaf for a tensor like 't', in a wide dtype, and the function that makes
-- of it a view with the sizes, strides, gaps and overlaps of 't'.
local function leaf_like(t, range, g)
  local dtype, shape, stride = wide[t.dtype], {}, {}
  for d = 1, t.ndim do shape[d], stride[d] = t:size(d), t:stride(d) end
  if extent(shape, stride) == 0 then
    return la.zeros(shape, {dtype = dtype}):requires_grad_()
  end
  local whole = numbers_for(extent(shape, stride), dtype, range, g)
  if t:is_contiguous() then whole = whole:view(shape) end
  return whole:requires_grad_()
end

local function laid_out(leaf, t)
  if t:is_contiguous() then return leaf end
  local shape, stride = {}, {}
  for d = 1, t.ndim do shape[d], stride[d] = t:size(d), t:stride(d) end
  return leaf:as_strided(shape, stride)
end

---------------------------------------------------------------------------
-- Calls

-- Collect the float tensors of nested tables into 'list'; the result is a
-- function that rebuilds the value with others in their place.
local function holes(value, list)
  if is_tensor(value) and is_float(value) then
    local at = #list + 1
    list[at] = value
    return function(with) return with[at] end
  end
  if type(value) ~= "table" or getmetatable(value) then
    return function() return value end
  end
  local parts = {}
  for k, v in pairs(value) do parts[k] = holes(v, list) end
  return function(with)
    local out = {}
    for k, part in pairs(parts) do out[k] = part(with) end
    return out
  end
end

local INPLACE = {inplace = true, setitem = true}

-- The record's call as a function of its float tensors; nil where it has none
-- or asks for a narrow dtype.
local function as_function(r)
  local ok, fn, args, keywords = pcall(records.call_of, r)
  if not ok or (keywords and keywords.out ~= nil) then return nil end
  local list, n = {}, args.n
  if keywords and wide[keywords.dtype] then
    keywords.dtype = wide[keywords.dtype]
  end
  local fill = {}
  for k = 1, n do
    if wide[args[k]] then args[k] = wide[args[k]] end
    fill[k] = holes(args[k], list)
  end
  local named = keywords and holes(keywords, list)
  if #list == 0 then return nil end
  local function f(...)
    local with, call = {...}, {}
    for k = 1, n do call[k] = fill[k](with) end
    if INPLACE[r.style] then call[1] = call[1]:clone() end
    la.manual_seed(1)                   -- random operations repeat themselves
    if named then call[n + 1] = named(with) end
    return fn(table.unpack(call, 1, named and n + 1 or n))
  end
  return f, list
end

-- Float results of f, or nil when one is not finite or of a narrow dtype.
local function fair_results(f, inputs)
  local out = table.pack(pcall(f, table.unpack(inputs)))
  if not out[1] then return nil end
  local found = 0
  local function look(v)
    if type(v) == "table" and not getmetatable(v) then
      for _, each in ipairs(v) do if not look(each) then return false end end
    elseif is_tensor(v) and is_float(v) then
      if wide[v.dtype] ~= v.dtype then return false end
      if not (v:resolve_conj():abs():lt(1e6)):all() then return false end
      found = found + 1
    end
    return true
  end
  for k = 2, out.n do if not look(out[k]) then return nil end end
  return found > 0
end

-- 'like' is a list of tensors that give shapes and dtypes.
local function sample_of(call, like, what)
  local function f(...)
    local with = {...}
    for k, t in ipairs(like) do with[k] = laid_out(with[k], t) end
    return call(table.unpack(with))
  end
  for seed, range in ipairs(RANGES) do
    local function inputs()
      local g, list = la.Generator(seed), {}
      for k, t in ipairs(like) do list[k] = leaf_like(t, range, g) end
      return list
    end
    if fair_results(f, inputs()) then
      return {f = f, inputs = inputs, what = what}
    end
  end
end

---------------------------------------------------------------------------
-- Other layouts of the same call: valid where the operation takes them

local function same_shape(like)
  for k = 2, #like do
    if like[k].ndim ~= like[1].ndim then return false end
    for d = 1, like[1].ndim do
      if like[k]:size(d) ~= like[1]:size(d) then return false end
    end
  end
  return true
end

local layouts = {
  ["0-dim"] = function(dtype) return la.zeros({}, {dtype = dtype}) end,
  ["empty"] = function(dtype) return la.zeros({2, 0}, {dtype = dtype}) end,
  ["strided"] = function(dtype)
    return la.zeros(6, 3, {dtype = dtype})[{{1, 6, 2}}]:t()
  end,
  ["expanded"] = function(dtype)
    return la.zeros(2, 1, {dtype = dtype}):expand(2, 3)
  end,
}

-- The same shapes, complex.
local function complex_variant(f, like, add)
  local other, real = {}, false
  for k, t in ipairs(like) do
    real = real or t.dtype ~= "complex128"
    other[k] = la.zeros(t.shape, {dtype = "complex128"})
  end
  if real then add(f, other, "complex") end
end

-- Factors of matrices of full rank have derivatives: equal columns give NaN or
-- not by the last bit of a pivot.
local FULL_RANK = {qr = true, lu = true, lu_factor = true, lu_factor_ex = true,
  linalg_svd = true, svdvals = true, pinv = true, pinverse = true, eig = true,
  matrix_norm = true, svd_lowrank = true, pca_lowrank = true}

local function variants(name, f, like, add)
  complex_variant(f, like, add)
  if not same_shape(like) then return end
  for layout, make in pairs(layouts) do
    if not (FULL_RANK[name] and layout == "expanded") then
      local other = {}
      for k, t in ipairs(like) do other[k] = make(t.dtype) end
      add(f, other, layout)
    end
  end
  if #like == 2 then
    add(f, {la.zeros(2, 1, {dtype = like[1].dtype}),
      la.zeros(3, {dtype = like[2].dtype})}, "broadcast")
  end
end

---------------------------------------------------------------------------

-- What tells a call from others of the same operation.
local function signature(r, like)
  local words = {r.style}
  for _, t in ipairs(like) do
    words[#words + 1] = ("%s%d%s%s"):format(wide[t.dtype], t.ndim,
      t:is_contiguous() and "" or "s", t:numel() == 0 and "0" or "")
  end
  for key in pairs(r.kwargs or {}) do words[#words + 1] = key end
  for _, a in ipairs(r.args) do words[#words + 1] = (next(a)) end
  table.sort(words, function(a, b) return tostring(a) < tostring(b) end)
  return table.concat(words, " ")
end

local function small(like)
  for _, t in ipairs(like) do
    if t:numel() > LARGEST then return false end
  end
  return true
end

---------------------------------------------------------------------------
-- Operations without records: calls written out, with the shapes of the inputs

local function symmetric(x) return x + x.mH end

local function free_eigh(x)
  local values, q = la.eigh(symmetric(x))
  return values, q:abs()
end

local function free_svd(x)
  local u, s, vh = la.linalg.svd(x, false)
  return u:abs(), s, vh:abs(), u:matmul(vh)
end

-- The values come in no order.
local function sum_of_values(x) return la.eigvals(x):pow(3):sum(-1) end

local function free_eig(x)
  local values, v = la.eig(x)
  return values:square():sum(-1), v:abs():sum(-1)
end

-- A Hermitian positive definite matrix.
local function positive(x)
  return x:matmul(x.mH) + la.eye(x:size(-1), {dtype = x.dtype})
end

local label, one_two = la.tensor{2, 1, 3}, la.tensor{1, -1, 1}
local written = {
  divmod = {{function(x) return select(2, la.divmod(x, 0.75)) end, {3}}},
  cbrt = {{la.cbrt, {3}}},
  polygamma = {{function(x) return x:polygamma(1) end, {3}},
    {function(x) return la.polygamma(2, x) end, {2}}},
  mode = {{function(x) return (x:mode(1)) end, {3, 2}}},
  nanmedian = {{function(x) return x:nanmedian() end, {5}},
    {function(x) return (x:nanmedian(2)) end, {2, 3}}},
  segment_reduce = {{function(x)
    return x:segment_reduce("sum", {lengths = la.tensor{1, 2}})
  end, {3, 2}}},
  slice = {{function(x) return x:slice(1, 2, 3) end, {4, 2}}},
  cumulative_sum = {{function(x)
    return x:cumulative_sum(2, {include_initial = true})
  end, {2, 3}}, {la.cumulative_sum, {4}}},
  cumulative_prod = {{function(x)
    return x:cumulative_prod(1, {include_initial = true})
  end, {3, 2}}, {la.cumulative_prod, {"c", 4}}},
  reshape_as = {{function(x) return x:reshape_as(la.ones(3, 2)) end, {2, 3}}},
  H = {{function(x) return x.H end, {2, 3}}},
  mH = {{function(x) return x.mH end, {2, 2, 3}}},
  resolve_neg = {{function(x)
    return x:conj().imag:resolve_neg()
  end, {"c", 3}}},
  _neg_view = {{function(x) return x:conj().imag * 2 end, {"c", 3}}},
  atleast_1d = {{la.atleast_1d, {}}},
  split_with_sizes = {{function(x)
    return x:split_with_sizes{1, 2}
  end, {3, 2}}},
  hsplit = {{function(x) return x:hsplit(2) end, {2, 4}},
    {function(x) return x:hsplit{2} end, {2, 4}}},
  vsplit = {{function(x) return x:vsplit(2) end, {4, 2}}},
  dsplit = {{function(x) return x:dsplit(2) end, {1, 2, 4}}},
  squeeze_ = {{function(x) return (x * 2):squeeze_(1) end, {1, 3}}},
  unsqueeze_ = {{function(x) return (x * 2):unsqueeze_(1) end, {3}}},
  transpose_ = {{function(x) return (x * 2):transpose_(1, 2) end, {2, 3}}},
  t_ = {{function(x) return (x * 2):t_() end, {2, 3}}},
  permute_ = {{function(x) return (x * 2):permute_(3, 1, 2) end, {2, 3, 2}}},
  multivariate_normal = {{function(mean, l)
    local g = la.Generator(3)
    return la.multivariate_normal(mean, nil, {4}, {scale_tril = l:tril(),
      generator = g})
  end, {3}, {3, 3}}, {function(mean, c)
    local g = la.Generator(3)
    return la.multivariate_normal(mean, positive(c), {generator = g})
  end, {2, 3}, {2, 3, 3}}},
  fill_diagonal_ = {
    {function(x) return (x * 2):fill_diagonal_(3, true) end, {5, 2}},
    {function(x) return (x * 2):fill_diagonal_(3) end, {2, 2, 2}}},
  constant_pad_nd = {{function(x) return x:pad({1, 2}) end, {2, 3}}},
  pad = {{function(x) return x:pad({2, 1}, "reflect") end, {2, 3}},
    {function(x) return x:pad({2, 1}, "replicate") end, {2, 3}},
    {function(x) return x:pad({2, 1}, "circular") end, {2, 3}}},
  border_pad_nd = {
    {function(x) return x:pad({2, 1, -1, 2}, "reflect") end, {3, 4}},
    {function(x) return x:pad({-1, 3, 2, 1}, "replicate") end, {3, 4}},
    {function(x) return x:pad({2, 1, 3, -1}, "circular") end, {4, 4}},
    {function(x) return x:pad({-1, 2, 2, -2}, "circular") end, {4, 4}},
    {function(x) return x:pad({-5, 2, 2, -4}, "reflect") end, {3, 4}},
    {function(x) return x:pad({3, -6, 1, 1}, "replicate") end, {3, 4}},
    {function(x) return x:pad({-2, -2, 1, 1}, "reflect") end, {3, 4}}},
  slice_scatter = {{function(x, y) return x:slice_scatter(y, 1, 2, 3) end,
    {4, 2}, {2, 2}}},
  as_strided_scatter = {{function(x, y)
    return x:as_strided_scatter(y, {2}, {2}, 2)
  end, {4}, {2}}},
  trim_zeros = {{la.trim_zeros, {3}}},
  copy_ = {{function(x, y) return (x * 2):copy_(y) end, {2, 3}, {3}}},
  fill_ = {{function(x) return (x * 2):fill_(3) + x end, {3}},
    {function(x, y) return (x * 2):fill_(y) end, {3}, {}}},
  zero_ = {{function(x) return (x * 2):zero_() + x end, {3}}},
  type = {{function(x) return x:type("complex128") end, {3}}},
  astype = {{function(x) return x:astype("complex128") * la.complex(0, 1) end,
    {3}}},
  complex = {{la.complex, {3}, {3}}},
  index = {{function(x) return x[{label, one_two}] end, {3, 3}},
    {function(x) return x[{{}, la.tensor{true, false, true}}] end, {2, 3}}},
  embedding_bag = {{function(w)
    return la.embedding_bag(la.tensor{{1, 2}, {3, 3}}, w)
  end, {4, 2}}, {function(w, s)
    return la.embedding_bag(la.tensor{{1, 2}, {3, 3}}, w,
      {mode = "sum", per_sample_weights = s})
  end, {4, 2}, {2, 2}}},
  partition = {{function(x) return x:partition(2) end, {2, 4}}},
  shuffle = {{function(x) la.manual_seed(1); return x:shuffle(1) end, {4, 2}}},
  choice = {{function(x) la.manual_seed(1); return x:choice(3) end, {4, 2}}},
  dropout = {{function(x) la.manual_seed(1); return x:dropout(0.5) end, {9}}},
  dropout1d = {{function(x) la.manual_seed(1); return x:dropout1d(0.5) end,
    {3, 4, 2}}},
  dropout2d = {{function(x) la.manual_seed(1); return x:dropout2d(0.5) end,
    {5, 2, 2}}},
  dropout3d = {{function(x) la.manual_seed(1); return x:dropout3d(0.5) end,
    {2, 3, 2, 1, 2}}},
  alpha_dropout = {{function(x)
    la.manual_seed(1)
    return x:alpha_dropout(0.5)
  end, {9}}},
  feature_alpha_dropout = {{function(x)
    la.manual_seed(1)
    return x:feature_alpha_dropout(0.5)
  end, {2, 5, 3}}},
  gumbel_softmax = {{function(x)
    la.manual_seed(1)
    return x:gumbel_softmax{tau = 0.7}
  end, {3, 4}}, {function(x)
    la.manual_seed(1)
    return x:gumbel_softmax{dim = 1}
  end, {3, 4}}},
  rope = {{function(x) return x:rope(2) end, {2, 3, 4}}, {function(x)
    return x:rope(la.tensor{0, 5, 1}, {dims = 4, base = 100,
      traditional = true})
  end, {2, 3, 6}}},
  matmul = {{la.matmul, {2, 2, 3}, {3, 2}},
    {la.matmul, {2, 1, 2, 3}, {2, 3, 2}}, {la.matmul, {3}, {2, 3, 2}}},
  layer_norm = {{function(x, w, b) return la.layer_norm(x, {3}, w, b) end,
    {4, 3}, {3}, {3}}, {function(x) return la.layer_norm(x, {2, 3}) end,
    {2, 2, 3}}},
  native_layer_norm = {{function(x, w)
    return la.native_layer_norm(x, {3}, w)
  end, {4, 3}, {3}}},
  native_rms_norm = {{function(x, w)
    return la.native_rms_norm(x, {3}, w)
  end, {4, 3}, {3}}},
  convolution = {{function(x, w)
    return la.convolution(x, w, nil, {2}, {1}, {1}, false, {0}, 1)
  end, {1, 2, 5}, {3, 2, 3}}, {function(x, w)
    return la.convolution(x, w, nil, {2}, {1}, {1}, true, {1}, 2)
  end, {1, 4, 3}, {4, 1, 3}}},
  convolution_grad_input = {{function(g, x, w)
    return la.convolution_grad_input(g, x, w, {2}, {1}, {1}, false, {0}, 1)
  end, {1, 3, 3}, {1, 2, 5}, {3, 2, 3}}},
  convolution_grad_weight = {{function(g, x, w)
    return la.convolution_grad_weight(g, x, w, {2}, {1}, {1}, false, {0}, 1)
  end, {1, 3, 3}, {1, 2, 5}, {3, 2, 3}}},
  convolution_backward = {{function(g, x, w)
    return la.convolution_backward(g, x, w, {2}, {1}, {1}, false, {0}, 1)
  end, {1, 3, 3}, {1, 2, 5}, {3, 2, 3}}},
  rms_norm = {{function(x, w) return la.rms_norm(x, {3}, w) end, {4, 3}, {3}}},
  batch_norm = {{function(x, w, b)
    return la.batch_norm(x, nil, nil, w, b, true)
  end, {4, 2, 3}, {2}, {2}}, {function(x, w, b)
    return la.batch_norm(x, nil, nil, w, b, true)
  end, {2, 2, 2, 4}, {2}, {2}}, {function(x)
    return la.batch_norm(x, nil, nil, nil, nil, true)
  end, {2, 2, 9}}},
  group_norm = {{function(x, w, b)
    return la.group_norm(x, 2, w, b)
  end, {2, 4, 8}, {4}, {4}}},
  instance_norm = {{function(x, w)
    return la.instance_norm(x, nil, nil, w)
  end, {2, 2, 8}, {2}}},
  conv2d = {{function(x, w, b) return la.conv2d(x, w, b, 1, 1) end,
    {1, 2, 4, 4}, {2, 2, 3, 3}, {2}}},
  conv_transpose2d = {{function(x, w, b)
    return la.conv_transpose2d(x, w, b, 2)
  end, {1, 2, 3, 3}, {2, 1, 2, 2}, {1}}},
  avg_pool2d = {{function(x) return la.avg_pool2d(x, 2, 1) end, {1, 2, 4, 4}}},
  max_pool2d = {{function(x) return (la.max_pool2d(x, 2, 1)) end,
    {1, 2, 4, 4}}},
  adaptive_avg_pool2d = {{function(x)
    return la.adaptive_avg_pool2d(x, {2, 3})
  end, {1, 2, 4, 5}}},
  adaptive_max_pool2d = {{function(x)
    return (la.adaptive_max_pool2d(x, {2, 3}))
  end, {1, 2, 4, 5}}},
  col2im = {{function(x) return la.col2im(x, {3, 3}, {2, 2}) end, {1, 4, 4}}},
  scaled_dot_product_attention = {{la.scaled_dot_product_attention,
    {1, 3, 2}, {1, 3, 2}, {1, 3, 2}}},
  mse_loss = {{la.mse_loss, {3}, {3}}},
  l1_loss = {{la.l1_loss, {3}, {3}}},
  smooth_l1_loss = {{la.smooth_l1_loss, {5}, {5}}},
  huber_loss = {{la.huber_loss, {5}, {5}}},
  binary_cross_entropy = {{function(x, y, w)
    return la.binary_cross_entropy(x:sigmoid(), y:sigmoid(), w)
  end, {4}, {4}, {4}}},
  binary_cross_entropy_with_logits = {{la.binary_cross_entropy_with_logits,
    {4}, {4}}, {function(x, y, w, p)
      return la.binary_cross_entropy_with_logits(x, y,
        {weight = w, pos_weight = p})
    end, {4}, {4}, {4}, {4}}},
  kl_div = {{function(x, y) return la.kl_div(x, y:exp()) end, {3}, {3}}},
  hinge_embedding_loss = {{function(x)
    return la.hinge_embedding_loss(x, one_two)
  end, {3}}},
  margin_ranking_loss = {{function(x, y)
    return la.margin_ranking_loss(x, y, one_two)
  end, {3}, {3}}},
  cosine_embedding_loss = {{function(x, y)
    return la.cosine_embedding_loss(x, y, one_two)
  end, {3, 2}, {3, 2}}},
  triplet_margin_loss = {{la.triplet_margin_loss, {2, 3}, {2, 3}, {2, 3}}},
  cosine_similarity = {{la.cosine_similarity, {2, 3}, {2, 3}}},
  pairwise_distance = {{la.pairwise_distance, {2, 3}, {2, 3}}},
  nll_loss = {{function(x) return la.nll_loss(x, label) end, {3, 3}},
    {function(x) return la.nll_loss(x, label,
      la.tensor({1, 2, 3}, {dtype = x.dtype})) end, {3, 3}}},
  cross_entropy = {{function(x) return la.cross_entropy(x, label) end, {3, 3}},
    {function(x) return la.cross_entropy(x, label, {label_smoothing = 0.1,
      weight = la.tensor({1, 2, 3}, {dtype = x.dtype})}) end, {3, 3}},
    {function(x, y) return la.cross_entropy(x, y:softmax(2)) end, {2, 3},
      {2, 3}}},
  ctc_loss = {{function(x)
    return la.ctc_loss(x:log_softmax(3), la.tensor{{2, 2}, {3, 1}},
      la.tensor{4, 3}, la.tensor{2, 1})
  end, {4, 2, 3}}},
  signal_lfilter = {{la.signal_lfilter, {3}, {2}, {7}},
    {function(b, a, x, zi)
      return la.signal_lfilter(b, a, x, 1, {zi = zi})
    end, {2}, {3}, {5, 2}, {2, 1}},
    {la.signal_lfilter, {"c", 2}, {"c", 2}, {"c", 2, 4}}},
  convolve = {{la.convolve, {4}, {3}}, {la.convolve, {"c", 2}, {"c", 4}}},
  signal_convolve = {{la.signal_convolve, {4, 3}, {2, 2}},
    {function(a, v) return la.signal_convolve(a, v, "same", "fft") end, {5},
      {3}},
    {function(a, v) return la.signal_convolve(a, v, "valid", "fft") end,
      {"c", 3}, {"c", 5}}},
  signal_correlate = {{la.signal_correlate, {"c", 4}, {"c", 3}},
    {function(a, v) return la.signal_correlate(a, v, "full", "fft") end, {3, 4},
      {2, 2}}},
  stft = {{function(x) return x:stft(6, 2, {window = "hann"}) end, {2, 9}},
    {function(x, w) return la.stft(x, 6, 2, 4, w, {onesided = false}) end,
      {9}, {4}}, {function(x) return x:stft(4) end, {"c", 8}}},
  istft = {{function(x) return x:istft(4, 2) end, {"c", 3, 4}},
    {function(x) return x:istft(4, 2, {window = "hann", onesided = false,
      return_complex = true}) end, {"c", 2, 4, 3}}},
  signal_sosfilt = {{function(x)
    return la.signal_sosfilt(la.signal.butter(4, 0.3), x)
  end, {2, 9}}},
  rnn_cell = {{la.rnn_cell, {2, 3}, {2, 2}, {2, 3}, {2, 2}, {2}, {2}}},
  lstm_cell = {{la.lstm_cell, {2, 3}, {2, 2}, {2, 2}, {8, 3}, {8, 2}, {8},
    {8}}},
  gru_cell = {{la.gru_cell, {2, 3}, {2, 2}, {6, 3}, {6, 2}, {6}, {6}}},
  recurrent_layer = {{function(g, w, b, h, c)
    return la.recurrent_layer(g, w, b, h, c, "lstm")
  end, {2, 2, 8}, {8, 2}, {8}, {2, 2}, {2, 2}}, {function(g, w, h)
    return (la.recurrent_layer(g, w, nil, h, nil, "gru", true))
  end, {2, 1, 6}, {6, 2}, {1, 2}}, {function(g, w, h)
    return (la.recurrent_layer(g, w, nil, h, nil, "tanh"))
  end, {2, 1, 3}, {3, 3}, {1, 3}}},
  gaussian_nll_loss = {{function(x, y, v)
    return la.gaussian_nll_loss(x, y, v:exp())
  end, {2, 3}, {2, 3}, {2, 3}}},
  cholesky = {{function(x) return la.cholesky(positive(x)) end, {2, 3, 3}},
    {function(x) return la.cholesky(positive(x), {upper = true}) end, {3, 3}}},
  cholesky_ex = {{function(x) return (la.cholesky_ex(positive(x))) end,
    {3, 3}}},
  qr = {{la.qr, {3, 3}}, {la.qr, {2, 3, 5}}, {la.qr, {5, 3}},
    {function(x) return la.qr(x, "complete") end, {3, 4}}},
  -- What does not depend on the signs and phases of vectors.
  eigh = {{free_eigh, {3, 3}}, {free_eigh, {2, 4, 4}}, {free_eigh, {9, 9}},
    {free_eigh, {"c", 3, 3}}, {function(x)
      return la.eigh(symmetric(x), "U"), nil
    end, {3, 3}}},
  eigvalsh = {{function(x) return la.eigvalsh(symmetric(x)) end, {2, 3, 3}},
    {function(x) return la.eigvalsh(symmetric(x), "U") end, {"c", 3, 3}}},
  linalg_svd = {{free_svd, {3, 3}}, {free_svd, {2, 3, 5}}, {free_svd, {5, 3}},
    {free_svd, {10, 9}}, {free_svd, {"c", 4, 3}}, {free_svd, {"c", 3, 4}},
    {function(x) return (la.linalg.svd(x):narrow(2, 1, 3):abs()) end, {4, 3}},
    {function(x) return select(3, la.linalg.svd(x, false)):abs() end,
      {3, 4}}},
  eig = {{free_eig, {3, 3}}, {free_eig, {2, 4, 4}}, {free_eig, {"c", 3, 3}}},
  eigvals = {{sum_of_values, {3, 3}}, {sum_of_values, {2, 4, 4}},
    {sum_of_values, {"c", 3, 3}}},
  pinv = {{la.pinv, {3, 3}}, {la.pinv, {2, 3, 4}}, {la.pinv, {9, 3}},
    {function(x) return la.pinv(symmetric(x), {hermitian = true}) end,
      {3, 3}}},
  svdvals = {{la.svdvals, {3, 3}}, {la.svdvals, {2, 3, 4}},
    {la.svdvals, {"c", 4, 3}}},
  lu_factor_ex = {{la.lu_factor_ex, {3, 3}}, {la.lu_factor_ex, {2, 3, 5}},
    {la.lu_factor_ex, {5, 3}},
    {function(x) return la.lu_factor_ex(x, {pivot = false}) end, {3, 3}}},
  lstsq = {{function(x, y) return (la.lstsq(x, y)) end, {4, 3}, {4, 2}},
    {function(x, y) return (la.lstsq(x, y)) end, {2, 3, 4}, {2, 3, 2}},
    {function(x, y) return (la.lstsq(x, y)) end, {4, 3}, {2, 4, 2}},
    {function(x, y)
      local z, rest = la.lstsq(x, y, {driver = "gelsd"})
      return z, rest
    end, {5, 3}, {5, 2}},
    {function(x, y) return (la.lstsq(x, y, {driver = "gelsy"})) end, {3, 5},
      {3, 1}}},
  -- Of as many values as there are: they don't depend on the random numbers.
  svd_lowrank = {{function(x)
    local _, s, v = la.svd_lowrank(x, 3)
    return s, v:abs()
  end, {3, 5}}, {function(x, y)
    return (select(2, la.svd_lowrank(x, 3, {M = y})))
  end, {2, 5, 3}, {5, 3}}},
  pca_lowrank = {{function(x, y)
    return (select(2, la.pca_lowrank(x:matmul(y), 3)))
  end, {6, 3}, {3, 3}}, {function(x)
    return (select(2, la.pca_lowrank(x, nil, false)))
  end, {3, 4}}},
  solve = {{la.solve, {2, 3, 3}, {3, 2}}, {la.solve, {3, 3}, {3}},
    {function(x, y) return la.solve(x, y, {left = false}) end, {3, 3},
      {2, 2, 3}}},
  solve_triangular = {{function(x, y)
    return la.solve_triangular(x, y, {upper = true})
  end, {2, 3, 3}, {3, 2}}, {function(x, y)
    return la.solve_triangular(x, y, {upper = false, left = false,
      unitriangular = true})
  end, {3, 3}, {2, 3}}},
  slogdet = {{function(x) return select(2, la.slogdet(x)) end, {2, 3, 3}},
    {function(x)
      local sign, log = la.slogdet(x)
      return sign * log
    end, {"c", 3, 3}}},
  logdet = {{function(x) return la.logdet(positive(x)) end, {3, 3}}},
  poisson_nll_loss = {{function(x, y)
    return la.poisson_nll_loss(x, y:exp() + 2, {full = true})
  end, {3}, {3}}, {function(x, y)
    return la.poisson_nll_loss(x:exp(), y, {log_input = false})
  end, {3}, {3}}},
  multi_margin_loss = {{function(x)
    return la.multi_margin_loss(x, label, {p = 2})
  end, {3, 3}}},
  multilabel_margin_loss = {{function(x)
    return la.multilabel_margin_loss(x, la.tensor{{2, 0, 0}, {3, 1, 0}})
  end, {2, 3}}},
  multilabel_soft_margin_loss = {{function(x, y, w)
    return la.multilabel_soft_margin_loss(x, y, w)
  end, {2, 3}, {2, 3}, {3}}},
}

for _, part in ipairs(modules.parts "samples") do
  for name, calls in pairs(part) do written[name] = calls end
end

local function add_written(name, add)
  for k, row in ipairs(written[name] or {}) do
    local like = {}
    for i = 2, #row do
      local sizes, dtype = {table.unpack(row[i])}, "float64"
      if sizes[1] == "c" then
        dtype = table.remove(sizes, 1) and "complex128"
      end
      like[i - 1] = la.zeros(sizes, {dtype = dtype})
    end
    assert(add(row[1], like, name .. " written " .. k),
           name .. ": a written call has no finite results")
    variants(name, row[1], like, add)
  end
end

-- A list of the samples of operation 'name': all, or hardly more than 'most'.
function samples.of(name, most)
  local out, seen, path = {}, {}, modules.golden_of(name)
  local function add(f, like, what)
    local s = sample_of(f, like, what)
    out[#out + 1] = s
    return s
  end
  add_written(name, add)
  if not path then return out end
  for r in records.each(path) do
    if most and #out >= most then break end
    if r.op == name or r.op == name .. "_" then
      local f, like = as_function(r)
      local mark = f and small(like) and #out < 2 * MOST and signature(r, like)
      local made = mark and not seen[mark] and add(f, like, r.id)
      if made then
        made.inplace, seen[mark] = INPLACE[r.style], true
        if not INPLACE[r.style] then variants(name, f, like, add) end
      end
    end
  end
  return out
end

return samples
