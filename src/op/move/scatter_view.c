/*
** A tensor with one part replaced, as a new tensor; coordinates from flat
** indices.
**
** The adjoints of views: select, slice, diagonal and as_strided read a part,
** these write one into a copy. They are how functional code, which writes
** nothing in place, changes a part of a tensor.
*/
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "op/cost/fuel.h"
#include "op/move/move.h"
#include "op/view/view.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/join.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Geometry in 't' of the part that argument 1 replaces. */
typedef la_status (*part_fn)(const la_frame *f, const la_tensor *t,
                             la_geometry *g);

/* The result has the sizes of argument 0, argument 1 those of the part.
** LA_ESHAPE otherwise; dtypes may differ, the part is converted. */
static la_status meta_part(la_frame *f, part_fn part)
{
    la_tensor *t = la_arg(f, 0), *src = la_arg(f, 1);
    char want[256], have[256];
    int64_t strides[LA_MAX_DIMS];
    la_geometry g;
    LA_TRY(part(f, t, &g));
    if (!la_has_sizes(src, g.ndim, g.sizes))
        return la_error_at(LA_ESHAPE, 2, "expected src to have a size equal to "
                           "the slice of self. src size = %s, slice size = %s",
                           la_sizes_text(src->ndim, la_sizes(src), have,
                                         sizeof have),
                           la_sizes_text(g.ndim, g.sizes, want,
                                         sizeof want));
    la_preserve_strides(t, strides);
    return la_set_output(f, 0, t->ndim, la_sizes(t), strides, t->dtype);
}

/* Self's elements, then argument 1 over its part. */
static la_status fill_part(la_frame *f, part_fn part)
{
    la_tensor *out = la_result(f, 0);
    la_geometry g;
    LA_TRY(part(f, out, &g));
    LA_TRY(la_move_tensor(out, la_arg(f, 0)));
    LA_LET(view, la_view_make(out, &g, &view));
    return la_move_tensor(view, la_arg(f, 1));
}

/* (self, src, dim, index) */
static la_status select_part(const la_frame *f, const la_tensor *t,
                             la_geometry *g)
{
    int d;
    la_geometry_of(t, g);
    LA_TRY(la_arg_dim(f, 2, g->ndim, &d));
    return la_blame(la_geo_select(g, d, la_arg_int(f, 3)), 4);
}

/* Each pair below binds one part to the two functions above. */
LA_FORWARD(la_meta_select_scatter, meta_part(f, select_part))
LA_FORWARD(la_impl_select_scatter, fill_part(f, select_part))

/* (self, src, dim, start, end, step): an end that is included, as in slices. */
static la_status slice_part(const la_frame *f, const la_tensor *t,
                            la_geometry *g)
{
    int d;
    la_geometry_of(t, g);
    LA_TRY(la_arg_dim(f, 2, g->ndim, &d));
    if (g->ndim == 0)
        return la_geo_slice(g, 0, 0, 0, 1);
    int64_t size = g->sizes[d], end = size;
    if (la_has(f, 4)) {
        end = la_arg_int(f, 4);  /* inclusive from 1 is half open from 0 */
        if (end < 0)
            end = end < -size ? 0 : end + size + 1;
    }
    return la_geo_slice(g, d, la_has(f, 3) ? la_arg_int(f, 3) : 0, end,
                        la_arg_int(f, 5));
}

LA_FORWARD(la_meta_slice_scatter, meta_part(f, slice_part))
LA_FORWARD(la_impl_slice_scatter, fill_part(f, slice_part))

/* (self, src, offset, dim1, dim2) */
static la_status diagonal_part(const la_frame *f, const la_tensor *t,
                               la_geometry *g)
{
    la_geometry_of(t, g);
    return la_geo_diagonal(g, la_arg_int(f, 2), la_arg_int(f, 3),
                           la_arg_int(f, 4));
}

LA_FORWARD(la_meta_diagonal_scatter, meta_part(f, diagonal_part))
LA_FORWARD(la_impl_diagonal_scatter, fill_part(f, diagonal_part))

/* as_strided's part, on the result: both check the part against the storage. */
static la_status strided_part(const la_frame *f, const la_tensor *t,
                              la_geometry *g)
{
    (void)t;                   /* the strides are given, whatever self's are */
    const la_value *sizes = &f->args[2], *strides = &f->args[3];
    if (sizes->ints.n != strides->ints.n || sizes->ints.n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 4, "as many strides as sizes expected, "
                           "at most %d", LA_MAX_DIMS);
    g->ndim = (int)sizes->ints.n;
    memcpy(g->sizes, sizes->ints.list, (size_t)g->ndim * sizeof(int64_t));
    memcpy(g->strides, strides->ints.list, (size_t)g->ndim * sizeof(int64_t));
    g->offset = la_has(f, 4) ? la_arg_int(f, 4) : 0;
    return LA_OK;
}

LA_FORWARD(la_meta_as_strided_scatter, meta_part(f, strided_part))
LA_FORWARD(la_impl_as_strided_scatter, fill_part(f, strided_part))

/* narrow, as a copy that is contiguous. */
la_status la_impl_narrow_copy(la_frame *f)
{
    la_tensor *out;
    LA_LET(view, la_run(narrow, &view, f->args[0], f->args[1], f->args[2],
                        f->args[3]));
    LA_TRY(la_clone_contiguous(view, &out));
    return LA_GIVE(f, out);
}

/* --- unravel_index --- */

/* LA_EDTYPE or LA_ESHAPE; *numel of the shape. */
static la_status check_unravel(const la_tensor *t, const la_value *shape,
                               int64_t *numel)
{
    if (t->device != LA_CPU)
        return la_error(LA_EKEY, "a tensor on the meta device has no indices "
                        "to be read");
    if (!la_is_integral(t->dtype))
        return la_error_at(LA_EDTYPE, 1, "expected 'indices' to be an integer "
                           "tensor, but got %s", la_dtype_name(t->dtype));
    if (shape->ints.n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 2, "size overflow");
    return la_numel((int)shape->ints.n, shape->ints.list, numel);
}

/* Coordinates (from 1) of each index, dim by dim from the last. */
static la_status unravel(la_tensor *t, const la_value *shape, la_tensor **list,
                         int64_t numel)
{
    enum { BETWEEN_POLLS = 1 << 14 };
    la_strided p = la_strided_of(t);
    for (int64_t k = 0; k < t->numel; k++) {
        if (k % BETWEEN_POLLS == 0) LA_TRY(la_poll());
        int64_t i = la_scalar_load(t->dtype, p.data + k * (int64_t)
                                             la_itemsize(t)).i;
        if (i == 0 || i > numel || i < -numel)
            return la_error_at(LA_EINDEX, 1, "index %lld is out of range, 1 to "
                               "%lld or -%lld to -1", (long long)i,
                               (long long)numel, (long long)numel);
        i = i < 0 ? i + numel : i - 1;
        for (int64_t d = shape->ints.n - 1; d >= 0; d--) {
            ((int64_t *)la_data(list[d]))[k] = i % shape->ints.list[d] + 1;
            i /= shape->ints.list[d];
        }
    }
    return LA_OK;
}

/* (indices, shape) -> a list of coordinates, one tensor of indices' sizes per
** dim. */
la_status la_impl_unravel_index(la_frame *f)
{
    const la_value *shape = &f->args[1];
    la_tensor *t = la_arg(f, 0);
    LA_OWNED plain = NULL;
    la_value v;
    int64_t numel;
    LA_TRY(check_unravel(t, shape, &numel));
    if (la_fuel_running)
        LA_TRY(la_fuel_more(f, la_fuel_times(t->numel,
                                             8 * (shape->ints.n + 1))));
    if (la_is_contiguous(t))
        plain = la_tensor_retain(t);
    else
        LA_TRY(la_clone_contiguous(t, &plain));
    LA_TRY(la_list_new(shape->ints.n, &v));
    la_set_result_value(f, 0, v);
    for (int64_t d = 0; d < shape->ints.n; d++)
        LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), LA_INT64,
                               &v.tensors.list[d]));
    return unravel(plain, shape, v.tensors.list, numel);
}
