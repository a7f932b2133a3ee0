/*
** argmax, argmin, and max and min with positions along a dim. The kept dims
** are walked as axes; a long single row is cut into chunks whose extremes are
** compared by the same kernel.
*/
#include "base/memory.h"
#include "base/pool.h"
#include "op/reduce/axes.h"
#include "op/sort/order.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/impls.h"

#define BATCH 1024            /* columns of one call */
#define SHARED (4 * LA_GRAIN) /* fewer elements are read while a thread wakes */

/* One search along one dim: the kernel reads n elements, 'step' bytes apart,
** once per element of the result. 'kept' are the other dims without 'row'. */
typedef struct search {
    const la_arg_reduction *kernel;
    const char *in;
    int64_t esize, n, step;   /* of the searched dim, in bytes */
    la_axes kept;
    la_axis row;              /* the fastest kept dim; out in elements */
    bool columns;
    int64_t *index;
    char *value;              /* NULL when only positions are asked */
    int best;                 /* of bools: nothing goes beyond it; or -1 */
    atomic_int *stopped;
} search;

/* Results of a call go one by one to strided positions of the output. */
static void put(const search *s, int64_t at, int64_t m, const int64_t *index,
                const char *value)
{
    for (int64_t j = 0; j < m; j++) {
        int64_t to = at + j * s->row.out;
        s->index[to] = index[j];
        if (s->value)
            memcpy(s->value + to * s->esize, value + j * s->esize,
                   (size_t)s->esize);
    }
}

static void search_some(const search *s, const char *in, int64_t m,
                        int64_t *index, char *value)
{
    if (s->columns) {
        la_reduce_cols c = {in, s->step, s->n, s->row.in, m};
        s->kernel->cols(&c, index, value);
    } else {
        la_reduce_rows r = {in, s->step, s->n, s->row.in, m};
        s->kernel->rows(&r, index, value);
    }
}

/* Elements begin..end-1 of the result, at most BATCH per call of the kernel.
** Columns are read together where they are closer than the rows' elements. */
static void search_range(int64_t begin, int64_t end, void *context)
{
    const search *s = context;
    int64_t index[BATCH];
    char value[BATCH * 8];
    for (int64_t i = begin, m; i < end; i += m) {
        int64_t in = 0, at = 0, j = i % s->row.size;
        if (la_interrupted()) atomic_store(s->stopped, 1);
        if (atomic_load(s->stopped)) return;
        la_axes_locate(&s->kept, i / s->row.size, &in, &at);
        m = s->row.size - j;
        if (m > end - i) m = end - i;
        if (m > BATCH) m = BATCH;
        const char *from = s->in + in + j * s->row.in;
        at += j * s->row.out;
        if (s->row.out == 1) {
            search_some(s, from, m, s->index + at,
                        s->value ? s->value + at * s->esize : NULL);
            continue;
        }
        search_some(s, from, m, index, s->value ? value : NULL);
        put(s, at, m, index, value);
    }
}

/* One long row: chunk k answers into index[k] and value k. */
typedef struct chunks {
    const search *s;
    int64_t *index;
    char *value;
    atomic_llong decided;     /* a chunk with s->best: none behind it wins */
} chunks;

/* The least chunk that holds the best value possible, by compare and swap: a
** chunk behind it can be skipped, as the first of equals is the answer. */
static void decide(chunks *c, long long k)
{
    long long least = atomic_load(&c->decided);
    while (k < least
           && !atomic_compare_exchange_weak(&c->decided, &least, k)) {}
}

static void search_chunks(int64_t begin, int64_t end, void *context)
{
    chunks *c = context;
    const search *s = c->s;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k * LA_REDUCE_CHUNK, left = s->n - first;
        if (la_interrupted()) atomic_store(s->stopped, 1);
        if (atomic_load(s->stopped)) return;
        bool skip = k > atomic_load(&c->decided);
        if (left > LA_REDUCE_CHUNK) left = LA_REDUCE_CHUNK;
        la_reduce_rows r = {s->in + first * s->step, s->step, skip ? 1 : left,
                            0, 1};
        s->kernel->rows(&r, c->index + k, c->value + k * s->esize);
        if (s->best >= 0 && c->value[k] == s->best) decide(c, k);
    }
}

/* Chunks have a fixed size, and the first of equal extremes wins within and
** among them: the position is that of one pass, whatever the threads. */
static la_status search_long(const search *s)
{
    int64_t n = la_ceil_div(s->n, LA_REDUCE_CHUNK), best;
    int64_t bytes = n * (8 + s->esize);
    char *block = la_mem_alloc((size_t)bytes);
    if (!block) return LA_ENOMEM;
    chunks c = {s, (int64_t *)block, block + 8 * n, n};
    la_parallel_for(n, la_ceil_div(SHARED, LA_REDUCE_CHUNK), search_chunks, &c);
    if (!atomic_load(s->stopped)) {
        la_reduce_rows r = {c.value, s->esize, n, 0, 1};
        s->kernel->rows(&r, &best, s->value);
        *s->index = (best - 1) * LA_REDUCE_CHUNK + c.index[best - 1];
    }
    la_mem_free(block, (size_t)bytes);
    return LA_OK;
}

/* Output steps count elements: both results are contiguous in the kept dims. */
static void read_dims(search *s, const la_tensor *t, int dim)
{
    int64_t out = 1;
    s->n = t->ndim ? la_sizes(t)[dim] : 1;
    s->step = t->ndim ? la_strides(t)[dim] * s->esize : s->esize;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t size = la_sizes(t)[d];
        if (d == dim) continue;
        if (size != 1)
            la_axes_add(&s->kept, size, la_strides(t)[d] * s->esize, out);
        out *= size;
    }
    la_axes_merge(&s->kept);
    s->row = la_axes_take(&s->kept, (la_axis){1, 0, 0});
    s->columns = s->row.size > 1 && s->row.in < s->step;
}

/* Search dim 'dim' of t (not empty there); 'value' may be NULL. */
static la_status search_dim(const la_arg_reduction *kernel, const la_tensor *t,
                            int dim, la_tensor *index, la_tensor *value)
{
    atomic_int stopped = 0;
    search s = {.kernel = kernel, .in = la_data(t),
                .esize = (int64_t)la_itemsize(t), .stopped = &stopped,
                .index = (int64_t *)la_data(index),
                .value = value ? la_data(value) : NULL};
    if (index->numel == 0) return LA_OK;
    s.best = t->dtype != LA_BOOL ? -1
        : kernel == &(*LA_STUB(reduce_argmax))[LA_BOOL];
    read_dims(&s, t, dim);
    int64_t rows = s.kept.count * s.row.size;
    if (rows == 1 && s.n > LA_REDUCE_CHUNK) LA_TRY(search_long(&s));
    else la_parallel_for(rows, la_ceil_div(LA_GRAIN, s.n), search_range, &s);
    return stopped ? la_error(LA_EINTR, "interrupted") : LA_OK;
}

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
    LA_OWNED flat = NULL;
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    const la_arg_reduction *kernel = &(*table)[self->dtype];
    if (la_has(f, 1)) {
        LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
        return search_dim(kernel, self, dim, la_result(f, 0), NULL);
    }
    if (self->ndim <= 1)
        return search_dim(kernel, self, 0, la_result(f, 0), NULL);
    LA_TRY(la_run(reshape, &flat, self, la_v_ints(((int64_t[]){-1}), 1)));
    return search_dim(kernel, flat, 0, la_result(f, 0), NULL);
}

/* (self, dim or nil, keepdim) -> 1-based position of the extreme: the first of
** equals; the first NaN, if there is one. */
la_status la_meta_argmax(la_frame *f) { return arg_meta(f, "argmax"); }
la_status la_meta_argmin(la_frame *f) { return arg_meta(f, "argmin"); }
la_status la_impl_argmax(la_frame *f)
{
    return arg_impl(f, LA_STUB(reduce_argmax));
}
la_status la_impl_argmin(la_frame *f)
{
    return arg_impl(f, LA_STUB(reduce_argmin));
}

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
la_status la_impl_max_dim(la_frame *f) { return pair_impl(f, true); }
la_status la_impl_min_dim(la_frame *f) { return pair_impl(f, false); }
