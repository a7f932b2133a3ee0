-- lunarray.words.create: making tensors.
-- The format is in lunarray.help.rows.
return [==[
== tensor
: tensor(data[, {dtype=, requires_grad=, device=, names=}])
A new tensor from a number, a boolean, nested tables or a tensor (copied).
Integers make int64, floats or a mix the default dtype, booleans bool.
Ragged tables and values that do not fit the dtype are errors that name
the position.
aka: from_table
== asarray
: asarray(data[, {dtype=, copy=}])
As tensor, but a tensor that already fits is returned itself. copy = true
always copies, copy = false never: an error where it would have to.
aka: as_tensor
== from_raw
: from_raw(bytes, dtype, sizes[, {offset = 1}])
A tensor from the bytes of a string, copied; their number must be that of
the sizes and the dtype.
aka: from_string, frombuffer
== from_function
: from_function(sizes, f[, options])
A tensor of f(i, j, ...) for all indices, from 1. The dtype is that of the
values, as for tensor, unless one is given. For small tensors: one call of
Lua per element.
== broadcast_shapes
: broadcast_shapes(sizes, ...)
The shape that these shapes (lists) broadcast to.
]==]
