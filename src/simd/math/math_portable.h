/*
** Functions of f32v for the baseline, through double: only + - * /, square
** roots, comparisons and operations on bits, in a fixed order and without fused
** multiply-adds, so that every machine gives the same bits (op/lockstep.h). The
** doubles are right to 2^-40 and better, so that results are within 0.501 units
** in the last place. Lanes that the methods do not cover, and functions without
** one, go to base/libm/libm.h. math_own.inc with multiply-adds through double
** would take up to 1.55 times as long here, and round otherwise.
*/
#ifndef LA_SIMD_MATH_MATH_PORTABLE_H
#define LA_SIMD_MATH_MATH_PORTABLE_H

#include "base/libm/libm.h"
#include "simd/vec.h"

#define MAGIC_ 0x1.8p52   /* added, it rounds; the integer is the low bits */
#define ONE_BITS_ UINT64_C(0x3ff0000000000000)

static inline f64v portable_poly_(f64v x, const double *c, int n)
{
    f64v y = f64_set1(c[n - 1]);
    for (int k = n - 2; k >= 0; k--) y = y * x + c[k];
    return y;
}
#define POLY_(x, c) portable_poly_(x, c, (int)(sizeof(c) / sizeof((c)[0])))

/* v, but fn(x, y) where 'rare' is set. */
__attribute__((noinline, cold)) static f32v
portable_mend_(float (*fn)(float, float), i32v rare, f32v x, f32v y, f32v v)
{
    for (int i = 0; i < F32_LANES; i++)
        if (rare[i]) v[i] = fn(x[i], y[i]);
    return v;
}

/* ---- exponentials ---- */

/* e^r - 1 for |r| <= 0.35, and 2^n in *s for the low bits n of 't'. */
static inline f64v portable_exp_part_(f64v t, f64v r, f64v *s)
{
    static const double c[] = {1 / 2.0, 1 / 6.0, 1 / 24.0, 1 / 120.0,
        1 / 720.0, 1 / 5040.0, 1 / 40320.0, 1 / 362880.0, 1 / 3628800.0};
    *s = (f64v)(((u64v)t << 52) + ONE_BITS_);
    return r + r * r * POLY_(r, c);
}
/* portable_exp_part_ for e^v; |v| < 700. */
static inline f64v portable_exp_split_(f64v v, f64v *s)
{
    f64v t = v * 1.44269504088896340736 + MAGIC_, n = t - MAGIC_;
    f64v r = (v - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    return portable_exp_part_(t, r, s);
}
/* Into the range where the powers are doubles: beyond, floats are 0 and
** infinity. NaN becomes a number. */
static inline f64v portable_clamp_(f64v v)
{
    return f64_max(f64_min(v, f64_set1(200)), f64_set1(-200));
}
static inline f64v portable_keep_nan_(f64v x, f64v y)
{
    return f64_select(x != x, x, y);
}
static inline f64v portable_exp(f64v x)
{
    f64v s, p = portable_exp_split_(portable_clamp_(x), &s);
    return portable_keep_nan_(x, s * p + s);
}
static inline f64v portable_exp2(f64v x)
{
    f64v v = portable_clamp_(x), t = v + MAGIC_, s;
    f64v r = (v - (t - MAGIC_)) * 0.69314718055994530942;
    f64v p = portable_exp_part_(t, r, &s);
    return portable_keep_nan_(x, s * p + s);
}
static inline f64v portable_expm1(f64v x)
{
    f64v s, p = portable_exp_split_(portable_clamp_(x), &s);
    f64v y = s * p + (s - 1);
    return f64_select((x == 0) | (x != x), x, y);
}
static inline f64v portable_sinh(f64v x)
{
    f64v e = portable_expm1(f64_abs(x));
    return f64_copysign((e + e / (e + 1)) * 0.5, x);
}
static inline f64v portable_cosh(f64v x)
{
    f64v e = portable_exp(f64_abs(x));
    return (e + 1 / e) * 0.5;
}
static inline f64v portable_tanh(f64v x)
{
    f64v e = portable_expm1(f64_abs(x) * 2);
    return f64_copysign(e / (e + 2), x);
}

/* ---- logarithms ---- */

/* The logarithm of m where x = 2^k m, m from sqrt(1/2) to sqrt(2), x a normal
** double above 0: 2 atanh((m - 1) / (m + 1)). */
static inline f64v portable_log_split_(f64v x, f64v *k)
{
    static const double c[] = {2 / 3.0, 2 / 5.0, 2 / 7.0, 2 / 9.0, 2 / 11.0,
        2 / 13.0, 2 / 15.0, 2 / 17.0, 2 / 19.0, 2 / 21.0};
    u64v from = (u64v)x + (UINT64_C(1024) << 52) - UINT64_C(0x3fe6a09e667f3bcd);
    u64v n = from >> 52;
    *k = (f64v)(n | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024);
    f64v m = (f64v)((u64v)x - ((n - 1024) << 52));
    f64v s = (m - 1) / (m + 1), z = s * s;
    return s + s + s * z * POLY_(z, c);
}
/* y for the logarithm of x: right for 0, negative numbers, infinity, NaN. */
static inline f64v portable_log_ends_(f64v x, f64v y)
{
    f64v end = f64_select(x == 0, f64_set1(-INFINITY), f64_set1(NAN));
    end = f64_select(x == (double)INFINITY, x, end);
    return f64_select((x > 0) & (x < (double)INFINITY), y, end);
}
static inline f64v portable_log(f64v x)
{
    f64v k, l = portable_log_split_(x, &k);
    return portable_log_ends_(x, k * 0.69314718055994530942 + l);
}
static inline f64v portable_log2(f64v x)
{
    f64v k, l = portable_log_split_(x, &k);
    return portable_log_ends_(x, k + l * 1.44269504088896340736);
}
static inline f64v portable_log10(f64v x)
{
    f64v k, l = portable_log_split_(x, &k);
    l = k * 0.30102999566398119521 + l * 0.43429448190325182765;
    return portable_log_ends_(x, l);
}
/* log u times what the rounding of u = 1 + x has changed (W. Kahan). */
static inline f64v portable_log1p(f64v x)
{
    f64v u = 1 + x, k, l = portable_log_split_(u, &k);
    l = (k * 0.69314718055994530942 + l) * (x / (u - 1));
    return f64_select(u == 1, x, portable_log_ends_(u, l));
}

/* ---- powers ---- */

static inline f64v portable_pow_part_(f64v x, f64v y)
{
    f64v k, l = portable_log_split_(x, &k), s;
    f64v v = (k * 0.69314718055994530942 + l) * y;
    f64v p = portable_exp_split_(portable_clamp_(v), &s);
    return s * p + s;
}

/* ---- circular functions ---- */

/* x less the nearest multiple of pi/2; the low bits of *t count it. */
static inline f64v portable_reduce_(f64v x, f64v *t)
{
    *t = x * 0.63661977236758134308 + MAGIC_;
    f64v n = *t - MAGIC_;
    return ((x - n * 0x1.921fb544p0) - n * 0x1.0b4611a6p-34)
           - n * 0x1.3198a2e037073p-69;
}
static inline f64v portable_sin_part_(f64v r, f64v z)
{
    static const double c[] = {-1 / 6.0, 1 / 120.0, -1 / 5040.0,
        1 / 362880.0, -1 / 39916800.0, 1 / 6227020800.0};
    return r + r * z * POLY_(z, c);
}
static inline f64v portable_cos_part_(f64v z)
{
    static const double c[] = {-1 / 2.0, 1 / 24.0, -1 / 720.0, 1 / 40320.0,
        -1 / 3628800.0, 1 / 479001600.0, -1 / 87178291200.0};
    return 1 + z * POLY_(z, c);
}
/* The sine of x plus 'angles' right angles. */
static inline f64v portable_sine_(f64v x, uint64_t angles)
{
    f64v t, r = portable_reduce_(x, &t), z = r * r;
    u64v q = (u64v)t + angles;
    i64v odd = (i64v)(q & 1) != 0;
    f64v v = f64_select(odd, portable_cos_part_(z), portable_sin_part_(r, z));
    return (f64v)((u64v)v ^ (q & 2) << 62);
}
static inline f64v portable_sin(f64v x)
{
    return f64_select(x == 0, x, portable_sine_(x, 0));
}
static inline f64v portable_cos(f64v x) { return portable_sine_(x, 1); }
static inline f64v portable_tan(f64v x)
{
    f64v t, r = portable_reduce_(x, &t), z = r * r;
    i64v odd = (i64v)((u64v)t & 1) != 0;
    f64v s = portable_sin_part_(r, z), c = portable_cos_part_(z);
    f64v v = f64_select(odd, -c, s) / f64_select(odd, s, c);
    return f64_select(x == 0, x, v);
}

/* The angle of the point (x, y): an eighth of the circle, mirrored. */
static inline f64v portable_atan2(f64v y, f64v x)
{
    static const double c[] = {
        -0x1.5555555555545p-2, 0x1.999999999096ep-3, -0x1.2492491dc80f0p-3,
        0x1.c71c6dcb613f5p-4, -0x1.745c7eb4fab7ap-4, 0x1.3b06805f918adp-4,
        -0x1.105da68f4b9f9p-4, 0x1.d5e437a857a29p-5, -0x1.6f2e0395562acp-5,
        0x1.747c139b7128bp-6};
    f64v ay = f64_abs(y), ax = f64_abs(x);
    i64v steep = ay > ax, far = (ay == ax) & (ay == (double)INFINITY);
    f64v low = f64_select(steep, ax, ay), high = f64_select(steep, ay, ax);
    /* Two infinities are equal, and so are two zeros. */
    low = f64_select(far, f64_set1(1), low);
    high = f64_select(far | (high == 0), f64_set1(1), high);
    f64v a = low / high;
    i64v upper = a > 0.41421356237309504880;
    f64v r = f64_select(upper, (a - 1) / (a + 1), a), z = r * r;
    f64v v = r + r * z * POLY_(z, c);
    v = f64_select(upper, 0.78539816339744830962 + v, v);
    v = f64_select(steep, 1.57079632679489661923 - v, v);
    v = f64_select(f64_signbit(x), 3.14159265358979323846 - v, v);
    return f64_select((x != x) | (y != y), x + y, f64_copysign(v, y));
}
static inline f64v portable_atan(f64v x)
{
    return portable_atan2(x, f64_set1(1));
}
static inline f64v portable_asin(f64v x)
{
    return portable_atan2(x, f64_sqrt((1 - x) * (1 + x)));
}
static inline f64v portable_acos(f64v x)
{
    return portable_atan2(f64_sqrt((1 - x) * (1 + x)), x);
}

/* ---- of floats ---- */

#define HALVES1_(fn, x) f32_from_f64(portable_##fn(f64_from_f32_low(x)), \
                                     portable_##fn(f64_from_f32_high(x)))
#define HALVES2_(fn, x, y) \
    f32_from_f64(portable_##fn(f64_from_f32_low(x), f64_from_f32_low(y)), \
                 portable_##fn(f64_from_f32_high(x), f64_from_f32_high(y)))
#define BY_DOUBLE(name) \
    static inline f32v f32_portable_##name(f32v x) \
    { \
        return HALVES1_(name, x); \
    }
BY_DOUBLE(exp)
BY_DOUBLE(exp2)
BY_DOUBLE(expm1)
BY_DOUBLE(sinh)
BY_DOUBLE(cosh)
BY_DOUBLE(tanh)
BY_DOUBLE(log)
BY_DOUBLE(log2)
BY_DOUBLE(log10)
BY_DOUBLE(log1p)
BY_DOUBLE(atan)
BY_DOUBLE(asin)
BY_DOUBLE(acos)
#undef BY_DOUBLE

/* Angles from 2^20 on are reduced by libm. */
#define OF_ANGLE(name) \
    static inline float portable_far_##name(float x, float y) \
    { \
        (void)y; \
        return la_m_##name##f(x); \
    } \
    static inline f32v f32_portable_##name(f32v x) \
    { \
        i32v rare = ~(f32_abs(x) < 0x1p20f); \
        f32v v = HALVES1_(name, x); \
        return __builtin_expect(i32_any(rare), 0) \
            ? portable_mend_(portable_far_##name, rare, x, x, v) : v; \
    }
OF_ANGLE(sin)
OF_ANGLE(cos)
OF_ANGLE(tan)
#undef OF_ANGLE

static inline f32v f32_portable_atan2(f32v y, f32v x)
{
    return HALVES2_(atan2, y, x);
}
/* Positive finite numbers to finite powers; the others have rules. */
static inline f32v f32_portable_pow(f32v x, f32v y)
{
    i32v rare = ~((x > 0) & (x < INFINITY) & (f32_abs(y) < INFINITY));
    f32v v = HALVES2_(pow_part_, x, y);
    return __builtin_expect(i32_any(rare), 0)
        ? portable_mend_(la_m_powf, rare, x, y, v) : v;
}

#define BY_LANES(name) \
    static inline f32v f32_portable_##name(f32v x) \
    { \
        for (int i = 0; i < F32_LANES; i++) x[i] = la_m_##name##f(x[i]); \
        return x; \
    }
BY_LANES(asinh)
BY_LANES(acosh)
BY_LANES(atanh)
BY_LANES(cbrt)
BY_LANES(erf)
BY_LANES(erfc)
BY_LANES(lgamma)
BY_LANES(sinpi)
#undef BY_LANES
static inline f32v f32_portable_hypot(f32v x, f32v y)
{
    for (int i = 0; i < F32_LANES; i++) x[i] = la_m_hypotf(x[i], y[i]);
    return x;
}

#undef HALVES1_
#undef HALVES2_
#undef POLY_
#undef MAGIC_
#undef ONE_BITS_

#endif
