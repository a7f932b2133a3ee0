/*
** f32_interleave_halves(a): lane i of the lower half, then lane i of the upper
** half, for each i: separate real and imaginary parts become alternating ones
** (re re re im im im -> re im re im re im). The inverse is f32_even, f32_odd of
** simd/permute/deinterleave.h.
*/
#ifndef LA_SIMD_PERMUTE_INTERLEAVE_H
#define LA_SIMD_PERMUTE_INTERLEAVE_H

#include "simd/vec.h"

#if VEC_BYTES == 64
#define INTERLEAVE_LANES_ 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15
#elif VEC_BYTES == 32
#define INTERLEAVE_LANES_ 0, 4, 1, 5, 2, 6, 3, 7
#else
#define INTERLEAVE_LANES_ 0, 2, 1, 3
#endif

static inline f32v f32_interleave_halves(f32v a)
{
    return __builtin_shufflevector(a, a, INTERLEAVE_LANES_);
}

#endif
