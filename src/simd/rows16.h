/*
** Rows of 16-bit floats stored in the order of memory, two vectors at a time
** (pack16.h lets adjacent elements take the two vectors as is cheapest).
*/
#ifndef LA_SIMD_ROWS16_H
#define LA_SIMD_ROWS16_H

#include "simd/pack16.h"

/* 2*BF16_LANES floats. */
static inline void bf16_store_row(void *p, const float *from)
{
    f32v a = f32_load(from), b = f32_load(from + F32_LANES);
#if defined(__AVX512BW__)
    /* The upper 16 bits of every lane. */
    const __m512i upper = (__m512i)(u32_iota(0) * 0x40004 + 0x30001);
    u32_store(p, (u32v)_mm512_permutex2var_epi16((__m512i)bf16_bits_(a), upper,
                                                 (__m512i)bf16_bits_(b)));
#else
    bf16_store(p, a);
    bf16_store((la_bf16 *)p + BF16_LANES, b);
#endif
}

#endif
