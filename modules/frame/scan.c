/* A value for each row that depends on the rows of its part. */
#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

/* Walks over the parts' rows, in order; 'at' counts them within a part. */
#define SCAN_PARTS(p, k, from, to) \
    for (int64_t k = 0, from, to; k < (p)->count \
         && (from = (p)->offsets ? (p)->offsets[k] : 0, \
             to = (p)->offsets ? (p)->offsets[k + 1] : (p)->n, true); k++)

/* Without a list of rows the parts are the table as it stands. */
static inline int32_t scan_row(const la_table_parts *p, int64_t i)
{
    return p->rows ? p->rows[i] : (int32_t)i;
}

/* ---- running values ---- */

/* Sums are plain here: each running value is the one above it plus its own row,
** rounded once. */
static inline double scan_double(la_table_scan scan, double v, double x)
{
    switch (scan) {
    case LA_TABLE_CUMSUM: return v + x;
    case LA_TABLE_CUMPROD: return v * x;
    case LA_TABLE_CUMMAX: return x > v ? x : v;
    default: return x < v ? x : v;
    }
}

/* Rows of no part, and gaps, have NaN; a gap does not end the sum, the next
** value goes on from the last one. */
la_status la_table_scan_doubles(const la_table_column *c,
                                const la_table_parts *p, la_table_scan scan,
                                double *out)
{
    double x;
    for (int64_t i = 0; i < c->n; i++) out[i] = NAN;
    SCAN_PARTS (p, k, from, to) {
        double v = 0;
        bool any = false;
        for (int64_t i = from; i < to; i++) {
            int32_t row = scan_row(p, i);
            la_table_doubles(c, row, 1, &x);
            if (x != x) continue;
            out[row] = v = any ? scan_double(scan, v, x) : x;
            any = true;
        }
    }
    return la_poll();
}

/* Sums wrap by way of unsigned arithmetic, as overflow of signed integers is
** undefined in C. */
static inline int64_t scan_integer(la_table_scan scan, int64_t v, int64_t x)
{
    switch (scan) {
    case LA_TABLE_CUMSUM: return (int64_t)((uint64_t)v + (uint64_t)x);
    case LA_TABLE_CUMPROD: return (int64_t)((uint64_t)v * (uint64_t)x);
    case LA_TABLE_CUMMAX: return x > v ? x : v;
    default: return x < v ? x : v;
    }
}

la_status la_table_scan_integers(const la_table_column *c,
                                 const la_table_parts *p, la_table_scan scan,
                                 int64_t *out)
{
    memset(out, 0, (size_t)c->n * sizeof *out);
    SCAN_PARTS (p, k, from, to) {
        int64_t v = 0;
        for (int64_t i = from; i < to; i++) {
            int32_t row = scan_row(p, i);
            int64_t x = la_table_integer(c, row);
            out[row] = v = i > from ? scan_integer(scan, v, x) : x;
        }
    }
    return la_poll();
}

/* ---- rows ---- */

/* A shift further than the table is long is settled first: i - by could
** overflow otherwise. */
la_status la_table_shift(const la_table_parts *p, int64_t by, int32_t *out)
{
    for (int64_t i = 0; i < p->n; i++) out[i] = -1;
    if (by >= p->n || by <= -p->n) return LA_OK;
    SCAN_PARTS (p, k, from, to) {
        for (int64_t i = from; i < to; i++)
            if (i - by >= from && i - by < to)
                out[scan_row(p, i)] = scan_row(p, i - by);
    }
    return la_poll();
}

/* The rows that values come from, not the values: one walk serves columns of
** every dtype, and la_table_take then copies. */
la_status la_table_fill(const la_table_column *c, const la_table_parts *p,
                        bool back, int32_t *out)
{
    uint64_t key;
    bool may_gap = la_table_may_gap(c);
    for (int64_t i = 0; i < p->n; i++) out[i] = -1;
    SCAN_PARTS (p, k, from, to) {
        int32_t last = -1;
        for (int64_t j = 0; j < to - from; j++) {
            int32_t row = scan_row(p, back ? to - 1 - j : from + j);
            la_table_keys(c, row, 1, &key);
            if (!may_gap || key != LA_TABLE_GAP) last = row;
            out[row] = last;
        }
    }
    return la_poll();
}

la_status la_table_number(const la_table_parts *p, int64_t *out)
{
    memset(out, 0, (size_t)p->n * sizeof *out);
    SCAN_PARTS (p, k, from, to)
        for (int64_t i = from; i < to; i++)
            out[scan_row(p, i)] = i - from + 1;
    return la_poll();
}

/* ---- ranks ---- */

/* Rank of those that tie: n rows that come behind 'before' others, of 'dense'
** different values. */
static double scan_tie(la_table_ties ties, int64_t before, int64_t dense,
                       int64_t n, int64_t k)
{
    switch (ties) {
    case LA_TABLE_LEAST: return (double)(before + 1);
    case LA_TABLE_MOST: return (double)(before + n);
    case LA_TABLE_DENSE: return (double)(dense + 1);
    case LA_TABLE_AS_MET: return (double)(before + k + 1);
    default: return (double)before + (double)(n + 1) / 2;
    }
}

/* Ranks of rows that are sorted by group and value. */
static void scan_ranks(const la_table_column *c, const int32_t *ids,
                       const int32_t *rows, la_table_ties ties, double *out)
{
    bool may_gap = la_table_may_gap(c);
    int64_t before = 0, dense = 0;
    int32_t group = -2;
    for (int64_t i = 0, end; i < c->n; i = end) {
        uint64_t key, next;
        int32_t g = ids ? ids[rows[i]] : 0;
        if (g != group) before = dense = 0;
        group = g;
        la_table_keys(c, rows[i], 1, &key);
        for (end = i + 1; end < c->n; end++) {
            la_table_keys(c, rows[end], 1, &next);
            if (next != key || (ids && ids[rows[end]] != g)) break;
        }
        bool none = g < 0 || (may_gap && key == LA_TABLE_GAP);
        for (int64_t k = i; k < end; k++)
            out[rows[k]] = none ? NAN : scan_tie(ties, before, dense, end - i,
                                                 k - i);
        before += end - i;
        dense++;
    }
}

/* Sorted by group and value, ties are runs. The order is stable, so that the
** ranks LA_TABLE_AS_MET follow the rows. */
la_status la_table_rank(const la_table_column *c, const int32_t *ids,
                        la_table_ties ties, bool descending, double *out)
{
    LA_TABLE_OWN block = {NULL, 0};
    la_table_key keys[2] = {{.column = {ids, LA_INT32, LA_TABLE_NUMBER, c->n}},
                            {.column = *c, .descending = descending}};
    LA_TRY(la_table_alloc(&block, c->n, sizeof(int32_t), false));
    LA_TRY(ids ? la_table_order(keys, 2, c->n, block.p)
               : la_table_order(keys + 1, 1, c->n, block.p));
    scan_ranks(c, ids, block.p, ties, out);
    return la_poll();
}
