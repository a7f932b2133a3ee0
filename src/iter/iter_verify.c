/* The invariants of an iterator that is ready to run, for the debug build. */
#include "iter/steps.h"

#ifdef LA_DEBUG

#include "base/assert.h"

/* The first and the last byte that operand 'op' can touch are in its storage.
** Strides are in bytes and may be negative after reordering. */
static void verify_operand(const la_iter *it, const la_iter_operand *op)
{
    const la_storage *s = op->tensor->storage;
    if (!op->data || !s || !s->data || it->numel == 0) return;
    int64_t first = op->data - s->data, last = first;
    for (int d = 0; d < it->ndim; d++) {
        int64_t reach = (it->shape[d] - 1) * op->strides[d];
        if (reach < 0) first += reach;
        else last += reach;
    }
    la_assert(first >= 0);
    la_assert(last + (int64_t)la_dtype_size(op->current) <= s->nbytes);
}

void la_iter_verify(const la_iter *it)
{
    int64_t numel = 1;
    la_assert(it->noperands >= it->noutputs);
    la_assert(it->noperands <= LA_ITER_MAX_OPS);
    la_assert(it->ndim >= 0 && it->ndim <= LA_MAX_DIMS);
    for (int d = 0; d < it->ndim; d++) {
        la_assert(it->shape[d] >= 0);
        numel *= it->shape[d];
    }
    la_assert(numel == it->numel);
    for (int k = 0; k < it->noperands; k++) {
        const la_iter_operand *op = &it->op[k];
        la_assert(op->tensor);
        la_assert(op->is_output == (k < it->noutputs));
        la_assert(op->current < LA_NDTYPES && op->target < LA_NDTYPES);
        verify_operand(it, op);
    }
}

#endif
