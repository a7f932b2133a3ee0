/*
** The views: each reads a geometry and writes another. What PyTorch computes
** is followed to the strides of dims of size 0 and 1, which decide the layout
** of later results.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "tensor/shape.h"
#include "tensor/text/text.h"

la_status la_view_make(la_tensor *t, const la_geometry *g, la_tensor **out)
{
    return la_tensor_view_as(t, (la_dtype)t->dtype, g->ndim, g->sizes,
                             g->strides, g->offset, out);
}

/* --- one more or one less dim --- */

static void remove_dim(la_geometry *g, int dim)
{
    size_t after = (size_t)(g->ndim - dim - 1) * sizeof *g->sizes;
    memmove(g->sizes + dim, g->sizes + dim + 1, after);
    memmove(g->strides + dim, g->strides + dim + 1, after);
    g->ndim--;
}

/* Before 'dim' (ndim: at the end); the caller has checked that one more dim
** fits. */
static void insert_dim(la_geometry *g, int dim, int64_t size, int64_t stride)
{
    size_t after = (size_t)(g->ndim - dim) * sizeof *g->sizes;
    memmove(g->sizes + dim + 1, g->sizes + dim, after);
    memmove(g->strides + dim + 1, g->strides + dim, after);
    g->sizes[dim] = size;
    g->strides[dim] = stride;
    g->ndim++;
}

static la_status check_dim_count(const la_geometry *g)
{
    if (g->ndim >= LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: more than %d dimensions",
                        LA_MAX_DIMS);
    return LA_OK;
}

/* The message gives the index and the range counted from 1, as the caller wrote
** them. */
la_status la_geo_select(la_geometry *g, int dim, int64_t index)
{
    if (g->ndim == 0)
        return la_error(LA_EINDEX, "select() cannot be applied to a 0-dim "
                        "tensor");
    int64_t size = g->sizes[dim];
    if (index < -size || index >= size)
        return la_error(LA_EINDEX, "index %lld is out of range for dimension "
                        "%d of size %lld, 1 to %lld or -%lld to -1",
                        (long long)la_counted(index), dim + 1,
                        (long long)size, (long long)size, (long long)size);
    g->offset += (index < 0 ? index + size : index) * g->strides[dim];
    remove_dim(g, dim);
    return LA_OK;
}

static int64_t view_cut(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Ends are cut to the size, as Python does; only a step that is not positive is
** an error. The last step may reach past the end, hence the rounded-up
** quotient, which is written so that it cannot overflow. */
la_status la_geo_slice(la_geometry *g, int dim, int64_t first, int64_t end,
                       int64_t step)
{
    if (g->ndim == 0)
        return la_error(LA_EINDEX, "slice() cannot be applied to a 0-dim "
                        "tensor");
    if (step <= 0)
        return la_error(LA_EARG, "slice step must be positive");
    int64_t size = g->sizes[dim];
    first = view_cut(first < 0 ? first + size : first, 0, size);
    end = view_cut(end < 0 ? end + size : end, first, size);
    int64_t length = end - first;
    g->offset += first * g->strides[dim];
    g->sizes[dim] = step == 1 ? length : length / step + (length % step != 0);
    if (!la_mul_ok(g->strides[dim], step, &g->strides[dim]))
        g->strides[dim] = 0;  /* one element at most is left: never stepped */
    return LA_OK;
}

/* --- orders of dims --- */

/* The bits of 'seen' find a dim that is there twice; as the number of dims
** fits, none is missing then. */
la_status la_geo_permute(la_geometry *g, const int64_t *dims, int n)
{
    la_geometry from = *g;
    uint64_t seen = 0;
    int d;
    if (n != g->ndim)
        return la_error(LA_ESHAPE, "number of dimensions "
                        "in the tensor input does not match the length of the "
                        "desired ordering of dimensions i.e. input.dim() = %d "
                        "is not equal to len(dims) = %d", g->ndim, n);
    for (int k = 0; k < n; k++) {
        LA_TRY(la_wrap_dim(dims[k], g->ndim, &d));
        if (seen >> d & 1)
            return la_error(LA_EARG, "duplicate dims are not "
                            "allowed: dimension %d", d + 1);
        seen |= (uint64_t)1 << d;
        g->sizes[k] = from.sizes[d];
        g->strides[k] = from.strides[d];
    }
    return LA_OK;
}

/* --- ones in and out --- */

/* Compacted in place: the position written never passes the one that is
** read. */
la_status la_geo_squeeze(la_geometry *g, uint64_t mask)
{
    int kept = 0;
    for (int d = 0; d < g->ndim; d++) {
        if (g->sizes[d] == 1 && mask >> d & 1)
            continue;
        g->sizes[kept] = g->sizes[d];
        g->strides[kept++] = g->strides[d];
    }
    g->ndim = kept;
    return LA_OK;
}

la_status la_geo_unsqueeze(la_geometry *g, int64_t dim)
{
    int d;
    LA_TRY(la_wrap_dim_end(dim, g->ndim, &d));
    LA_TRY(check_dim_count(g));
    int64_t stride = d < g->ndim ? g->sizes[d] * g->strides[d] : 1;
    insert_dim(g, d, 1, stride);
    return LA_OK;
}

/* --- expand --- */

static la_status expand_dim(const la_geometry *from, int d, int64_t asked,
                            la_geometry *to, int at, const int64_t *sizes)
{
    int64_t size = d >= 0 ? from->sizes[d] : 1;
    if (asked == -1 && d >= 0)
        asked = size;
    if (asked < 0)
        return la_error(LA_ESHAPE, "The expanded size of the tensor (%lld) "
                        "isn't allowed in a leading, non-existing dimension "
                        "%d", (long long)asked, at + 1);
    if (asked != size && size != 1)
        return la_error(LA_ESHAPE, "The expanded size of the tensor (%lld) "
                        "must match the existing size (%lld) at non-singleton "
                        "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                        (long long)asked, (long long)size, at + 1,
                        LA_LIST(to->ndim, sizes),
                        LA_LIST(from->ndim, from->sizes));
    to->sizes[at] = asked;
    if (asked != size || from->ndim == 0)
        to->strides[at] = 0;
    else
        to->strides[at] = d >= 0 ? from->strides[d]
                                 : to->sizes[at + 1] * to->strides[at + 1];
    return LA_OK;
}

la_status la_geo_expand(la_geometry *g, const int64_t *sizes, int n)
{
    la_geometry to;
    int64_t numel;
    if (n < g->ndim || n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "the number of sizes provided (%d) "
                        "must be greater or equal to the number of dimensions "
                        "in the tensor (%d)", n, g->ndim);
    to.ndim = n;
    to.offset = g->offset;
    for (int at = n - 1; at >= 0; at--)
        LA_TRY(expand_dim(g, at - (n - g->ndim), sizes[at], &to, at, sizes));
    LA_TRY(la_numel(n, to.sizes, &numel));
    *g = to;
    return LA_OK;
}

/* --- diagonal, unfold --- */

/* The diagonal steps along both dims at once, so its stride is the sum of
** theirs; it becomes the last dim. An empty one keeps the offset, which might
** lie outside of the storage. */
la_status la_geo_diagonal(la_geometry *g, int64_t offset, int64_t d0,
                          int64_t d1)
{
    int a, b;
    LA_TRY(la_wrap_dim(d0, g->ndim, &a));
    LA_TRY(la_wrap_dim(d1, g->ndim, &b));
    if (a == b)
        return la_error(LA_EARG, "diagonal dimensions cannot be identical %d, "
                        "%d", a + 1, b + 1);
    /* Past the sizes there is nothing: cutting keeps the sums in range. */
    offset = view_cut(offset, -g->sizes[a], g->sizes[b]);
    int64_t rows = g->sizes[a] + (offset < 0 ? offset : 0);
    int64_t columns = g->sizes[b] - (offset > 0 ? offset : 0);
    int64_t size = rows < columns ? rows : columns;
    int64_t stride = g->strides[a] + g->strides[b];
    if (size > 0)
        g->offset += offset > 0 ? offset * g->strides[b]
                                : -offset * g->strides[a];
    remove_dim(g, a > b ? a : b);
    remove_dim(g, a > b ? b : a);
    insert_dim(g, g->ndim, size, stride);
    return LA_OK;
}

/* Windows overlap where step < size: dim d counts windows, and a new last dim
** walks inside of one with the old stride. */
la_status la_geo_unfold(la_geometry *g, int64_t dim, int64_t size,
                        int64_t step)
{
    int d;
    LA_TRY(la_wrap_dim(dim, g->ndim, &d));
    LA_TRY(check_dim_count(g));
    int64_t most = g->ndim ? g->sizes[d] : 1;
    if (size < 0 || size > most)
        return la_error(LA_ESHAPE, "maximum size for tensor at dimension %d is "
                        "%lld but size is %lld", d + 1, (long long)most,
                        (long long)size);
    if (step <= 0)
        return la_error(LA_EARG, "step is %lld but must be > 0",
                        (long long)step);
    int64_t stride = g->ndim ? g->strides[d] : 1;
    if (g->ndim) {
        g->sizes[d] = (g->sizes[d] - size) / step + 1;
        if (!la_mul_ok(g->strides[d], step, &g->strides[d]))
            g->strides[d] = 0;  /* a step past the end: one window only */
    }
    insert_dim(g, g->ndim, size, stride);
    return LA_OK;
}

/* --- other sizes of the same elements --- */

static la_status invalid_shape(const int64_t *asked, int n, int64_t numel)
{
    return la_error(LA_ESHAPE, "shape '%s' is invalid for input of size %lld",
                    LA_LIST(n, asked), (long long)numel);
}

/* The dim given as -1, or -1 where all sizes are given. */
static la_status find_open_dim(const int64_t *asked, int n, int *open)
{
    *open = -1;
    for (int d = 0; d < n; d++) {
        if (asked[d] >= 0)
            continue;
        if (asked[d] != -1)
            return la_error(LA_ESHAPE, "invalid shape dimension %lld",
                            (long long)asked[d]);
        if (*open >= 0)
            return la_error(LA_ESHAPE, "only one dimension can be inferred");
        *open = d;
    }
    return LA_OK;
}

/* Sizes that are all given and fit: none is missing, none is 0. */
static bool fit_at_once(const int64_t *asked, int n, int64_t numel,
                        int64_t *sizes)
{
    int64_t known = 1;
    for (int d = 0; d < n; d++) {
        if (asked[d] <= 0 || __builtin_mul_overflow(known, asked[d], &known))
            return false;
        sizes[d] = asked[d];
    }
    return known == numel;
}

/* The quick answer first: most calls give all sizes. With zeros among the sizes
** an open dim has no answer, as any size would do. */
la_status la_view_infer(const int64_t *asked, int n, int64_t numel,
                        la_shape *out)
{
    int64_t *sizes = out->sizes;
    int open;
    int64_t known;
    if (n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: more than %d dimensions",
                        LA_MAX_DIMS);
    out->ndim = n;
    if (fit_at_once(asked, n, numel, sizes)) return LA_OK;
    LA_TRY(find_open_dim(asked, n, &open));
    for (int d = 0; d < n; d++)
        sizes[d] = d == open ? 1 : asked[d];
    LA_TRY(la_numel(n, sizes, &known));
    if (open >= 0 && known == 0)
        return numel ? invalid_shape(asked, n, numel)
            : la_error(LA_ESHAPE, "cannot reshape tensor of 0 elements into "
                       "shape %s because the unspecified dimension size -1 "
                       "can be any value and is ambiguous", LA_LIST(n, asked));
    if (open >= 0 && numel % known == 0)
        sizes[open] = numel / known;
    else if (known != numel)
        return invalid_shape(asked, n, numel);
    return LA_OK;
}

/* A run of old dims that steps evenly, from 'from' to 'to', takes new dims
** from the end until it is used up. False when they do not fit. */
static bool fill_run(int64_t count, int64_t stride, const la_shape *to,
                     int *at, int64_t *strides)
{
    int64_t taken = 1;
    while (*at >= 0 && (taken < count || to->sizes[*at] == 1)) {
        strides[*at] = taken * stride;
        taken *= to->sizes[*at];
        --*at;
    }
    return taken == count;
}

/* The strides that reshape without a copy would have, when there are any
** (PyTorch's computeStride): old dims are joined from the end into runs that
** one stride walks, and each run has to be split into whole new dims. */
static bool runs_fit(const la_tensor *t, const la_shape *to, int64_t *strides)
{
    const int64_t *sizes = la_sizes(t), *old = la_strides(t);
    int64_t stride = old[t->ndim - 1], count = 1;
    int at = to->ndim - 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        count *= sizes[d];
        if (d > 0 && (sizes[d - 1] == 1 || old[d - 1] == count * stride))
            continue;
        if (!fill_run(count, stride, to, &at, strides))
            return false;
        if (d > 0)
            stride = old[d - 1];
        count = 1;
    }
    return at == -1;
}

la_status la_view_strides(const la_tensor *t, const la_shape *to,
                          int64_t *strides, bool *possible)
{
    bool same = t->numel == 0 && t->ndim == to->ndim
        && memcmp(la_sizes(t), to->sizes, t->ndim * sizeof *to->sizes) == 0;
    *possible = true;
    if (same)
        memcpy(strides, la_strides(t), t->ndim * sizeof *strides);
    else if (t->numel == 0)
        la_contiguous_strides(to->ndim, to->sizes, strides);
    else if (t->ndim == 0)
        for (int d = 0; d < to->ndim; d++)
            strides[d] = 1;
    else
        *possible = runs_fit(t, to, strides);
    return LA_OK;
}
