-- lunarray.words.index: elements by position, sorted, counted, sets. The format
-- is in lunarray.help.rows.
return [==[
== where
Chooses element by element. Both sides are computed whole, so where does not
prevent a division by zero; gradients of the side that was not taken are zero.
With the condition alone it gives positions, a tensor for each dim.
> x = la.tensor{-1., 2, -3}
> la.where(x:gt(0), x, 0)
tensor([0., 2., 0.])
> x:where(x:lt(0), 9)
tensor([-1.,  9., -3.])
> la.where(x:lt(0))[1]
tensor([1, 3])
see: masked_fill, clamp, nonzero
== gather
Picks one element from each row, for example the score of the right class.
> x = la.tensor{{1, 2, 3}, {4, 5, 6}}
> x:gather(2, la.tensor{{3}, {1}})
tensor([[3],
        [4]])
- index: has as many dims as x; positions count from 1
see: take_along_dim, scatter, index_select
== take_along_dim
Use it to apply a sort, or to take what argmax found; the shapes need not be
equal.
> x = la.tensor{{3, 1, 2}, {9, 7, 8}}
> x:take_along_dim(x:argsort(2), 2)
tensor([[1, 2, 3],
        [7, 8, 9]])
see: gather, argsort
== scatter
> la.zeros(2, 3):scatter(2, la.tensor{{1}, {3}}, 1)
tensor([[1., 0., 0.],
        [0., 0., 1.]])
see: scatter_add, gather, one_hot
== scatter_add
A histogram with weights. Several values for one position are added in order, so
results are the same at any number of threads.
> la.zeros(3):scatter_add(1, la.tensor{1, 3, 3}, la.tensor{1., 2, 3})
tensor([1., 0., 5.])
see: index_add, bincount, scatter_reduce
== scatter_reduce
> x = la.zeros(2):scatter_reduce(1, la.tensor{1, 1, 2},
>>   la.tensor{4., 8, 3}, "mean",
>>   {include_self = false})
> x
tensor([6., 3.])
see: scatter_add, index_reduce
== index_select
For rows by number, as x[{index}]: batches, embeddings.
> la.tensor{{1, 2}, {3, 4}, {5, 6}}:index_select(1, la.tensor{3, 1})
tensor([[5, 6],
        [1, 2]])
see: gather, index
== index_add
For sums of groups: index is the group of each row.
> la.zeros(3, 2):index_add(1, la.tensor{1, 3, 1}, la.ones(3, 2))
tensor([[2., 2.],
        [0., 0.],
        [1., 1.]])
see: scatter_add, index_copy
== index_copy
To write rows to their numbers; of one that comes twice the last stays.
> la.zeros(3):index_copy(1, la.tensor{3, 1}, la.tensor{7., 8})
tensor([8., 0., 7.])
see: index_add, index_fill
== index_fill
To blank rows out.
> la.zeros(2, 3):index_fill(2, la.tensor{1, 3}, 5)
tensor([[5., 0., 5.],
        [5., 0., 5.]])
see: masked_fill, index_copy
== index_reduce
> la.ones(2):index_reduce(1, la.tensor{1, 1}, la.tensor{5., 7}, "amax")
tensor([7., 1.])
see: scatter_reduce
== take
> la.tensor{{1, 2}, {3, 4}}:take(la.tensor{1, 4})
tensor([1, 4])
> la.tensor{{1, 2}, {3, 4}}:take(la.tensor{2}, 1)
tensor([[3, 4]])
see: index_select, put
== put
> la.zeros(2, 2):put(la.tensor{1, 4}, la.tensor{5., 6})
tensor([[5., 0.],
        [0., 6.]])
see: take, index_put
== nonzero
> x = la.tensor{{0, 5}, {7, 0}}
> x:nonzero()
tensor([[1, 2],
        [2, 1]])
> x[{table.unpack(x:nonzero{as_tuple = true})}]
tensor([5, 7])
see: where, masked_select, count_nonzero
== masked_select
The operation behind x[mask].
> x = la.range(5)
> x:masked_select(x:gt(3))
tensor([4, 5])
see: masked_fill, where
== masked_fill
> x = la.tensor{{1., 2}, {3, 4}}
> x:masked_fill(la.ones(2, 2):triu(1):bool(), -la.inf)
tensor([[1., -inf],
        [3., 4.]])
see: where, masked_scatter
== masked_scatter
The reverse of masked_select: puts results back to where they came from.
> la.zeros(4):masked_scatter(la.tensor{true, false, true, false},
>>   la.tensor{8., 9})
tensor([8., 0., 9., 0.])
see: masked_fill, masked_select
== index
The operation behind x[{i, j}] with tensors in it.
> x = la.range(9):view(3, 3)
> x:index({la.tensor{1, 3}, la.tensor{1, 3}})
tensor([1, 9])
see: index_put, index_select
== index_put
The operation behind x[{i, j}] = v, on a copy; index_put_ writes in place. With
accumulate, values for the same position are added.
> i = la.tensor{1, 1, 3}
> la.zeros(3):index_put({i}, la.tensor{1., 2, 3}, true)
tensor([3., 0., 3.])
see: index, index_add, scatter
== sort
> values, indices = la.tensor{3, 1, 2}:sort()
> values, indices
tensor([1, 2, 3])    tensor([2, 3, 1])
> (la.tensor{3, 1, 2}:sort(-1, true))
tensor([3, 2, 1])
see: argsort, topk, msort
== argsort
Use it to sort one tensor by another: y[x:argsort()].
> x = la.tensor{30, 10, 20}
> x:argsort()
tensor([2, 3, 1])
> x[x:argsort{descending = true}]
tensor([30, 20, 10])
see: sort, take_along_dim
== msort
For matrices whose columns are samples; sort takes any dim.
> la.tensor{{3, 1}, {2, 9}}:msort()
tensor([[2, 1],
        [3, 9]])
see: sort
== topk
> values, indices = la.tensor{3., 9, 5, 7}:topk(2)
> values, indices
tensor([9., 7.])    tensor([2, 4])
see: sort, kthvalue, max
== kthvalue
> value, index = la.tensor{30, 10, 20}:kthvalue(2)
> value, index
tensor(20)    tensor(3)
see: median, topk, quantile
== searchsorted
> la.tensor{1, 3, 5}:searchsorted(la.tensor{0, 3, 6})
tensor([1, 2, 4])
> la.tensor{1, 3, 5}:searchsorted(la.tensor{3}, {right = true})
tensor([3])
see: bucketize, interp
== bucketize
> la.tensor{0.5, 3, 9}:bucketize(la.tensor{1., 5})
tensor([1, 2, 3])
see: searchsorted, histogram
== isin
For a filter by a list of allowed values.
> la.tensor{1, 2, 3, 4}:isin(la.tensor{2, 4})
tensor([False,  True, False,  True])
see: unique, eq
== unique
> (la.tensor{3, 1, 3}:unique())
tensor([1, 3])
> values, counts = la.tensor{3, 1, 3}:unique{return_counts = true}
> counts
tensor([1, 2])
see: unique_consecutive, unique_counts, isin
== unique_consecutive
For runs in a sequence: with return_counts it is run-length coding, and
return_inverse says to which run each element belongs.
> (la.tensor{1, 1, 2, 1}:unique_consecutive())
tensor([1, 2, 1])
see: unique
== unique_all
> values, indices, inverse, counts = la.tensor{5, 7, 5}:unique_all()
> values, indices, inverse, counts
tensor([5, 7])    tensor([1, 2])    tensor([1, 2, 1])    tensor([2, 1])
see: unique
== unique_counts
For a histogram of integers or labels.
> values, counts = la.tensor{5, 7, 5}:unique_counts()
> values, counts
tensor([5, 7])    tensor([2, 1])
see: unique, bincount
== unique_inverse
For labels from 1 to their number.
> values, inverse = la.tensor{5, 7, 5}:unique_inverse()
> inverse
tensor([1, 2, 1])
see: unique
== unique_values
The different elements in ascending order, under the name of the array API;
unique also gives inverse and counts.
> la.tensor{5, 7, 5}:unique_values()
tensor([5, 7])
see: unique
== one_hot
> la.tensor{1, 3}:one_hot(3)
tensor([[1, 0, 0],
        [0, 0, 1]])
! Class 0: classes count from 1.
see: cross_entropy, scatter
== embedding
> weight = la.tensor{{1., 2}, {3, 4}, {5, 6}}
> la.embedding(la.tensor{3, 1}, weight)
tensor([[5., 6.],
        [1., 2.]])
see: nn.Embedding, embedding_bag, index_select
== embedding_bag
> weight = la.tensor{{1., 2}, {3, 4}, {5, 6}}
> la.embedding_bag(la.tensor{{1, 3}, {2, 2}}, weight)
tensor([[3., 4.],
        [3., 4.]])
see: nn.EmbeddingBag, embedding
== partition
Cheaper than a sort when only the k smallest are needed, in any order.
> la.tensor{5., 1, 4, 2, 3}:partition(3)[3]
tensor(3.)
see: argpartition, kthvalue, topk
== argpartition
For the k smallest where their order does not matter.
> x = la.tensor{5., 1, 4, 2, 3}
> x[x:argpartition(1)[1]]
tensor(1.)
see: partition, argsort
]==]
