-- lunarray.words.nn: modules of networks.
-- The format is in lunarray.help.rows.
return [==[
== nn.class
: nn.class(name)
A kind of modules: define init(self, ...) and forward(self, ...). Modules
and parameters in fields are found by themselves.
== nn.Module
: nn.Module
What all modules have: parameters, named_parameters, buffers, children,
modules, train, eval, zero_grad, to, apply, requires_grad_, state_dict,
load_state_dict, register_buffer, clone, hooks; tostring shows the tree.
Class:adopt(object) gives an object this class's methods.
== nn.Parameter
: nn.Parameter(tensor[, requires_grad])
A tensor that a module trains.
== nn.is_module
: nn.is_module(value)
Is the value a module?
== nn.is_parameter
: nn.is_parameter(value)
Is the value a parameter?
== nn.init
: nn.init
Initial values in place: uniform_, normal_, constant_, zeros_, ones_, eye_,
xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_,
trunc_normal_.
== nn.clip_grad_norm_
: nn.clip_grad_norm_(parameters, max_norm[, norm_type])
Scale all gradients so that their norm together is at most max_norm; returns
the norm before.
aka: clip_grad_norm_
== nn.clip_grad_value_
: nn.clip_grad_value_(parameters, limit)
Clamp all gradients to -limit .. limit.
aka: clip_grad_value_
== nn.Sequential
: nn.Sequential(module, ...)
Modules one after the other; indices from 1, names in state_dict from "0".
== nn.ModuleList
: nn.ModuleList{module, ...}
A list of modules that belong to the parent.
== nn.ModuleDict
: nn.ModuleDict{name = module}
Modules by name.
== nn.ParameterList
: nn.ParameterList{tensor, ...}
A list of parameters of the parent.
== nn.Identity
: nn.Identity()
Returns its input.
== nn.Linear
: nn.Linear(in_features, out_features[, bias = true])
x (..., in) to x w^T + b (..., out). weight (out, in).
== nn.Bilinear
: nn.Bilinear(in1, in2, out[, bias = true])
x1^T A x2 + b over the last dims.
== nn.Flatten
: nn.Flatten([start_dim = 2, end_dim = -1])
Joins dims to one.
== nn.Unflatten
: nn.Unflatten(dim, sizes)
Splits a dim.
== nn.Embedding
: nn.Embedding(num, dim[, options])
Rows of a table by index from 1: (...) to (..., dim). options: padding_idx.
== nn.EmbeddingBag
: nn.EmbeddingBag(num, dim[, {mode = "mean"}])
Means, sums or maxima of the rows of bags: a matrix of indices, or a list
and the offsets at which its bags start.
== nn.Dropout
: nn.Dropout([p = 0.5])
In training zeroes elements with probability p and scales the rest by 1 / (1
- p).
== nn.AlphaDropout, nn.FeatureAlphaDropout
: nn.{AlphaDropout,FeatureAlphaDropout}([p = 0.5])
Dropout that keeps mean and variance of what SELU gives.
== nn.Conv1d, nn.Conv2d, nn.Conv3d
: nn.Conv{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride=, padding=,
  dilation=, groups=, bias=}])
Cross-correlation of (N, C, ...) with learned kernels; padding: numbers,
"same" or "valid".
== nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
: nn.ConvTranspose{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride=,
  padding=, output_padding=, dilation=, groups=, bias=}])
The gradient of a convolution by its input, as a layer: it enlarges.
== nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d
: nn.MaxPool{1d,2d,3d}(kernel_size[, {stride=, padding=, dilation=, ceil_mode=,
  return_indices=}])
The largest value of each window.
== nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d
: nn.AvgPool{1d,2d,3d}(kernel_size[, {stride=, padding=, ceil_mode=,
  count_include_pad=}])
The mean of each window.
== nn.LPPool1d, nn.LPPool2d
: nn.LPPool{1d,2d}(norm_type, kernel_size[, {stride=, ceil_mode=}])
The p-norm of each window.
== nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d
: nn.AdaptiveAvgPool{1d,2d,3d}(output_size)
Means over windows such that the result has this size.
== nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d
: nn.AdaptiveMaxPool{1d,2d,3d}(output_size)
The largest values over windows such that the result has this size.
== nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
: nn.BatchNorm{1d,2d,3d}(num_features[, {eps = 1e-5, momentum = 0.1, affine =
  true, track_running_stats = true}])
Normalises each channel over the batch; in eval by the running mean and
variance.
== nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d
: nn.InstanceNorm{1d,2d,3d}(num_features[, {eps=, momentum=, affine=,
  track_running_stats=}])
Normalises each channel of each sample.
== nn.Dropout1d, nn.Dropout2d, nn.Dropout3d
: nn.Dropout{1d,2d,3d}([p = 0.5])
Drops whole channels.
== nn.LayerNorm
: nn.LayerNorm(normalized_shape[, {eps = 1e-5, elementwise_affine = true, bias =
  true}])
Normalises over the last dims.
== nn.GroupNorm
: nn.GroupNorm(num_groups, num_channels[, {eps=, affine=}])
Normalises groups of channels of each sample.
== nn.RMSNorm
: nn.RMSNorm(normalized_shape[, {eps=, elementwise_affine=}])
Divides by the root of the mean square over the last dims.
== nn.RNN
: nn.RNN(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false}])
Elman's network with tanh or relu over (time, batch, features): out, h.
== nn.LSTM
: nn.LSTM(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false}])
Long short-term memory over (time, batch, features): out, h, c.
== nn.GRU
: nn.GRU(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false}])
Gated recurrent units over (time, batch, features): out, h.
== nn.RNNCell
: nn.RNNCell(input_size, hidden_size[, {bias=, nonlinearity=}])
One step: h from x and h.
== nn.LSTMCell
: nn.LSTMCell(input_size, hidden_size[, {bias=}])
One step: h, c from x, h, c.
== nn.GRUCell
: nn.GRUCell(input_size, hidden_size[, {bias=}])
One step: h from x and h.
== nn.MultiheadAttention
: nn.MultiheadAttention(embed_dim, num_heads[, {dropout=, bias=, batch_first=}])
out, weights of attention in several heads; call with query, key, value and
{attn_mask=, key_padding_mask=, need_weights=, is_causal=}.
== nn.TransformerEncoderLayer
: nn.TransformerEncoderLayer(d_model, nhead[, {dim_feedforward = 2048, dropout =
  0.1, activation=, batch_first=, norm_first=}])
Attention to itself and a feed-forward net, each with residual and layer
norm.
== nn.TransformerEncoder
: nn.TransformerEncoder(layer, num_layers[, {norm=}])
Copies of an encoder layer, one after the other.
== nn.ReLU
: nn.ReLU()
max(x, 0).
== nn.ReLU6
: nn.ReLU6()
x between 0 and 6.
== nn.LeakyReLU
: nn.LeakyReLU([negative_slope = 0.01])
x, or slope x below 0.
== nn.PReLU
: nn.PReLU([num_parameters = 1, init = 0.25])
LeakyReLU with a learned slope.
== nn.ELU
: nn.ELU([alpha = 1])
x, or alpha (exp(x) - 1) below 0.
== nn.CELU
: nn.CELU([alpha = 1])
x, or alpha (exp(x / alpha) - 1) below 0.
== nn.SELU
: nn.SELU()
ELU scaled so that activations normalise themselves.
== nn.GELU
: nn.GELU([{approximate = "none"}])
x times the normal distribution function; "tanh" for the approximation.
== nn.GLU
: nn.GLU([dim = -1])
First half times the sigmoid of the second.
== nn.SiLU
: nn.SiLU()
x sigmoid(x).
== nn.Mish
: nn.Mish()
x tanh(softplus(x)).
== nn.Sigmoid
: nn.Sigmoid()
1 / (1 + exp(-x)).
== nn.LogSigmoid
: nn.LogSigmoid()
log(sigmoid(x)).
== nn.Tanh
: nn.Tanh()
The hyperbolic tangent.
== nn.Tanhshrink
: nn.Tanhshrink()
x - tanh(x).
== nn.Softplus
: nn.Softplus([beta = 1, threshold = 20])
log(1 + exp(beta x)) / beta, x above the threshold.
== nn.Softshrink
: nn.Softshrink([lambda = 0.5])
x moved toward 0 by lambda.
== nn.Softsign
: nn.Softsign()
x / (1 + |x|).
== nn.Softmax
: nn.Softmax([dim])
exp(x) / sum exp(x) along a dim.
== nn.Softmin
: nn.Softmin([dim])
Softmax of -x.
== nn.LogSoftmax
: nn.LogSoftmax([dim])
log(softmax(x)).
== nn.Hardshrink
: nn.Hardshrink([lambda = 0.5])
x, or 0 within lambda of 0.
== nn.Hardsigmoid
: nn.Hardsigmoid()
x / 6 + 1/2 between 0 and 1.
== nn.Hardswish
: nn.Hardswish()
x hardsigmoid(x).
== nn.Hardtanh
: nn.Hardtanh([min = -1, max = 1])
x between min and max.
== nn.Threshold
: nn.Threshold(threshold, value)
x above the threshold, else value.
== nn.MSELoss
: nn.MSELoss([options])
(x - y)^2. {reduction = "mean", "sum" or "none"}.
== nn.L1Loss
: nn.L1Loss([options])
|x - y|. {reduction = "mean", "sum" or "none"}.
== nn.SmoothL1Loss
: nn.SmoothL1Loss([options])
Quadratic within beta, linear outside. {reduction = "mean", "sum" or
"none"}.
== nn.HuberLoss
: nn.HuberLoss([options])
Quadratic within delta, linear outside. {reduction = "mean", "sum" or
"none"}.
== nn.NLLLoss
: nn.NLLLoss([options])
-x at the class label (from 1) of log-probabilities. weight, ignore_index.
{reduction = "mean", "sum" or "none"}.
== nn.CrossEntropyLoss
: nn.CrossEntropyLoss([options])
Of logits (N, C, ...) against class labels from 1 or probabilities. weight,
ignore_index, label_smoothing. {reduction = "mean", "sum" or "none"}.
== nn.BCELoss
: nn.BCELoss([options])
Binary cross-entropy of probabilities. weight. {reduction = "mean", "sum" or
"none"}.
== nn.BCEWithLogitsLoss
: nn.BCEWithLogitsLoss([options])
Binary cross-entropy of logits. weight, pos_weight. {reduction = "mean",
"sum" or "none"}.
== nn.KLDivLoss
: nn.KLDivLoss([options])
y (log y - x), x being log-probabilities. log_target. {reduction = "mean",
"sum" or "none"}.
== nn.SoftMarginLoss
: nn.SoftMarginLoss([options])
log(1 + exp(-y x)), y being 1 or -1. {reduction = "mean", "sum" or "none"}.
== nn.HingeEmbeddingLoss
: nn.HingeEmbeddingLoss([options])
x where y is 1, max(0, margin - x) where it is -1. {reduction = "mean",
"sum" or "none"}.
== nn.MarginRankingLoss
: nn.MarginRankingLoss([options])
max(0, -y (x1 - x2) + margin). {reduction = "mean", "sum" or "none"}.
== nn.CosineEmbeddingLoss
: nn.CosineEmbeddingLoss([options])
1 - cos(x1, x2), or the cosine beyond the margin where y is -1. {reduction =
"mean", "sum" or "none"}.
== nn.TripletMarginLoss
: nn.TripletMarginLoss([options])
max(0, d(a, p) - d(a, n) + margin). p, eps, swap. {reduction = "mean", "sum"
or "none"}.
== nn.CosineSimilarity
: nn.CosineSimilarity([{dim = 2, eps = 1e-8}])
Of two tensors along a dim.
== nn.PairwiseDistance
: nn.PairwiseDistance([{p = 2, eps = 1e-6, keepdim=}])
The p-norm of the difference along the last dim.
== nn.GaussianNLLLoss
: nn.GaussianNLLLoss([{full=, eps=, reduction=}])
Negative log-likelihood of y under a normal distribution of mean x and the
given variance.
== nn.PoissonNLLLoss
: nn.PoissonNLLLoss([{log_input=, full=, eps=, reduction=}])
Negative log-likelihood of counts under a Poisson distribution.
== nn.MultiMarginLoss
: nn.MultiMarginLoss([{p=, margin=, weight=, reduction=}])
Hinge of several classes, labels from 1.
== nn.MultiLabelMarginLoss
: nn.MultiLabelMarginLoss([{reduction=}])
Hinge of several labels a sample.
== nn.MultiLabelSoftMarginLoss
: nn.MultiLabelSoftMarginLoss([{weight=, reduction=}])
Binary cross-entropy over several labels a sample.
== nn.CTCLoss
: nn.CTCLoss([{blank=, reduction=, zero_infinity=}])
Connectionist temporal classification of log-probabilities against
sequences.
== nn.Upsample, nn.UpsamplingNearest2d, nn.UpsamplingBilinear2d
: nn.Upsampl{e,ingNearest2d,ingBilinear2d}([{size=, scale_factor=, mode=}])
interpolate as a layer.
== nn.PixelShuffle, nn.PixelUnshuffle
: nn.Pixel{Shuffle,Unshuffle}(factor)
Groups of channels to squares of pixels, and back.
== nn.ChannelShuffle
: nn.ChannelShuffle(groups)
channel_shuffle as a layer.
== nn.LocalResponseNorm
: nn.LocalResponseNorm(size[, {alpha = 1e-4, beta = 0.75, k = 1}])
Divides by a power of the mean square over neighbouring channels.
== nn.FractionalMaxPool2d, nn.FractionalMaxPool3d
: nn.FractionalMaxPool{2d,3d}(kernel_size[, {output_size=, output_ratio=}])
The largest values of windows at random steps.
== nn.Unfold
: nn.Unfold(kernel_size[, {dilation=, padding=, stride=}])
im2col as a layer.
== nn.Fold
: nn.Fold(output_size, kernel_size[, {dilation=, padding=, stride=}])
col2im as a layer.
== multi_head_attention_forward
: multi_head_attention_forward(query, key, value, embed_dim, num_heads,
  in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias[,
  {attn_mask=, key_padding_mask=, is_causal=, need_weights=,
  average_attn_weights=, dropout_p=}])
MultiheadAttention as a function of its weights; biases may be nil.
== nn.TransformerDecoderLayer
: nn.TransformerDecoderLayer(d_model, nhead[, {options of the encoder's}])
With attention to a memory between; call with target, memory and {tgt_mask=,
memory_mask=, tgt_key_padding_mask=, tgt_is_causal=, ...}.
== nn.TransformerDecoder
: nn.TransformerDecoder(layer, num_layers[, {norm=}])
Copies of a decoder layer, one after the other.
== nn.Transformer
: nn.Transformer([{d_model = 512, nhead = 8, num_encoder_layers = 6, ...}])
Encoder and decoder; call with source, target and {src_mask=, tgt_mask=}.
]==]
