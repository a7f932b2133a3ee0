/*
** Rows of 16-bit floats: converted to and from float, and stored in the order
** of memory, two vectors at a time (pack16.h lets adjacent elements take the
** two vectors as is cheapest).
*/
#ifndef LA_SIMD_PERMUTE_ROWS16_H
#define LA_SIMD_PERMUTE_ROWS16_H

#include "simd/permute/pack16.h"

/* 2*BF16_LANES floats. */
static inline void bf16_store_row(void *p, const float *from)
{
    f32v a = f32_load(from), b = f32_load(from + F32_LANES);
#if defined(__AVX512BW__)
    /* The upper 16 bits of every lane. */
    const __m512i upper = (__m512i)(u32_iota(0) * 0x40004 + 0x30001);
    u32_store(p, (u32v)_mm512_permutex2var_epi16((__m512i)bf16_bits_(a), upper,
                                                 (__m512i)bf16_bits_(b)));
#elif defined(__AVX2__)
    /* Packed within halves of the vectors, and the quarters put in order. */
    __m256i x = _mm256_packus_epi32((__m256i)(bf16_bits_(a) >> 16),
                                    (__m256i)(bf16_bits_(b) >> 16));
    u32_store(p, (u32v)_mm256_permute4x64_epi64(x, 0xd8));
#else
    bf16_store(p, a);
    bf16_store((la_bf16 *)p + BF16_LANES, b);
#endif
}

/* n contiguous elements of 'in', converted to the other type. One function in
** each object, as they are entries of tables. */
#define ROW_ static __attribute__((unused)) void
ROW_ f16_widen_row(void *out, const void *in, int64_t n)
{
    float *to = out;
    const la_f16 *from = in;
    int64_t i = 0;
    for (; i + F16_LANES <= n; i += F16_LANES)
        f32_store(to + i, f16_load(from + i));
    if (i < n) f32_store_n(to + i, n - i, f16_load_n(from + i, n - i));
}
ROW_ f16_narrow_row(void *out, const void *in, int64_t n)
{
    la_f16 *to = out;
    const float *from = in;
    int64_t i = 0;
    for (; i + F16_LANES <= n; i += F16_LANES)
        f16_store(to + i, f32_load(from + i));
    if (i < n) f16_store_n(to + i, n - i, f32_load_n(from + i, n - i));
}
ROW_ bf16_widen_row(void *out, const void *in, int64_t n)
{
    float *to = out;
    const la_bf16 *from = in;
    int64_t i = 0;
    for (; i + BF16_LANES <= n; i += BF16_LANES)
        f32_store(to + i, bf16_load(from + i));
    if (i < n) f32_store_n(to + i, n - i, bf16_load_n(from + i, n - i));
}
ROW_ bf16_narrow_row(void *out, const void *in, int64_t n)
{
    la_bf16 *to = out;
    const float *from = in;
    int64_t i = 0;
    for (; i + 2 * BF16_LANES <= n; i += 2 * BF16_LANES)
        bf16_store_row(to + i, from + i);
    for (; i + BF16_LANES <= n; i += BF16_LANES)
        bf16_store(to + i, f32_load(from + i));
    if (i < n) bf16_store_n(to + i, n - i, f32_load_n(from + i, n - i));
}
#undef ROW_

#endif
