/*
** Two vectors stored to neighbouring places: S_store2(p, a, b) for each float
** type. For bfloat16 one pack serves both, which is half the work of a store.
*/
#ifndef LA_SIMD_PACK16_H
#define LA_SIMD_PACK16_H

#include "simd/vec.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* The lower halves of all lanes of a, then of b, as the bytes of one vector;
** values are below 2^16. */
static inline u32v u16_join_(u32v a, u32v b)
{
#if defined(__AVX512F__)
    __m512i low = _mm512_castsi256_si512(_mm512_cvtepi32_epi16((__m512i)a));
    __m256i high = _mm512_cvtepi32_epi16((__m512i)b);
    return (u32v)_mm512_inserti64x4(low, high, 1);
#elif defined(__AVX2__)
    __m256i x = _mm256_packus_epi32((__m256i)a, (__m256i)b);
    return (u32v)_mm256_permute4x64_epi64(x, 0xd8);
#elif defined(__SSE2__)
    __m128i x = _mm_srai_epi32(_mm_slli_epi32((__m128i)a, 16), 16);
    __m128i y = _mm_srai_epi32(_mm_slli_epi32((__m128i)b, 16), 16);
    return (u32v)_mm_packs_epi32(x, y);
#else
    u16h halves[2] = {u16h_from_u32(a), u16h_from_u32(b)};
    u32v both;
    memcpy(&both, halves, sizeof both);
    return both;
#endif
}

/* The bits of bfloat16: rounded to even, NaN kept quiet, as bf16_narrow. */
static inline u32v bf16_bits_(f32v a)
{
    u32v x = (u32v)a, near = x + (0x7fff + (x >> 16 & 1));
    return u32_select(a != a, x | 0x400000, near) >> 16;
}

static inline void bf16_store2(void *p, f32v a, f32v b)
{
    u32_store(p, u16_join_(bf16_bits_(a), bf16_bits_(b)));
}
static inline void f16_store2(void *p, f32v a, f32v b)
{
    f16_store(p, a);
    f16_store((char *)p + VEC_BYTES / 2, b);
}
static inline void f32_store2(void *p, f32v a, f32v b)
{
    f32_store(p, a);
    f32_store((char *)p + VEC_BYTES, b);
}
static inline void f64_store2(void *p, f64v a, f64v b)
{
    f64_store(p, a);
    f64_store((char *)p + VEC_BYTES, b);
}

#endif
