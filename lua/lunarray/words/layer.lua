-- lunarray.words.layer: convolutions, pooling, resampling, norms, attention and
-- recurrent steps as functions; layers with weights of their own are in nn. The
-- format is in lunarray.help.rows.
return [==[
== conv1d
With kernels of hundreds of taps and one channel, signal.convolve is quicker: it
chooses Fourier transforms.
> la.conv1d(la.tensor{{{1., 2, 3, 4}}}, la.tensor{{{1., 0, -1}}})
tensor([[[-2., -2.]]])
see: conv2d, convolve, nn.Conv1d
== conv2d
Images as {batch, channels, height, width}. The kernel is not mirrored
(convolve does that).
> image = la.range(9):view(1, 1, 3, 3):float()
> la.conv2d(image, la.tensor{{{{1., 0}, {0, -1}}}})
tensor([[[[-4., -4.],
          [-4., -4.]]]])
> la.conv2d(image, la.ones(2, 1, 3, 3), nil, 1, "same").shape
{1, 2, 3, 3}
- padding: a number, one for each dim, "valid" or "same"
! Channels of input and weight that do not fit to each other: the text shows
  both.
see: nn.Conv2d, conv_transpose2d, max_pool2d, im2col
== conv3d
> la.conv3d(la.ones(1, 1, 3, 3, 3), la.ones(1, 1, 3, 3, 3))
tensor([[[[[27.]]]]])
see: conv2d, nn.Conv3d
== conv_transpose1d
> la.conv_transpose1d(la.tensor{{{1., 2}}}, la.tensor{{{1., 1}}}, nil, 2)
tensor([[[1., 1., 2., 2.]]])
see: conv_transpose2d, conv1d
== conv_transpose2d
> la.conv_transpose2d(la.ones(1, 1, 2, 2), la.ones(1, 1, 2, 2),
>>   nil, 2).shape
{1, 1, 4, 4}
see: nn.ConvTranspose2d, interpolate
== conv_transpose3d
> la.conv_transpose3d(la.ones(1, 1, 2, 2, 2), la.ones(1, 1, 2, 2, 2),
>>   nil, 2).shape
{1, 1, 4, 4, 4}
see: conv_transpose2d
== convolution
The operation behind conv1d, conv2d, conv3d and the transposed ones.
> la.convolution(la.ones(1, 1, 4), la.ones(1, 1, 3), nil, {1}, {0}, {1},
>>   false, {0}, 1)
tensor([[[3., 3.]]])
see: conv2d
== convolution_grad_input
> g, x, w = la.ones(1, 1, 2), la.ones(1, 1, 4), la.ones(1, 1, 3)
> la.convolution_grad_input(g, x, w, {1}, {0}, {1}, false, {0}, 1)
tensor([[[1., 2., 2., 1.]]])
see: convolution_backward
== convolution_grad_weight
> g, x, w = la.ones(1, 1, 2), la.ones(1, 1, 4), la.ones(1, 1, 3)
> la.convolution_grad_weight(g, x, w, {1}, {0}, {1}, false, {0}, 1)
tensor([[[2., 2., 2.]]])
see: convolution_backward
== convolution_backward
> g, x, w = la.ones(1, 1, 2), la.ones(1, 1, 4), la.ones(1, 1, 3)
> _, _, bias = la.convolution_backward(g, x, w, {1}, {0}, {1}, false,
>>   {0}, 1)
> bias
tensor([2.])
see: convolution
== max_pool1d
> la.max_pool1d(la.tensor{{{1., 3, 2, 4}}}, 2)
tensor([[[3., 4.]]])
see: max_pool2d, nn.MaxPool1d
== max_pool2d
> x = la.range(16):view(1, 1, 4, 4):float()
> la.max_pool2d(x, 2)
tensor([[[[ 6.,  8.],
          [14., 16.]]]])
> _, indices = la.max_pool2d(x, 2, {return_indices = true})
> indices
tensor([[[[ 6,  8],
          [14, 16]]]])
see: nn.MaxPool2d, avg_pool2d, max_unpool2d, adaptive_max_pool2d
== max_pool3d
The greatest value of each window of a volume {n, channels, depth, height,
width}: scans and clips of video.
> la.max_pool3d(la.ones(1, 1, 4, 4, 4), 2).shape
{1, 1, 2, 2, 2}
see: max_pool2d
== avg_pool1d
With stride 1 it is a moving average.
> la.avg_pool1d(la.tensor{{{1., 3, 2, 4}}}, 2)
tensor([[[2., 3.]]])
see: avg_pool2d
== avg_pool2d
To halve an image softly; max_pool2d keeps the strongest.
> la.avg_pool2d(la.range(16):view(1, 1, 4, 4):float(), 2)
tensor([[[[ 3.5000,  5.5000],
          [11.5000, 13.5000]]]])
see: max_pool2d, adaptive_avg_pool2d
== avg_pool3d
The mean of each window of a volume {n, channels, depth, height, width}: scans
and clips of video.
> la.avg_pool3d(la.ones(1, 1, 4, 4, 4), 2).shape
{1, 1, 2, 2, 2}
see: avg_pool2d
== adaptive_avg_pool1d
For inputs of any length before a layer of fixed size.
> la.adaptive_avg_pool1d(la.tensor{{{1., 2, 3, 4, 5}}}, 2)
tensor([[[2., 4.]]])
see: adaptive_avg_pool2d
== adaptive_avg_pool2d
Makes images of any size equally large: use it before the last linear layer.
> la.adaptive_avg_pool2d(la.ones(1, 8, 13, 17), {1, 1}).shape
{1, 8, 1, 1}
see: avg_pool2d, adaptive_max_pool2d
== adaptive_avg_pool3d
For volumes of any size before a layer of fixed size.
> la.adaptive_avg_pool3d(la.ones(1, 1, 5, 5, 5), 1).shape
{1, 1, 1, 1, 1}
see: adaptive_avg_pool2d
== adaptive_max_pool1d
> la.adaptive_max_pool1d(la.tensor{{{1., 5, 3, 4, 2}}}, 2)
tensor([[[5., 4.]]])
see: adaptive_max_pool2d
== adaptive_max_pool2d
> la.adaptive_max_pool2d(la.ones(1, 8, 13, 17), 3).shape
{1, 8, 3, 3}
see: adaptive_avg_pool2d
== adaptive_max_pool3d
> la.adaptive_max_pool3d(la.ones(1, 1, 5, 5, 5), 1).shape
{1, 1, 1, 1, 1}
see: adaptive_max_pool2d
== lp_pool1d
Between mean (p = 1) and maximum (large p).
> la.lp_pool1d(la.tensor{{{3., 4, 0, 1}}}, 2, 2)
tensor([[[5., 1.]]])
see: lp_pool2d, avg_pool1d
== lp_pool2d
Between mean (p = 1) and maximum (large p).
> la.lp_pool2d(la.ones(1, 1, 4, 4), 2, 2)
tensor([[[[2., 2.],
          [2., 2.]]]])
see: lp_pool1d
== max_unpool1d
> values, indices = la.max_pool1d(la.tensor{{{1., 3, 4, 2}}}, 2,
>>   {return_indices = true})
> la.max_unpool1d(values, indices, 2)
tensor([[[0., 3., 4., 0.]]])
see: max_pool1d
== max_unpool2d
> values, indices = la.max_pool2d(la.ones(1, 1, 4, 4), 2,
>>   {return_indices = true})
> la.max_unpool2d(values, indices, 2).shape
{1, 1, 4, 4}
see: max_pool2d
== max_unpool3d
Puts pooled values back where the maximum was (the indices that max_pool3d
returned), zeros elsewhere: decoders of volumes.
> values, indices = la.max_pool3d(la.ones(1, 1, 4, 4, 4), 2,
>>   {return_indices = true})
> la.max_unpool3d(values, indices, 2).shape
{1, 1, 4, 4, 4}
see: max_pool3d
== im2col
It makes a product of matrices of a convolution.
> la.im2col(la.range(9):view(1, 1, 3, 3):float(), 2)
tensor([[[1., 2., 4., 5.],
         [2., 3., 5., 6.],
         [4., 5., 7., 8.],
         [5., 6., 8., 9.]]])
see: col2im, unfold, conv2d
== col2im
> columns = la.im2col(la.ones(1, 1, 3, 3), 2)
> la.col2im(columns, {3, 3}, 2)
tensor([[[[1., 2., 1.],
          [2., 4., 2.],
          [1., 2., 1.]]]])
see: im2col
== normalize
Gives rows length 1. (la.game.normalize works along the last dim and keeps
zeros.)
> la.tensor{{3., 4}, {0, 2}}:normalize()
tensor([[0.6000, 0.8000],
        [0.0000, 1.0000]])
see: norm, cosine_similarity, game.normalize
== layer_norm
> la.tensor{{1., 2, 3}}:layer_norm({3})
tensor([[-1.2247,  0.0000,  1.2247]])
source: Ba, Kiros and Hinton, Layer normalization, 2016.
see: nn.LayerNorm, rms_norm, group_norm
== rms_norm
The norm of most language models: layer_norm without its mean.
> la.tensor{{1., 2, 3}}:rms_norm({3})
tensor([[0.4629, 0.9258, 1.3887]])
source: Zhang and Sennrich, Root mean square layer normalization, 2019.
see: layer_norm, nn.RMSNorm
== group_norm
> la.tensor{{{1., 3}, {2, 4}}}:group_norm(1)
tensor([[[-1.3416,  0.4472],
         [-0.4472,  1.3416]]])
source: Wu and He, Group normalization, 2018.
see: nn.GroupNorm, instance_norm
== instance_norm
> la.tensor{{{1., 3}, {20, 40}}}:instance_norm()
tensor([[[-1.0000,  1.0000],
         [-1.0000,  1.0000]]])
see: nn.InstanceNorm2d, group_norm
== batch_norm
> la.tensor{{1., 10}, {3, 30}}:batch_norm{training = true}
tensor([[-1.0000, -1.0000],
        [ 1.0000,  1.0000]])
source: Ioffe and Szegedy, Batch normalization, 2015.
see: nn.BatchNorm2d
== native_layer_norm
> out, mean, rstd = la.native_layer_norm(la.tensor{{1., 2, 3}}, {3})
> mean
tensor([[2.]])
see: layer_norm
== native_layer_norm_backward
> x = la.tensor{{1., 2, 4}}
> out, mean, rstd = la.native_layer_norm(x, {3})
> la.native_layer_norm_backward(la.tensor{{1., 0, 0}}, x, {3}, mean, rstd)
tensor([[ 0.2291, -0.3436,  0.1145]])
see: native_layer_norm
== native_rms_norm
> out, rstd = la.native_rms_norm(la.tensor{{1., 2, 4}}, {3})
> rstd
tensor([[0.3780]])
see: rms_norm
== native_rms_norm_backward
> x = la.tensor{{1., 2, 4}}
> out, rstd = la.native_rms_norm(x, {3})
> la.native_rms_norm_backward(la.tensor{{1., 0, 0}}, x, {3}, rstd)
tensor([[ 0.3600, -0.0360, -0.0720]])
see: native_rms_norm
== scaled_dot_product_attention
Tensors are {batch, heads, length, features}. With is_causal each position sees
itself and earlier ones only.
> q = la.eye(2):view(1, 1, 2, 2) * 4
> la.scaled_dot_product_attention(q, q, q, {is_causal = true})
tensor([[[[4.0000e+00, 0.0000e+00],
          [4.8817e-05, 4.0000e+00]]]])
source: Vaswani and others, Attention is all you need, 2017; Dao and others,
  FlashAttention, 2022.
see: nn.MultiheadAttention, softmax, rope
== rope
> la.ones(1, 2, 2):rope()
tensor([[[ 1.0000,  1.0000],
         [-0.3012,  1.3818]]])
source: Su and others, RoFormer, 2021.
see: scaled_dot_product_attention
== multi_head_attention_forward
: la.multi_head_attention_forward(query, key, value, embed_dim, num_heads,
  in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias[, {attn_mask=,
  key_padding_mask=, is_causal=, need_weights=, average_attn_weights=,
  dropout_p=}]) -> out: tensor, weights: tensor
MultiheadAttention as a function of its weights; biases may be nil.
> x = la.ones(3, 1, 4)
> out = la.multi_head_attention_forward(x, x, x, 4, 2, la.ones(12, 4), nil,
>>   la.eye(4), nil)
> out.shape
{3, 1, 4}
see: nn.MultiheadAttention, scaled_dot_product_attention
== rnn_cell
> la.rnn_cell(la.ones(1, 2), la.zeros(1, 3), la.full({3, 2}, 0.1),
>>   la.zeros(3, 3))
tensor([[0.1974, 0.1974, 0.1974]])
see: nn.RNNCell, lstm_cell
== lstm_cell
> h, c = la.lstm_cell(la.ones(1, 2), la.zeros(1, 1), la.zeros(1, 1),
>>   la.ones(4, 2),
>>   la.zeros(4, 1))
> h, c
tensor([[0.6083]])    tensor([[0.8491]])
source: Hochreiter and Schmidhuber, Long short-term memory, 1997.
see: nn.LSTMCell, gru_cell
== gru_cell
> la.gru_cell(la.ones(1, 2), la.zeros(1, 1), la.ones(3, 2), la.zeros(3, 1))
tensor([[0.1149]])
source: Cho and others, Learning phrase representations, 2014.
see: nn.GRUCell, lstm_cell
== recurrent_layer
> output = la.recurrent_layer(la.ones(5, 1, 3), la.zeros(3, 3), nil,
>>   la.zeros(1, 3), nil, {kind = "tanh"})
> output.shape
{5, 1, 3}
see: nn.LSTM, nn.GRU
== quantize
Stores weights in an eighth of their memory, for networks that only run.
> values, scales, biases = la.linspace(-1, 1, 64):view(1, 64):quantize()
> values.dtype, values.shape, scales.shape
uint8    {1, 32}    {1, 1}
see: dequantize, quantized_matmul
== dequantize
To compute with weights that were stored in 8 bits.
> w = la.linspace(-1, 1, 64):view(1, 64)
> values, scales, biases = w:quantize{bits = 8}
> (values:dequantize(scales, biases, 8) - w):abs():max():item() < 0.01
true
see: quantize
== quantized_matmul
> w = la.linspace(-1, 1, 128):view(2, 64)
> y = la.ones(1, 64):quantized_matmul(w:quantize())
> (y - la.ones(1, 64):matmul(w:t())):abs():max():item() < 1
true
see: quantize, matmul
== integer_matmul
Exact and the same on every machine, as integers are: what quantized networks
of other tools multiply with.
> a = la.tensor({{200, 3}, {5, 6}}, "uint8")
> b = la.tensor({{1, -2}, {-128, 4}}, "int8")
> la.integer_matmul(a, b, la.tensor(3, "uint8"))
tensor([[ 197, -394],
        [-382,    8]], dtype=int32)
see: integer_pack, integer_conv2d, quantize_dynamic
== integer_pack
> w = la.ones({100, 20}, {dtype = "int8"})
> x = la.ones({1, 100}, {dtype = "uint8"})
> la.integer_matmul(x, w, {packed = la.integer_pack(w)}):sum()
tensor(2000)
see: integer_matmul
== integer_conv2d
> x = la.ones({1, 1, 3, 3}, {dtype = "uint8"})
> la.integer_conv2d(x, x, {padding = 1})[1][1]
tensor([[4, 6, 4],
        [6, 9, 6],
        [4, 6, 4]], dtype=int32)
see: integer_matmul, conv2d
== integer_lstm
The gates stand in lstm_cell's order.
> w = la.ones({2, 8}, {dtype = "int8"})
> h = la.zeros(1, 2)
> output = la.integer_lstm(la.ones(5, 1, 8), w, la.tensor(0.1), h, h)
> output.shape
{5, 1, 2}
see: recurrent_layer, integer_matmul, quantize_dynamic
== integer_requantize
> sums = la.tensor({{100, -300}, {50, 25}}, "int32")
> la.integer_requantize(sums, la.tensor(0.5, "float64"),
>>   la.tensor(10, "uint8"))
tensor([[60,  0],
        [35, 22]], dtype=uint8)
see: integer_matmul, integer_conv2d
== quantize_dynamic
> values, scale, zero = la.quantize_dynamic(la.tensor{-1., 0, 4.1})
> values, zero
tensor([  0,  50, 255], dtype=uint8)    tensor(50, dtype=uint8)
see: integer_matmul, quantize
== sgd_step_
> w = la.tensor{1., 2}
> la.sgd_step_(w, la.tensor{10., 10}, nil, 0.01)
tensor([0.9000, 1.9000])
see: optim.SGD
== adam_step_
> w, m, v = la.tensor{1., 2}, la.zeros(2), la.zeros(2)
> la.adam_step_(w, la.tensor{10., -10}, m, v, nil, 1, {lr = 0.1})
tensor([0.9000, 2.1000])
source: Kingma and Ba, Adam, 2014.
see: optim.Adam
== rmsprop_step_
> w, s = la.tensor{1., 2}, la.zeros(2)
> la.rmsprop_step_(w, la.tensor{10., -10}, s)
tensor([0.9000, 2.1000])
see: optim.RMSprop
== adagrad_step_
> w, s = la.tensor{1., 2}, la.zeros(2)
> la.adagrad_step_(w, la.tensor{10., -10}, s, 0.1)
tensor([0.9000, 2.1000])
see: optim.Adagrad
]==]
