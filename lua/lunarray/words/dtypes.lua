-- lunarray.words.dtypes: dtypes. The format is in lunarray.help.rows.
return [==[
== float32, float64, float16, la.bfloat16
: la.{float32,float64,float16,bfloat16} -> string
A floating dtype, by its name as a string. float32 is the default; bfloat16 has
float32's range with 8 bits of precision.
> la.float64 == "float64"
true
> la.ones(2, {dtype = la.float64}).dtype
float64
see: finfo, to, set_default_dtype
== int64, int32, int16, int8, uint64, uint32, uint16, uint8
: la.{int64,int32,int16,int8,uint64,uint32,uint16,uint8} -> string
An integer dtype, by its name as a string. Integers of Lua make int64.
> la.zeros(2, {dtype = la.uint8}).dtype
uint8
see: iinfo, to
== complex64, complex128, complex32
: la.{complex64,complex128,complex32} -> string
A complex dtype, by its name as a string: two floats of half the bits.
> la.ones(1, {dtype = la.complex64})
tensor([1.+0.j])
see: complex, real, imag
== finfo
: la.finfo([dtype]) -> table
The limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal,
smallest_subnormal, resolution, dtype.
> la.finfo("float16").max
65504.0
> la.finfo("float32").eps
1.1920928955078e-07
see: iinfo, nextafter
== iinfo
: la.iinfo(dtype) -> table
The limits of an integer dtype: bits, min, max, dtype. For sentinels and to see
whether a number fits.
> la.iinfo("int8").max
127
see: finfo
== can_cast
: la.can_cast(from, to) -> boolean
May a result of dtype 'from' be written into a tensor of dtype 'to'? It may if
the kind is not lost.
> la.can_cast("int64", "float32"), la.can_cast("float32", "int64")
true    false
see: promote_types, to
== promote_types
: la.promote_types(a, b) -> string
The smallest dtype that both dtypes promote to. For functions that make their
result themselves.
> la.promote_types("int32", "float16")
float16
see: result_type
== result_type
: la.result_type(a, b, ...) -> string
The dtype of an operation on these tensors, dtypes and numbers. A Lua number can
change the kind, not the size.
> la.result_type(la.ones(1, {dtype = "int8"}), 2)
int8
> la.result_type(la.ones(1, {dtype = "int8"}), 2.5)
float32
see: promote_types
== isdtype
: la.isdtype(dtype, kind) -> boolean
Is the dtype of that kind: "bool", "signed integer", "unsigned integer",
"integral", "real floating", "complex floating", "numeric", or a dtype?
> la.isdtype("int8", "integral")
true
see: x:is_floating_point
== set_default_dtype
: la.set_default_dtype(dtype)
Sets the dtype of tensors that are made of Lua floats: float16, bfloat16,
float32 (the default) or float64.
> la.set_default_dtype("float64")
> la.tensor{0.5}.dtype
float64
see: get_default_dtype
== get_default_dtype
: la.get_default_dtype() -> string
The name of the dtype that numbers with a point get: "float32", unless
set_default_dtype has changed it.
> la.get_default_dtype()
float32
see: set_default_dtype
]==]
