/*
** Rules on sizes and strides alone: products, broadcasting, dims by number.
*/
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"

la_shape la_shape_of(const la_tensor *t)
{
    la_shape s;
    s.ndim = t->ndim;
    memcpy(s.sizes, la_sizes(t), t->ndim * sizeof *s.sizes);
    return s;
}

const char *la_sizes_text(int ndim, const int64_t *sizes, char *out,
                          size_t capacity)
{
    size_t n = 0;
    if (capacity > 0) n = (size_t)snprintf(out, capacity, "[");
    for (int d = 0; d < ndim && n + 24 < capacity; d++)
        n += (size_t)snprintf(out + n, capacity - n, d ? ", %lld" : "%lld",
                              (long long)sizes[d]);
    if (n + 2 < capacity) snprintf(out + n, capacity - n, "]");
    return out;
}

/* A size of 0 makes the product 0, but strides are computed as if it were 1:
** these must not overflow either. */
la_status la_numel(int ndim, const int64_t *sizes, int64_t *out)
{
    int64_t product = 1;
    bool empty = false;
    if (ndim < 0 || ndim > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: %d dimensions, the most is "
                        "%d", ndim, LA_MAX_DIMS);
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0)
            return la_error(LA_ESHAPE, "size %lld of dimension %d is negative",
                            (long long)sizes[d], d + 1);
        if (sizes[d] == 0)
            empty = true;
        else if (!la_mul_ok(product, sizes[d], &product)
                 || product > LA_MAX_NUMEL)
            return la_error(LA_ESHAPE, "size overflow: more than 2^48 "
                            "elements");
    }
    *out = empty ? 0 : product;
    return LA_OK;
}

/* Sizes of too many elements may come by here: what makes a tensor of them
** refuses them, whatever their strides have become. */
void la_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = step;
        step = (int64_t)((uint64_t)step * (uint64_t)(sizes[d] > 1 ? sizes[d]
                                                                  : 1));
    }
}

la_status la_shape_broadcast(const la_shape *a, const la_shape *b,
                             la_shape *out)
{
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    la_shape s = {.ndim = ndim};
    for (int k = 1; k <= ndim; k++) {
        int64_t x = k <= a->ndim ? a->sizes[a->ndim - k] : 1;
        int64_t y = k <= b->ndim ? b->sizes[b->ndim - k] : 1;
        if (x != y && x != 1 && y != 1)
            return la_error(LA_ESHAPE, "The size of tensor a (%lld) must match "
                            "the size of tensor b (%lld) at non-singleton "
                            "dimension %d", (long long)x, (long long)y,
                            ndim - k + 1);
        s.sizes[ndim - k] = x == 1 ? y : x;
    }
    *out = s;
    return LA_OK;
}

/* --- dims by number --- */

static la_status dim_error(int64_t dim, int count)
{
    long long shown = la_counted(dim);
    return la_error(LA_EINDEX, "dimension %lld is out of range, 1 to %d or "
                    "-%d to -1", shown, count, count);
}

static la_status wrap_into(int64_t dim, int count, int *out)
{
    if (dim < -(int64_t)count || dim >= count)
        return dim_error(dim, count);
    *out = (int)(dim < 0 ? dim + count : dim);
    return LA_OK;
}

la_status la_wrap_dim(int64_t dim, int ndim, int *out)
{
    return wrap_into(dim, ndim ? ndim : 1, out);
}

la_status la_wrap_dim_end(int64_t dim, int ndim, int *out)
{
    return wrap_into(dim, ndim + 1, out);
}

la_status la_dim_mask(int n, const int64_t *dims, int ndim, uint64_t *mask)
{
    uint64_t set = 0;
    int d = 0;
    if (n < 0) {
        *mask = ndim == 64 ? ~(uint64_t)0 : ((uint64_t)1 << ndim) - 1;
        return LA_OK;
    }
    for (int k = 0; k < n; k++) {
        LA_TRY(la_wrap_dim(dims[k], ndim, &d));
        if (set >> d & 1)
            return la_error(LA_EARG, "dimension %d appears twice in the list "
                            "of dims", d + 1);
        set |= (uint64_t)1 << d;
    }
    *mask = set;
    return LA_OK;
}
