/*
** Strides, order of dims, memory of the outputs and coalescing. Before
** la_iter_reorder dims are in the order of tensors (the last is the fastest in
** a contiguous one), after it dim 0 is the fastest. The comparison of strides
** decides the layout of fresh outputs, so it follows PyTorch to the letter.
*/
#include <string.h>

#include "iter/steps.h"
#include "tensor/dims.h"

typedef enum fast_kind {
    FAST_NONE, FAST_CONTIGUOUS, FAST_CHANNELS_LAST, FAST_SAME_STRIDES
} fast_kind;

/* Do all final operands have the same strides? */
static bool same_strides(const la_iter *it)
{
    const la_tensor *first = NULL;
    for (int k = it->noperands - 1; k >= 0; k--) {
        const la_tensor *t = it->op[k].tensor;
        if (!la_iter_fixed(&it->op[k])) continue;
        if (!first) first = t;
        else if (memcmp(la_strides(first), la_strides(t),
                        sizeof(int64_t) * it->ndim))
            return false;
    }
    return first != NULL;
}

static fast_kind choose_fast(const la_iter *it)
{
    if (!it->same_shape) return FAST_NONE;
    uint32_t layout = LA_F_LAYOUT;
    for (int k = 0; k < it->noperands; k++)
        if (la_iter_fixed(&it->op[k])) layout &= it->op[k].tensor->flags;
    if (layout & LA_F_CONTIGUOUS) return FAST_CONTIGUOUS;
    if (it->flags & LA_IT_ENFORCE_LINEAR_ITERATION) return FAST_NONE;
    if (layout & LA_F_CHANNELS_LAST) return FAST_CHANNELS_LAST;
    if ((layout & LA_F_DENSE) && same_strides(it)) return FAST_SAME_STRIDES;
    return FAST_NONE;
}

/* Give output 'op' its memory: a new tensor, or the given one resized.
** 'strides' (elements) NULL: contiguous. */
static la_status make_output(la_iter *it, la_iter_operand *op,
                             const int64_t *sizes, const int64_t *strides)
{
    la_tensor *t = op->tensor;
    if (!t) {
        LA_TRY(la_tensor_empty_on(it->device, it->ndim, sizes, strides,
                                  op->target, &op->tensor));
        op->current = op->target;
        op->owned = true;
    } else {
        LA_TRY(la_tensor_resize(t, it->ndim, sizes));
        if (strides) LA_TRY(la_tensor_set_geometry(t, it->ndim, sizes,
                                                   strides));
    }
    return LA_OK;
}

/* The last operand that has a final geometry: inputs before outputs. */
static const la_tensor *pattern(const la_iter *it)
{
    for (int k = it->noperands - 1; k >= 0; k--)
        if (la_iter_fixed(&it->op[k])) return it->op[k].tensor;
    return NULL;
}

static la_status make_fast_outputs(la_iter *it, fast_kind kind)
{
    int64_t format[4];
    const int64_t *strides = NULL;
    if (kind == FAST_CHANNELS_LAST) {
        LA_TRY(la_format_strides(LA_FORMAT_CHANNELS_LAST, it->ndim, it->shape,
                                 format));
        strides = format;
    } else if (kind == FAST_SAME_STRIDES) {
        strides = la_strides(pattern(it));
    }
    for (int k = 0; k < it->noutputs; k++)
        if (it->op[k].will_resize)
            LA_TRY(make_output(it, &it->op[k], it->shape, strides));
    return LA_OK;
}

la_status la_iter_fast_setup(la_iter *it, bool *done)
{
    fast_kind kind = choose_fast(it);
    *done = kind != FAST_NONE;
    if (!*done) return LA_OK;
    LA_TRY(make_fast_outputs(it, kind));
    it->coalesced = it->ndim > 1;
    if (it->ndim >= 1) {
        it->ndim = 1;
        it->shape[0] = it->numel;
    }
    it->perm[0] = 0;
    for (int k = 0; k < it->noperands; k++)
        it->op[k].strides[0] = (int64_t)la_dtype_size(it->op[k].current);
    return LA_OK;
}

/* Byte strides in the order of dims of the shape; 0 where broadcast. */
static void operand_strides(const la_iter *it, la_iter_operand *op)
{
    const la_tensor *t = op->tensor;
    int64_t size = (int64_t)la_itemsize(t);
    const int64_t *strides = la_strides(t);
    const int64_t *sizes = la_sizes(t);
    int lead = it->ndim - t->ndim;
    for (int d = 0; d < lead; d++) op->strides[d] = 0;
    for (int d = 0; d < t->ndim; d++) {
        bool broadcast = sizes[d] == 1 && it->shape[lead + d] != 1;
        op->strides[lead + d] = broadcast ? 0 : strides[d] * size;
    }
}

void la_iter_compute_strides(la_iter *it)
{
    for (int k = 0; k < it->noperands; k++)
        if (la_iter_fixed(&it->op[k])) operand_strides(it, &it->op[k]);
}

/* 1: dim a belongs after dim b, -1: before, 0: the operands do not say. */
static int compare_dims(const void *context, int a, int b)
{
    const la_iter *it = context;
    for (int k = 0; k < it->noperands; k++) {
        const la_iter_operand *op = &it->op[k];
        if (!la_iter_fixed(op)) continue;
        int64_t sa = op->strides[a], sb = op->strides[b];
        if (sa == 0 || sb == 0) continue;
        if (sa != sb) return sa < sb ? -1 : 1;
        if (it->shape[a] > it->shape[b]) return 1;
    }
    return 0;
}

static void layout_permute(int64_t *values, const uint8_t *perm, int n)
{
    int64_t old[LA_MAX_DIMS];
    memcpy(old, values, sizeof(int64_t) * n);
    for (int d = 0; d < n; d++) values[d] = old[perm[d]];
}

/* Does its dense copy take part in the order, as where PyTorch converts a whole
** input first? Only inputs with gaps or overlaps have a copy of another
** order. */
static bool sorts_as_copy(const la_iter_operand *op)
{
    return !op->is_output && op->current != op->target
        && !(op->tensor->flags & LA_F_DENSE);
}

static void put_copy_strides(const la_iter *it, la_iter_operand *op)
{
    const la_tensor *t = op->tensor;
    int64_t strides[LA_MAX_DIMS];
    int lead = it->ndim - t->ndim;
    la_preserve_strides(t, strides);
    for (int d = 0; d < t->ndim; d++) {
        bool broadcast = la_sizes(t)[d] == 1 && it->shape[lead + d] != 1;
        op->strides[lead + d] = broadcast ? 0
            : strides[d] * (int64_t)la_dtype_size(op->target);
    }
}

static void sort_with_copies(la_iter *it)
{
    int64_t saved[LA_ITER_MAX_OPS][LA_MAX_DIMS];
    size_t bytes = sizeof(int64_t) * (size_t)it->ndim;
    for (int k = 0; k < it->noperands; k++) {
        memcpy(saved[k], it->op[k].strides, bytes);
        if (sorts_as_copy(&it->op[k])) put_copy_strides(it, &it->op[k]);
    }
    la_dims_sort(it->ndim, it->perm, compare_dims, it);
    for (int k = 0; k < it->noperands; k++)
        memcpy(it->op[k].strides, saved[k], bytes);
}

static void choose_order(la_iter *it)
{
    if (it->flags & LA_IT_ENFORCE_LINEAR_ITERATION) return;
    for (int k = it->noutputs; k < it->noperands; k++)
        if (sorts_as_copy(&it->op[k])) {
            sort_with_copies(it);
            return;
        }
    la_dims_sort(it->ndim, it->perm, compare_dims, it);
}

void la_iter_reorder(la_iter *it)
{
    for (int d = 0; d < it->ndim; d++)
        it->perm[d] = (uint8_t)(it->ndim - 1 - d);
    if (it->ndim <= 1) return;
    choose_order(it);
    layout_permute(it->shape, it->perm, it->ndim);
    for (int k = 0; k < it->noperands; k++)
        if (la_iter_fixed(&it->op[k]))
            layout_permute(it->op[k].strides, it->perm, it->ndim);
}

/* Is the order that of a contiguous tensor? */
static bool is_inverted(const la_iter *it)
{
    for (int d = 0; d < it->ndim; d++)
        if (it->perm[d] != it->ndim - 1 - d) return false;
    return true;
}

la_status la_iter_allocate(la_iter *it)
{
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS], next = 1;
    for (int d = 0; d < it->ndim; d++) {
        sizes[it->perm[d]] = it->shape[d];
        strides[it->perm[d]] = next;
        next *= it->shape[d];
    }
    bool inverted = is_inverted(it);
    for (int k = 0; k < it->noutputs; k++) {
        la_iter_operand *op = &it->op[k];
        if (!op->will_resize) continue;
        LA_TRY(make_output(it, op, sizes, inverted ? NULL : strides));
        next = (int64_t)la_dtype_size(op->current);
        for (int d = 0; d < it->ndim; d++) {
            op->strides[d] = next;
            next *= it->shape[d];
        }
    }
    return LA_OK;
}

void la_iter_coalesce(la_iter *it)
{
    int64_t *strides[LA_ITER_MAX_OPS];
    if (it->ndim <= 1) return;
    for (int k = 0; k < it->noperands; k++) strides[k] = it->op[k].strides;
    it->ndim = la_dims_merge(it->ndim, it->shape, it->noperands, strides);
    it->coalesced = true;
}
