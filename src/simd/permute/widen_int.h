/*
** I32_LANES integers of 8 or 16 bits from memory as 32-bit ones:
** i32_load_u8(p), i32_load_i8(p), i32_load_u16(p), i32_load_i16(p). gcc 12
** converts bytes in a dozen instructions; there is one.
*/
#ifndef LA_SIMD_PERMUTE_WIDEN_INT_H
#define LA_SIMD_PERMUTE_WIDEN_INT_H

#include "simd/permute/narrow_shifts.h"

#if defined(__AVX512F__)
#define LOAD_8_(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD_16_(p) _mm256_loadu_si256((const __m256i *)(p))
#define WIDENED_(from) _mm512_cvt##from##_epi32
#elif defined(__AVX2__)
#define LOAD_8_(p) _mm_loadl_epi64((const __m128i *)(p))
#define LOAD_16_(p) _mm_loadu_si128((const __m128i *)(p))
#define WIDENED_(from) _mm256_cvt##from##_epi32
#endif

#ifdef WIDENED_
static inline i32v i32_load_u8(const void *p)
{
    return (i32v)WIDENED_(epu8)(LOAD_8_(p));
}
static inline i32v i32_load_i8(const void *p)
{
    return (i32v)WIDENED_(epi8)(LOAD_8_(p));
}
static inline i32v i32_load_u16(const void *p)
{
    return (i32v)WIDENED_(epu16)(LOAD_16_(p));
}
static inline i32v i32_load_i16(const void *p)
{
    return (i32v)WIDENED_(epi16)(LOAD_16_(p));
}
#undef LOAD_8_
#undef LOAD_16_
#undef WIDENED_
#else
typedef uint8_t u8_narrow_ __attribute__((
    vector_size(VEC_BYTES / 4), aligned(1), may_alias));
typedef int8_t i8_narrow_ __attribute__((
    vector_size(VEC_BYTES / 4), aligned(1), may_alias));
typedef uint16_t u16_narrow_ __attribute__((
    vector_size(VEC_BYTES / 2), aligned(1), may_alias));
typedef int16_t i16_narrow_ __attribute__((
    vector_size(VEC_BYTES / 2), aligned(1), may_alias));
static inline i32v i32_load_u8(const void *p)
{
    return __builtin_convertvector(*(const u8_narrow_ *)p, i32v);
}
static inline i32v i32_load_i8(const void *p)
{
    return __builtin_convertvector(*(const i8_narrow_ *)p, i32v);
}
static inline i32v i32_load_u16(const void *p)
{
    return __builtin_convertvector(*(const u16_narrow_ *)p, i32v);
}
static inline i32v i32_load_i16(const void *p)
{
    return __builtin_convertvector(*(const i16_narrow_ *)p, i32v);
}
#endif

#endif
