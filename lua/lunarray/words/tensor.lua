-- lunarray.words.tensor: properties of tensors, methods that are no operations.
-- The format is in lunarray.help.rows.
return [==[
== x.shape
: x.shape -> list
The sizes as a list that compares and prints: x.shape[1] is the size of dim 1.
> x = la.zeros(2, 3)
> x.shape, x.shape == la.ones(2, 3).shape
{2, 3}    true
see: x:size, x.ndim, x:numel
== x.dtype
: x.dtype -> string
The name of the dtype as a string: la.float32 == "float32".
> la.tensor{1, 2}.dtype, la.tensor{1.5}.dtype
int64    float32
see: to, promote_types
== x.ndim
: x.ndim -> integer
How many dims the tensor has, as x:dim(): 0 for a single number, 2 for a
matrix.
> la.zeros(2, 3).ndim, la.tensor(7).ndim
2    0
see: x:dim, x.shape
== x.device
: x.device -> string
"cpu", "meta" (shapes without data) or a device that a host has registered.
> la.zeros(1000000, 1000000, {device = "meta"}):sum(1).shape
{1000000}
see: to, x:is_meta
== x.names
: x.names -> list
The names of the dims as a list with "*" for none, or nil. You may assign to it.
> x = la.zeros(2, 3, {names = {"N", "C"}})
> x.names
{"N", "C"}
> x:sum("C").names
{"N"}
see: x:rename, x:align_to, x:refine_names
== x.grad
: x.grad -> tensor
The gradient that backward stored, or nil. You may assign nil, or a tensor of
x's shape and dtype.
> w = la.tensor({3.}, {requires_grad = true})
> (w * w):backward()
> w.grad
tensor([6.])
see: x:backward, grad, x:zero_grad
== x.data
: x.data -> tensor
The elements of x without its history, as x:detach(). If you assign a tensor, x
has its elements, dtype and sizes from then on.
> w = la.ones(2, {requires_grad = true})
> w.data:mul_(3)
tensor([3., 3.])
> w
tensor([3., 3.], requires_grad=True)
see: detach, set_data
== x.requires_grad
: x.requires_grad -> boolean
Are gradients recorded for x? You may assign to it if x is a leaf.
> w = la.ones(2)
> w.requires_grad = true
> (w * 2).requires_grad
true
see: x:requires_grad_, no_grad, x.is_leaf
== x.grad_fn
: x.grad_fn -> string
The name of the recorded operation that made x; nil for a leaf.
> la.ones(2, {requires_grad = true}):exp().grad_fn
ExpBackward
see: grad_graph, x.is_leaf
== x.is_leaf
: x.is_leaf -> boolean
Did the user make x, and not a recorded operation?
> w = la.ones(2, {requires_grad = true})
> w.is_leaf, (w * 2).is_leaf
true    false
see: x.requires_grad, x:retain_grad
== x._version
: x._version -> integer
How often the memory of x was changed in place, through x, a view of it, or a
tensor that shares it by detach.
> x = la.ones(2)
> x:add_(1)
tensor([2., 2.])
> x._version
1
see: x:backward
== ...
: x["..."] -> tensor
In an index it stands for all dims that the other items leave: x[{"...", 1}].
x["..."] is all of x. la.ellipsis is the same string.
> la.range(6):view(1, 2, 3)[{"...", 1}]
tensor([[1, 4]])
see: ellipsis, newaxis
== x:dim
: x:dim() -> integer
How many dims the tensor has: 0 for a single number, 1 for a list, 2 for a
matrix.
> la.zeros(2, 3):dim()
2
aka: ndimension
see: x.ndim
== x:numel
: x:numel() -> integer
: la.numel(x) -> integer
How many elements x has, over all dims: the product of its shape, 1 for a
single number.
> la.zeros(2, 3):numel()
6
aka: nelement
see: x.shape, x:nbytes
== x:size
: x:size([dim]) -> integer, ...
The sizes as several integers, or one of them; the dim may be a name. x.shape
gives a list.
> rows, columns = la.zeros(2, 3):size()
> rows, columns, la.zeros(2, 3):size(-1)
2    3    3
see: x.shape
== x:stride
: x:stride([dim]) -> integer, ...
How many elements apart neighbours lie, along each dim or along one. For C, and
to see whether a view is a transposed or repeated one (stride 0).
> la.zeros(2, 3):stride()
3    1
> la.zeros(2, 3):t():stride()
1    3
see: x:is_contiguous, as_strided
== x:storage_offset
: x:storage_offset() -> integer
The position of the first element in the storage, from 1. With the strides it
tells which part of a storage a view is.
> la.zeros(2, 3)[2]:storage_offset()
4
see: x:stride, x:storage
== x:element_size
: x:element_size() -> integer
How many bytes one element takes: x:numel() times it is the memory of the
values.
> la.ones(1):element_size()
4
aka: itemsize
see: x:nbytes, finfo
== x:nbytes
: x:nbytes() -> integer
How many bytes all elements take together. For budgets of memory; storage views
share is counted in each.
> la.ones(10, 10):nbytes()
400
see: x:untyped_storage_size, memory
== x:untyped_storage_size
: x:untyped_storage_size() -> integer
How many bytes the storage has, which all views of it share.
> la.ones(10)[1]:untyped_storage_size()
40
see: x:storage
== x:is_contiguous
: x:is_contiguous([memory_format]) -> boolean
Do the elements lie in order without gaps? Views by transpose or with steps do
not; contiguous copies those.
> la.ones(2, 3):is_contiguous(), la.ones(2, 3):t():is_contiguous()
true    false
see: contiguous, x:stride
== x:is_meta
: x:is_meta() -> boolean
true for tensors that have a shape and a dtype but no values: they tell what a
program needs before it runs.
> la.ones(2, {device = "meta"}):is_meta()
true
see: x.device
== x:is_complex
: x:is_complex() -> boolean
: la.is_complex(x) -> boolean
true for complex64, complex128 and complex32, whose real and imag are tensors
of their own.
> la.ones(1):cfloat():is_complex()
true
see: isdtype, x:is_floating_point
== x:is_floating_point
: x:is_floating_point() -> boolean
: la.is_floating_point(x) -> boolean
true for float16, bfloat16, float32 and float64: only those (and complex ones)
have gradients.
> la.tensor{1}:is_floating_point(), la.tensor{1.5}:is_floating_point()
false    true
see: x:is_complex, finfo
== x:is_signed
: x:is_signed() -> boolean
: la.is_signed(x) -> boolean
true for floats and signed integers, false for uint8 and bool, where -1 wraps
round.
> la.tensor{1}:byte():is_signed()
false
see: iinfo
== x:is_conj
: x:is_conj() -> boolean
: la.is_conj(x) -> boolean
Is x read as the conjugate of what is stored?
> la.ones(1):cfloat():conj():is_conj()
true
see: conj, resolve_conj
== x:is_neg
: x:is_neg() -> boolean
: la.is_neg(x) -> boolean
Is x read as the negative of what is stored?
> la.ones(1):cfloat():conj().imag:is_neg()
true
see: resolve_neg
== x:data_ptr
: x:data_ptr() -> integer
The address of the first element, for other libraries. Not in a sandbox.
> x = la.ones(4)
> x[2]:data_ptr() - x:data_ptr()
4
see: x:to_dlpack, x:lock
== x:item
: x:item([i, j, ...]) -> number
One element as a Lua value (two numbers if it is complex), for if, for and
string.format.
> la.tensor{{1, 2}, {3, 4}}:item(2, 1)
3
> string.format("%.2f", la.tensor{1., 2}:mean():item())
1.50
! More than one element, without indices.
see: x:totable, x:tonumber
== x:tonumber
: x:tonumber() -> number
The only element as a float, for every dtype if the imaginary part is 0.
> la.tensor{7}:tonumber()
7.0
see: x:item, x:tointeger
== x:tointeger
: x:tointeger() -> integer
The only element as an integer. A fraction is an error.
> la.tensor{7.}:tointeger()
7
see: x:item
== x:totable
: x:totable() -> table
Nested tables of the values. Complex values are {re, im}. For code that knows no
tensors; looping over elements in Lua is slow.
> la.tensor{{1, 2}, {3, 4}}:totable()
{{1, 2}, {3, 4}}
aka: tolist
see: tensor, x:item
== x:describe
: x:describe() -> table
: la.describe(x) -> table
A table of shape, dtype, the counts of nan and inf, and min, max, mean, std and
histogram of the finite elements. print shows it.
> print(la.range(100):describe())
int64 of 100
min 1, max 100, mean 50.5, std 29.0115
1 |████████████████████| 100
aka: summary
see: histc, x.shape
== x:tostring_raw
: x:tostring_raw() -> string
A string with the bytes of all elements in row-major order. For sockets and
files of one's own; from_raw reads it back.
> #la.ones(3):tostring_raw()
12
aka: tobytes
see: from_raw, save
== x:iter
: x:iter([dim]) -> iterator
Iterates over views along dim 1, or another dim, with their index. pairs(x) does
the same.
> for i, row in la.tensor{{1, 2}, {3, 4}}:iter() do print(i, row) end
1    tensor([1, 2])
2    tensor([3, 4])
see: unbind
== x:apply_
: x:apply_(f) -> tensor
Replaces every element v by f(v), in row-major order; nil keeps v. Complex
elements are two numbers, both ways. If f raises an error, x stays as it was. f
is called once per element, so operations are a hundred times quicker.
> la.range(4):apply_(function(v) return v % 2 == 0 and -v or nil end)
tensor([ 1, -2,  3, -4])
see: x:map_, where, from_function
== x:map_
: x:map_(y, f) -> tensor
Replaces every element a by f(a, b), where b is the element of y at the same
position (y broadcasts).
> la.tensor{1, 2}:map_(la.tensor{10, 20}, function(a, b) return a + b end)
tensor([11, 22])
see: x:apply_, x:map2_
== x:map2_
: x:map2_(y, z, f) -> tensor
Replaces every element a by f(a, b, c), where b and c are the elements of y and
z at the same position (both broadcast).
> la.zeros(2):map2_(la.ones(2), la.ones(2),
>>   function(a, b, c) return b + c end)
tensor([2., 2.])
see: x:map_
== x:storage
: x:storage() -> storage
The memory of x as an object: equal for tensors that share it, and keeping it
alive. #s and s:nbytes() are its bytes. s:is_fixed() says whether it can't be
resized.
> x = la.ones(4)
> x:storage() == x[1]:storage(), #x:storage()
true    16
see: x:untyped_storage_size, is_set_to
== x:share
: x:share({many = }) -> string
A handle with which another Lua state of this process gets the tensor by
la.open, without a copy. Both see the same elements, and must not use them at
the same time. It is refused for tensors that require grad (share x:detach())
and in a sandbox. The memory is kept until the handle is opened. With many any
number of states open it, each gets a tensor that can only be read, and the
memory is kept until la.unshare.
> x = la.ones(2)
> y = la.open(x:share())
> y:add_(1)
tensor([2., 2.])
> x
tensor([2., 2.])
see: open, parallel.map
== open
: la.open(handle) -> tensor
The tensor of a handle that x:share() gave, in this or another Lua state. Each
handle can be opened once, but those of many.
> la.open(la.ones(2):share())
tensor([1., 1.])
see: x:share, unshare
== unshare
: la.unshare(handle)
Ends a handle of x:share(): it opens nothing any more, and no longer keeps the
memory. Tensors that were opened stay.
> h = la.ones(2):share{many = true}
> la.open(h), la.open(h)
tensor([1., 1.])    tensor([1., 1.])
> la.unshare(h)
see: x:share, open
== x:free
: x:free()
Frees the tensor now: x can't be used any more, but views of it can. local x
<close> does it at the end of a block.
> x = la.ones(1000)
> x:free()
> x
tensor(freed)
see: tidy, memory
== x:lock
: x:lock() -> tensor
Locks the storage: it can't be resized until unlock. Use it while a host keeps a
pointer.
> x = la.ones(2):lock()
> x:unlock():resize_(3).shape
{3}
see: x:unlock, x:data_ptr
== x:unlock
: x:unlock() -> tensor
Allows writing into x again after x:lock(), which guards tensors that many
share.
> la.ones(2):lock():unlock()
tensor([1., 1.])
see: x:lock
== x:new_tensor
: x:new_tensor(data[, options]) -> tensor
Makes a tensor of a table or number as la.tensor does, with x's dtype.
> la.ones(1, {dtype = "float64"}):new_tensor({1, 2})
tensor([1., 2.], dtype=float64)
see: tensor, new_zeros
== x:rename
: x:rename{"N", "C"} -> tensor
: x:rename{C = "channel"} -> tensor
: x:rename() -> tensor
A view whose dims have new names, or none. Names make code say which dim it
means, and refuse mixed ones.
> la.zeros(2, 3):rename{"N", "C"}.names
{"N", "C"}
see: x.names, x:refine_names
== x:refine_names
: x:refine_names(names) -> tensor
Names dims that have no name yet ("..." stands for the others), and checks
those that have one.
> la.zeros(2, 3):refine_names("N", "C").names
{"N", "C"}
see: x:rename
== x:align_to
: x:align_to(names...) -> tensor
Puts the dims into this order of names, with size 1 where x has none. "..."
stands for the others.
> la.zeros(2, 3, {names = {"N", "C"}}):align_to("C", "H", "N").shape
{3, 1, 2}
see: x:rename, permute
== x:to_dlpack
: x:to_dlpack([{versioned = false, copy = false}]) -> userdata
: la.to_dlpack(x) -> userdata
Light userdata of a DLManagedTensor (DLManagedTensorVersioned) on the memory of
x, or of a copy with copy = true. A C library takes it over and calls its
deleter.
> x = la.ones(2)
> la.from_dlpack(x:to_dlpack()):data_ptr() == x:data_ptr()
true
see: from_dlpack, x:data_ptr
== from_dlpack
: la.from_dlpack(pointer[, {versioned =}]) -> tensor
A tensor on the memory of such a struct, which it takes over: a struct that a
tensor has already is refused. A tensor is returned as it is.
> la.from_dlpack(la.ones(2):to_dlpack())
tensor([1., 1.])
see: x:to_dlpack
== is_tensor
: la.is_tensor(v) -> boolean
Is v a tensor? True also for one that was freed.
> la.is_tensor(la.ones(1)), la.is_tensor({1})
true    false
see: asarray
== hash
: la.hash(x) -> integer
An integer made of dtype, shape and elements, the same for every layout and
machine. It tells -0.0 from 0.0, and NaN with different bits.
> x = la.range(6):view(2, 3)
> la.hash(x) == la.hash(x:t():contiguous():t())
true
source: XXH64
see: equal
== newaxis
: la.newaxis -> value
In an index it adds a new dim of size 1: x[{la.newaxis}] makes a row of a
vector, so that two vectors broadcast into a table.
> la.tensor{1, 2}[{la.newaxis, {}}].shape
{1, 2}
see: unsqueeze, ellipsis
== ellipsis
: la.ellipsis -> string
In an index it stands for all dims that the other items leave: "...".
> la.zeros(2, 3, 4)[{la.ellipsis, 1}].shape
{2, 3}
see: newaxis
== pi, e
: la.{pi,e} -> number
The circle's number and Euler's.
> la.pi, la.e
3.1415926535898    2.718281828459
see: inf
== inf
: la.inf -> number
Infinity, which is larger than any number.
> -la.inf < 0
true
see: nan, isinf
== nan
: la.nan -> number
Not a number. It is not equal to anything.
> la.nan == la.nan
false
see: isnan, inf
]==]
