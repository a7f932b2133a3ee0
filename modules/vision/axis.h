/*
** The weights of a resampling along one axis, from the sizes before and after:
** what interpolate and its gradient compute once per call and axis.
*/
#ifndef LA_OP_VISION_AXIS_H
#define LA_OP_VISION_AXIS_H

#include "base/dtype.h"
#include "base/status.h"
#include "modules/vision/kernel/resample.h"

typedef enum la_resampling {
    LA_NEAREST, LA_NEAREST_EXACT, LA_LINEAR, LA_CUBIC, LA_LANCZOS,
    LA_RESAMPLINGS
} la_resampling;

typedef struct la_axis_plan {
    int64_t in, out;          /* both positive */
    double factor;            /* the scale factor given; 0: out / in */
    la_resampling kind;
    bool align_corners, antialias;
    la_dtype dtype;           /* float32 and float64: weights in its precision,
                              ** as PyTorch's; uint8: fixed point */
} la_axis_plan;

/* The taps of an axis, with their memory. */
typedef struct la_axis {
    la_taps taps;
    void *memory;
    size_t bytes;
} la_axis;

/* *out is owned (la_axis_drop), also where this fails: LA_ENOMEM, or LA_ESHAPE
** for sizes that positions of 32 bits can't count. 'transposed' gives the
** adjoint, which takes gradients of the output to those of the input. */
la_status la_axis_make(const la_axis_plan *p, bool transposed, la_axis *out);
void la_axis_drop(la_axis *a);

#endif
