/* Moving data by bytes: what cat, flip, pad and their like are made of. */
#ifndef LA_OP_MOVE_MOVE_H
#define LA_OP_MOVE_MOVE_H

#include "op/value.h"
#include "tensor/shape.h"

/* Elements and how to step: strides in bytes, of any sign. */
typedef struct la_strided {
    char *data;
    int64_t strides[LA_MAX_DIMS];
} la_strided;

/* Strides are set for the dims of t alone. */
la_strided la_strided_of(const la_tensor *t);

/* Copy elements of 'size' bytes from 'from' to 'to', in parallel. The
** two must not overlap. LA_EINTR when the host asks to stop. */
la_status la_move(const la_strided *to, const la_strided *from, int ndim,
                  const int64_t *sizes, size_t size);
/* la_move into a part of a tensor, with conversion when dtypes differ: 'to' and
** 'from' have equal sizes. */
la_status la_move_tensor(la_tensor *to, la_tensor *from);
/* A dim of a result that is made of runs of the same dim of a source: up to
** three, one after the other. Each has 'n' elements from element 'from' on, by
** 'step' 1, 0 or -1. */
typedef struct la_runs {
    int n;
    struct {
        int64_t n, from;
        int step;
    } run[3];
} la_runs;

/* All of a new result, contiguous or with its channels last, from runs of a
** source of the same dtype, one la_runs per dim, whose order is lost. */
la_status la_move_runs(la_tensor *to, la_tensor *from, la_runs *dims);
/* Dim d, of that size, of a tensor with a border made of itself: 'pads' and
** 'mode' are those of border_pad_nd. */
la_status la_border_runs(const la_value *pads, const la_value *mode, int ndim,
                         int d, int64_t size, la_runs *out);
/* The loop of an element size, for one row or block. */
void la_move_block(size_t size, char *to, const char *from,
                   const int64_t strides[4], int64_t n0, int64_t n1);

#endif
