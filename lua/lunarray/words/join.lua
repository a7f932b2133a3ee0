-- lunarray.words.join: tensors put together, repeated, padded; triangles and
-- diagonals. The format is in lunarray.help.rows.
return [==[
== cat
The dim is one that they have; stack makes a new one.
> a, b = la.ones(2, 2), la.zeros(1, 2)
> la.cat({a, b})
tensor([[1., 1.],
        [1., 1.],
        [0., 0.]])
> la.cat({a, a}, 2).shape
{2, 4}
see: stack, split, hstack, vstack
== stack
For samples to a batch; cat joins along a dim that is there.
> la.stack({la.tensor{1, 2}, la.tensor{3, 4}})
tensor([[1, 2],
        [3, 4]])
> la.stack({la.tensor{1, 2}, la.tensor{3, 4}}, 2)
tensor([[1, 3],
        [2, 4]])
see: cat, unbind
== hstack
It puts columns of a table together; cat has the choice of the dim.
> la.hstack({la.tensor{{1}, {2}}, la.tensor{{3}, {4}}})
tensor([[1, 3],
        [2, 4]])
see: vstack, column_stack, cat
== vstack
It puts rows of a table together; cat has the choice of the dim.
> la.vstack({la.tensor{1, 2}, la.tensor{3, 4}})
tensor([[1, 2],
        [3, 4]])
see: hstack, stack
== dstack
Pictures of one channel become one of three: {h, w} and {h, w} give {h, w, 2}.
> la.dstack({la.tensor{1, 2}, la.tensor{3, 4}})
tensor([[[1, 3],
         [2, 4]]])
see: hstack, vstack
== column_stack
Makes a design matrix from its columns.
> x = la.tensor{1., 2, 3}
> la.column_stack({la.ones(3), x, x * x})
tensor([[1., 1., 1.],
        [1., 2., 4.],
        [1., 3., 9.]])
see: vander, hstack
== block_diag
> la.block_diag({la.ones(1, 2), la.full({2, 1}, 5.)})
tensor([[1., 1., 0.],
        [0., 0., 5.],
        [0., 0., 5.]])
see: diag
== flip
Gives a copy, since strides are never negative here.
> la.range(4):flip(1)
tensor([4, 3, 2, 1])
> la.range(4):view(2, 2):flip(1, 2)
tensor([[4, 3],
        [2, 1]])
see: fliplr, flipud, rot90, roll
== fliplr
Mirrors a picture; dim 2 in reverse order. The usual way to double training
images.
> la.range(4):view(2, 2):fliplr()
tensor([[2, 1],
        [4, 3]])
see: flipud, flip
== flipud
Puts a picture upside down; dim 1 in reverse order.
> la.range(4):view(2, 2):flipud()
tensor([[3, 4],
        [1, 2]])
see: fliplr, flip
== rot90
> la.range(4):view(2, 2):rot90()
tensor([[2, 4],
        [1, 3]])
see: flip, image.rotate
== roll
> la.range(5):roll(2)
tensor([4, 5, 1, 2, 3])
> la.range(6):view(2, 3):roll(-1, 2)
tensor([[2, 3, 1],
        [5, 6, 4]])
see: flip, fft.fftshift
== repeat
repeat is a word of Lua, so write x:tile, which is the same.
> x = la.tensor{1, 2}
> x["repeat"](x, 2, 2)
tensor([[1, 2, 1, 2],
        [1, 2, 1, 2]])
see: tile, repeat_interleave, expand
== tile
> la.tensor{1, 2}:tile(3)
tensor([1, 2, 1, 2, 1, 2])
> la.tensor{1, 2}:tile(2, 1)
tensor([[1, 2],
        [1, 2]])
see: repeat_interleave, expand
== repeat_interleave
> la.tensor{1, 2}:repeat_interleave(2)
tensor([1, 1, 2, 2])
> la.tensor{{1, 2}, {3, 4}}:repeat_interleave(la.tensor{1, 2}, 1)
tensor([[1, 2],
        [3, 4],
        [3, 4]])
see: tile
== constant_pad_nd
> la.constant_pad_nd(la.tensor{1, 2}, {1, 2}, 9)
tensor([9, 1, 2, 9, 9])
see: pad
== border_pad_nd
> la.border_pad_nd(la.tensor{{1., 2, 3}}, {2, 0}, "reflect")
tensor([[3., 2., 1., 2., 3.]])
see: pad
== pad
The first pair is for the last dim, the next for the dim before it, as in
PyTorch.
> la.tensor{{1, 2}, {3, 4}}:pad({1, 0})
tensor([[0, 1, 2],
        [0, 3, 4]])
> la.tensor{{1., 2, 3}}:pad({1, 1}, "circular")
tensor([[3., 1., 2., 3., 1.]])
see: constant_pad_nd, nn.Conv2d
== tril
For causal masks, in which a word sees only those before it.
> la.ones(3, 3):tril()
tensor([[1., 0., 0.],
        [1., 1., 0.],
        [1., 1., 1.]])
> la.ones(2, 3):tril(-1)
tensor([[0., 0., 0.],
        [1., 0., 0.]])
see: triu, tril_indices
== triu
For each pair once: triu(1) leaves the diagonal out.
> la.ones(3, 3):triu(1)
tensor([[0., 1., 1.],
        [0., 0., 1.],
        [0., 0., 0.]])
see: tril
== tril_indices
> la.tril_indices(3, 3)
tensor([[1, 2, 2, 3, 3, 3],
        [1, 1, 2, 1, 2, 3]])
see: triu_indices, tril
== triu_indices
> la.triu_indices(2, 3, 1)
tensor([[1, 1, 2],
        [2, 3, 3]])
see: tril_indices, triu
== diag_embed
For batches of diagonal matrices, as scales or variances.
> la.tensor{1, 2}:diag_embed()
tensor([[1, 0],
        [0, 2]])
see: diag, diagonal
== diag
To scale rows by a matrix, or to read variances off a covariance.
> la.tensor{1, 2}:diag()
tensor([[1, 0],
        [0, 2]])
> la.range(4):view(2, 2):diag()
tensor([1, 4])
see: diagonal, diagflat, diag_embed
== diagflat
Any shape becomes the diagonal of one square matrix; diag does so for a vector.
> la.tensor{{1, 2}}:diagflat()
tensor([[1, 0],
        [0, 2]])
see: diag
== trace
The sum of eigenvalues; the degrees of freedom of a linear fit are the trace of
its hat matrix.
> la.range(4):view(2, 2):trace()
tensor(5)
see: diagonal, linalg.det
== select_scatter
> la.zeros(2, 2):select_scatter(la.ones(2), 1, 2)
tensor([[0., 0.],
        [1., 1.]])
see: select, slice_scatter
== slice_scatter
> la.zeros(4):slice_scatter(la.ones(2), 1, 2, 3)
tensor([0., 1., 1., 0.])
see: slice, select_scatter
== fill_diagonal_
> la.zeros(2, 3):fill_diagonal_(7)
tensor([[7., 0., 0.],
        [0., 7., 0.]])
see: diagonal, eye
== diagonal_scatter
> la.zeros(2, 2):diagonal_scatter(la.tensor{1., 2})
tensor([[1., 0.],
        [0., 2.]])
see: diagonal, diag
== as_strided_scatter
> la.zeros(4):as_strided_scatter(la.ones(2), {2}, {2})
tensor([1., 0., 1., 0.])
see: as_strided
== narrow_copy
For a part that outlives the whole: the copy keeps only its own memory, where a
view keeps all.
> la.range(5):narrow_copy(1, 2, 3)
tensor([2, 3, 4])
see: narrow
== unravel_index
> row, column = table.unpack(la.tensor{4, 6}:unravel_index({2, 3}))
> row, column
tensor([2, 2])    tensor([1, 3])
see: ravel_multi_index, argmax
== ravel_multi_index
> la.ravel_multi_index({la.tensor{2, 2}, la.tensor{1, 3}}, {2, 3})
tensor([4, 6])
see: unravel_index
== cartesian_prod
For a grid of settings to try.
> la.cartesian_prod({la.tensor{1, 2}, la.tensor{5, 6}})
tensor([[1, 5],
        [1, 6],
        [2, 5],
        [2, 6]])
see: combinations, meshgrid
== combinations
For every pair of items, or each choice of features.
> la.tensor{1, 2, 3}:combinations(2)
tensor([[1, 2],
        [1, 3],
        [2, 3]])
see: cartesian_prod
== trim_zeros
For coefficients of polynomials, and silence around a sound.
> la.tensor{0, 0, 3, 0, 4, 0}:trim_zeros()
tensor([3, 0, 4])
== vander
> la.tensor{1., 2, 3}:vander(3)
tensor([[1., 1., 1.],
        [4., 2., 1.],
        [9., 3., 1.]])
> la.tensor{1., 2, 3}:vander(3, true)
tensor([[1., 1., 1.],
        [1., 2., 4.],
        [1., 3., 9.]])
see: polyfit, linalg.vander
]==]
