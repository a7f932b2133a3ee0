/*
** The contract of the kernels of recursive filters (lfilter, sosfilt): the
** difference equation
**
**     y[n] = z[0] + b[0] x[n]
**     z[k] = z[k + 1] + b[k + 1] x[n] - a[k + 1] y[n]
**
** of the transposed direct form II, products and sums rounded one by one in
** this order, so that every copy gives the same bits. The products with a are
** left out where all of it but a[0] is zero: infinities become no NaN. 'data'
** holds n rows of 'lanes' elements, one signal in each lane: x before, y after.
** 'sections' of them run one after the other, the output of one being the input
** of the next: b and a have order + 1 elements for each, of which a[0] is 1 and
** not read, 'z' has order + 1 rows of state for each, the last of them zero.
*/
#ifndef LA_KERNEL_SIGNAL_FILTER_H
#define LA_KERNEL_SIGNAL_FILTER_H

#include "kernel/kernel.h"

typedef struct la_filter_run {
    const void *b, *a;
    int64_t sections, order;
    void *data, *z;
    int64_t n;
} la_filter_run;
typedef void (*la_filter_fn)(const la_filter_run *r);
typedef struct la_filter {
    la_filter_fn one;         /* a single signal: one lane */
    la_filter_fn side;        /* 'lanes' signals side by side; NULL: none */
    int64_t lanes;
} la_filter;

/* float32, float64, complex64, complex128. */
typedef la_filter la_filters[LA_NDTYPES];
LA_STUB_DECLARE(la_filters, filter);

#endif
