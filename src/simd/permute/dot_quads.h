/*
** Products of bytes, four at a time: quads of k of 16 columns lie in 64 bytes,
** those of a column side by side. Sums are of 32 bits and exact on all levels:
** pairs of products are never kept in 16 bits, which would saturate.
**
**     QUADS_VECTORS          vectors of sums for 16 columns
**     quads_row              an element of a row of A
**     quads_a(p)             four of them, without a sign, to all columns
**     quads_b(p)             signed bytes of the columns of one vector
**     quads_dot(sum, a, b)   sum + a * b
**     quads_store(p, v)      the sums of 16 columns
*/
#ifndef LA_SIMD_PERMUTE_DOT_QUADS_H
#define LA_SIMD_PERMUTE_DOT_QUADS_H

#include <stdint.h>
#include <string.h>

#include "simd/vec.h"

#define QUADS_COLUMNS 16
#define QUADS_BYTES (4 * QUADS_COLUMNS)

#if defined(__AVX512VNNI__)
typedef uint8_t quads_row;
typedef int32_t quads_four_;
#else
typedef uint16_t quads_row;
typedef int64_t quads_four_;
#endif
static inline quads_four_ quads_load_(const quads_row *p)
{
    quads_four_ four;
    memcpy(&four, p, sizeof four);
    return four;
}

#if defined(__AVX512VNNI__)
#define QUADS_VECTORS 1
#define QUADS_LANES 1         /* sums of a column */
typedef __m512i quads;
static inline quads quads_zero(void) { return _mm512_setzero_si512(); }
static inline quads quads_a(const quads_row *p)
{
    return _mm512_set1_epi32(quads_load_(p));
}
static inline quads quads_b(const uint8_t *p) { return _mm512_loadu_si512(p); }
static inline quads quads_dot(quads sum, quads a, quads b)
{
    return _mm512_dpbusd_epi32(sum, a, b);
}
#elif defined(__AVX512BW__)
#define QUADS_VECTORS 2
#define QUADS_LANES 2
typedef __m512i quads;
static inline quads quads_zero(void) { return _mm512_setzero_si512(); }
static inline quads quads_a(const quads_row *p)
{
    return _mm512_set1_epi64(quads_load_(p));
}
static inline quads quads_b(const uint8_t *p)
{
    return _mm512_cvtepi8_epi16(
        _mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline quads quads_dot(quads sum, quads a, quads b)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
#elif defined(__AVX2__)
#define QUADS_VECTORS 4
#define QUADS_LANES 2
typedef __m256i quads;
static inline quads quads_zero(void) { return _mm256_setzero_si256(); }
static inline quads quads_a(const quads_row *p)
{
    return _mm256_set1_epi64x(quads_load_(p));
}
static inline quads quads_b(const uint8_t *p)
{
    return _mm256_cvtepi8_epi16(
        _mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline quads quads_dot(quads sum, quads a, quads b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#elif defined(__SSE2__)
#define QUADS_VECTORS 8
#define QUADS_LANES 2
typedef __m128i quads;
static inline quads quads_zero(void) { return _mm_setzero_si128(); }
static inline quads quads_a(const quads_row *p)
{
    return _mm_set1_epi64x(quads_load_(p));
}
static inline quads quads_b(const uint8_t *p)
{
    __m128i b = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm_srai_epi16(_mm_unpacklo_epi8(b, b), 8);
}
static inline quads quads_dot(quads sum, quads a, quads b)
{
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#else
#define QUADS_VECTORS 16
#define QUADS_LANES 4
typedef int32_t quads __attribute__((vector_size(16)));
static inline quads quads_zero(void) { return (quads){0}; }
static inline quads quads_a(const quads_row *p)
{
    return (quads){p[0], p[1], p[2], p[3]};
}
static inline quads quads_b(const uint8_t *p)
{
    return (quads){(int8_t)p[0], (int8_t)p[1], (int8_t)p[2], (int8_t)p[3]};
}
static inline quads quads_dot(quads sum, quads a, quads b)
{
    return sum + a * b;
}
#endif

/* Sums are modulo 2^32, as the format's are. */
static inline void quads_store(uint32_t *p, const quads *v)
{
    uint32_t lane[QUADS_COLUMNS * QUADS_LANES];
    memcpy(lane, v, sizeof lane);
    for (int j = 0; j < QUADS_COLUMNS; j++) {
        p[j] = lane[j * QUADS_LANES];
        for (int l = 1; l < QUADS_LANES; l++) p[j] += lane[j * QUADS_LANES + l];
    }
}

/* Sixteen bytes of four rows: each column's four side by side, 64 bytes. */
typedef uint8_t bytes16 __attribute__((vector_size(16), may_alias));
typedef uint16_t pairs8_ __attribute__((vector_size(16), may_alias));
static inline void quads_interleave(uint8_t *to, const bytes16 row[4])
{
#define LOW_ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_ 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
    pairs8_ a[2] = {
        (pairs8_)__builtin_shufflevector(row[0], row[1], LOW_),
        (pairs8_)__builtin_shufflevector(row[0], row[1], HIGH_)};
    pairs8_ b[2] = {
        (pairs8_)__builtin_shufflevector(row[2], row[3], LOW_),
        (pairs8_)__builtin_shufflevector(row[2], row[3], HIGH_)};
#undef LOW_
#undef HIGH_
    for (int h = 0; h < 2; h++) {
        pairs8_ low = __builtin_shufflevector(a[h], b[h], 0, 8, 1, 9, 2, 10, 3,
                                              11);
        pairs8_ high = __builtin_shufflevector(a[h], b[h], 4, 12, 5, 13, 6, 14,
                                               7, 15);
        memcpy(to + 32 * h, &low, sizeof low);
        memcpy(to + 32 * h + 16, &high, sizeof high);
    }
}

#endif
