/*
** Truth values of comparisons of 64-bit lanes. Compilers halve the lanes three
** times, each time with shuffles across the vector: with AVX2 three times as
** many instructions as here.
**
**   mask_bytes_store(p, m)   32 bytes of 0 or 1 from eight vectors of masks
**
** HAS_MASK_BYTES tells whether it is there.
*/
#ifndef LA_SIMD_PERMUTE_MASK_BYTES_H
#define LA_SIMD_PERMUTE_MASK_BYTES_H

#include "simd/vec.h"

#if defined(__AVX2__) && !defined(__AVX512F__)
#include "simd/isa/intrinsics.h"
#define HAS_MASK_BYTES

/* The lower halves of the lanes of both. */
static inline __m256i mask_halves_(i64v a, i64v b)
{
    return (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
/* The 128-bit halves have lanes 0 and 1, and 2 and 3, of all eight. */
static inline void mask_bytes_store(uint8_t *p, const i64v *m)
{
    __m256i low = _mm256_packs_epi32(mask_halves_(m[0], m[1]),
                                     mask_halves_(m[2], m[3]));
    __m256i high = _mm256_packs_epi32(mask_halves_(m[4], m[5]),
                                      mask_halves_(m[6], m[7]));
    __m256i all = _mm256_and_si256(_mm256_packs_epi16(low, high),
                                   _mm256_set1_epi8(1));
    __m128i first = _mm256_castsi256_si128(all);
    __m128i second = _mm256_extracti128_si256(all, 1);
    _mm_storeu_si128((__m128i *)p, _mm_unpacklo_epi16(first, second));
    _mm_storeu_si128((__m128i *)(p + 16), _mm_unpackhi_epi16(first, second));
}
#endif

#endif
