/*
** Short rows transposed to columns, for reductions that are faster there; from
** any strides. Elements are moved as bits, so a size stands for all its dtypes.
*/
#ifndef LA_KERNEL_REDUCE_TRANSPOSE_ROWS_H
#define LA_KERNEL_REDUCE_TRANSPOSE_ROWS_H

#include <string.h>

#include "kernel/reduce/reduce_loops.h"

#define NAME transpose1
#define WORD uint8_t
#define SIZE 1
#include "kernel/reduce/loops/transpose_rows.inc"
#define NAME transpose2
#define WORD uint16_t
#define SIZE 2
#include "kernel/reduce/loops/transpose_rows.inc"
#define NAME transpose4
#define WORD uint32_t
#define SIZE 4
#include "kernel/reduce/loops/transpose_rows.inc"
#define NAME transpose8
#define WORD uint64_t
#define SIZE 8
#include "kernel/reduce/loops/transpose_rows.inc"
#define NAME transpose16
#define SIZE 16
#include "kernel/reduce/loops/transpose_rows.inc"

/* Element i of row r goes to out + (i * width + r) * size; width >= r->rows,
** and columns r->rows and up are left as they are. */
static inline void transpose_rows(const la_reduce_rows *r, int64_t size,
                             int64_t width, char *out)
{
    switch (size) {
    case 1: transpose1(r, width, out); break;
    case 2: transpose2(r, width, out); break;
    case 4: transpose4(r, width, out); break;
    case 8: transpose8(r, width, out); break;
    default: transpose16(r, width, out);
    }
}

#endif
