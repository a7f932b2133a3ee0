/*
** Transposes of square blocks in registers: f32_transpose makes F32_LANES
** vectors that are columns of those that are rows, f64_transpose likewise.
** Row i is zipped with row i + half, log2(lanes) times over; after each pass a
** row holds elements of twice as many rows of the original.
*/
#ifndef LA_SIMD_PERMUTE_TRANSPOSE_H
#define LA_SIMD_PERMUTE_TRANSPOSE_H

#include "simd/vec.h"

/* Lane numbers of two vectors zipped: their lower halves, their upper ones. */
#define ZIP2_LOW_ 0, 2
#define ZIP2_HIGH_ 1, 3
#define ZIP4_LOW_ 0, 4, 1, 5
#define ZIP4_HIGH_ 2, 6, 3, 7
#define ZIP8_LOW_ 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP8_HIGH_ 4, 12, 5, 13, 6, 14, 7, 15
#define ZIP16_LOW_ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP16_HIGH_ \
    8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#if VEC_BYTES == 64
#define F32_LOW_ ZIP16_LOW_
#define F32_HIGH_ ZIP16_HIGH_
#define F64_LOW_ ZIP8_LOW_
#define F64_HIGH_ ZIP8_HIGH_
#elif VEC_BYTES == 32
#define F32_LOW_ ZIP8_LOW_
#define F32_HIGH_ ZIP8_HIGH_
#define F64_LOW_ ZIP4_LOW_
#define F64_HIGH_ ZIP4_HIGH_
#else
#define F32_LOW_ ZIP4_LOW_
#define F32_HIGH_ ZIP4_HIGH_
#define F64_LOW_ ZIP2_LOW_
#define F64_HIGH_ ZIP2_HIGH_
#endif

static inline __attribute__((always_inline)) void f32_transpose(f32v *x)
{
    f32v y[F32_LANES];
#pragma GCC unroll 4
    for (int step = 1; step < F32_LANES; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < F32_LANES / 2; i++) {
            f32v a = x[i], b = x[i + F32_LANES / 2];
            y[2 * i] = __builtin_shufflevector(a, b, F32_LOW_);
            y[2 * i + 1] = __builtin_shufflevector(a, b, F32_HIGH_);
        }
#pragma GCC unroll 16
        for (int i = 0; i < F32_LANES; i++) x[i] = y[i];
    }
}

static inline __attribute__((always_inline)) void f64_transpose(f64v *x)
{
    f64v y[F64_LANES];
#pragma GCC unroll 4
    for (int step = 1; step < F64_LANES; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < F64_LANES / 2; i++) {
            f64v a = x[i], b = x[i + F64_LANES / 2];
            y[2 * i] = __builtin_shufflevector(a, b, F64_LOW_);
            y[2 * i + 1] = __builtin_shufflevector(a, b, F64_HIGH_);
        }
#pragma GCC unroll 16
        for (int i = 0; i < F64_LANES; i++) x[i] = y[i];
    }
}

#endif
