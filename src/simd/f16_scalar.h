/*
** One float16 at a time, for loops that cannot take vectors: with the
** processor's conversions where the capability has them, no call per element.
** The bits are those of base/half.h.
*/
#ifndef LA_SIMD_F16_SCALAR_H
#define LA_SIMD_F16_SCALAR_H

#include "base/half.h"

#ifdef __F16C__
#include "simd/isa/intrinsics.h"

static inline float f16_value(la_f16 h) { return _cvtsh_ss(h.bits); }
static inline la_f16 f16_of(float x)
{
    return (la_f16){_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)};
}
#else
static inline float f16_value(la_f16 h) { return la_f16_to_f32(h); }
static inline la_f16 f16_of(float x) { return la_f32_to_f16(x); }
#endif

#endif
