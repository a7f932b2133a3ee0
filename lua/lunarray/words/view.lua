-- lunarray.words.view: other shapes of the same elements. The format is in
-- lunarray.help.rows.
return [==[
== view
Never copies: it raises an error where a view is impossible. Use it where a copy
would be a mistake. Elements are read in row-major order. view(dtype) reads the
same bytes as another dtype.
> x = la.range(6)
> x:view(2, 3)
tensor([[1, 2, 3],
        [4, 5, 6]])
> x:view(3, -1)
tensor([[1, 2],
        [3, 4],
        [5, 6]])
> x:view(2, 3)[1]:zero_()
tensor([0, 0, 0])
> x
tensor([0, 0, 0, 4, 5, 6])
! The strides do not allow the new shape: use reshape.
see: reshape, flatten, unflatten, contiguous, view_as
== reshape
Shares memory where it can and copies where it must, so it always works. If it
matters which, compare with x:is_set_to, or use view.
> la.range(6):reshape(2, 3)
tensor([[1, 2, 3],
        [4, 5, 6]])
> la.range(6):view(2, 3):t():reshape(6)
tensor([1, 4, 2, 5, 3, 6])
see: view, flatten, unflatten, squeeze
== reshape_as
> la.range(6):reshape_as(la.ones(3, 2))
tensor([[1, 2],
        [3, 4],
        [5, 6]])
see: reshape, view_as
== view_as
> la.range(4):view_as(la.ones(2, 2))
tensor([[1, 2],
        [3, 4]])
see: view, reshape_as
== flatten
Use it between convolutions and linear layers: x:flatten(2) keeps the batch.
With a name last, dims given by numbers or by names become one of that name.
> la.ones(2, 3, 4):flatten().shape
{24}
> la.ones(2, 3, 4):flatten(2).shape
{2, 12}
> x = la.zeros(2, 3, 4, {names = {"N", "C", "H"}})
> x:flatten({"C", "H"}, "features").names
{"N", "features"}
see: ravel, unflatten, reshape, nn.Flatten
== ravel
For a list of all values; flatten joins a part of the dims.
> la.range(4):view(2, 2):t():ravel()
tensor([1, 3, 2, 4])
see: flatten
== unflatten
> la.ones(2, 12):unflatten(2, {3, -1}).shape
{2, 3, 4}
> x = la.zeros(2, 12, {names = {"N", "features"}})
> x:unflatten("features", {{"C", 3}, {"H", -1}}).names
{"N", "C", "H"}
see: flatten, view
== squeeze
For dims that another operation kept; unsqueeze puts one in.
> la.ones(1, 3, 1):squeeze().shape
{3}
> la.ones(1, 3, 1):squeeze(1).shape
{3, 1}
see: unsqueeze, flatten
== unsqueeze
Makes shapes broadcast, as x[{la.newaxis, ...}] does.
> x = la.tensor{1, 2, 3}
> x:unsqueeze(1).shape, x:unsqueeze(-1).shape
{1, 3}    {3, 1}
> x:unsqueeze(2) * x
tensor([[1, 2, 3],
        [2, 4, 6],
        [3, 6, 9]])
see: squeeze, expand
== transpose
For matrices see t; for other orders of all dims permute.
> la.range(6):view(2, 3):transpose(1, 2)
tensor([[1, 4],
        [2, 5],
        [3, 6]])
> la.ones(2, 3, 4):transpose(1, -1).shape
{4, 3, 2}
see: permute, t, mT, movedim
== permute
Reorders all dims at once: x:permute(3, 1, 2) puts the channels of (height,
width, channels) first.
> la.ones(4, 5, 3):permute(3, 1, 2).shape
{3, 4, 5}
see: transpose, movedim
== movedim
> la.ones(2, 3, 4):movedim(1, 3).shape
{3, 4, 2}
> la.ones(2, 3, 4):movedim({1, 2}, {2, 3}).shape
{4, 2, 3}
see: permute, transpose
== t
> la.range(4):view(2, 2):t()
tensor([[1, 3],
        [2, 4]])
see: transpose, T, mT
== T
For matrices. With more dims you usually want mT.
> la.range(6):view(2, 3).T
tensor([[1, 4],
        [2, 5],
        [3, 6]])
see: mT, t, permute
== mT
> la.ones(5, 2, 3).mT.shape
{5, 3, 2}
see: T, mH, transpose
== H
> la.complex(la.ones(1, 2), la.ones(1, 2)).H
tensor([[1.-1.j],
        [1.-1.j]])
see: mH, conj, T
== mH
> la.complex(la.ones(3, 1, 2), la.ones(3, 1, 2)).mH.shape
{3, 2, 1}
see: H, mT
== expand
Do not write to the result in place, since several elements are one. Operations
broadcast automatically; use expand for calls that need the full shape.
> la.tensor{{1}, {2}}:expand(2, 3)
tensor([[1, 1, 1],
        [2, 2, 2]])
> la.tensor{1, 2}:expand(3, -1)
tensor([[1, 2],
        [1, 2],
        [1, 2]])
see: expand_as, broadcast_to, tile, unsqueeze
== expand_as
To write a broadcast down, where an operation wants equal sizes.
> la.tensor{{1}, {2}}:expand_as(la.zeros(2, 3))
tensor([[1, 1, 1],
        [2, 2, 2]])
see: expand
== broadcast_to
> la.tensor{1, 2, 3}:broadcast_to(2, 3)
tensor([[1, 2, 3],
        [1, 2, 3]])
see: expand, broadcast_tensors
== broadcast_tensors
For functions of one's own that walk over several tensors together.
> a, b = table.unpack(la.broadcast_tensors({la.ones(2, 1), la.ones(3)}))
> a.shape, b.shape
{2, 3}    {2, 3}
see: broadcast_shapes, expand
== select
The operation behind x[i], along any dim.
> la.range(6):view(2, 3):select(2, 3)
tensor([3, 6])
see: narrow, slice, index_select
== slice
The operation behind x[{{first, last, step}}], along any dim; it builds no
tables.
> la.range(10):slice(1, 2, 8, 3)
tensor([2, 5, 8])
see: narrow, select, slice_scatter
== narrow
> la.range(10):narrow(1, 4, 3)
tensor([4, 5, 6])
see: slice, select
== diagonal
> la.range(9):view(3, 3):diagonal()
tensor([1, 5, 9])
> la.range(9):view(3, 3):diagonal(1)
tensor([2, 6])
see: diag, diag_embed, diagonal_scatter, linalg.diagonal
== unfold
Gives windows as views: for moving means, and for patches of signals.
> x = la.range(5)
> x:unfold(1, 3, 1)
tensor([[1, 2, 3],
        [2, 3, 4],
        [3, 4, 5]])
> x:double():unfold(1, 3, 1):mean(2)
tensor([2., 3., 4.], dtype=float64)
see: nn.Unfold, as_strided, im2col
== detach
Leaves the graph: gradients stop here. The memory is shared.
> w = la.ones(2, {requires_grad = true})
> (w * 2):detach().requires_grad
false
see: no_grad, x:requires_grad_, clone
== as_strided
For experts: any strides over the memory. Prefer unfold, expand and diagonal.
> la.range(5):as_strided({3, 3}, {1, 1})
tensor([[1, 2, 3],
        [2, 3, 4],
        [3, 4, 5]])
see: unfold, x:stride, x:storage_offset
== view_as_real
For what takes no complex numbers: files, layers, other libraries.
> la.complex(la.tensor{1., 2}, la.tensor{3., 4}):view_as_real()
tensor([[1., 3.],
        [2., 4.]])
see: view_as_complex, real, imag
== view_as_complex
For pairs that a file or a layer holds.
> la.tensor{{1., 2}, {3, 4}}:view_as_complex()
tensor([1.+2.j, 3.+4.j])
see: view_as_real, complex
== conj
> la.complex(la.tensor{1., 2}, la.tensor{3., -4}):conj()
tensor([1.-3.j, 2.+4.j])
see: resolve_conj, H, x:is_conj
== resolve_conj
> z = la.complex(la.tensor{1.}, la.tensor{2.}):conj()
> z:is_conj(), z:resolve_conj():is_conj()
true    false
see: conj
== resolve_neg
> z = la.complex(la.tensor{1.}, la.tensor{2.}):conj().imag
> z:is_neg(), z:resolve_neg():is_neg()
true    false
see: x:is_neg, conj
== real
To go on with real numbers after fft; abs gives sizes.
> la.complex(la.tensor{1., 2}, la.tensor{3., 4}).real
tensor([1., 2.])
see: imag, view_as_real
== imag
> z = la.complex(la.tensor{1., 2}, la.tensor{3., 4})
> z.imag = 0
> z
tensor([1.+0.j, 2.+0.j])
see: real, angle
== atleast_1d
> la.tensor(3):atleast_1d()
tensor([3])
see: atleast_2d, unsqueeze
== atleast_2d
> la.tensor{1, 2}:atleast_2d()
tensor([[1, 2]])
see: atleast_1d, atleast_3d
== atleast_3d
> la.tensor{1, 2}:atleast_3d().shape
{1, 2, 1}
see: atleast_2d
== unbind
The reverse of stack.
> a, b = table.unpack(la.tensor{{1, 2}, {3, 4}}:unbind())
> b
tensor([3, 4])
see: stack, split, x:iter
== split
> parts = la.range(5):split(2)
> #parts, parts[3]
3    tensor([5])
> la.range(5):split({1, 4})[2]
tensor([2, 3, 4, 5])
see: chunk, tensor_split, cat
== split_with_sizes
> la.range(5):split_with_sizes({2, 3})[1]
tensor([1, 2])
see: split
== chunk
> #la.range(7):chunk(3), la.range(7):chunk(3)[3]
3    tensor([7])
see: split, tensor_split
== tensor_split
Gives exactly this many pieces, unlike chunk. A list holds the first positions
of the pieces after the first.
> for _, part in ipairs(la.range(5):tensor_split(3)) do print(part) end
tensor([1, 2])
tensor([3, 4])
tensor([5])
> la.range(5):tensor_split({2, 4})[2]
tensor([2, 3])
see: chunk, split
== hsplit
> la.range(8):view(2, 4):hsplit(2)[2]
tensor([[3, 4],
        [7, 8]])
see: vsplit, dsplit, hstack
== vsplit
> la.range(8):view(4, 2):vsplit(2)[1]
tensor([[1, 2],
        [3, 4]])
see: hsplit, vstack
== dsplit
> la.ones(2, 2, 4):dsplit(2)[1].shape
{2, 2, 2}
see: hsplit, dstack
== meshgrid
With indexing "ij" (the default here) the first axis goes down the rows, with
"xy" along the columns, as in plots.
> x, y = table.unpack(la.meshgrid({la.range(2), la.range(3)}))
> x
tensor([[1, 1, 1],
        [2, 2, 2]])
> y
tensor([[1, 2, 3],
        [1, 2, 3]])
see: cartesian_prod, linspace
== squeeze_, unsqueeze_, transpose_, t_
Changes the shape of the tensor itself; its memory stays.
> x = la.ones(1, 2, 3)
> x:squeeze_():transpose_(1, 2):unsqueeze_(1).shape
{1, 3, 2}
see: squeeze, unsqueeze, transpose
== permute_
> la.ones(2, 3, 4):permute_(3, 1, 2).shape
{4, 2, 3}
see: permute
== as_strided_
> la.range(4):as_strided_({2, 2}, {1, 2})
tensor([[1, 3],
        [2, 4]])
see: as_strided
== resize_
For buffers that are reused as out=. Existing elements stay, in order; new ones
are not set.
> x = la.range(6)
> x:resize_(2, 2)
tensor([[1, 2],
        [3, 4]])
! Memory of a host, of a mapped file and locked memory can't grow.
see: resize_as_, reshape, x:untyped_storage_size
== resize_as_
> la.range(6):resize_as_(la.ones(2, 3))
tensor([[1, 2, 3],
        [4, 5, 6]])
see: resize_
== set_
> x = la.zeros(2)
> x:set_(la.ones(4):view(2, 2)).shape
{2, 2}
see: set_data, x:storage
== set_data
> w = la.zeros(2, {requires_grad = true})
> w:set_data(la.ones(3))
tensor([1., 1., 1.], requires_grad=True)
> w
tensor([1., 1., 1.], requires_grad=True)
see: x.data, set_
]==]
