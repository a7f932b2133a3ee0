/*
** Moving elements through index tensors.
**
** A loop walks over the shape of the result (or of the values that are
** written); operand 1 is the indexed tensor, whose indexed dims have stride 0
** in the walk, and operands 2.. are the indices, int64, counted from 1 and
** negative from the end. All were checked before: a kernel trusts them, but for
** 'get' through one index tensor with la_index_dims.bad.
*/
#ifndef LA_KERNEL_INDEX_INDEX_LOOPS_H
#define LA_KERNEL_INDEX_INDEX_LOOPS_H

#include "kernel/kernel.h"

#define LA_INDEX_MAX 6

typedef struct la_index_dims {
    int n;
    int64_t sizes[LA_INDEX_MAX];
    int64_t strides[LA_INDEX_MAX];   /* of the indexed dims, in bytes */
    int *bad;   /* not NULL: 'get' sets it and stops at an index out of range */
} la_index_dims;

/* Loops by size of the element: 1, 2, 4, 8, 16 bytes. */
typedef struct la_index_moves {
    /* data: result, indexed, indices. params: la_index_dims. */
    la_loop get[5];
    /* data: indexed, values, indices. */
    la_loop put[5];
    /* Elements whose mask byte is set, one after the other, from a strided
    ** row; returns where the next one goes. */
    char *(*compress[5])(char *out, const char *data, int64_t step,
                         const char *mask, int64_t mask_step, int64_t n);
} la_index_moves;

/* data: indexed, values, indices; indexed = indexed op value. */
typedef struct la_index_reductions {
    la_loops add, mul, max, min;
} la_index_reductions;

typedef struct la_index_scans {
    /* Position of the first index that is 0 or out of range; -1: all are
    ** good. */
    int64_t (*bad)(const char *index, int64_t step, int64_t n, int64_t size);
    /* 1-based positions, from 'first' + 1 on, of the set bytes. */
    int64_t *(*positions)(int64_t *out, const uint8_t *mask, int64_t n,
                          int64_t first);
    int64_t (*count)(const uint8_t *mask, int64_t n);
    /* Both take what is beyond them of n values. */
    void (*range)(const int64_t *v, int64_t n, int64_t *least, int64_t *most);
    /* How often each of 1..size is among n values, in parts: added to
    ** LA_TALLIES tables of 'size' counters, one after the other. */
    void (*tally)(int64_t *tables, int64_t size, const int64_t *v, int64_t n);
} la_index_scans;
#define LA_TALLIES 4

/* Which of n elements are not zero: bytes of 0 or 1. */
typedef void (*la_truth)(uint8_t *mask, const char *data, int64_t step,
                         int64_t n);
typedef la_truth la_truths[LA_NDTYPES];

LA_STUB_DECLARE(la_index_moves, index_moves);
LA_STUB_DECLARE(la_index_reductions, index_reductions);
LA_STUB_DECLARE(la_index_scans, index_scans);
LA_STUB_DECLARE(la_truths, truths);

static inline int la_size_class(size_t bytes)
{
    return __builtin_ctzll(bytes);
}

#endif
