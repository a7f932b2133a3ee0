/*
** Running results along a dim: cumsum, cumprod, logcumsumexp, cummax, cummin.
** Lines where the dim is the fastest, columns where it is not. A single long
** line is shared by threads: totals of its chunks first, then the chunks with
** what stands before them; the bits are those of the one-thread walk.
*/
#include "base/memory.h"
#include "base/pool.h"
#include "kernel/scan/scan.h"
#include "op/reduce/axes.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/impls.h"

#define SIDE 256              /* columns of one task */
#define NEAR 8192             /* bytes of a row */
#define SHARED (32 * LA_SCAN_CHUNK)  /* a line worth being read twice */

/* One scan along one dim of n elements; 'kept' are the other dims without
** 'row', whose lines or columns the kernels take together. */
typedef struct scan {
    const la_scan *kernel;
    const la_scan_extreme *extreme;
    const char *in;
    char *out;
    int64_t *index;
    int64_t n, step, out_step;
    int64_t esize, osize;
    la_axes kept;
    la_axis row;              /* the fastest of the other dims */
    int64_t blocks;
    char *carries;
    atomic_int *stopped;
} scan;

/* Tasks ask between lines; all of them stop when one has seen the interrupt. */
static bool halted(const scan *s)
{
    if (atomic_load_explicit(s->stopped, memory_order_relaxed)) return true;
    if (la_interrupted()) atomic_store(s->stopped, 1);
    return false;
}

/* Steps are in bytes; of extremes the output's are in elements. */
static void read_dims(scan *s, const la_tensor *t, int dim)
{
    int64_t out = s->extreme ? 1 : s->osize;
    s->n = t->ndim ? la_sizes(t)[dim] : 1;
    s->step = t->ndim ? la_strides(t)[dim] * s->esize : s->esize;
    s->out_step = out;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t size = la_sizes(t)[d];
        if (d == dim) s->out_step = out;
        else if (size != 1)
            la_axes_add(&s->kept, size, la_strides(t)[d] * s->esize, out);
        out *= size;
    }
    la_axes_merge(&s->kept);
    s->row = la_axes_take(&s->kept, (la_axis){1, 0, 0});
}

/* The line that starts at these offsets of input and output. */
static la_scan_line line_at(const scan *s, int64_t in, int64_t out)
{
    return (la_scan_line){s->in + in, s->step, s->out + out, s->out_step,
                          s->n};
}

/* Lines where the dim is the fastest, or the only one. */
static void scan_lines(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    int64_t most = la_ceil_div(LA_GRAIN, s->n);   /* lines between interrupts */
    for (int64_t i = begin, m; i < end; i += m) {
        int64_t j = i % s->row.size, in = j * s->row.in, out = j * s->row.out;
        la_axes_locate(&s->kept, i / s->row.size, &in, &out);
        if (halted(s)) return;
        m = s->row.size - j;
        if (m > end - i) m = end - i;
        if (m > most) m = most;
        la_scan_columns c = {line_at(s, in, out), m, s->row.in, s->row.out};
        s->kernel->lines(&c);
    }
}

/* Blocks of SIDE columns: each row of a block is read whole before the next. */
static void scan_columns(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t j = i % s->blocks * SIDE, left = s->row.size - j;
        int64_t in = j * s->row.in, out = j * s->row.out;
        la_axes_locate(&s->kept, i / s->blocks, &in, &out);
        if (halted(s)) return;
        la_scan_columns c = {line_at(s, in, out), left < SIDE ? left : SIDE,
                             s->row.in, s->row.out};
        s->kernel->columns(&c);
    }
}

/* Two threads do not walk down side by side when little of a row is each one's:
** they would fight for the lines that are fetched ahead of the other. */
static void scan_side(scan *s, la_range_fn columns)
{
    s->blocks = la_ceil_div(s->row.size, SIDE);
    int64_t tasks = s->kept.count * s->blocks;
    int64_t grain = la_ceil_div(LA_GRAIN, s->n * SIDE);
    if (s->row.size * s->osize / la_num_threads() < NEAR)
        grain = la_ceil_div(grain, s->blocks) * s->blocks;
    la_parallel_for(tasks, grain, columns, s);
}

/* Chunks have a fixed size, so that the totals, and with them the bits, do not
** depend on the number of threads. */
static la_scan_line chunk_at(const scan *s, int64_t k)
{
    int64_t first = k * LA_SCAN_CHUNK, left = s->n - first;
    la_scan_line l = line_at(s, first * s->step, first * s->out_step);
    l.n = left < LA_SCAN_CHUNK ? left : LA_SCAN_CHUNK;
    return l;
}

/* What each chunk adds, to the identity. */
static void chunk_totals(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    for (int64_t k = begin; k < end && !halted(s); k++) {
        la_scan_line l = chunk_at(s, k);
        char *carry = s->carries + k * 16;
        s->kernel->start(carry);
        s->kernel->total(&l, carry);
    }
}

/* Each chunk again, from what all before it add up to. */
static void chunk_lines(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    for (int64_t k = begin; k < end && !halted(s); k++) {
        la_scan_line l = chunk_at(s, k);
        char carry[16] __attribute__((aligned(16)));
        memcpy(carry, s->carries + k * 16, 16);
        s->kernel->line(&l, carry);
    }
}

/* Totals become what stands before each chunk, by scanning them. */
static void join_totals(const scan *s, int64_t chunks)
{
    char carry[16] __attribute__((aligned(16)));
    char next[16] __attribute__((aligned(16)));
    s->kernel->start(carry);
    for (int64_t k = 0; k < chunks; k++) {
        memcpy(next, s->carries + k * 16, 16);
        memcpy(s->carries + k * 16, carry, 16);
        s->kernel->join(carry, next);
    }
}

/* Two passes over the input, as in G. E. Blelloch, Prefix Sums and Their
** Applications (1990). LA_ENOMEM without memory for the totals. */
static la_status scan_shared(scan *s)
{
    int64_t chunks = la_ceil_div(s->n, LA_SCAN_CHUNK);
    s->carries = la_mem_alloc((size_t)chunks * 16);
    if (!s->carries) return LA_ENOMEM;
    la_parallel_for(chunks, 1, chunk_totals, s);
    join_totals(s, chunks);
    la_parallel_for(chunks, 1, chunk_lines, s);
    la_mem_free(s->carries, (size_t)chunks * 16);
    return LA_OK;
}

/* 'out' is contiguous and of the kernel's dtype. LA_ENOMEM, LA_EINTR or
** LA_OK. */
static la_status scan_run(const la_scan *kernel, const la_tensor *in, int dim,
                          la_tensor *out)
{
    atomic_int stopped = 0;
    scan s = {.kernel = kernel, .in = la_data(in), .out = la_data(out),
              .esize = (int64_t)la_itemsize(in),
              .osize = (int64_t)la_itemsize(out), .stopped = &stopped};
    if (in->numel == 0) return LA_OK;
    read_dims(&s, in, dim);
    int64_t lines = s.kept.count * s.row.size;
    if (lines == 1 && s.n >= SHARED && la_num_threads() > 1
        && !la_in_parallel()) {
        LA_TRY(scan_shared(&s));
    } else if (s.row.size > 1 && s.row.in < s.step) {
        scan_side(&s, scan_columns);
    } else {
        la_parallel_for(lines, la_ceil_div(LA_GRAIN, s.n), scan_lines, &s);
    }
    return stopped ? la_error(LA_EINTR, "interrupted") : LA_OK;
}

/* ---- (self, dim, dtype) ---- */

/* Integers and bool add up in int64, as in PyTorch, unless a dtype is asked
** for. */
static la_dtype scan_dtype(const la_frame *f)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    if (f->nargs > 2 && la_has(f, 2)) return f->args[2].dtype;
    return la_is_integral(d) || d == LA_BOOL ? LA_INT64 : d;
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
    LA_OWNED wide = NULL;
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
    LA_TRY(la_tensor_empty(out->ndim, la_sizes(out), run, &wide));
    LA_TRY(scan_run(&(*table)[from->dtype], from, dim, wide));
    return la_run_(copy_, out, wide);
}

/* (self, dim, dtype): running sums and products. */
la_status la_meta_cumsum(la_frame *f) { return scan_meta(f, scan_dtype(f)); }
la_status la_meta_cumprod(la_frame *f) { return scan_meta(f, scan_dtype(f)); }
/* (self, dim): log(cumsum(exp(self))) without overflow; floating and complex
** only. */
la_status la_meta_logcumsumexp(la_frame *f)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    if (!la_is_float(d) && !la_is_complex(d))
        return la_error_at(LA_EDTYPE, 1, "logcumsumexp needs a floating point "
                           "or complex tensor, got %s", la_dtype_name(d));
    return scan_meta(f, d);
}
la_status la_impl_cumsum(la_frame *f)
{
    return scan_impl(f, LA_STUB(scan_sum));
}
la_status la_impl_cumprod(la_frame *f)
{
    return scan_impl(f, LA_STUB(scan_prod));
}
la_status la_impl_logcumsumexp(la_frame *f)
{
    return scan_impl(f, LA_STUB(scan_logsumexp));
}

/* ---- cummax, cummin: (self, dim) ---- */

/* Lines and columns as above, with a second output: the position of the
** extreme. */
static void extreme_lines(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    for (int64_t i = begin; i < end && !halted(s); i++) {
        int64_t j = i % s->row.size, in = j * s->row.in, out = j * s->row.out;
        la_axes_locate(&s->kept, i / s->row.size, &in, &out);
        la_scan_extreme_line l = {s->in + in, s->step,
                                  s->out + out * s->osize, s->index + out,
                                  s->out_step, s->n};
        s->extreme->line(&l);
    }
}

static void extreme_columns(int64_t begin, int64_t end, void *context)
{
    const scan *s = context;
    for (int64_t i = begin; i < end && !halted(s); i++) {
        int64_t j = i % s->blocks * SIDE, left = s->row.size - j;
        int64_t in = j * s->row.in, out = j * s->row.out;
        la_axes_locate(&s->kept, i / s->blocks, &in, &out);
        la_scan_extreme_line l = {s->in + in, s->step,
                                  s->out + out * s->osize, s->index + out,
                                  s->out_step, s->n};
        s->extreme->columns(&l, left < SIDE ? left : SIDE, s->row.in,
                            s->row.out);
    }
}

/* Values in self's dtype and 1-based positions. LA_EDTYPE for complex. */
static la_status extreme_meta(la_frame *f)
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
    atomic_int stopped = 0;
    la_tensor *self = la_arg(f, 0);
    scan s = {.extreme = &(*table)[self->dtype], .in = la_data(self),
              .out = la_data(la_result(f, 0)),
              .index = (int64_t *)la_data(la_result(f, 1)),
              .esize = (int64_t)la_itemsize(self),
              .osize = (int64_t)la_itemsize(self), .stopped = &stopped};
    if (self->numel == 0) return LA_OK;
    read_dims(&s, self, (int)f->scratch[0]);
    if (s.row.size > 1 && s.row.in < s.step)
        scan_side(&s, extreme_columns);
    else
        la_parallel_for(s.kept.count * s.row.size, la_ceil_div(LA_GRAIN, s.n),
                        extreme_lines, &s);
    return stopped ? la_error(LA_EINTR, "interrupted") : LA_OK;
}

/* (self, dim) -> the largest (smallest) element so far and where it is. */
la_status la_meta_cummax(la_frame *f) { return extreme_meta(f); }
la_status la_meta_cummin(la_frame *f) { return extreme_meta(f); }
la_status la_impl_cummax(la_frame *f)
{
    return extreme_impl(f, LA_STUB(scan_max));
}
la_status la_impl_cummin(la_frame *f)
{
    return extreme_impl(f, LA_STUB(scan_min));
}
