/* Functions of f64v: f64_exp, f64_log, ...: own methods for the rows BOTH1 and
** BOTH2 of sleef.def where there is AVX2, SLEEF's where it is right for the
** rest. */
#ifndef LA_SIMD_MATH_F64_H
#define LA_SIMD_MATH_F64_H

#include "simd/sleef.h"

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
#include "simd/math_f64_own.h"
#endif
#define MEND1(name, u)
#define LIMIT1(name, u)
#define LIMIT2(name, u)
#include "simd/sleef.def"

#ifndef __AVX2__
/* SLEEF's is infinite from 709.78271115 on, e^x from 709.78271289. There x - 1
** is exact. */
static inline f64v f64_exp(f64v x)
{
    i64v rare = x > 709.0;
    f64v y = f64_sleef_exp(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    return f64_select(rare, f64_sleef_exp(x - 1) * 2.71828182845904523536, y);
}
/* Where SLEEF's overflows, the power is the square of the power of half the
** exponent; x^1 is the only one that must not be rounded. Small exponents give
** infinities of 0 and infinity alone, and half of a subnormal one may be 0. */
static inline f64v f64_pow(f64v x, f64v y)
{
    f64v z = f64_sleef_pow(x, y);
    i64v rare = (f64_abs(z) == __builtin_inf()) & (f64_abs(y) > 0.5);
    if (__builtin_expect(!i64_any(rare), 1)) return z;
    f64v root = f64_sleef_pow(f64_abs(x), y * 0.5);
    f64v far = f64_copysign(root * root, z);
    return f64_select(rare, f64_select(y == 1, x, far), z);
}
/* SLEEF squares these arguments: beyond 2^500 they are logarithms. */
static inline f64v f64_log1p(f64v x)
{
    i64v rare = x > 0x1p500;
    f64v y = f64_sleef_log1p(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    return f64_select(rare, f64_log(x), y);
}
static inline f64v f64_asinh(f64v x)
{
    i64v rare = f64_abs(x) > 0x1p500;
    f64v y = f64_sleef_asinh(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    f64v far = f64_log(f64_abs(x)) + 0.69314718055994530942;
    return f64_select(rare, f64_copysign(far, x), y);
}
static inline f64v f64_acosh(f64v x)
{
    i64v rare = x > 0x1p500;
    f64v y = f64_sleef_acosh(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    return f64_select(rare, f64_log(x) + 0.69314718055994530942, y);
}
/* e^a / 2, which both hyperbolic functions are where SLEEF's overflow. */
static inline f64v f64_half_exp_(f64v a)
{
    return f64_sleef_exp(a - 1) * (2.71828182845904523536 / 2);
}
static inline f64v f64_sinh(f64v x)
{
    i64v rare = f64_abs(x) > 709.0;
    f64v y = f64_sleef_sinh(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    return f64_select(rare, f64_copysign(f64_half_exp_(f64_abs(x)), x), y);
}
static inline f64v f64_cosh(f64v x)
{
    i64v rare = f64_abs(x) > 709.0;
    f64v y = f64_sleef_cosh(x);
    if (__builtin_expect(!i64_any(rare), 1)) return y;
    return f64_select(rare, f64_half_exp_(f64_abs(x)), y);
}
#endif
static inline f64v f64_lgamma(f64v x) { return f64_sleef_lgamma(x); }

#ifndef HAS_TAIL_64
static inline f64v f64_tail_(f64v a) { return f64_erfc(a); }
static inline f64v f64_normal_tail_(f64v a)
{
    return f64_erfc(a * 0.70710678118654752440) * 0.5;
}
#endif
/* x times the lower tail of the normal distribution, from the tail beyond |x|,
** which keeps its digits where 1 + erf cancels. */
static inline f64v f64_gelu(f64v x)
{
    f64v tail = f64_normal_tail_(f64_abs(x));
    return x * f64_select(x < 0, tail, 1 - tail);
}

#endif
