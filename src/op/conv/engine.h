/*
** Convolutions on plain geometry, below the operations: one to three spatial
** dims (unused ones have size 1), any strides of input and output, groups.
**
** y[n, o, p] = bias[o] + sum over c, t of weight[o, c, t] * x[n, c, p*s + t*d
** - pad]. The three functions compute y from x, the gradient of x from that
** of y, and the gradient of the weight from x and the gradient of y.
*/
#ifndef LA_OP_CONV_ENGINE_H
#define LA_OP_CONV_ENGINE_H

#include "base/status.h"
#include "kernel/conv/conv.h"

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

/* All: LA_ENOMEM before anything is written, LA_EINTR, LA_EDTYPE. */
la_status la_conv_forward(const la_conv *c);   /* y from x */
la_status la_conv_input(const la_conv *c);     /* x from y */
la_status la_conv_weight(const la_conv *c);    /* weight from x and y */

/* The direct method; false when it does not serve this case (dtype, very
** narrow images). 'backward': x from y, stride 1 only. */
bool la_conv_direct_serves(const la_conv *c, bool backward);
la_status la_conv_direct(const la_conv *c, bool backward);
/* x from y where a stride is above 1: float32 and float64. */
bool la_conv_phase_serves(const la_conv *c);
la_status la_conv_phase_run(const la_conv *c);
/* weight from x and y: float32 and float64, any width of image. */
la_status la_conv_direct_weight(const la_conv *c);

/* Depthwise: as many channels as groups. 'what': 0 y from x, 1 x from y, 2
** weight. */
bool la_conv_depth_serves(const la_conv *c, int what);
la_status la_conv_depth_run(const la_conv *c, int what);

/* Sizes larger than this are cut into parts; elements of work space. */
#define LA_CONV_ROOM ((int64_t)1 << 20)

static inline int64_t la_conv_taps(const la_conv *c)
{
    return c->w[0].kernel * c->w[1].kernel * c->w[2].kernel;
}

#endif
