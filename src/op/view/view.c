/*
** The elementary views: each computes a geometry (sizes, strides, offset) and
** shares the storage. Nothing is computed on data, so there are metas only; the
** composites of op/view/view_composite.c and op/view/split.c call them.
**
** Lazy bits (conj, neg) stay with the view; names follow their dims. Dims and
** indices in a frame count from 0.
*/
#include "op/view/view.h"

#include "base/runtime/memory.h"

#define LA_ROWS "op/def/view.def"
#include "op/frame.h"
#include "op/impls.h"
#include "op/op.h"
#include "tensor/shape.h"

/* Names of the view's dims, picked from argument 0's; dropped without
** 'from'. */
static la_status view_set_names(la_frame *f, la_tensor *view, const int *from)
{
    la_names *names;
    const la_names *old = la_arg(f, 0)->names;
    if (!old || !from)
        return LA_OK;
    LA_TRY(la_names_pick(old, view->ndim, from, &names));
    la_tensor_set_names(view, names);
    return LA_OK;
}

/* Result 0 as a view of argument 0, names included. */
static inline la_status set_view(la_frame *f, int ndim, const int64_t *sizes,
                                 const int64_t *strides, int64_t offset,
                                 const int *from)
{
    la_tensor *t = la_arg(f, 0), *view;
    LA_TRY(la_tensor_view(t, ndim, sizes, strides, offset, &view));
    la_set_result(f, 0, view);
    return t->names ? view_set_names(f, view, from) : LA_OK;
}

/* Inlined where the parts of a geometry are at hand. */
la_status la_view_result(la_frame *f, const la_geometry *g, const int *from)
{
    if (f->op->forms & LA_METADATA) return la_change_geometry(f, g, from);
    return set_view(f, g->ndim, g->sizes, g->strides, g->offset, from);
}

/* Result of operations that have nothing to do: self. */
la_status la_same_result(la_frame *f)
{
    return LA_GIVE(f, la_tensor_retain(la_arg(f, 0)));
}

/* Dim k of the view is dim k of the tensor. 'from' is read only when there are
** names, so it is filled only then. */
static void view_identity(const la_tensor *t, int *from)
{
    for (int k = 0; t->names && k < t->ndim; k++)
        from[k] = k;
}

/* Names of a view that lacks dim 'dim'. */
static void without_dim(const la_tensor *t, int dim, int *from)
{
    for (int k = 0; t->names && k < t->ndim - 1; k++)
        from[k] = k < dim ? k : k + 1;
}

/* --- other sizes --- */

/* view(self, size): sizes with one -1 inferred; LA_ESHAPE when strides cannot
** express them (reshape copies then). */
la_status la_meta_view(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    la_shape to;
    bool possible;
    int64_t strides[LA_MAX_DIMS];
    int from[LA_MAX_DIMS];
    LA_TRY(la_blame(la_view_infer(f->args[1].ints.list,
                                  (int)f->args[1].ints.n, t->numel, &to), 2));
    LA_TRY(la_view_strides(t, &to, strides, &possible));
    if (!possible)
        return la_error_at(LA_ESHAPE, 2, "view size is not compatible with "
                           "input tensor's size and stride (at least one "
                           "dimension spans across two contiguous "
                           "subspaces). Use "
                           ":reshape(...) instead.");
    view_identity(t, from);
    /* Other sizes have no names to keep. */
    bool same = t->names && to.ndim == t->ndim
        && memcmp(to.sizes, la_sizes(t), t->ndim * sizeof *to.sizes) == 0;
    return set_view(f, to.ndim, to.sizes, strides, t->offset,
                    same ? from : NULL);
}

/* The error of view(dtype), about the value 'got'. */
static la_status cannot_view(la_tensor *t, la_dtype to, const char *what,
                             int64_t got)
{
    return la_error(LA_ESHAPE, "%s to view %s as %s (different element sizes), "
                    "but got %lld", what, la_dtype_name(t->dtype),
                    la_dtype_name(to), (long long)got);
}

/* To a wider dtype: 'ratio' elements of the last dim become one, so sizes,
** strides and offset must be divisible. */
static la_status view_widen(la_tensor *t, la_dtype to, int64_t ratio,
                            la_geometry *g)
{
    int last = g->ndim - 1;
    if (g->sizes[last] % ratio)
        return cannot_view(t, to, "self.size(-1) must be divisible by the "
                           "ratio of the element sizes", g->sizes[last]);
    if (g->offset % ratio)
        return cannot_view(t, to, "self.storage_offset() must be divisible by "
                           "the ratio of the element sizes", g->offset);
    for (int d = 0; d < last; d++) {
        if (g->strides[d] % ratio)
            return cannot_view(t, to, "strides must be divisible by the ratio "
                               "of the element sizes", g->strides[d]);
        g->strides[d] /= ratio;
    }
    g->sizes[last] /= ratio;
    g->offset /= ratio;
    return LA_OK;
}

/* To a narrower dtype: each element becomes 'ratio' elements of the last
** dim. */
static void split_elements(int64_t ratio, la_geometry *g)
{
    int last = g->ndim - 1;
    g->sizes[last] *= ratio;
    g->offset *= ratio;
    for (int d = 0; d < last; d++)
        g->strides[d] *= ratio;
}

/* The geometry of 't' seen as dtype 'to'. */
static la_status retype(la_tensor *t, la_dtype to, la_geometry *g)
{
    int64_t old = (int64_t)la_itemsize(t), new = (int64_t)la_dtype_size(to);
    if (old == new)
        return LA_OK;
    if (t->ndim == 0)
        return la_error(LA_ESHAPE, "self.dim() cannot be 0 to view %s as %s "
                        "(different element sizes)", la_dtype_name(t->dtype),
                        la_dtype_name(to));
    if (g->strides[g->ndim - 1] != 1)
        return cannot_view(t, to, "self.stride(-1) must be 1",
                           g->strides[g->ndim - 1]);
    if (new > old)
        return view_widen(t, to, new / old, g);
    split_elements(old / new, g);
    return LA_OK;
}

/* view(self, dtype): the same bytes as another dtype. No names. Lazy bits are
** an error: a copy without them would not be a view. */
la_status la_meta_view_dtype(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *view;
    la_dtype to = f->args[1].dtype;
    la_geometry g;
    if (t->flags & (LA_F_CONJ | LA_F_NEG))
        return la_error(LA_ESTATE, "the stored bytes of a conjugate or negated "
                        "view are not those of its values; use "
                        ":resolve_conj() or :resolve_neg() first");
    la_geometry_of(t, &g);
    LA_TRY(retype(t, to, &g));
    LA_TRY(la_tensor_view_as(t, to, g.ndim, g.sizes, g.strides, g.offset,
                             &view));
    view->flags |= LA_F_NO_HISTORY;
    return LA_GIVE(f, view);
}

/* as_strided(self, size, stride, storage_offset): any geometry within the
** storage, which la_tensor_view checks. Not negative. */
la_status la_meta_as_strided(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *sizes = &f->args[1], *strides = &f->args[2];
    la_geometry g = {.ndim = (int)sizes->ints.n, .offset = t->offset};
    if (sizes->ints.n != strides->ints.n)
        return la_error_at(LA_ESHAPE, 3, "mismatch in length of strides and "
                           "shape: %lld sizes, %lld strides",
                           (long long)sizes->ints.n,
                           (long long)strides->ints.n);
    /* Before the loop below writes into the geometry. */
    if (sizes->ints.n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 2, "size overflow: more than %d "
                           "dimensions", LA_MAX_DIMS);
    for (int d = 0; d < g.ndim; d++) {
        g.sizes[d] = sizes->ints.list[d];
        g.strides[d] = strides->ints.list[d];
        if (g.sizes[d] < 0 || g.strides[d] < 0)
            return la_error(LA_ESHAPE, "Negative sizes and strides "
                            "are not supported, got dimension %d", d + 1);
    }
    if (la_has(f, 3))
        g.offset = la_arg_int(f, 3);
    return la_view_result(f, &g, NULL);
}

/* --- parts --- */

/* select(self, dim, index): without the dim. */
la_status la_meta_select(la_frame *f)
{
    la_geometry g;
    int d, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    if (g.ndim == 0)
        return la_geo_select(&g, 0, 0);
    LA_TRY(la_arg_dim(f, 1, g.ndim, &d));
    LA_TRY(la_blame(la_geo_select(&g, d, la_arg_int(f, 2)), 3));
    without_dim(la_arg(f, 0), d, from);
    return la_view_result(f, &g, from);
}

/* The user's inclusive last element, counted from 1, is the end of the
** half-open range counted from 0; -1 is the last element, nil too. */
static int64_t range_end(const la_frame *f, int k, int64_t size)
{
    if (!la_has(f, k))
        return size;
    int64_t last = la_arg_int(f, k);
    if (last >= 0)
        return last;
    return last < -size ? 0 : last + size + 1;
}

/* slice(self, dim, first, last, step): ends are clamped as in PyTorch, the step
** is positive. */
la_status la_meta_slice(la_frame *f)
{
    la_geometry g;
    int d, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_arg_dim(f, 1, g.ndim, &d));
    if (g.ndim == 0)
        return la_geo_slice(&g, 0, 0, 0, 1);
    if (la_arg_int(f, 4) <= 0)
        return la_error_at(LA_EARG, 5, "slice step must be positive");
    int64_t first = la_has(f, 2) ? la_arg_int(f, 2) : 0;
    LA_TRY(la_geo_slice(&g, d, first, range_end(f, 3, g.sizes[d]),
                        la_arg_int(f, 4)));
    view_identity(la_arg(f, 0), from);
    return la_view_result(f, &g, from);
}

/* Unlike slice, narrow refuses what lies outside. */
static la_status check_narrow(int64_t start, int64_t length, int64_t size,
                              int d)
{
    if (length < 0)
        return la_error_at(LA_ESHAPE, 4, "length must be "
                           "non-negative.");
    if (start < -size || start > size)
        return la_error_at(LA_EINDEX, 3, "start %lld is out of range for "
                           "dimension %d of size %lld, 1 to %lld or -%lld to "
                           "-1", (long long)la_counted(start),
                           d + 1, (long long)size, (long long)size + 1,
                           (long long)size);
    if (start < 0)
        start += size;
    if (length > size - start)
        return la_error_at(LA_ESHAPE, 4, "start (%lld) + length (%lld) exceeds "
                           "dimension size (%lld).", (long long)start + 1,
                           (long long)length, (long long)size);
    return LA_OK;
}

/* narrow(self, dim, start, length). */
la_status la_meta_narrow(la_frame *f)
{
    la_geometry g;
    int d, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    if (g.ndim == 0)
        return la_error(LA_ESHAPE, "narrow() cannot be applied to a 0-dim "
                        "tensor.");
    LA_TRY(la_arg_dim(f, 1, g.ndim, &d));
    int64_t start = la_arg_int(f, 2), length = la_arg_int(f, 3);
    LA_TRY(check_narrow(start, length, g.sizes[d], d));
    if (start < 0)
        start += g.sizes[d];
    LA_TRY(la_geo_slice(&g, d, start, start + length, 1));
    view_identity(la_arg(f, 0), from);
    return la_view_result(f, &g, from);
}

/* diagonal(self, offset, dim1, dim2): the diagonal becomes the last dim, which
** has no name. */
la_status la_meta_diagonal(la_frame *f)
{
    la_geometry g;
    int d0, d1, n = 0, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_arg_dim(f, 2, g.ndim, &d0));
    LA_TRY(la_arg_dim(f, 3, g.ndim, &d1));
    LA_TRY(la_geo_diagonal(&g, la_arg_int(f, 1), d0, d1));
    for (int k = 0; k < la_arg(f, 0)->ndim; k++)
        if (k != d0 && k != d1)
            from[n++] = k;
    from[n] = -1;
    return la_view_result(f, &g, from);
}

/* unfold(self, dim, size, step): windows along dim; their elements become the
** last dim. */
la_status la_meta_unfold(la_frame *f)
{
    la_geometry g;
    int dim, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    view_identity(la_arg(f, 0), from);
    LA_TRY(la_arg_dim(f, 1, g.ndim, &dim));
    LA_TRY(la_blame(la_geo_unfold(&g, dim, la_arg_int(f, 2),
                                  la_arg_int(f, 3)),
                    la_arg_int(f, 3) <= 0 ? 4 : 3));
    from[g.ndim - 1] = -1;
    return la_view_result(f, &g, from);
}

/* --- orders of dims --- */

/* Dims a and b, checked, change their positions. */
static la_status view_exchange(la_frame *f, int a, int b)
{
    la_geometry g;
    int from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    la_geo_exchange(&g, a, b);
    view_identity(la_arg(f, 0), from);
    if (g.ndim) {
        from[a] = b;
        from[b] = a;
    }
    return la_view_result(f, &g, from);
}

/* transpose(self, dim1, dim2) */
la_status la_meta_transpose(la_frame *f)
{
    int a, b, ndim = la_arg(f, 0)->ndim;
    LA_TRY(la_arg_dim(f, 1, ndim, &a));
    LA_TRY(la_arg_dim(f, 2, ndim, &b));
    return view_exchange(f, a, b);
}

/* t(self): up to two dims; one dim stays as it is. */
la_status la_meta_t(la_frame *f)
{
    int ndim = la_arg(f, 0)->ndim;
    if (ndim > 2)
        return la_error(LA_ESHAPE, "%s() expects a tensor with <= 2 "
                        "dimensions, but self is %dD", f->op->name, ndim);
    return view_exchange(f, 0, ndim == 2);
}

/* permute(self, dims): dim k of the result is dims[k]. */
la_status la_meta_permute(la_frame *f)
{
    la_geometry g;
    int from[LA_MAX_DIMS];
    const int64_t *dims = f->args[1].ints.list;
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_blame(la_geo_permute(&g, dims, (int)f->args[1].ints.n), 2));
    for (int k = 0; k < g.ndim; k++)
        from[k] = (int)(dims[k] < 0 ? dims[k] + g.ndim : dims[k]);
    return la_view_result(f, &g, from);
}

/* --- more and fewer dims --- */

/* expand(self, size): dims of size 1 and new leading dims by stride 0. */
la_status la_meta_expand(la_frame *f)
{
    la_geometry g;
    int from[LA_MAX_DIMS], old = la_arg(f, 0)->ndim;
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_blame(la_geo_expand(&g, f->args[1].ints.list,
                                  (int)f->args[1].ints.n), 2));
    for (int k = 0; k < g.ndim; k++)
        from[k] = k < g.ndim - old ? -1 : k - (g.ndim - old);
    return la_view_result(f, &g, from);
}

/* squeeze(self, dims): a dim of another size stays where it is named. */
la_status la_meta_squeeze(la_frame *f)
{
    la_geometry g;
    const la_value *dims = &f->args[1];
    int listed = la_has(f, 1) ? (int)dims->ints.n : -1, n = 0;
    int from[LA_MAX_DIMS];
    uint64_t mask;
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_blame(la_dim_mask(listed, listed < 0 ? NULL : dims->ints.list,
                                g.ndim, &mask), 2));
    for (int d = 0; d < g.ndim; d++)
        if (g.sizes[d] != 1 || !(mask >> d & 1))
            from[n++] = d;
    LA_TRY(la_geo_squeeze(&g, mask));
    return la_view_result(f, &g, from);
}

/* unsqueeze(self, dim): 'dim' may be one past the last; dims from there on move
** back by one. */
la_status la_meta_unsqueeze(la_frame *f)
{
    la_geometry g;
    int at, from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    LA_TRY(la_blame(la_wrap_dim_end(la_arg_int(f, 1), g.ndim, &at), 2));
    LA_TRY(la_geo_unsqueeze(&g, at));
    for (int k = 0; k < g.ndim; k++)
        from[k] = k < at ? k : k == at ? -1 : k - 1;
    return la_view_result(f, &g, from);
}

/* --- the same --- */

/* alias(self): the same geometry in a tensor of its own. */
la_status la_meta_alias(la_frame *f)
{
    la_geometry g;
    int from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    view_identity(la_arg(f, 0), from);
    return la_view_result(f, &g, from);
}

/* detach(self): an alias without history and without requires_grad. */
la_status la_meta_detach(la_frame *f)
{
    la_tensor *copy;
    LA_TRY(la_tensor_alias(la_arg(f, 0), true, &copy));
    return LA_GIVE(f, copy);
}
