-- lunarray.words.arithmetic: arithmetic, rounding, comparison, logic, bits. The
-- format is in lunarray.help.rows.
return [==[
== add
The operator +; x:add(y, {alpha = a}) is x + a * y without a tensor in between.
> la.tensor{1, 2} + la.tensor{{10}, {20}}
tensor([[11, 12],
        [21, 22]])
> la.add(la.ones(2), la.tensor{1., 2}, {alpha = 0.5})
tensor([1.5000, 2.0000])
! Sizes that differ and are not 1 do not broadcast.
see: sub, addcmul, sum, cumsum
== sub
The operator -.
> 10 - la.tensor{1, 2}
tensor([9, 8])
see: add, rsub, neg
== rsub
> la.tensor{1, 2}:rsub(10)
tensor([9, 8])
see: sub
== mul
The operator *; matrices are multiplied by matmul.
> la.tensor{1, 2} * la.tensor{{3}, {4}}
tensor([[3, 6],
        [4, 8]])
see: matmul, div, addcmul, outer
== div
The operator /.
> la.tensor{7, -7} / 2
tensor([ 3.5000, -3.5000])
> la.tensor{7, -7}:div(2, {rounding_mode = "trunc"})
tensor([ 3, -3])
see: floor_divide, remainder, reciprocal
== floor_divide
The operator //, as in Lua.
> la.tensor{7, -7} // 2
tensor([ 3, -4])
see: div, remainder, divmod
== remainder
The operator %, as in Lua. Use it for angles and for indices that wrap around.
> la.tensor{7, -7} % 3
tensor([1, 2])
see: fmod, floor_divide
== fmod
> la.tensor{7, -7}:fmod(3)
tensor([ 1, -1])
see: remainder
== divmod
The whole quotient, rounded down, and what is left, in one call: rows and
columns of an index, minutes and seconds.
> quotient, rest = la.tensor{7, -7}:divmod(3)
> quotient, rest
tensor([ 2, -3])    tensor([1, 2])
see: floor_divide, remainder
== pow
The operator ^.
> la.tensor{1, 2, 3} ^ 2
tensor([1, 4, 9])
> 2 ^ la.tensor{1., 0.5}
tensor([2.0000, 1.4142])
see: square, sqrt, float_power, exp
== float_power
For powers of integers and float32 that would overflow or lose digits.
> la.tensor{2}:float_power(-1)
tensor([0.5000], dtype=float64)
see: pow
== square
Distances and energies take it; it is quicker than self ^ 2 and keeps the
dtype.
> la.tensor{-3., 2}:square()
tensor([9., 4.])
see: pow, sqrt
== reciprocal
Weights of variances and rates of times are reciprocals. Integers give float32;
a zero gives infinity.
> la.tensor{2., 4}:reciprocal()
tensor([0.5000, 0.2500])
see: div
== ldexp
The reverse of frexp: scales by powers of two without any rounding.
> la.tensor{1., 3}:ldexp(la.tensor{4, -1})
tensor([16.0000,  1.5000])
see: frexp
== addcmul
Computes x + v * a * b in one pass over memory.
> la.zeros(2):addcmul(la.tensor{1., 2}, la.tensor{3., 4}, {value = 10})
tensor([30., 80.])
see: addcdiv, add, fuse
== addcdiv
The step of Adam and its like: the mean of gradients by their size.
> la.zeros(2):addcdiv(la.tensor{1., 2}, la.tensor{2., 4}, {value = 10})
tensor([5., 5.])
see: addcmul
== lerp
Moves from x toward the other end: for colours, positions and moving averages.
> la.tensor{0., 10}:lerp(la.tensor{10., 20}, 0.25)
tensor([ 2.5000, 12.5000])
see: game.slerp, interp
== neg
The operator - before a tensor: the other direction, or a loss from a score.
> -la.tensor{1, -2}
tensor([-1,  2])
see: sub, abs
== abs
For sizes and errors, whatever their direction.
> la.tensor{-3, 4}:abs()
tensor([3, 4])
> la.complex(la.tensor{3.}, la.tensor{4.}):abs()
tensor([5.])
see: sign, angle, hypot
== sign
For the direction of a change, or an update of fixed size.
> la.tensor{-3., 0, 2}:sign()
tensor([-1.,  0.,  1.])
see: sgn, signbit, copysign
== sgn
> la.complex(la.tensor{3., 0}, la.tensor{4., 0}):sgn()
tensor([0.6000+0.8000j, 0.0000+0.0000j])
see: sign
== signbit
Tells -0 from 0 and finds negative NaN, which lt(0) does not.
> la.tensor{-0., 0, -1}:signbit()
tensor([ True, False,  True])
see: sign, copysign
== copysign
To give a size the direction of another value; it tells -0 from 0.
> la.tensor{1., 2}:copysign(la.tensor{-5., 5})
tensor([-1.,  2.])
see: sign
== conj_physical
> la.complex(la.tensor{1.}, la.tensor{2.}):conj_physical()
tensor([1.-2.j])
see: conj
== deg2rad
Angles of users and files are degrees, sin and cos take radians.
> la.tensor{180., 90}:deg2rad()
tensor([3.1416, 1.5708])
see: rad2deg
== rad2deg
For angles that people read: atan2 gives radians.
> la.tensor{math.pi}:rad2deg()
tensor([180.])
see: deg2rad
== nextafter
For tests that ask what happens one step beyond a limit.
> (la.tensor{1.}:nextafter(la.tensor{2.}) - 1):item()
>>   == la.finfo("float32").eps
true
see: finfo
== heaviside
A step: a signal that is switched on, a count of thresholds passed. values says
what stands at zero itself.
> la.tensor{-1., 0, 2}:heaviside(la.tensor(0.5))
tensor([0.0000, 0.5000, 1.0000])
see: sign, relu
== gcd
> la.tensor{12, 7}:gcd(la.tensor{8, 21})
tensor([4, 7])
see: lcm
== lcm
For the common period of cycles.
> la.tensor{4, 6}:lcm(la.tensor{6, 7})
tensor([12, 42])
see: gcd
== ceil
For how many blocks of a size are needed: (n / size):ceil().
> la.tensor{1.2, -1.2}:ceil()
tensor([ 2., -1.])
see: floor, round, trunc
== floor
For the cell of a grid that a point lies in.
> la.tensor{1.8, -1.2}:floor()
tensor([ 1., -2.])
see: ceil, round, floor_divide
== trunc
Rounds towards zero, as a conversion to an integer does; floor rounds down.
> la.tensor{1.8, -1.8}:trunc()
tensor([ 1., -1.])
see: frac, floor
== round
> la.tensor{0.5, 1.5, 2.6}:round()
tensor([0., 2., 3.])
> la.tensor{3.14159}:round{decimals = 2}
tensor([3.1400])
see: floor, ceil
== frac
The part behind the point, with the sign of the number: -1.25 gives -0.25.
remainder(1) is never negative.
> la.tensor{1.5, -1.25}:frac()
tensor([ 0.5000, -0.2500])
see: trunc
== clamp
> la.tensor{-2., 0.5, 3}:clamp(-1, 1)
tensor([-1.0000,  0.5000,  1.0000])
> la.tensor{-2., 0.5, 3}:clamp{min = 0}
tensor([0.0000, 0.5000, 3.0000])
see: maximum, hardtanh, relu
== clamp_min
For a floor under values: a denominator that must not be 0.
> la.tensor{-2, 3}:clamp_min(0)
tensor([0, 3])
see: clamp
== clamp_max
For a lid on values, such as a bound of speed.
> la.tensor{-2, 3}:clamp_max(0)
tensor([-2,  0])
see: clamp
== maximum
max gives the largest element of one tensor.
> la.tensor{1, 5}:maximum(la.tensor{3, 4})
tensor([3, 5])
see: max, fmax, minimum
== minimum
Elementwise, with broadcasting: limits that vary. NaN in either gives NaN; fmin
passes over it.
> la.tensor{1, 5}:minimum(3)
tensor([1, 3])
see: min, fmin, maximum
== fmax
For the largest of measurements some of which are missing; maximum passes NaN
on.
> la.tensor{1., la.nan}:fmax(la.tensor{3., 4})
tensor([3., 4.])
see: maximum, nanmax
== fmin
For the smallest of measurements some of which are missing; minimum passes NaN
on.
> la.tensor{1., la.nan}:fmin(la.tensor{3., 4})
tensor([1., 4.])
see: minimum
== eq
The operator == compares whole tensors; eq compares elements.
> la.tensor{1, 2, 3}:eq(2)
tensor([False,  True, False])
see: ne, equal, isclose, isin
== ne
> la.tensor{1, 2}:ne(2)
tensor([ True, False])
see: eq
== lt
> la.tensor{1, 2, 3}:lt(2)
tensor([ True, False, False])
see: le, gt, where
== le
> la.tensor{1, 2, 3}:le(2)
tensor([ True,  True, False])
see: lt
== gt
> x = la.tensor{3., -1, 2}
> x[x:gt(0)]
tensor([3., 2.])
see: ge, lt, masked_select
== ge
> la.tensor{1, 2, 3}:ge(2)
tensor([False,  True,  True])
see: gt
== isclose
> la.tensor{1., 2}:isclose(la.tensor{1.000001, 2.1})
tensor([ True, False])
see: allclose, eq, testing.assert_close
== logical_and
For elements that meet both conditions: Lua's own and looks at whole tensors.
> la.tensor{true, true}:logical_and(la.tensor{true, false})
tensor([ True, False])
see: bitwise_and, logical_or, all
== logical_or
For elements that meet one of two conditions: Lua's own or looks at whole
tensors.
> la.tensor{1, 0}:logical_or(la.tensor{0, 0})
tensor([ True, False])
see: logical_and, any
== logical_xor
For where two masks differ.
> la.tensor{true, true}:logical_xor(la.tensor{true, false})
tensor([False,  True])
see: logical_or
== logical_not
The opposite of a mask: rows that are not chosen. Numbers count as true where
they are not zero.
> la.tensor{0, 3}:logical_not()
tensor([ True, False])
see: bitwise_not
== bitwise_and
The operator &. It joins masks: both must be true.
> x = la.range(6)
> x[x:gt(2) & x:lt(5)]
tensor([3, 4])
see: bitwise_or, logical_and
== bitwise_or
The operator |. It joins masks: one must be true.
> la.tensor{1, 2} | 4
tensor([5, 6])
see: bitwise_and
== bitwise_xor
The operator ~ between two (^ is the power in Lua).
> la.tensor{5, 6} ~ 1
tensor([4, 7])
see: bitwise_or
== bitwise_not
The operator ~ before a tensor. It inverts a mask.
> ~la.tensor{true, false}
tensor([False,  True])
> ~la.tensor{0, 5}
tensor([-1, -6])
see: logical_not
== bitwise_left_shift
The operator <<.
> la.tensor{1, 3} << 2
tensor([ 4, 12])
see: bitwise_right_shift
== bitwise_right_shift
The operator >>.
> la.tensor{8, -8} >> 2
tensor([ 2, -2])
see: bitwise_left_shift
== isnan
For what is missing in data; x:eq(x) is false there alone.
> la.tensor{1., la.nan}:isnan()
tensor([False,  True])
see: isfinite, nan_to_num, nanmean
== isinf
Finds overflows before they reach other results; isfinite finds NaN too.
> la.tensor{1., la.inf}:isinf()
tensor([False,  True])
see: isfinite
== isfinite
all() of it guards a training step; a mask of it picks what one can go on with.
> la.tensor{1., la.inf, la.nan}:isfinite()
tensor([ True, False, False])
see: isnan, isinf
== isreal
true for every element of a real dtype; for complex ones it finds what a
transform should have made real.
> la.complex(la.tensor{1., 2}, la.tensor{0., 1}):isreal()
tensor([ True, False])
see: real, x:is_complex
== isposinf
Finds overflows to one side: a score of infinity or a division by zero.
> la.tensor{la.inf, -la.inf}:isposinf()
tensor([ True, False])
see: isneginf
== isneginf
Finds masked scores and logarithms of zero.
> la.tensor{la.inf, -la.inf}:isneginf()
tensor([False,  True])
see: isposinf
== nan_to_num
> la.tensor{la.nan, 1.}:nan_to_num(0)
tensor([0., 1.])
see: isnan, where
== hypot
> la.tensor{3.}:hypot(la.tensor{4.})
tensor([5.])
see: linalg.norm, abs
== frexp
> mantissa, exponent = la.tensor{12., 1}:frexp()
> mantissa, exponent
tensor([0.7500, 0.5000])    tensor([4, 1], dtype=int32)
see: ldexp
]==]
