/*
** The logical row of 128 bytes of row-wise kernels, folded by halving: element
** j takes element j + half of what is left. The bits are those of the same
** halving in an array, whatever the width of the vectors.
*/
#ifndef LA_KERNEL_FOLD_H
#define LA_KERNEL_FOLD_H

#include "simd/vec.h"

#define FOLD_VECTORS (128 / VEC_BYTES)

/* Lane numbers from h on, round about in n lanes: as many as the name says. */
#define ROUND_2(h, n) (h) % (n), ((h) + 1) % (n)
#define ROUND_4(h, n) ROUND_2(h, n), ROUND_2((h) + 2, n)
#define ROUND_8(h, n) ROUND_4(h, n), ROUND_4((h) + 4, n)
#define ROUND_16(h, n) ROUND_8(h, n), ROUND_8((h) + 8, n)
#if VEC_BYTES == 64
#define ROUND_F32(h) ROUND_16(h, 16)
#define ROUND_F64(h) ROUND_8(h, 8)
#elif VEC_BYTES == 32
#define ROUND_F32(h) ROUND_8(h, 8)
#define ROUND_F64(h) ROUND_4(h, 4)
#else
#define ROUND_F32(h) ROUND_4(h, 4)
#define ROUND_F64(h) ROUND_2(h, 2)
#endif

#define FOLD(name, ELEM, VEC, LANES, OP, ROUND)                             \
    static inline ELEM name(const VEC *row)                                 \
    {                                                                       \
        VEC x[FOLD_VECTORS];                                                \
        memcpy(x, row, sizeof(x));                                          \
        for (int h = FOLD_VECTORS / 2; h > 0; h /= 2)                       \
            for (int k = 0; k < h; k++) x[k] = OP(x[k], x[k + h]);          \
        VEC v = x[0];                                                       \
        if (LANES > 8)                                                      \
            v = OP(v, __builtin_shufflevector(v, v, ROUND(8)));             \
        if (LANES > 4)                                                      \
            v = OP(v, __builtin_shufflevector(v, v, ROUND(4)));             \
        if (LANES > 2)                                                      \
            v = OP(v, __builtin_shufflevector(v, v, ROUND(2)));             \
        v = OP(v, __builtin_shufflevector(v, v, ROUND(1)));                 \
        return v[0];                                                        \
    }

#define FOLD_ADD(a, b) ((a) + (b))
FOLD(fold_sum_f32, float, f32v, F32_LANES, FOLD_ADD, ROUND_F32)
FOLD(fold_sum_f64, double, f64v, F64_LANES, FOLD_ADD, ROUND_F64)
/* Of numbers that are no NaN. */
FOLD(fold_max_f32, float, f32v, F32_LANES, f32_max, ROUND_F32)
FOLD(fold_max_f64, double, f64v, F64_LANES, f64_max, ROUND_F64)

#endif
