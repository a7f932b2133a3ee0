-- What la.onnx.save is tried on: every module of lunarray.nn, each with inputs
-- that suit it, and functions. A row is {name, module or function, inputs}.
local la = require "lunarray"
local nn = require "lunarray.nn"

local list = {}
local function add(name, f, ...) list[#list + 1] = {name, f, {...}} end

la.manual_seed(11)
local line = la.randn(2, 4)
local space = {la.randn(2, 4, 12), la.randn(2, 4, 12, 12),
  la.randn(2, 4, 6, 6, 6)}

-- ---- activations ----

for name in ([[CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh
LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus
Softshrink Softsign Tanh Tanhshrink Identity]]):gmatch "%w+" do
  add(name, nn[name](), line * 3)
end
add("GELU tanh", nn.GELU{approximate = "tanh"}, line)
add("PReLU of channels", nn.PReLU(4), space[2])
add("Threshold", nn.Threshold(0.1, -2), line)
add("Softplus beta", nn.Softplus{beta = 3}, line)
add("CELU alpha", nn.CELU{alpha = 0.5}, line)
add("GLU", nn.GLU(2), line)
for name in ("Softmax LogSoftmax Softmin"):gmatch "%w+" do
  add(name, nn[name](2), line)
end

-- ---- by number of dims ----

for n = 1, 3 do
  local x, d = space[n], n .. "d"
  add("Conv" .. d, nn["Conv" .. d](4, 6, 3, {stride = 2, padding = 1}), x)
  add("Conv" .. d .. " groups", nn["Conv" .. d](4, 4, 3, {groups = 2,
    padding = "same", bias = false}), x)
  add("ConvTranspose" .. d, nn["ConvTranspose" .. d](4, 3, 3, {stride = 2,
    padding = 1, output_padding = 1}), x)
  add("MaxPool" .. d, nn["MaxPool" .. d](3, {stride = 2, padding = 1}), x)
  add("AvgPool" .. d, nn["AvgPool" .. d](3, {stride = 2, padding = 1}), x)
  add("AvgPool" .. d .. " inside", nn["AvgPool" .. d](3, {stride = 2,
    padding = 1, count_include_pad = false}), x)
  add("MaxPool" .. d .. " ceil", nn["MaxPool" .. d](3, {stride = 2,
    ceil_mode = true}), x)
  add("AdaptiveAvgPool" .. d, nn["AdaptiveAvgPool" .. d](1), x)
  add("AdaptiveAvgPool" .. d .. " windows", nn["AdaptiveAvgPool" .. d](5), x)
  add("AdaptiveMaxPool" .. d, nn["AdaptiveMaxPool" .. d](2), x)
  add("AdaptiveMaxPool" .. d .. " windows", nn["AdaptiveMaxPool" .. d](5), x)
  add("BatchNorm" .. d, nn["BatchNorm" .. d](4), x)
  add("InstanceNorm" .. d, nn["InstanceNorm" .. d](4, {affine = true}), x)
  add("InstanceNorm" .. d .. " running", nn["InstanceNorm" .. d](4,
    {track_running_stats = true}), x)
  add("Dropout" .. d, nn["Dropout" .. d](), x)
  if n < 3 then add("LPPool" .. d, nn["LPPool" .. d](2, 3), x) end
end
for name in ("Dropout AlphaDropout FeatureAlphaDropout"):gmatch "%w+" do
  add(name, nn[name](), line)
end
add("BatchNorm1d of rows", nn.BatchNorm1d(4), line)

-- ---- layers ----

add("Linear", nn.Linear(4, 3), line)
add("Linear without bias", nn.Linear(12, 3, {bias = false}), space[1])
add("Bilinear", nn.Bilinear(4, 4, 3), line, la.randn(2, 4))
add("Embedding", nn.Embedding(7, 3), la.randint(1, 7, {2, 5}))
add("EmbeddingBag", nn.EmbeddingBag(7, 3, {mode = "mean"}),
  la.randint(1, 7, {2, 5}))
add("EmbeddingBag sum", nn.EmbeddingBag(7, 3, {mode = "sum"}),
  la.randint(1, 7, {2, 5}))
add("EmbeddingBag max", nn.EmbeddingBag(7, 3, {mode = "max"}),
  la.randint(1, 7, {2, 5}))
add("LayerNorm", nn.LayerNorm(4), line)
add("RMSNorm", nn.RMSNorm(4), line)
add("GroupNorm", nn.GroupNorm(2, 4), space[2])
add("LocalResponseNorm", nn.LocalResponseNorm(3), space[2])
add("LocalResponseNorm even", nn.LocalResponseNorm(2), space[2])
add("ChannelShuffle", nn.ChannelShuffle(2), space[2])
add("PixelShuffle", nn.PixelShuffle(2), space[2])
add("PixelUnshuffle", nn.PixelUnshuffle(2), space[2])
add("Flatten", nn.Flatten(), space[2])
add("Unflatten", nn.Unflatten(2, {2, 2}), line)
add("Fold", nn.Fold({4, 5}, 2, {padding = 1}), la.randn(2, 8, 30))
add("columns joined", nn.Fold({6, 6}, {3, 2}, {stride = 2, dilation = {1, 2}}),
  la.randn(2, 12, 4))
add("Unfold", nn.Unfold({2, 3}, {padding = 1, stride = 2}), space[2])
add("Upsample nearest", nn.Upsample{scale_factor = 2}, space[2])
for _, mode in ipairs{"bilinear", "bicubic"} do
  add("Upsample " .. mode, nn.Upsample{size = {17, 9}, mode = mode}, space[2])
  add("Upsample corners " .. mode, nn.Upsample{size = {17, 20}, mode = mode,
    align_corners = true}, space[2])
end
add("UpsamplingBilinear2d", nn.UpsamplingBilinear2d{scale_factor = 2},
  space[2])
add("UpsamplingNearest2d", nn.UpsamplingNearest2d{size = {18, 30}}, space[2])
add("CosineSimilarity", nn.CosineSimilarity(2), line, la.randn(2, 4))
add("PairwiseDistance", nn.PairwiseDistance(), line, la.randn(2, 4))
add("PairwiseDistance 1", nn.PairwiseDistance{p = 1}, line, la.randn(2, 4))

-- ---- recurrent layers ----

local steps = la.randn(5, 2, 4)
for name in ("LSTM GRU RNN"):gmatch "%w+" do
  add(name, nn[name](4, 3), steps)
  add(name .. " both", nn[name](4, 3, {num_layers = 2, bidirectional = true,
    batch_first = true}), steps)
  add(name .. "Cell", nn[name .. "Cell"](4, 3), line)
end
add("RNN relu", nn.RNN(4, 3, {nonlinearity = "relu"}), steps)
add("LSTM state", function(x, h, c)
  return list.lstm(x, {h, c})
end, steps, la.randn(2, 3), la.randn(2, 3))
list.lstm = nn.LSTM(4, 3)

-- ---- attention ----

add("MultiheadAttention", nn.MultiheadAttention(4, 2), steps, steps, steps)
add("MultiheadAttention first", nn.MultiheadAttention(4, 2, {
  batch_first = true}), la.randn(2, 5, 4), la.randn(2, 6, 4),
  la.randn(2, 6, 4))
add("TransformerEncoderLayer", nn.TransformerEncoderLayer(4, 2, 8), steps)
add("TransformerEncoderLayer first", nn.TransformerEncoderLayer(4, 2, 8,
  {norm_first = true, activation = "gelu", batch_first = true}), steps)
add("TransformerDecoderLayer", nn.TransformerDecoderLayer(4, 2, 8), steps,
  la.randn(3, 2, 4))
add("TransformerEncoder", nn.TransformerEncoder(
  nn.TransformerEncoderLayer(4, 2, 8), 2, nn.LayerNorm(4)), steps)
add("TransformerDecoder", nn.TransformerDecoder(
  nn.TransformerDecoderLayer(4, 2, 8), 2, nn.LayerNorm(4)), steps,
  la.randn(3, 2, 4))
add("Transformer", nn.Transformer(4, 2, {num_encoder_layers = 1,
  num_decoder_layers = 1, dim_feedforward = 8}), steps, la.randn(3, 2, 4))

-- ---- losses ----

local half = line:sigmoid()
local other = la.randn(2, 4)
local classes = la.tensor{2, 4}
local sign = la.tensor{{1., -1, 1, 1}, {-1., 1, -1, 1}}
add("MSELoss", nn.MSELoss(), line, other)
add("MSELoss none", nn.MSELoss{reduction = "none"}, line, other)
add("L1Loss", nn.L1Loss(), line, other)
add("SmoothL1Loss", nn.SmoothL1Loss(), line, other)
add("HuberLoss", nn.HuberLoss{delta = 0.7}, line, other)
add("BCELoss", nn.BCELoss(), half, other:sigmoid())
add("BCEWithLogitsLoss", nn.BCEWithLogitsLoss(), line, other:sigmoid())
add("CrossEntropyLoss", nn.CrossEntropyLoss(), line, classes)
add("CrossEntropyLoss weights", nn.CrossEntropyLoss{weight = la.rand(4),
  label_smoothing = 0.1}, line, classes)
add("CrossEntropyLoss probabilities", nn.CrossEntropyLoss(), line,
  other:softmax(2))
add("CrossEntropyLoss pictures", nn.CrossEntropyLoss{reduction = "sum"},
  la.randn(2, 4, 3, 3), la.randint(1, 4, {2, 3, 3}))
add("NLLLoss", nn.NLLLoss(), line:log_softmax(2), classes)
add("NLLLoss weights", nn.NLLLoss{weight = la.rand(4)},
  line:log_softmax(2), classes)
add("KLDivLoss", nn.KLDivLoss{reduction = "batchmean"}, line:log_softmax(2),
  other:softmax(2))
add("PoissonNLLLoss", nn.PoissonNLLLoss(), line, other:exp())
add("GaussianNLLLoss", nn.GaussianNLLLoss(), line, other, half)
add("HingeEmbeddingLoss", nn.HingeEmbeddingLoss(), line, sign)
add("SoftMarginLoss", nn.SoftMarginLoss(), line, sign)
add("MarginRankingLoss", nn.MarginRankingLoss{margin = 0.3}, line, other, sign)
add("CosineEmbeddingLoss", nn.CosineEmbeddingLoss(), line, other,
  la.tensor{1, -1})
add("TripletMarginLoss", nn.TripletMarginLoss(), line, other, half)
add("MultiLabelSoftMarginLoss", nn.MultiLabelSoftMarginLoss(), line,
  sign:relu())
add("MultiMarginLoss", nn.MultiMarginLoss(), line, classes)
add("MultiLabelMarginLoss", nn.MultiLabelMarginLoss(), line,
  la.tensor{{2, 4, 0, 1}, {3, 0, 0, 0}})

-- ---- networks of the examples ----

add("a policy", nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)),
  line)
add("digits", nn.Sequential(nn.Conv2d(1, 16, 3, {padding = 1}), nn.ReLU(),
  nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
  nn.Flatten(), nn.Dropout(0.3), nn.Linear(32 * 16, 10)),
  la.rand(2, 1, 8, 8))

local Digits = nn.class "Digits"
function Digits:init()
  self.conv1 = nn.Conv2d(1, 16, 3, {padding = 1})
  self.norm1 = nn.BatchNorm2d(16)
  self.conv2 = nn.Conv2d(16, 32, 3, {padding = 1})
  self.norm2 = nn.BatchNorm2d(32)
  self.head = nn.Linear(32 * 2 * 2, 10)
end
function Digits:forward(x)
  x = la.max_pool2d(self.norm1(self.conv1(x)):relu(), 2)
  x = la.max_pool2d(self.norm2(self.conv2(x)):relu(), 2)
  return self.head(x:flatten(2))
end
add("digits, norms", Digits(), la.rand(2, 1, 8, 8))

local Writer = nn.class "Writer"
function Writer:init()
  self.embed, self.at = nn.Embedding(20, 8), nn.Embedding(6, 8)
  self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
  self.look = nn.MultiheadAttention(8, 4, {batch_first = true})
  self.think = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
  self.out = nn.Linear(8, 20)
  self.later = la.ones(6, 6, {dtype = "bool"}):triu(1)
end
function Writer:forward(x)
  local h = self.embed(x) + self.at(la.arange(1, x:size(2) + 1))
  local y = self.norm1(h)
  local seen, weights = self.look(y, y, y, {attn_mask = self.later,
    average_attn_weights = false})
  h = h + seen
  return self.out(h + self.think(self.norm2(h))), weights
end
add("letters by attention", Writer(), la.randint(1, 20, {2, 6}))

local Steps = nn.class "Steps"
function Steps:init()
  self.embed = nn.Embedding(20, 8)
  self.gru = nn.GRU(8, 16, {batch_first = true})
  self.head = nn.Linear(16, 20)
end
function Steps:forward(x, state)
  local y, last = self.gru(self.embed(x), state)
  return self.head(y), last
end
add("letters by steps", Steps(), la.randint(1, 20, {2, 6}),
  la.zeros(1, 2, 16))

-- ---- functions ----

add("sums and powers", function(x, y)
  return (x * 2 - y / 3) ^ 2 + x:abs():sqrt(), x:sum(1), y:mean(2, true),
    x:amax(2), x:std(2), x:var(), x:logsumexp(2), x:prod(1), x:norm()
end, line, other)
add("written in place", function(x, y)
  local z = x:clone()
  z:add_(y):mul_(2):relu_()
  local sum = la.zeros(4)
  for k = 1, 2 do sum:add_(z[k]) end
  return z, sum
end, line, other)
add("parts", function(x, y)
  local a, b = x:chunk(2, 2)[1], y:split(1, 2)[3]
  return la.stack({x, y}, 2), la.cat({a, b}, 2), x[{1, {2, 3}}], x:flip(2),
    x[{{}, la.tensor{4, -1, 1}}], x:roll({1}, {2}), x:tril(), x:diagonal()
end, line, other)
add("integers", function(x)
  return x // 2, x % 3, -x, x:gt(2):any(2), x:eq(x):all(1), x:to("float32"),
    x:cumsum(2), x:clamp(1, 3), la.where(x:gt(2), x, 0)
end, la.tensor{{1, 2, 3, 4}, {-5, 6, -7, 8}})
add("orders", function(x)
  local a, at = x:sort(2)
  local b, of = x:topk(2, 2)
  return a, at, b, of, x:argmax(2), x:cumprod(2), x:gather(2,
    la.tensor{{1, 2}, {4, 3}})
end, line)
add("products", function(x, y)
  return x:matmul(y:t()), la.einsum("ij,kj->ik", x, y), x:mv(y[1]),
    la.bmm(x:unsqueeze(1), y:t():unsqueeze(1)),
    la.addmm(la.ones(2, 2), x, y:t(), {beta = 0.5, alpha = 2}),
    la.outer(x[1], y[2]), la.scaled_dot_product_attention(x:view(1, 1, 2, 4),
      y:view(1, 1, 2, 4), y:view(1, 1, 2, 4), {is_causal = true})
end, line, other)
add("doubles", nn.Sequential(nn.Linear(4, 3, {dtype = "float64"}), nn.SiLU(),
  nn.LayerNorm(3, {dtype = "float64"})), line:double())

return list
