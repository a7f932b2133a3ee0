-- lunarray.words.library: the library, its memory and settings, other threads.
-- The format is in lunarray.help.rows.
return [==[
== help
: la.help([name]) -> string
Text about an operation, function, method, property, module or class: "sum",
"x:item", "x.shape", "nn.Linear", "fft". Without a name it lists what there is.
For a name that does not exist it lists similar names.
> print(la.help("sofmax"))
nothing is known by that name; did you mean softmax, nn.Softmax,
special.softmax?
see: operations
== operations
: la.operations() -> list
A list of all operations: tables with name, row, signature, doc, forms, dtypes,
aliases and the properties of their derivatives.
> la.operations()[1].name
add
see: help
== config
: la.config() -> table
What the build is and what it uses: compiler, flags, version of SLEEF, the CPU
path in use and those available, threads. cpu_extensions are the kernels above
these paths that products of bytes ("avx512_vnni") and of 16-bit floats use
("avx512_bf16", "amx", "amx_fp16"), cpu_extensions_available those of the
machine. lapack is "LUNARRAY_LAPACK" where this variable
names a LAPACK that computes eigenvalues and singular values instead of our own
methods, else "none".
> type(la.config().threads)
number
see: cpu_capability
== cpu_capability
: la.cpu_capability() -> string
The kernels in use: "default", "avx2" or "avx512". The environment variable
LUNARRAY_CPU lowers it.
> type(la.cpu_capability())
string
see: config, use_deterministic
== set_num_threads
: la.set_num_threads(n)
Sets how many threads (1 to 256) large operations may use. Results do not depend
on it.
> la.set_num_threads(2)
> la.get_num_threads()
2
see: get_num_threads, parallel.map
== get_num_threads
: la.get_num_threads() -> integer
How many threads large operations may use.
> la.get_num_threads() >= 1
true
see: set_num_threads
== use_deterministic
: la.use_deterministic(on[, mode])
Chooses how far bits are equal, for this state only. Results never depend on the
number of threads. With "strict" products of 16-bit floats stay on the kernels
whose bits AVX2 and AVX512 share, and do not use cpu_extensions. With "lockstep"
all results have the same bits on every machine: operations whose bits differ
between CPU paths run on the kernels of the lowest one, and operations of the C
library (Bessel functions) are refused. help says of each operation "lockstep:
native, baseline, steps" or "refused".
> la.use_deterministic("lockstep")
> la.are_deterministic_algorithms_enabled()
lockstep
aka: use_deterministic_algorithms
see: manual_seed, game
== are_deterministic_algorithms_enabled
: la.are_deterministic_algorithms_enabled() -> boolean
The last argument of use_deterministic: true, false, "strict" or "lockstep".
> la.are_deterministic_algorithms_enabled()
false
see: use_deterministic
== memory
: la.memory() -> used: integer, peak: integer, cap: integer
Bytes in use (without cached free blocks), the highest so far, and the cap (0
for none).
> x = la.ones(1000, 1000)
> (la.memory()) >= x:nbytes()
true
see: set_memory_limit, tidy, x:free
== set_memory_limit
: la.set_memory_limit(bytes)
Makes allocations beyond this many bytes in all fail with an error; 0 means no
cap.
> la.set_memory_limit(0)
> select(3, la.memory())
0
see: memory
== tidy
: la.tidy(f, ...) -> ...
Calls f and returns its results. Every other tensor that f makes is freed at its
end, at once and without work for Lua's collector; a reference to such a tensor
raises "tensor was freed". Tensors in returned tables live, at any depth.
Results of a tidy inside another belong to the outer one. Views and graphs keep
the data that they need. f can't yield. Use it for the frame of a game or the
step of a training loop.
> la.tidy(function(x) return (x * 2 + 1):sum() end, la.ones(3))
tensor(9.)
see: keep, x:free, memory
== keep
: la.keep(v) -> value
Returns v, a tensor or a table of tensors, which no tidy frees from now on.
> la.tidy(function() best = la.keep(la.ones(2)) end)
> best
tensor([1., 1.])
see: tidy
== snapshot
: la.snapshot(tensors) -> snapshot
Keeps the present data of a table of tensors, by copy on write (tables may be
nested; a record stands for its fields), and the states of generators in it.
Other members of a list are an error, other named fields are passed over. Of the
state's own generator la.get_rng_state() keeps the state. s:restore() writes the
data back into the same tensors, as often as you like. s:free(), or local s
<close>, ends it. If a tensor has another shape by then or was freed, restore is
an error and changes nothing.
> x = la.ones(2)
> s = la.snapshot{x}
> x:zero_()
tensor([0., 0.])
> s:restore()
> x
tensor([1., 1.])
see: clone, save
== set_printoptions
: la.set_printoptions{precision =, threshold =, edgeitems =, linewidth =,
  profile =, sci_mode =}
How tostring shows tensors: digits, from how many elements on a summary, how
many at its edges, columns. profile: "default", "short" or "full".
> la.set_printoptions{precision = 2}
> la.tensor{math.pi}
tensor([3.14])
see: get_printoptions
== get_printoptions
: la.get_printoptions() -> table
Returns a table of what set_printoptions has set: digits, lines and columns of
printed tensors. Keep it to restore them later.
> la.get_printoptions().precision
4
see: set_printoptions
== progress
: la.progress(n[, {desc =, file =, quiet =}]) -> object
Shows a bar with rate and time left: for i in la.progress(100) do, or over a
list, the rows of a tensor or the batches of a loader. It is quiet when standard
error is not a terminal. It can also be used as an object, with
update(k[, text]) and close().
> n = 0
> for i in la.progress(3, {quiet = true}) do n = n + i end
> n
6
see: data.progress
== reduce_grad
: la.reduce_grad(g, shape) -> tensor
Sums a gradient over broadcast dims back to the shape; the same as sum_to_size.
> la.reduce_grad(la.ones(2, 3), {3})
tensor([2., 2., 2.])
see: sum_to_size
== __array_namespace_info__
: la.__array_namespace_info__() -> object
An object that describes the library to users of the array API. Its methods are
capabilities(), default_device(), devices(), default_dtypes([{device =}]) and
dtypes([{device =, kind =}]), called with a colon.
> la.__array_namespace_info__():default_device()
cpu
see: config
== parallel
: la.parallel
Runs functions on threads, each with a Lua state of its own.
> la.parallel.map(function(v) return v * v end, {1, 2, 3})
{1, 4, 9}    nil
see: parallel.map, set_num_threads
== parallel.map
: la.parallel.map(f, list[, {threads =, retries =}]) -> results: table, errors:
  table
Calls f(item, k) for each item, on threads with Lua states of their own. It
returns the results in order, and a table of error texts by k, or nil. Values
that f uses from outside are copied; tensors of items and results are shared.
> sums = la.parallel.map(function(x) return x:sum():item() end,
>>   {la.ones(2), la.ones(3)})
> sums
{2.0, 3.0}
see: parallel.run, x:share, set_num_threads
== parallel.run
: la.parallel.run(code, argument, items, threads) -> results: table, ok: table
Runs Lua code in other states: chunk(argument)(item) for each item. Items are
strings. It returns the resulting strings, and for each whether it is a result.
> la.parallel.run("return function(item) return item:upper() end", "",
>>   {"a", "b"}, 2)
{"A", "B"}    {true, true}
see: parallel.map
== autograd
: la.autograd
The functions of gradients under their names in PyTorch.
> la.autograd.grad == la.grad
true
see: grad, x:backward
== special
: la.special
Special functions (Bessel, gamma, error, zeta) under PyTorch's names, such as
la.special.erfcx. Most are also words of la itself.
> la.special.expit(la.tensor{0.})
tensor([0.5000])
see: lgamma, erf, i0, zeta
== testing
: la.testing
assert_close compares tensors within tolerances that suit their dtype and says
where they differ; luassert adds it to busted.
> (pcall(la.testing.assert_close, la.ones(2), la.ones(2)))
true
see: testing.assert_close
]==]
