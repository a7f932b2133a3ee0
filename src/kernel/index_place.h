/* From 1-based indices to byte offsets, shared by the index kernels. */
#ifndef LA_KERNEL_INDEX_PLACE_H
#define LA_KERNEL_INDEX_PLACE_H

#include "kernel/index.h"

static inline int64_t from_zero(int64_t i, int64_t size)
{
    return i > 0 ? i - 1 : i + size;
}

/* Offset of element i of a row whose indices start at data[2..]. */
static inline int64_t place(char *const *data, const int64_t *strides,
                            int64_t i, const la_index_dims *d)
{
    int64_t at = 0;
    for (int k = 0; k < d->n; k++) {
        int64_t v = *(const int64_t *)(data[2 + k] + i * strides[2 + k]);
        at += from_zero(v, d->sizes[k]) * d->strides[k];
    }
    return at;
}

/* 1 when index 'v' does not count an element of a dim of this size. */
static inline uint64_t wrong_index(int64_t v, uint64_t size)
{
    uint64_t from_end = (uint64_t)(v - (v > 0)) + size;
    return (from_end >= 2 * size) | (v == 0);
}

/* So many indices are turned into places at a time, by vectors; then reading
** and writing has nothing else to do. */
#define PLACES 64

/* False when one is out of range and 'bad' wants to know. */
static inline bool find_places(int64_t *at, const char *index, int64_t step,
                               int64_t n, int64_t size, int *bad)
{
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = step == 8 ? ((const int64_t *)index)[i]
                              : *(const int64_t *)(index + i * step);
        any |= wrong_index(v, (uint64_t)size);
        at[i] = from_zero(v, size);
    }
    if (!bad || !any) return true;
    __atomic_store_n(bad, 1, __ATOMIC_RELAXED);
    return false;
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
