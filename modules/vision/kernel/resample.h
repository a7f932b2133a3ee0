/*
** The contract of resampling kernels: rows, blended from rows above each other
** and stretched along themselves. A resampling of images is separable, so its
** weights are computed once per axis (modules/vision/axis.h) and a plane is
** made of these two steps, in the order that is cheaper for its sizes.
**
** A row has 'n' positions of 'channels' elements side by side. Bits depend on
** the sizes and weights alone, not on the position of a row in memory.
*/
#ifndef LA_KERNEL_VISION_RESAMPLE_H
#define LA_KERNEL_VISION_RESAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Output i of an axis is the sum over k < count[i] of weight k at input
** from[i] + k. Windows lie within the input, and neither their first nor their
** last positions descend. */
typedef struct la_taps {
    int64_t in, out;          /* positions before and after */
    int64_t most;             /* the largest count */
    const int32_t *from, *count;    /* [out] */
    const void *weight;       /* [most][out] of the arithmetic's type, 0 from
                              ** count on; of uint8 whole numbers in floats, */
    int64_t width;            /* or, where this is not 0, int16_t [out][width],
                              ** width a multiple of 16 */
    int shift;                /* of uint8: the weights' binary digits, at most
                              ** 15 of those in floats */
} la_taps;

typedef struct la_resample_kernels {
    size_t weight_size;       /* of an element of la_taps.weight */
    /* out[i] = sum over k < count of weights[k] * rows[k][i], i < n. */
    void (*blend)(void *out, const char *const *rows, const double *weights,
                  int64_t count, int shift, int64_t n);
    /* The axis along a row: taps->in positions become taps->out. */
    void (*stretch)(void *out, const char *row, const la_taps *taps,
                   int64_t channels);
} la_resample_kernels;
LA_STUB_DECLARE(la_resample_kernels, resample_f32);
LA_STUB_DECLARE(la_resample_kernels, resample_f64);
LA_STUB_DECLARE(la_resample_kernels, resample_u8);

#endif
