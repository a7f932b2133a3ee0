/* The driver of floating reductions; see float_driver.h. */
#include "kernel/reduce/float_driver.h"

#include "base/scratch.h"

/* A row of any length: 'n' elements 'step' bytes apart; those with gaps are
** gathered. Lanes of blocks are combined from the first block to the last, and
** halved once at the end. */
static void line(const la_float_kind *k, const la_reduce_map *map,
                 const char *p, int64_t step, int64_t n, char *acc,
                 const la_reduce_args *args)
{
    char total[FLOAT_ROW] __attribute__((aligned(64)));
    char lanes[FLOAT_ROW] __attribute__((aligned(64)));
    LA_SCRATCH(char, gathered, FLOAT_BLOCK);
    const int64_t block = FLOAT_BLOCK / k->acc, row = FLOAT_ROW / k->acc;
    k->columns(p, 0, true, false, 0, row, total, args);
    for (int64_t i = 0; i < n; i += block) {
        int64_t m = n - i < block ? n - i : block;
        const char *from = p + i * step;
        if (map) reduce_map(map, from, step, m, gathered, args);
        else if (step != k->size)
            reduce_gather_by_size(gathered, from, step, m, k->size);
        if (map || step != k->size) from = gathered;
        k->blocks(from, 0, 1, m, true, lanes, args);
        k->combine(total, lanes, row);
    }
    k->ends(total, acc);
}

/* la_float_driver.inner. Rows of one block each go as many at a time as a
** vector has lanes: their horizontal sums (or extremes) share one transposing
** reduction (hsum_rows.h). */
static void inner(const la_float_kind *k, const la_reduce_rows *r, char *acc,
                  const la_reduce_args *args)
{
    char lanes[FLOAT_ROW] __attribute__((aligned(64)));
    char vectors[VEC_BYTES / 4 * VEC_BYTES] __attribute__((aligned(64)));
    const int64_t nl = VEC_BYTES / k->acc;
    const bool dense = r->step == k->size && r->n <= FLOAT_BLOCK / k->acc;
    const char *p = r->in;
    int64_t i = 0;
    for (; dense && i + nl <= r->rows; i += nl, p += nl * r->row_step) {
        k->blocks(p, r->row_step, nl, r->n, false, vectors, args);
        k->transposed(vectors, acc + i * k->acc);
    }
    for (; i < r->rows; i++, p += r->row_step) {
        if (!dense) {
            line(k, NULL, p, r->step, r->n, acc + i * k->acc, args);
            continue;
        }
        k->blocks(p, 0, 1, r->n, true, lanes, args);
        k->ends(lanes, acc + i * k->acc);
    }
}

/* Up to fifteen rows of fewer columns than a vector has lanes, as rows of whole
** vectors, whose other lanes are of no use. They are read in place as far as
** that does not leave the memory of the last of 'rows' rows. */
static void few_columns(const la_float_kind *k, const char *p, int64_t row,
                        int64_t rows, int64_t m, int64_t cols, bool fresh,
                        char *acc, const la_reduce_args *args)
{
    char tile[15 * VEC_BYTES] __attribute__((aligned(64)));
    const int64_t nl = VEC_BYTES / k->acc, wide = nl * k->size;
    if (row < 0 || (m - 1) * row + wide > (rows - 1) * row + cols * k->size) {
        for (int64_t i = 0; i < m; i++)
            memcpy(tile + i * wide, p + i * row, (size_t)(cols * k->size));
        p = tile;
        row = wide;
    }
    k->columns(p, row, fresh, m >= 8, m & 7, nl, acc, args);
}

/* All rows of columns without gaps. 'fresh': the accumulators hold nothing
** yet. */
static void columns(const la_float_kind *k, const char *p, int64_t row,
                    int64_t rows, int64_t cols, bool fresh, char *acc,
                    const la_reduce_args *args)
{
    char last[VEC_BYTES] __attribute__((aligned(64)));
    const int64_t nl = VEC_BYTES / k->acc;
    const int64_t whole = cols / nl * nl, left = cols - whole;
    const int64_t back = whole > 0 ? cols - nl : 0;
    if (left > 0 && !fresh)
        memcpy(last, acc + back * k->acc, (size_t)((cols - back) * k->acc));
    for (int64_t m = 0; m < rows || fresh; fresh = false) {
        rows -= m;
        p += m * row;
        m = rows >= 16 ? 8 : rows;
        if (whole > 0)
            k->columns(p, row, fresh, m >= 8, m & 7, whole, acc, args);
        if (left > 0 && whole > 0)
            k->columns(p + back * k->size, row, fresh, m >= 8, m & 7, nl, last,
                       args);
        else if (left > 0)
            few_columns(k, p, row, rows, m, cols, fresh, last, args);
    }
    if (left > 0)
        memcpy(acc + whole * k->acc, last + (whole - back) * k->acc,
               (size_t)(left * k->acc));
}

/* 'columns' of mapped elements: as many rows as one pass takes are mapped, a
** tile of columns at a time. */
static void mapped_columns(const la_float_kind *k, const la_reduce_map *map,
                           const la_reduce_cols *c, char *acc,
                           const la_reduce_args *args)
{
    enum { SIDE = 256 };
    LA_SCRATCH(char, tile, 15 * SIDE * 8);
    la_reduce_cols part = *c;
    int64_t left = c->rows;
    do {
        part.rows = left >= 16 ? 8 : left;
        for (int64_t j = 0; j < c->cols; j += SIDE) {
            la_reduce_cols t = part;
            t.in += j * c->step;
            t.cols = c->cols - j < SIDE ? c->cols - j : SIDE;
            reduce_map_tile(map, &t, tile, args);
            columns(k, tile, t.cols * k->acc, t.rows, t.cols, left == c->rows,
                    acc + j * k->acc, args);
        }
        part.in += part.rows * c->row_step;
        left -= part.rows;
    } while (left > 0);
}

static void dense_columns(const la_float_kind *k, const la_reduce_map *map,
                          const la_reduce_cols *c, char *acc,
                          const la_reduce_args *args)
{
    if (map) mapped_columns(k, map, c, acc, args);
    else columns(k, c->in, c->row_step, c->rows, c->cols, true, acc, args);
}

/* Fewer columns than a logical row has lanes, without gaps: 'side' rows (a
** power of two) are taken as one wide row; its columns that are the same column
** of the input are combined by halving, and with the rows that are left. */
static void driver_narrow(const la_float_kind *k, const la_reduce_map *map,
                          const la_reduce_cols *c, char *acc,
                          const la_reduce_args *args)
{
    char wide[2 * FLOAT_ROW] __attribute__((aligned(64)));
    char rest[FLOAT_ROW] __attribute__((aligned(64)));
    int64_t side = 1, cols = c->cols;
    while (side * cols * k->acc < FLOAT_ROW) side *= 2;
    int64_t rows = c->rows / side, done = rows * side;
    la_reduce_cols w = {c->in, side * c->row_step, rows, c->step, side * cols};
    la_reduce_cols r = {c->in + done * c->row_step, c->row_step,
                        c->rows - done, c->step, cols};
    dense_columns(k, map, &w, wide, args);
    dense_columns(k, map, &r, rest, args);
    for (int64_t h = side / 2 * cols; h >= cols; h /= 2)
        k->combine(wide, wide + h * k->acc, h);
    k->combine(wide, rest, cols);
    memcpy(acc, wide, (size_t)(cols * k->acc));
}

/* la_float_driver.outer. The first case is that of short rows, transposed. */
static void outer(const la_float_kind *k, const la_reduce_map *map,
                  const la_reduce_cols *c, char *acc,
                  const la_reduce_args *args)
{
    const int64_t size = map ? map->size : k->size;
    if (!map && c->rows < 16 && c->cols * k->acc >= FLOAT_ROW
        && c->cols * k->acc % VEC_BYTES == 0)
        k->columns(c->in, c->row_step, true, c->rows >= 8, c->rows & 7,
                   c->cols, acc, args);
    else if (c->step == size && c->cols * k->acc < FLOAT_ROW
        && c->row_step == c->cols * size)
        driver_narrow(k, map, c, acc, args);
    else dense_columns(k, map, c, acc, args);
}

/* la_float_driver.mapped_inner: as many rows as a block holds are mapped
** together to a tile, longer ones in blocks. */
static void mapped_inner(const la_float_kind *k, const la_reduce_map *map,
                         const la_reduce_rows *r, char *acc,
                         const la_reduce_args *args)
{
    LA_SCRATCH(char, tile, FLOAT_BLOCK);
    const int64_t block = FLOAT_BLOCK / k->acc;
    int64_t some = r->n > block ? 1 : r->n == 0 ? r->rows : block / r->n;
    for (int64_t i = 0; i < r->rows; i += some) {
        int64_t m = r->rows - i < some ? r->rows - i : some;
        const char *p = r->in + i * r->row_step;
        if (r->n > block) {
            line(k, map, p, r->step, r->n, acc + i * k->acc, args);
            continue;
        }
        la_reduce_cols c = {p, r->row_step, m, r->step, r->n};
        la_reduce_rows rows = {tile, k->acc, r->n, r->n * k->acc, m};
        reduce_map_tile(map, &c, tile, args);
        k->inner(&rows, acc + i * k->acc, args);
    }
}

const la_float_driver LA_KERNEL(reduce_float) = {inner, mapped_inner, outer};
