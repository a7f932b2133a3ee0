-- lunarray.foreign: names of PyTorch and NumPy that the library has not, and
-- what to use instead.
--
-- Loaded by src/lua/foreign.c when la, one of its themes, a tensor or the ctx
-- of a la.Function is asked for a name that is not there. A name that nobody
-- has is nil, as in any table.
local la = require "lunarray"
local tensors = require "lunarray.tensors"

local foreign = {}

-- Pairs: names, then the advice for them. A name that begins with ':' is that
-- of a method or property of a tensor, any other one that of a function of the
-- module. A name with an empty advice is looked for in the themes and the
-- module, as every other one is before its advice is given. The name of a
-- method or an operation is nil in the module: operations without a function
-- can be told from those that have one.
local ROWS = {
  -- creating
  "array asanyarray asarray_chkfinite asmatrix from_numpy fromiter Tensor " ..
  "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor " ..
  "IntTensor ShortTensor CharTensor ByteTensor BoolTensor ndarray matrix",
  "la.tensor(table) makes a tensor, with {dtype = } for other dtypes",
  ":new", "la.empty(sizes, {dtype = x.dtype}) or x:new_empty(sizes)",
  "empty_permuted :new_empty_strided", "la.empty_strided or x:permute",
  "identity", "la.eye(n)",
  "tri", "la.ones(n, m):tril()",
  "geomspace", "la.logspace takes the exponents",
  "fromfunction", "la.from_function(sizes, function(i, j) ... end)",
  "frompyfunc vectorize piecewise apply_along_axis apply_over_axes",
  "la.where chooses element by element, x:apply_(function) calls Lua for each",
  "fromfile fromstring fromregex", "la.from_raw(string, dtype, sizes)",
  "from_file memmap", "la.mmap(path)",
  "loadtxt genfromtxt", "la.read_csv(path, {sep = \",\"})",
  "savetxt", "la.write_csv(columns, path)",
  "savez savez_compressed", "la.save({name = x}, \"file.npz\")",
  ":tofile :dump", "la.save(x, path), or x:tostring_raw() for bare bytes",
  ":dumps", "x:tostring_raw()",
  "float_ complex_ intp uint single longlong intc uintc float128 " ..
  "longdouble bool_ str_ object_ bytes_ void datetime64 timedelta64 " ..
  "quint8 qint8 qint32 dtype",
  "dtypes are strings: la.float32 or \"float32\", float64, int64, ...",
  "device", "devices are strings: \"cpu\", \"meta\"",
  "Size", "sizes are lists: {2, 3}",
  "strided sparse_coo sparse_csr layout :layout memory_format",
  "every tensor is dense with strides; memory_format = \"channels_last\" " ..
  "orders them",
  "Inf Infinity PINF infty", "la.inf",
  "NINF", "-la.inf",
  "NaN NAN", "la.nan",
  -- shapes
  "append", "la.cat{x, y}",
  "block bmat", "la.cat of rows made by la.cat",
  "array_split", "la.tensor_split",
  "rollaxis", "la.movedim",
  "unsafe_chunk :unsafe_chunk", "x:chunk",
  "unsafe_split unsafe_split_with_sizes :unsafe_split " ..
  ":unsafe_split_with_sizes",
  "x:split",
  "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy " ..
  "permute_copy select_copy slice_copy split_copy split_with_sizes_copy " ..
  "squeeze_copy t_copy transpose_copy unbind_copy unfold_copy " ..
  "unsqueeze_copy view_copy view_as_complex_copy view_as_real_copy",
  "call the view without \"_copy\", then x:clone()",
  ":copy copy", "x:clone()",
  "copyto", "y:copy_(x)",
  ":resize :resize_as resize", "x:resize_(sizes), or x:reshape(sizes)",
  ":flat", "x:flatten()",
  ":strides", "x:stride()",
  ":fill", "x:fill_(value)",
  "fill fill_diagonal", "x:diagonal():fill_(value)",
  ":base", "x:storage() is equal for tensors on the same memory",
  "may_share_memory shares_memory", "x:storage() == y:storage()",
  ":untyped_storage typed_storage is_storage :storage_type UntypedStorage",
  "x:storage()",
  ":flags", "x:is_contiguous(), x.requires_grad, x:is_conj()",
  ":setflags", "x:requires_grad_()",
  "ascontiguousarray asfortranarray require", "x:contiguous()",
  "isfortran", "x.mT:is_contiguous()",
  ":dim_order", "x:stride()",
  ":data_as :ctypes :const_data_ptr", "x:data_ptr()",
  ":byteswap", "la.from_raw reads little-endian bytes",
  ":getfield :setfield", "x:view(dtype) shows the same bits as another dtype",
  ":name", "x.names holds the names of the dims",
  ":as_subclass", "x",
  "iterable", "x:iter() walks over a dim",
  "typename", "x.dtype",
  -- indices
  "compress extract :compress", "x[mask] or la.masked_select",
  "choose :choose", "la.gather or la.where",
  "delete", "x[mask] keeps the rest",
  "insert", "la.cat of the parts",
  "place putmask", "x[mask] = value",
  "ix_", "x:index_select(dim, index), once for each dim",
  "indices mgrid ogrid", "la.meshgrid(la.range(n), la.range(m))",
  "diag_indices diag_indices_from", "x:diagonal() is a view of them",
  "mask_indices tril_indices_from triu_indices_from",
  "la.tril_indices(rows, columns), la.triu_indices",
  "flatnonzero", "x:flatten():nonzero()",
  "nonzero_static :nonzero_static", "x:nonzero()",
  ":slice_inverse slice_inverse", "x:slice_scatter",
  "lexsort", "x:sort{stable = true} by each key, the last key first",
  "sort_complex", "x:abs():argsort(), then x:index_select",
  "intersect1d", "x[la.isin(x, y)]:unique()",
  "setdiff1d", "x[la.isin(x, y, {invert = true})]:unique()",
  "union1d", "la.cat{x, y}:unique()",
  "setxor1d", "la.unique and la.isin",
  "in1d", "la.isin",
  "nested_iters", "for loops",
  "ndindex ndenumerate nditer", "for loops, or x:iter() over a dim",
  -- element-wise
  "around", "la.round(x, {decimals = n})",
  "rint", "la.round",
  "fabs", "la.abs",
  "degrees", "la.rad2deg",
  "radians", "la.deg2rad",
  "power", "la.pow",
  "mod", "la.remainder",
  "modf", "la.frac and la.trunc",
  "invert", "la.bitwise_not",
  "left_shift", "la.bitwise_left_shift",
  "right_shift", "la.bitwise_right_shift",
  "bitwise_count packbits unpackbits",
  "la.bitwise_right_shift and la.bitwise_and show single bits",
  ":conjugate conjugate", "x:conj()",
  "spacing", "la.nextafter(x, la.inf) - x",
  "real_if_close", "x.real",
  "iscomplex", "x.imag:ne(0)",
  "iscomplexobj", "x:is_complex()",
  "isrealobj", "not x:is_complex()",
  "array_equiv", "la.equal of la.broadcast_tensors(x, y)",
  ":is_same_size is_same_size", "x.shape == y.shape",
  "is_nonzero :is_nonzero", "x:item() ~= 0",
  "isscalar", "type(v) == \"number\"",
  "issubdtype", "la.isdtype(dtype, kind)",
  "common_type mintypecode min_scalar_type", "la.result_type(x, y)",
  "base_repr binary_repr", "string.format",
  "isnat busday_count busday_offset is_busday datetime_as_string " ..
  "datetime_data",
  "there are no dates: keep days or seconds in int64",
  -- reductions
  "ediff1d", "la.diff(x:flatten())",
  "nancumprod", "x:nan_to_num(1):cumprod(dim)",
  "histogram2d histogram_bin_edges", "la.histogram",
  "hash_tensor :hash_tensor", "la.hash(x)",
  "poly polyadd polyder polydiv polyint polymul polysub poly1d",
  "la.polyfit fits coefficients, la.roots finds zeros",
  -- linear algebra
  "matvec vecmat", "la.matmul",
  "einsum_path", "la.einsum",
  "frobenius_norm", "la.linalg.matrix_norm(x, \"fro\")",
  "nuclear_norm", "la.linalg.matrix_norm(x, \"nuc\")",
  "native_norm", "la.norm",
  "norm_except_dim", "la.norm over the other dims",
  "symeig :symeig", "la.linalg.eigh(x), la.linalg.eigvalsh(x)",
  "lobpcg", "the first columns that la.linalg.eigh gives",
  "matrix_sqrth", "roots of the eigenvalues that la.linalg.eigh gives",
  "triangular_solve :triangular_solve",
  "la.linalg.solve_triangular(A, b, {upper = true})",
  "ldl_factor_ex", "la.linalg.ldl_factor",
  ":fft", "",
  -- random numbers
  "random", "la.rand(sizes), la.randn, la.randint, la.Generator(seed)",
  "random_sample ranf sample uniform",
  "la.rand(sizes), or x:uniform_(from, to)",
  "random_integers", "la.randint(low, high, sizes)",
  "standard_normal", "la.randn(sizes)",
  "permutation", "la.randperm(n)",
  "default_rng RandomState", "la.Generator(seed)",
  "set_state get_state get_bit_generator set_bit_generator " ..
  "thread_safe_generator",
  "la.Generator, la.get_rng_state, la.set_rng_state",
  "bytes", "la.randint(0, 255, sizes, {dtype = \"uint8\"})",
  "exponential standard_exponential", "x:exponential_(lambda)",
  "geometric", "x:geometric_(p)",
  "lognormal", "x:log_normal_(mean, std)",
  "standard_cauchy", "x:cauchy_()",
  "noncentral_chisquare standard_gamma f noncentral_f hypergeometric " ..
  "logistic logseries negative_binomial pareto rayleigh standard_t " ..
  "triangular vonmises wald zipf",
  "transform la.rand or la.randn",
  -- networks
  "nn", "local nn = require \"lunarray.nn\"; its functions are those of la",
  "datasets", "la.load, la.read_csv and la.image.load read what is there",
  "distributions",
  "la.normal, la.gamma and others draw; log-probabilities are written out",
  "DataFrame Series", "la.frame{name = column}",
  "groupby group_by pivot_table get_dummies",
  "la.frame has group and agg, pivot and melt",
  "rolling", "la.frame has rolling(x, n, how); la.avg_pool1d, la.signal",
  "functional", "functions of networks are those of la: la.relu, la.linear",
  "optim", "local optim = require \"lunarray.optim\"",
  "utils data DataLoader", "local data = require \"lunarray.data\"",
  "lstm gru rnn_tanh rnn_relu rnn_relu_cell rnn_tanh_cell",
  "nn.LSTM, nn.GRU, nn.RNN of lunarray.nn; la.lstm_cell, la.gru_cell",
  "adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices " ..
  "adaptive_max_pool3d_with_indices max_pool1d_with_indices " ..
  "max_pool2d_with_indices max_pool3d_with_indices",
  "the pooling function without \"_with_indices\": {return_indices = true}",
  "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices " ..
  "lp_pool3d",
  "la.max_pool2d, la.avg_pool2d and their adaptive forms",
  "native_batch_norm batch_norm_backward_elemt batch_norm_backward_reduce " ..
  "batch_norm_elemt batch_norm_gather_stats batch_norm_stats " ..
  "batch_norm_gather_stats_with_counts batch_norm_update_stats",
  "la.batch_norm",
  "native_group_norm", "la.group_norm",
  "native_dropout", "la.dropout",
  "native_channel_shuffle", "channel_shuffle",
  "alpha_dropout_ feature_dropout feature_dropout_ feature_alpha_dropout_",
  "la.dropout; la.bernoulli draws a mask for whole channels",
  "embedding_renorm_", "la.embedding(idx, weight, {max_norm = })",
  "conv_tbc", "la.conv1d of the permuted tensor",
  "affine_grid_generator", "la.affine_grid",
  "grid_sampler grid_sampler_2d grid_sampler_3d", "la.grid_sample",
  "upsample_bilinear upsample_nearest", "la.interpolate(x, {mode = })",
  "linear_cross_entropy", "la.cross_entropy(la.linear(x, w), target)",
  "triplet_margin_with_distance_loss", "la.triplet_margin_loss",
  "grouped_mm scaled_addmm scaled_addmm_ scaled_grouped_mm scaled_mm",
  "la.bmm, or la.matmul for each group",
  "boolean_dispatch assert_int_or_pair has_torch_function " ..
  "has_torch_function_unary has_torch_function_variadic " ..
  "handle_torch_function classproperty get_file_path " ..
  "merge_type_from_type_comment parse_ir parse_schema parse_type_comment " ..
  "unify_type_list import_ir_module import_ir_module_from_buffer Optional",
  "it is a part of PyTorch's own machinery",
  -- gradients
  "is_inference :is_inference is_inference_mode_enabled :volatile",
  "la.no_grad(f) runs f without recording",
  "is_anomaly_enabled set_anomaly_enabled is_anomaly_check_nan_enabled",
  "la.detect_anomaly(f)",
  ":retains_grad", "x:retain_grad()",
  ":grad_dtype", "x.grad.dtype",
  ":output_nr", "x.grad_fn names the operation",
  ":reinforce", "the log-probability's backward()",
  "func", "la.vmap, la.grad, la.jacobian, la.hessian",
  -- what a tensor of another kind has
  "sparse sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor " ..
  "sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor hsmm " ..
  "hspmm spmm dsmm saddmm smm sspaddmm resize_as_sparse_ " ..
  "ccol_indices_copy col_indices_copy crow_indices_copy row_indices_copy " ..
  "indices_copy values_copy :to_sparse :to_sparse_bsc :to_sparse_bsr " ..
  ":to_sparse_coo :to_sparse_csc :to_sparse_csr :coalesce :is_coalesced " ..
  ":indices :values :crow_indices :col_indices :ccol_indices :row_indices " ..
  ":dense_dim :sparse_dim :sparse_mask :sparse_resize_ " ..
  ":sparse_resize_and_clear_ :is_sparse :is_sparse_csr :smm :sspaddmm " ..
  ":resize_as_sparse_ :to_dense :is_nested :to_padded_tensor nested " ..
  "nested_tensor",
  "tensors are dense: la.index_add and x:scatter_add sum by index",
  "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic " ..
  "quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm " ..
  "quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d " ..
  "quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell " ..
  "empty_quantized fake_quantize_per_channel_affine " ..
  "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant " ..
  "choose_qparams_optimized int_repr q_per_channel_axis " ..
  "q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point " ..
  "fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation " ..
  "fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation " ..
  "fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 " ..
  "fbgemm_pack_quantized_matrix :int_repr :is_quantized " ..
  ":q_per_channel_axis :q_per_channel_scales :q_per_channel_zero_points " ..
  ":q_scale :q_zero_point :qscheme quantization ao",
  "la.quantize packs weights to 8 or 4 bits; there are no quantized dtypes",
  "cuda xpu mps mtia backends get_device get_device_module " ..
  "set_default_device get_default_device is_vulkan_available " ..
  "cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution " ..
  "cudnn_convolution_add_relu cudnn_convolution_relu " ..
  "cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable " ..
  "miopen_batch_norm miopen_convolution miopen_convolution_add_relu " ..
  "miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss " ..
  "miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d " ..
  "mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d " ..
  "mkldnn_max_pool3d mkldnn_rnn_layer " ..
  "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 :cuda :ipu :xpu " ..
  ":mtia :pin_memory :is_pinned :record_stream :is_cuda :is_xpu :is_ipu " ..
  ":is_maia :is_mps :is_mtia :is_vulkan :is_xla :is_mkldnn :to_mkldnn " ..
  ":get_device",
  "tensors are in main memory: x.device is \"cpu\" or \"meta\", or a device "
  .. "that the host program registered",
  ":is_cpu", "x.device == \"cpu\"",
  "autocast amp autocast_decrement_nesting autocast_increment_nesting " ..
  "clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype " ..
  "get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype " ..
  "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled " ..
  "is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_dtype " ..
  "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_enabled " ..
  "set_autocast_cpu_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype " ..
  "set_autocast_ipu_enabled set_autocast_xla_dtype " ..
  "set_autocast_xla_enabled",
  "convert with x:to(dtype) or net:to(dtype)",
  "distributed :is_distributed is_distributed",
  "local mpi = require \"lunarray.mpi\"",
  "share_memory_ :share_memory_ :is_shared fork wait multiprocessing " ..
  "prepare_multiprocessing_environment",
  "x:share() gives a handle that la.open takes in another Lua state",
  "jit export fx", "la.compile(f) records f and runs what was recorded",
  -- settings
  "is_deterministic_algorithms_warn_only_enabled " ..
  "set_deterministic_debug_mode get_deterministic_debug_mode",
  "la.use_deterministic(on)",
  "get_float32_matmul_precision set_float32_matmul_precision",
  "float32 products are computed in float32",
  "get_num_interop_threads set_num_interop_threads init_num_threads",
  "la.get_num_threads, la.set_num_threads",
  "set_default_tensor_type", "la.set_default_dtype(dtype)",
  "set_flush_denormal", "subnormal numbers are kept; x:clamp or la.where",
  "set_warn_always is_warn_always_enabled seterr geterr seterrcall " ..
  "geterrcall setbufsize getbufsize errstate",
  "nothing warns: infinities and NaN are results, x:isfinite() finds them",
  "show_config show_runtime compiled_with_cxx11_abi get_include info",
  "la.config(), la.finfo, la.iinfo",
  "array2string array_repr array_str format_float_positional " ..
  "format_float_scientific printoptions",
  "tostring(x), with la.set_printoptions",
  "sym_constrain_range sym_constrain_range_for_size sym_float " ..
  "sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt " ..
  "sym_sum",
  "sizes are plain numbers: use if, while, math.max",
  "test", "the library's tests are run by make test",
  ":numpy", "x:totable(), or x:tostring_raw() for the bytes",
  ":module_load", "y:copy_(x)",
  -- theirs too, in a theme here or not at all
  "svd :svd", "",
  ":lstsq :lu :lu_solve airy_ai bartlett blackman chebyshev_polynomial_t " ..
  "chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w " ..
  "correlate cosine fft2 fftfreq fftn fftshift gaussian general_cosine " ..
  "general_hamming hamming hann hanning hermite_polynomial_h " ..
  "hermite_polynomial_he hfft hfft2 hfftn ifft ifft2 ifftn ifftshift " ..
  "ihfft ihfft2 ihfftn irfft irfft2 irfftn kaiser laguerre_polynomial_l " ..
  "legendre_polynomial_p modified_bessel_k0 modified_bessel_k1 nuttall " ..
  "rfft rfft2 rfftfreq rfftn scaled_modified_bessel_k0 " ..
  "scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t " ..
  "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v " ..
  "shifted_chebyshev_polynomial_w spherical_bessel_j0",
  "",
}

-- The same for the themes and the modules of optimisers and data: names that
-- PyTorch, SciPy or NumPy have there. An empty advice says that nothing here
-- does it.
local THEMES = {
  signal = {
    "convolve2d", "la.signal.convolve(a, v, mode), of any number of dims",
    "correlate2d", "la.signal.correlate(a, v, mode), of any number of dims",
    "choose_conv_method", "la.signal.convolve chooses by itself",
    "medfilt2d", "la.signal.medfilt(x, {n, m})",
    "wiener", "la.signal.medfilt, or a mean by la.signal.convolve",
    "order_filter", "la.signal.medfilt, la.quantile",
    "firls firwin2 firwin_2d remez minimum_phase kaiserord kaiser_beta " ..
    "kaiser_atten", "la.signal.firwin designs by windows",
    "cheby1 cheby2 ellip bessel iirdesign iirfilter iirnotch iirpeak " ..
    "iircomb buttord cheb1ord cheb2ord ellipord",
    "la.signal.butter designs filters",
    "hilbert2", "la.signal.hilbert along one dim",
    "envelope", "la.signal.hilbert(x):abs()",
    "decimate upfirdn", "la.signal.resample_poly, or la.signal.lfilter and " ..
    "x[{{1, -1, step}}]",
    "savgol_coeffs", "la.signal.savgol_filter",
    "freqz_sos", "la.signal.sosfreqz",
    "get_window windows", "la.signal.window(name, n), la.hann_window(n), ...",
    "ShortTimeFFT", "la.signal.stft, la.signal.istft",
    "csd coherence", "la.signal.welch, la.signal.stft",
    "argrelmin argrelmax argrelextrema find_peaks_cwt",
    "la.signal.find_peaks(x)",
    "lfiltic deconvolve", "la.signal.lfilter with zi",
    "square sawtooth", "la.sin(t):sign(), t % 1",
    "unit_impulse", "la.zeros(n), then x[k] = 1",
    "czt zoom_fft CZT czt_points", "la.fft.fft with more points",
    "lombscargle vectorstrength cwt ricker morlet gausspulse " ..
    "max_len_seq sweep_poly bspline cubic cspline1d qspline1d residue " ..
    "residuez invres lti dlti StateSpace TransferFunction lsim impulse step " ..
    "group_delay tf2sos tf2zpk zpk2sos zpk2tf sos2tf bilinear check_COLA " ..
    "check_NOLA correlation_lags", "",
  },
  linalg = {
    "expm", "la.linalg.matrix_exp(x)",
    "sqrtm logm funm cosm sinm tanm fractional_matrix_power",
    "functions of a symmetric matrix go by its la.linalg.eigh",
    "cho_factor", "la.linalg.cholesky(x)", "cho_solve", "la.cholesky_solve",
    "ldl", "la.linalg.ldl_factor(x)",
    "pinvh", "la.linalg.pinv(x, {hermitian = true})",
    "null_space orth", "columns of la.linalg.svd(x)",
    "polar", "u, s, vh = la.linalg.svd(x); u:matmul(vh)",
    "rq qz ordqz schur hessenberg rsf2csf cdf2rdf cossin qr_multiply",
    "la.linalg.qr and la.linalg.eig are there",
    "solve_banded solveh_banded solve_circulant solve_toeplitz " ..
    "matmul_toeplitz solve_sylvester solve_lyapunov eig_banded " ..
    "eigvals_banded cholesky_banded", "la.linalg.solve with the whole matrix",
    "block_diag", "la.block_diag",
    "toeplitz circulant hankel", "x[indices] of la.range(n):unsqueeze(2) " ..
    "- la.range(n)",
    "issymmetric ishermitian", "x:allclose(x.mT)",
    "hilbert invhilbert hadamard pascal leslie helmert fiedler companion " ..
    "dft convolution_matrix khatri_rao matrix_balance subspace_angles " ..
    "orthogonal_procrustes bandwidth diagsvd", "",
  },
  fft = {
    "dctn idctn", "la.fft.dct(x, ...) along one dim after the other",
    "dst idst dstn idstn fht ifht fhtoffset", "",
    "next_fast_len prev_fast_len", "every length is fast; products of 2, 3 " ..
    "and 5 are the fastest",
    "set_workers get_workers", "la.set_num_threads(n)",
    "set_backend register_backend set_global_backend", "there is one backend",
  },
  special = {
    "gamma", "la.special.gammaln(x):exp()", "factorial",
    "la.special.gammaln(x + 1):exp()",
    "beta", "la.exp(gammaln(a) + gammaln(b) - gammaln(a + b))",
    "betaln", "gammaln(a) + gammaln(b) - gammaln(a + b)",
    "binom comb perm poch", "sums of la.special.gammaln, then exp",
    "j0", "la.special.bessel_j0", "j1", "la.special.bessel_j1",
    "y0", "la.special.bessel_y0", "y1", "la.special.bessel_y1",
    "k0", "la.special.modified_bessel_k0",
    "k1", "la.special.modified_bessel_k1",
    "k0e", "la.special.scaled_modified_bessel_k0",
    "k1e", "la.special.scaled_modified_bessel_k1",
    "cbrt", "x:abs():pow(1 / 3) * x:sign()", "exp10", "la.pow(10, x)",
    "log_expit", "la.logsigmoid(x)",
    "rel_entr kl_div", "la.xlogy, la.kl_div",
    "huber pseudo_huber", "la.huber_loss",
    "boxcox boxcox1p inv_boxcox", "(x ^ lambda - 1) / lambda",
    "radian", "la.deg2rad(x)", "cosm1", "-2 * la.sin(x / 2) ^ 2",
    "exprel", "la.expm1(x) / x",
    "airy airye ai_zeros ellipj ellipk ellipkm1 ellipkinc ellipe ellipeinc " ..
    "jv jve yn yv kn kv iv hankel1 hankel2 struve lpmv sph_harm hyp2f1 " ..
    "hyp1f1 hyperu lambertw agm spence zetac betainc betaincinv gammaincinv " ..
    "loggamma rgamma erfi erfcinv wofz dawsn fresnel voigt_profile bdtr " ..
    "fdtr gdtr nbdtr pdtr stdtr stdtrit chdtr kolmogorov smirnov bernoulli " ..
    "euler legendre chebyt hermite laguerre diric", "",
  },
  image = {
    "open imread read_image decode_png decode_jpeg decode_image",
    "la.image.load(path)",
    "imwrite imsave write_png write_jpeg encode_png encode_jpeg " ..
    "encode_image save_image", "la.image.save(image, path)",
    "hflip", "image:flip(-1)", "vflip", "image:flip(-2)",
    "normalize", "(image - mean) / std",
    "affine perspective warpAffine", "la.affine_grid and la.grid_sample",
    "blur", "la.image.gaussian_blur",
    "rgb2gray rgb_to_grayscale cvtColor", "a product with the weights of " ..
    "the channels",
    "equalize adjust_brightness adjust_contrast", "arithmetic of the image",
    "to_tensor", "la.image.load gives a tensor",
  },
  plot = {
    "pie", "la.plot.bar, whose lengths are easier to compare",
    "barh", "la.plot.bar(names, values, {horizontal = true})",
    "twinx twiny", "the method twin of a figure",
    "violin violinplot boxplot", "la.plot.box(groups)",
    "subplot subplots", "la.plot.grid{a, b, columns = 2}",
    "savefig", "the method save of a figure",
    "imshow matshow pcolor pcolormesh", "la.plot.image, la.plot.heatmap",
    "axhline", "la.plot.hline", "axvline", "la.plot.vline",
    "axvspan axhspan fill", "la.plot.band, la.plot.fill_between",
    "contourf", "la.plot.contour(z, {filled = true})",
    "plot_surface trisurf wireframe", "la.plot.surface",
    "loglog semilogx semilogy", "la.plot.line(x, y, {xscale = \"log\"})",
    "text", "la.plot.note(x, y, text)",
    "hist2d hexbin", "la.plot.heatmap of la.histogramdd",
    "streamplot barbs", "la.plot.quiver",
    "FuncAnimation", "la.plot.animate(frames, path)",
    "xlabel ylabel title xlim ylim legend xticks yticks colorbar",
    "options of a figure: la.plot.line(x, y, {xlabel = \"s\"})",
  },
  onnx = {
    "export", "la.onnx.save(net, path, {x})",
    "InferenceSession", "la.onnx.load(path)",
  },
  audio = {
    "read loadfile", "la.audio.load(path)", "write", "la.audio.save(...)",
    "resample", "la.signal.resample, la.signal.resample_poly",
    "spectrogram melspectrogram mfcc", "la.signal.spectrogram(x)",
  },
  testing = {
    "assert_allclose assert_equal assert_array_equal assert_almost_equal " ..
    "assert_array_almost_equal", "la.testing.assert_close(got, want)",
    "make_tensor", "la.rand(sizes), la.randint",
  },
  optim = {
    "lr_scheduler", "schedules stand in optim itself: optim.StepLR",
    "swa_utils", "an average of the state_dict tables",
    "ASGD Adadelta Adafactor Adamax Muon NAdam RAdam Rprop SparseAdam",
    "optim.AdamW, optim.Adam, optim.SGD, optim.RMSprop, optim.Adagrad",
    "ChainedScheduler", "optim.SequentialLR, or step() of several schedules",
    "LRScheduler", "optim.Scheduler",
  },
  la = {"data", "local data = require \"lunarray.data\""},
  ctx = {
    "saved_tensors saved_values", "its method saved returns what was kept",
    "mark_dirty mark_non_differentiable set_materialize_grads",
    "nil is the gradient of what needs none",
  },
  data = {
    "Dataset IterableDataset", "any table with __len and __index, or a tensor",
    "ConcatDataset ChainDataset StackDataset", "a table with __index",
    "Sampler SequentialSampler RandomSampler SubsetRandomSampler " ..
    "BatchSampler WeightedRandomSampler",
    "data.DataLoader(dataset, {shuffle = true}), la.multinomial",
    "default_collate get_worker_info", "data.DataLoader",
  },
}

-- Names of the module, of tensors (with ':') and of themes ("fft.dst") to their
-- advice.
local advice = {}
local function put(rows, prefix)
  for k = 1, #rows, 2 do
    for name in rows[k]:gmatch "%S+" do advice[prefix .. name] = rows[k + 1] end
  end
end
put(ROWS, "")
for theme, rows in pairs(THEMES) do put(rows, theme .. ".") end
foreign.advice = advice

local SAMPLE = la.zeros(1)

local MODULES = {optim = true, data = true}

-- Set while other tables are looked through, whose own names may be missing.
local searching = false

local function get(t, name) return t[name] end

local function field(t, name)
  local ok, value = pcall(get, t, name)
  return ok and value ~= nil
end

-- Where else the library has the name: "la.linalg.svd(x)".
local function elsewhere(name, where)
  local themes = {}
  for key, value in next, la do
    if type(value) == "table" and key ~= where then
      themes[#themes + 1] = key
    end
  end
  table.sort(themes)
  for _, key in ipairs(themes) do
    if field(la[key], name) then return ("la.%s.%s"):format(key, name) end
  end
  if where ~= "la" and field(la, name) then return "la." .. name end
end

local rows

-- Is there an operation of that name, be it one that only others call?
local function is_row(name)
  if not rows then
    rows = {}
    for _, op in ipairs(la.operations()) do rows[op.name] = true end
  end
  return rows[name]
end

-- What to say when 'name' was asked for and is not there, or nil for a name
-- that is nobody's. 'where' is "la", ":" for a tensor, or the theme.
function foreign.explain(name, where)
  if searching then return nil end
  local own = advice[where .. "." .. name]
  local text = own or where ~= "ctx"
    and advice[where == ":" and ":" .. name or name]
  if not text then return nil end
  searching = true
  local method = where == "la" and (is_row(name) or field(SAMPLE, name))
  local ok, path = pcall(elsewhere, name, where)
  searching = false
  if method and not own then return nil end
  path = ok and path
  if own and own ~= "" then path = nil end
  local owner = MODULES[where] and "lunarray has no " .. where .. ".%s"
    or where == ":" and "a tensor has no '%s'"
    or where == "ctx" and "ctx of a la.Function has no '%s'"
    or where == "la" and "lunarray has no la.%s"
    or "lunarray has no la." .. where .. ".%s"
  owner = owner:format(name)
  if path then return owner .. ": use " .. path end
  if text == "" then
    return owner .. ", which " .. (own and "SciPy" or "PyTorch or NumPy")
      .. " has"
  end
  return owner .. ": " .. text
end

-- __index of the table of a module that is no part of la: nil, or an error for
-- who asked.
function foreign.missing(name, where)
  if type(name) ~= "string" or name:find "^_" then return nil end
  local text = foreign.explain(name, where)
  if text then error(text, tensors.user_level()) end
end

return foreign
