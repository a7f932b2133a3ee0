/*
** Every second element of two vectors that follow each other in memory:
** f32_even(a, b) has elements 0, 2, 4 and so on, f32_odd those between them;
** f64_even and f64_odd likewise. Of complex numbers these are the real and the
** imaginary parts.
*/
#ifndef LA_SIMD_PERMUTE_DEINTERLEAVE_H
#define LA_SIMD_PERMUTE_DEINTERLEAVE_H

#include "simd/vec.h"

#define EVEN2_ 0, 2
#define ODD2_ 1, 3
#define EVEN4_ 0, 2, 4, 6
#define ODD4_ 1, 3, 5, 7
#define EVEN8_ 0, 2, 4, 6, 8, 10, 12, 14
#define ODD8_ 1, 3, 5, 7, 9, 11, 13, 15
#define EVEN16_ EVEN8_, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD16_ ODD8_, 17, 19, 21, 23, 25, 27, 29, 31
#if VEC_BYTES == 64
#define F32_EVEN_ EVEN16_
#define F32_ODD_ ODD16_
#define F64_EVEN_ EVEN8_
#define F64_ODD_ ODD8_
#elif VEC_BYTES == 32
#define F32_EVEN_ EVEN8_
#define F32_ODD_ ODD8_
#define F64_EVEN_ EVEN4_
#define F64_ODD_ ODD4_
#else
#define F32_EVEN_ EVEN4_
#define F32_ODD_ ODD4_
#define F64_EVEN_ EVEN2_
#define F64_ODD_ ODD2_
#endif

static inline f32v f32_even(f32v a, f32v b)
{
    return __builtin_shufflevector(a, b, F32_EVEN_);
}
static inline f32v f32_odd(f32v a, f32v b)
{
    return __builtin_shufflevector(a, b, F32_ODD_);
}
static inline f64v f64_even(f64v a, f64v b)
{
    return __builtin_shufflevector(a, b, F64_EVEN_);
}
static inline f64v f64_odd(f64v a, f64v b)
{
    return __builtin_shufflevector(a, b, F64_ODD_);
}

#endif
