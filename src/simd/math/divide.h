/*
** Quotients of 64-bit integers, for loops that the compiler makes vectors of.
** Where the machine converts such integers in vectors (AVX512DQ), a division in
** double gives the first 52 bits or so, a second one of the remainder the rest:
** several times as fast as one integer division after the other. Elsewhere it
** is the plain quotient.
*/
#ifndef LA_SIMD_MATH_DIVIDE_H
#define LA_SIMD_MATH_DIVIDE_H

#include "simd/vec.h"

/* The upper 64 bits of a product: by four products of 32-bit halves where there
** are vectors to multiply those, else by the 128-bit type. */
static inline uint64_t uint64_high(uint64_t a, uint64_t b)
{
#if defined(__AVX512DQ__)
    const uint64_t half = 0xffffffff;
    uint64_t low = (a & half) * (b & half), left = (a >> 32) * (b & half);
    uint64_t right = (a & half) * (b >> 32) + (left & half) + (low >> 32);
    return (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
#else
    return (uint64_t)((unsigned __int128)a * b >> 64);
#endif
}

/* a / d, cut toward zero; d is neither 0 nor -1. */
static inline int64_t int64_quotient(int64_t a, int64_t d)
{
#if defined(__AVX512DQ__)
    uint64_t a_sign = (uint64_t)(a >> 63), d_sign = (uint64_t)(d >> 63);
    uint64_t n = ((uint64_t)a ^ a_sign) - a_sign;
    uint64_t by = ((uint64_t)d ^ d_sign) - d_sign;
    uint64_t q = (uint64_t)((double)n / (double)by);
    int64_t rest = (int64_t)(n - q * by);   /* below 'by' or 2^12 */
    int64_t more = (int64_t)((double)rest / (double)by);
    q += (uint64_t)more;
    rest = (int64_t)((uint64_t)rest - (uint64_t)more * by);
    /* The second quotient is right but for a rounding up to a whole number. */
    uint64_t below = (uint64_t)(rest >> 63);
    q += below + ((uint64_t)rest + (by & below) >= by);
    return (int64_t)((q ^ (a_sign ^ d_sign)) - (a_sign ^ d_sign));
#else
    return a / d;
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* Products of 32 and 64 bits, of which compilers make no good vectors for AVX2:
**   u32_product_shifted(a, b, n)   the 64-bit products, shifted right
**   u32_product_high(a, b)         their upper halves; u64_product_high
**   u32_product(a, b)              their lower halves; u64_product */
#define HAS_WIDE_BY
static inline u32v u32_product_shifted(u32v a, u32v b, int shift)
{
    u64v even = u64_mul_low32((u64v)a, (u64v)b) >> shift;
    u64v odd = u64_mul_low32((u64v)a >> 32, (u64v)b) >> shift;
    return (u32v)_mm256_blend_epi32((__m256i)even, (__m256i)(odd << 32), 0xaa);
}
static inline u32v u32_product_high(u32v a, u32v b)
{
    u64v even = u64_mul_low32((u64v)a, (u64v)b) >> 32;
    u64v odd = u64_mul_low32((u64v)a >> 32, (u64v)b);
    return (u32v)_mm256_blend_epi32((__m256i)even, (__m256i)odd, 0xaa);
}
static inline u64v u64_product_high(u64v a, u64v b)
{
    u64v a1 = a >> 32, b1 = b >> 32;
    u64v left = u64_mul_low32(a1, b) + (u64_mul_low32(a, b) >> 32);
    u64v right = u64_mul_low32(a, b1) + (left & 0xffffffff);
    return u64_mul_low32(a1, b1) + (left >> 32) + (right >> 32);
}
static inline u32v u32_product(u32v a, u32v b) { return a * b; }
static inline u64v u64_product(u64v a, u64v b) { return a * b; }

/* Quotients and rests of 64-bit integers of at most 51 bits by the division of
** doubles, which hold them: a quotient is further from the next whole number
** than it is rounded. By 0 they are 0 and a. */
#define HAS_LONGS
#define LONGS_FIT(a, b) longs_fit(a, b, IS_SIGNED)
static inline bool longs_fit(u32v a, u32v b, bool is_signed)
{
    uint64_t up = is_signed ? (uint64_t)1 << 51 : 0;
    u64v high = (((u64v)a + up) | ((u64v)b + up)) >> (is_signed ? 52 : 51);
    return __builtin_expect(!i64_any((i64v)(high != 0)), 1);
}
static inline f64v longs_widen_(u32v a)
{
    return (f64v)((u64v)a + 0x4338000000000000) - 0x1.8p52;
}
static inline u32v longs_narrow_(f64v a)
{
    return (u32v)((u64v)(a + 0x1.8p52) - 0x4338000000000000);
}
static inline f64v longs_quotient_(f64v a, f64v b, bool floored)
{
    f64v q = a / b;
    q = floored ? f64_floor(q) : f64_trunc(q);
    return f64_select(b == 0, f64_zero(), q);
}
static inline u32v longs_quotient(u32v a, u32v b, bool floored)
{
    return longs_narrow_(longs_quotient_(longs_widen_(a), longs_widen_(b),
                                         floored));
}
static inline u32v longs_rest(u32v a, u32v b, bool floored)
{
    f64v x = longs_widen_(a), y = longs_widen_(b);
    return longs_narrow_(f64_fma(-longs_quotient_(x, y, floored), y, x));
}
#endif

#endif
