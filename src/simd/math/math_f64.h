/* Functions of f64v: f64_exp, f64_log, ...: own methods for the rows BOTH1 and
** BOTH2 of sleef.def where there is AVX2, with SLEEF's for the rest; elsewhere
** libm's. */
#ifndef LA_SIMD_MATH_MATH_F64_H
#define LA_SIMD_MATH_MATH_F64_H

#include "simd/math/sleef.h"

#define SLEEF1(name, u) \
    static inline f64v f64_##name(f64v x) { return f64_sleef_##name(x); }
#define SLEEF2(name, u) \
    static inline f64v f64_##name(f64v x, f64v y) \
    { \
        return f64_sleef_##name(x, y); \
    }
#ifdef __AVX2__
#define BOTH1(name, u)
#define BOTH2(name, u)
#include "simd/math/math_f64_own.h"
#define MEND1(name, u)
#define LIMIT1(name, u)
#define LIMIT2(name, u)
#endif
#include "simd/math/sleef.def"

#ifdef __AVX2__
static inline f64v f64_lgamma(f64v x) { return f64_sleef_lgamma(x); }
#endif

#ifndef HAS_TAIL_64
static inline f64v f64_tail_(f64v a) { return f64_erfc(a); }
static inline f64v f64_normal_tail_(f64v a)
{
    return f64_erfc(a * 0.70710678118654752440) * 0.5;
}
#endif
/* The lower tail of the normal distribution, from the tail beyond |x|, which
** keeps its digits where 1 + erf cancels. */
static inline f64v f64_ndtr(f64v x)
{
    f64v tail = f64_normal_tail_(f64_abs(x));
    return f64_select(x < 0, tail, 1 - tail);
}
static inline f64v f64_gelu(f64v x) { return x * f64_ndtr(x); }

#endif
