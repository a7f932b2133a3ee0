/*
** What the methods of a convolution share: the problem (la_conv) and the table
** entry by which engine.c chooses among them. A method is a file of its own
** that knows conv_plan.h and this header, but neither the engine nor the
** others.
**
** Geometry: one to three spatial dims (unused ones have size 1), any strides
** of input and output, groups.
**
**   y[n, o, p] = bias[o]
**              + sum over c, t of weight[o, c, t] * x[n, c, p*s + t*d - pad]
*/
#ifndef LA_OP_CONV_METHOD_H
#define LA_OP_CONV_METHOD_H

#include "base/status.h"
#include "kernel/conv/conv.h"

/* Bytes of scratch that a method may take for each thread, besides copies of
** the operands. */
#define LA_CONV_SCRATCH ((int64_t)16 << 20)

typedef struct la_conv {
    la_dtype dtype;
    int64_t batch, groups;
    int64_t ic, oc;           /* channels of one group */
    la_window w[3];           /* 'in' is x's size, 'out' is y's */
    char *x, *y;
    int64_t x_step[5], y_step[5];  /* image, channel, three dims; elements */
    char *weight;             /* contiguous: [groups * oc][ic][taps] */
    const char *bias;         /* contiguous [groups * oc], or NULL */
} la_conv;

/* The one of the three that is computed from the other two: y, the gradient of
** x, that of the weight. */
typedef enum la_conv_goal {
    LA_CONV_FORWARD, LA_CONV_INPUT, LA_CONV_WEIGHT
} la_conv_goal;

/* 'serves' looks at dtype, sizes and strides alone, never at the number of
** threads, so the bits don't depend on it. 'run' is called only for what it
** serves, with at least one element in every operand; LA_ENOMEM comes before
** anything is written, LA_EINTR may leave the result unfinished. */
typedef struct la_conv_method {
    bool (*serves)(const la_conv *c, la_conv_goal goal);
    la_status (*run)(const la_conv *c, la_conv_goal goal);
} la_conv_method;

extern const la_conv_method la_conv_one_tap;    /* products.c */
extern const la_conv_method la_conv_one_window;
extern const la_conv_method la_conv_columns;    /* serves everything */
extern const la_conv_method la_conv_depthwise;
extern const la_conv_method la_conv_direct;
extern const la_conv_method la_conv_gathered;
extern const la_conv_method la_conv_strided;    /* strided_backward.c */
extern const la_conv_method la_conv_weight_sums;    /* weight_backward.c */
extern const la_conv_method la_conv_weight_swapped;

static inline int64_t la_conv_taps(const la_conv *c)
{
    return c->w[0].kernel * c->w[1].kernel * c->w[2].kernel;
}

/* Output pixels of an image. */
static inline int64_t la_conv_pixels(const la_conv *c)
{
    return c->w[0].out * c->w[1].out * c->w[2].out;
}

#endif
