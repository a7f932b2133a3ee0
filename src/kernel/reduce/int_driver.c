/*
** The driver of integer reductions over columns (integers.h): one copy for
** sums, products and extremes of all dtypes.
**
** Columns are reduced in strips of whole vectors, STRIP_ROWS rows at a time, so
** that the partial accumulators are loaded and stored once for many rows.
** Columns with gaps, and fewer than a vector holds, are copied to a tile first.
*/
#include "kernel/reduce/integers.h"

#include "base/scratch.h"

enum {
    STRIP_ROWS = 16,
    INT_SIDE = 1024,      /* columns with partial accumulators of their own */
    TILE_ROWS = 8, TILE_SIDE = 256
};

/* Contiguous columns, at least 'lanes' and at most INT_SIDE, of at most
** INT_DEEP rows. 'fresh': the accumulators hold nothing yet; where they are
** partial accumulators too, they are used as such. The columns after the last
** whole vector are the end of a vector that goes back over its neighbours. */
static void int_dense_columns(const la_int_kind *k, const la_reduce_cols *c,
                              bool fresh, char *acc)
{
    LA_SCRATCH(char, partial, INT_SIDE * 8);
    char last[VEC_BYTES] __attribute__((aligned(64)));
    const int64_t whole = c->cols / k->lanes * k->lanes;
    const int64_t left = c->cols - whole, row = c->row_step;
    const int64_t back = (c->cols - k->lanes) * k->size;
    const bool direct = fresh && k->part == k->acc;
    char *part = direct ? acc : partial;
    const char *in = c->in;
    for (int64_t r = 0, m; r < c->rows; r += m, in += m * row) {
        m = c->rows - r < STRIP_ROWS ? c->rows - r : STRIP_ROWS;
        k->strips(in, row, m, whole, r == 0, part);
        if (left > 0) k->strips(in + back, row, m, k->lanes, r == 0, last);
    }
    if (left > 0)
        memcpy(part + whole * k->part, last + (k->lanes - left) * k->part,
               (size_t)(left * k->part));
    if (direct) return;
    if (fresh) k->fill(acc, c->cols);
    k->combine(acc, part, c->cols);
}

/* Columns with gaps, or fewer than a vector holds: one by one where there are
** few, else copied to a tile. */
static void int_sparse_columns(const la_int_kind *k, const la_reduce_cols *c,
                               bool fresh, char *acc)
{
    LA_SCRATCH(char, tile, TILE_ROWS * TILE_SIDE * 8);
    LA_SCRATCH(char, part, TILE_SIDE * 8);
    const int64_t cols = (c->cols + k->lanes - 1) / k->lanes * k->lanes;
    const char *in = c->in;
    if (fresh) k->fill(acc, c->cols);
    if (c->cols < 8) {
        for (int64_t j = 0; j < c->cols; j++)
            k->few(in + j * c->step, c->row_step, c->rows, acc + j * k->acc);
        return;
    }
    for (int64_t r = 0, m; r < c->rows; r += m) {
        m = c->rows - r < TILE_ROWS ? c->rows - r : TILE_ROWS;
        for (int64_t i = 0; i < m; i++, in += c->row_step)
            reduce_gather_by_size(tile + i * TILE_SIDE * k->size, in, c->step,
                                  c->cols, k->size);
        k->strips(tile, TILE_SIDE * k->size, m, cols, r == 0, part);
    }
    k->combine(acc, part, c->cols);
}

/* la_int_driver.outer */
static void int_columns(const la_int_kind *k, const la_reduce_cols *c,
                        char *acc)
{
    const bool dense = c->step == k->size && c->cols >= k->lanes;
    int64_t side = dense ? INT_SIDE : TILE_SIDE;
    if (c->rows < 1) k->fill(acc, c->cols);
    if (dense && c->rows <= STRIP_ROWS && c->cols % k->lanes == 0
        && k->part == k->acc) {
        k->strips(c->in, c->row_step, c->rows, c->cols, true, acc);
        return;
    }
    for (int64_t j = 0, n; j < c->cols; j += n) {
        n = c->cols - j < side ? c->cols - j : side;
        /* the rest of a side is no narrower than a vector */
        if (dense && n == side && c->cols - j - n < k->lanes) n -= k->lanes;
        for (int64_t r = 0; r < c->rows; r += INT_DEEP) {
            la_reduce_cols t = *c;
            t.in += r * c->row_step + j * c->step;
            t.rows = c->rows - r < INT_DEEP ? c->rows - r : INT_DEEP;
            t.cols = n;
            (dense ? int_dense_columns : int_sparse_columns)(
                k, &t, r == 0, acc + j * k->acc);
        }
    }
}

const la_int_driver LA_KERNEL(reduce_int) = {int_columns};
