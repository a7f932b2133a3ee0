/*
** The logical row of 128 bytes of row-wise kernels, folded by halving: element
** j takes element j + half of what is left. The bits are those of the same
** halving in an array, whatever the width of the vectors.
*/
#ifndef LA_KERNEL_REDUCE_HSUM_H
#define LA_KERNEL_REDUCE_HSUM_H

#include "kernel/reduce/hsum_rows.h"

#define FOLD_VECTORS (128 / VEC_BYTES)

#define FOLD(name, ELEM, VEC, LANES, OP, HIGH)                              \
    static inline ELEM name(const VEC *row)                                 \
    {                                                                       \
        VEC x[FOLD_VECTORS];                                                \
        memcpy(x, row, sizeof(x));                                          \
        for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)                       \
            for (int k = 0; k < h; k++) x[k] = OP(x[k], x[k + h]);          \
        VEC v = x[0];                                                       \
        if (LANES > 8) v = OP(v, HIGH(v, v, 8));                            \
        if (LANES > 4) v = OP(v, HIGH(v, v, 4));                            \
        if (LANES > 2) v = OP(v, HIGH(v, v, 2));                            \
        v = OP(v, HIGH(v, v, 1));                                           \
        return v[0];                                                        \
    }

#define FOLD_ADD(a, b) ((a) + (b))
FOLD(fold_sum_f32, float, f32v, F32_LANES, FOLD_ADD, fold_high_f32)
FOLD(fold_sum_f64, double, f64v, F64_LANES, FOLD_ADD, fold_high_f64)
/* Of numbers that are no NaN. */
FOLD(fold_max_f32, float, f32v, F32_LANES, f32_max, fold_high_f32)
FOLD(fold_max_f64, double, f64v, F64_LANES, f64_max, fold_high_f64)

#endif
