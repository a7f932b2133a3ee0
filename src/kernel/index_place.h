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

/* So many indices are turned into places at a time, by vectors; then reading
** and writing has nothing else to do. */
#define PLACES 64

static inline void find_places(int64_t *at, const char *index, int64_t step,
                               int64_t n, int64_t size)
{
    if (step == 8)
        for (int64_t i = 0; i < n; i++)
            at[i] = from_zero(((const int64_t *)index)[i], size);
    else
        for (int64_t i = 0; i < n; i++)
            at[i] = from_zero(*(const int64_t *)(index + i * step), size);
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
