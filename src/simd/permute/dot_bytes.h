/*
** Products of 32 bytes with 32 signed bytes, summed by fours into 8 integers;
** the same on all levels, as integers are exact. Vectors of 32 bytes whatever
** the level: a block of quantized numbers is no longer.
**
**     bytes_nibbles(p)       16 bytes: their low halves, then their high ones
**     bytes_dot(u, x)        u without a sign, at most 127
**     bytes_sdot(s, x)       s with a sign
**     bytes_lookup(t, u)     t[u] of 16 signed bytes, u at most 15
**     bytes_fma(d, by, sum)  sum + by * d
*/
#ifndef LA_SIMD_PERMUTE_DOT_BYTES_H
#define LA_SIMD_PERMUTE_DOT_BYTES_H

#include <stdint.h>
#include <string.h>

#include "simd/vec.h"

typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef int8_t sbytes32 __attribute__((vector_size(32)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));

static inline bytes32 bytes_load(const void *p)
{
    bytes32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#ifdef __AVX2__
static inline bytes32 bytes_nibbles(const void *p)
{
    __m128i b = _mm_loadu_si128(p);
    __m256i v = _mm256_set_m128i(_mm_srli_epi16(b, 4), b);
    return (bytes32)_mm256_and_si256(v, _mm256_set1_epi8(15));
}
static inline ints8 bytes_dot(bytes32 u, sbytes32 x)
{
    __m256i pairs = _mm256_maddubs_epi16((__m256i)u, (__m256i)x);
    return (ints8)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
static inline ints8 bytes_sdot(sbytes32 s, sbytes32 x)
{
    __m256i size = _mm256_abs_epi8((__m256i)s);
    __m256i moved = _mm256_sign_epi8((__m256i)x, (__m256i)s);
    return bytes_dot((bytes32)size, (sbytes32)moved);
}
static inline sbytes32 bytes_lookup(const int8_t *t, bytes32 u)
{
    __m256i both = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)t));
    return (sbytes32)_mm256_shuffle_epi8(both, (__m256i)u);
}
static inline floats8 bytes_fma(ints8 d, float by, floats8 sum)
{
    return (floats8)_mm256_fmadd_ps(_mm256_cvtepi32_ps((__m256i)d),
                                    _mm256_set1_ps(by), (__m256)sum);
}
#else
static inline bytes32 bytes_nibbles(const void *p)
{
    uint8_t b[32];
    bytes32 v;
    memcpy(b, p, 16);
    for (int j = 0; j < 16; j++) b[16 + j] = b[j] >> 4;
    memcpy(&v, b, sizeof v);
    return v & 15;
}
static inline ints8 bytes_sdot(sbytes32 s, sbytes32 x)
{
    ints8 sum = {0};
    for (int j = 0; j < 32; j++) sum[j / 4] += s[j] * x[j];
    return sum;
}
static inline ints8 bytes_dot(bytes32 u, sbytes32 x)
{
    return bytes_sdot((sbytes32)u, x);
}
static inline sbytes32 bytes_lookup(const int8_t *t, bytes32 u)
{
    sbytes32 v = {0};
    for (int j = 0; j < 32; j++) v[j] = t[u[j]];
    return v;
}
static inline floats8 bytes_fma(ints8 d, float by, floats8 sum)
{
    return sum + __builtin_convertvector(d, floats8) * by;
}
#endif

#endif
