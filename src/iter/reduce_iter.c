/*
** Reductions: an iterator built by rows is cut into calls of a kernel. Either
** rows are reduced (the fastest dim of the input is), or columns (the fastest
** dim is kept). Long rows and tall columns are cut into pieces whose
** accumulators are combined by halving, so the order of all additions follows
** from sizes and strides, never from threads.
*/
#include "iter/reduce_iter.h"

#include "base/runtime/memory.h"
#include "base/scratch.h"
#include "iter/items.h"

#define MAX_ACC 24
#define BATCH 256             /* accumulators of rows on the stack */
#define COLUMN_BYTES 32768    /* accumulators of one task of columns */
#define FLAT 16               /* fewer rows are read in one pass */
#define SHARED (4 * LA_GRAIN) /* fewer elements are read while a thread wakes */
#define SHORT_ROWS 64         /* short rows that are transposed to columns */
#define SHORT_BYTES 32768     /* elements of them */
#define WIDE 128              /* columns that fill vectors */

typedef struct plan {
    const la_reduce_job *job;
    const la_reduction *kernel;
    const la_iter *it;        /* NULL before it is built */
    int64_t esize;
    int64_t n, step;          /* of the inner dim that kernels see, bytes */
    int64_t lines;            /* positions of the other inner dims */
    int64_t rows, row_step;   /* of the outer dim that kernels see, bytes */
    int64_t outer;            /* positions of the other outer dims */
    bool columns;
    bool transposed;          /* short rows, as columns */
    int64_t cut, cuts;        /* a line in pieces of 'cut' elements */
    int64_t group, groups;    /* or several lines in one piece */
    int64_t pieces, blocks;   /* per result; blocks of columns */
    int64_t width;            /* accumulators of one task */
    char *partial;
    atomic_int *decided;
} plan;

/* ---- cutting ---- */

/* Long lines are cut, short ones grouped, so that a piece is about 'deep'
** elements of a line. */
static void cut_lines(plan *p, int64_t deep)
{
    p->cut = deep;
    p->cuts = la_ceil_div(p->n, deep);
    p->group = p->cuts > 1 ? 1 : deep / p->n;
    if (p->group < 1) p->group = 1;
    p->groups = la_ceil_div(p->lines, p->group);
    p->pieces = p->cuts * p->groups;
}

/* Are whole rows of n elements transposed to columns? */
static bool is_transposed(const la_reduction *kernel, int64_t n, int64_t step,
                          int64_t esize)
{
    return n <= kernel->transpose_max && !(kernel->own && step == esize)
        && n * esize * SHORT_ROWS <= SHORT_BYTES;
}

/* Rows or columns, and where they are cut: from sizes and strides alone.
** Columns where neighbours of a kept dim are closer than those of the reduced
** one. */
static void reduce_choose(plan *p)
{
    const la_iter *it = p->it;
    const int64_t *in = it->op[p->job->nouts].strides;
    int o = it->inner;
    p->n = it->shape[0];
    p->step = in[0];
    p->lines = la_iter_count(it, 1, o);
    p->rows = it->shape[o];
    p->row_step = in[o];
    p->outer = la_iter_count(it, o + 1, it->ndim);
    p->columns = p->n > 1 && p->rows > 1 && p->row_step < p->step;
    p->blocks = 1;
    p->transposed = is_transposed(p->kernel, p->n, p->step, p->esize);
    if (!p->columns) {
        cut_lines(p, LA_REDUCE_CHUNK);
        p->width = 1;
        return;
    }
    int64_t deep = LA_REDUCE_CHUNK / p->rows / 64 * 64;
    cut_lines(p, deep < 64 ? 64 : deep > 4096 ? 4096 : deep);
    /* Accumulators that several passes go over stay small. */
    int64_t bytes = p->n < FLAT ? COLUMN_BYTES : COLUMN_BYTES / 4;
    p->width = bytes / p->kernel->acc_size / 64 * 64;
    if (p->width > bytes / 4) p->width = bytes / 4;
    if (p->width > p->rows) p->width = p->rows;
    p->blocks = la_ceil_div(p->rows, p->width);
}

/* ---- results ---- */

/* n accumulators become elements of the outputs at 'data', one per step of the
** outer dim. */
static void emit(const plan *p, const char *acc, int64_t n, char *const *data)
{
    const la_reduce_job *job = p->job;
    for (int k = 0; k < job->nouts; k++) {
        la_reduce_args args = job->args;
        int64_t size = (int64_t)la_itemsize(job->out[k].tensor);
        int64_t step = n > 1 ? p->it->op[k].strides[p->it->inner] : size;
        args.mode = job->out[k].mode;
        if (step == size) {
            p->kernel->store(acc, data[k], n, &args);
            continue;
        }
        LA_SCRATCH(char, element, 16 * BATCH);
        for (int64_t i = 0; i < n; i += BATCH) {
            int64_t m = la_min(n - i, BATCH);
            p->kernel->store(acc + i * p->kernel->acc_size, element, m, &args);
            for (int64_t j = 0; j < m; j++)
                memcpy(data[k] + (i + j) * step, element + j * size,
                       (size_t)size);
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
        kernel->combine(acc, acc + h * size, (m - h) * width);
        m = h;
    }
}

/* ---- rows: whole ones, many at a time ---- */

/* Columns of a fixed width, so that the order of a row's additions does not
** depend on how many rows are left. */
static void short_rows(const la_reduction *kernel, const la_reduce_args *args,
                       const la_reduce_rows *r, int64_t esize, char *acc)
{
    LA_SCRATCH(char, columns, SHORT_BYTES);
    for (int64_t i = 0; i < r->rows; i += SHORT_ROWS) {
        la_reduce_rows some = *r;
        some.in += i * r->row_step;
        some.rows = r->rows - i < SHORT_ROWS ? r->rows - i : SHORT_ROWS;
        LA_STUB(reduce_transpose)->rows(&some, esize, SHORT_ROWS, columns);
        la_reduce_cols c = {columns, SHORT_ROWS * esize, r->n, esize,
                            some.rows};
        kernel->outer(&c, acc + i * kernel->acc_size, args);
    }
}

/* Accumulators of whole rows, one each. */
static void some_rows(const plan *p, const la_reduce_rows *r, char *acc)
{
    if (p->transposed) short_rows(p->kernel, &p->job->args, r, p->esize, acc);
    else p->kernel->inner(r, acc, &p->job->args);
}

/* Loop of la_iter_rows: at most BATCH rows, to their results. */
static void reduce_whole_rows(const la_iter *it, char *const *data,
                              int64_t rows, void *context)
{
    const plan *p = context;
    char acc[BATCH * MAX_ACC] __attribute__((aligned(64)));
    la_reduce_rows r = {data[p->job->nouts], p->step, p->n, p->row_step, rows};
    some_rows(p, &r, acc);
    emit(p, acc, rows, data);
}

/* The order of additions is that of run_plan for the same rows, so a fused pass
** has the bits of the separate call. */
void la_reduce_dense(const la_reduce_plan *how, const la_reduce_rows *r,
                     bool alone, char *out)
{
    char acc[BATCH * MAX_ACC] __attribute__((aligned(64)));
    int64_t esize = how->esize, step = (int64_t)la_dtype_size(how->dtype);
    bool transposed = !alone
        && is_transposed(how->kernel, r->n, r->step, esize);
    for (int64_t i = 0; i < r->rows; i += BATCH) {
        la_reduce_rows some = *r;
        some.in += i * r->row_step;
        some.rows = r->rows - i < BATCH ? r->rows - i : BATCH;
        if (transposed)
            short_rows(how->kernel, &how->args, &some, esize, acc);
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

/* Line l of the other inner dims, of the row at 'in'. */
static const char *reduce_line_at(const plan *p, const char *in, int64_t l)
{
    const la_iter *it = p->it;
    for (int d = 1; d < it->inner && l > 0; d++) {
        in += l % it->shape[d] * it->op[p->job->nouts].strides[d];
        l /= it->shape[d];
    }
    return in;
}

/* Lines first..last-1 of one row: into 'acc'. */
static void combine_lines(const plan *p, const char *in, int64_t first,
                          int64_t last, char *acc)
{
    char some[BATCH * MAX_ACC] __attribute__((aligned(64)));
    bool more = p->it->inner > 1;
    int64_t run = more ? p->it->shape[1] : 1;
    int64_t step = more ? p->it->op[p->job->nouts].strides[1] : 0;
    for (int64_t l = first, m; l < last; l += m) {
        m = run - l % run;
        if (m > last - l) m = last - l;
        if (m > BATCH) m = BATCH;
        la_reduce_rows r = {reduce_line_at(p, in, l), p->step, p->n, step, m};
        some_rows(p, &r, some);
        halve(p->kernel, some, m, 1);
        if (l == first) memcpy(acc, some, (size_t)p->kernel->acc_size);
        else p->kernel->combine(acc, some, 1);
    }
}

/* A piece of a long row is a cut of one line; of short lines, a group of
** them. */
static void row_piece(const plan *p, const char *in, int64_t piece, char *acc)
{
    if (p->cuts == 1) {
        int64_t first = piece * p->group, last = first + p->group;
        if (last > p->lines) last = p->lines;
        combine_lines(p, in, first, last, acc);
        return;
    }
    int64_t c = piece % p->cuts * p->cut;
    int64_t n = p->n - c < p->cut ? p->n - c : p->cut;
    la_reduce_rows r = {reduce_line_at(p, in, piece / p->cuts) + c * p->step,
                        p->step,
                        n, 0, 1};
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
        p->kernel->combine(wide, wide + h * cols * size, h * cols);
    memcpy(acc, wide, (size_t)(cols * size));
    if (done == c->rows) return;
    w = (la_reduce_cols){c->in + done * c->row_step, c->row_step,
                         c->rows - done, c->step, cols};
    p->kernel->outer(&w, wide, &p->job->args);
    p->kernel->combine(acc, wide, cols);
}

/* Few columns would leave most of a vector empty. */
static void some_columns(const plan *p, const la_reduce_cols *c, char *acc)
{
    if (c->cols < WIDE / 2 && c->row_step == c->cols * c->step
        && c->step == p->esize && c->rows >= WIDE)
        narrow_columns(p, c, acc);
    else
        p->kernel->outer(c, acc, &p->job->args);
}

/* row_piece for 'cols' columns side by side: the same lines or cuts. */
static void column_piece(const plan *p, const char *in, int64_t cols,
                         int64_t piece, char *acc)
{
    LA_SCRATCH(char, other, COLUMN_BYTES);
    int64_t c = p->cuts == 1 ? 0 : piece % p->cuts * p->cut;
    int64_t n = p->n - c < p->cut ? p->n - c : p->cut;
    int64_t first = piece / p->cuts * p->group, last = first + p->group;
    if (last > p->lines) last = p->lines;
    for (int64_t l = first; l < last; l++) {
        la_reduce_cols k = {reduce_line_at(p, in, l) + c * p->step, p->step, n,
                            p->row_step, cols};
        some_columns(p, &k, l == first ? acc : other);
        if (l > first) p->kernel->combine(acc, other, cols);
    }
}

/* A target is a row, or a block of columns: so many results. Its data. */
static int64_t find_target(const plan *p, int64_t t, char **data)
{
    return la_min(la_iter_unit(p->it, p->width, t, data), p->width);
}

static void one_piece(const plan *p, char *const *data, int64_t cols,
                      int64_t piece, char *acc)
{
    const char *in = data[p->job->nouts];
    if (p->columns) column_piece(p, in, cols, piece, acc);
    else row_piece(p, in, piece, acc);
}

static void undecided(const plan *p, char *acc)
{
    acc[0] = !p->job->decided;
}

/* Tasks: piece i % pieces of target i / pieces. For any and all of everything,
** a piece after the deciding one is answered without being read. */
static void run_pieces(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    int64_t size = p->width * p->kernel->acc_size;
    bool early = p->job->decided >= 0 && p->outer * p->rows == 1;
    for (int64_t i = begin; i < end; i++) {
        char *data[LA_ITER_MAX_OPS];
        int64_t cols = find_target(p, i / p->pieces, data);
        char *acc = p->partial + i * size;
        if (early && atomic_load(p->decided)) {
            undecided(p, acc);
            continue;
        }
        one_piece(p, data, cols, i % p->pieces, acc);
        if (early && acc[0] == p->job->decided) atomic_store(p->decided, 1);
    }
}

/* The pieces of a target, in order whoever reduced them, to its results. */
static void join_pieces(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    for (int64_t t = begin; t < end; t++) {
        char *data[LA_ITER_MAX_OPS];
        int64_t cols = find_target(p, t, data);
        char *acc = p->partial
            + t * p->pieces * p->width * p->kernel->acc_size;
        halve(p->kernel, acc, p->pieces, p->width);
        emit(p, acc, cols, data);
    }
}

/* Are accumulators the results? */
static bool is_direct(const plan *p)
{
    return p->columns && p->kernel->own && p->job->nouts == 1
        && p->job->out[0].mode == LA_STORE_PLAIN
        && p->it->op[0].strides[p->it->inner] == p->kernel->acc_size;
}

/* A single piece per target needs no memory of its own. */
static void whole_target(const la_iter *it, char *const *data, int64_t cols,
                         void *context)
{
    const plan *p = context;
    LA_SCRATCH(char, acc, COLUMN_BYTES);
    if (is_direct(p)) {
        one_piece(p, data, cols, 0, data[0]);
        return;
    }
    one_piece(p, data, cols, 0, acc);
    emit(p, acc, cols, data);
}

/* Long rows and tall columns: partial accumulators in memory, then joined.
** LA_ENOMEM also where their count overflows. */
static la_status in_pieces(plan *p, int64_t targets)
{
    int64_t tasks, bytes, unit = p->width * p->kernel->acc_size;
    if (!la_mul_ok(targets, p->pieces, &tasks)
        || !la_mul_ok(tasks, unit, &bytes))
        return la_error(LA_ENOMEM, "partial results are too many");
    p->partial = la_mem_alloc((size_t)bytes);
    if (!p->partial) return LA_ENOMEM;
    la_status status = la_iter_items(tasks,
                                     la_ceil_div(SHARED, p->cut * p->width), 1,
                                     run_pieces, p);
    if (!status)
        status = la_iter_items(targets,
                               la_ceil_div(LA_GRAIN, p->pieces * p->width),
                               LA_ALL_ITEMS, join_pieces, p);
    la_mem_free(p->partial, (size_t)bytes);
    return status;
}

/* Pieces, whole short rows many at a time, or a target at a time. */
static la_status reduce_run_plan(plan *p)
{
    int64_t targets = p->outer * (p->columns ? p->blocks : p->rows);
    if (p->pieces > 1) return in_pieces(p, targets);
    if (!p->columns && p->lines == 1) {
        la_row_plan rows = {reduce_whole_rows, 1, BATCH,
                            la_ceil_div(LA_GRAIN, p->n)};
        return la_iter_rows(p->it, &rows, p);
    }
    la_row_plan whole = {whole_target, p->width, p->width,
                         la_ceil_div(LA_GRAIN, p->n * p->lines * p->width)};
    return la_iter_rows(p->it, &whole, p);
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
static void reduce_run_small(plan *p, const la_tensor *in)
{
    char acc[MAX_ACC] __attribute__((aligned(16)));
    char *data[2] = {la_data(p->job->out[0].tensor), NULL};
    la_reduce_rows r = {la_data(in), (int64_t)la_itemsize(in), in->numel, 0, 1};
    if (p->job->nouts > 1) data[1] = la_data(p->job->out[1].tensor);
    p->kernel->inner(&r, acc, &p->job->args);
    emit(p, acc, 1, data);
}

/* Few elements without gaps, of which the last dims are reduced, or short
** columns: what the iterator would come to, without building it. */
static bool run_dense(const la_reduce_job *job, const la_tensor *in,
                      uint64_t mask)
{
    const la_tensor *out = job->out[0].tensor;
    int64_t esize = (int64_t)la_itemsize(in), rows = out->numel;
    if (in->numel > LA_GRAIN || job->nouts != 1 || rows <= 1
        || in->numel == rows || in->ndim > 32
        || !la_is_contiguous(in) || !la_is_contiguous(out)) return false;
    uint64_t all = ((uint64_t)1 << in->ndim) - 1, kept = all & ~mask;
    int64_t n = in->numel / rows;
    la_reduce_plan how = {.kernel = job->kernel, .args = job->args,
                          .esize = esize, .dtype = (la_dtype)out->dtype};
    how.args.mode = job->out[0].mode;
    if ((kept & (kept + 1)) == 0) {
        la_reduce_rows r = {la_data(in), esize, n, n * esize, rows};
        la_reduce_dense(&how, &r, false, la_data(out));
        return true;
    }
    mask &= all;
    if ((mask & (mask + 1)) != 0 || n > SHORT_ROWS || rows > SHORT_ROWS)
        return false;
    char acc[SHORT_ROWS * MAX_ACC] __attribute__((aligned(64)));
    la_reduce_cols c = {la_data(in), rows * esize, n, esize, rows};
    how.kernel->outer(&c, acc, &how.args);
    how.kernel->store(acc, la_data(out), rows, &how.args);
    return true;
}

/* No element at all: every result is what the identity becomes. */
static void reduce_run_empty(plan *p)
{
    char acc[MAX_ACC] __attribute__((aligned(16)));
    la_reduce_rows r = {NULL, 1, 0, 0, 1};
    p->kernel->inner(&r, acc, &p->job->args);
    for (int64_t i = 0; i < p->job->out[0].tensor->numel; i++) {
        char *data[2];
        for (int k = 0; k < p->job->nouts; k++)
            data[k] = la_data(p->job->out[k].tensor)
                + i * (int64_t)la_itemsize(p->job->out[k].tensor);
        emit(p, acc, 1, data);
    }
}

/* The general way: any layout, by a built iterator. */
static la_status reduce_run_iter(plan *p, la_tensor *in, uint64_t mask)
{
    const la_reduce_job *job = p->job;
    la_iter_config c = LA_ITER_CONFIG(LA_IT_IS_REDUCTION | LA_IT_BORROWED,
                                      job->nouts, 1);
    la_iter it;               /* borrows: there is nothing to close */
    for (int k = 0; k < job->nouts; k++) c.operands[k] = job->out[k].tensor;
    c.operands[job->nouts] = in;
    c.row_dims = mask;
    LA_TRY(la_iter_build(&it, &c));
    p->it = &it;
    reduce_choose(p);
    return reduce_run_plan(p);
}

/* Small and dense cases first: their answer is that of the plan, without the
** price of an iterator. */
la_status la_reduce_run(la_reduce_job *job, const la_tensor *in, uint64_t mask)
{
    atomic_int decided = 0;
    plan p;
    p.job = job;
    p.kernel = job->kernel;
    p.esize = (int64_t)la_itemsize(in);
    p.decided = &decided;
    set_count(job, in, mask);
    if (in->numel == 0) {
        reduce_run_empty(&p);
        return LA_OK;
    }
    if (la_is_contiguous(in) && in->numel <= LA_REDUCE_CHUNK
        && job->out[0].tensor->numel == 1) {
        reduce_run_small(&p, in);
        return LA_OK;
    }
    if (run_dense(job, in, mask)) return LA_OK;
    return reduce_run_iter(&p, (la_tensor *)in, mask);
}
