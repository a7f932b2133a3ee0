-- lunarray.words.math: exponentials, angles, special functions.
-- The format is in lunarray.help.rows.
return [==[
== exp
> la.tensor{0., 1}:exp()
tensor([1.0000, 2.7183])
see: expm1, log, softmax
== exp2
Octaves to ratios: exp2(n / 12) is n semitones up. Powers of two are exact.
> la.tensor{3., -1}:exp2()
tensor([8.0000, 0.5000])
see: exp, ldexp
== expm1
For rates and small steps.
> la.tensor{1e-6}:expm1()
tensor([1.0000e-06])
see: log1p, exp
== log
For data over many orders of magnitude, and products as sums.
> la.tensor{1., 10}:log()
tensor([0.0000, 2.3026])
see: log1p, log2, log10, logsumexp
== log2
How many bits a number needs, octaves between frequencies, levels of a pyramid.
> la.tensor{8., 0.5}:log2()
tensor([ 3., -1.])
see: log
== log10
Decades: decibels are 10 log10 of a ratio of powers, and figures count them on
logarithmic axes.
> la.tensor{1000., 0.1}:log10()
tensor([ 3., -1.])
see: log
== log1p
For small rates, where log(1 + x) would lose its digits: expm1 takes it back.
> la.tensor{1e-6}:log1p()
tensor([1.0000e-06])
see: expm1, log
== sin
> la.tensor{0., math.pi / 2}:sin()
tensor([0., 1.])
see: cos, asin, sinc
== cos
> la.tensor{0., math.pi}:cos()
tensor([ 1., -1.])
see: sin, acos
== tan
Slopes of angles, fields of view (half the width at distance 1). Near pi / 2 it
grows without bound.
> la.tensor{0., math.pi / 4}:tan()
tensor([0., 1.])
see: atan, atan2
== asin
For the angle of a slope by its height; atan2 is right in all directions.
> la.tensor{0., 1}:asin()
tensor([0.0000, 1.5708])
see: sin
== acos
For the angle between unit vectors; near 0 it has few digits, where atan2 of
cross and dot is exact.
> la.tensor{1., -1}:acos()
tensor([0.0000, 3.1416])
see: cos
== atan
Slopes to angles, between -pi/2 and pi/2; atan2 takes both coordinates and
knows all four quarters.
> la.tensor{1.}:atan()
tensor([0.7854])
see: atan2
== atan2
Right in all four quadrants, where atan(y / x) knows two.
> la.tensor{1., -1}:atan2(la.tensor{-1., -1}):rad2deg()
tensor([ 135., -135.])
see: atan, angle, hypot
== angle
> la.complex(la.tensor{0., -1}, la.tensor{1., 0}):angle()
tensor([1.5708, 3.1416])
see: abs, polar, atan2
== sinc
The ideal low pass: its samples, times a window, are the coefficients of a
filter.
> la.tensor{0., 0.5}:sinc()
tensor([1.0000, 0.6366])
see: sin, special.spherical_bessel_j0
== sinh
Grows as exp(x) / 2 on both sides; hanging cables and long distances in curved
space have it.
> la.tensor{1.}:sinh()
tensor([1.1752])
see: cosh, asinh
== cosh
Even, with its least value 1 at zero; log(cosh(x)) is a loss between squares
and absolute values.
> la.tensor{1.}:cosh()
tensor([1.5431])
see: sinh, acosh
== tanh
An S between -1 and 1: bounded actions, states of recurrent networks, soft
limits of signals.
> la.tensor{-1., 0, 1}:tanh()
tensor([-0.7616,  0.0000,  0.7616])
see: sigmoid, atanh
== asinh
A logarithm that takes zero and negative numbers too: for axes of data that
grow in both directions.
> la.tensor{1.}:asinh()
tensor([0.8814])
see: sinh
== acosh
> la.tensor{1., 2}:acosh()
tensor([0.0000, 1.3170])
see: cosh
== atanh
> la.tensor{0.5}:atanh()
tensor([0.5493])
see: tanh
== sqrt
For lengths and standard deviations.
> la.tensor{4., 2}:sqrt()
tensor([2.0000, 1.4142])
see: rsqrt, square, cbrt
== rsqrt
> la.tensor{4., 16}:rsqrt()
tensor([0.5000, 0.2500])
see: sqrt
== cbrt
The edge of a cube of that volume; negative numbers have negative roots, where
x ^ (1 / 3) is NaN.
> la.tensor{-8., 27}:cbrt()
tensor([-2.,  3.])
see: sqrt
== erf
> la.tensor{0., 1}:erf()
tensor([0.0000, 0.8427])
see: erfc, ndtr, erfinv
== erfc
For the probability of a large deviation, where 1 - erf(x) would be 0.
> la.tensor{5.}:erfc()
tensor([1.5375e-12])
see: erf, erfcx
== erfcx
> la.tensor{10.}:erfcx()
tensor([0.0561])
see: erfc
== erfinv
sqrt(2) erfinv(2 p - 1) is the quantile p of the normal distribution (ndtri
gives it directly).
> la.tensor{0.5}:erfinv()
tensor([0.4769])
see: erf, ndtri
== ndtr
The probability of a standard normal number below x.
> la.tensor{0., 1.96}:ndtr()
tensor([0.5000, 0.9750])
see: ndtri, log_ndtr, erf
== ndtri
For the bounds of confidence intervals: 0.975 gives 1.96.
> la.tensor{0.5, 0.975}:ndtri()
tensor([0.0000, 1.9600])
see: ndtr
== log_ndtr
For likelihoods of normal data that was cut off.
> la.tensor{-20.}:log_ndtr()
tensor([-203.9172])
see: ndtr
== lgamma
For factorials and binomial coefficients too large for a float: lgamma(n + 1) is
log n!.
> la.tensor{5.}:lgamma()
tensor([3.1781])
see: digamma, mvlgamma, igamma
== igamma
The distribution function of a gamma variable with shape x.
> la.tensor{1., 2}:igamma(la.tensor{1., 2})
tensor([0.6321, 0.5940])
source: Gautschi, A computational procedure for incomplete gamma functions,
  1979.
see: igammac, lgamma
== igammac
> la.tensor{1.}:igammac(la.tensor{50.})
tensor([1.9287e-22])
see: igamma
== zeta
> la.tensor{2.}:zeta(la.tensor{1.})
tensor([1.6449])
see: polygamma
== digamma
> la.tensor{1., 2}:digamma()
tensor([-0.5772,  0.4228])
see: polygamma, lgamma
== polygamma
> la.tensor{1.}:polygamma(1)
tensor([1.6449])
see: digamma, zeta
== mvlgamma
For the densities of covariance matrices (Wishart).
> la.tensor{3.}:mvlgamma(2)
tensor([1.5502])
see: lgamma
== i0
For Kaiser's window and directions that scatter (von Mises).
> la.tensor{0., 1}:i0()
tensor([1.0000, 1.2661])
see: i0e, i1, bessel_j0
== i0e
> la.tensor{100.}:i0e()
tensor([0.0399])
see: i0
== i1
> la.tensor{1.}:i1()
tensor([0.5652])
see: i0, i1e
== i1e
> la.tensor{100.}:i1e()
tensor([0.0397])
see: i1
== bessel_j0
For waves with circular symmetry: drums, lenses, antennas.
> la.tensor{0., 1}:bessel_j0()
tensor([1.0000, 0.7652])
see: bessel_j1, bessel_y0, i0
== bessel_j1
> la.tensor{1.}:bessel_j1()
tensor([0.4401])
see: bessel_j0
== bessel_y0
> la.tensor{1.}:bessel_y0()
tensor([0.0883])
see: bessel_y1, bessel_j0
== bessel_y1
> la.tensor{1.}:bessel_y1()
tensor([-0.7812])
see: bessel_y0
== special.modified_bessel_k0
> la.special.modified_bessel_k0(la.tensor{1.})
tensor([0.4210])
see: special.scaled_modified_bessel_k0, i0
== special.modified_bessel_k1
> la.special.modified_bessel_k1(la.tensor{1.})
tensor([0.6019])
see: special.modified_bessel_k0
== special.scaled_modified_bessel_k0
> la.special.scaled_modified_bessel_k0(la.tensor{100.})
tensor([0.1252])
see: special.modified_bessel_k0
== special.scaled_modified_bessel_k1
> la.special.scaled_modified_bessel_k1(la.tensor{100.})
tensor([0.1258])
see: special.modified_bessel_k1
== special.spherical_bessel_j0
> la.special.spherical_bessel_j0(la.tensor{0., 1})
tensor([1.0000, 0.8415])
see: sinc
== logaddexp
To add probabilities that are kept as logarithms.
> la.tensor{1000.}:logaddexp(la.tensor{1000.})
tensor([1000.6932])
see: logsumexp, logaddexp2
== logaddexp2
> la.tensor{3.}:logaddexp2(la.tensor{3.})
tensor([4.])
see: logaddexp
== xlogy
For entropies and likelihoods, in which 0 log 0 counts as 0.
> la.tensor{0., 2}:xlogy(la.tensor{0., 3})
tensor([0.0000, 2.1972])
see: entr, xlog1py
== xlog1py
For likelihoods with small probabilities: xlog1py(n, -p).
> la.tensor{0., 2}:xlog1py(la.tensor{-1., 0.5})
tensor([0.0000, 0.8109])
see: xlogy
== entr
> la.tensor{0.5, 0.5}:entr():sum()
tensor(0.6931)
see: xlogy, kl_div
== logit
> la.tensor{0.5, 0.9}:logit()
tensor([0.0000, 2.1972])
see: sigmoid, binary_cross_entropy_with_logits
]==]
