-- lunarray.words.dtypes: dtypes.
-- The format is in lunarray.help.rows.
return [==[
== finfo
: finfo([dtype])
Table of a floating dtype's limits: bits, eps, max, min, tiny,
smallest_normal, smallest_subnormal, resolution, dtype.
== iinfo
: iinfo(dtype)
Table of an integer dtype's limits: bits, min, max, dtype.
== can_cast
: can_cast(from, to)
Can a result of dtype 'from' be written where 'to' is stored (no loss of
kind)?
== promote_types
: promote_types(a, b)
The smallest dtype that both dtypes promote to.
== result_type
: result_type(a, b, ...)
The dtype of an operation on these tensors, dtypes and numbers.
== isdtype
: isdtype(dtype, kind)
Is the dtype of that kind: "bool", "signed integer", "unsigned integer",
"integral", "real floating", "complex floating", "numeric", or a dtype?
== set_default_dtype
: set_default_dtype(dtype)
The dtype of tensors made of Lua floats: float16, bfloat16, float32 (at
first) or float64.
== get_default_dtype
: get_default_dtype()
The default dtype's name.
== x:is_complex
: x:is_complex()
Is the dtype complex?
== x:is_floating_point
: x:is_floating_point()
Is the dtype a real floating-point one?
== x:is_signed
: x:is_signed()
Can the dtype hold negative numbers?
== x:is_conj
: x:is_conj()
Is x read as the conjugate of what is stored?
== x:is_neg
: x:is_neg()
Is x read as the negative of what is stored?
]==]
