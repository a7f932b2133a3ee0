-- lunarray.words.reduce: sums, means, extremes, running sums, statistics. The
-- format is in lunarray.help.rows.
return [==[
== sum
> x = la.tensor{{1, 2}, {3, 4}}
> x:sum(), x:sum(1)
tensor(10)    tensor([4, 6])
> x:sum{dim = 2, keepdim = true}
tensor([[3],
        [7]])
> la.tensor{true, false, true}:sum()
tensor(2)
see: mean, cumsum, prod, nansum
== nansum
For sums over measurements with gaps; a row of nothing but NaN gives 0.
> la.tensor{1., la.nan, 2}:nansum()
tensor(3.)
see: sum, nanmean
== mean
For the level of values; with gaps nanmean, with outliers median.
> la.tensor{{1., 2}, {3, 4}}:mean(1)
tensor([2., 3.])
> la.tensor{1, 2}:mean{dtype = "float64"}
tensor(1.5000, dtype=float64)
! Integers, without a dtype.
see: average, median, var, nanmean
== nanmean
For data with gaps.
> la.tensor{1., la.nan, 3}:nanmean()
tensor(2.)
see: mean, nanstd
== prod
> la.tensor{2, 3, 4}:prod()
tensor(24)
see: sum, cumprod
== max
With a dim there are two results: values and their positions. amax gives values
alone and takes several dims.
> la.tensor{3, 9, 4}:max()
tensor(9)
> values, indices = la.tensor{{3, 9}, {5, 2}}:max(2)
> values, indices
tensor([9, 5])    tensor([2, 1])
see: amax, argmax, maximum, topk
== min
> la.tensor{3, 9, 4}:min()
tensor(3)
see: max, amin, argmin, minimum
== amax
> la.tensor{{3, 9}, {5, 2}}:amax(2)
tensor([9, 5])
see: max, aminmax
== amin
Unlike min it takes several dims at once and gives no positions.
> la.tensor{{3, 9}, {5, 2}}:amin({1, 2})
tensor(2)
see: min, amax
== aminmax
For the range of a plot or a normalization, in one pass.
> low, high = la.tensor{3, 9, 4}:aminmax()
> low, high
tensor(3)    tensor(9)
see: ptp, max
== argmax
Positions count from 1. Use it to find the class that a network chose; labels
count from 1 too.
> la.tensor{3, 9, 4}:argmax()
tensor(2)
> la.tensor{{3, 9}, {5, 2}}:argmax(2)
tensor([2, 1])
see: max, unravel_index
== argmin
> la.tensor{3, 9, 4}:argmin()
tensor(1)
see: argmax
== any
Without a dim it gives a Lua boolean, for if; with a dim a tensor.
> if la.tensor{0, 1}:any() then print "yes" end
yes
> la.tensor{{0, 0}, {0, 1}}:any(2)
tensor([False,  True])
see: all, count_nonzero
== all
> la.tensor{1, 2}:gt(0):all()
true
> la.tensor{{1, 0}, {1, 1}}:all(2)
tensor([False,  True])
see: any
== count_nonzero
The size of a mask: x:gt(0):count_nonzero().
> la.tensor{{0, 5}, {7, 9}}:count_nonzero(1)
tensor([1, 2])
see: nonzero, sum
== var
> la.tensor{1., 2, 3, 4}:var()
tensor(1.6667)
> la.tensor{1., 2, 3, 4}:var{correction = 0}
tensor(1.2500)
source: Chan, Golub and LeVeque, Algorithms for computing the sample variance,
  1983.
see: std, var_mean, cov
== std
> la.tensor{1., 2, 3, 4}:std()
tensor(1.2910)
> la.tensor{{1., 3}, {2, 2}}:std(2)
tensor([1.4142, 0.0000])
see: var, std_mean
== var_mean
> variance, mean = la.tensor{1., 2, 3}:var_mean()
> variance, mean
tensor(1.)    tensor(2.)
see: var, mean
== std_mean
> deviation, mean = la.tensor{1., 2, 3}:std_mean()
> deviation, mean
tensor(1.)    tensor(2.)
see: std, mean
== vector_norm
> la.tensor{3., 4}:vector_norm()
tensor(5.)
> la.tensor{3., -4}:vector_norm(la.inf)
tensor(4.)
see: norm, linalg.norm, dist
== norm
> la.tensor{{3., 4}, {6, 8}}:norm(2, 2)
tensor([ 5., 10.])
see: vector_norm, normalize, linalg.norm
== dist
> la.tensor{1., 2}:dist(la.tensor{4., 6})
tensor(5.)
see: cdist, norm
== cumsum
For running totals, and the sum of any range as a difference of two.
> la.tensor{1, 2, 3}:cumsum(1)
tensor([1, 3, 6])
see: cumprod, sum, diff
== cumprod
For growth: the product of rates up to each step.
> la.tensor{1, 2, 3}:cumprod(1)
tensor([1, 2, 6])
see: cumsum
== cumulative_sum
> la.tensor{1, 2, 3}:cumulative_sum{include_initial = true}
tensor([0, 1, 3, 6])
see: cumsum
== cumulative_prod
> la.tensor{1, 2, 3}:cumulative_prod()
tensor([1, 2, 6])
see: cumprod
== logcumsumexp
> la.tensor{0., 0, 0}:logcumsumexp(1):exp()
tensor([1., 2., 3.])
see: logsumexp, cumsum
== cummax
> values = la.tensor{1, 3, 2, 5}:cummax(1)
> values
tensor([1, 3, 3, 5])
see: cummin, max
== cummin
> values, indices = la.tensor{3, 1, 2}:cummin(1)
> values, indices
tensor([3, 1, 1])    tensor([1, 2, 2])
see: cummax
== logsumexp
> la.tensor{1000., 1000}:logsumexp(1)
tensor(1000.6932)
see: softmax, logaddexp
== median
> la.tensor{3., 1, 2}:median()
tensor(2.)
> values, indices = la.tensor{{3., 1, 2}}:median(2)
> values, indices
tensor([2.])    tensor([3])
see: quantile, mean, nanmedian
== nanmedian
> la.tensor{3., la.nan, 1}:nanmedian()
tensor(1.)
see: median
== mode
> value = la.tensor{1, 2, 2, 3}:mode()
> value
tensor(2)
see: bincount, unique
== quantile
> la.range(5):double():quantile(la.tensor({0.25, 0.5},
>>   {dtype = "float64"}))
tensor([2., 3.], dtype=float64)
see: percentile, median, nanquantile
== nanquantile
For data with gaps.
> la.tensor{1., la.nan, 3}:nanquantile(la.tensor(0.5))
tensor(2.)
see: quantile
== sum_to_size
> la.ones(2, 3):sum_to_size(1, 3)
tensor([[2., 2., 2.]])
see: sum, expand
== allclose
> la.tensor{1., 2}:allclose(la.tensor{1.000001, 2})
true
see: isclose, equal, testing.assert_close
== diff
For changes from step to step; the reverse of cumsum.
> la.tensor{1, 4, 9, 16}:diff()
tensor([3, 5, 7])
see: gradient, cumsum
== renorm
> la.tensor{{3., 4}, {0.3, 0.4}}:renorm(2, 1, 1)
tensor([[0.6000, 0.8000],
        [0.3000, 0.4000]])
see: norm, clip_grad_norm_
== trapezoid
For the area under a measured curve.
> la.tensor{0., 1, 4}:trapezoid()
tensor(3.)
> la.tensor{0., 1, 4}:trapezoid(la.tensor{0., 1, 3})
tensor(5.5000)
see: cumulative_trapezoid
== cumulative_trapezoid
For a distance from speeds: the area up to each point.
> la.tensor{0., 1, 4}:cumulative_trapezoid()
tensor([0.5000, 3.0000])
see: trapezoid, cumsum
== cov
> la.tensor{{1., 2, 3}, {2, 4, 6}}:cov()
tensor([[1., 2.],
        [2., 4.]])
see: corrcoef, var
== corrcoef
For which quantities move together, from -1 to 1.
> la.tensor{{1., 2, 3}, {3, 2, 1}}:corrcoef()
tensor([[ 1., -1.],
        [-1.,  1.]])
see: cov
== segment_reduce
> la.tensor{1., 2, 3}:segment_reduce("sum", {lengths = la.tensor{1, 2}})
tensor([1., 5.])
see: scatter_reduce, embedding_bag
== bincount
So values start at 1.
> la.tensor{1, 3, 3}:bincount()
tensor([1, 0, 2])
> la.tensor{1, 3, 3}:bincount(la.tensor{0.5, 1, 1})
tensor([0.5000, 0.0000, 2.0000])
see: histc, unique_counts, scatter_add
== histc
> la.tensor{0., 1, 1, 3}:histc(3, 0, 3)
tensor([1., 2., 1.])
see: histogram, plot.hist
== histogram
> hist, edges = la.tensor{0., 1, 1, 3}:histogram(3)
> hist, edges
tensor([1., 2., 1.])    tensor([0., 1., 2., 3.])
see: histc, histogramdd, bucketize
]==]
