/*
** u8_max, i8_max, u16_max, i16_max, u32_max, i32_max, u64_max, i64_max and the
** same for _min: the larger and the smaller lanes. One instruction where there
** is one, else a comparison and a selection.
*/
#ifndef LA_SIMD_INT_EXTREME_H
#define LA_SIMD_INT_EXTREME_H

#include "simd/permute/narrow_shifts.h"

typedef int16_t i16v VEC_;

/* Both extremes of a type of lane: by the instructions whose names end in
** SUFFIX (epi8, epu8, ...), or by comparing. */
#if defined(__AVX512F__)
#define WHOLE_(x) ((__m512i)(x))
#define CALL_(op, SUFFIX) _mm512_##op##_##SUFFIX
#elif defined(__AVX2__)
#define WHOLE_(x) ((__m256i)(x))
#define CALL_(op, SUFFIX) _mm256_##op##_##SUFFIX
#else
#define WHOLE_(x) ((__m128i)(x))
#define CALL_(op, SUFFIX) _mm_##op##_##SUFFIX
#endif
#define INSTRUCTIONS_(LANE, SUFFIX)                                         \
    static inline LANE##v LANE##_max(LANE##v a, LANE##v b)                  \
    {                                                                       \
        return (LANE##v)CALL_(max, SUFFIX)(WHOLE_(a), WHOLE_(b));           \
    }                                                                       \
    static inline LANE##v LANE##_min(LANE##v a, LANE##v b)                  \
    {                                                                       \
        return (LANE##v)CALL_(min, SUFFIX)(WHOLE_(a), WHOLE_(b));           \
    }
/* gcc 12 loads an operand from memory once for the comparison and again for the
** selection. */
#if defined(__AVX2__)
#define IN_REGISTERS_(a, b) __asm__("" : "+x"(a), "+x"(b))
#else
#define IN_REGISTERS_(a, b) (void)0
#endif
#define COMPARISONS_(LANE)                                                  \
    static inline LANE##v LANE##_max(LANE##v a, LANE##v b)                  \
    {                                                                       \
        IN_REGISTERS_(a, b);                                                \
        return (LANE##v)i64_select((i64v)(a > b), (i64v)a, (i64v)b);        \
    }                                                                       \
    static inline LANE##v LANE##_min(LANE##v a, LANE##v b)                  \
    {                                                                       \
        IN_REGISTERS_(a, b);                                                \
        return (LANE##v)i64_select((i64v)(a < b), (i64v)a, (i64v)b);        \
    }

#if defined(__AVX2__)
INSTRUCTIONS_(i8, epi8)
INSTRUCTIONS_(u16, epu16)
INSTRUCTIONS_(u32, epu32)
INSTRUCTIONS_(i32, epi32)
#else
COMPARISONS_(i8)
COMPARISONS_(u16)
COMPARISONS_(u32)
COMPARISONS_(i32)
#endif
#if defined(__SSE2__)
INSTRUCTIONS_(u8, epu8)
INSTRUCTIONS_(i16, epi16)
#else
COMPARISONS_(u8)
COMPARISONS_(i16)
#endif
#if defined(__AVX512F__)
INSTRUCTIONS_(u64, epu64)
INSTRUCTIONS_(i64, epi64)
#else
COMPARISONS_(u64)
COMPARISONS_(i64)
#endif

#undef WHOLE_
#undef CALL_
#undef INSTRUCTIONS_
#undef COMPARISONS_
#undef IN_REGISTERS_

#endif
