/*
** As many vectors as a vector has lanes are folded at once, so that the steps
** of one do not wait for each other: with halves from the widest to one, and
** k < half, vector k takes fold_low(x[2 * k], x[2 * k + 1], half) joined with
** fold_high of the same. Lane k of the last vector is then what halving makes
** of vector k, lane j taking lane j + half. A vector alone is halved by joining
** it with fold_high(x, x, half).
*/
#ifndef LA_KERNEL_REDUCE_HSUM_ROWS_H
#define LA_KERNEL_REDUCE_HSUM_ROWS_H

#include "simd/vec.h"

#define FOLD_INLINE static inline __attribute__((always_inline))

/* Where the first halves of runs of 2 * h lanes are in two vectors of n, and
** the second ones 'off' further. */
#define HALF_1(j, h, off, n) ((j) / (h) * 2 * (h) + (j) % (h) + (off)) % (2 * (n))
#define HALF_2(j, h, off, n) HALF_1(j, h, off, n), HALF_1((j) + 1, h, off, n)
#define HALF_4(j, h, off, n) HALF_2(j, h, off, n), HALF_2((j) + 2, h, off, n)
#define HALF_8(j, h, off, n) HALF_4(j, h, off, n), HALF_4((j) + 4, h, off, n)
#define HALF_16(j, h, off, n) HALF_8(j, h, off, n), HALF_8((j) + 8, h, off, n)
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

#define FOLD_PARTS(LANE, VEC, HALVES)                                       \
    FOLD_INLINE VEC fold_low_##LANE(VEC a, VEC b, int half)                 \
    {                                                                       \
        return half == 8 ? __builtin_shufflevector(a, b, HALVES(8, 0))      \
             : half == 4 ? __builtin_shufflevector(a, b, HALVES(4, 0))      \
             : half == 2 ? __builtin_shufflevector(a, b, HALVES(2, 0))      \
                         : __builtin_shufflevector(a, b, HALVES(1, 0));     \
    }                                                                       \
    FOLD_INLINE VEC fold_high_##LANE(VEC a, VEC b, int half)                \
    {                                                                       \
        return half == 8 ? __builtin_shufflevector(a, b, HALVES(8, 8))      \
             : half == 4 ? __builtin_shufflevector(a, b, HALVES(4, 4))      \
             : half == 2 ? __builtin_shufflevector(a, b, HALVES(2, 2))      \
                         : __builtin_shufflevector(a, b, HALVES(1, 1));     \
    }
FOLD_PARTS(f32, f32v, HALVES_32)
FOLD_PARTS(f64, f64v, HALVES_64)
FOLD_PARTS(i32, i32v, HALVES_32)
FOLD_PARTS(i64, i64v, HALVES_64)

/* Sums of the lanes of each of a vector's number of vectors. */
#define FOLD_ROWS(LANE, VEC, LANES)                                         \
    FOLD_INLINE VEC fold_rows_##LANE(VEC *x)                                \
    {                                                                       \
        _Pragma("GCC unroll 4")                                             \
        for (int half = LANES / 2; half > 0; half /= 2)                     \
            _Pragma("GCC unroll 8")                                         \
            for (int k = 0; k < half; k++)                                  \
                x[k] = fold_low_##LANE(x[2 * k], x[2 * k + 1], half)        \
                    + fold_high_##LANE(x[2 * k], x[2 * k + 1], half);       \
        return x[0];                                                        \
    }
FOLD_ROWS(f32, f32v, F32_LANES)
FOLD_ROWS(f64, f64v, F64_LANES)

#endif
