/*
** Two vectors at a time, loaded from and stored to adjacent memory:
**   S_load2(p, &a, &b), S_store2(p, a, b), for each float type S
**   S_stream2(p, a, b)     past the caches; p is a multiple of VEC_BYTES
** Which lane an element takes is not specified: bfloat16 has the even elements
** in a and the odd ones in b, so that neither widening nor packing moves
** anything between lanes. Element-wise loops do not care (simd/permute/rows16.h
** is for those that do).
*/
#ifndef LA_SIMD_PERMUTE_PACK16_H
#define LA_SIMD_PERMUTE_PACK16_H

#include "simd/vec.h"

#if defined(__AVX512F__)
#include "simd/isa/intrinsics.h"
#endif

/* bfloat16 in the upper halves: rounded to even, NaN kept quiet, as
** bf16_narrow. The lower halves are not cleared. */
static inline u32v bf16_bits_(f32v a)
{
#if defined(__AVX512F__)
    const __m512i one = _mm512_set1_epi32(1);
    __m512i x = (__m512i)a, near = _mm512_add_epi32(x,
                                                    _mm512_set1_epi32(0x7fff));
    __mmask16 odd = _mm512_test_epi32_mask(x, _mm512_set1_epi32(0x10000));
    __mmask16 nan = _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_UNORD_Q);
    near = _mm512_mask_add_epi32(near, odd, near, one);
    return (u32v)_mm512_mask_or_epi32(near, nan, x,
                                      _mm512_set1_epi32(0x400000));
#else
    u32v x = (u32v)a, near = x + (0x7fff + (x >> 16 & 1));
    return u32_select(a != a, x | 0x400000, near);
#endif
}
static inline u32v bf16_join_(f32v a, f32v b)
{
    return bf16_bits_(a) >> 16 | (bf16_bits_(b) & 0xffff0000u);
}
static inline u32v f16_join_(f32v a, f32v b)
{
    u16h halves[2] = {f16_narrow(a), f16_narrow(b)};
    u32v both;
    memcpy(&both, halves, sizeof both);
    return both;
}

static inline void bf16_load2(const void *p, f32v *a, f32v *b)
{
    u32v x = u32_load(p);
    *a = (f32v)(x << 16);
    *b = (f32v)(x & 0xffff0000u);
}
static inline void f16_load2(const void *p, f32v *a, f32v *b)
{
    *a = f16_load(p);
    *b = f16_load((const char *)p + VEC_BYTES / 2);
}
static inline void f32_load2(const void *p, f32v *a, f32v *b)
{
    *a = f32_load(p);
    *b = f32_load((const char *)p + VEC_BYTES);
}
static inline void f64_load2(const void *p, f64v *a, f64v *b)
{
    *a = f64_load(p);
    *b = f64_load((const char *)p + VEC_BYTES);
}

static inline void bf16_store2(void *p, f32v a, f32v b)
{
    u32_store(p, bf16_join_(a, b));
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

static inline void bf16_stream2(void *p, f32v a, f32v b)
{
    vec_stream(p, (i32v)bf16_join_(a, b));
}
static inline void f16_stream2(void *p, f32v a, f32v b)
{
    vec_stream(p, (i32v)f16_join_(a, b));
}
static inline void f32_stream2(void *p, f32v a, f32v b)
{
    vec_stream(p, (i32v)a);
    vec_stream((char *)p + VEC_BYTES, (i32v)b);
}
static inline void f64_stream2(void *p, f64v a, f64v b)
{
    vec_stream(p, (i32v)a);
    vec_stream((char *)p + VEC_BYTES, (i32v)b);
}

#endif
