/*
** Rows of a table chosen by index tensors: one_hot, embedding, embedding_bag.
** All are composites over index_select, index_add and index_reduce, whose
** derivatives scatter back to the rows; indices count from 1.
*/
#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/index/index.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

/* ---- one_hot ---- */

/* The largest element of a contiguous int64 tensor, 0 when there is none. */
static int64_t embedding_largest(const la_tensor *t)
{
    const int64_t *x = (const int64_t *)la_data(t);
    int64_t most = 0;
    for (int64_t i = 0; i < t->numel; i++) if (x[i] > most) most = x[i];
    return most;
}

/* Element t[i] - 1 of row i becomes 1. */
static void put_ones(const la_tensor *t, int64_t classes, la_tensor *out)
{
    const int64_t *x = (const int64_t *)la_data(t);
    int64_t *to = (int64_t *)la_data(out);
    for (int64_t i = 0; i < t->numel; i++) to[i * classes + x[i] - 1] = 1;
}

/* Ones by calls, which can be recorded. */
static la_status embedding_compare(la_frame *f, la_tensor *t, int64_t classes)
{
    la_tensor *out = NULL;
    LA_LET(at, la_run(unsqueeze, &at, t, -1));
    LA_LET(all, la_run(arange_start, &all, la_scalar_int(1),
                        la_scalar_int(classes + 1)));
    LA_LET(is, la_run(eq, &is, at, all));
    return la_give(f, la_run(astype, &out, is, la_v_dtype(LA_INT64)), &out);
}

/* Shape [*self, classes] of int64. num_classes -1: the largest class, which is
** data. */
la_status la_impl_one_hot(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t classes = la_arg_int(f, 1), answer;
    la_shape s = la_shape_of(self);
    LA_TRY(la_check_readable(f));
    LA_TRY(la_index_dtype(self, 1, "one_hot()"));
    if (classes == 0 || classes < -1)
        return la_error_at(LA_EARG, 2, "num_classes should be positive");
    LA_LET(wide, la_run(astype, &wide, self, la_v_dtype(LA_INT64)));
    LA_LET(plain, la_run(contiguous, &plain, wide));
    if (classes == -1 && self->numel == 0)
        return la_error_at(LA_EARG, 2, "Can not infer total number of classes "
                           "from empty tensor.");
    if (classes == -1 && self->device == LA_META)
        return la_error_at(LA_EKEY, 2, "the result's shape depends on data, "
                           "and a tensor on the meta device has none; say "
                           "num_classes");
    if (classes == -1) {
        LA_TRY(la_look_sizes(plain));
        classes = embedding_largest(plain);
    }
    la_look_question q = {LA_LOOK_classes, 1, 1, classes};
    if (self->device == LA_CPU) LA_TRY(la_look(f->op, &q, plain, &answer));
    if (s.ndim == LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "too many dimensions");
    s.sizes[s.ndim++] = classes;
    if (la_ctx()->recorder && self->device == LA_CPU)
        return embedding_compare(f, plain, classes);
    LA_LET(out,
           la_run(zeros, &out, la_v_ints(s.sizes, s.ndim), la_v_dtype(LA_INT64),
                  la_v_device((la_device)self->device)));
    if (self->device != LA_META) put_ones(plain, classes, out);
    return LA_GIVE(f, la_tensor_retain(out));
}

/* ---- embedding ---- */

/* weight[indices], of shape [*indices, columns]: index_select takes a list,
** other shapes are flattened before and restored after. *out is owned.
** LA_ESHAPE unless weight is a matrix. */
static la_status look_up(la_tensor *indices, la_tensor *weight, la_tensor **out)
{
    la_shape s = la_shape_of(indices);
    int64_t all = -1;
    if (weight->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "'weight' must be 2-D");
    LA_TRY(la_index_dtype(indices, 1, "embedding()"));
    if (s.ndim == LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "too many dimensions");
    s.sizes[s.ndim++] = la_sizes(weight)[1];
    if (indices->ndim == 1)
        return la_run(index_select, out, weight, 0, indices);
    LA_LET(flat, la_run(reshape, &flat, indices, la_v_ints(&all, 1)));
    LA_LET(rows, la_run(index_select, &rows, weight, 0, flat));
    return la_run(view, out, rows, la_v_ints(s.sizes, s.ndim));
}

/* The padding row takes part as a constant: its values come from a detached
** weight, so that no gradient reaches it. */
static la_status look_up_padded(la_tensor *indices, la_tensor *weight,
                                int64_t padding, la_tensor **out)
{
    int64_t rows = la_sizes(weight)[0];
    if (padding >= rows || padding < -rows)
        return la_error_at(LA_EINDEX, 3, "padding_idx must be within the %lld "
                           "rows of weight", (long long)rows);
    padding += padding < 0 ? rows + 1 : 1;
    LA_LET(taken, look_up(indices, weight, &taken));
    LA_LET(fixed, la_run(detach, &fixed, weight));
    LA_LET(constant, look_up(indices, fixed, &constant));
    LA_LET(is_padding,
           la_run(eq, &is_padding, indices, la_scalar_int(padding)));
    LA_LET(mask, la_run(unsqueeze, &mask, is_padding, -1));
    return la_run(where, out, mask, constant, taken);
}

/* Scales the rows of weight that are looked up down to max_norm, in place and
** without a history, as PyTorch does. A row may be named several times: it is
** written the same each time. */
static la_status limit_norms(la_tensor *indices, la_tensor *weight,
                             const la_value *max_norm, la_value norm_type)
{
    LA_CHAIN(w);
    int64_t all = -1;
    if (max_norm->tag == LA_VNONE) return LA_OK;
    la_tensor *plain = R(detach, weight);
    la_tensor *flat = R(reshape, indices, la_v_ints(&all, 1));
    la_tensor *rows = R(index_select, plain, 0, flat);
    la_tensor *less = R(renorm, rows, norm_type, 0, *max_norm);
    if (!less) return w->status;
    return la_run_(index_copy, plain, 0, flat, less);
}

/* *rows (replaced) with gradients divided by how often the row of weight is
** named in 'indices': the value plus a difference that is zero. The difference
** of a value and its detached self carries the gradient. */
static la_status scale_by_count(la_tensor *indices, la_tensor *weight,
                                la_tensor **rows)
{
    LA_CHAIN(w);
    int64_t all = -1, n = la_sizes(weight)[0];
    la_value dtype = la_v_dtype((la_dtype)weight->dtype);
    la_tensor *flat = R(reshape, indices, la_v_ints(&all, 1));
    la_tensor *none = R(zeros, la_v_ints(&n, 1), dtype);
    la_tensor *ones = R(ones_like, flat, dtype);
    la_tensor *counts = R(index_add, none, 0, flat, ones);
    la_tensor *each = R(index_select, counts, 0, flat);
    if (!each) return w->status;
    la_tensor *shaped =
        R(view, each, la_v_ints(la_sizes(indices), indices->ndim));
    la_tensor *part = R(div, *rows, R(unsqueeze, shaped, -1));
    la_tensor *fixed = R(detach, *rows);
    la_tensor *out = R(add, fixed, R(sub, part, R(detach, part)));
    if (!out) return w->status;
    la_tensor_release(*rows);
    return la_tensor_same(out, rows);
}

/* padding_idx and scale_grad_by_freq change only what is differentiated.
** (indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq). */
la_status la_impl_embedding(la_frame *f)
{
    enum { PAD = 2, MOST, ORD, FREQ };
    la_tensor *indices = la_arg(f, 0), *weight = la_arg(f, 1);
    LA_OWNED out = NULL;
    bool recorded = la_grad_flag(weight) != 0;
    if (weight->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "'weight' must be 2-D");
    LA_TRY(limit_norms(indices, weight, &f->args[MOST], f->args[ORD]));
    if (la_has(f, PAD) && recorded)
        LA_TRY(look_up_padded(indices, weight, la_arg_int(f, PAD), &out));
    else
        LA_TRY(look_up(indices, weight, &out));
    if (recorded && la_arg_bool(f, FREQ))
        LA_TRY(scale_by_count(indices, weight, &out));
    return LA_GIVE(f, la_tensor_retain(out));
}

/* ---- embedding_bag ---- */

enum { INDICES, WEIGHT, OFFSETS, MODE, PER_SAMPLE, LAST, MAX_NORM, NORM_TYPE,
       BY_FREQ, SPARSE, PADDING };

/* The bag (from 1) of each of the 'n' positions of a list: 'offsets' are where
** bags begin. With include_last_offset the last is the end, not a bag. *bags is
** owned. LA_EINDEX unless offsets begin with 1 and do not fall. */
static la_status bags_of(la_frame *f, int64_t n, la_tensor **bags,
                         int64_t *count)
{
    la_tensor *offsets = la_arg(f, OFFSETS);
    if (!offsets)
        return la_error_at(LA_EARG, OFFSETS + 1, "offsets has to be a 1-D "
                           "tensor when the positions are one list");
    LA_TRY(la_index_dtype(offsets, OFFSETS + 1, "embedding_bag()"));
    if (offsets->ndim != 1)
        return la_error_at(LA_ESHAPE, OFFSETS + 1, "offsets has to be a 1-D "
                           "tensor");
    LA_LET(plain, la_run(astype, &plain, offsets, la_v_dtype(LA_INT64)));
    LA_LET(row, la_run(contiguous, &row, plain));
    const int64_t *at = (const int64_t *)la_data(row);
    int64_t m = row->numel;
    *count = m - (la_arg_bool(f, LAST) && m > 0);
    for (int64_t b = 0; b < m; b++)
        if (at[b] < (b ? at[b - 1] : 1) || at[b] > n + 1 || at[0] != 1)
            return la_error_at(LA_EINDEX, OFFSETS + 1, "offsets must begin "
                               "with 1, not fall and not go beyond %lld, got "
                               "%lld (element %lld)", (long long)n + 1,
                               (long long)at[b], (long long)b + 1);
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, bags));
    int64_t *to = (int64_t *)la_data(*bags);
    /* Offsets ascend, so one pass finds the bag of every position; empty bags
    ** are skipped. */
    for (int64_t i = 0, b = 0; i < n; i++) {
        while (b + 1 < *count && at[b + 1] <= i + 1) b++;
        to[i] = b + 1;
    }
    return LA_OK;
}

/* Each sum divided by its number of rows; an empty bag divides by 1 and stays
** zero. Counts are added up in the dtype of the sums. */
static la_status embedding_means(la_tensor *sums, la_tensor *bags,
                                 la_tensor **out)
{
    int64_t count = la_sizes(sums)[0];
    LA_LET(sizes, la_tensor_empty(1, &count, (la_dtype)sums->dtype, &sizes));
    LA_TRY(la_run_(fill_, sizes, la_scalar_int(0)));
    LA_LET(ones,
           la_tensor_empty(1, la_sizes(bags), (la_dtype)sums->dtype, &ones));
    LA_TRY(la_run_(fill_, ones, la_scalar_int(1)));
    LA_TRY(la_run_(index_add, sizes, 0, bags, ones));
    LA_TRY(la_run_(clamp_min, sizes, la_scalar_int(1)));
    LA_LET(column, la_run(unsqueeze, &column, sizes, -1));
    return la_run(div, out, sums, column);
}

/* One row per bag: sum, mean or max of its rows. The rows are added in
** ascending order of their position, whatever the number of threads. LA_EARG
** for another mode. An empty bag gives zeros, for max too. */
static la_status embedding_combine(la_tensor *rows, la_tensor *bags,
                                   int64_t count, const la_value *mode,
    la_tensor **out)
{
    int64_t sizes[2] = {count, la_sizes(rows)[1]};
    bool max = la_str_is(mode, "max"), mean = la_str_is(mode, "mean");
    if (!max && !mean && !la_str_is(mode, "sum"))
        return la_error_at(LA_EARG, MODE + 1, "mode has to be one of sum, mean "
                           "or max");
    LA_LET(zero, la_tensor_empty(2, sizes, (la_dtype)rows->dtype, &zero));
    LA_TRY(la_run_(fill_, zero, la_scalar_int(0)));
    if (max)
        return la_run(index_reduce, out, zero, 0, bags, rows,
                      la_v_string("amax"), la_v_bool(false));
    LA_LET(sums, la_run(index_add, &sums, zero, 0, bags, rows));
    if (mean) return embedding_means(sums, bags, out);
    return la_tensor_same(sums, out);
}

/* A matrix of positions: each row is a bag. *bags is owned, in row-major order
** of the matrix. */
static la_status bags_of_rows(la_tensor *indices, la_tensor **bags)
{
    int64_t n = indices->numel, width = la_sizes(indices)[1];
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, bags));
    int64_t *to = (int64_t *)la_data(*bags);
    for (int64_t i = 0; i < n; i++) to[i] = i / width + 1;
    return LA_OK;
}

/* *list (replaced) at the positions 'kept'. */
static la_status only(la_tensor **list, la_tensor *kept)
{
    la_tensor *part = NULL;
    LA_TRY(la_run(index_select, &part, *list, 0, kept));
    la_tensor_release(*list);
    *list = part;
    return LA_OK;
}

/* The positions of 'flat' that are not padding_idx; NULL when all are kept. */
static la_status without_padding(la_frame *f, la_tensor *flat, la_tensor **kept)
{
    LA_CHAIN(w);
    int64_t all = -1, rows = la_sizes(la_arg(f, WEIGHT))[0], padding;
    if (!la_has(f, PADDING)) return LA_OK;
    padding = la_arg_int(f, PADDING);
    if (padding >= rows || padding < -rows)
        return la_error_at(LA_EINDEX, PADDING + 1, "padding_idx must be within "
                           "the %lld rows of weight", (long long)rows);
    padding += padding < 0 ? rows + 1 : 1;
    la_tensor *column = R(nonzero, R(ne, flat, la_scalar_int(padding)));
    la_tensor *list = R(reshape, column, la_v_ints(&all, 1));
    if (!list) return w->status;
    return la_tensor_same(list, kept);
}

/* Rows scaled by per_sample_weights, if any, of the positions 'kept' (NULL:
** all). *rows is replaced. */
static la_status embedding_weigh(la_frame *f, la_tensor *kept, la_tensor **rows)
{
    la_tensor *w = la_arg(f, PER_SAMPLE), *scaled = NULL;
    int64_t all = -1;
    if (!w) return LA_OK;
    if (!la_str_is(&f->args[MODE], "sum"))
        return la_error_at(LA_EARG, PER_SAMPLE + 1, "per_sample_weights only "
                           "go with mode='sum'");
    LA_LET(flat, la_run(reshape, &flat, w, la_v_ints(&all, 1)));
    if (kept) LA_TRY(only(&flat, kept));
    LA_LET(column, la_run(unsqueeze, &column, flat, -1));
    LA_TRY(la_run(mul, &scaled, *rows, column));
    la_tensor_release(*rows);
    *rows = scaled;
    return LA_OK;
}

/* *t is replaced by its conversion, and released in any case. */
static la_status embedding_as_dtype(la_tensor **t, la_dtype dtype)
{
    LA_OWNED before = *t;
    *t = NULL;
    return la_run(astype, t, before, la_v_dtype(dtype));
}

/* [bags, columns]. Indices of two dims: a bag per row; of one: cut at
** offsets. */
la_status la_impl_embedding_bag(la_frame *f)
{
    la_tensor *indices = la_arg(f, INDICES), *out = NULL;
    LA_OWNED bags = NULL;
    int64_t all = -1, count = 0;
    if (la_arg(f, WEIGHT)->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "'weight' must be 2-D");
    if (indices->ndim == 2) {
        count = la_sizes(indices)[0];
        LA_TRY(bags_of_rows(indices, &bags));
    } else if (indices->ndim == 1) {
        LA_TRY(bags_of(f, indices->numel, &bags, &count));
    } else {
        return la_error_at(LA_ESHAPE, 1, "input has to be a 1-D or 2-D tensor, "
                           "but got tensor of dimension %d", indices->ndim);
    }
    LA_LET(flat, la_run(reshape, &flat, indices, la_v_ints(&all, 1)));
    LA_LET(kept, without_padding(f, flat, &kept));
    if (kept) {
        LA_TRY(only(&flat, kept));
        LA_TRY(only(&bags, kept));
    }
    LA_TRY(limit_norms(flat, la_arg(f, WEIGHT), &f->args[MAX_NORM],
                       f->args[NORM_TYPE]));
    LA_LET(rows, look_up(flat, la_arg(f, WEIGHT), &rows));
    if (la_arg_bool(f, BY_FREQ) && la_grad_flag(la_arg(f, WEIGHT)))
        LA_TRY(scale_by_count(flat, la_arg(f, WEIGHT), &rows));
    /* The rows that are used, not the whole table, go to float32. */
    la_dtype own = (la_dtype)rows->dtype;
    la_tensor *weights = la_arg(f, PER_SAMPLE);
    bool wide = la_is_half(own) && (!weights || weights->dtype == own);
    if (wide) LA_TRY(embedding_as_dtype(&rows, LA_FLOAT32));
    LA_TRY(embedding_weigh(f, kept, &rows));
    LA_TRY(embedding_combine(rows, bags, count, &f->args[MODE], &out));
    if (wide) LA_TRY(embedding_as_dtype(&out, own));
    return la_give(f, LA_OK, &out);
}
