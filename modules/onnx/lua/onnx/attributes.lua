-- lunarray.onnx.attributes: what attributes the operators have, in any version,
-- by the schemas of the ONNX project; and the words of those that are one of a
-- few. A file with others means something that no row here knows.
local TEXT = [[
Abs Ceil Exp Floor Log Max Mean Min Neg PRelu Reciprocal Relu Sigmoid Sqrt Sum
  Tanh: consumed_inputs
Acos Acosh ArrayFeatureExtractor Asin Asinh Atan Atanh BitwiseAnd BitwiseNot
  BitwiseOr BitwiseXor Cos Cosh Det DynamicQuantizeLinear Erf Expand
  GlobalAveragePool GlobalMaxPool GreaterOrEqual HardSwish Identity IsNaN
  LessOrEqual MatMul MatMulInteger Mish NonZero Not OptionalGetElement
  OptionalHasElement QLinearMatMul Round SequenceAt SequenceConstruct
  SequenceErase SequenceInsert SequenceLength Sign Sin Sinh Size Softplus
  Softsign StringConcat Tan Tile Where:
Add Div Mul Sub: axis broadcast consumed_inputs
AffineGrid: align_corners
And Equal Greater Less Or Pow Xor: axis broadcast
ArgMax ArgMin: axis keepdims select_last_index
Attention: is_causal kv_num_heads left_window_size q_num_heads
  qk_matmul_output_mode right_window_size scale softcap softmax_precision
AveragePool: auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID ceil_mode
  count_include_pad dilations kernel_shape pads strides
BatchNormalization: consumed_inputs epsilon is_test momentum spatial
  training_mode
Bernoulli: dtype seed
Binarizer: threshold
BitCast: to
BitShift: direction=LEFT|RIGHT
BlackmanWindow HammingWindow HannWindow: output_datatype periodic
Cast: round_mode saturate to
CastLike: round_mode saturate
CastMap: cast_to=TO_FLOAT|TO_STRING|TO_INT64 map_form=DENSE|SPARSE max_map
CategoryMapper: cats_int64s cats_strings default_int64 default_string
CausalConvWithState: activation
Celu SwiGLU Swish ThresholdedRelu: alpha
CenterCropPad MeanVarianceNormalization Squeeze Unsqueeze: axes
Clip: consumed_inputs max min
Col2Im: dilations pads strides
Compress Concat Flatten Gather GatherElements Hardmax LogSoftmax OneHot
  Scatter Softmax: axis
ConcatFromSequence: axis new_axis
Constant: sparse_value value value_float value_floats value_int value_ints
  value_string value_strings
ConstantOfShape: value
Conv ConvInteger QLinearConv: auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID
  dilations group kernel_shape pads strides
ConvTranspose: auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID dilations group
  kernel_shape output_padding output_shape pads strides
CumProd CumSum: exclusive reverse
DFT: axis inverse onesided
DeformConv: dilations group kernel_shape offset_group pads strides
DepthToSpace: blocksize mode=DCR|CRD
DequantizeLinear: axis block_size output_dtype
DictVectorizer: int64_vocabulary string_vocabulary
Dropout: consumed_inputs is_test ratio seed
Einsum: equation
Elu LeakyRelu: alpha consumed_inputs
EyeLike: dtype k
FeatureVectorizer: inputdimensions
GRU: activation_alpha activation_beta activations clip
  direction=forward|reverse|bidirectional hidden_size layout
  linear_before_reset output_sequence
GatherND: batch_dims
Gelu: approximate=none|tanh
Gemm: alpha beta broadcast transA transB
GlobalLpPool: p
GridSample: align_corners mode=linear|bilinear|nearest|cubic|bicubic
  padding_mode=zeros|border|reflection
GroupNormalization: epsilon num_groups stash_type
HardSigmoid: alpha beta consumed_inputs
If: else_branch then_branch
ImageDecoder: pixel_format
Imputer: imputed_value_floats imputed_value_int64s replaced_value_float
  replaced_value_int64
InstanceNormalization: consumed_inputs epsilon
IsInf: detect_negative detect_positive
LRN: alpha beta bias size
LSTM: activation_alpha activation_beta activations clip
  direction=forward|reverse|bidirectional hidden_size input_forget layout
  output_sequence
LabelEncoder: classes_strings default_float default_int64 default_string
  default_tensor keys_floats keys_int64s keys_strings keys_tensor
  values_floats values_int64s values_strings values_tensor
LayerNormalization RMSNormalization: axis epsilon stash_type
LinearAttention: chunk_size kv_num_heads q_num_heads scale update_rule
LinearClassifier: classlabels_ints classlabels_strings coefficients intercepts
  multi_class post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT
LinearRegressor: coefficients intercepts
  post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT targets
Loop SequenceMap: body
LpNormalization: axis p
LpPool: auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID ceil_mode dilations
  kernel_shape p pads strides
MaxPool: auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID ceil_mode dilations
  kernel_shape pads storage_order strides
MaxRoiPool: pooled_shape spatial_scale
MaxUnpool: kernel_shape pads strides
MelWeightMatrix: output_datatype
Mod: fmod
Multinomial: dtype sample_size seed
NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss: ignore_index
  reduction=none|sum|mean
NonMaxSuppression: center_point_box
Normalizer: norm=MAX|L1|L2
OneHotEncoder: cats_int64s cats_strings zeros
Optional: type
Pad: mode=constant|reflect|edge|wrap paddings pads value
QuantizeLinear: axis block_size output_dtype precision saturate
RNN: activation_alpha activation_beta activations clip
  direction=forward|reverse|bidirectional hidden_size layout output_sequence
RandomNormal: dtype mean scale seed shape
RandomNormalLike: dtype mean scale seed
RandomUniform: dtype high low seed shape
RandomUniformLike: dtype high low seed
Range: stash_type
ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
  ReduceProd ReduceSum ReduceSumSquare: axes keepdims noop_with_empty_axes
RegexFullMatch: pattern
Reshape: allowzero consumed_inputs shape
Resize: antialias axes coordinate_transformation_mode cubic_coeff_a
  exclude_outside extrapolation_value
  keep_aspect_ratio_policy=stretch|not_larger|not_smaller mode
  nearest_mode=round_prefer_floor|round_prefer_ceil|floor|ceil
ReverseSequence: batch_axis time_axis
RoiAlign: coordinate_transformation_mode=half_pixel|output_half_pixel
  mode=avg|max output_height output_width sampling_ratio spatial_scale
RotaryEmbedding: interleaved num_heads rotary_embedding_dim
STFT: onesided
SVMClassifier: classlabels_ints classlabels_strings coefficients kernel_params
  kernel_type post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT prob_a
  prob_b rho support_vectors vectors_per_class
SVMRegressor: coefficients kernel_params kernel_type n_supports one_class
  post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT rho support_vectors
Scaler: offset scale
Scan: body directions num_scan_inputs scan_input_axes scan_input_directions
  scan_output_axes scan_output_directions
ScatterElements: axis reduction
ScatterND: reduction
Selu: alpha consumed_inputs gamma
SequenceEmpty: dtype
Shape: end start
Shrink: bias lambd
Slice: axes ends starts
SpaceToDepth: blocksize mode
Split: axis num_outputs split
SplitToSequence: axis keepdims
StringNormalizer: case_change_action=NONE|LOWER|UPPER is_case_sensitive locale
  stopwords
StringSplit: delimiter maxsplit
TensorScatter: axis mode=linear|circular
TfIdfVectorizer: max_gram_length max_skip_count min_gram_length
  mode=TF|IDF|TFIDF ngram_counts ngram_indexes pool_int64s pool_strings
  weights
TopK: axis k largest sorted
Transpose: perm
TreeEnsemble: aggregate_function leaf_targetids leaf_weights membership_values
  n_targets nodes_falseleafs nodes_falsenodeids nodes_featureids
  nodes_hitrates nodes_missing_value_tracks_true nodes_modes nodes_splits
  nodes_trueleafs nodes_truenodeids post_transform tree_roots
TreeEnsembleClassifier: base_values base_values_as_tensor class_ids
  class_nodeids class_treeids class_weights class_weights_as_tensor
  classlabels_int64s classlabels_strings nodes_falsenodeids nodes_featureids
  nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true
  nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values
  nodes_values_as_tensor
  post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT
TreeEnsembleRegressor: aggregate_function=AVERAGE|SUM|MIN|MAX base_values
  base_values_as_tensor n_targets nodes_falsenodeids nodes_featureids
  nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true
  nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values
  nodes_values_as_tensor
  post_transform=NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT target_ids
  target_nodeids target_treeids target_weights target_weights_as_tensor
Trilu: upper
Unique: axis sorted
Upsample: height_scale mode=nearest|linear|bilinear scales width_scale
ZipMap: classlabels_int64s classlabels_strings
]]

-- name of an operator -> attribute -> true, or the set of its words.
local known = {}
for line in TEXT:gsub("\n  ", " "):gmatch "[^\n]+" do
  local names, list = line:match "^([^:]*):(.*)$"
  local set = {}
  for name, words in list:gmatch "([%w_]+)=?(%S*)" do
    set[name] = true
    if words ~= "" then
      set[name] = {}
      for word in words:gmatch "[^|]+" do set[name][word] = true end
    end
  end
  for name in names:gmatch "%S+" do known[name] = set end
end

local attributes = {}

-- For each attribute of a node that its operator has not, or whose word it does
-- not know, a call of found(text).
function attributes.check(op, given, found)
  local set = known[op]
  if not set then return end
  local names = {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local words, value = set[name], given[name]
    if not words then
      found(("the attribute '%s'"):format(name))
    elseif words ~= true and not words[value] then
      found(("%s '%s'"):format(name, tostring(value)))
    end
  end
end

return attributes
