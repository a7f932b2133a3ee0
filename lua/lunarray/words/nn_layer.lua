-- lunarray.words.nn_layer: layers with weights, pooling, norms, recurrent nets,
-- attention as modules. The format is in lunarray.help.rows.
return [==[
== nn.Identity
: nn.Identity() -> module
Returns its input. It replaces a layer in a net that expects one.
> nn.Identity()(la.tensor{1, 2})
tensor([1, 2])
see: nn.Sequential
== nn.Linear
: nn.Linear(in_features, out_features[, {bias = true, dtype =}]) -> module
y = x W^T + b over the last dim: (..., in_features) to (..., out_features).
weight is (out, in), bias (out); both begin uniform within 1 /
sqrt(in_features).
> layer = nn.Linear(3, 2)
> layer, layer(la.ones(5, 3)).shape
Linear(in_features=3, out_features=2, bias=true)    {5, 2}
! A last dim that is not in_features.
see: linear, nn.Bilinear, nn.Sequential
== nn.Bilinear
: nn.Bilinear(in1_features, in2_features, out_features[, {bias = true, dtype
  =}]) -> module
y[o] = x1^T A[o] x2 + b[o] over the last dims of two inputs, for features that
interact.
> nn.Bilinear(2, 3, 4)(la.ones(5, 2), la.ones(5, 3)).shape
{5, 4}
see: bilinear, nn.Linear
== nn.Flatten
: nn.Flatten([start_dim = 2, end_dim = -1]) -> module
Joins dims to one. Use it between convolutions and nn.Linear.
> nn.Flatten()(la.zeros(2, 3, 4)).shape
{2, 12}
see: flatten, nn.Unflatten
== nn.Unflatten
: nn.Unflatten(dim, sizes) -> module
Splits one dim into several, whose sizes multiply to its size.
> nn.Unflatten(2, {3, 4})(la.zeros(2, 12)).shape
{2, 3, 4}
see: unflatten, nn.Flatten
== nn.Embedding
: nn.Embedding(num_embeddings, embedding_dim[, {padding_idx =, max_norm =,
  norm_type =, scale_grad_by_freq =, dtype =}]) -> module
A learned vector for each of num_embeddings words: integers (...) from 1 become
(..., embedding_dim). The row padding_idx begins as zeros and is not trained;
rows longer than max_norm are shortened.
> words = nn.Embedding(10, 4)
> words(la.tensor{{1, 2}, {10, 1}}).shape
{2, 2, 4}
! An index outside 1 .. num_embeddings.
see: embedding, nn.EmbeddingBag
== nn.EmbeddingBag
: nn.EmbeddingBag(num_embeddings, embedding_dim[, {mode = "mean", dtype =}])
  -> module
The mean, "sum" or "max" of the vectors of bags of words: a matrix with a bag in
each row, or a list and the positions at which its bags start.
> bags = nn.EmbeddingBag(10, 4)
> bags(la.tensor{1, 2, 3}, la.tensor{1, 3}).shape
{2, 4}
see: embedding_bag, nn.Embedding
== nn.Dropout
: nn.Dropout([p = 0.5]) -> module
While training, every element is zeroed with probability p and the others are
scaled by 1 / (1 - p); in eval mode nothing happens. It prevents overfitting.
> nn.Dropout(0.5):eval()(la.ones(3))
tensor([1., 1., 1.])
> nn.Dropout(1)(la.ones(3))
tensor([0., 0., 0.])
! p outside 0 .. 1.
source: Srivastava and others: Dropout (2014)
see: dropout, nn.Dropout2d, nn.Module:eval
== nn.AlphaDropout, nn.FeatureAlphaDropout
: nn.{AlphaDropout,FeatureAlphaDropout}([p = 0.5]) -> module
Dropout that keeps the mean and the variance of the results of SELU.
FeatureAlphaDropout drops whole channels.
> nn.AlphaDropout(0.2):eval()(la.ones(2))
tensor([1., 1.])
source: Klambauer and others: Self-normalizing neural networks (2017)
see: nn.SELU, nn.Dropout
== nn.Dropout1d, nn.Dropout2d, nn.Dropout3d
: nn.Dropout{1d,2d,3d}([p = 0.5]) -> module
Drops whole channels of (N, C, ...). Neighbours in a signal or an image are so
alike that single dropped elements could be guessed.
> nn.Dropout2d(0.5):eval()(la.ones(1, 2, 1, 1)).shape
{1, 2, 1, 1}
see: nn.Dropout, dropout2d
== nn.Conv1d, nn.Conv2d, nn.Conv3d
: nn.Conv{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride = 1,
  padding = 0, dilation = 1, groups = 1, bias = true, dtype =}]) -> module
Cross-correlation of (N, in_channels, ...) with learned kernels. Sizes of
kernel, stride, padding and dilation are a number or a list, one for each dim;
padding may be "same" or "valid". groups = in_channels is a depthwise
convolution.
> layer = nn.Conv2d(3, 8, 3, {padding = 1})
> layer(la.zeros(2, 3, 10, 10)).shape, layer.weight.shape
{2, 8, 10, 10}    {8, 3, 3, 3}
! groups that do not divide the channels; an input of other channels.
see: conv1d, conv2d, conv3d, nn.ConvTranspose2d, nn.MaxPool2d
== nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
: nn.ConvTranspose{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride =
  1, padding = 0, output_padding = 0, groups = 1, bias = true, dilation = 1,
  dtype =}]) -> module
The gradient of a convolution by its input, as a layer. It enlarges, as decoders
do: a size n becomes (n - 1) stride - 2 padding + dilation (kernel - 1) +
output_padding + 1.
> nn.ConvTranspose2d(8, 3, 2, {stride = 2})(la.zeros(1, 8, 5, 5)).shape
{1, 3, 10, 10}
see: conv_transpose1d, conv_transpose2d, conv_transpose3d, nn.Conv2d,
  nn.Upsample
== nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d
: nn.MaxPool{1d,2d,3d}(kernel_size[, {stride =, padding =, dilation =,
  return_indices =, ceil_mode =}]) -> module
The largest value of each window. Without a stride it is the size of the window.
With return_indices the positions are a second result.
> nn.MaxPool2d(2)(la.range(16.):view(1, 1, 4, 4))
tensor([[[[ 6.,  8.],
          [14., 16.]]]])
see: max_pool1d, max_pool2d, max_pool3d, nn.AvgPool2d, nn.AdaptiveMaxPool2d
== nn.AvgPool1d
: nn.AvgPool1d(kernel_size[, {stride =, padding =, ceil_mode =,
  count_include_pad =}]) -> module
The layer gives the mean of each window of the last dim: a moving average that
also thins out.
> nn.AvgPool1d(2)(la.tensor{{1., 3, 5, 7}})
tensor([[2., 6.]])
see: avg_pool1d, nn.MaxPool1d
== nn.AvgPool2d, nn.AvgPool3d
: nn.AvgPool{2d,3d}(kernel_size[, {stride =, padding =, ceil_mode =,
  count_include_pad =, divisor_override =}]) -> module
The mean of each window; divisor_override divides the sum by another number.
> nn.AvgPool2d(2)(la.range(16.):view(1, 1, 4, 4))
tensor([[[[ 3.5000,  5.5000],
          [11.5000, 13.5000]]]])
see: avg_pool2d, avg_pool3d, nn.MaxPool2d, nn.AdaptiveAvgPool2d
== nn.LPPool1d, nn.LPPool2d
: nn.LPPool{1d,2d}(norm_type, kernel_size[, {stride =, ceil_mode =}]) -> module
The p-norm of each window without absolute values: (sum x^p)^(1/p). It lies
between the average (p = 1) and the maximum (large p).
> nn.LPPool1d(2, 2)(la.tensor{{3., 4, 6, 8}})
tensor([[ 5., 10.]])
see: lp_pool1d, lp_pool2d, nn.AvgPool1d
== nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d
: nn.AdaptiveAvgPool{1d,2d,3d}(output_size) -> module
Means over windows chosen so that the result has this size, whatever the input's
size is. With 1 it is the mean of a whole channel, before a classifier.
> nn.AdaptiveAvgPool2d(1)(la.range(16.):view(1, 1, 4, 4))
tensor([[[[8.5000]]]])
see: adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, nn.AvgPool2d
== nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d
: nn.AdaptiveMaxPool{1d,2d,3d}(output_size[, {return_indices =}]) -> module
The largest values over windows chosen so that the result has this size. For
inputs of any size before nn.Linear.
> nn.AdaptiveMaxPool2d(2)(la.range(16.):view(1, 1, 4, 4))
tensor([[[[ 6.,  8.],
          [14., 16.]]]])
see: adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, nn.MaxPool2d
== nn.Unfold
: nn.Unfold(kernel_size[, {dilation =, padding =, stride =}]) -> module
Every window of (N, C, H, W) as a column: im2col as a layer.
> nn.Unfold(2)(la.zeros(1, 3, 4, 4)).shape
{1, 12, 9}
see: im2col, nn.Fold
== nn.Fold
: nn.Fold(output_size, kernel_size[, {dilation =, padding =, stride =}]) ->
  module
Columns back to an image, where overlapping windows add up: col2im as a layer.
> nn.Fold({4, 4}, 2)(la.ones(1, 4, 9)).shape
{1, 1, 4, 4}
see: col2im, nn.Unfold
== nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
: nn.BatchNorm{1d,2d,3d}(num_features[, {eps = 1e-5, momentum = 0.1, affine =
  true, track_running_stats = true, dtype =}]) -> module
Each channel minus its mean over the batch, divided by sqrt(variance + eps),
times weight plus bias. In eval mode by the running mean and variance, which
move by momentum each step while training (momentum = false: their plain mean
over all steps). The dims: 2 or 3 for 1d, 4 for 2d, 5 for 3d.
> net = nn.BatchNorm1d(1, {eps = 0})
> net(la.tensor{{1.}, {3}})
tensor([[-1.],
        [ 1.]], grad_fn=<AddBackward>)
> net.running_mean, net:eval()(la.tensor{{0.}}).shape
tensor([0.2000])    {1, 1}
! An input of other dims.
source: Ioffe, Szegedy: Batch normalization (2015)
see: batch_norm, nn.LayerNorm, nn.Module:eval
== nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d
: nn.InstanceNorm{1d,2d,3d}(num_features[, {eps = 1e-5, momentum = 0.1,
  affine = false, track_running_stats = false, dtype =}]) -> module
Normalises each channel of each sample by its own mean and variance. Use it
where the contrast of a single image must not matter.
> nn.InstanceNorm1d(1, {eps = 0})(la.tensor{{{1., 3}}})
tensor([[[-1.,  1.]]])
source: Ulyanov, Vedaldi, Lempitsky: Instance normalization (2016)
see: instance_norm, nn.GroupNorm
== nn.LayerNorm
: nn.LayerNorm(normalized_shape[, {eps = 1e-5, elementwise_affine = true, bias =
  true, dtype =}]) -> module
Normalises each sample by mean and variance over its last dims, whose sizes you
give; times weight plus bias. It does the same in training and in use, and for a
batch of one.
> nn.LayerNorm(2, {eps = 0})(la.tensor{{1., 3}, {10, 20}})
tensor([[-1.,  1.],
        [-1.,  1.]], grad_fn=<Native_layer_normBackward>)
source: Ba, Kiros, Hinton: Layer normalization (2016)
see: layer_norm, nn.RMSNorm, nn.BatchNorm1d
== nn.GroupNorm
: nn.GroupNorm(num_groups, num_channels[, {eps = 1e-5, affine = true, dtype =}])
  -> module
Normalises groups of channels of each sample by their mean and variance. Use it
for images when batches are small.
> nn.GroupNorm(1, 2, {eps = 0})(la.tensor{{{1.}, {3}}})
tensor([[[-1.],
         [ 1.]]], grad_fn=<AddBackward>)
! num_channels that num_groups does not divide.
source: Wu, He: Group normalization (2018)
see: group_norm, nn.LayerNorm, nn.InstanceNorm2d
== nn.RMSNorm
: nn.RMSNorm(normalized_shape[, {eps =, elementwise_affine = true, dtype =}])
  -> module
x / sqrt(mean(x^2) + eps) over the last dims, times weight. Without eps it is
the dtype's.
> nn.RMSNorm(2)(la.tensor{3., 3})
tensor([1., 1.], grad_fn=<Native_rms_normBackward>)
source: Zhang, Sennrich: Root mean square layer normalization (2019)
see: rms_norm, nn.LayerNorm
== nn.RNN
: nn.RNN(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false, nonlinearity = "tanh", dtype =}])
  -> module
Elman's recurrent network: h' = tanh(W x + b + U h + c), or relu. Call it with x
(time, batch, input_size) and, if you like, h (layers * directions, batch,
hidden_size): it gives the outputs of all steps and the last h. batch_first: x
is (batch, time, input_size). x may also be (time, input_size).
> out, h = nn.RNN(3, 4)(la.zeros(5, 2, 3))
> out.shape, h.shape
{5, 2, 4}    {1, 2, 4}
! An input whose last dim is not input_size, or of no step.
source: Elman: Finding structure in time (1990)
see: nn.LSTM, nn.GRU, nn.RNNCell, nn.clip_grad_norm_
== nn.LSTM
: nn.LSTM(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false, dtype =}]) -> module
Long short-term memory over (time, batch, input_size). Called with x[, h, c] it
gives out, h, c.
> out, h, c = nn.LSTM(3, 4, {num_layers = 2})(la.zeros(5, 2, 3))
> out.shape, h.shape, c.shape
{5, 2, 4}    {2, 2, 4}    {2, 2, 4}
source: Hochreiter, Schmidhuber: Long short-term memory (1997)
see: nn.GRU, nn.LSTMCell
== nn.GRU
: nn.GRU(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
  false, dropout = 0, bidirectional = false, dtype =}]) -> module
Gated recurrent units over (time, batch, input_size). Called with x[, h] it
gives out, h. It does three quarters of the LSTM's work.
> out, h = nn.GRU(3, 4, {bidirectional = true})(la.zeros(5, 2, 3))
> out.shape, h.shape
{5, 2, 8}    {2, 2, 4}
source: Cho and others: Learning phrase representations (2014)
see: nn.LSTM, nn.GRUCell
== nn.RNNCell
: nn.RNNCell(input_size, hidden_size[, {bias = true, nonlinearity = "tanh",
  dtype =}]) -> module
One step of RNN: cell(x[, h]) gives the next h. Use it in loops of your own.
> nn.RNNCell(3, 4)(la.zeros(2, 3)).shape
{2, 4}
see: nn.RNN, rnn_cell
== nn.LSTMCell
: nn.LSTMCell(input_size, hidden_size[, {bias = true, dtype =}]) -> module
One step of LSTM: cell(x[, h, c]) gives the next h and c. For loops that decide
at each step what comes next.
> h, c = nn.LSTMCell(3, 4)(la.zeros(2, 3))
> h.shape, c.shape
{2, 4}    {2, 4}
see: nn.LSTM, lstm_cell
== nn.GRUCell
: nn.GRUCell(input_size, hidden_size[, {bias = true, dtype =}]) -> module
One step of GRU: cell(x[, h]) gives the next h. For loops that decide at each
step what comes next.
> nn.GRUCell(3, 4)(la.zeros(2, 3)).shape
{2, 4}
see: nn.GRU, gru_cell
== nn.MultiheadAttention
: nn.MultiheadAttention(embed_dim, num_heads[, {dropout = 0, bias = true,
  batch_first = false, dtype =}]) -> module
Attention in several heads: attention(query, key, value[, {attn_mask =,
key_padding_mask =, need_weights =, is_causal =, average_attn_weights =}]) gives
the result (time, batch, embed_dim) and the weights (batch, time, time of key),
nil with need_weights = false. True in a mask means: do not look there.
> attention = nn.MultiheadAttention(8, 2, {batch_first = true})
> x = la.zeros(1, 5, 8)
> out, weights = attention(x, x, x)
> out.shape, weights.shape
{1, 5, 8}    {1, 5, 5}
! embed_dim that num_heads does not divide.
source: Vaswani and others: Attention is all you need (2017)
see: scaled_dot_product_attention, nn.TransformerEncoderLayer
== nn.TransformerEncoderLayer
: nn.TransformerEncoderLayer(d_model, nhead[, {dim_feedforward = 2048, dropout =
  0.1, activation = "relu", layer_norm_eps = 1e-5, batch_first = false,
  norm_first = false, bias = true, dtype =}]) -> module
Attention of a sequence to itself and a feed-forward net, each with a residual
and a layer norm (before it with norm_first). layer(x[, {src_mask =,
src_key_padding_mask =, is_causal =}]).
> layer = nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16})
> layer(la.zeros(5, 2, 8)).shape
{5, 2, 8}
source: Vaswani and others (2017)
see: nn.TransformerEncoder, nn.MultiheadAttention
== nn.TransformerEncoder
: nn.TransformerEncoder(layer, num_layers[, norm]) -> module
Copies of an encoder layer, one after the other, and a norm at the end.
encoder(x[, {mask =, src_key_padding_mask =, is_causal =}]).
> layer = nn.TransformerEncoderLayer(8, 2, {dim_feedforward = 16})
> nn.TransformerEncoder(layer, 2)(la.zeros(5, 2, 8)).shape
{5, 2, 8}
see: nn.TransformerEncoderLayer, nn.Transformer
== nn.TransformerDecoderLayer
: nn.TransformerDecoderLayer(d_model, nhead[, {dim_feedforward = 2048, dropout =
  0.1, activation = "relu", layer_norm_eps = 1e-5, batch_first = false,
  norm_first = false, bias = true, dtype =}]) -> module
As the encoder layer, with attention to a memory in between: layer(target,
memory[, {tgt_mask =, memory_mask =, tgt_key_padding_mask =,
memory_key_padding_mask =, tgt_is_causal =, memory_is_causal =}]).
> layer = nn.TransformerDecoderLayer(8, 2, {dim_feedforward = 16})
> layer(la.zeros(3, 2, 8), la.zeros(5, 2, 8)).shape
{3, 2, 8}
see: nn.TransformerDecoder, nn.TransformerEncoderLayer
== nn.TransformerDecoder
: nn.TransformerDecoder(layer, num_layers[, norm]) -> module
Copies of a decoder layer, one after the other, and a norm at the end.
> layer = nn.TransformerDecoderLayer(8, 2, {dim_feedforward = 16})
> nn.TransformerDecoder(layer, 2)(la.zeros(3, 2, 8), la.zeros(5, 2,
>>   8)).shape
{3, 2, 8}
see: nn.TransformerDecoderLayer, nn.Transformer
== nn.Transformer
: nn.Transformer([{d_model = 512, nhead = 8, num_encoder_layers = 6,
  num_decoder_layers = 6, dim_feedforward = 2048, dropout = 0.1, activation =
  "relu", layer_norm_eps = 1e-5, batch_first = false, norm_first = false, bias =
  true, dtype =}]) -> module
Encoder and decoder: net(source, target[, {src_mask =, tgt_mask =, memory_mask
=, src_key_padding_mask =, tgt_key_padding_mask =, memory_key_padding_mask =,
src_is_causal =, tgt_is_causal =, memory_is_causal =}]).
> net = nn.Transformer{d_model = 8, nhead = 2, num_encoder_layers = 1,
>>   num_decoder_layers = 1, dim_feedforward = 16}
> net(la.zeros(5, 2, 8), la.zeros(3, 2, 8)).shape
{3, 2, 8}
source: Vaswani and others (2017)
see: nn.TransformerEncoder, nn.TransformerDecoder
]==]
