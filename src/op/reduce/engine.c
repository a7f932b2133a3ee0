/*
** How a reduction is cut. Dims of size 1 go, the kept and the reduced dims are
** sorted by stride and merged; then either rows are folded (the fastest dim is
** reduced) or columns (the fastest dim is kept). Long rows and tall columns
** are cut into pieces whose accumulators are joined by halving, so the order
** of all additions follows from sizes and strides, never from threads.
*/
#include "base/memory.h"
#include "base/pool.h"
#include "op/reduce/axes.h"
#include "op/reduce/reduce.h"

#define MAX_ACC 24
#define BATCH 256             /* accumulators of rows on the stack */
#define COLUMN_BYTES 32768    /* accumulators of one task of columns */
#define FLAT 16               /* fewer rows are read in one pass */
#define SHARED (4 * LA_GRAIN) /* fewer elements are read while a thread wakes */
#define TURNED 64             /* short rows that are turned to columns */
#define TURNED_BYTES 32768    /* elements of them */
#define WIDE 128              /* columns that fill vectors */

typedef struct plan {
    const la_reduce_job *job;
    const la_reduction *kernel;
    const char *in;
    int64_t esize;
    la_axes kept, reduced;       /* without 'line' and 'row' below */
    la_axis line;                /* the reduced dim that kernels see */
    la_axis row;                 /* the kept dim that kernels see */
    bool columns;
    bool turned;              /* short rows, as columns */
    int64_t cut, cuts;        /* a line in pieces of 'cut' elements */
    int64_t group, groups;    /* or several lines in one piece */
    int64_t pieces, blocks;   /* per result; blocks of columns */
    int64_t width;            /* accumulators of one task */
    char *partial;
    atomic_int *decided, *stopped;
} plan;

/* ---- axes ---- */

static void read_axes(plan *p, const la_tensor *t, uint64_t mask)
{
    const int64_t *sizes = la_sizes(t), *strides = la_strides(t);
    int64_t esize = (int64_t)la_itemsize(t);
    int64_t step = (int64_t)la_itemsize(p->job->out[0].tensor);
    int64_t outs[LA_MAX_DIMS];
    for (int d = t->ndim - 1; d >= 0; d--) {
        outs[d] = step;
        if (!(mask >> d & 1)) step *= sizes[d];
    }
    for (int d = 0; d < t->ndim; d++) {
        bool gone = mask >> d & 1;
        if (sizes[d] == 1) continue;
        la_axes_add(gone ? &p->reduced : &p->kept, sizes[d], strides[d] * esize,
                 gone ? 0 : outs[d]);
    }
    p->esize = esize;
    la_axes_merge(&p->kept);
    la_axes_merge(&p->reduced);
}

/* Long lines are cut, short ones grouped, so that a piece is about 'deep'
** elements of a line. */
static void cut_lines(plan *p, int64_t deep)
{
    p->cut = deep;
    p->cuts = la_ceil_div(p->line.size, deep);
    p->group = p->cuts > 1 ? 1 : deep / p->line.size;
    if (p->group < 1) p->group = 1;
    p->groups = la_ceil_div(p->reduced.count, p->group);
    p->pieces = p->cuts * p->groups;
}

/* Are whole rows of n elements turned to columns? */
static bool is_turned(const la_reduction *kernel, int64_t n, int64_t step,
                      int64_t esize)
{
    return n <= kernel->turned && !(kernel->own && step == esize)
        && n * esize * TURNED <= TURNED_BYTES;
}

static void choose(plan *p)
{
    int nk = p->kept.n, nr = p->reduced.n;
    la_axis one = {1, p->esize, 0};
    p->columns = nk > 0 && nr > 0
        && p->kept.a[nk - 1].in < p->reduced.a[nr - 1].in;
    p->line = la_axes_take(&p->reduced, one);
    p->row = la_axes_take(&p->kept, (la_axis){1, 0, 0});
    p->blocks = 1;
    p->turned = is_turned(p->kernel, p->line.size, p->line.in, p->esize);
    if (!p->columns) {
        cut_lines(p, LA_REDUCE_CHUNK);
        p->width = 1;
        return;
    }
    int64_t deep = LA_REDUCE_CHUNK / p->row.size / 64 * 64;
    cut_lines(p, deep < 64 ? 64 : deep > 4096 ? 4096 : deep);
    /* Accumulators that several passes go over stay small. */
    int64_t bytes = p->line.size < FLAT ? COLUMN_BYTES : COLUMN_BYTES / 4;
    p->width = bytes / p->kernel->acc_size / 64 * 64;
    if (p->width > bytes / 4) p->width = bytes / 4;
    if (p->width > p->row.size) p->width = p->row.size;
    p->blocks = la_ceil_div(p->row.size, p->width);
}

/* ---- results ---- */

/* n accumulators become elements 'step' bytes apart at byte 'at' of the
** outputs (as the first one counts). */
static void emit(const plan *p, const char *acc, int64_t n, int64_t at,
                 int64_t step)
{
    const la_reduce_job *job = p->job;
    int64_t first = (int64_t)la_itemsize(job->out[0].tensor);
    for (int k = 0; k < job->nouts; k++) {
        la_reduce_args args = job->args;
        char element[16 * BATCH];
        char *to = la_data(job->out[k].tensor) + at;
        args.mode = job->out[k].mode;
        if (step == first || n == 1) {
            p->kernel->store(acc, to, n, &args);
            continue;
        }
        for (int64_t i = 0; i < n; i += BATCH) {
            int64_t m = n - i < BATCH ? n - i : BATCH;
            p->kernel->store(acc + i * p->kernel->acc_size, element, m, &args);
            for (int64_t j = 0; j < m; j++)
                memcpy(to + (i + j) * step, element + j * first,
                       (size_t)first);
        }
    }
}

/* m accumulators of 'width' columns each become the first one. */
static void halve(const la_reduction *kernel, char *acc, int64_t m,
                  int64_t width)
{
    int64_t size = width * kernel->acc_size;
    while (m > 1) {
        int64_t h = (m + 1) / 2;
        kernel->fold(acc, acc + h * size, (m - h) * width);
        m = h;
    }
}

static bool halted(const plan *p)
{
    if (atomic_load_explicit(p->stopped, memory_order_relaxed)) return true;
    if (la_interrupted()) atomic_store(p->stopped, 1);
    return false;
}

/* ---- rows: whole ones, many at a time ---- */

/* Columns of a fixed width, so that the order of a row's additions does not
** depend on how many rows are left. */
static void turned_rows(const la_reduction *kernel, const la_reduce_args *args,
                        const la_reduce_rows *r, int64_t esize, char *acc)
{
    char turned[TURNED_BYTES] __attribute__((aligned(64)));
    for (int64_t i = 0; i < r->rows; i += TURNED) {
        la_reduce_rows some = *r;
        some.in += i * r->row_step;
        some.rows = r->rows - i < TURNED ? r->rows - i : TURNED;
        LA_STUB(reduce_turn)->rows(&some, esize, TURNED, turned);
        la_reduce_cols c = {turned, TURNED * esize, r->n, esize, some.rows};
        kernel->outer(&c, acc + i * kernel->acc_size, args);
    }
}

static void some_rows(const plan *p, const la_reduce_rows *r, char *acc)
{
    if (p->turned) turned_rows(p->kernel, &p->job->args, r, p->esize, acc);
    else p->kernel->inner(r, acc, &p->job->args);
}

static void whole_rows(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    char acc[BATCH * MAX_ACC] __attribute__((aligned(64)));
    for (int64_t i = begin, m; i < end; i += m) {
        int64_t in = 0, at = 0, j = i % p->row.size;
        if (halted(p)) return;
        la_axes_locate(&p->kept, i / p->row.size, &in, &at);
        m = p->row.size - j;
        if (m > end - i) m = end - i;
        if (m > BATCH) m = BATCH;
        la_reduce_rows r = {p->in + in + j * p->row.in, p->line.in,
                            p->line.size, p->row.in, m};
        some_rows(p, &r, acc);
        emit(p, acc, m, at + j * p->row.out, p->row.out);
    }
}

void la_reduce_dense(const la_reduce_plan *how, const la_reduce_rows *r,
                     bool alone, char *out)
{
    char acc[BATCH * MAX_ACC] __attribute__((aligned(64)));
    int64_t esize = how->esize, step = (int64_t)la_dtype_size(how->dtype);
    bool turned = !alone && is_turned(how->kernel, r->n, r->step, esize);
    for (int64_t i = 0; i < r->rows; i += BATCH) {
        la_reduce_rows some = *r;
        some.in += i * r->row_step;
        some.rows = r->rows - i < BATCH ? r->rows - i : BATCH;
        if (turned) turned_rows(how->kernel, &how->args, &some, esize, acc);
        else how->kernel->inner(&some, acc, &how->args);
        how->kernel->store(acc, out + i * step, some.rows, &how->args);
    }
}

void la_reduce_join(const la_reduce_plan *how, char *acc, int64_t pieces,
                    char *out)
{
    halve(how->kernel, acc, pieces, 1);
    how->kernel->store(acc, out, 1, &how->args);
}

/* ---- pieces ---- */

/* Lines first..last-1 of the other reduced dims, of one row: into 'acc'. */
static void fold_lines(const plan *p, const char *in, int64_t first,
                       int64_t last, char *acc)
{
    char some[BATCH * MAX_ACC] __attribute__((aligned(64)));
    int nr = p->reduced.n;
    la_axis run = nr ? p->reduced.a[nr - 1] : (la_axis){1, 0, 0};
    for (int64_t l = first, m; l < last; l += m) {
        int64_t at = 0, out = 0;
        la_axes_locate(&p->reduced, l, &at, &out);
        m = run.size - l % run.size;
        if (m > last - l) m = last - l;
        if (m > BATCH) m = BATCH;
        la_reduce_rows r = {in + at, p->line.in, p->line.size, run.in, m};
        some_rows(p, &r, some);
        halve(p->kernel, some, m, 1);
        if (l == first) memcpy(acc, some, (size_t)p->kernel->acc_size);
        else p->kernel->fold(acc, some, 1);
    }
}

static void row_piece(const plan *p, const char *in, int64_t piece, char *acc)
{
    if (p->cuts == 1) {
        int64_t first = piece * p->group, last = first + p->group;
        if (last > p->reduced.count) last = p->reduced.count;
        fold_lines(p, in, first, last, acc);
        return;
    }
    int64_t at = 0, out = 0, c = piece % p->cuts * p->cut;
    int64_t n = p->line.size - c < p->cut ? p->line.size - c : p->cut;
    la_axes_locate(&p->reduced, piece / p->cuts, &at, &out);
    la_reduce_rows r = {in + at + c * p->line.in, p->line.in, n, 0, 1};
    p->kernel->inner(&r, acc, &p->job->args);
}

/* Few columns without gaps: several rows side by side make a wide one, whose
** accumulators are joined by halving. */
static void narrow_columns(const plan *p, const la_reduce_cols *c, char *acc)
{
    char wide[2 * WIDE * MAX_ACC] __attribute__((aligned(64)));
    int64_t side = 1, cols = c->cols, size = p->kernel->acc_size;
    while (side * cols < WIDE) side *= 2;
    int64_t done = c->rows / side * side;
    la_reduce_cols w = {c->in, side * c->row_step, c->rows / side, c->step,
                        side * cols};
    p->kernel->outer(&w, wide, &p->job->args);
    for (int64_t h = side / 2; h > 0; h /= 2)
        p->kernel->fold(wide, wide + h * cols * size, h * cols);
    memcpy(acc, wide, (size_t)(cols * size));
    if (done == c->rows) return;
    w = (la_reduce_cols){c->in + done * c->row_step, c->row_step,
                         c->rows - done, c->step, cols};
    p->kernel->outer(&w, wide, &p->job->args);
    p->kernel->fold(acc, wide, cols);
}

static void some_columns(const plan *p, const la_reduce_cols *c, char *acc)
{
    if (c->cols < WIDE / 2 && c->row_step == c->cols * c->step
        && c->step == p->esize && c->rows >= WIDE)
        narrow_columns(p, c, acc);
    else
        p->kernel->outer(c, acc, &p->job->args);
}

static void column_piece(const plan *p, const char *in, int64_t cols,
                         int64_t piece, char *acc)
{
    char other[COLUMN_BYTES] __attribute__((aligned(64)));
    int64_t c = p->cuts == 1 ? 0 : piece % p->cuts * p->cut;
    int64_t n = p->line.size - c < p->cut ? p->line.size - c : p->cut;
    int64_t first = piece / p->cuts * p->group, last = first + p->group;
    if (last > p->reduced.count) last = p->reduced.count;
    for (int64_t l = first; l < last; l++) {
        int64_t at = 0, out = 0;
        la_axes_locate(&p->reduced, l, &at, &out);
        la_reduce_cols k = {in + at + c * p->line.in, p->line.in, n,
                            p->row.in, cols};
        some_columns(p, &k, l == first ? acc : other);
        if (l > first) p->kernel->fold(acc, other, cols);
    }
}

/* Task t of 'targets' x pieces; a target is a row, or a block of columns. */
typedef struct target {
    const char *in;
    int64_t at, cols;
} target;

static target find_target(const plan *p, int64_t t)
{
    int64_t in = 0, at = 0, j;
    if (p->columns) {
        j = t % p->blocks * p->width;
        la_axes_locate(&p->kept, t / p->blocks, &in, &at);
    } else {
        j = t % p->row.size;
        la_axes_locate(&p->kept, t / p->row.size, &in, &at);
    }
    int64_t left = p->columns ? p->row.size - j : 1;
    return (target){p->in + in + j * p->row.in, at + j * p->row.out,
                    left < p->width ? left : p->width};
}

static void one_piece(const plan *p, const target *g, int64_t piece, char *acc)
{
    if (p->columns) column_piece(p, g->in, g->cols, piece, acc);
    else row_piece(p, g->in, piece, acc);
}

static void undecided(const plan *p, char *acc)
{
    acc[0] = !p->job->decided;
}

static void run_pieces(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    int64_t size = p->width * p->kernel->acc_size;
    bool early = p->job->decided >= 0 && p->kept.count * p->row.size == 1;
    for (int64_t i = begin; i < end; i++) {
        target g = find_target(p, i / p->pieces);
        char *acc = p->partial + i * size;
        if (halted(p)) return;
        if (early && atomic_load(p->decided)) {
            undecided(p, acc);
            continue;
        }
        one_piece(p, &g, i % p->pieces, acc);
        if (early && acc[0] == p->job->decided) atomic_store(p->decided, 1);
    }
}

static void join_pieces(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    for (int64_t t = begin; t < end; t++) {
        target g = find_target(p, t);
        char *acc = p->partial
            + t * p->pieces * p->width * p->kernel->acc_size;
        halve(p->kernel, acc, p->pieces, p->width);
        emit(p, acc, g.cols, g.at, p->row.out);
    }
}

/* Are accumulators the results? */
static bool is_direct(const plan *p)
{
    return p->columns && p->kernel->own && p->job->nouts == 1
        && p->job->out[0].mode == LA_STORE_PLAIN
        && p->row.out == p->kernel->acc_size;
}

/* A single piece per target needs no memory of its own. */
static void run_targets(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    char acc[COLUMN_BYTES] __attribute__((aligned(64)));
    for (int64_t t = begin; t < end; t++) {
        target g = find_target(p, t);
        if (halted(p)) return;
        if (is_direct(p)) {
            one_piece(p, &g, 0, la_data(p->job->out[0].tensor) + g.at);
            continue;
        }
        one_piece(p, &g, 0, acc);
        emit(p, acc, g.cols, g.at, p->row.out);
    }
}

static la_status in_pieces(plan *p, int64_t targets)
{
    int64_t tasks, bytes, unit = p->width * p->kernel->acc_size;
    if (!la_mul_ok(targets, p->pieces, &tasks)
        || !la_mul_ok(tasks, unit, &bytes))
        return la_error(LA_ENOMEM, "partial results are too many");
    p->partial = la_mem_alloc((size_t)bytes);
    if (!p->partial) return LA_ENOMEM;
    la_parallel_for(tasks, la_ceil_div(SHARED, p->cut * p->width), run_pieces,
                    p);
    if (!atomic_load(p->stopped))
        la_parallel_for(targets, la_ceil_div(LA_GRAIN, p->pieces * p->width),
                        join_pieces, p);
    la_mem_free(p->partial, (size_t)bytes);
    return LA_OK;
}

static la_status run_plan(plan *p)
{
    int64_t n = p->line.size, rows = p->kept.count * p->row.size;
    if (!p->columns && p->pieces == 1 && p->reduced.count == 1) {
        la_parallel_for(rows, la_ceil_div(LA_GRAIN, n), whole_rows, p);
        return LA_OK;
    }
    int64_t targets = p->columns ? p->kept.count * p->blocks : rows;
    if (p->pieces == 1) {
        int64_t work = n * p->reduced.count * p->width;
        la_parallel_for(targets, la_ceil_div(LA_GRAIN, work), run_targets, p);
        return LA_OK;
    }
    return in_pieces(p, targets);
}

/* ---- the entrance ---- */

static void set_count(la_reduce_job *job, const la_tensor *in, uint64_t mask)
{
    double count = 1;
    for (int d = 0; d < in->ndim; d++)
        if (mask >> d & 1) count *= (double)la_sizes(in)[d];
    job->args.count = count;
}

/* Everything of a contiguous tensor, in one call of the kernel. */
static void run_small(plan *p, int64_t n)
{
    char acc[MAX_ACC] __attribute__((aligned(16)));
    la_reduce_rows r = {p->in, p->esize, n, 0, 1};
    p->kernel->inner(&r, acc, &p->job->args);
    emit(p, acc, 1, 0, 0);
}

/* No element at all: every result is what the identity becomes. */
static void run_empty(plan *p, int64_t n)
{
    char acc[MAX_ACC] __attribute__((aligned(16)));
    int64_t step = (int64_t)la_itemsize(p->job->out[0].tensor);
    la_reduce_rows r = {NULL, 1, 0, 0, 1};
    p->kernel->inner(&r, acc, &p->job->args);
    for (int64_t i = 0; i < n; i++) emit(p, acc, 1, i * step, 0);
}

la_status la_reduce_run(la_reduce_job *job, const la_tensor *in, uint64_t mask)
{
    atomic_int decided = 0, stopped = 0;
    plan p;
    if (!job->kernel->inner)
        return la_error(LA_EDTYPE, "the reduction is not implemented for '%s'",
                        la_dtype_title((la_dtype)in->dtype));
    p.job = job;
    p.kernel = job->kernel;
    p.in = la_data(in);
    p.esize = (int64_t)la_itemsize(in);
    p.decided = &decided;
    p.stopped = &stopped;
    set_count(job, in, mask);
    if (in->numel == 0) {
        run_empty(&p, job->out[0].tensor->numel);
        return LA_OK;
    }
    if (la_is_contiguous(in) && in->numel <= LA_REDUCE_CHUNK
        && job->out[0].tensor->numel == 1) {
        run_small(&p, in->numel);
        return LA_OK;
    }
    p.kept = p.reduced = (la_axes){.n = 0};
    read_axes(&p, in, mask);
    choose(&p);
    LA_TRY(run_plan(&p));
    return stopped ? la_error(LA_EINTR, "interrupted") : LA_OK;
}
