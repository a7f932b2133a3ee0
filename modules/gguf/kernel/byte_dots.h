/*
** The contract of products of blocks with numbers of 8 bits: x is rounded to
** groups of 32 signed bytes with a scale, and the products of bytes are summed
** exactly.
*/
#ifndef LA_GGUF_KERNEL_BYTE_DOTS_H
#define LA_GGUF_KERNEL_BYTE_DOTS_H

#include "modules/gguf/kernel/blocks.h"

typedef struct la_byte_row {
    int8_t *q;                /* [32 * groups], from -127 to 127 */
    float *scale, *sum;       /* [groups]; sum of q, times the scale */
} la_byte_row;

typedef struct la_byte_kernels {
    /* The groups of a row of 32 * groups numbers. */
    void (*round)(const float *x, int64_t groups, const la_byte_row *to);
    /* The product of a row of n blocks with x; NULL: no such type. */
    float (*dot[LA_BLOCK_TYPES])(const uint8_t *blocks, int64_t n,
                                 const la_byte_row *x);
} la_byte_kernels;
LA_STUB_DECLARE(la_byte_kernels, byte_dots);

#endif
