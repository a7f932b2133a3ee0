/*
** Functions of complex128 by vectors of alternating parts, where there are
** fused multiply-adds (HAS_QUARTERS_64): both parts of e^(iy) are one sine,
** with a quarter of a circle added in the lanes of real parts. Values that C's
** functions have rules for, and those whose parts leave the range of doubles or
** of the reduction, go to those, one by one.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_PAIRS_H
#define LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_PAIRS_H

#include "kernel/pointwise/complex/complex_loops.h"
#include "kernel/pointwise/complex/complex_math.h"
#include "simd/math/math.h"

#ifdef HAS_QUARTERS_64

/* All bits of the lanes of real parts. */
static inline i64v pairs_first(void)
{
    return (i64v)f64_conj(f64_zero()) == 0;
}
/* cos y + i sin y, or with 'swapped' sin y + i cos y, of parts that all are y,
** |y| < ANGLE_TOP. */
static inline f64v pairs_cis(f64v y, bool swapped)
{
    i64v cosines = swapped ? ~pairs_first() : pairs_first();
    return f64_sin_quarters_(f64_angle_reduce_(y), cosines & 1);
}
static inline f64v pairs_exp(f64v z)
{
    return f64_exp(f64_cfirst(z)) * pairs_cis(f64_csecond(z), false);
}
/* cosh x + i sinh x, or with 'swapped' sinh x + i cosh x, of parts that all are
** x. */
static inline f64v pairs_cosh_sinh(f64v x, bool swapped)
{
    f64v c = f64_cosh(x), s = f64_sinh(x);
    return f64_select(pairs_first(), swapped ? s : c, swapped ? c : s);
}
static inline f64v pairs_sinh(f64v z)
{
    return pairs_cosh_sinh(f64_cfirst(z), true)
         * pairs_cis(f64_csecond(z), false);
}
static inline f64v pairs_cosh(f64v z)
{
    return pairs_cosh_sinh(f64_cfirst(z), false)
         * pairs_cis(f64_csecond(z), false);
}
static inline f64v pairs_sin(f64v z)
{
    return pairs_cosh_sinh(f64_csecond(z), false)
         * pairs_cis(f64_cfirst(z), true);
}
static inline f64v pairs_cos(f64v z)
{
    return f64_conj(pairs_cosh_sinh(f64_csecond(z), false)
                    * pairs_cis(f64_cfirst(z), false));
}
/* Kahan's tanh, as wide_tanh has it; tan has the parts exchanged. */
static inline f64v pairs_tan_parts(f64v x, f64v y, i64v along)
{
    f64v s = f64_sinh(x), t = f64_tan(y), bs = (1 + t * t) * s;
    return f64_select(along, bs * f64_sqrt(1 + s * s), t) / (1 + bs * s);
}
static inline f64v pairs_tanh(f64v z)
{
    return pairs_tan_parts(f64_cfirst(z), f64_csecond(z), pairs_first());
}
static inline f64v pairs_tan(f64v z)
{
    return pairs_tan_parts(f64_csecond(z), f64_cfirst(z), ~pairs_first());
}
static inline f64v pairs_sigmoid(f64v z)
{
    return f64_cinverse(f64_cone() + pairs_exp(-z));
}

/* y, but fn(a) for the numbers with a lane of 'odd'. */
static __attribute__((noinline, cold, unused))
f64v pairs_mend(c128 (*fn)(c128), f64v a, f64v y, i64v odd)
{
    c128 in[F64_LANES / 2], out[F64_LANES / 2];
    memcpy(in, &a, sizeof in);
    memcpy(out, &y, sizeof out);
    for (int i = 0; i < F64_LANES / 2; i++)
        if (odd[2 * i] | odd[2 * i + 1]) out[i] = fn(in[i]);
    memcpy(&y, out, sizeof y);
    return y;
}

/* 'raised' is what the exponential takes, 'angle' what the sine takes. NaN
** fails both comparisons. */
#define PAIRS(name, raised, angle) \
    static inline f64v c128s_##name(f64v z) \
    { \
        f64v y = pairs_##name(z); \
        i64v odd = ~(f64_abs(raised) <= 300) | ~(f64_abs(angle) < 0x1p20); \
        return __builtin_expect(i64_any(odd), 0) \
            ? pairs_mend(c128_##name, z, y, odd) : y; \
    }
PAIRS(exp, f64_cfirst(z), f64_csecond(z))
PAIRS(sinh, f64_cfirst(z), f64_csecond(z))
PAIRS(cosh, f64_cfirst(z), f64_csecond(z))
PAIRS(tanh, 3 * f64_cfirst(z), f64_csecond(z))
PAIRS(tan, 3 * f64_csecond(z), f64_cfirst(z))
PAIRS(sigmoid, f64_cfirst(z), f64_csecond(z))
PAIRS(sin, f64_csecond(z), f64_cfirst(z))
PAIRS(cos, f64_csecond(z), f64_cfirst(z))
#undef PAIRS

#endif
#endif
