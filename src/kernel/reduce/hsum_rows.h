/*
** Horizontal sums of several vectors at once, by a transposing reduction.
**
** As many vectors as a vector has lanes are combined together, so that the
** steps of one do not wait for each other: with 'half' from the widest to 1,
** and k < half, vector k takes low_halves(x[2 * k], x[2 * k + 1], half)
** combined with high_halves of the same two. Lane k of the last vector is then
** the result of halving vector k, lane j taking lane j + half. For n vectors of
** n lanes these are n - 1 additions, one by one they would be n * log2(n).
**
** A single vector is halved by combining it with high_halves(x, x, half). Both
** ways add the same pairs in the same order, so their bits are equal.
*/
#ifndef LA_KERNEL_REDUCE_HSUM_ROWS_H
#define LA_KERNEL_REDUCE_HSUM_ROWS_H

#include "simd/vec.h"

#define HSUM_INLINE static inline __attribute__((always_inline))

/* Indices for __builtin_shufflevector: in two vectors of n lanes, lanes j and
** up of the first halves of all runs of 2 * h lanes; 'off' of h gives the
** second halves. */
#define HALF_1(j, h, off, n) \
    ((j) / (h) * 2 * (h) + (j) % (h) + (off)) % (2 * (n))
#define HALF_2(j, h, off, n) HALF_1(j, h, off, n), HALF_1((j) + 1, h, off, n)
#define HALF_4(j, h, off, n) HALF_2(j, h, off, n), HALF_2((j) + 2, h, off, n)
#define HALF_8(j, h, off, n) HALF_4(j, h, off, n), HALF_4((j) + 4, h, off, n)
#define HALF_16(j, h, off, n) HALF_8(j, h, off, n), HALF_8((j) + 8, h, off, n)
/* Horizontal sums of all lanes of vectors of 32-bit and of 64-bit elements. */
#if VEC_BYTES == 64
#define HALVES_32(h, off) HALF_16(0, h, off, 16)
#define HALVES_64(h, off) HALF_8(0, h, off, 8)
#elif VEC_BYTES == 32
#define HALVES_32(h, off) HALF_8(0, h, off, 8)
#define HALVES_64(h, off) HALF_4(0, h, off, 4)
#else
#define HALVES_32(h, off) HALF_4(0, h, off, 4)
#define HALVES_64(h, off) HALF_2(0, h, off, 2)
#endif

/* low_halves_<lane>(a, b, half): of each run of 2 * half lanes of a, then of b,
** the first half; high_halves_<lane>: the second. 'half' is a constant of the
** caller's unrolled loop, below the number of lanes, so that one shuffle is
** left. Takes LANE (the suffix), VEC and HALVES (HALVES_32 or HALVES_64). */
#define LOW_AND_HIGH_HALVES(LANE, VEC, HALVES)                              \
    HSUM_INLINE VEC low_halves_##LANE(VEC a, VEC b, int half)               \
    {                                                                       \
        return half == 8 ? __builtin_shufflevector(a, b, HALVES(8, 0))      \
             : half == 4 ? __builtin_shufflevector(a, b, HALVES(4, 0))      \
             : half == 2 ? __builtin_shufflevector(a, b, HALVES(2, 0))      \
                         : __builtin_shufflevector(a, b, HALVES(1, 0));     \
    }                                                                       \
    HSUM_INLINE VEC high_halves_##LANE(VEC a, VEC b, int half)              \
    {                                                                       \
        return half == 8 ? __builtin_shufflevector(a, b, HALVES(8, 8))      \
             : half == 4 ? __builtin_shufflevector(a, b, HALVES(4, 4))      \
             : half == 2 ? __builtin_shufflevector(a, b, HALVES(2, 2))      \
                         : __builtin_shufflevector(a, b, HALVES(1, 1));     \
    }
LOW_AND_HIGH_HALVES(f32, f32v, HALVES_32)
LOW_AND_HIGH_HALVES(f64, f64v, HALVES_64)
LOW_AND_HIGH_HALVES(i32, i32v, HALVES_32)
LOW_AND_HIGH_HALVES(i64, i64v, HALVES_64)

/* hsum_vectors_<lane>(x): lane k is the horizontal sum of x[k], for as many
** vectors as a vector has lanes; overwrites x. */
#define HSUM_VECTORS(LANE, VEC, LANES)                                      \
    HSUM_INLINE VEC hsum_vectors_##LANE(VEC *x)                             \
    {                                                                       \
        _Pragma("GCC unroll 4")                                             \
        for (int half = LANES / 2; half > 0; half /= 2)                     \
            _Pragma("GCC unroll 8")                                         \
            for (int k = 0; k < half; k++)                                  \
                x[k] = low_halves_##LANE(x[2 * k], x[2 * k + 1], half)      \
                    + high_halves_##LANE(x[2 * k], x[2 * k + 1], half);     \
        return x[0];                                                        \
    }
HSUM_VECTORS(f32, f32v, F32_LANES)
HSUM_VECTORS(f64, f64v, F64_LANES)

#endif
