/*
** Own methods for float32: argument reduction, a minimax polynomial and a
** reconstruction, with explicit fma and nothing that depends on the width, so
** that AVX2 and AVX512 give the same bits. Coefficients are fpminimax's
** (Sollya), with single precision coefficients, relative error; the bound that
** stands at a polynomial is that of the exact polynomial, before roundings.
** Reductions are Cody and Waite's ("Software Manual for the Elementary
** Functions", 1980): the constant is a sum of parts, and the product with the
** first part is exact.
**
** The common range of a function is straight code. Lanes outside (overflow,
** denormals, huge angles, NaN) are found with one test per vector; then a
** second, slower routine computes those lanes, and only those.
*/
#ifndef LA_SIMD_MATH_MATH_F32_OWN_H
#define LA_SIMD_MATH_MATH_F32_OWN_H

#include "simd/int_extreme.h"
#include "simd/vec.h"

#define K(c) f32_set1(c)

/* p*x + c, a step of Horner's rule. */
static inline f32v f32_step_(f32v p, f32v x, float c)
{
    return f32_fma(p, x, K(c));
}
/* |x| > limit, or NaN: as integers. */
static inline i32v f32_beyond_(f32v x, float limit)
{
    return (i32v)f32_abs(x) > (i32v)K(limit);
}
static inline bool f32_any_beyond_(f32v x, float limit)
{
    return i32_any_above((i32v)f32_abs(x), (i32v)K(limit));
}

/* ---- exponentials ---- */

/* x = n*ln2 + r + rest: adding 1.5*2^23 rounds to an integer and leaves n in
** the low bits of 'shifted', ready to be shifted into an exponent. */
#define EXP_SHIFT 0x1.8p23f
typedef struct { f32v shifted, n, r, rest; } f32_exp_parts_;
static inline f32_exp_parts_ f32_exp_reduce_(f32v x)
{
    f32_exp_parts_ p;
    p.shifted = f32_fma(x, K(0x1.715476p0f), K(EXP_SHIFT));
    p.n = p.shifted - EXP_SHIFT;
    f32v a = f32_fma(p.n, K(-0x1.62e43p-1f), x);
    p.r = f32_fma(p.n, K(0x1.05c61p-29f), a);
    p.rest = f32_fma(p.n, K(0x1.05c61p-29f), a - p.r);
    return p;
}
/* (e^r - 1 - r) / r^2 on |r| <= ln2/2; e^r to 2^-28.2 */
static const float f32_exp_c_[] = {
    0x1.694cd4p-10f, 0x1.123988p-7f, 0x1.555a26p-5f, 0x1.555492p-3f,
    0x1.fffffap-2f
};
static inline f32v f32_exp_tail_(f32v r)
{
    f32v q = K(f32_exp_c_[0]);
#pragma GCC unroll 8
    for (int k = 1; k < 5; k++) q = f32_step_(q, r, f32_exp_c_[k]);
    return q;
}
static inline f32v f32_exp_poly_(f32v r)
{
    return f32_step_(f32_step_(f32_exp_tail_(r), r, 1), r, 1);
}
/* y * 2^n where the result is a normal number; n as in f32_exp_parts_. */
static inline f32v f32_scale_near_(f32v y, f32v shifted)
{
    return (f32v)((u32v)y + ((u32v)shifted << 23));
}
/* f32_scale_near_ for any |n| < 250: in two steps, of which only the second
** rounds. */
static inline f32v f32_scale_far_(f32v y, f32v shifted)
{
    i32v n = (i32v)((u32v)shifted - (u32v)K(EXP_SHIFT));
    i32v half = n >> 1;
    f32v a = (f32v)((half + 127) << 23), b = (f32v)((n - half + 127) << 23);
    return y * a * b;
}
/* Overflow, subnormal results and NaN: clamped, so that two steps of scaling
** give infinity or 0. */
RARE f32v f32_exp_far_(f32v x)
{
    f32v near = f32_max(f32_min(x, K(89)), K(-105));
    f32_exp_parts_ p = f32_exp_reduce_(near);
    f32v y = f32_scale_far_(f32_exp_poly_(p.r), p.shifted);
    return f32_select(x != x, x, y);
}
static inline f32v f32_exp(f32v x)
{
    if (UNLIKELY(f32_any_beyond_(x, 87))) return f32_exp_far_(x);
    f32_exp_parts_ p = f32_exp_reduce_(x);
    return f32_scale_near_(f32_exp_poly_(p.r), p.shifted);
}

/* e^-(s + lost)/2 for s up to 225: what the rounding of a square lost goes into
** the reduced argument. */
#define HAS_BELL
static inline f32v f32_bell_(f32v s, f32v lost)
{
    f32v x = s * -0.5f;
    f32_exp_parts_ p = f32_exp_reduce_(x);
    f32v y = f32_exp_poly_(f32_fma(lost, K(-0.5f), p.r));
    if (UNLIKELY(f32_any_beyond_(x, 87))) return f32_scale_far_(y, p.shifted);
    return f32_scale_near_(y, p.shifted);
}

/* 2^r on |r| <= 1/2, to 2^-28 */
static inline f32v f32_exp2_poly_(f32v r)
{
    f32v q = K(0x1.3faf58p-13f);
    q = f32_step_(q, r, 0x1.5f0cap-10f);
    q = f32_step_(q, r, 0x1.3b3094p-7f);
    q = f32_step_(q, r, 0x1.c6af74p-5f);
    q = f32_step_(q, r, 0x1.ebfbd8p-3f);
    q = f32_step_(q, r, 0x1.62e43p-1f);
    return f32_step_(q, r, 1);
}
RARE f32v f32_exp2_far_(f32v x)
{
    f32v near = f32_max(f32_min(x, K(129)), K(-151));
    f32v shifted = near + EXP_SHIFT;
    f32v y = f32_exp2_poly_(near - (shifted - EXP_SHIFT));
    return f32_select(x != x, x, f32_scale_far_(y, shifted));
}
static inline f32v f32_exp2(f32v x)
{
    if (UNLIKELY(f32_any_beyond_(x, 125))) return f32_exp2_far_(x);
    f32v shifted = x + EXP_SHIFT;
    f32v y = f32_exp2_poly_(x - (shifted - EXP_SHIFT));
    return f32_scale_near_(y, shifted);
}

/* ---- logarithms ---- */

/* x = 2^e * (1 + f) with 1 + f from 'low' to twice that; e comes multiplied by
** 2^23, which the constants take back. x must be normal and positive. */
typedef struct { f32v e, f; } f32_log_parts_;
static inline f32_log_parts_ f32_log_split_(f32v x, float low)
{
    i32v e = (i32v)((u32v)x - (u32v)K(low)) & (int32_t)0xff800000;
    return (f32_log_parts_){f32_from_i32(e),
                             (f32v)((u32v)x - (u32v)e) - 1};
}
/* All but positive normal numbers. */
#define LOG_NORMAL_ ((i32v){0} + (int32_t)0xfeffffff)
static inline i32v f32_log_rare_(f32v x)
{
    return (i32v)((u32v)x + 0x7f800000u) > LOG_NORMAL_;
}
static inline bool f32_any_log_rare_(f32v x)
{
    return i32_any_above((i32v)((u32v)x + 0x7f800000u), LOG_NORMAL_);
}
/* The logarithm of what f32_log_rare_ finds, given 'y', the logarithm of
** x*2^23 minus that of 2^23, right for the denormals. */
RARE f32v f32_log_mend_(f32v x, f32v y)
{
    y = f32_select(x == 0, K(-INFINITY), y);
    y = f32_select(x < 0, K(NAN), y);
    return f32_select((x == K(INFINITY)) | (x != x), x, y);
}
#define LOG_LOW 0x1.555556p-1f       /* 2/3: f from -1/3 to 1/3 */
#define LOG_LOW_ROOT 0x1.6a09e6p-1f  /* sqrt(1/2) */

/* log(1 + f) to 2^-27.7 on |f| <= 1/3 */
static inline f32v f32_log_poly_(f32v f)
{
    f32v p = K(-0x1.080f4ep-3f), q = K(0x1.1e77d6p-3f), s = f * f;
    p = f32_step_(p, s, -0x1.f30d5ep-4f);
    q = f32_step_(q, s, 0x1.1ed37ep-3f);
    p = f32_step_(p, s, -0x1.559de8p-3f);
    q = f32_step_(q, s, 0x1.99d064p-3f);
    p = f32_step_(p, s, -0x1.fffefp-3f);
    p = f32_fma(q, f, p);
    p = f32_step_(p, f, 0x1.555506p-2f);
    p = f32_step_(p, f, -0.5f);
    return f32_fma(p, s, f);
}
/* e*ln2 + log(1 + f); 0x1.62e43p-24 is ln2 / 2^23, see f32_log_parts_. */
static inline f32v f32_log_near_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x, LOG_LOW);
    return f32_fma(v.e, K(0x1.62e43p-24f), f32_log_poly_(v.f));
}
/* Subnormals are scaled by 2^23 first; what is not positive and finite is set
** by f32_log_mend_. */
RARE f32v f32_log_far_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x * 0x1p23f, LOG_LOW);
    f32v y = f32_fma(v.e - 23 * 0x1p23f, K(0x1.62e43p-24f),
                     f32_log_poly_(v.f));
    return f32_log_mend_(x, y);
}
static inline f32v f32_log(f32v x)
{
    f32v y = f32_log_near_(x);
    if (UNLIKELY(f32_any_log_rare_(x)))
        return f32_select(f32_log_rare_(x), f32_log_far_(x), y);
    return y;
}

/* log2(1 + f) = f + f*p(f): the leading 1 of 1/ln2 keeps the rounding of the
** product small. */
static inline f32v f32_log2_parts_(f32v e, f32v f)
{
    f32v p = K(-0x1.c1b512p-4f), q = K(0x1.7dd40ep-3f), s = f * f;
    p = f32_step_(p, s, -0x1.8740fap-3f);
    q = f32_step_(q, s, 0x1.a2b474p-3f);
    p = f32_step_(p, s, -0x1.eabad6p-3f);
    q = f32_step_(q, s, 0x1.278392p-2f);
    p = f32_step_(p, s, -0x1.715aa6p-2f);
    q = f32_step_(q, s, 0x1.ec705ap-2f);
    p = f32_fma(p, f, q);
    p = f32_step_(p, f, -0x1.71547p-1f);
    p = f32_step_(p, f, 0x1.c551dap-2f);
    return f32_fma(e, K(0x1p-23f), f32_fma(p, f, f));
}
static inline f32v f32_log2_near_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x, LOG_LOW_ROOT);
    return f32_log2_parts_(v.e, v.f);
}
RARE f32v f32_log2_far_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x * 0x1p23f, LOG_LOW_ROOT);
    return f32_log_mend_(x, f32_log2_parts_(v.e - 23 * 0x1p23f, v.f));
}
static inline f32v f32_log2(f32v x)
{
    f32v y = f32_log2_near_(x);
    if (UNLIKELY(f32_any_log_rare_(x)))
        return f32_select(f32_log_rare_(x), f32_log2_far_(x), y);
    return y;
}

/* log10(1 + f) = f*c + f*p(f), c the nearest float to 1/ln10; the small parts
** are summed first. */
static inline f32v f32_log10_parts_(f32v e, f32v f)
{
    f32v p = K(-0x1.0f2c72p-5f), q = K(0x1.cb86ep-5f), s = f * f;
    p = f32_step_(p, s, -0x1.d7623p-5f);
    q = f32_step_(q, s, 0x1.f87fcp-5f);
    p = f32_step_(p, s, -0x1.276f1ap-4f);
    q = f32_step_(q, s, 0x1.63cf54p-4f);
    p = f32_step_(p, s, -0x1.bcbf2cp-4f);
    q = f32_step_(q, s, 0x1.287a72p-3f);
    p = f32_fma(p, f, q);
    p = f32_step_(p, f, -0x1.bcb7aap-3f);
    p = f32_step_(p, f, -0x1.5c838cp-27f);
    f32v small = f32_fma(e, K(-0x1.ec10cp-50f), p * f);
    f32v rest = f32_fma(f, K(0x1.bcb7b2p-2f), small);
    return f32_fma(e, K(0x1.344136p-25f), rest);
}
static inline f32v f32_log10_near_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x, LOG_LOW_ROOT);
    return f32_log10_parts_(v.e, v.f);
}
RARE f32v f32_log10_far_(f32v x)
{
    f32_log_parts_ v = f32_log_split_(x * 0x1p23f, LOG_LOW_ROOT);
    return f32_log_mend_(x, f32_log10_parts_(v.e - 23 * 0x1p23f, v.f));
}
static inline f32v f32_log10(f32v x)
{
    f32v y = f32_log10_near_(x);
    if (UNLIKELY(f32_any_log_rare_(x)))
        return f32_select(f32_log_rare_(x), f32_log10_far_(x), y);
    return y;
}

/* (log(1 + m) - m)/m^2, s = m^2, to 2^-27.6 of the logarithm, for m from -1/4
** to 1/2 */
static inline f32v f32_log1p_tail_(f32v m, f32v s)
{
    f32v p = K(-0x1.713e36p-5f), q = K(0x1.aca08ep-4f);
    p = f32_step_(p, s, -0x1.0d93f4p-3f);
    q = f32_step_(q, s, 0x1.2886b8p-3f);
    p = f32_step_(p, s, -0x1.54ef16p-3f);
    q = f32_step_(q, s, 0x1.996966p-3f);
    p = f32_step_(p, s, -0x1.000042p-2f);
    p = f32_fma(q, m, p);
    p = f32_step_(p, m, 0x1.5555a4p-2f);
    return f32_step_(p, m, -0.5f);
}
/* 1 + x = 2^e * (1 + m) with e from the rounded sum, m from x itself: m =
** x*2^-e + (2^-e - 1), where the powers come by subtracting exponents; 'lost'
** is what the sum lost. */
typedef struct { f32v e, m, lost, unit; } f32_log1p_parts_;
static inline f32_log1p_parts_ f32_log1p_split_(f32v x)
{
    u32v over = (u32v)(x + 1) - (u32v)K(0.75f);
    i32v e = (i32v)over & (int32_t)0xff800000;
    f32v scaled = (f32v)((u32v)x - (u32v)e);
    f32v four = (f32v)((u32v)K(4) - (u32v)e);
    f32v rest = f32_fma(four, K(0.25f), K(-1));
    f32v m = scaled + rest, other = m - scaled;
    f32v lost = (scaled - (m - other)) + (rest - other);
    return (f32_log1p_parts_){f32_from_i32(e), m, lost, four};
}
static inline f32v f32_log1p_near_(f32v x)
{
    f32_log1p_parts_ v = f32_log1p_split_(x);
    f32v s = v.m * v.m, y = f32_fma(f32_log1p_tail_(v.m, s), s, v.m);
    return f32_fma(v.e, K(0x1.62e43p-24f), y);
}
/* log(1 + x + low) for x >= 0 and a low far below 1 + x. e*ln2, its
** first part without a rounding, and m come last, with what their sum lost. */
static inline f32v f32_log1p_pair_(f32v x, f32v low)
{
    f32_log1p_parts_ v = f32_log1p_split_(x);
    f32v c = f32_fma(low, v.unit * 0.25f, v.lost), s = v.m * v.m;
    f32v base = v.e * 0x1.62e4p-24f, high = base + v.m;
    c = f32_fma(c * v.m, f32_fma(v.m, K(0.625f), K(-1)), c);   /* c/(1 + m) */
    c = f32_fma(v.e, K(0x1.7f7d1cp-43f), c);
    c = base - high + v.m + f32_fma(f32_log1p_tail_(v.m, s), s, c);
    return high + c;
}
RARE f32v f32_log1p_far_(f32v x, f32v y)
{
    y = f32_select(x == -1, K(-INFINITY), y);
    y = f32_select(x < -1, K(NAN), y);
    return f32_select((x == K(INFINITY)) | (x != x), x, y);
}
static inline f32v f32_log1p(f32v x)
{
    f32v y = f32_copysign(f32_log1p_near_(x), x);
    i32v rare = ~((x > -1) & (x < K(INFINITY)));
    if (UNLIKELY(i32_any(rare))) return f32_log1p_far_(x, y);
    return y;
}

/* ---- sine and cosine ---- */

/* x = j*pi/2 + r + rest, j in the low bits of 'shifted' (Cody and Waite). pi/2
** is P1 + P2 + P3; x - j*P1 has no rounding, and P2 has so few bits that up to
** ANGLE_LIMIT what the rounding of r loses is a float. Beyond it SLEEF's Payne
** and Hanek reduction takes over. */
#define ANGLE_LIMIT 0x1p12f
typedef struct { f32v r, rest; i32v j; } f32_angle_;
static inline f32_angle_ f32_angle_reduce_(f32v x)
{
    f32v shifted = f32_fma(x, K(0x1.45f306p-1f), K(EXP_SHIFT));
    f32v j = shifted - EXP_SHIFT;
    f32v a = f32_fma(j, K(-0x1.921fb6p0f), x);
    f32v r = f32_fma(j, K(0x1.778p-25f), a);
    f32v lost = f32_fma(j, K(0x1.778p-25f), a - r);
    return (f32_angle_){r, f32_fma(j, K(-0x1.68c234p-39f), lost),
                        (i32v)shifted};
}
/* sin(r + rest) and cos(r + rest), |r| <= pi/4, s = r*r. The leading terms are
** added last; 'low' is what 1 - s/2 lost. */
static inline f32v f32_sin_poly_(f32v r, f32v rest, f32v s)
{
    f32v p = K(-0x1.9953f4p-13f);
    p = f32_step_(p, s, 0x1.110778p-7f);
    p = f32_step_(p, s, -0x1.555546p-3f);
    return r + f32_fma(r * s, p, rest);
}
static inline f32v f32_cos_poly_(f32v r, f32v rest, f32v s)
{
    f32v p = K(0x1.99e90cp-16f);
    p = f32_step_(p, s, -0x1.6c0c2ap-10f);
    p = f32_step_(p, s, 0x1.55554ap-5f);
    f32v high = f32_fma(s, K(-0.5f), K(1));
    f32v low = f32_fma(s, K(-0.5f), 1 - high);
    return high + f32_fma(s * s, p, f32_fma(-r, rest, low));
}
/* The sine of x + quarters * pi/2. */
static inline f32v f32_sin_near_(f32v x, int quarters)
{
    f32_angle_ v = f32_angle_reduce_(x);
    f32v s = v.r * v.r;
    i32v j = v.j + quarters, odd = (j << 31) >> 31;
    f32v y = f32_select(odd, f32_cos_poly_(v.r, v.rest, s),
                        f32_sin_poly_(v.r, v.rest, s));
    return (f32v)((i32v)y ^ ((j & 2) << 30));
}
RARE f32v f32_sin_far_(f32v x)
{
    i32v far = f32_beyond_(x, ANGLE_LIMIT);
    f32v near = f32_sin_near_(f32_select(far, K(0), x), 0);
    near = f32_select(x == 0, x, near);
    return f32_select(far, f32_sleef_sin(x), near);
}
static inline f32v f32_sin(f32v x)
{
    if (UNLIKELY(f32_any_beyond_(x, ANGLE_LIMIT)))
        return f32_sin_far_(x);
    return f32_select(x == 0, x, f32_sin_near_(x, 0));  /* -0 */
}
RARE f32v f32_cos_far_(f32v x)
{
    i32v far = f32_beyond_(x, ANGLE_LIMIT);
    f32v near = f32_sin_near_(f32_select(far, K(0), x), 1);
    return f32_select(far, f32_sleef_cos(x), near);
}
static inline f32v f32_cos(f32v x)
{
    if (UNLIKELY(f32_any_beyond_(x, ANGLE_LIMIT)))
        return f32_cos_far_(x);
    return f32_sin_near_(x, 1);
}

/* ---- erfc ---- */

/* e * e^lost * erfcx(x) in double, where erfcx(x) = e^(x^2) * erfc(x) is a
** rational approximation to 2^-27.3 for x from 0 to 10.3; 'lost' is tiny. */
static inline f64v f64_erfc_tail_(f64v x, f64v e, f64v lost)
{
    f64v n = f64_set1(0x1.0e33a6f20b455p-5);
    n = f64_fma(n, x, f64_set1(0x1.d742763da6a44p-3));
    n = f64_fma(n, x, f64_set1(0x1.7788a7ef73495p-1));
    n = f64_fma(n, x, f64_set1(0x1.3d7c98de21bf0p+0));
    n = f64_fma(n, x, f64_set1(0x1.00000019acb67p+0));
    f64v d = f64_set1(0x1.deea28268f69ep-5);
    d = f64_fma(d, x, f64_set1(0x1.a1ab4c9428863p-2));
    d = f64_fma(d, x, f64_set1(0x1.542efc75cc610p+0));
    d = f64_fma(d, x, f64_set1(0x1.33facab8d40d1p+1));
    d = f64_fma(d, x, f64_set1(0x1.2f2d0bfc02bc7p+1));
    d = f64_fma(d, x, f64_set1(1));
    return f64_fma(e, lost, e) * n / d;
}
/* e^(-x^2) in float, with what the rounding of the square lost, times erfcx. */
static inline f32v f32_erfc(f32v x)
{
    f32v a = f32_min(K(10.3f), f32_abs(x));
    f32v s = a * a, lost = f32_fma(-a, a, s), e = f32_exp(-s);
    f64v low = f64_erfc_tail_(f64_from_f32_low(a), f64_from_f32_low(e),
                              f64_from_f32_low(lost));
    f64v high = f64_erfc_tail_(f64_from_f32_high(a), f64_from_f32_high(e),
                               f64_from_f32_high(lost));
    f32v tail = f32_from_f64(low, high);
    return f32_select(x < 0, 2 - tail, tail);
}

#include "simd/math/math_f32_table.h"
#include "simd/math/math_f32_coef.h"

#endif
