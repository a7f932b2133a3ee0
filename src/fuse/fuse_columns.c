/*
** Rows of two or three elements (points): a unit of rows goes through the lines
** as columns, the first elements of all rows, then the second ones. So loops
** run over many elements, and what is one for each row needs no repeating.
**
** What lies in rows outside is packed into a register on its way in, and
** unpacked on its way out. Reductions combine the columns in the order in which
** the kernel combines the lanes of a short row, so the bits are the same.
*/
#include "fuse/fuse_plan.h"

#define COLUMN_BYTES 40960    /* of all registers */
#define COLUMN_ROWS 1024      /* at most, and at least: */
#define COLUMN_LEAST 32

LA_STUB_DECLARE(la_reductions, reduce_sum);
LA_STUB_DECLARE(la_reductions, reduce_max);
LA_STUB_DECLARE(la_reductions, reduce_min);

static bool columns_is_sum(const la_reduce_plan *r)
{
    return r->kernel == &(*LA_STUB(reduce_sum))[LA_FLOAT32]
        || r->kernel == &(*LA_STUB(reduce_sum))[LA_FLOAT64];
}

/* Sums and extremes of elements that are their own accumulators. */
static bool columns_combine(const la_reduce_plan *r)
{
    la_dtype d = r->esize == 4 ? LA_FLOAT32 : LA_FLOAT64;
    return columns_is_sum(r) || r->kernel == &(*LA_STUB(reduce_max))[d]
        || r->kernel == &(*LA_STUB(reduce_min))[d];
}

static int64_t columns_size(const la_fuse_plan *p, int k)
{
    return (int64_t)la_itemsize(p->operands[k].tensor);
}

/* Is output k read before a line writes it? */
static bool columns_is_read(const la_fuse_plan *p, int k)
{
    for (int i = 0; i < p->nlines; i++) {
        const la_fuse_line *l = &p->lines[i];
        for (int j = 1; j < l->n; j++)
            if (l->at[j].kind == LA_IN_OPERAND && l->at[j].index == k)
                return true;
        if (l->at[0].kind == LA_IN_OPERAND && l->at[0].index == k)
            return false;
    }
    return false;
}

static bool columns_line_suits(const la_fuse_plan *p, const la_fuse_columns *c,
                               const la_fuse_line *l)
{
    if (l->kind != LA_STEP_REDUCE) return true;
    const la_fuse_location *in = &l->at[1];
    if (in->kind == LA_IN_OPERAND && c->packed[in->index] < 0) return false;
    return in->kind != LA_IN_SCALAR && columns_combine(&l->reduction);
}

bool la_fuse_find_columns(la_fuse_plan *p, const int64_t *inner,
                          const int64_t *outer, int64_t n, int64_t rows,
                          la_fuse_columns *c)
{
    int64_t bytes = 0, most = COLUMN_ROWS;
    int before = p->nregisters;
    c->unit = 0;
    if ((n != 2 && n != 3) || rows < COLUMN_LEAST || p->packs) return false;
    for (int k = 0; k < p->noperands; k++) {
        int64_t size = columns_size(p, k);
        c->packed[k] = -1;
        if (inner[k] == 0 || outer[k] == 0) continue;
        c->loads[k] = k >= p->noutputs || columns_is_read(p, k);
        c->packed[k] = la_fuse_add_register(p, size);
    }
    for (int i = 0; i < p->nlines; i++)
        if (!columns_line_suits(p, c, &p->lines[i])) {
            p->nregisters = before;
            return false;
        }
    for (int k = 0; k < 2; k++) {
        c->lanes[k] = la_fuse_add_register(p, 8);
        p->registers[c->lanes[k]].extent = LA_HOLDS_RESULTS;
    }
    for (int r = 0; r < p->nregisters; r++)
        bytes += p->registers[r].size
            * (p->registers[r].extent == LA_HOLDS_RESULTS ? 1 : n);
    if (COLUMN_BYTES / bytes < most) most = COLUMN_BYTES / bytes;
    if (rows < most) most = rows + COLUMN_LEAST - 1;
    c->unit = most / COLUMN_LEAST * COLUMN_LEAST;
    if (c->unit < COLUMN_LEAST) c->unit = COLUMN_LEAST;
    return true;
}

/* ---- a unit of rows ---- */

static char *columns_at(const la_fuse_plan *p, const la_fuse_box *x, int r)
{
    return x->registers + p->registers[r].start;
}

/* Address of a line's operand, and its steps from row to row and from column
** to column. */
static char *columns_locate(const la_fuse_plan *p, const la_fuse_columns *c,
                            const la_fuse_box *x, const la_fuse_location *a,
                            int64_t *s0, int64_t *s1)
{
    *s0 = *s1 = 0;
    if (a->kind == LA_IN_SCALAR) return a->scalar;
    if (a->kind == LA_IN_OPERAND && c->packed[a->index] < 0) {
        *s0 = x->outer[a->index];
        *s1 = x->inner[a->index];
        return x->data[a->index];
    }
    int r = a->kind == LA_IN_OPERAND ? c->packed[a->index] : a->index;
    const la_fuse_register *g = &p->registers[r];
    *s0 = g->size;
    *s1 = g->extent == LA_HOLDS_RESULTS ? 0 : g->size * c->unit;
    return columns_at(p, x, r);
}

static void columns_run_each(const la_fuse_plan *p, const la_fuse_columns *c,
                             const la_fuse_line *l, const la_fuse_box *x)
{
    char *data[1 + LA_FUSE_SOURCES];
    int64_t strides[2 * (1 + LA_FUSE_SOURCES)];
    bool together = true;
    for (int k = 0; k < l->n; k++) {
        int64_t *s0 = &strides[k], *s1 = &strides[l->n + k];
        data[k] = columns_locate(p, c, x, &l->at[k], s0, s1);
        together &= *s1 == *s0 * x->n1;
    }
    if (l->kind == LA_STEP_ROW) l->loop(data, strides, x->n1, 1, l->params);
    else if (together)
        l->loop(data, strides, x->n0 * x->n1, 1, l->params);
    else l->loop(data, strides, x->n1, x->n0, l->params);
}

/* The first column takes the third and the second one, as the halving of a
** short row's lanes does. These begin with the identity, which tells in one
** case alone: 0 + -0 is 0. */
static void columns_run_reduce(const la_fuse_plan *p, const la_fuse_columns *c,
                               const la_fuse_line *l, const la_fuse_box *x)
{
    const la_reduce_plan *f = &l->reduction;
    size_t bytes = (size_t)(x->n1 * f->esize);
    int64_t s0, s1;
    const char *in = columns_locate(p, c, x, &l->at[1], &s0, &s1);
    char *lane = columns_at(p, x, c->lanes[0]);
    memcpy(lane, in, bytes);
    if (x->n0 == 3) f->kernel->combine(lane, in + 2 * s1, x->n1);
    f->kernel->combine(lane, in + s1, x->n1);
    if (columns_is_sum(f)) {
        char *zeros = columns_at(p, x, c->lanes[1]);
        memset(zeros, 0, bytes);
        f->kernel->combine(lane, zeros, x->n1);
    }
    char *out = columns_locate(p, c, x, &l->at[0], &s0, &s1);
    f->kernel->store(lane, out, x->n1, &f->args);
}

void la_fuse_run_columns(const la_fuse_plan *p, const la_fuse_columns *c,
                         const la_fuse_box *x, const char **last)
{
    for (int k = 0; k < p->noperands; k++) {
        if (c->packed[k] < 0 || !c->loads[k]) continue;
        la_reduce_rows r = {x->data[k], x->inner[k], x->n0, x->outer[k], x->n1};
        bool same = k >= p->noutputs && last[2 * k] == x->data[k]
            && last[2 * k + 1] == x->data[k] + x->n1;
        last[2 * k] = x->data[k];
        last[2 * k + 1] = x->data[k] + x->n1;
        if (!same)
            LA_STUB(reduce_transpose)->rows(&r, columns_size(p, k), c->unit,
                                      columns_at(p, x, c->packed[k]));
    }
    for (int i = 0; i < p->nlines; i++)
        if (p->lines[i].kind == LA_STEP_REDUCE)
            columns_run_reduce(p, c, &p->lines[i], x);
        else columns_run_each(p, c, &p->lines[i], x);
    for (int k = 0; k < p->noutputs; k++) {
        if (c->packed[k] < 0) continue;
        la_reduce_rows r = {x->data[k], x->inner[k], x->n0, x->outer[k], x->n1};
        LA_STUB(reduce_transpose)->back(columns_at(p, x, c->packed[k]),
                                        columns_size(p, k), c->unit, &r);
    }
}
