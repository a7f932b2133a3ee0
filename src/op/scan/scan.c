/*
** Running results along a dim: cumsum, cumprod, logcumsumexp, cummax, cummin.
** An iterator by rows gives the kernels lines where the dim is the fastest,
** columns where it is not. A single long line is shared by threads: totals of
** its chunks first, then the chunks with what stands before them; the bits are
** those of the one-thread walk.
*/
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "kernel/scan/scan.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

#define SIDE 256              /* columns of one task */
#define NEAR 8192             /* bytes of a row */
#define SHARED (32 * LA_SCAN_CHUNK)  /* a line worth being read twice */

/* One scan along one dim of n elements, by either kind of kernel. */
typedef struct scan {
    const la_scan *kernel;
    const la_scan_extreme *extreme;
    int64_t n, step;          /* of the dim, in bytes */
    bool columns;
} scan;

/* The scan of dim 'dim' of t; the kernel is left to the caller. */
static scan scan_of(const la_tensor *t, int dim)
{
    scan s = {.n = 1, .step = (int64_t)la_itemsize(t)};
    if (t->ndim == 0) return s;
    s.n = la_sizes(t)[dim];
    s.step *= la_strides(t)[dim];
    return s;
}

/* ---- lines and columns ---- */

/* Columns come in blocks: each row of a block is read whole before the next.
** Two threads do not walk down side by side when little of a row is each one's:
** they would fight for the lines that are fetched ahead of the other. */
static la_row_plan column_plan(const la_iter *it, const scan *s)
{
    int o = it->inner;
    int64_t grain = la_ceil_div(LA_GRAIN, s->n * SIDE);
    int64_t blocks = la_ceil_div(it->shape[o], SIDE);
    int64_t bytes = it->shape[o] * (int64_t)la_dtype_size(it->op[0].current);
    if (bytes / la_num_threads() < NEAR)
        grain = la_ceil_div(grain, blocks) * blocks;
    return (la_row_plan){NULL, SIDE, SIDE, grain};
}

/* The kind of kernel is chosen by the dim's stride in the tensor: in the
** iterator a dim of size 1 has another. */
static bool is_columns(const la_iter *it, const scan *s)
{
    return it->shape[it->inner] > 1
        && it->op[it->noutputs].strides[it->inner] < s->step;
}

/* Build the iterator of 'in' and the outputs and run it. */
static la_status scan_iter(scan *s, la_tensor *in, int dim, int nouts,
                           la_tensor *const *outs, la_rows_fn run)
{
    la_iter_config c = LA_ITER_CONFIG(LA_IT_ROWS | LA_IT_BORROWED, nouts, 1);
    la_iter it;               /* borrows: there is nothing to close */
    char *data[3];
    for (int k = 0; k < nouts; k++) c.operands[k] = outs[k];
    c.operands[nouts] = in;
    c.row_dims = (uint64_t)1 << dim;
    if (la_iter_few_rows(&it, &c, dim, data) && it.shape[1] <= SIDE) {
        s->columns = is_columns(&it, s);
        run(&it, data, it.shape[1], s);
        return LA_OK;
    }
    LA_TRY(la_iter_build(&it, &c));
    int64_t grain = la_ceil_div(LA_GRAIN, s->n);
    la_row_plan plan = {NULL, 1, grain, grain};
    s->columns = is_columns(&it, s);
    if (s->columns) plan = column_plan(&it, s);
    plan.run = run;
    return la_iter_rows(&it, &plan, s);
}

static void scan_rows(const la_iter *it, char *const *data, int64_t m,
                      void *context)
{
    const scan *s = context;
    int o = it->inner;
    la_scan_columns c = {
        {data[1], s->step, data[0], it->op[0].strides[0], s->n}, m,
        it->op[1].strides[o], it->op[0].strides[o]};
    if (s->columns) s->kernel->columns(&c);
    else s->kernel->lines(&c);
}

/* ---- one long line ---- */

/* Chunks have a fixed size, so that the totals, and with them the bits, do not
** depend on the number of threads. */
typedef struct chunks {
    const la_scan *kernel;
    la_scan_line line;        /* all of it */
    char *carries;            /* 16 bytes for each chunk */
} chunks;

static la_scan_line chunk_at(const chunks *c, int64_t k)
{
    la_scan_line l = c->line;
    int64_t first = k * LA_SCAN_CHUNK;
    l.in += first * l.step;
    l.out += first * l.out_step;
    l.n = la_min(l.n - first, LA_SCAN_CHUNK);
    return l;
}

/* Totals of each chunk, from the identity. */
static void chunk_totals(int64_t begin, int64_t end, void *context)
{
    const chunks *c = context;
    for (int64_t k = begin; k < end; k++) {
        la_scan_line l = chunk_at(c, k);
        char *carry = c->carries + k * 16;
        c->kernel->start(carry);
        c->kernel->total(&l, carry);
    }
}

/* Each chunk again, from what all before it add up to. */
static void chunk_lines(int64_t begin, int64_t end, void *context)
{
    const chunks *c = context;
    for (int64_t k = begin; k < end; k++) {
        la_scan_line l = chunk_at(c, k);
        char carry[16] __attribute__((aligned(16)));
        memcpy(carry, c->carries + k * 16, 16);
        c->kernel->line(&l, carry);
    }
}

/* Totals become what stands before each chunk, by scanning them. */
static void join_totals(const chunks *c, int64_t count)
{
    char carry[16] __attribute__((aligned(16)));
    char next[16] __attribute__((aligned(16)));
    c->kernel->start(carry);
    for (int64_t k = 0; k < count; k++) {
        memcpy(next, c->carries + k * 16, 16);
        memcpy(c->carries + k * 16, carry, 16);
        c->kernel->join(carry, next);
    }
}

/* Two passes over the input, as in G. E. Blelloch, Prefix Sums and Their
** Applications (1990). LA_ENOMEM without memory for the totals. */
static la_status scan_shared(const la_scan *kernel, const la_scan_line *line)
{
    int64_t count = la_ceil_div(line->n, LA_SCAN_CHUNK);
    chunks c = {kernel, *line, la_mem_alloc((size_t)count * 16)};
    if (!c.carries) return LA_ENOMEM;
    la_status status = la_iter_items(count, 1, 1, chunk_totals, &c);
    if (!status) {
        join_totals(&c, count);
        status = la_iter_items(count, 1, 1, chunk_lines, &c);
    }
    la_mem_free(c.carries, (size_t)count * 16);
    return status;
}

/* 'out' is contiguous and of the kernel's dtype. LA_ENOMEM, LA_EINTR or
** LA_OK. */
static la_status scan_run(const la_scan *kernel, la_tensor *in, int dim,
                          la_tensor *out)
{
    scan s = scan_of(in, dim);
    s.kernel = kernel;
    if (in->numel == 0) return LA_OK;
    if (s.n != in->numel) return scan_iter(&s, in, dim, 1, &out, scan_rows);
    la_scan_columns c = {
        {la_data(in), s.step, la_data(out), (int64_t)la_itemsize(out), s.n},
        1, 0, 0};
    if (s.n >= SHARED && la_num_threads() > 1 && !la_in_parallel())
        return scan_shared(kernel, &c.line);
    kernel->lines(&c);
    return la_poll();
}

/* ---- (self, dim, dtype) ---- */

/* Integers and bool add up in int64, as in PyTorch, unless a dtype is asked
** for, by dtype= or by out=. */
static la_status scan_dtype(const la_frame *f, la_dtype *out)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    if (la_is_integral(d) || d == LA_BOOL) d = LA_INT64;
    return la_infer_dtype(f, &f->args[2], d, out);
}

/* Self's sizes and names; the dim travels to impl in scratch[0]. */
static la_status scan_meta(la_frame *f, la_dtype dtype)
{
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    f->scratch[0] = dim;
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL, dtype));
    return la_take_names(la_result(f, 0), self);
}

/* Integers are scanned to int64 and converted at the end. */
static la_status scan_impl(la_frame *f, const la_scans *table)
{
    LA_OWNED from = NULL;
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_dtype to = (la_dtype)out->dtype, run = to;
    int dim = (int)f->scratch[0];
    if (la_is_integral(to) || to == LA_BOOL) run = LA_INT64;
    from = la_tensor_retain(self);
    bool whole = la_is_integral((la_dtype)self->dtype)
        || self->dtype == LA_BOOL;
    if (to != (la_dtype)self->dtype && !(to == LA_INT64 && whole))
        LA_TRY(la_convert_to(self, to, &from));
    if (run == to) return scan_run(&(*table)[from->dtype], from, dim, out);
    LA_LET(wide, la_tensor_empty(out->ndim, la_sizes(out), run, &wide));
    LA_TRY(scan_run(&(*table)[from->dtype], from, dim, wide));
    return la_run_(copy_, out, wide);
}

/* (self, dim, dtype): running sums and products. */
la_status la_meta_cumsum(la_frame *f)
{
    la_dtype dtype;
    LA_TRY(scan_dtype(f, &dtype));
    return scan_meta(f, dtype);
}
LA_FORWARD(la_meta_cumprod, la_meta_cumsum(f))
/* (self, dim): log(cumsum(exp(self))) without overflow; floating and complex
** only. */
la_status la_meta_logcumsumexp(la_frame *f)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    if (!la_is_inexact(d))
        return la_error_at(LA_EDTYPE, 1, "logcumsumexp needs a floating point "
                           "or complex tensor, got %s", la_dtype_name(d));
    return scan_meta(f, d);
}
LA_FORWARD(la_impl_cumsum, scan_impl(f, LA_STUB(scan_sum)))
LA_FORWARD(la_impl_cumprod, scan_impl(f, LA_STUB(scan_prod)))
LA_FORWARD(la_impl_logcumsumexp, scan_impl(f, LA_STUB(scan_logsumexp)))

/* ---- cummax, cummin: (self, dim) ---- */

/* scan_rows with a second output: the position of the extreme. Steps of both
** outputs are in elements. */
static void extreme_rows(const la_iter *it, char *const *data, int64_t m,
                         void *context)
{
    const scan *s = context;
    int o = it->inner;
    int64_t step = it->op[2].strides[o], out = it->op[1].strides[o] / 8;
    int64_t size = it->op[0].strides[o];
    la_scan_extreme_line l = {data[2], s->step, data[0], (int64_t *)data[1],
                              it->op[1].strides[0] / 8, s->n};
    if (s->columns) {
        s->extreme->columns(&l, m, step, out);
        return;
    }
    for (; m > 0; m--, l.in += step, l.value += size, l.index += out)
        s->extreme->line(&l);
}

/* Values in self's dtype and 1-based positions. LA_EDTYPE for complex. */
static la_status scan_extreme_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    la_dtype d = (la_dtype)self->dtype;
    if (la_is_complex(d))
        return la_error_at(LA_EDTYPE, 1, "complex numbers have no order");
    LA_TRY(scan_meta(f, d));
    return la_set_output(f, 1, self->ndim, la_sizes(self), NULL, LA_INT64);
}

static la_status extreme_impl(la_frame *f, const la_scan_extremes *table)
{
    la_tensor *self = la_arg(f, 0);
    la_tensor *outs[2] = {la_result(f, 0), la_result(f, 1)};
    int dim = (int)f->scratch[0];
    scan s = scan_of(self, dim);
    s.extreme = &(*table)[self->dtype];
    if (self->numel == 0) return LA_OK;
    if (s.n != self->numel)
        return scan_iter(&s, self, dim, 2, outs, extreme_rows);
    la_scan_extreme_line l = {la_data(self), s.step, la_data(outs[0]),
                              (int64_t *)la_data(outs[1]), 1, s.n};
    s.extreme->line(&l);
    return LA_OK;
}

/* (self, dim) -> the largest (smallest) element so far and where it is. */
LA_FORWARD(la_meta_cummax, scan_extreme_meta(f))
LA_FORWARD(la_meta_cummin, scan_extreme_meta(f))
LA_FORWARD(la_impl_cummax, extreme_impl(f, LA_STUB(scan_max)))
LA_FORWARD(la_impl_cummin, extreme_impl(f, LA_STUB(scan_min)))
