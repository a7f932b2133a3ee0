/* Functions of f32v: f32_exp, f32_log, ... */
#ifndef LA_SIMD_MATH_F32_H
#define LA_SIMD_MATH_F32_H

#include "simd/sleef.h"

#define SLEEF1(name, u) \
    static inline f32v f32_##name(f32v x) { return f32_sleef_##name(x); }
#define SLEEF2(name, u) \
    static inline f32v f32_##name(f32v x, f32v y) \
    { \
        return f32_sleef_##name(x, y); \
    }
#include "simd/sleef.def"

#endif
