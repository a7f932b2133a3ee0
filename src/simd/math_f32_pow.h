/*
** x^y for float32: 2^(y * log2(x)), the logarithm in double.
**
** x = 2^e * m; 'c', one of eight constants of few bits near 1/m, makes
** f = m*c - 1 small (|f| < 0.0704) and exact, so that a short polynomial in
** double gives log2(1 + f) to 2^-41; log2(1/c) is the sum of a short float,
** added to e, and a small rest.
*/
#ifndef LA_SIMD_MATH_F32_POW_H
#define LA_SIMD_MATH_F32_POW_H

#define POW_LOW 0.71875f     /* m from here to twice that, in eight parts */
typedef struct { f32v f, e, rest; } f32_pow_parts_;

/* table[k] for the eight values of k. */
static inline f32v f32_lookup_(const float table[8], i32v k)
{
#if defined(__AVX512F__)
    __m512 t = _mm512_broadcast_f32x8(_mm256_loadu_ps(table));
    return (f32v)_mm512_permutexvar_ps((__m512i)k, t);
#else
    return (f32v)_mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)k);
#endif
}
/* x positive and normal. */
static inline f32_pow_parts_ f32_pow_split_(f32v x)
{
    static const float near[8] = {21 / 16.f, 20 / 16.f, 18 / 16.f, 17 / 16.f,
                                  1, 28 / 32.f, 26 / 32.f, 23 / 32.f};
    static const float high[8] = {-0x1.91bcp-2f, -0x1.49a8p-2f, -0x1.5cp-3f,
                                  -0x1.664p-4f, 0, 0x1.8a88p-3f, 0x1.32cp-2f,
                                  0x1.e7ep-2f};
    static const float low[8] = {0x1.5db83ap-20f, 0x1.ed0cbap-20f,
                                 -0x1.a39fbep-19f, 0x1.20a6dep-21f, 0,
                                 0x1.80abfcp-19f, -0x1.1c8f12p-22f,
                                 -0x1.40358ep-19f};
    i32v above = (i32v)((u32v)x - (u32v)K(POW_LOW));
    i32v part = (above >> 20) & 7, e = above >> 23;
    f32v m = (f32v)((u32v)x - (u32v)(e << 23));
    return (f32_pow_parts_){
        f32_fma(m, f32_lookup_(near, part), K(-1)),
        f32_from_i32(e) + f32_lookup_(high, part),
        f32_lookup_(low, part)};
}
/* y * (e + log2(1 + f)) = n + r, n the nearest integer. */
static inline f64v f64_pow_exponent_(f64v f, f64v e, f64v y, f64v *n)
{
    f64v p = f64_set1(-0x1.79a6d37351422p-3);
    p = f64_fma(p, f, f64_set1(0x1.a92a1d523cd97p-3));
    p = f64_fma(p, f, f64_set1(-0x1.ec6477a0565a9p-3));
    p = f64_fma(p, f, f64_set1(0x1.27759e90ee821p-2));
    p = f64_fma(p, f, f64_set1(-0x1.7154791f7d412p-2));
    p = f64_fma(p, f, f64_set1(0x1.ec709e0a589bfp-2));
    p = f64_fma(p, f, f64_set1(-0x1.715476528f043p-1));
    p = f64_fma(p, f, f64_set1(0x1.71547652b7859p0));
    f64v z = y * f64_fma(p, f, e);
    *n = f64_round(z);
    return z - *n;
}
typedef struct { f32v n, y; } f32_pow_result_;
/* x^y = y * 2^n for x positive and normal; n huge where it over- or
** underflows. */
static inline f32_pow_result_ f32_pow_core_(f32_pow_parts_ x, f32v y)
{
    f64v n0, n1;
    f64v r0 = f64_pow_exponent_(f64_from_f32_low(x.f), f64_from_f32_low(x.e),
                                f64_from_f32_low(y), &n0);
    f64v r1 = f64_pow_exponent_(f64_from_f32_high(x.f),
                                f64_from_f32_high(x.e),
                                f64_from_f32_high(y), &n1);
    f32v r = f32_fma(y, x.rest, f32_from_f64(r0, r1));
    f32v q = K(0x1.437f3cp-13f);
    q = f32_step_(q, r, 0x1.5fbf7cp-10f);
    q = f32_step_(q, r, 0x1.3b2b84p-7f);
    q = f32_step_(q, r, 0x1.c6ada8p-5f);
    q = f32_step_(q, r, 0x1.ebfbdep-3f);
    q = f32_step_(q, r, 0x1.62e432p-1f);
    return (f32_pow_result_){f32_from_f64(n0, n1), f32_step_(q, r, 1)};
}
/* The magnitude, for any |x| and y without NaN. */
static inline f32v f32_pow_magnitude_(f32v x, f32v y)
{
    i32v tiny = x < 0x1p-126f, low = tiny & (x != 0);
    f32v shown = f32_select(low, x * 0x1p23f, x);
    i32v odd = (x == 0) | (x == K(INFINITY));
    f32_pow_parts_ p = f32_pow_split_(f32_select(odd, K(1), shown));
    p.e = f32_select(low, p.e - 23, p.e);
    /* Beyond 2^9 only the direction matters, and infinity*0 has no room. */
    i32v huge = f32_abs(y) > 0x1p40f;
    f32_pow_result_ r = f32_pow_core_(
        p, f32_select(huge, f32_copysign(K(0x1p40f), y), y));
    f32v n = f32_max(f32_min(r.n, K(200)), K(-200));
    f32v plain = f32_select(r.n == n, r.y, K(1));
    f32v z = f32_scale_far_(plain, n + EXP_SHIFT);
    /* 0 and infinity: to a positive power themselves, else the other one */
    f32v other = f32_select(x == 0, K(INFINITY), K(0));
    f32v edge = f32_select(y > 0, x, other);
    return f32_select(odd, edge, z);
}
RARE f32v f32_pow_far_(f32v x, f32v y)
{
    f32v a = f32_abs(x), whole = f32_trunc(y);
    f32v z = f32_pow_magnitude_(a, y);
    i32v is_whole = whole == y;
    f32v half = y * 0.5f;
    i32v is_odd = is_whole & (f32_trunc(half) != half);
    i32v negative = f32_signbit(x);
    z = f32_select(negative & is_odd, -z, z);
    z = f32_select((x < 0) & ~is_whole & f32_isfinite(x), K(NAN), z);
    z = f32_select((a == 1) & f32_isinf(y), K(1), z);
    z = f32_select((x != x) | (y != y), x + y, z);
    return f32_select((x == 1) | (y == 0), K(1), z);
}
static inline f32v f32_pow(f32v x, f32v y)
{
    f32_pow_result_ r = f32_pow_core_(f32_pow_split_(x), y);
    i32v rare = f32_log_rare_(x) | f32_beyond_(r.n, 124);
    if (UNLIKELY(i32_any(rare))) return f32_pow_far_(x, y);
    return f32_scale_near_(r.y, r.n + EXP_SHIFT);
}

#endif
