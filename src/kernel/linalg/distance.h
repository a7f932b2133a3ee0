/*
** The contract of the kernels of distances between rows, for float32 and
** float64.
**
** Pairs lie in the lanes: a sum goes over the elements of two rows in their
** order, in parts of LA_DISTANCE_PART, without fused multiply-adds. So a
** distance depends on its two rows alone and has the same bits on every path.
*/
#ifndef LA_KERNEL_LINALG_DISTANCE_H
#define LA_KERNEL_LINALG_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

enum {
    LA_DISTANCE_PANEL = 32,   /* rows of b side by side */
    LA_DISTANCE_PART = 256
};

/* Sums of |x|, roots of sums of x^2, the largest |x| (NaN where there is one),
** of x = a[i] - b[j]. */
typedef enum la_distance_kind {
    LA_DISTANCE_SUM, LA_DISTANCE_ROOT, LA_DISTANCE_MOST
} la_distance_kind;

/* Steps are in elements, elements of a row side by side. */
typedef struct la_distance {
    la_distance_kind kind;
    int64_t rows, cols, depth;   /* of a, of b, elements of each */
    const void *a, *b;
    int64_t a_step, b_step, out_step;
    void *panel;                 /* LA_DISTANCE_PANEL x depth of scratch */
    /* dst[k][j] = b[j][k]: of the convolution's kernels (conv.h) */
    void (*pack)(void *dst, const void *b, int64_t b_step, int64_t step,
                 int cols, int width, int64_t depth);
    void *out;
    const void *aa, *bb;         /* squares of the lengths of rows */
    /* back: */
    const void *grad;            /* laid out as 'out', which is read */
    void *weights;               /* the same; NULL: none are wanted */
    void *sums;                  /* rows x depth, without gaps */
} la_distance;

typedef struct la_distance_kernels {
    /* out[i][j] = the distance; up to LA_DISTANCE_PANEL rows of b. */
    void (*exact)(const la_distance *);
    /* out[i][j], the products of a[i] and b[j], become the roots of aa + bb - 2
    ** out; of rows so close that it loses half of the digits, the distances. Up
    ** to LA_DISTANCE_PANEL rows of b. */
    void (*near)(const la_distance *);
    /* sums[i] = sum over j of the derivatives of out[i][j] by a[i], times grad.
    ** With 'weights': of close rows alone, and of the others weights = grad /
    ** out, 0 for close ones. */
    void (*back)(const la_distance *);
} la_distance_kernels;

LA_STUB_DECLARE(la_distance_kernels, distance_f32);
LA_STUB_DECLARE(la_distance_kernels, distance_f64);

#endif
