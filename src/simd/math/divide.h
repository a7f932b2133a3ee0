/*
** Quotients of 64-bit integers, for loops that the compiler makes vectors of.
** Where the machine converts such integers in vectors (AVX512DQ), a division in
** double gives the first 52 bits or so, a second one of the remainder the rest:
** several times as fast as one integer division after the other. Elsewhere it
** is the plain quotient.
*/
#ifndef LA_SIMD_MATH_DIVIDE_H
#define LA_SIMD_MATH_DIVIDE_H

#include <stdint.h>

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

#endif
