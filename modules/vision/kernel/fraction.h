/*
** The contract of pooling at irregular steps: one plane, windows of one size
** that begin where a list per dim says.
*/
#ifndef LA_KERNEL_VISION_FRACTION_H
#define LA_KERNEL_VISION_FRACTION_H

#include <stdint.h>

#include "kernel/kernel.h"

typedef struct la_fraction {
    const char *in;           /* contiguous: in[0] x in[1] x in[2] */
    char *out;                /* contiguous, out[0] x out[1] x out[2] */
    int64_t *index;           /* like out: positions of the maxima, from 1 */
    int64_t size[3], count[3], kernel[3];     /* in, out, window */
    const int64_t *first[3];  /* [count]: where windows begin */
} la_fraction;

/* Ties: the first index; NaN: the last. */
typedef void (*la_fraction_fn)(const la_fraction *f);
typedef struct la_fraction_kernels {
    la_fraction_fn f32, f64;
} la_fraction_kernels;
LA_STUB_DECLARE(la_fraction_kernels, fraction);

#endif
