-- lunarray.help_layers: what la.help says about layers of images and
-- transformers.
return [==[
nn.Upsampl{e,ingNearest2d,ingBilinear2d}([{size=, scale_factor=, mode=}])
    interpolate as a layer.
nn.Pixel{Shuffle,Unshuffle}(factor)
    Groups of channels to squares of pixels, and back.
nn.ChannelShuffle(groups)
    channel_shuffle as a layer.
nn.LocalResponseNorm(size[, {alpha = 1e-4, beta = 0.75, k = 1}])
    Divides by a power of the mean square over neighbouring channels.
nn.FractionalMaxPool{2d,3d}(kernel_size[, {output_size=, output_ratio=}])
    The largest values of windows at random steps.
nn.Unfold(kernel_size[, {dilation=, padding=, stride=}])
    im2col as a layer.
nn.Fold(output_size, kernel_size[, {dilation=, padding=, stride=}])
    col2im as a layer.
multi_head_attention_forward(query, key, value, embed_dim, num_heads,
      in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias[,
      {attn_mask=, key_padding_mask=, is_causal=, need_weights=,
      average_attn_weights=, dropout_p=}])
    MultiheadAttention as a function of its weights; biases may be nil.
nn.TransformerDecoderLayer(d_model, nhead[, {options of the encoder's}])
    With attention to a memory between; call with target, memory and {tgt_mask=,
    memory_mask=, tgt_key_padding_mask=, tgt_is_causal=, ...}.
nn.TransformerDecoder(layer, num_layers[, {norm=}])
    Copies of a decoder layer, one after the other.
nn.Transformer([{d_model = 512, nhead = 8, num_encoder_layers = 6, ...}])
    Encoder and decoder; call with source, target and {src_mask=, tgt_mask=}.
]==]
