-- lunarray.words.stats. The format is in lunarray.help.rows.
return [==[
= Statistics and curves
== percentile
> la.range(5):double():percentile(la.tensor({25., 50},
>>   {dtype = "float64"}))
tensor([2., 3.], dtype=float64)
see: quantile
== nanpercentile
> la.tensor{1., la.nan, 3}:nanpercentile(la.tensor(50.))
tensor(2.)
see: percentile
== histogramdd
> hist, edges = la.tensor{{0., 0}, {1, 1}, {1, 0}}:histogramdd({2, 2})
> hist
tensor([[1., 0.],
        [1., 1.]])
see: histogram
== nanmax
> la.tensor{1., la.nan, 3}:nanmax()
tensor(3.)
see: amax, nanmin
== nanmin
> la.tensor{1., la.nan, 3}:nanmin()
tensor(1.)
see: amin, nanmax
== nanargmax
> la.tensor{1., la.nan, 3}:nanargmax()
tensor(3)
see: argmax
== nanargmin
> la.tensor{1., la.nan, 3}:nanargmin()
tensor(1)
see: argmin
== nanprod
For products over data with gaps; a row of nothing but NaN gives 1.
> la.tensor{2., la.nan, 3}:nanprod()
tensor(6.)
see: prod
== nancumsum
> la.tensor{2., la.nan, 3}:nancumsum(1)
tensor([2., 2., 5.])
see: cumsum
== nanvar
> la.tensor{1., la.nan, 3}:nanvar()
tensor(2.)
see: var, nanstd
== nanstd
> la.tensor{1., la.nan, 3}:nanstd()
tensor(1.4142)
see: std, nanvar
== average
> la.tensor{1., 3}:average{weights = la.tensor{3., 1}}
tensor(1.5000)
see: mean
== ptp
> la.tensor{3, 9, 4}:ptp()
tensor(6)
see: aminmax
== polyval
> la.polyval(la.tensor{1., 0, -1}, la.tensor{2., 3})
tensor([3., 8.])
see: polyfit, roots
== polyfit
> x = la.linspace(0, 1, 5, {dtype = "float64"})
> la.polyfit(x, 2.5 * x * x + 0.25, 2)[{{1, 3, 2}}]
tensor([2.5000, 0.2500], dtype=float64)
see: polyval, lstsq, vander
== roots
> (la.roots(la.tensor{1., 0, -2}).real:sort())
tensor([-1.4142,  1.4142])
see: polyval, linalg.eigvals
== interp
> la.interp(la.tensor{0.5, 1.5}, la.tensor{0., 1, 2},
>>   la.tensor{0., 10, 40})
tensor([ 5., 25.])
see: searchsorted, lerp, interpolate
== gradient
> la.tensor{1., 4, 9, 16}:gradient()[1]
tensor([3., 4., 6., 7.])
see: diff
== unwrap
> la.tensor{0., 3, 6 - 2 * math.pi}:unwrap()
tensor([0., 3., 6.])
see: angle, remainder
== digitize
> la.tensor{0.5, 1, 9}:digitize(la.tensor{1., 5})
tensor([1, 2, 3])
see: bucketize, searchsorted
]==]
