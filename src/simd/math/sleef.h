/*
** SLEEF behind one name per function: f32_sleef_exp, f64_sleef_exp, ...; the
** rows are in sleef.def.
**
** AVX2 and AVX512 take the deterministic (finz) variants, which give the same
** bits at every width. The baseline takes base/libm/libm.h lane by lane, and
** for floats math_portable.h: its bits are those of every machine
** (op/lockstep.h). With LA_NO_SLEEF base/libm/libm.h stands for SLEEF
** everywhere.
*/
#ifndef LA_SIMD_MATH_SLEEF_H
#define LA_SIMD_MATH_SLEEF_H

#if defined(__AVX2__) && !defined(LA_NO_SLEEF)
#include <sleef.h>
#endif

#include "base/libm/libm.h"
#include "simd/vec.h"

#if defined(LA_NO_SLEEF)
#elif defined(__AVX512F__)
#define SLEEF_F32(name, u) Sleef_finz_##name##f16_##u##avx512f
#define SLEEF_F64(name, u) Sleef_finz_##name##d8_##u##avx512f
#define SLEEF_F32_TYPE __m512
#define SLEEF_F64_TYPE __m512d
#elif defined(__AVX2__)
#define SLEEF_F32(name, u) Sleef_finz_##name##f8_##u##avx2
#define SLEEF_F64(name, u) Sleef_finz_##name##d4_##u##avx2
#define SLEEF_F32_TYPE __m256
#define SLEEF_F64_TYPE __m256d
#endif

#ifdef SLEEF_F32
#define SLEEF1(name, u) \
    static inline f32v f32_sleef_##name(f32v x) \
    { \
        return (f32v)SLEEF_F32(name, u)((SLEEF_F32_TYPE)x); \
    } \
    static inline f64v f64_sleef_##name(f64v x) \
    { \
        return (f64v)SLEEF_F64(name, u)((SLEEF_F64_TYPE)x); \
    }
#define SLEEF2(name, u) \
    static inline f32v f32_sleef_##name(f32v x, f32v y) \
    { \
        return (f32v)SLEEF_F32(name, u)((SLEEF_F32_TYPE)x, \
                                        (SLEEF_F32_TYPE)y); \
    } \
    static inline f64v f64_sleef_##name(f64v x, f64v y) \
    { \
        return (f64v)SLEEF_F64(name, u)((SLEEF_F64_TYPE)x, \
                                        (SLEEF_F64_TYPE)y); \
    }
#else
/* Vectors of floats are math_portable.h's in the baseline. */
#ifdef __AVX2__
#define SLEEF_LANES1(name) \
    static inline f32v f32_sleef_##name(f32v x) \
    { \
        for (int i = 0; i < F32_LANES; i++) x[i] = la_m_##name##f(x[i]); \
        return x; \
    }
#define SLEEF_LANES2(name) \
    static inline f32v f32_sleef_##name(f32v x, f32v y) \
    { \
        for (int i = 0; i < F32_LANES; i++) \
            x[i] = la_m_##name##f(x[i], y[i]); \
        return x; \
    }
#else
#define SLEEF_LANES1(name)
#define SLEEF_LANES2(name)
#endif
#define SLEEF1(name, u) \
    SLEEF_LANES1(name) \
    static inline f64v f64_sleef_##name(f64v x) \
    { \
        for (int i = 0; i < F64_LANES; i++) x[i] = la_m_##name(x[i]); \
        return x; \
    }
#define SLEEF2(name, u) \
    SLEEF_LANES2(name) \
    static inline f64v f64_sleef_##name(f64v x, f64v y) \
    { \
        for (int i = 0; i < F64_LANES; i++) x[i] = la_m_##name(x[i], y[i]); \
        return x; \
    }
#endif
#include "simd/math/sleef.def"

#endif
