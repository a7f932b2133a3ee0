-- lunarray.nn.layers: linear and convolutional layers, pooling, activations,
-- dropout, embedding. Initial values are PyTorch's.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"
local init = require "lunarray.nn.initial"
local numbers = require "lunarray.numbers"

local options, STATE = nn._options, nn._STATE

local function fan_bound(weight)
  local fan_in = init.fans(weight)
  return fan_in > 0 and 1 / math.sqrt(fan_in) or 0
end

-- weight by kaiming with a = sqrt(5), bias within 1 / sqrt(fan in).
local function reset(self)
  init.kaiming_uniform_(self.weight, {a = math.sqrt(5)})
  if self.bias then
    local bound = fan_bound(self.weight)
    init.uniform_(self.bias, -bound, bound)
  end
end

-- ---- linear ----

local Identity = nn.class "Identity"
nn.Identity = Identity
function Identity.init() end
function Identity.forward(_, x) return x end

local Linear = nn.class "Linear"
nn.Linear = Linear

function Linear:init(...)
  local o = options("Linear", {"in_features", "out_features", "bias", "dtype"},
    {bias = true, ["!in_features"] = true, ["!out_features"] = true}, ...)
  self.in_features, self.out_features = o.in_features, o.out_features
  self.weight = nn.Parameter(la.empty({o.out_features, o.in_features},
    {dtype = o.dtype}))
  if o.bias then
    self.bias = nn.Parameter(la.empty({o.out_features}, {dtype = o.dtype}))
  end
  self:reset_parameters()
end
Linear.reset_parameters = reset

local linear = la.linear
function Linear:forward(x)
  local held = self[STATE].values      -- parameters, without a lookup each
  return linear(x, held.weight, held.bias)
end

function Linear:extra_repr()
  return string.format("in_features=%d, out_features=%d, bias=%s",
    self.in_features, self.out_features, numbers.text(self.bias ~= nil))
end

local Bilinear = nn.class "Bilinear"
nn.Bilinear = Bilinear

function Bilinear:init(...)
  local o = options("Bilinear", {"in1_features", "in2_features",
    "out_features", "bias", "dtype"}, {bias = true, ["!in1_features"] = true,
    ["!in2_features"] = true, ["!out_features"] = true}, ...)
  self.in1_features, self.in2_features = o.in1_features, o.in2_features
  self.out_features = o.out_features
  self.weight = nn.Parameter(la.empty({o.out_features, o.in1_features,
    o.in2_features}, {dtype = o.dtype}))
  if o.bias then
    self.bias = nn.Parameter(la.empty({o.out_features}, {dtype = o.dtype}))
  end
  self:reset_parameters()
end

function Bilinear:reset_parameters()
  local bound = 1 / math.sqrt(self.weight:size(2))
  init.uniform_(self.weight, -bound, bound)
  if self.bias then init.uniform_(self.bias, -bound, bound) end
end

function Bilinear:forward(a, b)
  return la.bilinear(a, b, self.weight, self.bias)
end

-- ---- convolutions ----

local function list(value, n)
  if type(value) == "table" then return value end
  local out = {}
  for k = 1, n do out[k] = value end
  return out
end

local function same(text)
  return type(text) == "table" and table.concat(text, "x")
    or numbers.text(text)
end

local function conv_repr(self)
  return string.format("%d, %d, kernel_size=%s, stride=%s, padding=%s",
    self.in_channels, self.out_channels, same(self.kernel_size),
    same(self.stride), same(self.padding))
end

-- A class of layers over 'dims' dims. 'kind' has: the operation; names, the
-- arguments by position; defaults; shape(o), the first two sizes of the weight;
-- forward(run), which hands all of it to the operation.
local function conv_class(name, dims, kind)
  local Conv = nn.class(name)
  nn[name] = Conv

  function Conv:init(...)
    local o = options(name, kind.names, kind.defaults, ...)
    local groups = o.groups
    if dialect.type(groups) ~= "integer" or groups < 1
      or o.in_channels % groups ~= 0 or o.out_channels % groups ~= 0 then
      error(("%s: groups=%s must be positive and divide in_channels=%s and "
        .. "out_channels=%s"):format(name, groups, o.in_channels,
        o.out_channels), 3)
    end
    for _, key in ipairs(kind.names) do
      if key ~= "bias" and key ~= "dtype" then rawset(self, key, o[key]) end
    end
    local shape = kind.shape(o)
    for _, n in ipairs(list(o.kernel_size, dims)) do shape[#shape + 1] = n end
    self.weight = nn.Parameter(la.empty(shape, {dtype = o.dtype}))
    if o.bias then
      self.bias = nn.Parameter(la.empty({o.out_channels}, {dtype = o.dtype}))
    end
    self:reset_parameters()
  end
  Conv.reset_parameters = reset
  Conv.extra_repr = conv_repr
  Conv.forward = kind.forward(la[kind.operation:format(dims)])
end

local straight = {
  operation = "conv%dd",
  names = {"in_channels", "out_channels", "kernel_size", "stride", "padding",
    "dilation", "groups", "bias", "dtype"},
  defaults = {stride = 1, padding = 0, dilation = 1, groups = 1, bias = true,
    ["!in_channels"] = true, ["!out_channels"] = true,
    ["!kernel_size"] = true},
  shape = function(o)
    return {o.out_channels, math.floor(o.in_channels / o.groups)}
  end,
  forward = function(run)
    return function(self, x)
      return run(x, self.weight, self.bias, self.stride, self.padding,
        self.dilation, self.groups)
    end
  end,
}

local transposed = {
  operation = "conv_transpose%dd",
  names = {"in_channels", "out_channels", "kernel_size", "stride", "padding",
    "output_padding", "groups", "bias", "dilation", "dtype"},
  defaults = {stride = 1, padding = 0, output_padding = 0, dilation = 1,
    groups = 1, bias = true, ["!in_channels"] = true,
    ["!out_channels"] = true, ["!kernel_size"] = true},
  shape = function(o)
    return {o.in_channels, math.floor(o.out_channels / o.groups)}
  end,
  forward = function(run)
    return function(self, x)
      return run(x, self.weight, self.bias, self.stride, self.padding,
        self.output_padding, self.groups, self.dilation)
    end
  end,
}

for dims = 1, 3 do
  conv_class("Conv" .. dims .. "d", dims, straight)
  conv_class("ConvTranspose" .. dims .. "d", dims, transposed)
end

-- ---- layers without state: an operation and its keywords ----

-- A class whose positional arguments are 'names' and whose forward calls the
-- operation with the options that were given.
local function plain(class, run, names, defaults, first)
  local C = nn.class(class)
  nn[class] = C
  defaults = defaults or {}
  function C:init(...)
    local o = options(class, names, defaults, ...)
    rawset(self, "options", o)
  end
  function C:forward(x)
    local o = self.options
    if next(o) == nil then return (run(x)) end     -- the short way
    return (run(x, o))
  end
  if first then C.forward = first end
  function C:extra_repr()
    local parts = {}
    for _, name in ipairs(names) do
      local value = self.options[name]
      if value ~= nil and value ~= defaults[name] then
        parts[#parts + 1] = name .. "=" .. same(value)
      end
    end
    return table.concat(parts, ", ")
  end
  return C
end

local max_names = {"kernel_size", "stride", "padding", "dilation",
  "return_indices", "ceil_mode"}

local function max_forward(run)
  return function(self, x)
    local o = self.options
    local values, indices = run(x, {kernel_size = o.kernel_size,
      stride = o.stride, padding = o.padding, dilation = o.dilation,
      ceil_mode = o.ceil_mode, return_indices = o.return_indices})
    if o.return_indices then return values, indices end
    return values
  end
end

for dims = 1, 3 do
  local tail = dims .. "d"
  plain("MaxPool" .. tail, nil, max_names, {["!kernel_size"] = true},
    max_forward(la["max_pool" .. tail]))
  local names = {"kernel_size", "stride", "padding", "ceil_mode",
    "count_include_pad"}
  if dims > 1 then names[#names + 1] = "divisor_override" end
  plain("AvgPool" .. tail, la["avg_pool" .. tail], names,
    {["!kernel_size"] = true})
  plain("AdaptiveAvgPool" .. tail, la["adaptive_avg_pool" .. tail],
    {"output_size"}, {["!output_size"] = true})
  local adaptive = la["adaptive_max_pool" .. tail]
  plain("AdaptiveMaxPool" .. tail, nil, {"output_size", "return_indices"},
    {["!output_size"] = true}, function(self, x)
      local values, indices = adaptive(x, self.options.output_size)
      if self.options.return_indices then return values, indices end
      return values
    end)
  if dims < 3 then
    plain("LPPool" .. tail, la["lp_pool" .. tail], {"norm_type", "kernel_size",
      "stride", "ceil_mode"}, {["!norm_type"] = true, ["!kernel_size"] = true})
  end
end

-- name, operation, option names, defaults of the options
local activations = {
  {"ReLU", "relu"}, {"ReLU6", "relu6"}, {"Sigmoid", "sigmoid"},
  {"Tanh", "tanh"}, {"SiLU", "silu"}, {"Mish", "mish"}, {"SELU", "selu"},
  {"Hardswish", "hardswish"}, {"Hardsigmoid", "hardsigmoid"},
  {"LogSigmoid", "logsigmoid"}, {"Softsign", "softsign"},
  {"Tanhshrink", "tanhshrink"},
  {"GELU", "gelu", {"approximate"}}, {"ELU", "elu", {"alpha"}},
  {"CELU", "celu", {"alpha"}},
  {"LeakyReLU", "leaky_relu", {"negative_slope"}},
  {"Softplus", "softplus", {"beta", "threshold"}},
  {"Softmax", "softmax", {"dim"}, {["!dim"] = true}},
  {"LogSoftmax", "log_softmax", {"dim"}, {["!dim"] = true}},
  {"Softmin", "softmin", {"dim"}, {["!dim"] = true}},
  {"Hardtanh", "hardtanh", {"min_val", "max_val"}},
  {"Hardshrink", "hardshrink", {"lambd"}},
  {"Softshrink", "softshrink", {"lambd"}},
  {"GLU", "glu", {"dim"}},
  {"Threshold", "threshold", {"threshold", "value"}, {["!threshold"] = true,
    ["!value"] = true}},
}
for _, row in ipairs(activations) do
  plain(row[1], la[row[2]], row[3] or {}, row[4])
end

-- ---- patches ----

plain("Unfold", la.im2col, {"kernel_size", "dilation", "padding", "stride"},
  {["!kernel_size"] = true})
plain("Fold", la.col2im, {"output_size", "kernel_size", "dilation", "padding",
  "stride"}, {["!output_size"] = true, ["!kernel_size"] = true})
require "lunarray.additions"("layers", plain)

local PReLU = nn.class "PReLU"
nn.PReLU = PReLU
function PReLU:init(n, value)
  self.weight = nn.Parameter(la.full({n or 1}, value or 0.25))
end
function PReLU:forward(x) return la.prelu(x, self.weight) end

local Flatten = nn.class "Flatten"
nn.Flatten = Flatten
function Flatten:init(first, last)
  self.first, self.last = first or 2, last or -1
end
function Flatten:forward(x) return x:flatten(self.first, self.last) end

local Unflatten = nn.class "Unflatten"
nn.Unflatten = Unflatten
function Unflatten:init(dim, sizes)
  self.dim, self.sizes = dim, sizes
end
function Unflatten:forward(x) return x:unflatten(self.dim, self.sizes) end

-- ---- dropout: whole elements, or whole channels ----

local function dropout_class(name, run)
  local Dropout = nn.class(name)
  nn[name] = Dropout
  function Dropout:init(p)
    if type(p) == "table" then p = p.p end
    p = p or 0.5
    if type(p) ~= "number" or not (p >= 0 and p <= 1) then
      error("dropout probability has to be between 0 and 1, but got "
        .. numbers.text(p), require "lunarray.tensors".user_level())
    end
    self.p = p
  end
  function Dropout:forward(x)
    if not self.training or self.p == 0 then return x end
    return run(x, self.p)
  end
  function Dropout:extra_repr() return "p=" .. numbers.text(self.p) end
end

for class, name in pairs{Dropout = "dropout", Dropout1d = "dropout1d",
  Dropout2d = "dropout2d", Dropout3d = "dropout3d",
  AlphaDropout = "alpha_dropout",
  FeatureAlphaDropout = "feature_alpha_dropout"} do
  local run = la[name]
  dropout_class(class, function(x, p) return run(x, p, true) end)
end

-- ---- embedding ----

local Embedding = nn.class "Embedding"
nn.Embedding = Embedding

function Embedding:init(...)
  local o = options("Embedding", {"num_embeddings", "embedding_dim",
    "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "dtype"},
    {["!num_embeddings"] = true, ["!embedding_dim"] = true}, ...)
  self.padding_idx, self.max_norm = o.padding_idx, o.max_norm
  self.norm_type = o.norm_type
  self.scale_grad_by_freq = o.scale_grad_by_freq
  self.weight = nn.Parameter(la.empty({o.num_embeddings, o.embedding_dim},
    {dtype = o.dtype}))
  self:reset_parameters()
end

function Embedding:reset_parameters()
  init.normal_(self.weight)
  if self.padding_idx then
    la.no_grad(function() self.weight[self.padding_idx]:zero_() end)
  end
end

function Embedding:forward(index)
  return la.embedding(index, self.weight, self.padding_idx, self.max_norm,
    self.norm_type, self.scale_grad_by_freq)
end

function Embedding:extra_repr()
  return self.weight:size(1) .. ", " .. self.weight:size(2)
end

-- The rows of bags of numbers, joined by their mean (the default), sum or max.
local EmbeddingBag = nn.class("EmbeddingBag", Embedding)
nn.EmbeddingBag = EmbeddingBag

function EmbeddingBag:init(...)
  local o = options("EmbeddingBag", {"num_embeddings", "embedding_dim", "mode",
    "dtype"}, {mode = "mean", ["!num_embeddings"] = true,
    ["!embedding_dim"] = true}, ...)
  Embedding.init(self, o.num_embeddings, o.embedding_dim, {dtype = o.dtype})
  self.mode = o.mode
end

-- index: (bags, length), or a list with the offset at which each bag starts.
function EmbeddingBag:forward(index, offsets)
  return la.embedding_bag(index, self.weight, offsets, self.mode)
end

return nn
