/*
** argmax, argmin, and max and min with positions along a dim: an iterator by
** rows whose outputs are positions and, where asked for, values. A tensor that
** is one long row is cut into chunks whose extremes are compared by the same
** kernel.
*/
#include "base/runtime/memory.h"
#include "base/scratch.h"
#include "iter/items.h"
#include "op/reduce/reduce.h"
#include "op/sort/order.h"

#define LA_ROWS "op/def/reduce.def"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

#define BATCH 1024            /* columns of one call */
#define SHARED (4 * LA_GRAIN) /* fewer elements are read while a thread wakes */

/* One search along one dim: the kernel reads n elements, 'step' bytes apart,
** once per element of the result. */
typedef struct search {
    const la_arg_reduction *kernel;
    int64_t esize, n, step;   /* of the searched dim, in bytes */
    int best;                 /* of bools: nothing goes beyond it; or -1 */
} search;

/* Rows 'row_step' bytes apart; columns, read together, where that is closer
** than the elements of a row. */
static void search_some(const search *s, const char *in, int64_t row_step,
                        int64_t m, int64_t *index, char *value)
{
    if (row_step < s->step && m > 1) {
        la_reduce_cols c = {in, s->step, s->n, row_step, m};
        s->kernel->cols(&c, index, value);
    } else {
        la_reduce_rows r = {in, s->step, s->n, row_step, m};
        s->kernel->rows(&r, index, value);
    }
}

/* Results of at most BATCH rows. Kernels write them without gaps; where the
** outputs have some, one by one from there. */
static void search_rows(const la_iter *it, char *const *data, int64_t m,
                        void *context)
{
    const search *s = context;
    int o = it->inner, in = it->noutputs;
    int64_t row_step = it->op[in].strides[o];
    int64_t step = it->op[0].strides[o];
    char *value = in > 1 ? data[1] : NULL;
    if (step == 8) {
        search_some(s, data[in], row_step, m, (int64_t *)data[0], value);
        return;
    }
    LA_SCRATCH(int64_t, index, BATCH);
    LA_SCRATCH(char, values, BATCH * 8);
    search_some(s, data[in], row_step, m, index, value ? values : NULL);
    for (int64_t j = 0; j < m; j++) {
        memcpy(data[0] + j * step, index + j, 8);
        if (value)
            memcpy(value + j * it->op[1].strides[o], values + j * s->esize,
                   (size_t)s->esize);
    }
}

/* One long row: chunk k answers into index[k] and value k. */
typedef struct chunks {
    const search *s;
    const char *in;
    int64_t *index;
    char *value;
    atomic_llong decided;     /* a chunk with s->best: none behind it wins */
} chunks;

/* The least chunk that holds the best value possible, by compare and swap: a
** chunk behind it can be skipped, as the first of equals is the answer. */
static void argmax_decide(chunks *c, long long k)
{
    long long least = atomic_load(&c->decided);
    while (k < least
           && !atomic_compare_exchange_weak(&c->decided, &least, k)) {}
}

/* Chunks begin..end; a skipped one reads one element, as its answer is not used
** but must be there. */
static void search_chunks(int64_t begin, int64_t end, void *context)
{
    chunks *c = context;
    const search *s = c->s;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k * LA_REDUCE_CHUNK;
        bool skip = k > atomic_load(&c->decided);
        int64_t n = skip ? 1 : la_min(s->n - first, LA_REDUCE_CHUNK);
        la_reduce_rows r = {c->in + first * s->step, s->step, n, 0, 1};
        s->kernel->rows(&r, c->index + k, c->value + k * s->esize);
        if (s->best >= 0 && c->value[k] == s->best) argmax_decide(c, k);
    }
}

/* Chunks have a fixed size, and the first of equal extremes wins within and
** among them: the position is that of one pass, whatever the threads. */
static la_status search_long(const search *s, const char *in, int64_t *index,
                             char *value)
{
    int64_t n = la_ceil_div(s->n, LA_REDUCE_CHUNK), best;
    int64_t bytes = n * (8 + s->esize);
    char *block = la_mem_alloc((size_t)bytes);
    if (!block) return LA_ENOMEM;
    chunks c = {s, in, (int64_t *)block, block + 8 * n, n};
    la_status status = la_iter_items(n, la_ceil_div(SHARED, LA_REDUCE_CHUNK), 1,
                                     search_chunks, &c);
    if (!status) {
        la_reduce_rows r = {c.value, s->esize, n, 0, 1};
        s->kernel->rows(&r, &best, value);
        *index = (best - 1) * LA_REDUCE_CHUNK + c.index[best - 1];
    }
    la_mem_free(block, (size_t)bytes);
    return status;
}

/* A tensor that is a single row needs no iterator, and its result may have any
** number of dims. */
static la_status search_row(const search *s, const la_tensor *t,
                            la_tensor *index, la_tensor *value)
{
    int64_t *at = (int64_t *)la_data(index);
    char *best = value ? la_data(value) : NULL;
    if (s->n > LA_REDUCE_CHUNK) return search_long(s, la_data(t), at, best);
    search_some(s, la_data(t), 0, 1, at, best);
    return LA_OK;
}

/* Search dim 'dim' of t (not empty there); 'value' may be NULL. LA_ENOMEM,
** LA_EINTR or LA_OK. */
static la_status search_dim(const la_arg_reduction *kernel, const la_tensor *t,
                            int dim, la_tensor *index, la_tensor *value)
{
    search s = {.kernel = kernel, .esize = (int64_t)la_itemsize(t), .n = 1};
    if (index->numel == 0) return LA_OK;
    s.best = t->dtype != LA_BOOL ? -1
        : kernel == &(*LA_STUB(reduce_argmax))[LA_BOOL];
    s.step = s.esize;
    if (t->ndim) {
        s.n = la_sizes(t)[dim];
        s.step *= la_strides(t)[dim];
    }
    if (s.n == t->numel) return search_row(&s, t, index, value);
    la_iter_config c = LA_ITER_CONFIG(LA_IT_IS_REDUCTION | LA_IT_BORROWED,
                                      value ? 2 : 1, 1);
    la_iter it;               /* borrows: there is nothing to close */
    char *data[3];
    c.operands[0] = index;
    if (value) c.operands[1] = value;
    c.operands[c.noutputs] = (la_tensor *)t;
    c.row_dims = (uint64_t)1 << dim;
    if (la_iter_few_rows(&it, &c, dim, data)) {
        search_rows(&it, data, it.shape[1], &s);
        return LA_OK;
    }
    LA_TRY(la_iter_build(&it, &c));
    la_row_plan plan = {search_rows, 1, BATCH, la_ceil_div(LA_GRAIN, s.n)};
    return la_iter_rows(&it, &plan, &s);
}

/* See op/sort/order.h. */
la_status la_find_most(const la_tensor *t, int dim, bool largest,
                       la_tensor *value, la_tensor *index)
{
    const la_arg_reductions *table = largest ? LA_STUB(reduce_argmax)
                                             : LA_STUB(reduce_argmin);
    return search_dim(&(*table)[t->dtype], t, dim, index, value);
}

/* ---- argmax, argmin: (self, dim, keepdim) ---- */

/* int64 of the kept sizes. LA_ESHAPE for an empty dim (or an empty tensor
** without a dim), LA_EDTYPE for complex. */
static la_status arg_meta(la_frame *f, const char *name)
{
    la_tensor *self = la_arg(f, 0);
    uint64_t mask = 0;
    LA_TRY(la_reduce_dims(f, 1, self, &mask));
    if (!la_has(f, 1) && self->numel == 0)
        return la_error_at(LA_ESHAPE, 1, "%s(): Expected reduction dim to be "
                           "specified for input.numel() == 0.", name);
    LA_TRY(la_reduce_check_nonzero(self, mask, name, false));
    if (la_is_complex((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "%s(): complex numbers have no "
                           "order", name);
    return la_reduce_output(f, 0, self, mask, la_arg_bool(f, 2), LA_INT64);
}

/* Without a dim the position is that in the flattened tensor, row-major. */
static la_status arg_impl(la_frame *f, const la_arg_reductions *table)
{
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    const la_arg_reduction *kernel = &(*table)[self->dtype];
    if (la_has(f, 1)) {
        LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
        return search_dim(kernel, self, dim, la_result(f, 0), NULL);
    }
    if (self->ndim <= 1)
        return search_dim(kernel, self, 0, la_result(f, 0), NULL);
    LA_LET(flat, la_run(reshape, &flat, self, la_v_ints(((int64_t[]){-1}), 1)));
    return search_dim(kernel, flat, 0, la_result(f, 0), NULL);
}

/* (self, dim or nil, keepdim) -> 1-based position of the extreme: the first of
** equals; the first NaN, if there is one. */
la_status la_meta_argmax(la_frame *f) { return arg_meta(f, "argmax"); }
la_status la_meta_argmin(la_frame *f) { return arg_meta(f, "argmin"); }
LA_FORWARD(la_impl_argmax, arg_impl(f, LA_STUB(reduce_argmax)))
LA_FORWARD(la_impl_argmin, arg_impl(f, LA_STUB(reduce_argmin)))

/* ---- max, min along a dim: (self, dim, keepdim) ---- */

/* Two results of the kept sizes: values in self's dtype, positions in int64.
** Errors as arg_meta. */
static la_status pair_meta(la_frame *f, const char *name)
{
    la_tensor *self = la_arg(f, 0);
    uint64_t mask = 0;
    bool keepdim = la_arg_bool(f, 2);
    LA_TRY(la_reduce_dims(f, 1, self, &mask));
    LA_TRY(la_reduce_check_nonzero(self, mask, name, false));
    if (la_is_complex((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "%s(): complex numbers have no "
                           "order", name);
    LA_TRY(la_reduce_output(f, 0, self, mask, keepdim,
                            (la_dtype)self->dtype));
    return la_reduce_output(f, 1, self, mask, keepdim, LA_INT64);
}

static la_status pair_impl(la_frame *f, bool largest)
{
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    return la_find_most(self, dim, largest, la_result(f, 0), la_result(f, 1));
}

/* (self, dim, keepdim) -> values and their positions, as argmax and argmin. */
la_status la_meta_max_dim(la_frame *f) { return pair_meta(f, "max"); }
la_status la_meta_min_dim(la_frame *f) { return pair_meta(f, "min"); }
LA_FORWARD(la_impl_max_dim, pair_impl(f, true))
LA_FORWARD(la_impl_min_dim, pair_impl(f, false))
