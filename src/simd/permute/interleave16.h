/*
** Vectors of 32 values of 16 bits, for the ISA extensions above AVX512:
** elements k and k + 1 of a row go side by side into one 32-bit lane, as the
** dot products VDPBF16PS and TDPBF16PS take them. H16_LANES is defined where
** the compiler knows AVX512-BF16.
*/
#ifndef LA_SIMD_PERMUTE_INTERLEAVE16_H
#define LA_SIMD_PERMUTE_INTERLEAVE16_H

#include "simd/vec.h"

#ifdef __AVX512BF16__
#include "simd/isa/intrinsics.h"

#define H16_LANES 32
typedef uint16_t h16v __attribute__((vector_size(64)));

static inline h16v h16_load(const void *p)
{
    return (h16v)_mm512_loadu_si512(p);
}
/* The first n, n <= H16_LANES; zeros beyond them, where nothing is read. */
static inline h16v h16_load_n(const void *p, int64_t n)
{
    __mmask32 some = _bzhi_u32(~0u, (unsigned)n);
    return (h16v)_mm512_maskz_loadu_epi16(some, p);
}
static inline void h16_store(void *p, h16v v)
{
    _mm512_storeu_si512(p, (__m512i)v);
}
static inline void h16_store_n(void *p, int64_t n, h16v v)
{
    __mmask32 some = _bzhi_u32(~0u, (unsigned)n);
    _mm512_mask_storeu_epi16(p, some, (__m512i)v);
}

/* Lanes of a and b alternating: their lower halves, their upper ones. */
#define INTERLEAVE_(i) i, i + 32, i + 1, i + 33, i + 2, i + 34, i + 3, i + 35
static inline h16v h16_interleave_low(h16v a, h16v b)
{
    return __builtin_shufflevector(a, b, INTERLEAVE_(0), INTERLEAVE_(4),
                                   INTERLEAVE_(8), INTERLEAVE_(12));
}
static inline h16v h16_interleave_high(h16v a, h16v b)
{
    return __builtin_shufflevector(a, b, INTERLEAVE_(16), INTERLEAVE_(20),
                                   INTERLEAVE_(24), INTERLEAVE_(28));
}

/* Which lanes are a bfloat16 between 0 and the smallest normal one? */
static inline uint32_t bf16_subnormals(h16v v)
{
    const __m512i exponent = _mm512_set1_epi16(0x7f80);
    __mmask32 tiny = _mm512_testn_epi16_mask((__m512i)v, exponent);
    return _mm512_mask_test_epi16_mask(tiny, (__m512i)v,
                                       _mm512_set1_epi16(0x7f));
}

/* acc + a.high * b.high, rounded, + a.low * b.low, rounded: to nearest even
** whatever the mode of the thread; subnormal operands and results are 0. */
static inline f32v bf16_dot_pairs(f32v acc, h16v a, h16v b)
{
    return (f32v)_mm512_dpbf16_ps((__m512)acc, (__m512bh)a, (__m512bh)b);
}
/* Two vectors as one; subnormal floats become 0, which sums of the above never
** are, and all others what bf16_narrow makes of them. */
static inline h16v bf16_from_sums(f32v low, f32v high)
{
    return (h16v)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
}
/* The two values at 'p' in all lanes: an element of A's panel, k and k + 1. */
static inline h16v h16_pair_to_all(const void *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return (h16v)_mm512_set1_epi32(pair);
}
#endif
#endif
