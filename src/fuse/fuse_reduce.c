/*
** Passes with reductions: a walk over the rows of a contiguous chain.
**
** Rows of up to LA_FUSE_ROW elements go several at a time through all phases:
** what a reduction reads lies whole in a register, and its results, one for
** each row, are ready for the lines after it. Longer rows go in the pieces that
** the reduction itself cuts; the accumulators of the pieces are combined when
** all are done. Rows and pieces are reduced by the kernels of the reductions in
** their order, so every bit is what it would have been.
*/
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "fuse/fuse_plan.h"

/* Rows at a time: as many as keep the calls per row cheap and the registers in
** the second-level cache. */
#define UNIT_ELEMENTS 8192
#define ACC_BYTES 32          /* of an accumulator, aligned */
#define WORTH_COPIES 16       /* rows */

typedef struct walk {
    la_fuse_plan *p;
    int ndim;                 /* of what is walked over, the fastest first: */
    int64_t shape[LA_MAX_DIMS];       /* rows, or for long rows elements */
    int64_t steps[LA_MAX_DIMS][LA_FUSE_OPERANDS];
    int64_t inner[LA_FUSE_OPERANDS];  /* bytes between elements of a row */
    int copy[LA_FUSE_OPERANDS];       /* a register; -1: none */
    int64_t copies;           /* of the row in each */
    int64_t unit;             /* rows at a time */
    int64_t cuts;             /* pieces of a long row */
    char *partial;            /* accumulators by reduction and piece */
} walk;

/* ---- geometry ---- */

/* Bytes from element to element of operand k along dim d of the chain. */
static int64_t fused_rows_step_of(const la_fuse_plan *p, int k, int d)
{
    const la_fuse_operand *o = &p->operands[k];
    const la_tensor *t = o->tensor;
    int ndim = p->z->shape.ndim - (o->short_of ? p->z->ntrail : 0);
    int j = d - ndim + t->ndim;
    if (d >= ndim || j < 0 || la_sizes(t)[j] == 1) return 0;
    return la_strides(t)[j] * (int64_t)la_itemsize(t);
}

/* Steps along the next outer dim; one that only continues the last joins it. */
static void fused_rows_add_dim(walk *w, int64_t size, const int64_t *steps)
{
    int n = w->p->noperands, d = w->ndim - 1;
    bool joins = w->ndim > 0;
    if (size == 1) return;
    for (int k = 0; k < n && joins; k++)
        joins = steps[k] == w->steps[d][k] * w->shape[d];
    if (joins) {
        w->shape[d] *= size;
        return;
    }
    w->shape[w->ndim] = size;
    memcpy(w->steps[w->ndim++], steps, sizeof(*steps) * (size_t)n);
}

/* Dims that are walked over: rows, or, where they are long, elements. The
** results of long rows are nobody's operands. */
static void find_dims(walk *w, bool whole)
{
    const la_fused *z = w->p->z;
    int64_t steps[LA_FUSE_OPERANDS];
    int lead = z->shape.ndim - z->ntrail;
    w->ndim = 0;
    for (int k = 0; k < w->p->noperands; k++) w->inner[k] = 0;
    for (int d = z->shape.ndim - 1; d >= 0; d--) {
        for (int k = 0; k < w->p->noperands; k++)
            steps[k] = !whole && w->p->operands[k].results ? 0
                : fused_rows_step_of(w->p, k, d);
        if (d < lead || !whole) {
            fused_rows_add_dim(w, z->shape.sizes[d], steps);
            continue;
        }
        for (int k = 0; k < w->p->noperands; k++)
            if (w->inner[k] == 0) w->inner[k] = steps[k];
    }
}

/* Element 'at' of the walk: operand pointers there. Returns how many follow it
** along the fastest dim, itself included. */
static int64_t fused_rows_locate(const walk *w, int64_t at, char **data)
{
    int n = w->p->noperands;
    for (int k = 0; k < n; k++) data[k] = la_data(w->p->operands[k].tensor);
    int64_t left = w->ndim ? w->shape[0] - at % w->shape[0] : 1;
    for (int d = 0; d < w->ndim && at > 0; d++) {
        int64_t value = at % w->shape[d];
        at /= w->shape[d];
        for (int k = 0; k < n; k++) data[k] += value * w->steps[d][k];
    }
    return left;
}

/* The lines from 'first' on that run over blocks one after another: those of
** single elements, and the reductions behind them where blocks are whole rows.
** Returns the line after them. */
static int end_of_group(const la_fuse_plan *p, int first)
{
    int k = first;
    while (k < p->nlines && p->lines[k].kind == LA_STEP_EACH) k++;
    while (p->short_rows && k < p->nlines && p->lines[k].kind == LA_STEP_REDUCE)
        k++;
    return k;
}

/* ---- whole rows ---- */

/* The element of the first row, or all its elements, of a line's operand. */
static char *pointer_to(const la_fuse_plan *p, const la_fuse_location *a,
                        const la_fuse_box *x)
{
    if (a->kind == LA_IN_SCALAR) return a->scalar;
    if (a->kind == LA_IN_OPERAND) return x->data[a->index];
    return x->registers + p->registers[a->index].start;
}

static void run_results(const la_fuse_plan *p, const la_fuse_line *l,
                        const la_fuse_box *x)
{
    char *data[1 + LA_FUSE_SOURCES];
    int64_t strides[2 * (1 + LA_FUSE_SOURCES)] = {0};
    for (int k = 0; k < l->n; k++) {
        const la_fuse_location *a = &l->at[k];
        data[k] = pointer_to(p, a, x);
        if (a->kind == LA_IN_OPERAND) strides[k] = x->outer[a->index];
        if (a->kind == LA_IN_REGISTER)
            strides[k] = p->registers[a->index].size;
    }
    l->loop(data, strides, x->n1, 1, l->params);
}

static void fused_rows_run_unit(const la_fuse_plan *p, const la_fuse_box *x)
{
    for (int k = 0; k < p->nlines;) {
        const la_fuse_line *l = &p->lines[k];
        int end = end_of_group(p, k);
        if (end > k) la_fuse_run_box(p, k, end, x);
        else if (l->kind == LA_STEP_ROW) run_results(p, l, x);
        else la_fuse_reduce(p, l, pointer_to(p, &l->at[1], x), x->n1,
                          pointer_to(p, &l->at[0], x));
        k = end > k ? end : k + 1;
    }
}

/* An operand that is the same for all rows is repeated for a block of them,
** once for each: then a line is one run over the block. Rows of a block's
** length are long enough as they are. */
static void find_copies(walk *w)
{
    la_fuse_plan *p = w->p;
    const la_fused *z = p->z;
    bool worth = 2 * z->n <= p->block && z->rows >= WORTH_COPIES;
    w->copies = p->reduce_block / z->n;
    if (w->copies > w->unit) w->copies = w->unit;
    for (int k = 0; k < p->noperands; k++) {
        bool same = w->inner[k] != 0 && k >= p->noutputs;
        for (int d = 0; d < w->ndim; d++) same &= w->steps[d][k] == 0;
        w->copy[k] = worth && same ? la_fuse_add_register(p, w->inner[k]) : -1;
    }
}

static void make_copies(const walk *w, la_fuse_box *x, char **copies)
{
    const la_fuse_plan *p = w->p;
    x->copied = 0;
    for (int k = 0; k < p->noperands; k++) {
        if (w->copy[k] < 0) continue;
        size_t bytes = (size_t)(p->z->n * w->inner[k]);
        char *to = x->registers + p->registers[w->copy[k]].start;
        copies[k] = to;
        x->copied |= UINT32_C(1) << k;
        for (int64_t i = 0; i < w->copies; i++)
            memcpy(to + (size_t)i * bytes, la_data(p->operands[k].tensor),
                   bytes);
    }
}

static void walk_rows(int64_t begin, int64_t end, void *context)
{
    walk *w = context;
    la_fuse_plan *p = w->p;
    la_fuse_box x = {.n0 = p->z->n};
    char *copies[LA_FUSE_OPERANDS];
    const char *last[2 * LA_FUSE_OPERANDS] = {NULL};
    int slot = la_fuse_take_slot(p);
    x.registers = p->arenas + slot * p->arena_bytes;
    for (int k = 0; k < p->noperands; k++) {
        x.inner[k] = w->inner[k];
        x.outer[k] = w->ndim ? w->steps[0][k] : 0;
    }
    if (!p->columns.unit) make_copies(w, &x, copies);
    for (int64_t i = begin; i < end && !la_interrupted(); i += x.n1) {
        x.n1 = fused_rows_locate(w, i, x.data);
        for (int k = 0; k < p->noperands; k++)
            if (x.copied >> k & 1) x.data[k] = copies[k];
        if (x.n1 > end - i) x.n1 = end - i;
        if (x.n1 > w->unit) x.n1 = w->unit;
        if (p->columns.unit) la_fuse_run_columns(p, &x, last);
        else fused_rows_run_unit(p, &x);
    }
    la_fuse_give_slot(p, slot);
}

static la_status fused_rows_whole_rows(walk *w)
{
    la_fuse_plan *p = w->p;
    const la_fused *z = p->z;
    int64_t grain = LA_GRAIN / (p->nlines < 8 ? p->nlines : 8) / z->n + 1;
    find_dims(w, true);
    p->columns.unit = 0;
    w->unit = UNIT_ELEMENTS / z->n;
    if (w->unit > z->rows) w->unit = z->rows;
    if (w->unit < 1) w->unit = 1;
    if (w->ndim > 0 && la_fuse_find_columns(p, w->inner, w->steps[0], z->n,
                                            w->shape[0]))
        w->unit = p->columns.unit;
    else find_copies(w);
    LA_TRY(la_fuse_make_arenas(p, w->unit * z->n, w->unit,
                               z->rows / grain < 2 ? 1 : la_num_threads()));
    la_parallel_for(z->rows, grain, walk_rows, w);
    return LA_OK;
}

/* ---- pieces of long rows ---- */

static char *partial_of(const walk *w, int index, int64_t piece, int size)
{
    return w->partial + index * w->p->z->rows * w->cuts * ACC_BYTES
        + piece * size;
}

static void reduce_piece(const walk *w, const la_fuse_line *l, int index,
                         int64_t piece, const char *in, int64_t n)
{
    const la_reduce_plan *f = &l->reduction;
    la_reduce_rows r = {in, f->esize, n, 0, 1};
    f->kernel->inner(&r, partial_of(w, index, piece, f->kernel->acc_size),
                     &f->args);
}

/* Elements first..first+n-1 of the chain, box by box. */
static void run_boxes(const walk *w, int line, int end, int64_t first,
                      int64_t n, la_fuse_box *x)
{
    la_dim_counter c;
    int64_t step[2];
    for (int k = 0; k < w->p->noperands; k++) {
        x->inner[k] = w->ndim > 0 ? w->steps[0][k] : 0;
        x->outer[k] = w->ndim > 1 ? w->steps[1][k] : 0;
    }
    la_dim_counter_init(&c, w->ndim, w->shape, first, first + n);
    while (la_dim_counter_step(&c, step)) {
        fused_rows_locate(w, c.offset, x->data);
        x->at = c.offset - first;
        x->n0 = step[0];
        x->n1 = step[1];
        la_fuse_run_box(w->p, line, end, x);
        la_dim_counter_advance(&c, step);
    }
}

static void run_piece(walk *w, int64_t piece, char *registers)
{
    const la_fuse_plan *p = w->p;
    int64_t n = p->z->n, at = piece % w->cuts * LA_REDUCE_CHUNK;
    int64_t first = piece / w->cuts * n + at, index = 0;
    n = n - at < LA_REDUCE_CHUNK ? n - at : LA_REDUCE_CHUNK;
    for (int k = 0; k < p->nlines; k++) {
        const la_fuse_line *l = &p->lines[k];
        int end = end_of_group(p, k);
        if (end > k) {
            la_fuse_box x = {.registers = registers};
            run_boxes(w, k, end, first, n, &x);
            k = end - 1;
            continue;
        }
        const la_fuse_location *a = &l->at[1];
        const char *in = a->kind == LA_IN_REGISTER
            ? registers + p->registers[a->index].start
            : la_data(p->operands[a->index].tensor)
                + first * l->reduction.esize;
        reduce_piece(w, l, (int)index++, piece, in, n);
    }
}

static void walk_pieces(int64_t begin, int64_t end, void *context)
{
    walk *w = context;
    la_fuse_plan *p = w->p;
    int slot = la_fuse_take_slot(p);
    char *registers = p->arenas + slot * p->arena_bytes;
    for (int64_t i = begin; i < end && !la_interrupted(); i++)
        run_piece(w, i, registers);
    la_fuse_give_slot(p, slot);
}

static void fused_rows_join_all(const walk *w)
{
    const la_fuse_plan *p = w->p;
    int index = 0;
    for (int k = 0; k < p->nlines; k++) {
        const la_fuse_line *l = &p->lines[k];
        if (l->kind != LA_STEP_REDUCE) continue;
        const la_tensor *out = p->operands[l->at[0].index].tensor;
        int size = l->reduction.kernel->acc_size;
        int64_t item = (int64_t)la_itemsize(out);
        for (int64_t r = 0; r < p->z->rows; r++)
            la_reduce_join(&l->reduction,
                           partial_of(w, index, r * w->cuts, size),
                           w->cuts, la_data(out) + r * item);
        index++;
    }
}

static la_status long_rows(walk *w)
{
    la_fuse_plan *p = w->p;
    const la_fused *z = p->z;
    int64_t grain = p->nlines > 3 ? 1 : 4 / p->nlines;
    int nreductions = 0;
    for (int k = 0; k < p->nlines; k++)
        nreductions += p->lines[k].kind == LA_STEP_REDUCE;
    find_dims(w, false);
    w->cuts = (z->n + LA_REDUCE_CHUNK - 1) / LA_REDUCE_CHUNK;
    LA_TRY(la_fuse_make_arenas(p, LA_REDUCE_CHUNK, 0, la_num_threads()));
    int64_t pieces = z->rows * w->cuts;
    int64_t bytes = nreductions * pieces * ACC_BYTES;
    if (!(w->partial = la_mem_alloc((size_t)bytes))) return LA_ENOMEM;
    la_parallel_for(pieces, grain, walk_pieces, w);
    if (!la_interrupted()) fused_rows_join_all(w);
    la_mem_free(w->partial, (size_t)bytes);
    return LA_OK;
}

la_status la_fuse_run_rows(la_fuse_plan *p)
{
    walk w;
    w.p = p;
    LA_TRY(p->z->n > LA_FUSE_ROW ? long_rows(&w) : fused_rows_whole_rows(&w));
    return la_poll();
}
