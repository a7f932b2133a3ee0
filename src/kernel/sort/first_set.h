/*
** vec_first_set(mask): the number of the first byte of a vector that is not
** zero, VEC_BYTES where there is none. The mask is that of a comparison: the
** bytes of a lane are all set or all clear.
*/
#ifndef LA_KERNEL_SORT_FIRST_SET_H
#define LA_KERNEL_SORT_FIRST_SET_H

#include "simd/permute/narrow_shifts.h"

static inline int vec_first_set(u8v mask)
{
#if defined(__AVX512BW__)
    uint64_t bits = _mm512_movepi8_mask((__m512i)mask);
#elif defined(__AVX2__)
    uint64_t bits = (uint32_t)_mm256_movemask_epi8((__m256i)mask);
#elif defined(__SSE2__)
    uint64_t bits = (uint32_t)_mm_movemask_epi8((__m128i)mask);
#else
    uint64_t bits = 0;
    for (int i = 0; i < VEC_BYTES; i++) bits |= (uint64_t)(mask[i] & 1) << i;
#endif
    return bits ? __builtin_ctzll(bits) : VEC_BYTES;
}

#endif
