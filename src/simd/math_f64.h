/* Functions of f64v: f64_exp, f64_log, ..., all of them SLEEF's. */
#ifndef LA_SIMD_MATH_F64_H
#define LA_SIMD_MATH_F64_H

#include "simd/sleef.h"

#define SLEEF1(name, u) \
    static inline f64v f64_##name(f64v x) { return f64_sleef_##name(x); }
#define SLEEF2(name, u) \
    static inline f64v f64_##name(f64v x, f64v y) \
    { \
        return f64_sleef_##name(x, y); \
    }
#include "simd/sleef.def"

#endif
