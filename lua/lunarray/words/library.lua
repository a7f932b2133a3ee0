-- lunarray.words.library: the library, its memory and settings.
-- The format is in lunarray.help.rows.
return [==[
== config
: config()
Table: compiler, flags, version of SLEEF, the CPU path in use and those
available, threads; cpu_extensions: kernels above them that products of
16-bit floats use ("avx512_bf16", "amx", "amx_fp16"), and
cpu_extensions_available; lapack: the library that was found, "none", or
"LUNARRAY_LAPACK" for the one which that names.
== cpu_capability
: cpu_capability()
"default", "avx2" or "avx512": the kernels in use. LUNARRAY_CPU lowers it.
== set_num_threads
: set_num_threads(n)
Use up to n threads (1 to 256) for large operations.
== get_num_threads
: get_num_threads()
How many threads large operations may use.
== use_deterministic
: use_deterministic(on, "strict" or "lockstep")
Results never depend on the number of threads. "strict": products of 16-bit
floats stay on the kernels whose bits AVX2 and AVX512 share, instead of
cpu_extensions. "lockstep": all results have the bits that every machine
gives; operations whose bits differ between CPU paths run on the kernels of
the lowest one, and what LAPACK computes is refused (help says "lockstep:
native, baseline, steps" or "refused" of each). Of this state only.
aka: use_deterministic_algorithms
== are_deterministic_algorithms_enabled
: are_deterministic_algorithms_enabled()
What use_deterministic was told: true, false, "strict" or "lockstep".
== memory
: memory()
Bytes in use (without cached free blocks), the highest so far, and the cap
(0 for none): three integers.
== tidy
: tidy(f, ...)
f's results. Every other tensor made meanwhile is freed at its end, at once
and without work for Lua's collector: what still refers to one gets the
error "tensor was freed". Tensors in returned tables live, at any depth;
results of a tidy inside another belong to that one. Views and graphs keep
the data that they need. f can't yield.
== keep
: keep(v)
v, a tensor or a table of tensors, which no tidy frees from now on.
== snapshot
: snapshot(tensors)
The data of a table of tensors (nested) now, by copy on write: s:restore()
writes it back into the same tensors, again and again; s:free(), or local s
<close>. A tensor of another shape by then, or freed, is an error, and
nothing is restored.
== set_memory_limit
: set_memory_limit(bytes)
Allocations beyond this many bytes fail with an error; 0 for no cap.
== __array_namespace_info__
: __array_namespace_info__()
What array libraries tell of themselves: an object with capabilities(),
default_device(), devices(), default_dtypes([{device=}]) and
dtypes([{device=, kind=}]), called with a colon.
== operations
: operations()
List of all operations: tables with name, row, signature, doc, forms and
what is known of derivatives.
== help
: help(name)
Text about an operation, a function, a method or a module: "sum",
"nn.Linear", "optim.Adam".
== set_printoptions
: set_printoptions{precision=, threshold=, edgeitems=, linewidth=, profile=,
  sci_mode=}
How tostring shows tensors: digits, from how many elements on a summary, how
many at its edges, columns. profile: "default", "short" or "full".
== get_printoptions
: get_printoptions()
Table of the print options.
]==]
