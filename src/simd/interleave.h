/* f32_weave(a): the lower and the upper half of a vector, lane by lane in turn. */
#ifndef LA_SIMD_INTERLEAVE_H
#define LA_SIMD_INTERLEAVE_H

#include "simd/vec.h"

#if VEC_BYTES == 64
#define WEAVE_LANES_ 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15
#elif VEC_BYTES == 32
#define WEAVE_LANES_ 0, 4, 1, 5, 2, 6, 3, 7
#else
#define WEAVE_LANES_ 0, 2, 1, 3
#endif

static inline f32v f32_weave(f32v a)
{
    return __builtin_shufflevector(a, a, WEAVE_LANES_);
}

#endif
