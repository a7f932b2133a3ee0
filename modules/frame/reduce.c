/* One value for each group of rows: sums, extremes, quantiles. */
#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

/* Walks over blocks of a column; 'n' of them from 'i' on. Ids NULL: group 0. */
#define REDUCE_BLOCKS(c, i, m) \
    for (int64_t i = 0, m; (m = reduce_block(c, i)) > 0; i += m)

/* Elements of the next block; 0 at the end, and for a stop. */
static int64_t reduce_block(const la_table_column *c, int64_t i)
{
    int64_t left = c->n - i;
    if (i % (1 << 18) == 0 && i && la_interrupted()) return 0;
    return left < LA_TABLE_BLOCK ? left : LA_TABLE_BLOCK;
}

/* ---- rows ---- */

/* Is the row with key k better than the one that the group has? */
static inline bool reduce_better(la_table_pick pick, uint64_t k, uint64_t best)
{
    return pick == LA_TABLE_LAST || (pick == LA_TABLE_MIN && k < best)
        || (pick == LA_TABLE_MAX && k > best);
}

/* Rows rather than values, so that one function serves every dtype and the
** caller takes other columns of the same rows (idxmin). Of equal values the
** first row stays, because only a better one replaces it. */
la_status la_table_pick_rows(const la_table_column *c, const int32_t *ids,
                             int64_t count, la_table_pick pick, int32_t *rows)
{
    LA_TABLE_OWN block = {NULL, 0};
    uint64_t k[LA_TABLE_BLOCK];
    bool may_gap = la_table_may_gap(c);
    LA_TRY(la_table_alloc(&block, count, sizeof(uint64_t), false));
    uint64_t *best = block.p;
    for (int64_t g = 0; g < count; g++) rows[g] = -1;
    REDUCE_BLOCKS (c, i, m) {
        la_table_keys(c, i, m, k);
        for (int64_t j = 0; j < m; j++) {
            int32_t g = ids ? ids[i + j] : 0;
            if (g < 0 || (may_gap && k[j] == LA_TABLE_GAP)) continue;
            if (rows[g] >= 0 && !reduce_better(pick, k[j], best[g])) continue;
            rows[g] = (int32_t)(i + j);
            best[g] = k[j];
        }
    }
    return la_poll();
}

/* Columns without gaps need no keys: the count is that of the rows. */
la_status la_table_count(const la_table_column *c, const int32_t *ids,
                         int64_t count, int64_t *out)
{
    uint64_t k[LA_TABLE_BLOCK];
    bool may_gap = la_table_may_gap(c);
    memset(out, 0, (size_t)count * sizeof *out);
    REDUCE_BLOCKS (c, i, m) {
        if (may_gap) la_table_keys(c, i, m, k);
        for (int64_t j = 0; j < m; j++) {
            int32_t g = ids ? ids[i + j] : 0;
            if (g >= 0) out[g] += !may_gap || k[j] != LA_TABLE_GAP;
        }
    }
    return la_poll();
}

/* ---- sums ---- */

/* s + x, with what is lost in *low (Kahan and Babuska's way; none is lost of
** infinities). */
static inline double reduce_add(double s, double x, double *low)
{
    double t = s + x;
    if (fabs(t) <= 1.7976931348623157e308)
        *low += fabs(s) >= fabs(x) ? (s - t) + x : (x - t) + s;
    return t;
}

/* Block of values into the sums of their groups. */
static void reduce_sum_block(const double *x, const int32_t *ids, int64_t m,
                             double *out, double *low, int64_t *counts)
{
    for (int64_t j = 0; j < m; j++) {
        int32_t g = ids ? ids[j] : 0;
        if (g < 0 || x[j] != x[j]) continue;
        out[g] = reduce_add(out[g], x[j], &low[g]);
        counts[g]++;
    }
}

/* Products lose at most half a unit in each step, relative to themselves; they
** need no compensation. */
static void reduce_product_block(const double *x, const int32_t *ids,
                                 int64_t m, double *out, int64_t *counts)
{
    for (int64_t j = 0; j < m; j++) {
        int32_t g = ids ? ids[j] : 0;
        if (g < 0 || x[j] != x[j]) continue;
        out[g] *= x[j];
        counts[g]++;
    }
}

/* The compensation is added once, at the end: a group's sum has then the error
** of one rounding, whatever its length. NaN counts as a gap and is passed
** over. */
la_status la_table_sum(const la_table_column *c, const int32_t *ids,
                       int64_t count, bool prod, double *out, int64_t *counts)
{
    LA_TABLE_OWN block = {NULL, 0};
    double x[LA_TABLE_BLOCK];
    LA_TRY(la_table_alloc(&block, count, sizeof(double), true));
    double *low = block.p;
    memset(counts, 0, (size_t)count * sizeof *counts);
    for (int64_t g = 0; g < count; g++) out[g] = prod;
    REDUCE_BLOCKS (c, i, m) {
        const int32_t *of = ids ? ids + i : NULL;
        la_table_doubles(c, i, m, x);
        if (prod) reduce_product_block(x, of, m, out, counts);
        else reduce_sum_block(x, of, m, out, low, counts);
    }
    for (int64_t g = 0; g < count; g++) out[g] += low[g];
    return la_poll();
}

/* Exact modulo 2^64, as tensors' sums are; doubles would lose digits above
** 2^53. */
la_status la_table_sum_integers(const la_table_column *c, const int32_t *ids,
                                int64_t count, bool prod, int64_t *out)
{
    uint64_t *sums = (uint64_t *)out;
    for (int64_t g = 0; g < count; g++) out[g] = prod;
    REDUCE_BLOCKS (c, i, m) {
        for (int64_t j = 0; j < m; j++) {
            int32_t g = ids ? ids[i + j] : 0;
            if (g < 0) continue;
            uint64_t v = (uint64_t)la_table_integer(c, i + j);
            sums[g] = prod ? sums[g] * v : sums[g] + v;
        }
    }
    return la_poll();
}

/* The second of two walks: squares around the known mean do not cancel, as the
** difference of the sum of squares and the square of the sum does. */
la_status la_table_squares(const la_table_column *c, const int32_t *ids,
                           int64_t count, const double *means, double *out)
{
    LA_TABLE_OWN block = {NULL, 0};
    double x[LA_TABLE_BLOCK];
    LA_TRY(la_table_alloc(&block, count, sizeof(double), true));
    double *low = block.p;
    memset(out, 0, (size_t)count * sizeof *out);
    REDUCE_BLOCKS (c, i, m) {
        la_table_doubles(c, i, m, x);
        for (int64_t j = 0; j < m; j++) {
            int32_t g = ids ? ids[i + j] : 0;
            if (g < 0 || x[j] != x[j]) continue;
            double d = x[j] - means[g];
            out[g] = reduce_add(out[g], d * d, &low[g]);
        }
    }
    for (int64_t g = 0; g < count; g++) out[g] += low[g];
    return la_poll();
}

/* ---- sorted groups ---- */

/* Rows by group, then by value; gaps last in each. */
static la_status reduce_sorted(const la_table_column *c, const int32_t *ids,
                               la_table_block *rows)
{
    la_table_key keys[2] = {{.column = {ids, LA_INT32, LA_TABLE_NUMBER, c->n}},
                            {.column = *c}};
    LA_TRY(la_table_alloc(rows, c->n, sizeof(int32_t), false));
    return ids ? la_table_order(keys, 2, c->n, rows->p)
               : la_table_order(keys + 1, 1, c->n, rows->p);
}

/* Values before the gaps among the rows from 'at' on that belong to its
** group; *end is behind the group. */
static int64_t reduce_values(const la_table_column *c, const int32_t *ids,
                             const int32_t *rows, int64_t at, int64_t *end)
{
    int64_t n = 0, i = at;
    uint64_t k;
    for (; i < c->n && (!ids || ids[rows[i]] == ids[rows[at]]); i++) {
        la_table_keys(c, rows[i], 1, &k);
        n += !la_table_may_gap(c) || k != LA_TABLE_GAP;
    }
    *end = i;
    return n;
}

/* Between the two sorted values nearest to part q of n. Each form starts at the
** nearer value, unless that is infinite: inf - inf would be no number. */
static double reduce_between(const la_table_column *c, const int32_t *rows,
                             int64_t n, double q)
{
    double at = q * (double)(n - 1), low, high;
    int64_t k = (int64_t)at;
    la_table_doubles(c, rows[k], 1, &low);
    if (at == (double)k || k + 1 >= n) return low;
    la_table_doubles(c, rows[k + 1], 1, &high);
    double part = at - (double)k;
    if (low == high) return low;
    bool from_low = isinf(high) || (part < 0.5 && !isinf(low));
    return from_low ? low + (high - low) * part
                      : high - (high - low) * (1 - part);
}

/* One sort serves all groups. Gaps are last in each, so that the values of a
** group are a run of which any quantile is read by position. */
la_status la_table_quantile(const la_table_column *c, const int32_t *ids,
                            int64_t count, double q, double *out)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(reduce_sorted(c, ids, &block));
    const int32_t *rows = block.p;
    for (int64_t g = 0; g < count; g++) out[g] = NAN;
    for (int64_t i = 0, end; i < c->n; i = end) {
        int32_t g = ids ? ids[rows[i]] : 0;
        int64_t n = reduce_values(c, ids, rows, i, &end);
        if (n && g >= 0) out[g] = reduce_between(c, rows + i, n, q);
    }
    return la_poll();
}

/* Rows are sorted: a value is new where it differs from the row above, or where
** another group begins; -2 is the id of no row. */
la_status la_table_nunique(const la_table_column *c, const int32_t *ids,
                           int64_t count, int64_t *out)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(reduce_sorted(c, ids, &block));
    const int32_t *rows = block.p;
    uint64_t k, before = 0;
    int32_t last = -2;
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t i = 0; i < c->n; i++) {
        int32_t g = ids ? ids[rows[i]] : 0;
        la_table_keys(c, rows[i], 1, &k);
        bool gap = la_table_may_gap(c) && k == LA_TABLE_GAP;
        if (g >= 0 && !gap) out[g] += g != last || k != before;
        if (!gap) last = g;
        before = k;
    }
    return la_poll();
}
