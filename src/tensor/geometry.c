/*
** Geometry of a tensor: the one writer of sizes, strides and layout flags,
** memory formats, and the question whether all elements lie in the storage.
**
** The rules for flags are PyTorch's: dims of size 1 never count, an empty
** tensor is contiguous, and a tensor may be contiguous and channels_last at
** once when sizes of 1 leave it open.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "tensor/dims.h"
#include "tensor/host/host.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

static const int order_2d[4] = {1, 3, 2, 0};
static const int order_3d[5] = {1, 4, 3, 2, 0};

/* Are the strides those of a dense tensor with dims in this order, the
** fastest first? */
static bool dense_in_order(int ndim, const int *order, const int64_t *sizes,
                           const int64_t *strides)
{
    int64_t expected = 1;
    for (int k = 0; k < ndim; k++) {
        int d = order ? order[k] : ndim - 1 - k;
        if (sizes[d] == 1)
            continue;
        if (strides[d] != expected)
            return false;
        expected *= sizes[d];
    }
    return true;
}

/* Sorted by stride the dims must fill memory without gaps; then some
** permutation of the tensor is contiguous. */
static bool dense_in_any_order(int ndim, const int64_t *sizes,
                               const int64_t *strides)
{
    uint8_t perm[LA_MAX_DIMS];
    int n = la_dims_sorted(ndim, sizes, strides, perm);
    int64_t expected = 1;
    for (int k = 0; k < n; k++) {
        if (strides[perm[k]] != expected)
            return false;
        expected *= sizes[perm[k]];
    }
    return true;
}

/* Computed when the geometry changes, so that calls only test bits. Sizes of 1
** make a tensor contiguous in several formats at once. */
uint32_t la_layout_flags(int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t numel)
{
    uint32_t flags = 0;
    if (numel == 0 || dense_in_order(ndim, NULL, sizes, strides))
        flags |= LA_F_CONTIGUOUS | LA_F_DENSE;
    if (ndim == 4 && dense_in_order(4, order_2d, sizes, strides))
        flags |= LA_F_CHANNELS_LAST | LA_F_DENSE;
    if (ndim == 5 && dense_in_order(5, order_3d, sizes, strides))
        flags |= LA_F_CHANNELS_LAST_3D | LA_F_DENSE;
    if (!flags && dense_in_any_order(ndim, sizes, strides))
        flags |= LA_F_DENSE;
    return flags;
}

/* --- setting --- */

/* Fill in the strides: all of them, or those given as -1, which step over the
** whole next dim, whatever its stride is. Nobody steps along a
** dim of one element, or in an empty tensor: such strides are cut, so that they
** can be multiplied by the size of an element as others can. */
static la_status plan_strides(la_plan *p, const int64_t *strides)
{
    int64_t *mine = p->dims + p->ndim, step = 1;
    for (int d = p->ndim - 1; d >= 0; d--) {
        mine[d] = strides && strides[d] != -1 ? strides[d] : step;
        if (mine[d] < 0)
            return la_error(LA_ESHAPE, "stride %lld of dimension %d is "
                            "negative", (long long)mine[d], d + 1);
        if ((p->dims[d] <= 1 || p->numel == 0) && mine[d] > LA_MAX_NUMEL)
            mine[d] = LA_MAX_NUMEL;
        if (!la_mul_ok(mine[d], la_max(p->dims[d], 1), &step))
            step = INT64_MAX;       /* too far for any storage */
    }
    return LA_OK;
}

/* All that can fail comes before the first change of the tensor: a plan is
** made, then committed or dropped. */
la_status la_plan_make(la_plan *p, int ndim, const int64_t *sizes,
                       const int64_t *strides)
{
    p->block = NULL;
    p->ndim = ndim;
    LA_TRY(la_numel(ndim, sizes, &p->numel));
    for (int d = 0; d < ndim; d++)
        p->dims[d] = sizes[d];
    LA_TRY(plan_strides(p, strides));
    p->flags = la_layout_flags(ndim, p->dims, p->dims + ndim, p->numel);
    if (ndim > LA_INLINE_DIMS) {
        p->block = la_mem_alloc(la_dims_bytes(ndim));
        if (!p->block)
            return LA_ENOMEM;
    }
    return LA_OK;
}

void la_plan_drop(la_plan *p)
{
    if (p->block)
        la_mem_free(p->block, la_dims_bytes(p->ndim));
}

/* Cannot fail; the plan's block, if it has one, belongs to the tensor
** afterwards. */
void la_plan_commit(la_plan *p, la_tensor *t)
{
    if (t->dims != t->inline_dims)
        la_mem_free(t->dims, la_dims_bytes(t->ndim));
    t->dims = p->block ? p->block : t->inline_dims;
    memcpy(t->dims, p->dims, la_dims_bytes(p->ndim));
    t->ndim = (uint8_t)p->ndim;
    t->numel = p->numel;
    t->flags = (t->flags & ~(uint32_t)LA_F_LAYOUT) | p->flags;
}

la_status la_tensor_set_geometry(la_tensor *t, int ndim, const int64_t *sizes,
                                 const int64_t *strides)
{
    la_plan plan;
    LA_TRY(la_plan_make(&plan, ndim, sizes, strides));
    la_plan_commit(&plan, t);
    return LA_OK;
}

/* --- bounds --- */

static la_status outside(int64_t offset, int64_t itemsize, int64_t nbytes)
{
    return la_error(LA_ESHAPE, "sizes, strides and storage offset "
                    "%lld reach past the storage of %lld elements (%lld "
                    "bytes): out of bounds", (long long)offset + 1,
                    (long long)(nbytes / itemsize), (long long)nbytes);
}

/* The largest reachable element is that with the last index along each dim, as
** strides are not negative. Without elements nothing is reached, but offsets
** and signs are checked all the same. */
la_status la_extent_check(int ndim, const int64_t *sizes,
                          const int64_t *strides, int64_t offset,
                          int64_t itemsize, int64_t nbytes)
{
    int64_t last = offset, step;
    bool empty = false;
    if (offset < 0 || offset > LA_MAX_NUMEL)
        return la_error(LA_ESHAPE, "storage offset is out of bounds");
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0 || strides[d] < 0)
            return la_error(LA_ESHAPE, "Negative sizes and strides "
                            "are not supported (dimension %d)", d + 1);
        if (sizes[d] == 0)
            empty = true;
        else if (!la_mul_ok(sizes[d] - 1, strides[d], &step)
                 || !la_add_ok(last, step, &last))
            return outside(offset, itemsize, nbytes);
    }
    if (!empty && last >= nbytes / itemsize)
        return outside(offset, itemsize, nbytes);
    return LA_OK;
}

la_status la_host_moved(void)
{
    return la_error(LA_ESTATE, "host memory was moved since this tensor was "
                    "made: ask the wrapped tensor or the record anew");
}

/* The gate's check that a kernel may read all of t. */
la_status la_tensor_check_bounds(const la_tensor *t)
{
    if (t->flags & LA_F_DEFERRED)
        return la_refuse_batched();
    if (t->storage && t->storage->nbytes < 0) return la_host_moved();
    return la_extent_check(t->ndim, la_sizes(t), la_strides(t), t->offset,
                           (int64_t)la_itemsize(t),
                           t->storage ? t->storage->nbytes : 0);
}

/* --- memory formats --- */

bool la_tensor_is_format(const la_tensor *t, la_memory_format f)
{
    switch (f) {
    case LA_FORMAT_CHANNELS_LAST: return t->flags & LA_F_CHANNELS_LAST;
    case LA_FORMAT_CHANNELS_LAST_3D: return t->flags & LA_F_CHANNELS_LAST_3D;
    default: return la_is_contiguous(t);
    }
}

static void strides_in_order(int ndim, const int *order, const int64_t *sizes,
                             int64_t *strides)
{
    int64_t step = 1;
    for (int k = 0; k < ndim; k++) {
        strides[order[k]] = step;
        step *= sizes[order[k]] > 1 ? sizes[order[k]] : 1;
    }
}

/* channels_last means the 3-d format for five dims, as the modules pass one
** word for both. */
la_status la_format_strides(la_memory_format f, int ndim, const int64_t *sizes,
                            int64_t *strides)
{
    int64_t numel;
    LA_TRY(la_numel(ndim, sizes, &numel));
    if (f == LA_FORMAT_CHANNELS_LAST && ndim == 5)
        f = LA_FORMAT_CHANNELS_LAST_3D;
    if (f == LA_FORMAT_CHANNELS_LAST && ndim != 4)
        return la_error(LA_ESHAPE, "required rank 4 tensor to use "
                        "channels_last format");
    if (f == LA_FORMAT_CHANNELS_LAST_3D && ndim != 5)
        return la_error(LA_ESHAPE, "required rank 5 tensor to use "
                        "channels_last_3d format");
    if (f == LA_FORMAT_CHANNELS_LAST)
        strides_in_order(4, order_2d, sizes, strides);
    else if (f == LA_FORMAT_CHANNELS_LAST_3D)
        strides_in_order(5, order_3d, sizes, strides);
    else
        la_contiguous_strides(ndim, sizes, strides);
    return LA_OK;
}

/* Strides that look like channels_last although dims may have gaps. Where
** sizes of 1 leave it open the answer is no. */
static bool strides_like(const la_tensor *t, int n, const int *order)
{
    const int64_t *sizes = la_sizes(t), *strides = la_strides(t);
    int64_t least = 0;
    if (strides[1] == 0)
        return false;
    for (int k = 0; k < n; k++) {
        int d = order[k];
        if (sizes[d] == 0 || strides[d] < least)
            return false;
        if (d == 0 && least == strides[1])
            return false;
        least = strides[d] * (sizes[d] > 1 ? sizes[d] : 1);
    }
    return true;
}

la_memory_format la_suggest_format(const la_tensor *t)
{
    if (t->ndim == 4 && strides_like(t, 4, order_2d))
        return LA_FORMAT_CHANNELS_LAST;
    if (t->ndim == 5 && strides_like(t, 5, order_3d))
        return LA_FORMAT_CHANNELS_LAST_3D;
    return LA_FORMAT_CONTIGUOUS;
}

/* The iterator's comparison of dims (iter/layout.c), of one tensor alone: dims
** with stride 0 stay where they are. */
static int compare_dims(const void *context, int a, int b)
{
    const la_tensor *t = context;
    int64_t sa = la_strides(t)[a], sb = la_strides(t)[b];
    if (sa == 0 || sb == 0) return 0;
    if (sa != sb) return sa < sb ? -1 : 1;
    return la_sizes(t)[a] > la_sizes(t)[b] ? 1 : 0;
}

/* The layout of a result that keeps its input's order of dims: a dense input's
** strides as they are, otherwise dense ones with dims in the order of the
** input's strides. */
void la_preserve_strides(const la_tensor *t, int64_t *strides)
{
    uint8_t perm[LA_MAX_DIMS];
    int64_t step = 1;
    if (t->flags & LA_F_DENSE) {
        memcpy(strides, la_strides(t), t->ndim * sizeof *strides);
        return;
    }
    for (int k = 0; k < t->ndim; k++) perm[k] = (uint8_t)(t->ndim - 1 - k);
    la_dims_sort(t->ndim, perm, compare_dims, t);
    for (int k = 0; k < t->ndim; k++) {
        int64_t size = la_sizes(t)[perm[k]];
        strides[perm[k]] = step;
        step *= size > 1 ? size : 1;
    }
}
