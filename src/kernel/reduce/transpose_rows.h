/* Short rows laid side by side as columns, for reductions that are faster
** there; from any strides. Elements are moved as bits. */
#ifndef LA_KERNEL_REDUCE_TRANSPOSE_ROWS_H
#define LA_KERNEL_REDUCE_TRANSPOSE_ROWS_H

#include <string.h>

#include "kernel/reduce/reduce.h"

#define NAME turn1
#define WORD uint8_t
#define SIZE 1
#include "kernel/reduce/transpose_rows.inc"
#define NAME turn2
#define WORD uint16_t
#define SIZE 2
#include "kernel/reduce/transpose_rows.inc"
#define NAME turn4
#define WORD uint32_t
#define SIZE 4
#include "kernel/reduce/transpose_rows.inc"
#define NAME turn8
#define WORD uint64_t
#define SIZE 8
#include "kernel/reduce/transpose_rows.inc"
#define NAME turn16
#define SIZE 16
#include "kernel/reduce/transpose_rows.inc"

/* Element i of row r goes to out + (i * width + r) * size. */
static inline void turn_rows(const la_reduce_rows *r, int64_t size,
                             int64_t width, char *out)
{
    switch (size) {
    case 1: turn1(r, width, out); break;
    case 2: turn2(r, width, out); break;
    case 4: turn4(r, width, out); break;
    case 8: turn8(r, width, out); break;
    default: turn16(r, width, out);
    }
}

#endif
