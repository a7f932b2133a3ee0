-- lunarray.help: what la.help says about functions, methods and modules that
-- are no operations (those carry their text in their row).
--
-- An entry is a call at the margin, lines that go on with it by six blanks, and
-- its text by four. "x:name" is a method or property; {1d,2d,3d} stands for
-- three names. help.text(name) gives an entry as la.help prints it, or nil.
local help = {}

local texts = [==[
== making tensors
tensor(data[, {dtype=, requires_grad=, device=, names=}])
    A new tensor from a number, a boolean, nested tables or a tensor (copied).
    Integers make int64, floats or a mix the default dtype, booleans bool.
    Ragged tables and values that do not fit the dtype are errors that name
    the position.
asarray(data[, {dtype=, copy=}])
    As tensor, but a tensor that already fits is returned itself. copy = true
    always copies, copy = false never: an error where it would have to.
from_raw(bytes, dtype, sizes[, {offset = 1}])
    A tensor from the bytes of a string, copied; their number must be that of
    the sizes and the dtype.
from_function(sizes, f[, options])
    A tensor of f(i, j, ...) for all indices, from 1. The dtype is that of the
    values, as for tensor, unless one is given. For small tensors: one call of
    Lua per element.
numel(x)
    How many elements x has.
broadcast_shapes(sizes, ...)
    The shape that these shapes (lists) broadcast to.
== dtypes
finfo([dtype])
    Table of a floating dtype's limits: bits, eps, max, min, tiny,
    smallest_normal, smallest_subnormal, resolution, dtype.
iinfo(dtype)
    Table of an integer dtype's limits: bits, min, max, dtype.
can_cast(from, to)
    Can a result of dtype 'from' be written where 'to' is stored (no loss of
    kind)?
promote_types(a, b)
    The smallest dtype that both dtypes promote to.
result_type(a, b, ...)
    The dtype of an operation on these tensors, dtypes and numbers.
isdtype(dtype, kind)
    Is the dtype of that kind: "bool", "signed integer", "unsigned integer",
    "integral", "real floating", "complex floating", "numeric", or a dtype?
set_default_dtype(dtype)
    The dtype of tensors made of Lua floats: float16, bfloat16, float32 (at
    first) or float64.
get_default_dtype()
    The default dtype's name.
x:is_complex()
    Is the dtype complex?
x:is_floating_point()
    Is the dtype a real floating-point one?
x:is_signed()
    Can the dtype hold negative numbers?
x:is_conj()
    Is x read as the conjugate of what is stored?
x:is_neg()
    Is x read as the negative of what is stored?
== the library
config()
    Table: compiler, flags, version of SLEEF, the CPU path in use and those
    available, threads; cpu_extensions: kernels above them that products of
    16-bit floats use ("avx512_bf16", "amx", "amx_fp16"), and
    cpu_extensions_available; lapack: the library that was found, "none", or
    "LUNARRAY_LAPACK" for the one which that names.
cpu_capability()
    "default", "avx2" or "avx512": the kernels in use. LUNARRAY_CPU lowers it.
set_num_threads(n)
    Use up to n threads (1 to 256) for large operations.
get_num_threads()
    How many threads large operations may use.
use_deterministic(on, "strict" or "lockstep")
    Results never depend on the number of threads. "strict": products of 16-bit
    floats stay on the kernels whose bits AVX2 and AVX512 share, instead of
    cpu_extensions. "lockstep": all results have the bits that every machine
    gives; operations whose bits differ between CPU paths run on the kernels of
    the lowest one, and what LAPACK computes is refused (help says "lockstep:
    native, baseline, steps" or "refused" of each). Of this state only.
are_deterministic_algorithms_enabled()
    What use_deterministic was told: true, false, "strict" or "lockstep".
memory()
    Bytes in use (without cached free blocks), the highest so far, and the cap
    (0 for none): three integers.
tidy(f, ...)
    f's results. Every other tensor made meanwhile is freed at its end, at once
    and without work for Lua's collector: what still refers to one gets the
    error "tensor was freed". Tensors in returned tables live, at any depth;
    results of a tidy inside another belong to that one. Views and graphs keep
    the data that they need. f can't yield.
keep(v)
    v, a tensor or a table of tensors, which no tidy frees from now on.
snapshot(tensors)
    The data of a table of tensors (nested) now, by copy on write: s:restore()
    writes it back into the same tensors, again and again; s:free(), or local s
    <close>. A tensor of another shape by then, or freed, is an error, and
    nothing is restored.
set_memory_limit(bytes)
    Allocations beyond this many bytes fail with an error; 0 for no cap.
__array_namespace_info__()
    What array libraries tell of themselves: an object with capabilities(),
    default_device(), devices(), default_dtypes([{device=}]) and
    dtypes([{device=, kind=}]), called with a colon.
operations()
    List of all operations: tables with name, row, signature, doc, forms and
    what is known of derivatives.
help(name)
    Text about an operation, a function, a method or a module: "sum",
    "nn.Linear", "optim.Adam".
set_printoptions{precision=, threshold=, edgeitems=, linewidth=, profile=,
      sci_mode=}
    How tostring shows tensors: digits, from how many elements on a summary, how
    many at its edges, columns. profile: "default", "short" or "full".
get_printoptions()
    Table of the print options.
== random numbers
Generator([seed], [{kind="philox"}])
    A generator of its own (Philox): manual_seed(n), seed(), initial_seed(),
    get_state(), set_state(t). Given as {generator = g}. g:jump([n]) skips
    n * 2^42 words of its stream; g:fork() is a new one, seeded by where g is.
manual_seed(n)
    Seed the default generator: the same numbers follow at any number of
    threads.
seed()
    Seed the default generator by chance; returns the seed.
initial_seed()
    The seed of the default generator.
get_rng_state()
    State of the default generator as a tensor of bytes.
set_rng_state(state)
    Go on from a state of get_rng_state.
fork_rng([f, ...])
    f's results; what f draws leaves the default generator as it was. Without f
    a scope: local _ <close> = la.fork_rng().
== files
save(object, path[, {metadata=}])
    Write a tensor (.npy) or a table (.npz, .safetensors); the path's end
    decides. A table may hold tensors, numbers, strings, booleans and tables,
    and comes back from load as it went; other programs see its tensors and
    numbers by their keys joined with dots. metadata: a table of texts about
    the file. An existing file is replaced at the end, whole.
load(path[, {metadata=}])
    Read .npy (one tensor), .npz or .safetensors (a table by name). With
    metadata = true also the table of the file's texts, and one of the tensors
    that were left out, as there is no such dtype here: its word by their name
    (F8_E4M3 and other dtypes below 16 bits). Nothing in a file is ever run.
    In a sandbox path is a name that the host program understands, any text,
    and what it gives for it is read; without such a host there are no files.
mmap(path[, {metadata=}])
    As load, but the tensors lie in the mapped file and are read-only.
== gradients
grad(outputs, inputs[, {grad_outputs=, retain_graph=, create_graph=,
      allow_unused=}])
    Gradients of the sum of outputs, one value per input; nothing is added to
    x.grad. As a property, x.grad is what backward left.
x:backward([gradient][, {retain_graph=, create_graph=, inputs=, gradient=}])
    Add the gradients of x (one element, or weighted by 'gradient') to the grad
    of the leaves behind it. The graph is given up unless retain_graph.
no_grad(f, ...)
    f's results, computed without recording gradients. Without f a scope: local
    _ <close> = la.no_grad().
inference_mode(f, ...)
    The same as no_grad.
enable_grad(f, ...)
    f's results with gradients recorded, also inside no_grad; without f a scope.
set_grad_enabled(on)
    Switch recording; the value returned restores it as a scope.
is_grad_enabled()
    Are gradients recorded?
detect_anomaly(f, ...)
    f's results; errors and NaN in backward then name the line that called the
    operation.
grad_graph(x)
    What was recorded for x: a list of {name, inputs}.
Function{forward = function(ctx, ...), backward = function(ctx, ...)}
    A callable with a derivative of its own. ctx:save_for_backward(...),
    ctx:saved(), ctx.needs_input_grad and any field; backward returns one
    gradient per argument, nil where there is none.
checkpoint(f, ...)
    f's results without keeping what its backward needs: f runs again then.
gradcheck(f, inputs[, options])
    Compare the gradients of f with finite differences in float64; true, or an
    error that shows both.
gradgradcheck(f, inputs[, options])
    The same for the gradients of gradients.
jacobian(f, inputs[, {create_graph=}])
    Derivatives of every output element by every input element.
hessian(f, inputs[, {create_graph=}])
    Second derivatives of a function with one number as result.
jvp(f, inputs, tangents[, {create_graph=}])
    f's outputs, and their change along the tangents (Jacobian times vector).
vjp(f, inputs, v[, {create_graph=}])
    f's outputs, and v times the Jacobian.
hvp(f, inputs, v[, {create_graph=}])
    f's output, one number, and its hessian times v.
vmap(f[, in_dims[, out_dims[, {randomness=}]]])
    A function that runs f, written for one element, on a batch. in_dims: the
    batch's dim, from 1, for all tensors, or a table of them for each argument;
    false for one that is the same for all. out_dims: where it is in results.
    randomness: "error", "different" (for each element) or "same". Operations
    run on the whole batch; those that can't run once per element.
reduce_grad(g, shape)
    Sum a gradient over broadcast dims back to the shape; as sum_to.
fuse(f)
    A function that does what f does, with f's element-wise chains computed
    block by block in one pass over memory, and in them sums, means, extremes,
    products, variances and norms over the last dims. The bits are the same. A
    tensor that f makes but does not return (directly or in a table) has no
    value afterwards.
progress(n or list[, {desc=, file=, quiet=}])
    for i in la.progress(100) do: a bar with rate and time left, quiet when
    standard error is no terminal. Also an object with update(k[, text]) and
    close().
x:to_dlpack([{versioned=false, copy=false}])
    Light userdata of a DLManagedTensor (DLManagedTensorVersioned) on x's
    memory (copy = true: on a copy), for a C library that takes it over and
    calls its deleter.
from_dlpack(pointer[, {versioned=}])
    A tensor on the memory of such a struct, which is taken over; a tensor is
    returned as it is.
open(handle)
    The tensor that x:share() gave the handle of, in this or another Lua state.
    Each handle is opened once.
hash(x)
    An integer from dtype, shape and elements (XXH64), the same for every
    layout and machine; -0.0 and 0.0 differ, and so do NaN of other bits.
is_tensor(v)
    Is v a tensor? True also for one that was freed.
== a tensor's properties
x.shape
    The sizes as a list with == and tostring.
x.dtype
    The dtype's name, a string: la.float32 == "float32".
x.ndim
    The number of dims.
x.device
    "cpu" or "meta" (shapes without data).
x.names
    The dims' names as a list with "*" for none, or nil.
x.data
    The elements of x without its history, as x:detach(). May be assigned a
    tensor: x then has its elements, dtype and sizes.
x.requires_grad
    Are gradients recorded for x? May be assigned on a leaf.
x.grad_fn
    The name of the recorded operation that made x; nil for a leaf.
x.is_leaf
    Is x made by the user, not by a recorded operation?
x._version
    How often x, a view of it or what it was detached from was changed in place.
...
    As an index, all dims that the others leave: x[{"...", 1}]; x["..."] is all
    of x. la.ellipsis is the same string.
x:dim()
    The number of dims.
x:size([dim])
    The sizes as several integers, or one of them; a dim may be a name.
x:stride([dim])
    Steps along the dims, in elements.
x:storage_offset()
    The position of the first element in the storage, from 1.
x:element_size()
    Bytes of an element.
x:nbytes()
    Bytes of all elements.
x:untyped_storage_size()
    Bytes of the storage, which views share.
x:is_contiguous([memory_format])
    Do the elements lie in order without gaps?
x:is_meta()
    Is x on the meta device?
x:is_set_to(y)
    Same storage, offset, sizes and strides?
x:data_ptr()
    The address of the first element, an integer. Not in a sandbox.
x:item([i, j, ...])
    One element as a Lua value (complex: two numbers).
x:tonumber()
    The only element as a float, of any dtype without an imaginary part.
x:tointeger()
    The only element as an integer; a fraction is an error.
x:totable()
    Nested tables of the values; complex ones as {re, im}.
x:describe()
    A table of shape, dtype, nan and inf (how many) and, of the finite elements,
    min, max, mean, std and histogram; print shows it.
x:tostring_raw()
    The bytes of the elements in order, a string.
x:iter([dim])
    for i, row in x:iter() do: views along dim 1, or another one.
x:apply_(f)
    Every element v becomes f(v), in row-major order; nil keeps it. Complex
    elements are two numbers, both ways. An error of f leaves x as it was.
x:map_(y, f)
    Every element a becomes f(a, b), where b is y's there (y broadcasts).
x:map2_(y, z, f)
    As map_ with f(a, b, c).
x:storage()
    The memory behind x as an object: equal for tensors that share it, which it
    keeps alive. #s and s:nbytes() are its bytes; s:is_fixed() tells memory
    that can't be resized.
x:share()
    A handle, a string, under which another Lua state of this process gets the
    tensor with la.open, without a copy: both see the same elements, and take
    care not to use them at the same time. Not for tensors that require grad
    (share x:detach()), and not in a sandbox. The memory is kept until then.
x:free()
    Give the reference back now; x can't be used any more, views of it can.
x:lock()
    The storage can't be resized until unlock: a host keeps a pointer.
x:unlock()
    End of lock.
x:new_tensor(data[, options])
    As la.tensor, with x's dtype.
x:requires_grad_([on])
    Record gradients for this leaf (floating or complex); returns x.
x:retain_grad()
    backward also leaves the gradient of x, which is no leaf.
x:zero_grad()
    Forget x.grad.
x:detach_()
    Forget x's history; x becomes a leaf.
x:register_hook(f)
    f(grad) runs when x's gradient is known; what it returns replaces it. The
    value returned has remove().
x:rename{"N", "C"}, x:rename{C = "channel"}, x:rename()
    A view with other names of dims, or without.
x:refine_names(names)
    Give names to dims that have none.
x:align_to("N", "...", "C")
    Dims in this order of names, of size 1 where x has none.
== nn
nn.class(name)
    A kind of modules: define init(self, ...) and forward(self, ...). Modules
    and parameters in fields are found by themselves.
nn.Module
    What all modules have: parameters, named_parameters, buffers, children,
    modules, train, eval, zero_grad, to, apply, requires_grad_, state_dict,
    load_state_dict, register_buffer, clone, hooks; tostring shows the tree.
    Class:adopt(object) gives an object this class's methods.
nn.Parameter(tensor[, requires_grad])
    A tensor that a module trains.
nn.is_module(value)
    Is the value a module?
nn.is_parameter(value)
    Is the value a parameter?
nn.init
    Initial values in place: uniform_, normal_, constant_, zeros_, ones_, eye_,
    xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_,
    trunc_normal_.
nn.clip_grad_norm_(parameters, max_norm[, norm_type])
    Scale all gradients so that their norm together is at most max_norm; returns
    the norm before.
nn.clip_grad_value_(parameters, limit)
    Clamp all gradients to -limit .. limit.
nn.Sequential(module, ...)
    Modules one after the other; indices from 1, names in state_dict from "0".
nn.ModuleList{module, ...}
    A list of modules that belong to the parent.
nn.ModuleDict{name = module}
    Modules by name.
nn.ParameterList{tensor, ...}
    A list of parameters of the parent.
nn.Identity()
    Returns its input.
nn.Linear(in_features, out_features[, bias = true])
    x (..., in) to x w^T + b (..., out). weight (out, in).
nn.Bilinear(in1, in2, out[, bias = true])
    x1^T A x2 + b over the last dims.
nn.Flatten([start_dim = 2, end_dim = -1])
    Joins dims to one.
nn.Unflatten(dim, sizes)
    Splits a dim.
nn.Embedding(num, dim[, options])
    Rows of a table by index from 1: (...) to (..., dim). options: padding_idx.
nn.EmbeddingBag(num, dim[, {mode = "mean"}])
    Means, sums or maxima of the rows of bags: a matrix of indices, or a list
    and the offsets at which its bags start.
nn.Dropout([p = 0.5])
    In training zeroes elements with probability p and scales the rest by 1 / (1
    - p).
nn.{AlphaDropout,FeatureAlphaDropout}([p = 0.5])
    Dropout that keeps mean and variance of what SELU gives.
nn.Conv{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride=, padding=,
      dilation=, groups=, bias=}])
    Cross-correlation of (N, C, ...) with learned kernels; padding: numbers,
    "same" or "valid".
nn.ConvTranspose{1d,2d,3d}(in_channels, out_channels, kernel_size[, {stride=,
      padding=, output_padding=, dilation=, groups=, bias=}])
    The gradient of a convolution by its input, as a layer: it enlarges.
nn.MaxPool{1d,2d,3d}(kernel_size[, {stride=, padding=, dilation=, ceil_mode=,
      return_indices=}])
    The largest value of each window.
nn.AvgPool{1d,2d,3d}(kernel_size[, {stride=, padding=, ceil_mode=,
      count_include_pad=}])
    The mean of each window.
nn.LPPool{1d,2d}(norm_type, kernel_size[, {stride=, ceil_mode=}])
    The p-norm of each window.
nn.AdaptiveAvgPool{1d,2d,3d}(output_size)
    Means over windows such that the result has this size.
nn.AdaptiveMaxPool{1d,2d,3d}(output_size)
    The largest values over windows such that the result has this size.
nn.BatchNorm{1d,2d,3d}(num_features[, {eps = 1e-5, momentum = 0.1, affine =
      true, track_running_stats = true}])
    Normalises each channel over the batch; in eval by the running mean and
    variance.
nn.InstanceNorm{1d,2d,3d}(num_features[, {eps=, momentum=, affine=,
      track_running_stats=}])
    Normalises each channel of each sample.
nn.Dropout{1d,2d,3d}([p = 0.5])
    Drops whole channels.
nn.LayerNorm(normalized_shape[, {eps = 1e-5, elementwise_affine = true, bias =
      true}])
    Normalises over the last dims.
nn.GroupNorm(num_groups, num_channels[, {eps=, affine=}])
    Normalises groups of channels of each sample.
nn.RMSNorm(normalized_shape[, {eps=, elementwise_affine=}])
    Divides by the root of the mean square over the last dims.
nn.RNN(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
      false, dropout = 0, bidirectional = false}])
    Elman's network with tanh or relu over (time, batch, features): out, h.
nn.LSTM(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
      false, dropout = 0, bidirectional = false}])
    Long short-term memory over (time, batch, features): out, h, c.
nn.GRU(input_size, hidden_size[, {num_layers = 1, bias = true, batch_first =
      false, dropout = 0, bidirectional = false}])
    Gated recurrent units over (time, batch, features): out, h.
nn.RNNCell(input_size, hidden_size[, {bias=, nonlinearity=}])
    One step: h from x and h.
nn.LSTMCell(input_size, hidden_size[, {bias=}])
    One step: h, c from x, h, c.
nn.GRUCell(input_size, hidden_size[, {bias=}])
    One step: h from x and h.
nn.MultiheadAttention(embed_dim, num_heads[, {dropout=, bias=, batch_first=}])
    out, weights of attention in several heads; call with query, key, value and
    {attn_mask=, key_padding_mask=, need_weights=, is_causal=}.
nn.TransformerEncoderLayer(d_model, nhead[, {dim_feedforward = 2048, dropout =
      0.1, activation=, batch_first=, norm_first=}])
    Attention to itself and a feed-forward net, each with residual and layer
    norm.
nn.TransformerEncoder(layer, num_layers[, {norm=}])
    Copies of an encoder layer, one after the other.
nn.ReLU()
    max(x, 0).
nn.ReLU6()
    x between 0 and 6.
nn.LeakyReLU([negative_slope = 0.01])
    x, or slope x below 0.
nn.PReLU([num_parameters = 1, init = 0.25])
    LeakyReLU with a learned slope.
nn.ELU([alpha = 1])
    x, or alpha (exp(x) - 1) below 0.
nn.CELU([alpha = 1])
    x, or alpha (exp(x / alpha) - 1) below 0.
nn.SELU()
    ELU scaled so that activations normalise themselves.
nn.GELU([{approximate = "none"}])
    x times the normal distribution function; "tanh" for the approximation.
nn.GLU([dim = -1])
    First half times the sigmoid of the second.
nn.SiLU()
    x sigmoid(x).
nn.Mish()
    x tanh(softplus(x)).
nn.Sigmoid()
    1 / (1 + exp(-x)).
nn.LogSigmoid()
    log(sigmoid(x)).
nn.Tanh()
    The hyperbolic tangent.
nn.Tanhshrink()
    x - tanh(x).
nn.Softplus([beta = 1, threshold = 20])
    log(1 + exp(beta x)) / beta, x above the threshold.
nn.Softshrink([lambda = 0.5])
    x moved toward 0 by lambda.
nn.Softsign()
    x / (1 + |x|).
nn.Softmax([dim])
    exp(x) / sum exp(x) along a dim.
nn.Softmin([dim])
    Softmax of -x.
nn.LogSoftmax([dim])
    log(softmax(x)).
nn.Hardshrink([lambda = 0.5])
    x, or 0 within lambda of 0.
nn.Hardsigmoid()
    x / 6 + 1/2 between 0 and 1.
nn.Hardswish()
    x hardsigmoid(x).
nn.Hardtanh([min = -1, max = 1])
    x between min and max.
nn.Threshold(threshold, value)
    x above the threshold, else value.
nn.MSELoss([options])
    (x - y)^2. {reduction = "mean", "sum" or "none"}.
nn.L1Loss([options])
    |x - y|. {reduction = "mean", "sum" or "none"}.
nn.SmoothL1Loss([options])
    Quadratic within beta, linear outside. {reduction = "mean", "sum" or
    "none"}.
nn.HuberLoss([options])
    Quadratic within delta, linear outside. {reduction = "mean", "sum" or
    "none"}.
nn.NLLLoss([options])
    -x at the class label (from 1) of log-probabilities. weight, ignore_index.
    {reduction = "mean", "sum" or "none"}.
nn.CrossEntropyLoss([options])
    Of logits (N, C, ...) against class labels from 1 or probabilities. weight,
    ignore_index, label_smoothing. {reduction = "mean", "sum" or "none"}.
nn.BCELoss([options])
    Binary cross-entropy of probabilities. weight. {reduction = "mean", "sum" or
    "none"}.
nn.BCEWithLogitsLoss([options])
    Binary cross-entropy of logits. weight, pos_weight. {reduction = "mean",
    "sum" or "none"}.
nn.KLDivLoss([options])
    y (log y - x), x being log-probabilities. log_target. {reduction = "mean",
    "sum" or "none"}.
nn.SoftMarginLoss([options])
    log(1 + exp(-y x)), y being 1 or -1. {reduction = "mean", "sum" or "none"}.
nn.HingeEmbeddingLoss([options])
    x where y is 1, max(0, margin - x) where it is -1. {reduction = "mean",
    "sum" or "none"}.
nn.MarginRankingLoss([options])
    max(0, -y (x1 - x2) + margin). {reduction = "mean", "sum" or "none"}.
nn.CosineEmbeddingLoss([options])
    1 - cos(x1, x2), or the cosine beyond the margin where y is -1. {reduction =
    "mean", "sum" or "none"}.
nn.TripletMarginLoss([options])
    max(0, d(a, p) - d(a, n) + margin). p, eps, swap. {reduction = "mean", "sum"
    or "none"}.
nn.CosineSimilarity([{dim = 2, eps = 1e-8}])
    Of two tensors along a dim.
nn.PairwiseDistance([{p = 2, eps = 1e-6, keepdim=}])
    The p-norm of the difference along the last dim.
nn.GaussianNLLLoss([{full=, eps=, reduction=}])
    Negative log-likelihood of y under a normal distribution of mean x and the
    given variance.
nn.PoissonNLLLoss([{log_input=, full=, eps=, reduction=}])
    Negative log-likelihood of counts under a Poisson distribution.
nn.MultiMarginLoss([{p=, margin=, weight=, reduction=}])
    Hinge of several classes, labels from 1.
nn.MultiLabelMarginLoss([{reduction=}])
    Hinge of several labels a sample.
nn.MultiLabelSoftMarginLoss([{weight=, reduction=}])
    Binary cross-entropy over several labels a sample.
nn.CTCLoss([{blank=, reduction=, zero_infinity=}])
    Connectionist temporal classification of log-probabilities against
    sequences.
== la.signal
signal.butter(order, cutoff[, {btype="lowpass", fs=2, output="sos", dtype=}])
    A digital Butterworth filter as scipy.signal.butter: sections of second
    order, or with output "ba" the coefficients b, a. cutoff is a frequency,
    {low, high} for "bandpass" and "bandstop", in units of fs.
signal.firwin(numtaps, cutoff[, {window="hamming", pass_zero=true, scale=true,
      fs=2, width=, dtype=}])
    The taps of a filter of linear phase by a window, as scipy.signal.firwin.
signal.freqz(b[, a[, {n=512, whole=false, fs=2*pi}]])
    Frequencies and the complex response of the filter b / a there; n is their
    number, or a tensor of frequencies.
signal.sosfreqz(sos[, {n=512, whole=false, fs=2*pi}])
    The same of a cascade of sections.
signal.lfilter_zi(b, a)
    The state of lfilter after an endless step of height 1.
signal.sosfilt_zi(sos)
    The states of sosfilt after an endless step of height 1.
signal.filtfilt(b, a, x[, {dim=-1, padtype="odd", padlen=}])
    lfilter over x and over the result in reverse: no delay. x is extended by
    padlen samples at both ends: padtype "odd", "even", "constant" or false.
signal.sosfiltfilt(sos, x[, {dim=-1, padtype="odd", padlen=}])
    The same with sosfilt.
signal.find_peaks(x[, {height=, threshold=, distance=, prominence=, width=,
      wlen=, rel_height=0.5, plateau_size=}])
    Positions of the peaks that fulfil all conditions, and a table of their
    properties (peak_heights, prominences, left_bases, widths, ...), as
    scipy.signal.find_peaks. A condition is the least value or {min, max}.
signal.stft(x, n_fft[, {hop_length=n_fft//4, win_length=n_fft, window=,
      center=true, pad_mode="reflect", normalized=false, onesided=}])
    Spectra of overlapping parts, {..., bins, frames}: la.stft, with a window
    that may be a name, {name, parameter} or a tensor.
signal.istft(X, n_fft[, {hop_length=, win_length=, window=, center=true,
      normalized=false, onesided=, length=, return_complex=false}])
    The signal of such spectra: la.istft, with the same windows.
signal.spectrogram(x[, {fs=1, window={"tukey", 0.25}, nperseg=256, noverlap=,
      nfft=, detrend="constant", scaling="density", mode="psd"}])
    Frequencies, times and {..., freqs, frames}, as scipy.signal.spectrogram;
    mode "psd", "magnitude", "complex" or "angle".
signal.welch(x[, {fs=1, window="hann", nperseg=256, noverlap=, nfft=,
      detrend="constant", scaling="density", average="mean"}])
    Frequencies and the power at each, averaged over segments (average "mean"
    or "median"), as scipy.signal.welch.
signal.periodogram(x[, {fs=1, window="boxcar", nfft=, detrend="constant",
      scaling="density"}])
    The same of all samples as one segment.
signal.hilbert(x[, {n=, dim=-1}])
    The analytic signal, complex: its abs is the envelope of x.
signal.resample(x, n[, {dim=-1, window=}])
    x with n samples along the dim, as a periodic signal, by Fourier transforms.
signal.resample_poly(x, up, down[, {dim=-1, window={"kaiser", 5.0},
      padtype="constant"}])
    x at up / down times its rate, through a filter of linear phase.
signal.medfilt(x[, kernel_size=3])
    The median of the window around each element, zeros outside; kernel_size is
    odd, one number or one for each dim.
signal.savgol_filter(x, window_length, polyorder[, {deriv=0, delta=1, dim=-1,
      mode="interp", cval=0}])
    Smoothing, or a derivative, by polynomials fitted to sliding windows. mode
    "interp", "mirror", "nearest", "constant" or "wrap" is for the ends.
signal.detrend(x[, {dim=-1, type="linear", bp=}])
    x without the straight line through it (type "constant": without its mean);
    bp holds the first positions of further pieces.
signal.chirp(t, f0, t1, f1[, {method="linear", phi=0, vertex_zero=true}])
    A cosine whose frequency goes from f0 at time 0 to f1 at time t1; method
    "linear", "quadratic", "logarithmic" or "hyperbolic", phi in degrees.
]==]

-- Other names of the same.
local others = {as_tensor = "asarray", from_table = "tensor",
  from_string = "from_raw", frombuffer = "from_raw", tolist = "totable",
  tobytes = "tostring_raw", nelement = "numel", itemsize = "element_size",
  ndimension = "dim",
  use_deterministic_algorithms = "use_deterministic", sum_to = "reduce_grad",
  summary = "describe", clip_grad_norm_ = "nn.clip_grad_norm_",
  clip_grad_value_ = "nn.clip_grad_value_"}

local entries

local function add(call, text)
  local name = call:gsub("^x[:.]", ""):match("^[%w_.]+{%w+,[%w,]+}")
    or call:gsub("^x[:.]", ""):match("^[%w_.]+")
  local stem, list = name:match("^(.-){(.*)}$")
  if not stem then
    entries[name] = call .. "\n" .. text
    return
  end
  for word in list:gmatch("[^,]+") do
    entries[stem .. word] = call:gsub("{[^}]*}", word, 1) .. "\n" .. text
  end
end

local function parse()
  local call, text
  texts = texts .. require "lunarray.help_training"
  entries = {}
  texts = texts .. require "lunarray.help_image"
    .. require "lunarray.help_layers"
  for line in texts:gmatch("[^\n]+") do
    if line:find("^      ") and not text then
      call = call .. "\n" .. line
    elseif line:find("^    ") then
      text = (text or "") .. line .. "\n"
    else
      if text then add(call, text) end
      call, text = line, nil
    end
  end
  add(call, text)
end

-- What a theme (la.fft) or a module of Lua ("nn") consists of, as a list; nil
-- for other names.
local function members(part)
  local names, seen = {}, {}
  local function add_name(name)
    if name and not seen[name] then
      seen[name], names[#names + 1] = true, name
    end
  end
  local theme = rawget(require "lunarray", part)
  if type(theme) == "table" then
    for name in pairs(theme) do add_name(name) end
  end
  for key in pairs(entries) do
    local of, name = key:match("^([%w_]+)%.([%w_]+)$")
    if of == part then add_name(name) end
  end
  if #names == 0 then return nil end
  table.sort(names)
  local lines, line = {}, "   "
  for i, name in ipairs(names) do
    name = name .. (i < #names and "," or "")
    if #line + #name > 78 then
      lines[#lines + 1], line = line, "   "
    end
    line = line .. " " .. name
  end
  lines[#lines + 1] = line
  return ("%s: %d functions and classes; la.help(\"%s.%s\") tells of one\n%s\n")
    :format(part, #names, part, names[1], table.concat(lines, "\n"))
end

function help.text(name)
  if not entries then parse() end
  name = name:gsub("^la%.", "", 1)
  return entries[name] or entries[others[name]] or members(name)
end

return help
