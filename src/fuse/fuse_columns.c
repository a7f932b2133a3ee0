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

/* Registers for all operands, and two more? */
static bool columns_has_registers(const la_fuse_plan *p)
{
    return p->nregisters + p->noperands + 2
        <= (int)(sizeof p->registers / sizeof *p->registers);
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

/* Can the line go by columns? A reduction reads columns, packed or computed. */
static bool columns_line_suits(const la_fuse_plan *p, const la_fuse_line *l)
{
    if (l->kind != LA_STEP_REDUCE) return true;
    const la_fuse_location *in = &l->at[1];
    if (in->kind == LA_IN_OPERAND && p->columns.packed[in->index] < 0)
        return false;
    return in->kind != LA_IN_SCALAR && columns_combine(&l->reduction);
}

/* Registers are added while operands are looked at, and taken back where a line
** does not suit after all. A unit is as many rows as keep all registers within
** COLUMN_BYTES, so that a line finds the values of the one before it in the
** nearest cache. */
bool la_fuse_find_columns(la_fuse_plan *p, const int64_t *inner,
                          const int64_t *outer, int64_t n, int64_t rows)
{
    la_fuse_columns *c = &p->columns;
    int64_t bytes = 0, most = COLUMN_ROWS;
    int before = p->nregisters;
    c->unit = 0;
    c->n = n;
    if ((n != 2 && n != 3) || rows < COLUMN_LEAST || p->packs
        || !columns_has_registers(p)) return false;
    for (int k = 0; k < p->noperands; k++) {
        int64_t size = columns_size(p, k);
        c->packed[k] = -1;
        if (inner[k] == 0 || outer[k] == 0) continue;
        c->loads[k] = k >= p->noutputs || columns_is_read(p, k);
        c->packed[k] = la_fuse_add_register(p, size);
    }
    for (int i = 0; i < p->nlines; i++)
        if (!columns_line_suits(p, &p->lines[i])) {
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

/* The register's elements. */
static char *columns_at(const la_fuse_plan *p, const la_fuse_box *x, int r)
{
    return x->registers + p->registers[r].start;
}

/* Address of a line's operand, and its steps from row to row and from column
** to column. */
static char *columns_locate(const la_fuse_plan *p, const la_fuse_box *x,
                            const la_fuse_location *a, int64_t *s0,
                            int64_t *s1)
{
    const la_fuse_columns *c = &p->columns;
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

/* A line of single elements: one run where the columns follow each other
** without a gap, else one run for each. One of rows runs over a column. */
static void columns_run_each(const la_fuse_plan *p, const la_fuse_line *l,
                             const la_fuse_box *x)
{
    char *data[1 + LA_FUSE_SOURCES];
    int64_t strides[2 * (1 + LA_FUSE_SOURCES)];
    bool together = true;
    for (int k = 0; k < l->n; k++) {
        int64_t *s0 = &strides[k], *s1 = &strides[l->n + k];
        data[k] = columns_locate(p, x, &l->at[k], s0, s1);
        together &= *s1 == *s0 * x->n1;
    }
    if (l->kind == LA_STEP_ROW) l->loop(data, strides, x->n1, 1, l->params);
    else if (together)
        l->loop(data, strides, x->n0 * x->n1, 1, l->params);
    else l->loop(data, strides, x->n1, x->n0, l->params);
}

/* Extremes of short rows are those of columns, one after another. In a sum the
** first column takes the third and the second one, as the halving of a short
** row's lanes does. These begin with the identity, which tells in one case
** alone: 0 + -0 is 0. */
static void columns_run_reduce(const la_fuse_plan *p, const la_fuse_line *l,
                               const la_fuse_box *x)
{
    const la_reduce_plan *f = &l->reduction;
    size_t bytes = (size_t)(x->n1 * f->esize);
    int64_t s0, s1;
    const char *in = columns_locate(p, x, &l->at[1], &s0, &s1);
    char *lane = columns_at(p, x, p->columns.lanes[0]);
    bool sum = columns_is_sum(f), third = x->n0 == 3;
    memcpy(lane, in, bytes);
    if (third && sum) f->kernel->combine(lane, in + 2 * s1, x->n1);
    f->kernel->combine(lane, in + s1, x->n1);
    if (third && !sum) f->kernel->combine(lane, in + 2 * s1, x->n1);
    if (sum) {
        char *zeros = columns_at(p, x, p->columns.lanes[1]);
        memset(zeros, 0, bytes);
        f->kernel->combine(lane, zeros, x->n1);
    }
    char *out = columns_locate(p, x, &l->at[0], &s0, &s1);
    f->kernel->store(lane, out, x->n1, &f->args);
}

void la_fuse_run_columns(const la_fuse_plan *p, const la_fuse_box *x,
                         const char **last)
{
    const la_fuse_columns *c = &p->columns;
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
            columns_run_reduce(p, &p->lines[i], x);
        else columns_run_each(p, &p->lines[i], x);
    for (int k = 0; k < p->noutputs; k++) {
        if (c->packed[k] < 0) continue;
        la_reduce_rows r = {x->data[k], x->inner[k], x->n0, x->outer[k], x->n1};
        LA_STUB(reduce_transpose)->back(columns_at(p, x, c->packed[k]),
                                        columns_size(p, k), c->unit, &r);
    }
}

/* ---- without reductions ---- */

/* A register repeats what is one for each row, or the same row for all; then a
** unit of rows is one run for all lines. */
void la_fuse_find_points(la_fuse_plan *p, const la_iter *it)
{
    la_fuse_columns *c = &p->columns;
    int64_t n = it->shape[0];
    int before = p->nregisters;
    bool suits = it->ndim > 1 && (n == 2 || n == 3) && !p->packs
        && it->shape[1] >= COLUMN_LEAST && columns_has_registers(p);
    c->unit = 0;
    c->n = n;
    for (int k = 0; k < p->noperands && suits; k++) {
        int64_t inner = it->op[k].strides[0], outer = it->op[k].strides[1];
        int64_t size = columns_size(p, k);
        c->packed[k] = -1;
        if ((inner == 0) != (outer == 0))
            c->packed[k] = la_fuse_add_register(p, size);
        else suits = outer == inner * n;
        suits &= inner == 0 || inner == size;
    }
    if (!suits || p->nregisters == before) {
        p->nregisters = before;
        return;
    }
    c->unit = p->block / n;
}

/* Operand k of the box as elements for a unit of rows. */
static void columns_repeat(const la_fuse_plan *p, const la_fuse_box *x, int k,
                           int64_t rows, char *out)
{
    int64_t size = columns_size(p, k), n = x->n0;
    la_reduce_rows r = {out, size, n, size * n, rows};
    if (x->inner[k] == 0 && x->outer[k] == size)
        LA_STUB(reduce_transpose)->back(x->data[k], size, 0, &r);
    else for (int64_t i = 0; i < rows * n; i++)
        memcpy(out + i * size, x->data[k] + i / n * x->outer[k]
               + i % n * x->inner[k], (size_t)size);
}

void la_fuse_run_points(const la_fuse_plan *p, la_fuse_box *x)
{
    const la_fuse_columns *c = &p->columns;
    la_fuse_box y = {.n1 = 1, .registers = x->registers};
    int64_t rows = x->n1, some;
    for (int64_t i = 0; i < rows; i += some) {
        some = rows - i < c->unit ? rows - i : c->unit;
        y.n0 = some * x->n0;
        for (int k = 0; k < p->noperands; k++) {
            y.inner[k] = x->inner[k] || x->outer[k] ? columns_size(p, k) : 0;
            y.data[k] = c->packed[k] < 0 ? x->data[k]
                : columns_at(p, x, c->packed[k]);
            if (c->packed[k] >= 0 && (i == 0 || x->outer[k]))
                columns_repeat(p, x, k, some, y.data[k]);
            x->data[k] += some * x->outer[k];
        }
        la_fuse_run_box(p, 0, p->nlines, &y);
    }
}
