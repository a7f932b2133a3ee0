/*
** Order and merging of dims, for every loop over strided memory: iterators,
** moves, layouts, overlap. Dim 0 of a sorted list is the fastest.
*/
#ifndef LA_TENSOR_DIMS_H
#define LA_TENSOR_DIMS_H

#include <stdbool.h>
#include <stdint.h>

/* 1: dim a belongs after dim b; -1: before; 0: open, others may pass. */
typedef int (*la_dims_order)(const void *context, int a, int b);

/* Insertion sort of n dims, as PyTorch's TensorIterator: a dim also passes
** those that it has no order with. Stable where no answer is 0 and equal dims
** give -1. Inline, so that the comparison is. */
static inline void la_dims_sort(int n, uint8_t *perm, la_dims_order order,
                                const void *context)
{
    for (int i = 1; i < n; i++) {
        int at = i;
        for (int j = i - 1; j >= 0; j--) {
            int c = order(context, perm[j], perm[at]);
            if (c < 0) break;
            if (c == 0) continue;
            uint8_t moved = perm[j];
            perm[j] = perm[at];
            perm[at] = moved;
            at = j;
        }
    }
}

/* The comparison by the magnitude of strides, given as the context. */
static inline int la_dims_by_stride(const void *strides, int a, int b)
{
    int64_t x = ((const int64_t *)strides)[a];
    int64_t y = ((const int64_t *)strides)[b];
    return (x < 0 ? -x : x) > (y < 0 ? -y : y) ? 1 : -1;
}

/* The dims of size > 1, smallest stride first, the first of equals first.
** Returns how many. */
static inline int la_dims_sorted(int ndim, const int64_t *sizes,
                                 const int64_t *strides, uint8_t *perm)
{
    int n = 0;
    for (int d = 0; d < ndim; d++)
        if (sizes[d] > 1) perm[n++] = (uint8_t)d;
    la_dims_sort(n, perm, la_dims_by_stride, strides);
    return n;
}

/* Merge neighbours among n dims wherever all 'count' lists of strides step from
** one into the next evenly; returns how many dims are left (0 for 0). A dim of
** size 1 is never stepped along and merges with any. */
static inline int la_dims_merge(int n, int64_t *sizes, int count,
                                int64_t *const *strides)
{
    int last = 0;
    for (int d = 1; d < n; d++) {
        bool join = sizes[last] == 1 || sizes[d] == 1;
        for (int k = 0; !join; k++) {
            if (k == count) join = true;
            else if (strides[k][last] * sizes[last] != strides[k][d]) break;
        }
        if (join ? sizes[last] == 1 : ++last != d)
            for (int k = 0; k < count; k++) strides[k][last] = strides[k][d];
        sizes[last] = join ? sizes[last] * sizes[d] : sizes[d];
    }
    return n > 0 ? last + 1 : 0;
}

#endif
