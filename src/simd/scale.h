/*
** x * 2^n, n a whole number, in one rounding: one instruction with AVX512. Where
** there is HAS_SCALE, f32_scale and f64_scale.
*/
#ifndef LA_SIMD_SCALE_H
#define LA_SIMD_SCALE_H

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
