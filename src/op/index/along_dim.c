/* Operations with a list of indices for one dim: index_select, index_add,
** index_copy, index_fill, index_reduce; take and put, whose dim is the flat
** tensor. */
#include "op/index/index.h"
#include "op/move/copy.h"
#include "op/scalar_range.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* LA_EDTYPE or LA_ESHAPE unless it is a vector (or 0-dim) of integers; the
** values are checked later. 'what' names the operation. */
static la_status list_of_indices(const la_tensor *index, int arg,
                                 const char *what)
{
    LA_TRY(la_index_dtype(index, arg, what));
    if (index->ndim <= 1) return LA_OK;
    return la_error_at(LA_ESHAPE, arg, "%s: Index is supposed to be a vector, "
                       "got %d dims", what, index->ndim);
}

/* ---- index_select ---- */

/* (self, dim, index): self's sizes with index's length along dim. */
la_status la_meta_index_select(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 2);
    la_shape s = la_shape_of(self);
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    LA_TRY(list_of_indices(index, 3, "index_select()"));
    if (self->ndim > 0) s.sizes[dim] = index->numel;
    else if (index->numel != 1)
        return la_error_at(LA_ESHAPE, 3, "index_select(): Index to scalar can "
                           "have only 1 value, got %lld value(s)",
                           (long long)index->numel);
    LA_TRY(la_set_output(f, 0, s.ndim, s.sizes, NULL, (la_dtype)self->dtype));
    la_copy_names(la_result(f, 0), self);
    return LA_OK;
}

/* The walk is over the result; self stands still along the dim, the loop adds
** the index times the stride. */
static la_status read_many(const la_reading *r, la_tensor *out,
                           la_tensor *self)
{
    la_walk_shape shape = la_walk_of(out);
    LA_LET(from, la_walk_view(self, &shape, (uint64_t)1 << r->dim, &from));
    LA_LET(at, la_walk_along(r->index, &shape, r->dim, &at));
    LA_LET(to, la_walk_view(out, &shape, 0, &to));
    return la_reading_run(r, to, from, at);
}

/* Few elements go to the loop without views; what a view costs is more than
** their copy. */
la_status la_read_slices(la_frame *f, int dim, la_tensor *index, int arg)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    LA_READING r = {.dim = dim, .arg = arg,
                    .size = la_walk_size(self, dim),
                    .stride = la_walk_step(self, dim)};
    LA_TRY(la_reading_begin(f, index, &r));
    if (out->numel == 0) return LA_OK;
    return out->ndim > 0 && la_walk_is_few(out)
        ? la_reading_few(&r, out, self) : read_many(&r, out, self);
}

la_status la_impl_index_select(la_frame *f)
{
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    return la_read_slices(f, dim, la_arg(f, 2), 3);
}

/* ---- writing slices ---- */

/* source: self's shape with as many slices as there are indices. */
static la_status slices_fit(la_frame *f, const char *what)
{
    char a[256], b[256];
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 2), *src = la_arg(f, 3);
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    LA_TRY(list_of_indices(index, 3, what));
    if (src->dtype != self->dtype)
        return la_error_at(LA_EDTYPE, 4, "%s: self and source expected to have "
                           "the same dtype, but got (self) %s and (source) %s",
                           what, la_dtype_title((la_dtype)self->dtype),
                           la_dtype_title((la_dtype)src->dtype));
    int64_t have = src->ndim ? dim < src->ndim ? la_sizes(src)[dim] : -1 : 1;
    if (index->numel != have)
        return la_error_at(LA_ESHAPE, 4, "%s: Number of indices (%lld) should "
                           "be equal to source.size(dim): (%lld), for dim: %d",
                           what, (long long)index->numel, (long long)have,
                           dim + 1);
    la_walk_shape x = la_walk_of(self), y = la_walk_of(src);
    bool same = x.ndim == y.ndim;
    for (int d = 0; same && d < x.ndim; d++)
        same = d == dim || x.sizes[d] == y.sizes[d];
    if (!same)
        return la_error_at(LA_ESHAPE, 4, "%s: source %s must have the shape of "
                           "self %s apart from dimension %d", what,
                           la_sizes_text(src->ndim, la_sizes(src), a, 256),
                           la_sizes_text(self->ndim, la_sizes(self), b, 256),
                           dim + 1);
    return LA_OK;
}

/* The meta of all that write a source: its fit, no memory in common with what
** is written, then result 0 with self's shape. */
static la_status along_dim_check_slices(la_frame *f, const char *what)
{
    LA_TRY(slices_fit(f, what));
    LA_TRY(la_target_scratch(f, la_arg(f, 2)));
    LA_TRY(la_target_scratch(f, la_arg(f, 3)));
    return la_target_meta(f);
}

/* The walk is over 'source', or for a value over self with one slice for each
** index. Result 0 becomes a copy of self first, unless the call is in place.
** Indices are checked before, or by the loop where a result that is half
** written is nobody's (la_reading). */
static la_status write_slices(la_frame *f, la_tensor *source, bool is_value,
                              la_reduce_kind kind, bool with_self)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_scatter_plan p = {.shape = la_walk_of(is_value ? self : source)};
    LA_READING r = {.arg = 3};
    int bad = 0;
    LA_TRY(la_walk_dim(f, 1, &p.dim));
    r.dim = p.dim;
    r.size = la_walk_size(self, p.dim);
    LA_TRY(la_reading_begin(f, la_arg(f, 2), &r));
    LA_TRY(la_target_begin(f));
    if (is_value) p.shape.sizes[p.dim] = r.index->numel;
    if (r.index->numel == 0 || out->numel == 0) return LA_OK;
    LA_LET(at, la_walk_along(r.index, &p.shape, p.dim, &at));
    LA_LET(from,
           la_walk_view(source, &p.shape, is_value ? ~(uint64_t)0 : 0, &from));
    p.dims = (la_index_dims){.n = 1, .sizes = {r.size},
                             .bad = r.late ? &bad : NULL};
    p.index = at;
    p.source = from;
    LA_TRY(kind == LA_RED_NONE ? la_scatter_put(out, &p)
                               : la_scatter_reduce(out, &p, kind, with_self));
    return bad ? la_reading_failed(&r) : LA_OK;
}

/* (self, dim, index, source, alpha): self + alpha * source at the slices. */
la_status la_meta_index_add(la_frame *f)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    la_scalar alpha = f->args[4].scalar;
    if (alpha.kind == LA_KFLOAT && !la_is_inexact(d))
        return la_error_at(LA_EARG, 5, "For integral input tensors, argument "
                           "alpha must not be a floating point number.");
    return along_dim_check_slices(f, "index_add_()");
}

/* The product with alpha is one operation over the source, not one per
** index. */
la_status la_impl_index_add(la_frame *f)
{
    la_tensor *source = la_arg(f, 3);
    la_scalar alpha = f->args[4].scalar;
    LA_OWNED scaled = NULL;
    if (alpha.re != 1 || alpha.im != 0) {
        LA_TRY(la_run(mul, &scaled, source, alpha));
        source = scaled;
    }
    return write_slices(f, source, false, LA_RED_SUM, true);
}

/* (self, dim, index, source) */
LA_FORWARD(la_meta_index_copy, along_dim_check_slices(f, "index_copy_()"))

LA_FORWARD(la_impl_index_copy,
           write_slices(f, la_arg(f, 3), false, LA_RED_NONE, true))

/* (self, dim, index, source, reduce, include_self) */
la_status la_meta_index_reduce(la_frame *f)
{
    la_reduce_kind kind;
    LA_TRY(la_reduce_of(f, &kind));
    return along_dim_check_slices(f, "index_reduce_()");
}

la_status la_impl_index_reduce(la_frame *f)
{
    la_reduce_kind kind;
    LA_TRY(la_reduce_of(f, &kind));
    return write_slices(f, la_arg(f, 3), false, kind, la_arg_bool(f, 5));
}

/* (self, dim, index, value): a value of 0 dims. */
la_status la_meta_index_fill(la_frame *f)
{
    la_tensor *value = la_arg(f, 3);
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    LA_TRY(list_of_indices(la_arg(f, 2), 3, "index_fill_()"));
    if (value->ndim != 0)
        return la_error_at(LA_ESHAPE, 4, "index_fill_ only supports a "
                           "0-dimensional value tensor, but got tensor with %d "
                           "dimension(s).", value->ndim);
    if (la_is_complex((la_dtype)value->dtype)
        && !la_is_complex((la_dtype)la_arg(f, 0)->dtype))
        return la_error_at(LA_EDTYPE, 4, "index_fill_(): Converting complex "
                           "Scalar to non-complex type is not supported");
    LA_TRY(la_wrapped_fits(value, (la_dtype)la_arg(f, 0)->dtype, 4));
    LA_TRY(la_target_scratch(f, la_arg(f, 2)));
    return la_target_meta(f);
}

/* The value as a 0-dim tensor of self's dtype, read with strides of 0. */
la_status la_impl_index_fill(la_frame *f)
{
    la_tensor *value = la_arg(f, 3);
    la_scalar s = la_scalar_load((la_dtype)value->dtype, la_data(value));
    LA_LET(typed, la_scalar_tensor(&s, (la_dtype)la_arg(f, 0)->dtype, &typed));
    return write_slices(f, typed, true, LA_RED_NONE, true);
}

/* ---- take and put ---- */

/* (self, index): self as one row; the result has index's sizes. */
la_status la_meta_take(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 1);
    LA_TRY(la_index_dtype(index, 2, "take()"));
    if (self->numel == 0 && index->numel > 0)
        return la_error_at(LA_EINDEX, 2, "take(): tried to take from an empty "
                           "tensor");
    return la_set_output(f, 0, index->ndim, la_sizes(index), NULL,
                         (la_dtype)self->dtype);
}

/* Self must be contiguous for flat positions; a copy of it is. */
la_status la_impl_take(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_walk_shape shape = la_walk_of(out);
    LA_READING r = {.size = self->numel, .dim = -1, .arg = 2};
    r.stride = (int64_t)la_itemsize(self);
    LA_TRY(la_reading_begin(f, la_arg(f, 1), &r));
    if (out->numel == 0) return LA_OK;
    LA_LET(plain, la_run(contiguous, &plain, self));
    LA_LET(from, la_walk_view(plain, &shape, ~(uint64_t)0, &from));
    LA_LET(at, la_walk_view(r.index, &shape, 0, &at));
    LA_LET(to, la_walk_view(out, &shape, 0, &to));
    return la_reading_run(&r, to, from, at);
}

/* take with a dim is the array standard's: index_select. */
/* (self, index, source, accumulate): as many elements as indices. */
la_status la_meta_put(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 1), *src = la_arg(f, 2);
    LA_TRY(la_index_dtype(index, 2, "put_()"));
    if (self->dtype != src->dtype && !(src->flags & LA_F_WRAPPED))
        return la_error_at(LA_EDTYPE, 3, "put_(): self and source expected to "
                           "have the same dtype, but got self.dtype = %s and "
                           "source.dtype = %s",
                           la_dtype_name((la_dtype)self->dtype),
                           la_dtype_name((la_dtype)src->dtype));
    LA_TRY(la_wrapped_fits(src, (la_dtype)self->dtype, 3));
    if (src->numel != index->numel)
        return la_error_at(LA_ESHAPE, 3, "put_(): Expected source and index to "
                           "have the same number of elements, but got "
                           "source.numel() = %lld, index.numel() = %lld",
                           (long long)src->numel, (long long)index->numel);
    LA_TRY(la_target_scratch(f, index));
    LA_TRY(la_target_scratch(f, src));
    return la_target_meta(f);
}

/* On a flat, contiguous copy when the target is neither. */
la_status la_impl_put(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_scatter_plan p = {.shape = {1, {la_arg(f, 1)->numel}}};
    int64_t all = -1;
    LA_LET(index, la_index_checked(la_arg(f, 1), self->numel, -1, 2, &index));
    LA_TRY(la_target_begin(f));
    if (index->numel == 0) return LA_OK;
    LA_LET(flat_index, la_run(reshape, &flat_index, index, la_v_ints(&all, 1)));
    LA_LET(typed, la_run(astype, &typed, f->args[2],
                         la_v_dtype((la_dtype)self->dtype)));
    LA_LET(source, la_run(reshape, &source, typed, la_v_ints(&all, 1)));
    LA_LET(plain, la_run(contiguous, &plain, out));
    LA_LET(flat, la_run(view, &flat, plain, la_v_ints(&all, 1)));
    p.dims = (la_index_dims){.n = 1, .sizes = {self->numel}};
    p.index = flat_index;
    p.source = source;
    if (la_arg_bool(f, 3))
        LA_TRY(la_scatter_reduce(flat, &p, LA_RED_SUM, true));
    else
        LA_TRY(la_scatter_put(flat, &p));
    return plain->storage == out->storage ? LA_OK
                                          : la_run_(copy_, out, plain);
}
