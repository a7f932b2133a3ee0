/*
** Dims as bare numbers, for loops over a strided input and a contiguous
** output: sorted so that the input's fastest comes last, and merged where
** they lie together in both.
*/
#ifndef LA_OP_REDUCE_AXES_H
#define LA_OP_REDUCE_AXES_H

#include "tensor/tensor.h"

typedef struct la_axis {
    int64_t size, in, out;    /* steps; out 0 where there is no output */
} la_axis;

typedef struct la_axes {
    int n;
    int64_t count;            /* product of the sizes; after merging */
    la_axis a[LA_MAX_DIMS + 1];
} la_axes;

/* Insertion sort by input step, descending; equal steps keep their order. At
** most LA_MAX_DIMS + 1 axes. */
static inline void la_axes_add(la_axes *x, int64_t size, int64_t in,
                               int64_t out)
{
    int k = x->n++;
    for (; k > 0 && x->a[k - 1].in < in; k--) x->a[k] = x->a[k - 1];
    x->a[k] = (la_axis){size, in, out};
}

/* Two axes are one when both steps of the outer are those of the inner times
** its size. Sets 'count'. */
static inline void la_axes_merge(la_axes *x)
{
    int w = 0;
    x->count = 1;
    for (int k = 0; k < x->n; k++) {
        la_axis b = x->a[k];
        x->count *= b.size;
        if (w > 0 && x->a[w - 1].in == b.in * b.size
            && x->a[w - 1].out == b.out * b.size) {
            b.size *= x->a[w - 1].size;
            w--;
        }
        x->a[w++] = b;
    }
    x->n = w;
}

/* Remove the fastest axis; 'none' when there is no axis. */
static inline la_axis la_axes_take(la_axes *x, la_axis none)
{
    if (x->n == 0) return none;
    la_axis a = x->a[--x->n];
    x->count /= a.size;
    return a;
}

/* Add to *in and *out where position i of the axes lies. */
static inline void la_axes_locate(const la_axes *x, int64_t i, int64_t *in,
                                  int64_t *out)
{
    for (int k = x->n - 1; k >= 0 && i > 0; k--) {
        int64_t j = i % x->a[k].size;
        i /= x->a[k].size;
        *in += j * x->a[k].in;
        *out += j * x->a[k].out;
    }
}

#endif
