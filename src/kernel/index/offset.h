/*
** From 1-based indices, negative from the end, to byte offsets: shared by the
** kernels of this folder. Indices go in blocks through the stack: checking and
** wrapping them are vectors then, and the loop that follows only loads and
** stores.
*/
#ifndef LA_KERNEL_INDEX_OFFSET_H
#define LA_KERNEL_INDEX_OFFSET_H

#include "kernel/index/index_loops.h"

/* Indices of a block. */
#define INDEX_BLOCK 64

/* The sign bit of the result is set when 'at' is not below 'size': results are
** combined by OR and looked at once. */
static inline uint64_t outside(uint64_t at, uint64_t size)
{
    return at | (size - 1 - at);
}

/* 0-based indices of n 1-based ones, 'step' bytes apart; the result's sign bit
** tells whether one is outside. n and step are constants where it matters. */
static inline __attribute__((always_inline))
uint64_t wrap_indices(int64_t *at, const char *index, const int64_t step,
                      const int64_t n, int64_t size)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = *(const int64_t *)(index + i * step);
        uint64_t wrapped = (uint64_t)v + (uint64_t)(v < 0 ? size : -1);
        any |= outside(wrapped, (uint64_t)size);
        at[i] = (int64_t)wrapped;
    }
    return any;
}

/* Do n indices in a row all count from the front, and within the size? Then
** they may be used as they are, one off. */
static inline __attribute__((always_inline))
bool all_from_front(const char *index, const int64_t n, int64_t size)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++)
        any |= outside((uint64_t)((const int64_t *)index)[i] - 1,
                       (uint64_t)size);
    return !(any >> 63);
}

/* n indices with the check. An index of 0 gives -1, one that is out of range
** something below 0 or beyond the size: no such index is used, since either
** 'bad' is set (and the result false) or all were checked before. */
static __attribute__((noinline, unused))
bool resolve_indices(int64_t *at, const char *index, int64_t step, int64_t n,
                     int64_t size, int *bad)
{
    uint64_t any = step != 8 ? wrap_indices(at, index, step, n, size)
                 : n != INDEX_BLOCK ? wrap_indices(at, index, 8, n, size)
                 : wrap_indices(at, index, 8, INDEX_BLOCK, size);
    if (!bad || !(any >> 63)) return true;
    __atomic_store_n(bad, 1, __ATOMIC_RELAXED);
    return false;
}

/* Byte offsets of n elements of a row, from element 'first' on, through all of
** its indices. */
static __attribute__((noinline, unused))
bool find_offsets(int64_t *at, char *const *data, const int64_t *strides,
                  int64_t first, int64_t n, const la_index_dims *d)
{
    int64_t more[INDEX_BLOCK];
    for (int k = 0; k < d->n; k++) {
        int64_t step = strides[2 + k], stride = d->strides[k];
        const char *index = data[2 + k] + first * step;
        if (!resolve_indices(k ? more : at, index, step, n, d->sizes[k],
                             d->bad))
            return false;
        if (k == 0)
            for (int64_t i = 0; i < n; i++) at[i] *= stride;
        else
            for (int64_t i = 0; i < n; i++) at[i] += more[i] * stride;
    }
    return true;
}

/* Do all indices stay the same along the row? */
static inline bool steady(const int64_t *strides, const la_index_dims *d)
{
    for (int k = 0; k < d->n; k++)
        if (strides[2 + k] != 0) return false;
    return true;
}

/* To the next row of n1. */
static inline void next_row(char **data, const int64_t *outer, int n)
{
    for (int k = 0; k < n; k++) data[k] += outer[k];
}

#endif
