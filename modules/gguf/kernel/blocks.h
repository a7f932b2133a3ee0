/*
** The contract of the kernels of GGUF's blocks: 32, 64 or 256 numbers in a few
** bytes, as the file has them. types.def lists the types.
*/
#ifndef LA_GGUF_KERNEL_BLOCKS_H
#define LA_GGUF_KERNEL_BLOCKS_H

#include <stdint.h>

#include "kernel/kernel.h"

typedef enum la_block_type {
#define TYPE(number, name, size, bytes, dtype) LA_BLOCK_##name = number,
#include "modules/gguf/types.def"
#undef TYPE
    LA_BLOCK_TYPES = 41
} la_block_type;

/* The numbers of n blocks. */
typedef void (*la_unpack_fn)(const uint8_t *blocks, int64_t n, float *x);

typedef struct la_block_kernels {
    la_unpack_fn unpack[LA_BLOCK_TYPES];    /* NULL: no blocks */
    /* The product of two rows of n numbers, 16 partial sums whatever the
    ** vectors; n is a multiple of 32. */
    float (*dot)(const float *w, const float *x, int64_t n);
    /* The product of a row of n blocks with numbers: what 'dot' gives for those
    ** of the blocks, bit for bit; NULL: no such type. */
    float (*dot_blocks[LA_BLOCK_TYPES])(const uint8_t *blocks, int64_t n,
                                        const float *x);
} la_block_kernels;
LA_STUB_DECLARE(la_block_kernels, blocks);

/* Blocks that are indices into a grid; compiled once. */
typedef struct la_grid_kernels {
    la_unpack_fn unpack[LA_BLOCK_TYPES];
} la_grid_kernels;
LA_STUB_DECLARE(la_grid_kernels, grid_blocks);

#endif
