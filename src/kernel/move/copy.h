/*
** Tables of kernel/move/copy.c: copies, fills, comparison and sign flips. Loops
** over two dims as in kernel.h, in bytes; operands are the same memory or do
** not overlap.
*/
#ifndef LA_KERNEL_MOVE_COPY_H
#define LA_KERNEL_MOVE_COPY_H

#include "kernel/kernel.h"

/* Loops by element size: 1, 2, 4, 8, 16 bytes. */
typedef la_loop la_size_loops[5];

/* Operand 0 takes the elements of operand 1; params is NULL or a hint. */
typedef struct la_copy_hint {
    bool stream;    /* the output is larger than the caches */
} la_copy_hint;
LA_STUB_DECLARE(la_size_loops, copy);
/* Operand 0 takes one value: params points to its bytes. */
LA_STUB_DECLARE(la_size_loops, fill);

/* Writes the 64 bytes at params over and over to operand 0, n0 bytes (n1 is 1,
** strides are not read), past the caches. */
typedef la_loop la_stream_loop;
LA_STUB_DECLARE(la_stream_loop, stream_fill);

/* Operand 0 changes signs in place, of which parts params, a la_sign_flip,
** tells. bool has no sign: nothing happens. */
typedef struct la_sign_flip {
    bool re, im;
} la_sign_flip;
LA_STUB_DECLARE(la_loops, flip_sign);

/* Compares two operands; params is an uint8_t that becomes 1 (it never goes
** back to 0) when some pair is not equal. NaN differs from all. */
LA_STUB_DECLARE(la_loops, differ);

/* The index of an element size in la_size_loops: log2. */
static inline int la_size_slot(size_t size)
{
    return __builtin_ctzll(size);
}

#endif
