/* Functions of f32v: f32_exp, f32_log, ...: own methods (math_f32_own.h) for
** the rows BOTH1, BOTH2 and OWN1 of sleef.def where there is AVX2 with the FMA
** that they are built on, with SLEEF's for the rest; elsewhere those of
** math_portable.h. */
#ifndef LA_SIMD_MATH_MATH_F32_H
#define LA_SIMD_MATH_MATH_F32_H

#include "simd/math/math_f64.h"

/* A function through double and back: two calls, one rounding. */
static inline f32v f32_wide_(f64v (*fn)(f64v), f32v x)
{
    return f32_from_f64(fn(f64_from_f32_low(x)), fn(f64_from_f32_high(x)));
}
#ifdef __AVX2__
/* y, but through double in the lanes 'rare', where the float function of SLEEF
** overflows too early. */
static inline f32v f32_mend_(f64v (*fn)(f64v), i32v rare, f32v x, f32v y)
{
    if (__builtin_expect(!i32_any(rare), 1)) return y;
    return f32_select(rare, f32_wide_(fn, x), y);
}
static inline f32v f32_lgamma(f32v x)
{
    return f32_mend_(f64_lgamma, x > 0x1p60f, x, f32_sleef_lgamma(x));
}
#endif

#ifdef __AVX2__
#define F32_OTHER(name) f32_sleef_##name
#else
#define F32_OTHER(name) f32_portable_##name
#include "simd/math/math_portable.h"
#endif
#define SLEEF1(name, u) \
    static inline f32v f32_##name(f32v x) { return F32_OTHER(name)(x); }
#define SLEEF2(name, u) \
    static inline f32v f32_##name(f32v x, f32v y) \
    { \
        return F32_OTHER(name)(x, y); \
    }
#ifdef __AVX2__
#define BOTH1(name, u)
#define BOTH2(name, u)
#define OWN1(name, u)
#include "simd/math/math_f32_own.h"
#define MEND1(name, u)
#endif
#include "simd/math/sleef.def"

/* exp(a^2/2) times the upper tail of the normal distribution, a >= 0: a
** rational approximation to 2^-27.3, for a up to 14.3. */
static inline f32v f32_mills_(f32v a)
{
    static const float p[] = {0x1p-1f, 0x1.c0d9fcp-2f, 0x1.775280p-3f,
                              0x1.4cf1f4p-5f, 0x1.0ddc8cp-8f},
        q[] = {0x1p0f, 0x1.acaf3p0f, 0x1.33deb4p0f, 0x1.e0d01ap-2f,
               0x1.a14facp-4f, 0x1.5237a2p-7f};
    f32v n = f32_set1(p[4]), d = f32_set1(q[5]);
    for (int k = 3; k >= 0; k--) n = f32_fma(n, a, f32_set1(p[k]));
    for (int k = 4; k >= 0; k--) d = f32_fma(d, a, f32_set1(q[k]));
    return n / d;
}
#ifndef HAS_BELL
/* e^-(s + lost)/2, s + lost being an exact square. */
static inline f32v f32_bell_(f32v s, f32v lost)
{
    f32v e = f32_exp(s * -0.5f);
    return f32_fma(e, lost * -0.5f, e);
}
#endif
/* The lower tail of the normal distribution, from the tail beyond |x|, which
** keeps its digits where 1 + erf cancels. */
static inline f32v f32_ndtr_of_(f32v x, f32v tail)
{
    return f32_pick(f32_above(f32_zero(), x), tail, 1 - tail);
}
__attribute__((noinline, cold)) static f32v f32_ndtr_far_(f32v x)
{
    f32v a = f32_min(f32_set1(15), f32_abs(x));
    f32v s = a * a, lost = f32_fma(a, a, -s);
    return f32_ndtr_of_(x, f32_bell_(s, lost) * f32_mills_(a));
}
static inline f32v f32_ndtr(f32v x)
{
#ifdef GELU_TOP
    f32v top = f32_set1(GELU_TOP);
    f32v y = f32_ndtr_of_(x, f32_normal_near_(f32_min(top, f32_abs(x))));
    if (__builtin_expect(!i32_any_above((i32v)-x, (i32v)top), 1)) return y;
    return f32_select(x < -top, f32_ndtr_far_(x), y);
#else
    return f32_ndtr_far_(x);
#endif
}
/* x times that. */
__attribute__((noinline, cold)) static f32v f32_gelu_far_(f32v x)
{
    return x * f32_ndtr_far_(x);
}
/* Few arguments are beyond the table, and those lanes alone pay for it. */
static inline f32v f32_gelu(f32v x)
{
#ifdef GELU_TOP
    f32v y = f32_gelu_near_(x), top = f32_set1(GELU_TOP);
    if (__builtin_expect(!i32_any_above((i32v)-x, (i32v)top), 1)) return y;
    return f32_select(x < -top, f32_gelu_far_(x), y);
#else
    return f32_gelu_far_(x);
#endif
}

#endif
