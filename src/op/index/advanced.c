/*
** x[i, j, ...] by tensors: reading and writing. PyTorch's rules: masks stand
** for the positions of what is set, the index tensors are broadcast together,
** and their dims replace those that they index, in place if these are
** neighbours and in front otherwise.
*/
#include <stdio.h>

#include "base/runtime/context.h"
#include "op/index/index.h"
#include "op/scalar_range.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Facts about an indexing before the walk: one slot per dim of self. */
typedef struct plan {
    la_tensor *slot[LA_MAX_DIMS];   /* int64; owned; NULL: whole dim */
    int used;                       /* dims that the list reaches */
    la_shape common;                /* of the index tensors */
    int first, last, n;             /* dims that are indexed, how many */
    bool late;                      /* indices are checked by the walk */
} plan;

/* Slots are owned from the moment in which 'used' counts them. */
static void plan_drop(plan *p)
{
    for (int d = 0; d < p->used; d++) la_tensor_drop(&p->slot[d]);
}
#define PLAN __attribute__((cleanup(plan_drop))) plan

/* LA_EINDEX, in the words that PyTorch has for it. */
static la_status too_many(const la_tensor *self)
{
    return la_error(LA_EINDEX, "too many indices for tensor of dimension %d",
                    self->ndim);
}

/* ---- masks and indices into slots ---- */

/* LA_EINDEX unless the mask has the sizes of self's dims from 'at' on. */
static la_status mask_fits(const la_tensor *self, int at, const la_tensor *m)
{
    char a[256], b[256];
    if (at + m->ndim > self->ndim) return too_many(self);
    for (int d = 0; d < m->ndim; d++) {
        if (la_sizes(m)[d] == la_sizes(self)[at + d]) continue;
        return la_error(LA_EINDEX, "The shape of the mask %s at index %d does "
                        "not match the shape of the indexed tensor %s at index "
                        "%d", la_sizes_text(m->ndim, la_sizes(m), a, 256),
                        d + 1, la_sizes_text(self->ndim, la_sizes(self), b,
                                             256), at + d + 1);
    }
    return LA_OK;
}

/* A mask of n dims fills n slots, with the coordinates of what is set: n lists
** of one length, which broadcast together as any index tensors do. */
static la_status add_mask(plan *p, la_tensor *self, la_tensor *mask)
{
    LA_TRY(mask_fits(self, p->used, mask));
    if (mask->ndim == 1)
        return la_flat_positions(mask, &p->slot[p->used++]);
    LA_LET(positions, la_run(nonzero, &positions, mask));
    for (int d = 0; d < mask->ndim; d++)
        LA_TRY(la_run(select, &p->slot[p->used++], positions, 1, d));
    return LA_OK;
}

/* The next slot from one entry of the list; a 0-dim bool tensor is no mask
** here, LA_EDTYPE. */
static la_status add_index(plan *p, la_tensor *self, la_tensor *index)
{
    int d = p->used;
    if (index->dtype == LA_BOOL && index->ndim > 0)
        return add_mask(p, self, index);
    if (index->dtype == LA_UINT8)
        return la_error(LA_EDTYPE, "indexing with dtype uint8 is not supported:"
                        " use a bool tensor as a mask, an int64 tensor as "
                        "positions");
    if (index->dtype != LA_INT64 && index->dtype != LA_INT32)
        return la_error(LA_EDTYPE, "tensors used as indices must be int64, "
                        "int32 or bool tensors, got %s",
                        la_dtype_name((la_dtype)index->dtype));
    if (d >= self->ndim) return too_many(self);
    p->used++;
    if (p->late && la_sizes(self)[d] > 0)
        return la_index_wide(index, &p->slot[d]);
    LA_TRY(la_index_checked(index, la_sizes(self)[d], d, 0, &p->slot[d]));
    return la_index_keep(self, &p->slot[d]);
}

/* ---- shapes ---- */

/* The message lists the shapes that do not go together, as many as fit. */
static la_status no_common_shape(const plan *p)
{
    char text[512] = "", one[128];
    size_t n = 0;
    for (int d = 0; d < p->used && n + 140 < sizeof(text); d++) {
        const la_tensor *t = p->slot[d];
        if (!t) continue;
        la_sizes_text(t->ndim, la_sizes(t), one, sizeof(one));
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
                              n ? ", " : "", one);
    }
    return la_error(LA_ESHAPE, "shape mismatch: indexing tensors could not be "
                    "broadcast together with shapes %s", text);
}

/* Also finds which dims are indexed: first to last, n of them. */
static la_status common_shape(plan *p)
{
    p->common.ndim = 0;
    p->first = -1;
    p->n = 0;
    for (int d = 0; d < p->used; d++) {
        if (!p->slot[d]) continue;
        la_shape s = la_shape_of(p->slot[d]);
        if (la_shape_broadcast(&p->common, &s, &p->common))
            return no_common_shape(p);
        if (p->first < 0) p->first = d;
        p->last = d;
        p->n++;
    }
    return LA_OK;
}

/* Only what is read before it is set: the rest is two kilobytes. */
static void advanced_init(la_advanced *a)
{
    a->n = a->shape.ndim = 0;
}

/* Gives up the index tensors; the list itself lies on the stack. */
static void advanced_drop(la_advanced *a)
{
    for (int k = 0; k < a->n; k++) la_tensor_drop(&a->index[k]);
}
#define ADVANCED __attribute__((cleanup(advanced_drop))) la_advanced

/* An index tensor as the walk sees it: its dims from 'at' on. */
static la_status view_index(la_tensor *t, const la_advanced *a,
                            const la_shape *common, int at, la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS] = {0};
    int lead = common->ndim - t->ndim;
    for (int d = 0; d < t->ndim; d++)
        strides[at + lead + d] = la_sizes(t)[d] == 1 ? 0 : la_strides(t)[d];
    return la_tensor_view(t, a->shape.ndim, a->shape.sizes, strides, t->offset,
                          out);
}

/* A stride of 0 for dims that only the index tensors have. */
static void advanced_add_dim(la_advanced *a, int64_t size, int64_t stride)
{
    a->shape.sizes[a->shape.ndim] = size;
    a->self_strides[a->shape.ndim++] = stride;
}

/* Lay out the result: self's whole dims and the common dims of the indices.
** Indexed dims that are neighbours are replaced where they stand, others by
** dims in front (NumPy's rule, which PyTorch follows). */
static la_status advanced_lay_out(la_tensor *self, plan *p, la_advanced *a)
{
    bool neighbours = p->last - p->first + 1 == p->n;
    int at = neighbours ? p->first : 0;
    if (self->ndim - p->n + p->common.ndim > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "the result would have more than %d dims",
                        LA_MAX_DIMS);
    for (int d = 0; d <= self->ndim; d++) {
        if (a->shape.ndim == at && (neighbours ? d == at : d == 0))
            for (int k = 0; k < p->common.ndim; k++)
                advanced_add_dim(a, p->common.sizes[k], 0);
        if (d < self->ndim && !p->slot[d])
            advanced_add_dim(a, la_sizes(self)[d], la_strides(self)[d]);
    }
    for (int d = 0; d < self->ndim; d++) {
        if (!p->slot[d]) continue;
        a->sizes[a->n] = la_sizes(self)[d];
        a->strides[a->n] = la_strides(self)[d];
        LA_TRY(view_index(p->slot[d], a, &p->common, at, &a->index[a->n]));
        a->n++;
    }
    return LA_OK;
}

/* Kernels take six indices. More are added up to one, in elements of self: a
** rare case, so the plain way. */
static la_status fold(la_advanced *a)
{
    la_shape *s = &a->shape;
    LA_LET(sum, la_tensor_empty(s->ndim, s->sizes, LA_INT64, &sum));
    int64_t *to = (int64_t *)la_data(sum);
    for (int64_t i = 0; i < sum->numel; i++) to[i] = 1;
    while (a->n >= LA_INDEX_MAX) {
        int k = --a->n;
        LA_OWNED plain = NULL;
        LA_TRY(la_run(contiguous, &plain, a->index[k]));
        const int64_t *from = (int64_t *)la_data(plain);
        for (int64_t i = 0; i < sum->numel; i++)
            to[i] += (from[i] > 0 ? from[i] - 1 : from[i] + a->sizes[k])
                   * a->strides[k];
        la_tensor_drop(&a->index[k]);
    }
    a->sizes[a->n] = 0;
    a->strides[a->n] = 1;
    a->index[a->n++] = la_tensor_retain(sum);
    return LA_OK;
}

/* 'late': the walk will check the indices. Fills *a, which the caller drops,
** also after an error. */
static la_status advanced(la_tensor *self, const la_value *list, bool late,
                          la_advanced *a)
{
    PLAN p = {.late = late};
    for (int64_t i = 0; i < list->tensors.n; i++) {
        la_tensor *t = list->tensors.list[i];
        if (t) LA_TRY(add_index(&p, self, t));
        else if (++p.used > self->ndim) return too_many(self);
    }
    LA_TRY(common_shape(&p));
    if (p.n == 0)
        return la_error(LA_EARG, "at least one index tensor expected");
    LA_TRY(advanced_lay_out(self, &p, a));
    return a->n > LA_INDEX_MAX ? fold(a) : LA_OK;
}

/* ---- the walk ---- */

/* Reads: 'other' takes elements of self. Writes: self takes those of 'other'.
** Both have the walk's shape; 'bad' is where a loop notes an index out of
** range, NULL for indices that were checked before. */
static la_status advanced_walk(la_tensor *self, la_advanced *a,
                               la_tensor *other, la_loop loop, int kind,
    int *bad)
{
    la_index_dims dims = {.n = a->n, .bad = bad};
    int64_t item = (int64_t)la_itemsize(self);
    for (int k = 0; k < a->n; k++) {
        dims.sizes[k] = a->sizes[k];
        dims.strides[k] = a->strides[k] * item;
    }
    LA_LET(view, la_tensor_view(self, a->shape.ndim, a->shape.sizes,
                                a->self_strides, self->offset, &view));
    if (kind == LA_WALK_READS)
        return la_walk_run(loop, &dims, kind, other, view, a->index);
    return la_walk_run(loop, &dims, kind, view, other, a->index);
}

/* x[mask] with a mask of x's own shape needs no positions. */
static la_tensor *whole_mask(const la_tensor *self, const la_value *list)
{
    la_tensor *m = list->tensors.n == 1 ? list->tensors.list[0] : NULL;
    if (!m || m->dtype != LA_BOOL || m->ndim != self->ndim || m->ndim == 0)
        return NULL;
    size_t bytes = (size_t)m->ndim * sizeof(int64_t);
    return memcmp(la_sizes(m), la_sizes(self), bytes) == 0 ? m : NULL;
}

/* x[i] with one list of positions takes slices of the first dim. */
static la_tensor *one_list(const la_tensor *self, const la_value *list)
{
    la_tensor *t = list->tensors.n == 1 ? list->tensors.list[0] : NULL;
    bool is_list = t && t->ndim == 1 && self->ndim > 0
        && (t->dtype == LA_INT64 || t->dtype == LA_INT32);
    return is_list ? t : NULL;
}

/* Repeats the preparation with every index checked, for the message: which one
** is out of range. */
static la_status check_all(la_tensor *self, const la_value *list)
{
    ADVANCED a;
    advanced_init(&a);
    return advanced(self, list, false, &a);
}

/* The read itself. Indices in shared memory may change between the loop and the
** check: then there is an error all the same. */
static la_status advanced_read_out(la_frame *f, la_tensor *self, la_advanced *a,
                                   bool late)
{
    int bad = 0;
    la_loop get = LA_STUB(index_moves)->get[la_size_class(la_itemsize(self))];
    LA_TRY(advanced_walk(self, a, la_result(f, 0), get, LA_WALK_READS,
                         late ? &bad : NULL));
    if (!bad) return LA_OK;
    LA_TRY(check_all(self, &f->args[1]));
    return la_error_at(LA_EINDEX, 2, "an index changed while it was read");
}

/* index_select along the first dim, which has kernels for whole slices. */
static la_status advanced_read_list(la_frame *f, la_tensor *self,
                                    la_tensor *positions)
{
    la_shape s = la_shape_of(self);
    s.sizes[0] = positions->numel;
    LA_TRY(la_set_output(f, 0, s.ndim, s.sizes, NULL, (la_dtype)self->dtype));
    return la_read_slices(f, 0, positions, 0);
}

/* The general case: result 0 with the shape of the walk. */
static la_status read_any(la_frame *f, la_tensor *self)
{
    ADVANCED a;
    advanced_init(&a);
    /* more dims than a kernel takes are added up before it runs */
    bool late = f->form == LA_FUNCTIONAL && self->ndim <= LA_INDEX_MAX;
    LA_TRY(advanced(self, &f->args[1], late, &a));
    LA_TRY(la_set_output(f, 0, a.shape.ndim, a.shape.sizes, NULL,
                         (la_dtype)self->dtype));
    if (la_result(f, 0)->numel > 0) LA_TRY(advanced_read_out(f, self, &a,
                                                             late));
    else if (late) LA_TRY(check_all(self, &f->args[1]));
    return LA_OK;
}

/* (self, indices): a list with NULL for dims that are taken whole. A mask over
** all dims and a single list have shorter ways. */
la_status la_impl_index(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    la_tensor *mask = whole_mask(self, &f->args[1]);
    la_tensor *positions = one_list(self, &f->args[1]);
    if (positions) return advanced_read_list(f, self, positions);
    return mask ? la_select_masked(f, self, mask) : read_any(f, self);
}

/* ---- writing ---- */

/* LA_EDTYPE for tensors of another dtype than self's; numbers adapt. */
static la_status advanced_check_values(la_frame *f, la_tensor *values)
{
    la_dtype want = (la_dtype)la_arg(f, 0)->dtype;
    if (values->dtype == want || (values->flags & LA_F_WRAPPED)) return LA_OK;
    return la_error_at(LA_EDTYPE, 3, "Index put requires the source and "
                       "destination dtypes match, got %s for the destination "
                       "and %s for the source.", la_dtype_title(want),
                       la_dtype_title((la_dtype)values->dtype));
}

/* The values in the shape of the walk. Leading dims of size 1 are dropped where
** there are too many. *out is an owned view; LA_ESHAPE where the values would
** have to grow the walk. */
static la_status broadcast_values(la_tensor *values, const la_advanced *a,
                                  la_tensor **out)
{
    char x[256], y[256];
    la_shape s = la_shape_of(values), both;
    while (s.ndim > a->shape.ndim && s.sizes[0] == 1) {
        memmove(s.sizes, s.sizes + 1, (size_t)--s.ndim * sizeof(int64_t));
    }
    bool fits = s.ndim <= a->shape.ndim
             && la_shape_broadcast(&s, &a->shape, &both) == LA_OK
             && memcmp(both.sizes, a->shape.sizes,
                       (size_t)both.ndim * sizeof(int64_t)) == 0;
    if (!fits)
        return la_error_at(LA_ESHAPE, 3, "shape mismatch: value tensor of "
                           "shape %s cannot be broadcast to indexing result "
                           "of shape %s",
                           la_sizes_text(values->ndim, la_sizes(values), x,
                                         256),
                           la_sizes_text(a->shape.ndim, a->shape.sizes, y,
                                         256));
    int64_t strides[LA_MAX_DIMS];
    int dropped = values->ndim - s.ndim, lead = a->shape.ndim - s.ndim;
    for (int d = 0; d < a->shape.ndim; d++)
        strides[d] = d < lead || s.sizes[d - lead] == 1 ? 0
                   : la_strides(values)[d - lead + dropped];
    return la_tensor_view(values, a->shape.ndim, a->shape.sizes, strides,
                          values->offset, out);
}

/* Puts values in the order of the indices: of equal ones the last stays, or all
** are added up. */
static la_status advanced_put_values(la_frame *f, la_advanced *a,
                                     la_tensor *values, bool accumulate)
{
    la_tensor *out = la_result(f, 0);
    LA_LET(wide, broadcast_values(values, a, &wide));
    LA_TRY(la_target_scratch(f, wide));
    if (wide->numel == 0) return LA_OK;
    la_dtype d = (la_dtype)out->dtype;
    return advanced_walk(out, a, wide, la_reduce_loop(accumulate ? LA_RED_SUM
                                                      : LA_RED_NONE, d),
                         LA_WALK_WRITES, NULL);
}

/* LA_EALIAS: an index tensor must not be written while it is read. */
static la_status no_index_overlaps(la_frame *f)
{
    const la_value *list = &f->args[1];
    for (int64_t i = 0; i < list->tensors.n; i++)
        LA_TRY(la_target_scratch(f, list->tensors.list[i]));
    return LA_OK;
}

/* Fills by masked_fill; index_put counts the change. */
static la_status fill_masked(la_tensor *target, la_tensor *mask,
                             la_tensor *value)
{
    LA_WITHOUT_KEYS(1u << LA_KEY_INPLACE_OR_VIEW);
    return la_run_(masked_fill, target, mask, value);
}

/* (self, indices, values, accumulate). A 0-dim value by a mask over all dims is
** masked_fill, which needs no positions. */
la_status la_impl_index_put(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *values = la_arg(f, 2);
    bool accumulate = la_arg_bool(f, 3);
    la_tensor *mask = whole_mask(self, &f->args[1]);
    LA_OWNED typed = NULL;
    LA_TRY(advanced_check_values(f, values));
    LA_TRY(la_wrapped_fits(values, (la_dtype)self->dtype, 3));
    LA_TRY(no_index_overlaps(f));
    LA_TRY(la_target_meta(f));
    if (values->flags & LA_F_WRAPPED) {
        la_scalar s = la_scalar_load((la_dtype)values->dtype, la_data(values));
        LA_TRY(la_scalar_tensor(&s, (la_dtype)self->dtype, &typed));
        values = typed;
    }
    LA_TRY(la_target_begin(f));
    la_tensor *target = la_result(f, 0);
    if (mask && values->ndim == 0 && !accumulate)
        return fill_masked(target, mask, values);
    ADVANCED a;
    advanced_init(&a);
    LA_TRY(advanced(target, &f->args[1], false, &a));
    return advanced_put_values(f, &a, values, accumulate);
}
