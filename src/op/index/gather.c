/*
** gather, take_along_dim and the scatter family: an index for every element.
**
** gather: out[i][j] = self[index[i][j]][j] for dim 0; scatter is the same with
** the sides exchanged. The walk is over the index in both, which may be smaller
** than self in every other dim.
*/
#include <stdio.h>

#include "op/index/index.h"
#include "op/scalar_range.h"
#include "tensor/names.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* ---- shapes ---- */

/* 0-dim tensors count as vectors of one element. */
static int rank(const la_tensor *t) { return t->ndim ? t->ndim : 1; }

/* LA_ESHAPE; 'what' names the other tensor. */
static la_status same_rank(const la_tensor *index, const la_tensor *other,
                           const char *what)
{
    if (rank(index) == rank(other)) return LA_OK;
    return la_error(LA_ESHAPE, "Index tensor must have the same number of "
                    "dimensions as %s tensor", what);
}

/* index must not be larger than 'other', except along 'but' (-1: nowhere). */
static la_status no_larger(const la_tensor *index, const la_tensor *other,
                           int but, const char *what)
{
    char a[256], b[256], apart[64] = "";
    la_walk_shape i = la_walk_of(index), o = la_walk_of(other);
    for (int d = 0; d < i.ndim; d++) {
        if (d == but || i.sizes[d] <= o.sizes[d]) continue;
        if (but >= 0)
            snprintf(apart, sizeof(apart), " apart from dimension %d", but + 1);
        return la_error(LA_ESHAPE, "Size does not match at dimension %d: "
                        "expected index %s to be no larger than %s %s%s", d + 1,
                        la_sizes_text(i.ndim, i.sizes, a, sizeof(a)), what,
                        la_sizes_text(o.ndim, o.sizes, b, sizeof(b)), apart);
    }
    return LA_OK;
}

/* ---- gather ---- */

/* The dims of the result are self's and index's: their names must agree. */
static la_status join_names(la_frame *f, const la_tensor *self,
                            const la_tensor *index)
{
    la_names *names = NULL;
    if (self->ndim != index->ndim || (!self->names && !index->names))
        return LA_OK;
    LA_TRY(la_names_unify(self->names, self->ndim, index->names, index->ndim,
                          &names));
    la_tensor_set_names(la_result(f, 0), names);
    return LA_OK;
}

/* (self, dim, index): index's sizes, self's dtype. An empty index fits
** everything. */
la_status la_meta_gather(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 2);
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    if (index->numel > 0) {
        LA_TRY(la_index_dtype(index, 3, "gather()"));
        LA_TRY(same_rank(index, self, "input"));
        LA_TRY(no_larger(index, self, dim, "self"));
    }
    LA_TRY(la_set_output(f, 0, index->ndim, la_sizes(index), NULL,
                         (la_dtype)self->dtype));
    return join_names(f, self, index);
}

la_status la_impl_gather(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_walk_shape shape = la_walk_of(out);
    LA_READING r = {.arg = 3};
    if (out->numel == 0) return LA_OK;
    LA_TRY(la_walk_dim(f, 1, &r.dim));
    r.size = la_walk_size(self, r.dim);
    r.stride = la_walk_step(self, r.dim);
    LA_TRY(la_reading_begin(f, la_arg(f, 2), &r));
    LA_LET(from, la_walk_view(self, &shape, (uint64_t)1 << r.dim, &from));
    LA_LET(at, la_walk_view(r.index, &shape, 0, &at));
    LA_LET(to, la_walk_view(out, &shape, 0, &to));
    return la_reading_run(&r, to, from, at);
}

/* Broadcast apart from 'dim', then gather; without a dim both are flat. Both
** results are owned views. */
static la_status broadcast_apart(la_tensor *self, la_tensor *index, int dim,
                                 la_tensor **wide_self, la_tensor **wide_index)
{
    la_shape a = la_shape_of(self), b = la_shape_of(index), s;
    int64_t na = a.sizes[dim], nb = b.sizes[dim];
    a.sizes[dim] = b.sizes[dim] = 1;
    LA_TRY(la_shape_broadcast(&a, &b, &s));
    s.sizes[dim] = na;
    LA_TRY(la_run(expand, wide_self, self, la_v_ints(s.sizes, s.ndim)));
    s.sizes[dim] = nb;
    return la_run(expand, wide_index, index, la_v_ints(s.sizes, s.ndim));
}

/* (self, indices, dim or nil). The two are broadcast apart from the dim, unlike
** gather's. */
la_status la_impl_take_along_dim(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 1);
    LA_OWNED a = NULL;
    LA_OWNED b = NULL;
    int64_t all = -1;
    int dim = 0;
    LA_TRY(la_index_dtype(index, 2, "take_along_dim()"));
    if (!la_has(f, 2)) {
        LA_TRY(la_run(reshape, &a, self, la_v_ints(&all, 1)));
        LA_TRY(la_run(reshape, &b, index, la_v_ints(&all, 1)));
    } else {
        LA_TRY(la_walk_dim(f, 2, &dim));
        if (self->ndim != index->ndim)
            return la_error_at(LA_ESHAPE, 2, "take_along_dim(): input and "
                               "indices should have the same number of "
                               "dimensions, but got %d dimensions for input, "
                               "and %d dimensions for indices", self->ndim,
                               index->ndim);
        if (self->ndim == 0) {
            a = la_tensor_retain(self);
            b = la_tensor_retain(index);
        } else {
            LA_TRY(broadcast_apart(self, index, dim, &a, &b));
        }
    }
    return la_run_result(f, gather, a, dim, b);
}

/* ---- scatter ---- */

/* Dim, dtype and sizes of the index, then result 0; an empty index fits
** everything. The values are not looked at: they may be on the meta device. */
static la_status check_index(la_frame *f, const char *what)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 2);
    int dim;
    LA_TRY(la_walk_dim(f, 1, &dim));
    if (index->numel > 0) {
        LA_TRY(la_index_dtype(index, 3, what));
        LA_TRY(same_rank(index, self, "self"));
        LA_TRY(no_larger(index, self, dim, "self"));
    }
    LA_TRY(la_target_scratch(f, index));
    return la_target_meta(f);
}

/* LA_EDTYPE for another dtype than self's; LA_ESHAPE where index is larger than
** source in a dim. */
static la_status check_source(la_frame *f, const char *what)
{
    la_tensor *self = la_arg(f, 0), *index = la_arg(f, 2), *src = la_arg(f, 3);
    if (src->dtype != self->dtype)
        return la_error_at(LA_EDTYPE, 4, "%s: Expected self.dtype to be equal "
                           "to src.dtype, got %s and %s", what,
                           la_dtype_name((la_dtype)self->dtype),
                           la_dtype_name((la_dtype)src->dtype));
    if (index->numel > 0) {
        LA_TRY(same_rank(index, src, "src"));
        LA_TRY(no_larger(index, src, -1, "src"));
    }
    LA_TRY(la_target_scratch(f, src));
    return check_index(f, what);
}

/* The walk is over the index. 'is_value': source is 0-dim and read with strides
** of 0. */
static la_status scatter(la_frame *f, la_tensor *source, bool is_value,
                         la_reduce_kind kind, bool with_self)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_scatter_plan p = {.shape = la_walk_of(la_arg(f, 2))};
    LA_READING r = {.arg = 3};
    int bad = 0;
    LA_TRY(la_walk_dim(f, 1, &p.dim));
    if (la_arg(f, 2)->numel == 0) return la_target_begin(f);
    r.dim = p.dim;
    r.size = la_walk_size(self, p.dim);
    LA_TRY(la_reading_begin(f, la_arg(f, 2), &r));
    LA_LET(at, la_walk_view(r.index, &p.shape, 0, &at));
    LA_LET(from,
           la_walk_view(source, &p.shape, is_value ? ~(uint64_t)0 : 0, &from));
    LA_TRY(la_target_begin(f));
    p.dims = (la_index_dims){.n = 1, .sizes = {r.size},
                             .bad = r.late ? &bad : NULL};
    p.index = at;
    p.source = from;
    LA_TRY(kind == LA_RED_NONE ? la_scatter_put(out, &p)
                               : la_scatter_reduce(out, &p, kind, with_self));
    return bad ? la_reading_failed(&r) : LA_OK;
}

/* (self, dim, index, source or value, reduce) */
la_status la_meta_scatter(la_frame *f)
{
    la_reduce_kind kind;
    LA_TRY(la_reduce_of(f, &kind));
    /* a number of Lua takes self's dtype: the form with a value */
    LA_TRY(la_wrapped_fits(la_arg(f, 3), (la_dtype)la_arg(f, 0)->dtype, 4));
    if (la_arg(f, 3)->flags & LA_F_WRAPPED) return check_index(f, "scatter()");
    return check_source(f, "scatter()");
}

/* A number of Lua fills all positions in self's dtype. */
la_status la_impl_scatter(la_frame *f)
{
    la_reduce_kind kind;
    la_tensor *src = la_arg(f, 3);
    LA_TRY(la_reduce_of(f, &kind));
    if (!(src->flags & LA_F_WRAPPED)) return scatter(f, src, false, kind, true);
    la_scalar value = la_scalar_load((la_dtype)src->dtype, la_data(src));
    LA_LET(typed,
           la_scalar_tensor(&value, (la_dtype)la_arg(f, 0)->dtype, &typed));
    return scatter(f, typed, true, kind, true);
}

/* (self, dim, index, source) */
LA_FORWARD(la_meta_scatter_add, check_source(f, "scatter_add()"))

LA_FORWARD(la_impl_scatter_add,
           scatter(f, la_arg(f, 3), false, LA_RED_SUM, true))

/* (self, dim, index, source, reduce, include_self) */
la_status la_meta_scatter_reduce(la_frame *f)
{
    la_reduce_kind kind;
    LA_TRY(la_reduce_of(f, &kind));
    return check_source(f, "scatter_reduce()");
}

la_status la_impl_scatter_reduce(la_frame *f)
{
    la_reduce_kind kind;
    LA_TRY(la_reduce_of(f, &kind));
    return scatter(f, la_arg(f, 3), false, kind, la_arg_bool(f, 5));
}
