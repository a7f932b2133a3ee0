/*
** The contract of pooling kernels: one plane (up to three dims) at a time, or
** as many as there are channels side by side (floating types only).
** Positions count within the input plane in row-major order, from 1; 'index'
** lies as 'out' does. Gradients need an 'in' with a constant step
** between its elements.
*/
#ifndef LA_KERNEL_CONV_POOL_LOOPS_H
#define LA_KERNEL_CONV_POOL_LOOPS_H

#include <stdbool.h>

#include "base/runtime/interrupt.h"
#include "kernel/conv/conv.h"

typedef struct la_pooling {
    la_window w[3];
    char *in, *out;
    int64_t *index;          /* of max pooling; NULL: not asked for */
    int64_t channels;        /* one element apart; 0: a plane alone */
    int64_t in_step[3], out_step[3];   /* elements */
    bool adaptive;           /* windows share the input out evenly */
    bool count_pad;          /* averages count the padding */
    double divisor;          /* 0: the window's size */
} la_pooling;

typedef struct la_pool_kernels {
    void (*max)(const la_pooling *);        /* in -> out, index */
    void (*average)(const la_pooling *);    /* in -> out */
    void (*max_back)(const la_pooling *);   /* in += out at index */
    void (*average_back)(const la_pooling *);   /* in += out / size */
} la_pool_kernels;
typedef la_pool_kernels la_pool_table[LA_NDTYPES];
LA_STUB_DECLARE(la_pool_table, pool);

#endif
