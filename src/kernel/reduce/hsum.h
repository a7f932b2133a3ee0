/*
** The horizontal sum of the logical row of row-wise kernels: 128 bytes of
** accumulators, in as many vectors as that takes. Added by halving: element j
** takes element j + half, half going from the middle to 1. The bits are those
** of the same halving in an array, whatever the width of the vectors.
*/
#ifndef LA_KERNEL_REDUCE_HSUM_H
#define LA_KERNEL_REDUCE_HSUM_H

#include "kernel/reduce/hsum_rows.h"

#define HSUM_ROW_VECTORS (128 / VEC_BYTES)

/* hsum_row_<lane>(row): the sum of the 128 bytes at 'row', which stay as they
** are. Takes LANE (the suffix), ELEM and VEC (a lane, a vector of them) and
** LANES (of a vector). Whole vectors are halved first, then the last one. */
#define HSUM_ROW(LANE, ELEM, VEC, LANES)                                    \
    static inline ELEM hsum_row_##LANE(const VEC *row)                      \
    {                                                                       \
        VEC x[HSUM_ROW_VECTORS];                                            \
        memcpy(x, row, sizeof(x));                                          \
        for (int h = HSUM_ROW_VECTORS / 2; h > 0; h /= 2)                   \
            for (int k = 0; k < h; k++) x[k] = x[k] + x[k + h];             \
        VEC v = x[0];                                                       \
        if (LANES > 8) v = v + high_halves_##LANE(v, v, 8);                 \
        if (LANES > 4) v = v + high_halves_##LANE(v, v, 4);                 \
        if (LANES > 2) v = v + high_halves_##LANE(v, v, 2);                 \
        v = v + high_halves_##LANE(v, v, 1);                                \
        return v[0];                                                        \
    }
HSUM_ROW(f32, float, f32v, F32_LANES)
HSUM_ROW(f64, double, f64v, F64_LANES)

#endif
