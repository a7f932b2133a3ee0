/*
** Tensors put together: cat, and what is said by it.
**
** A contiguous result is written row by row, a row being what one position of
** the dims before the joined one spans; every other case is one strided copy
** per input. Results have the promoted dtype, inputs are converted on the way.
*/
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/move/copy.h"
#include "kernel/move/elements.h"
#include "op/move/move.h"
#include "op/view/view.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/join.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Empty tensors of one dim were once the way to start from nothing: they fit
** everywhere. */
static bool is_nothing(const la_tensor *t)
{
    return t->ndim == 1 && t->numel == 0;
}

/* The first tensor that counts; NULL when none does. */
static const la_tensor *model_of(const la_value *list)
{
    for (int64_t k = 0; k < list->tensors.n; k++)
        if (!is_nothing(list->tensors.list[k]))
            return list->tensors.list[k];
    return NULL;
}

/* LA_EARG for an empty list, LA_ESHAPE for a 0-dim tensor; positions in
** messages count from 1. */
static la_status cat_check_list(const la_value *list)
{
    if (list->tensors.n == 0)
        return la_error_at(LA_EARG, 1, "expected a non-empty list of tensors");
    for (int64_t k = 0; k < list->tensors.n; k++)
        if (list->tensors.list[k]->ndim == 0)
            return la_error_at(LA_ESHAPE, 1, "zero-dimensional tensor (at "
                               "position %lld) cannot be concatenated",
                               (long long)k + 1);
    return LA_OK;
}

/* LA_ESHAPE unless 'b', entry k of the list, agrees with 'a' in all dims but
** the joined one. */
static la_status cat_check_pair(const la_tensor *a, const la_tensor *b, int dim,
                                int64_t k)
{
    if (a->ndim != b->ndim)
        return la_error_at(LA_ESHAPE, 1, "Tensors must have same number of "
                           "dimensions: got %d and %d", a->ndim, b->ndim);
    for (int d = 0; d < a->ndim; d++)
        if (d != dim && la_sizes(a)[d] != la_sizes(b)[d])
            return la_error_at(LA_ESHAPE, 1, "Sizes of tensors must match "
                               "except in dimension %d. Expected size %lld but "
                               "got size %lld for tensor number %lld in the "
                               "list.", dim + 1, (long long)la_sizes(a)[d],
                               (long long)la_sizes(b)[d], (long long)k + 1);
    return LA_OK;
}

/* The model's sizes with those of all tensors added up along 'dim'. */
static la_status joined_sizes(const la_value *list, const la_tensor *model,
                              int dim, la_shape *out)
{
    *out = la_shape_of(model);
    out->sizes[dim] = 0;
    for (int64_t k = 0; k < list->tensors.n; k++) {
        const la_tensor *t = list->tensors.list[k];
        if (is_nothing(t))
            continue;
        LA_TRY(cat_check_pair(model, t, dim, k));
        if (!la_add_ok(out->sizes[dim], la_sizes(t)[dim], &out->sizes[dim]))
            return la_error_at(LA_ESHAPE, 1, "size overflow");
    }
    return LA_OK;
}

/* A memory format that all inputs look like, or the usual one. */
static la_memory_format common_format(const la_value *list)
{
    la_memory_format all = LA_PRESERVE;
    for (int64_t k = 0; k < list->tensors.n; k++) {
        la_memory_format one = la_suggest_format(list->tensors.list[k]);
        if (one == LA_FORMAT_CONTIGUOUS || (all != LA_PRESERVE && one != all))
            return LA_FORMAT_CONTIGUOUS;
        all = one;
    }
    return all;
}

/* The promoted dtype of all tensors, empty ones too, as in PyTorch. */
static la_status cat_common_dtype(const la_value *list, la_dtype *out)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    for (int64_t k = 0; k < list->tensors.n; k++)
        la_result_type_add(&r, list->tensors.list[k]);
    return la_result_type_get(&r, out);
}

/* Dims of the result are named as those of the inputs, where these agree. An
** error where two names of a dim differ. */
static la_status cat_join_names(la_frame *f)
{
    const la_value *list = &f->args[0];
    la_names *all = NULL, *next;
    int ndim = la_result(f, 0)->ndim;
    for (int64_t k = 0; k < list->tensors.n; k++) {
        const la_tensor *t = list->tensors.list[k];
        if (!t->names || is_nothing(t))
            continue;
        la_status status = la_names_unify(all, ndim, t->names, ndim, &next);
        la_names_release(all);
        LA_TRY(status);
        all = next;
    }
    if (all)
        la_tensor_set_names(la_result(f, 0), all);
    return LA_OK;
}

/* (tensors, dim): scratch[0] is the dim from 0, for impl. The list may hold
** tensors that do not count (is_nothing), even all of them. */
la_status la_meta_cat(la_frame *f)
{
    const la_value *list = &f->args[0];
    la_shape shape;
    la_dtype dtype;
    int64_t strides[LA_MAX_DIMS];
    int dim;
    LA_TRY(cat_check_list(list));
    const la_tensor *model = model_of(list);
    if (!model)
        model = list->tensors.list[0];
    LA_TRY(la_arg_dim(f, 1, model->ndim, &dim));
    LA_TRY(joined_sizes(list, model, dim, &shape));
    LA_TRY(cat_common_dtype(list, &dtype));
    la_memory_format format = common_format(list);
    LA_TRY(la_format_strides(format, shape.ndim, shape.sizes, strides));
    f->scratch[0] = dim;
    LA_TRY(la_set_output(f, 0, shape.ndim, shape.sizes,
                         format == LA_FORMAT_CONTIGUOUS ? NULL : strides,
                         dtype));
    return cat_join_names(f);
}

/* Bytes that a few rows are; how wide a row is at least to be copied so. */
#define JOIN_BYTES ((int64_t)64 << 10)
#define JOIN_LEAST 16
#define JOIN_LONG 256
/* Bytes of a result that is written past the caches. */
#define JOIN_LARGE (6 << 20)

/* Do both step by one element along the same dim? Then rows are plain runs;
** anything else is transposed or converted by the general copy. */
static bool runs_alike(const la_tensor *out, const la_tensor *t)
{
    if (t->dtype != out->dtype)
        return false;
    for (int d = 0; d < t->ndim; d++)
        if (la_sizes(t)[d] > 1 && la_strides(out)[d] == 1)
            return la_strides(t)[d] <= 1;
    return true;
}

/* Copy 't' to its part of the result, from 'first' on along the dim. */
static la_status copy_part(la_tensor *out, la_tensor *t, int dim,
                           int64_t first)
{
    if (runs_alike(out, t)) {
        la_strided to = la_strided_of(out), from = la_strided_of(t);
        to.data += first * to.strides[dim];
        return la_move(&to, &from, t->ndim, la_sizes(t), la_itemsize(t));
    }
    LA_LET(part,
           la_tensor_view(out, t->ndim, la_sizes(t), la_strides(out),
                          out->offset + first * la_strides(out)[dim], &part));
    return la_copy_data(part, t);
}

/* Rows of all tensors side by side, where all are contiguous: a few rows of
** each at a time, so that lines which two of them share are written at once. */
typedef struct rows {
    const la_value *list;
    char *to;
    int64_t item, width;        /* bytes of a row of the result */
    int64_t count;              /* of rows */
    int64_t least;              /* bytes of a row of the narrowest */
} rows;

/* Fills *r and answers whether all rows are contiguous: of the result, and of
** each tensor in the result's dtype. */
static bool side_by_side(const la_value *list, const la_tensor *out, int dim,
                         rows *r)
{
    *r = (rows){.list = list, .item = (int64_t)la_itemsize(out), .count = 1};
    for (int d = 0; d < dim; d++) r->count *= la_sizes(out)[d];
    if (r->count < 2 || !la_is_contiguous(out)) return false;
    for (int64_t k = 0; k < list->tensors.n; k++) {
        const la_tensor *t = list->tensors.list[k];
        if (t->dtype != out->dtype || !la_is_contiguous(t)) return false;
        int64_t width = t->numel / r->count * r->item;
        r->least = k == 0 || width < r->least ? width : r->least;
    }
    r->to = la_data(out);
    r->width = out->numel / r->count * r->item;
    return true;
}

/* Long rows: in the order of the result, which is how memory likes to be
** written. */
static void join_long(const rows *r, int64_t begin, int64_t end)
{
    char *to = r->to + begin * r->width;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < r->list->tensors.n; k++) {
            const la_tensor *t = r->list->tensors.list[k];
            size_t width = (size_t)(t->numel / r->count * r->item);
            if (width == 0) continue;
            memcpy(to, la_data(t) + i * (int64_t)width, width);
            to += width;
        }
}

/* Rows begin..end, tensor by tensor; long ones in the order of the result. */
static void cat_join_rows(int64_t begin, int64_t end, void *context)
{
    const rows *r = context;
    char *to = r->to + begin * r->width;
    if (r->width >= JOIN_LONG * r->list->tensors.n
        && r->width * r->count >= JOIN_LARGE) {
        join_long(r, begin, end);
        return;
    }
    for (int64_t k = 0; k < r->list->tensors.n; k++) {
        const la_tensor *t = r->list->tensors.list[k];
        int64_t width = t->numel / r->count * r->item;
        int64_t steps[4] = {r->item, r->item, r->width, width};
        if (width == 0) continue;
        la_move_block((size_t)r->item, to, la_data(t) + begin * width, steps,
                      width / r->item, end - begin);
        to += width;
    }
}

/* Rows that are one element, or as good as one, interleaved. */
static void zip_rows(int64_t begin, int64_t end, void *context)
{
    const rows *r = context;
    const la_value *list = r->list;
    const char *from[LA_ZIP_MOST];
    la_zip_loop zip = (*LA_STUB(zip))[__builtin_ctzll((uint64_t)r->least)];
    for (int64_t k = 0; k < list->tensors.n; k++)
        from[k] = la_data(list->tensors.list[k]) + begin * r->least;
    zip(r->to + begin * r->width, from, (int)list->tensors.n, end - begin);
}

/* Does every tensor give one element-sized piece to a row? */
static bool can_zip(const rows *r)
{
    int64_t n = r->list->tensors.n, w = r->least;
    return n >= LA_ZIP_LEAST && n <= LA_ZIP_MOST && r->width == n * w
        && w > 0 && w <= 16 && (w & (w - 1)) == 0;
}

/* Side by side where rows allow it, else one strided move per tensor. */
la_status la_impl_cat(la_frame *f)
{
    const la_value *list = &f->args[0];
    la_tensor *out = la_result(f, 0);
    int dim = (int)f->scratch[0];
    int64_t first = 0;
    rows r;
    bool rows_fit = out->numel && side_by_side(list, out, dim, &r);
    if (rows_fit && (r.least >= JOIN_LEAST || can_zip(&r))) {
        int64_t grain = 2 * JOIN_BYTES / r.width + 1;
        if (can_zip(&r))
            return la_iter_items(r.count, grain,
                                 LA_POLL_ELEMENTS / r.width + 1, zip_rows, &r);
        return la_iter_items(r.count, grain, JOIN_BYTES / r.width + 1,
                             cat_join_rows, &r);
    }
    for (int64_t k = 0; k < list->tensors.n; k++) {
        la_tensor *t = list->tensors.list[k];
        if (t->numel)
            LA_TRY(copy_part(out, t, dim, first));
        if (!is_nothing(t))
            first += la_sizes(t)[dim];
    }
    return LA_OK;
}

/* --- made of cat --- */

/* The list of argument 0 with each tensor changed by 'change', then joined
** along 'dim'. 'with' is passed on to each change; what it makes is owned. */
typedef la_status (*change_fn)(la_tensor *t, int64_t with, la_tensor **out);

/* The inputs, each changed first (stack of vectors), put together along dim. */
static la_status cat_changed(la_frame *f, change_fn change, int64_t with,
                             int64_t dim)
{
    const la_value *in = &f->args[0];
    la_tensor *out;
    la_value list;
    la_status status = la_list_new(in->tensors.n, &list);
    for (int64_t k = 0; k < in->tensors.n && !status; k++)
        status = change(in->tensors.list[k], with, &list.tensors.list[k]);
    if (!status)
        status = la_run(cat, &out, list, dim);
    la_value_drop(&list);
    if (!status)
        la_set_result(f, 0, out);
    return status;
}

static la_status unsqueeze(la_tensor *t, int64_t dim, la_tensor **out)
{
    return la_run(unsqueeze, out, t, dim);
}

/* stack's condition, checked before unsqueeze so that the message names the
** sizes as given. */
static la_status same_sizes(const la_value *list)
{
    char a[256], b[256];
    if (list->tensors.n == 0)
        return la_error_at(LA_EARG, 1, "stack expects a non-empty list of "
                           "tensors");
    const la_tensor *first = list->tensors.list[0];
    for (int64_t k = 1; k < list->tensors.n; k++) {
        const la_tensor *t = list->tensors.list[k];
        if (la_same_sizes(t, first)) continue;
        la_sizes_text(first->ndim, la_sizes(first), a, sizeof a);
        la_sizes_text(t->ndim, la_sizes(t), b, sizeof b);
        return la_error_at(LA_ESHAPE, 1, "stack expects each tensor to be "
                           "equal size, but got %s at entry 1 and %s at entry "
                           "%lld", a, b, (long long)k + 1);
    }
    return LA_OK;
}

/* (tensors, dim): the new dim may stand behind all dims, so dim counts to ndim
** + 1. */
la_status la_impl_stack(la_frame *f)
{
    int dim;
    LA_TRY(same_sizes(&f->args[0]));
    int ndim = f->args[0].tensors.list[0]->ndim;
    LA_TRY(la_blame(la_wrap_dim_end(la_arg_int(f, 1), ndim, &dim), 2));
    return cat_changed(f, unsqueeze, dim, dim);
}

/* A view with n dims or more, as la.atleast_<n>d. */
static la_status cat_at_least(la_tensor *t, int64_t n, la_tensor **out)
{
    switch (n) {
    case 1: return la_run(atleast_1d, out, t);
    case 2: return la_run(atleast_2d, out, t);
    default: return la_run(atleast_3d, out, t);
    }
}

/* Vectors are joined along their only dim, all else along the second. */
la_status la_impl_hstack(la_frame *f)
{
    const la_value *list = &f->args[0];
    if (list->tensors.n == 0)
        return la_error_at(LA_EARG, 1, "hstack expects a non-empty list of "
                           "tensors");
    return cat_changed(f, cat_at_least, 1, list->tensors.list[0]->ndim > 1);
}

LA_FORWARD(la_impl_vstack, cat_changed(f, cat_at_least, 2, 0))
LA_FORWARD(la_impl_dstack, cat_changed(f, cat_at_least, 3, 2))

/* Vectors and 0-dim tensors become columns, matrices stay. */
static la_status as_column(la_tensor *t, int64_t unused, la_tensor **out)
{
    int64_t sizes[2] = {t->numel, 1};
    if (t->ndim < 2)
        return la_reshape_to(t, 2, sizes, out);
    return la_tensor_same(t, out);
}

LA_FORWARD(la_impl_column_stack, cat_changed(f, as_column, 0, 1))

/* --- blocks along the diagonal --- */

/* Columns of the result: the last sizes added up. LA_ESHAPE for an input of
** more than two dims. */
static la_status block_sizes(const la_value *list, int64_t *width)
{
    *width = 0;
    for (int64_t k = 0; k < list->tensors.n; k++) {
        const la_tensor *t = list->tensors.list[k];
        if (t->ndim > 2)
            return la_error_at(LA_ESHAPE, 1, "Input tensors must "
                               "have 2 or fewer dimensions. Input %lld has %d "
                               "dimensions", (long long)k + 1, t->ndim);
        *width += t->ndim == 0 ? 1 : la_sizes(t)[t->ndim - 1];
    }
    return LA_OK;
}

/* One block with zeros to its left and right. */
static la_status widen_block(la_tensor *t, int64_t before, int64_t width,
                             la_tensor **out)
{
    LA_LET(matrix, la_run(atleast_2d, &matrix, t));
    int64_t pads[2] = {before, width - before - la_sizes(matrix)[1]};
    return la_run(constant_pad_nd, out, matrix, la_v_ints(pads, 2));
}

/* (tensors) -> matrix. Each input, padded to the full width, is a band of rows.
** No input at all gives sizes 1, 0, as PyTorch does. */
la_status la_impl_block_diag(la_frame *f)
{
    const la_value *in = &f->args[0];
    int64_t width, before = 0, empty[2] = {1, 0};
    la_tensor *out;
    la_value list;
    LA_TRY(block_sizes(in, &width));
    if (in->tensors.n == 0) {
        LA_TRY(la_tensor_empty(2, empty, LA_FLOAT32, &out));
        return LA_GIVE(f, out);
    }
    la_status status = la_list_new(in->tensors.n, &list);
    for (int64_t k = 0; k < in->tensors.n && !status; k++) {
        la_tensor *t = in->tensors.list[k];
        status = widen_block(t, before, width, &list.tensors.list[k]);
        before += t->ndim == 0 ? 1 : la_sizes(t)[t->ndim - 1];
    }
    if (!status)
        status = la_run(cat, &out, list, 0);
    la_value_drop(&list);
    if (!status)
        la_set_result(f, 0, out);
    return status;
}
