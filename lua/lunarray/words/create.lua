-- lunarray.words.create: making tensors. The format is in lunarray.help.rows.
return [==[
== tensor
: la.tensor(data[, {dtype=, requires_grad=, device=, names=}]) -> tensor
A new tensor from a number, a boolean, nested tables or a tensor (copied).
Integers make int64, floats or a mix the default dtype (float32), booleans bool.
Options may stand in the table next to the rows.
> la.tensor{{1, 2}, {3, 4}}
tensor([[1, 2],
        [3, 4]])
> la.tensor{1, 2.5}
tensor([1.0000, 2.5000])
> la.tensor{1, 2, dtype = "float64"}
tensor([1., 2.], dtype=float64)
> la.tensor(3)
tensor(3)
! Ragged tables, holes, unknown keys and values that do not fit the dtype are
  errors that name the position.
aka: from_table
see: asarray, zeros, from_function, x:totable
== asarray
: la.asarray(data[, {dtype=, copy=}]) -> tensor
As tensor, but a tensor that already fits is returned itself. Use it in
functions that take tables or tensors. copy = true always copies; copy = false
never copies, and is an error where it would have to.
> x = la.ones(2)
> rawequal(la.asarray(x), x)
true
> la.asarray({1, 2})
tensor([1, 2])
aka: as_tensor
see: tensor
== from_raw
: la.from_raw(bytes, dtype, sizes[, {offset = 1}]) -> tensor
A tensor from the bytes of a string, which are copied. There must be as many
bytes as the sizes and the dtype need. x:tostring_raw() is the reverse;
string.pack makes such strings.
> la.from_raw(string.pack("<fff", 1, 2, 3), "float32", {3})
tensor([1., 2., 3.])
aka: from_string, frombuffer
see: x:tostring_raw, load
== from_function
: la.from_function(sizes, f[, options]) -> tensor
A tensor of f(i, j, ...) for all indices, from 1. Without a dtype it is that of
the values, as for tensor. f is called once per element, so use it for small
tensors.
> la.from_function({2, 3}, function(i, j) return 10 * i + j end)
tensor([[11, 12, 13],
        [21, 22, 23]])
see: meshgrid, x:apply_
== broadcast_shapes
: la.broadcast_shapes(sizes, ...) -> list
The shape that these shapes (lists) broadcast to; an error where they do not.
> la.broadcast_shapes({2, 1}, {3})
{2, 3}
see: broadcast_tensors, expand
== empty
For buffers that are written at once: the elements are whatever the memory held.
zeros costs one more pass over memory.
> la.empty(2, 3).shape
{2, 3}
see: zeros, new_empty, empty_like
== empty_like
For results that are written whole right after; zeros_like where some elements
may stay.
> la.empty_like(la.ones(2, 3)).shape
{2, 3}
see: zeros_like, empty
== empty_strided
> la.empty_strided({2, 3}, {1, 2}):stride()
1    2
see: as_strided, empty
== new_empty
> la.ones(2, {dtype = "float64"}):new_empty(3).dtype
float64
see: new_zeros, empty
== zeros
The start of sums and of tables that are filled later; la.empty leaves the
memory as it is.
> la.zeros(2, 3)
tensor([[0., 0., 0.],
        [0., 0., 0.]])
> la.zeros{2, dtype = "int64"}
tensor([0, 0])
see: ones, full, zeros_like, new_zeros
== zeros_like
For sums that begin at 0, of the operand's form.
> la.zeros_like(la.tensor{1, 2})
tensor([0, 0])
see: zeros, ones_like
== new_zeros
For code that need not name them.
> la.tensor{1, 2}:new_zeros(3)
tensor([0, 0, 0])
see: zeros_like, new_ones
== ones
The start of masks, of weights that are all equal, and of products.
> la.ones(2)
tensor([1., 1.])
> la.ones(2, 2, {dtype = "bool"})
tensor([[True, True],
        [True, True]])
see: zeros, full
== ones_like
> la.ones_like(la.tensor{1.5, 2})
tensor([1., 1.])
see: ones
== new_ones
Ones that fit self in dtype and device, of another shape: code that works for
float32 and float64 alike.
> la.tensor{1, 2}:new_ones(3)
tensor([1, 1, 1])
see: new_zeros
== full
> la.full({2, 2}, 7)
tensor([[7, 7],
        [7, 7]])
> la.full({2}, 0.5)
tensor([0.5000, 0.5000])
see: full_like, fill_
== full_like
For a constant that goes with an operand, as a start or a limit.
> la.full_like(la.zeros(2), 7)
tensor([7., 7.])
see: full
== new_full
> la.zeros(1):new_full({2}, 7)
tensor([7., 7.])
see: full
== scalar_tensor
For a number that needs a dtype, or a gradient.
> la.scalar_tensor(2)
tensor(2.)
see: tensor, full
== eye
> la.eye(2)
tensor([[1., 0.],
        [0., 1.]])
> la.eye(2, 3, 1)
tensor([[0., 1., 0.],
        [0., 0., 1.]])
see: diag, zeros
== arange
As in PyTorch: it starts at 0 and leaves the end out. range is like a for loop
of Lua: it starts at 1 and includes the end.
> la.arange(4)
tensor([0, 1, 2, 3])
> la.arange(1, 2, 0.25)
tensor([1.0000, 1.2500, 1.5000, 1.7500])
see: range, linspace
== range
Counts as a for loop does.
> la.range(4)
tensor([1, 2, 3, 4])
> la.range(10, 4, -3)
tensor([10,  7,  4])
see: arange, linspace
== linspace
> la.linspace(0, 1, 5)
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
> la.linspace(0, 1, 4, false)
tensor([0.0000, 0.2500, 0.5000, 0.7500])
see: logspace, range, meshgrid
== logspace
For rates, frequencies and sizes to try: equal ratios, not equal steps.
> la.logspace(0, 3, 4)
tensor([   1.,   10.,  100., 1000.])
see: linspace
== complex
> la.complex(la.tensor{1., 2}, la.tensor{3., -4})
tensor([1.+3.j, 2.-4.j])
> la.ones(2) * la.complex(0, 1)
tensor([0.+1.j, 0.+1.j])
see: polar, view_as_complex, real, imag
== polar
For phasors and spectra from sizes and phases.
> la.polar(la.tensor{1., 2}, la.tensor{0., math.pi / 2}).imag
tensor([0., 2.])
see: complex, angle, abs
== hann_window
> la.hann_window(4)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
> la.hann_window(5, false)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
source: Harris, On the use of windows for harmonic analysis, 1978.
see: hamming_window, signal.window, stft
== hamming_window
For spectra where a weak line stands near a strong one.
> la.hamming_window(4)
tensor([0.0800, 0.5400, 1.0000, 0.5400])
see: hann_window, signal.window
== blackman_window
Its side lobes are the lowest of the usual windows, its peak the widest: weak
tones next to strong ones show. For spectra of n points.
> la.blackman_window(4)[{{2, 4}}]
tensor([0.3400, 1.0000, 0.3400])
see: hann_window, signal.window
== bartlett_window
The simplest window; others have lower side lobes.
> la.bartlett_window(4)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
see: hann_window, signal.window
== kaiser_window
For filters and spectra with side lobes as low as one asks.
> la.kaiser_window(5, false, 6)
tensor([0.0149, 0.4830, 1.0000, 0.4830, 0.0149])
source: Kaiser and Schafer, On the use of the I0-sinh window, 1980.
see: hann_window, signal.firwin
== copy_
Writes values into a tensor that other code holds: its memory stays, its
elements change.
> x = la.zeros(2, 2)
> x:copy_(la.tensor{1, 2})
tensor([[1., 2.],
        [1., 2.]])
see: clone, fill_, x.data
== fill_
> la.zeros(3):fill_(7)
tensor([7., 7., 7.])
see: full, zero_, masked_fill
== zero_
For buffers that are used again, and gradients before the next step.
> la.ones(2):zero_()
tensor([0., 0.])
see: fill_, zeros_like
== clone
> x = la.zeros(2)
> y = x:clone():fill_(1)
> x
tensor([0., 0.])
see: copy_, contiguous, detach
== contiguous
Call it before other code reads the memory. Operations of la take any layout.
> x = la.ones(2, 3):t()
> x:is_contiguous(), x:contiguous():is_contiguous()
false    true
see: x:is_contiguous, clone, view
== to
Converts: x:to("float64") to a dtype, x:to(y) to the dtype and device of y.
Short forms are x:float(), x:double(), x:half(), x:long(), x:int() and x:bool().
> la.tensor{1.7, -1.7}:to("int64")
tensor([ 1, -1])
> la.tensor{0, 2}:to(la.ones(1))
tensor([0., 2.])
see: float, long, astype, can_cast
== astype
> la.tensor{1, 2}:astype("float32")
tensor([1., 2.])
see: to
== type
> la.ones(1):type()
float32
see: to, x.dtype
== type_as
Brings a result to the dtype of its input without naming it.
> la.tensor{1, 2}:type_as(la.ones(1))
tensor([1., 2.])
see: to
== cpu
> la.ones(2):cpu().device
cpu
see: to
== float, double, half, bfloat16
Integers that are too large for the precision become the nearest value.
> la.tensor{1, 2}:float()
tensor([1., 2.])
> la.tensor{0.1}:half():double():item()
0.0999755859375
see: to, finfo
== long, int, short, char, byte
Fractions are cut off. The dtypes are int64, int32, int16, int8 and uint8.
> la.tensor{1.9, -1.9}:long()
tensor([ 1, -1])
> la.tensor{1, 2}:byte().dtype
uint8
see: to, iinfo, round
== bool
Zero becomes false, everything else (NaN too) true: the way from numbers to a
mask.
> la.tensor{0, 1, -2}:bool()
tensor([False,  True,  True])
see: ne, to
== chalf, cfloat, cdouble
Complex numbers of two float16: half the memory, three digits.
> la.tensor{1, 2}:cfloat()
tensor([1.+0.j, 2.+0.j])
see: complex, to
== positive
Gives self itself, as + before a number does; for code that takes an operator
by name.
> la.tensor{1, -2}:positive()
tensor([ 1, -2])
see: abs, neg
== equal
The operator == between tensors: one boolean.
> la.tensor{1, 2}:equal(la.tensor{1., 2.})
true
> la.tensor{1, 2} == la.tensor{1, 3}
false
see: eq, testing.assert_close
== is_set_to
> x = la.ones(2)
> x:is_set_to(x:view(2)), x:is_set_to(x:clone())
true    false
see: x:storage
]==]
