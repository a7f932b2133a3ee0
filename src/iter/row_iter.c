/*
** Iterators built by rows: for kernels that take a dim as a whole (reductions,
** scans, searches along a dim). The dims of 'row_dims' come first, then the
** others; both groups are sorted by the input's strides and merged, and neither
** is ever without a dim. Kernels so see rows (their elements are near each
** other) or columns (rows are near each other). Everything follows from sizes
** and strides, never from the number of threads.
*/
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "iter/steps.h"
#include "tensor/dims.h"

/* Bytes that operand k steps along dim d of the input. */
typedef int64_t row_strides[LA_ITER_MAX_OPS][LA_MAX_DIMS];

/* A reduction's output lacks the dims inside a row, or has them with size 1. */
static la_status output_strides(const la_tensor *out, const la_tensor *in,
                                const la_iter_config *c, int64_t *strides)
{
    int64_t size = (int64_t)la_itemsize(out);
    bool reduces = (c->flags & LA_IT_IS_REDUCTION) != 0;
    bool drops = reduces && out->ndim < in->ndim;
    int at = 0;
    for (int d = 0; d < in->ndim; d++) {
        bool inside = c->row_dims >> d & 1;
        if (inside && reduces) strides[d] = 0;
        else if (at < out->ndim) strides[d] = la_strides(out)[at] * size;
        if (!(inside && drops)) at++;
    }
    if (at == out->ndim) return LA_OK;
    return la_error(LA_ESHAPE, "an output of %d dims for rows of a tensor of "
                    "%d dims", out->ndim, in->ndim);
}

/* The dims of 'mask' become the iterator's dims from 'first' on; how many. */
static int gather_dims(la_iter *it, const la_tensor *in, uint64_t mask,
                       int first, row_strides strides)
{
    int64_t *lists[LA_ITER_MAX_OPS];
    uint8_t perm[LA_MAX_DIMS];
    int n = 0;
    for (int d = in->ndim - 1; d >= 0; d--)
        if ((mask >> d & 1) && la_sizes(in)[d] != 1) perm[n++] = (uint8_t)d;
    la_dims_sort(n, perm, la_dims_by_stride, la_strides(in));
    for (int k = 0; k < it->noperands; k++) {
        lists[k] = it->op[k].strides + first;
        for (int i = 0; i < n; i++) lists[k][i] = strides[k][perm[i]];
    }
    for (int i = 0; i < n; i++) it->shape[first + i] = la_sizes(in)[perm[i]];
    if (n > 0)
        return la_dims_merge(n, it->shape + first, it->noperands, lists);
    it->shape[first] = 1;
    for (int k = 0; k < it->noperands; k++)
        lists[k][0] = first ? 0 : (int64_t)la_dtype_size(it->op[k].current);
    return 1;
}

/* All in bytes of the operands' own dtypes: a build by rows converts
** nothing. */
la_status la_iter_build_rows(la_iter *it, const la_iter_config *c)
{
    const la_tensor *in = it->op[it->noutputs].tensor;
    row_strides strides;
    int64_t size = (int64_t)la_itemsize(in);
    for (int k = 0; k < it->noutputs; k++) {
        if (!it->op[k].tensor)
            return la_error(LA_EARG, "outputs of rows are given");
        LA_TRY(output_strides(it->op[k].tensor, in, c, strides[k]));
    }
    for (int k = it->noutputs; k < it->noperands; k++)
        for (int d = 0; d < in->ndim; d++)
            strides[k][d] = la_strides(it->op[k].tensor)[d] * size;
    it->common = (la_dtype)in->dtype;
    it->device = (la_device)in->device;
    it->numel = in->numel;
    it->same_shape = it->all_scalars = false;
    it->inner = gather_dims(it, in, c->row_dims, 0, strides);
    it->ndim = it->inner
        + gather_dims(it, in, ~c->row_dims, it->inner, strides);
    it->coalesced = true;
    return LA_OK;
}

int64_t la_iter_count(const la_iter *it, int first, int end)
{
    int64_t count = 1;
    for (int d = first; d < end; d++) count *= it->shape[d];
    return count;
}

/* Position 0 of the other dims is the first element, so 'data' needs no walk:
** one group of dims has size 1 in all. */
bool la_iter_few_rows(la_iter *it, const la_iter_config *c, int dim,
                      char **data)
{
    const la_tensor *in = c->operands[c->noutputs];
    int64_t n = la_sizes(in)[dim], after = la_strides(in)[dim];
    bool reduces = (c->flags & LA_IT_IS_REDUCTION) != 0;
    if (in->numel > LA_GRAIN || in->numel == 0 || n == 1) return false;
    for (int k = 0; k <= c->noutputs; k++)
        if (!la_is_contiguous(c->operands[k])) return false;
    int64_t others = in->numel / n;
    if (after != 1 && after != others) return false;
    for (int k = 0; k <= c->noutputs; k++) {
        const la_tensor *t = c->operands[k];
        int64_t size = (int64_t)la_itemsize(t);
        bool whole = after == 1 && !(reduces && k < c->noutputs);
        data[k] = la_data(t);
        it->op[k].strides[0] = size * after;
        it->op[k].strides[1] = whole ? size * n : size;
    }
    it->inner = 1;
    it->noutputs = c->noutputs;
    it->shape[0] = n;
    it->shape[1] = others;
    return true;
}

/* ---- rows over threads ---- */

/* Blocks are the fastest part of a unit's number, so that neighbours of one
** thread are neighbours in memory. */
int64_t la_iter_unit(const la_iter *it, int64_t block, int64_t i, char **data)
{
    int o = it->inner;
    int64_t blocks = la_ceil_div(it->shape[o], block);
    int64_t j = i % blocks * block;
    for (int k = 0; k < it->noperands; k++)
        data[k] = it->op[k].data + j * it->op[k].strides[o];
    la_iter_seek(it, o + 1, it->ndim, i / blocks, data);
    return it->shape[o] - j;
}

typedef struct row_walk {
    const la_iter *it;
    const la_row_plan *plan;
    void *context;
} row_walk;

/* Units begin..end, as many in one call as follow each other and fit a
** batch. */
static void walk_units(int64_t begin, int64_t end, void *context)
{
    row_walk *w = context;
    const la_row_plan *p = w->plan;
    int64_t block = p->block, m;
    for (int64_t i = begin; i < end; i += la_ceil_div(m, block)) {
        char *data[LA_ITER_MAX_OPS];
        if (la_interrupted()) return;
        m = la_iter_unit(w->it, block, i, data);
        m = la_min(la_min(m, (end - i) * block), p->batch);
        p->run(w->it, data, m, w->context);
    }
}

la_status la_iter_rows(const la_iter *it, const la_row_plan *plan,
                       void *context)
{
    row_walk w = {it, plan, context};
    int64_t units = la_ceil_div(it->shape[it->inner], plan->block)
        * la_iter_count(it, it->inner + 1, it->ndim);
    la_parallel_for(units, plan->grain, walk_units, &w);
    return la_poll();
}
