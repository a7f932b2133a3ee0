/*
** The logical row of 128 bytes of row-wise kernels, folded by halving: element
** j takes element j + half of what is left. The bits are those of the same
** halving in an array, whatever the width of the vectors.
*/
#ifndef LA_KERNEL_FOLD_H
#define LA_KERNEL_FOLD_H

#include "simd/vec.h"

#define FOLD_VECTORS (128 / VEC_BYTES)

static inline float fold_sum_f32(const f32v *row)
{
    f32v x[FOLD_VECTORS];
    memcpy(x, row, sizeof(x));
    for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)
        for (int k = 0; k < h; k++) x[k] += x[k + h];
#pragma GCC unroll 8
    for (int h = F32_LANES / 2; h > 0; h /= 2)
        x[0] += __builtin_shuffle(x[0], i32_iota(0) + h);
    return x[0][0];
}

static inline double fold_sum_f64(const f64v *row)
{
    f64v x[FOLD_VECTORS];
    memcpy(x, row, sizeof(x));
    for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)
        for (int k = 0; k < h; k++) x[k] += x[k + h];
#pragma GCC unroll 8
    for (int h = F64_LANES / 2; h > 0; h /= 2)
        x[0] += __builtin_shuffle(x[0], i64_iota(0) + h);
    return x[0][0];
}

/* Of numbers that are no NaN. */
static inline float fold_max_f32(const f32v *row)
{
    f32v x[FOLD_VECTORS];
    memcpy(x, row, sizeof(x));
    for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)
        for (int k = 0; k < h; k++) x[k] = f32_max(x[k], x[k + h]);
#pragma GCC unroll 8
    for (int h = F32_LANES / 2; h > 0; h /= 2)
        x[0] = f32_max(x[0], __builtin_shuffle(x[0], i32_iota(0) + h));
    return x[0][0];
}

static inline double fold_max_f64(const f64v *row)
{
    f64v x[FOLD_VECTORS];
    memcpy(x, row, sizeof(x));
    for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)
        for (int k = 0; k < h; k++) x[k] = f64_max(x[k], x[k + h]);
#pragma GCC unroll 8
    for (int h = F64_LANES / 2; h > 0; h /= 2)
        x[0] = f64_max(x[0], __builtin_shuffle(x[0], i64_iota(0) + h));
    return x[0][0];
}

#endif
