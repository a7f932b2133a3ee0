/*
** The contract of the kernels of quantized numbers: groups of 'group' elements
** (a multiple of 32) with a scale and a bias each, x = scale * q + bias. A
** group's bytes are its q, or with 4 bits half as many: q[j] in the low half of
** byte j, q[j + group / 2] in the high half.
*/
#ifndef LA_KERNEL_NN_QUANTIZE_H
#define LA_KERNEL_NN_QUANTIZE_H

#include <stdint.h>

#include "kernel/kernel.h"

typedef struct la_quantized {
    uint8_t *q;               /* groups without gaps */
    float *scale, *bias;      /* [groups] */
    int64_t groups, group;
    int bits;                 /* 4 or 8 */
} la_quantized;

typedef struct la_quantize_kernels {
    /* x, [groups * group], to q, scale and bias. */
    void (*pack)(const la_quantized *to, const float *x);
    /* The numbers of all groups. */
    void (*unpack)(const la_quantized *from, float *x);
    /* The sum over the groups of what they stand for times x; sums[g] is the
    ** sum of the g-th group of x. Sixteen partial sums whatever the vectors. */
    float (*dot)(const la_quantized *w, const float *x, const float *sums);
} la_quantize_kernels;
LA_STUB_DECLARE(la_quantize_kernels, quantize);

#endif
