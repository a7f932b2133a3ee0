-- lunarray.words.tensor: properties of tensors, methods that are no operations.
-- The format is in lunarray.help.rows.
return [==[
== x.shape
: x.shape
The sizes as a list with == and tostring.
== x.dtype
: x.dtype
The dtype's name, a string: la.float32 == "float32".
== x.ndim
: x.ndim
The number of dims.
== x.device
: x.device
"cpu" or "meta" (shapes without data).
== x.names
: x.names
The dims' names as a list with "*" for none, or nil.
== x.grad
: x.grad
The gradient that backward left, a tensor, or nil; nil and tensors of x's shape
and dtype may be assigned.
== x.data
: x.data
The elements of x without its history, as x:detach(). May be assigned a
tensor: x then has its elements, dtype and sizes.
== x.requires_grad
: x.requires_grad
Are gradients recorded for x? May be assigned on a leaf.
== x.grad_fn
: x.grad_fn
The name of the recorded operation that made x; nil for a leaf.
== x.is_leaf
: x.is_leaf
Is x made by the user, not by a recorded operation?
== x._version
: x._version
How often x, a view of it or what it was detached from was changed in place.
== ...
: ...
As an index, all dims that the others leave: x[{"...", 1}]; x["..."] is all
of x. la.ellipsis is the same string.
== x:dim
: x:dim()
The number of dims.
aka: ndimension
== x:numel
: x:numel()
How many elements x has.
aka: nelement
== x:size
: x:size([dim])
The sizes as several integers, or one of them; a dim may be a name.
== x:stride
: x:stride([dim])
Steps along the dims, in elements.
== x:storage_offset
: x:storage_offset()
The position of the first element in the storage, from 1.
== x:element_size
: x:element_size()
Bytes of an element.
aka: itemsize
== x:nbytes
: x:nbytes()
Bytes of all elements.
== x:untyped_storage_size
: x:untyped_storage_size()
Bytes of the storage, which views share.
== x:is_contiguous
: x:is_contiguous([memory_format])
Do the elements lie in order without gaps?
== x:is_meta
: x:is_meta()
Is x on the meta device?
== x:is_set_to
: x:is_set_to(y)
Same storage, offset, sizes and strides?
== x:data_ptr
: x:data_ptr()
The address of the first element, an integer. Not in a sandbox.
== x:item
: x:item([i, j, ...])
One element as a Lua value (complex: two numbers).
== x:tonumber
: x:tonumber()
The only element as a float, of any dtype without an imaginary part.
== x:tointeger
: x:tointeger()
The only element as an integer; a fraction is an error.
== x:totable
: x:totable()
Nested tables of the values; complex ones as {re, im}.
aka: tolist
== x:describe
: x:describe()
A table of shape, dtype, nan and inf (how many) and, of the finite elements,
min, max, mean, std and histogram; print shows it.
aka: summary
== x:tostring_raw
: x:tostring_raw()
The bytes of the elements in order, a string.
aka: tobytes
== x:iter
: x:iter([dim])
for i, row in x:iter() do: views along dim 1, or another one.
== x:apply_
: x:apply_(f)
Every element v becomes f(v), in row-major order; nil keeps it. Complex
elements are two numbers, both ways. An error of f leaves x as it was.
== x:map_
: x:map_(y, f)
Every element a becomes f(a, b), where b is y's there (y broadcasts).
== x:map2_
: x:map2_(y, z, f)
As map_ with f(a, b, c).
== x:storage
: x:storage()
The memory behind x as an object: equal for tensors that share it, which it
keeps alive. #s and s:nbytes() are its bytes; s:is_fixed() tells memory
that can't be resized.
== x:share
: x:share()
A handle, a string, under which another Lua state of this process gets the
tensor with la.open, without a copy: both see the same elements, and take
care not to use them at the same time. Not for tensors that require grad
(share x:detach()), and not in a sandbox. The memory is kept until then.
== x:free
: x:free()
Give the reference back now; x can't be used any more, views of it can.
== x:lock
: x:lock()
The storage can't be resized until unlock: a host keeps a pointer.
== x:unlock
: x:unlock()
End of lock.
== x:new_tensor
: x:new_tensor(data[, options])
As la.tensor, with x's dtype.
== x:requires_grad_
: x:requires_grad_([on])
Record gradients for this leaf (floating or complex); returns x.
== x:retain_grad
: x:retain_grad()
backward also leaves the gradient of x, which is no leaf.
== x:zero_grad
: x:zero_grad()
Forget x.grad.
== x:detach_
: x:detach_()
Forget x's history; x becomes a leaf.
== x:register_hook
: x:register_hook(f)
f(grad) runs when x's gradient is known; what it returns replaces it. The
value returned has remove().
== x:rename
: x:rename{"N", "C"}, x:rename{C = "channel"}, x:rename()
A view with other names of dims, or without.
== x:refine_names
: x:refine_names(names)
Give names to dims that have none.
== x:align_to
: x:align_to("N", "...", "C")
Dims in this order of names, of size 1 where x has none.
]==]
