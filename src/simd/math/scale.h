/*
** f32_scale(x, n), f64_scale(x, n): x * 2^n, n an integer, in one rounding,
** also where the result is subnormal: one instruction with AVX512 (VSCALEF).
** Defined where there is HAS_SCALE; kernel/pointwise/loops/ldexp.inc has the
** other method.
*/
#ifndef LA_SIMD_MATH_SCALE_H
#define LA_SIMD_MATH_SCALE_H

#include "simd/vec.h"

#if defined(__AVX512F__)
#define HAS_SCALE
static inline f32v f32_scale(f32v x, f32v n)
{
    return (f32v)_mm512_scalef_ps((__m512)x, (__m512)n);
}
static inline f64v f64_scale(f64v x, f64v n)
{
    return (f64v)_mm512_scalef_pd((__m512d)x, (__m512d)n);
}
#endif

#endif
