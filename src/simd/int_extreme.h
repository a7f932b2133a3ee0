/*
** i32_max, i32_min, i64_max, i64_min: the larger and the smaller lanes.
*/
#ifndef LA_SIMD_INT_EXTREME_H
#define LA_SIMD_INT_EXTREME_H

#include "simd/bytes.h"

#if defined(__AVX512F__)
static inline i32v i32_max(i32v a, i32v b)
{
    return (i32v)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
static inline i32v i32_min(i32v a, i32v b)
{
    return (i32v)_mm512_min_epi32((__m512i)a, (__m512i)b);
}
static inline i64v i64_max(i64v a, i64v b)
{
    return (i64v)_mm512_max_epi64((__m512i)a, (__m512i)b);
}
static inline i64v i64_min(i64v a, i64v b)
{
    return (i64v)_mm512_min_epi64((__m512i)a, (__m512i)b);
}
#else
#if defined(__AVX2__)
static inline i32v i32_max(i32v a, i32v b)
{
    return (i32v)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
static inline i32v i32_min(i32v a, i32v b)
{
    return (i32v)_mm256_min_epi32((__m256i)a, (__m256i)b);
}
#else
static inline i32v i32_max(i32v a, i32v b) { return i32_select(a > b, a, b); }
static inline i32v i32_min(i32v a, i32v b) { return i32_select(a < b, a, b); }
#endif
static inline i64v i64_max(i64v a, i64v b) { return i64_select(a > b, a, b); }
static inline i64v i64_min(i64v a, i64v b) { return i64_select(a < b, a, b); }
#endif

#endif
