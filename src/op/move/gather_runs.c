/*
** A tensor put together from runs of another: rolled, or with a border made of
** itself. Every element is moved once: rows of the result are made of pieces of
** one row of the source, and tables tell which row that is.
*/
#include "op/move/move.h"

#include "iter/items.h"
#include "kernel/move/elements.h"
#include "op/call.h"
#include "op/sort/order.h"

/* Bytes that one range has at least; rows of one call of the kernel. */
#define RUNS_GRAIN ((int64_t)128 << 10)
#define RUNS_ROWS 512
/* Bytes of a row whose pieces are moved one by one, by all threads. */
#define RUNS_LONG ((int64_t)4 << 20)

typedef struct plan {
    int ndim;                       /* outer dims; the last one is the row's */
    int64_t sizes[LA_MAX_DIMS];
    const int64_t *at[LA_MAX_DIMS]; /* source bytes of each index of a dim */
    char *to;
    const char *from;
    int64_t rows, row_bytes;
    int64_t every;                  /* not 0: all rows come in their order, so
                                       many bytes apart; at[0] has RUNS_ROWS */
    la_assemble assemble;
    la_piece pieces[3];
    int npieces;
} plan;

/* Is the dim taken as it is? */
static bool is_whole(const la_runs *r, int64_t size)
{
    return r->n == 1 && r->run[0].step == 1 && r->run[0].from == 0
        && r->run[0].n == size;
}

/* The dim's size in the result. */
static int64_t length_of(const la_runs *r)
{
    int64_t n = 0;
    for (int k = 0; k < r->n; k++) n += r->run[k].n;
    return n;
}

static bool steps_forward(const la_runs *r)
{
    for (int k = 0; k < r->n; k++)
        if (r->run[k].step != 1) return false;
    return true;
}

/* How many dims at the end are one row: whole dims join the one before, whose
** runs become longer by their size. */
static int row_dims(const la_tensor *t, const la_runs *dims)
{
    int d = t->ndim - 1;
    for (; d > 0 && is_whole(&dims[d], la_sizes(t)[d])
           && steps_forward(&dims[d - 1]); d--) { }
    return t->ndim - d;
}

/* The pieces of a row, in bytes; 'bytes' is one index of the row's first
** dim. */
static void set_pieces(plan *p, const la_runs *r, int64_t bytes, int64_t item)
{
    int64_t to = 0;
    for (int k = 0; k < r->n; k++) {
        int64_t n = r->run[k].n * bytes;
        p->pieces[k] = (la_piece){to, r->run[k].from * bytes,
                                  r->run[k].step * item, n / item};
        to += n;
    }
    p->npieces = r->n;
    p->row_bytes = to;
}

/* Table of byte offsets in the source for each index of a result's dim. */
static void set_table(int64_t *at, const la_runs *r, int64_t stride)
{
    for (int k = 0; k < r->n; k++)
        for (int64_t i = 0; i < r->run[k].n; i++)
            *at++ = (r->run[k].from + i * r->run[k].step) * stride;
}

/* The source bytes of row 'index', without those of the last outer dim. */
static int64_t outer_offset(const plan *p, int64_t index)
{
    int64_t at = 0;
    for (int d = p->ndim - 2; d >= 0; d--) {
        at += p->at[d][index % p->sizes[d]];
        index /= p->sizes[d];
    }
    return at;
}

/* Rows begin..end, as many in one call of the kernel as share their outer
** dims. */
static void run_rows(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    int64_t size = p->sizes[p->ndim - 1];
    const int64_t *at = p->at[p->ndim - 1];
    while (begin < end) {
        int64_t i = p->every ? 0 : begin % size, n = size - i;
        n = n < end - begin ? n : end - begin;
        n = n < RUNS_ROWS ? n : RUNS_ROWS;
        int64_t from = p->every ? begin * p->every
                                : outer_offset(p, begin / size);
        p->assemble(p->to + begin * p->row_bytes, p->row_bytes,
                    p->from + from, at + i, n, p->pieces, p->npieces);
        begin += n;
    }
}

/* Rows that are worth all threads, one after the other. */
static la_status run_long(const plan *p, size_t item)
{
    int64_t size = p->sizes[p->ndim - 1];
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t from = p->every ? r * p->every
            : outer_offset(p, r / size) + p->at[p->ndim - 1][r % size];
        for (int k = 0; k < p->npieces; k++) {
            const la_piece *c = &p->pieces[k];
            la_strided to = {.data = p->to + r * p->row_bytes + c->to};
            la_strided at = {.data = (char *)p->from + from + c->from};
            to.strides[0] = (int64_t)item;
            at.strides[0] = c->step;
            LA_TRY(la_move(&to, &at, 1, &c->n, item));
        }
    }
    return LA_OK;
}

/* A row of its own when there is no outer dim. */
static void no_outer(plan *p)
{
    static const int64_t start = 0;
    p->ndim = 1;
    p->sizes[0] = 1;
    p->at[0] = &start;
}

/* All rows in their order: one table of a few rows does for all. */
static void one_table(plan *p, la_tensor *from, int64_t row, int64_t *at)
{
    const la_runs some = {.n = 1, .run = {{.n = RUNS_ROWS, .step = 1}}};
    set_table(at, &some, row);
    p->every = row;
    p->rows = from->numel * (int64_t)la_itemsize(from) / row;
    p->ndim = 1;
    p->sizes[0] = RUNS_ROWS;
    p->at[0] = at;
}

/* A table for each outer dim. */
static void own_tables(plan *p, la_tensor *from, const la_runs *dims, int outer,
                       int64_t *at)
{
    p->ndim = outer;
    p->rows = 1;
    for (int d = 0; d < outer; d++) {
        p->at[d] = at;
        p->sizes[d] = length_of(&dims[d]);
        p->rows *= p->sizes[d];
        set_table(at, &dims[d],
                  la_strides(from)[d] * (int64_t)la_itemsize(from));
        at += p->sizes[d];
    }
    if (outer == 0) no_outer(p);
}

/* 'from' is contiguous. */
static la_status gather_run(plan *p, la_tensor *from, const la_runs *dims)
{
    LA_WORK tables = {NULL, 0};
    int64_t item = (int64_t)la_itemsize(from), bytes = item, count = 0;
    int row = row_dims(from, dims), outer = from->ndim - row;
    bool ordered = outer > 0;
    for (int d = outer + 1; d < from->ndim; d++) bytes *= la_sizes(from)[d];
    set_pieces(p, &dims[outer], bytes, item);
    for (int d = 0; d < outer; d++) {
        ordered = ordered && is_whole(&dims[d], la_sizes(from)[d]);
        count += length_of(&dims[d]);
    }
    if (ordered) count = RUNS_ROWS;
    LA_TRY(la_work_get(&tables, count, sizeof(int64_t)));
    if (ordered)
        one_table(p, from, bytes * la_sizes(from)[outer], tables.block);
    else
        own_tables(p, from, dims, outer, tables.block);
    if (p->row_bytes >= RUNS_LONG) return run_long(p, (size_t)item);
    int64_t grain = RUNS_GRAIN / (p->row_bytes + 1) + 1;
    return la_iter_items(p->rows, grain, grain * 16, run_rows, p);
}

/* Both as the result lies in memory: channels may come last. */
static la_status in_memory_order(la_tensor *t, bool channels_last,
                                 la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) {
        int k = channels_last && d > 0 ? d % (t->ndim - 1) + 1 : d;
        sizes[d] = la_sizes(t)[k];
        strides[d] = la_strides(t)[k];
    }
    return la_tensor_view(t, t->ndim, sizes, strides, t->offset, out);
}

/* Puts the runs in that order: those of the channels come last. */
static void rotate_runs(la_runs *dims, int ndim)
{
    la_runs channels = dims[1];
    for (int d = 1; d < ndim - 1; d++) dims[d] = dims[d + 1];
    dims[ndim - 1] = channels;
}

la_status la_move_runs(la_tensor *to, la_tensor *from, la_runs *dims)
{
    plan p = {.to = la_data(to)};
    bool last = !la_is_contiguous(to);
    if (to->numel == 0) return LA_OK;
    if (to->ndim == 0) return la_move_tensor(to, from);   /* no dims, no runs */
    if (last && to->ndim > 1) rotate_runs(dims, to->ndim);
    LA_LET(source, in_memory_order(from, last, &source));
    LA_LET(plain, la_run(contiguous, &plain, source));
    p.from = la_data(plain);
    p.assemble = (*LA_STUB(assemble))[__builtin_ctzll(la_itemsize(plain))];
    return gather_run(&p, plain, dims);
}
