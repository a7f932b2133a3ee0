/*
** fmod, the exact remainder of a division with the sign of the dividend, by
** vectors where the quotient is small enough for one fused step, by the C
** library otherwise. fmod is exact, so every method gives the same bits, and a
** vector may take either.
*/
#ifndef LA_SIMD_MATH_FMOD_H
#define LA_SIMD_MATH_FMOD_H

#include "simd/generic.h"

static inline f32v f32_fmod_each_(f32v a, f32v b)
{
    for (int i = 0; i < F32_LANES; i++) a[i] = fmodf(a[i], b[i]);
    return a;
}
static inline f64v f64_fmod_each_(f64v a, f64v b)
{
    for (int i = 0; i < F64_LANES; i++) a[i] = fmod(a[i], b[i]);
    return a;
}

#ifdef __FMA__
#define LANE f32
#define MASK i32v
#define LIMIT 0x1p22f
#include "simd/math/fmod.inc"
#define LANE f64
#define MASK i64v
#define LIMIT 0x1p51
#include "simd/math/fmod.inc"
#else
static inline f32v f32_fmod(f32v a, f32v b) { return f32_fmod_each_(a, b); }
static inline f64v f64_fmod(f64v a, f64v b) { return f64_fmod_each_(a, b); }
#endif

#define vfmod(a, b) VPICK_(a, fmod)(a, b)

#endif
