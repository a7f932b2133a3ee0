/*
** Groups of rows with equal keys.
**
** A column of keys becomes numbers from 0 in the order of its values: by a
** table over their range where that is not much larger than the column, else by
** hashing and a sort of the different ones. Several columns are joined two at a
** time: number * size + number is one key again.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

/* ---- by hashing ---- */

/* Numbers in the order of the keys. */
static la_status group_set_rank(const la_table_set *s, int64_t n, int32_t *out)
{
    LA_TABLE_OWN rows = {NULL, 0}, rank = {NULL, 0};
    LA_TRY(la_table_alloc(&rows, s->n, sizeof(int32_t), false));
    LA_TRY(la_table_alloc(&rank, s->n, sizeof(int32_t), false));
    int32_t *by = rows.p, *to = rank.p;
    LA_TRY(la_table_sort_keys(s->list.p, 64, s->n, by));
    for (int64_t i = 0; i < s->n; i++) to[by[i]] = (int32_t)i;
    LA_EACH_POLLED (i, 0, n) out[i] = to[out[i]];
    return la_poll();
}

/* Only the different keys are sorted, which are few where grouping makes
** sense; the rows are walked twice, once to number and once to rank. */
static la_status group_by_hash(const uint64_t *k, int64_t n, int32_t *out,
                               int64_t *count)
{
    la_table_set s = {.n = 0};
    la_status status = la_table_set_number(&s, k, n, out);
    if (!status) status = group_set_rank(&s, n, out);
    *count = s.n;
    la_table_set_free(&s);
    return status;
}

/* ---- a table over the range ---- */

/* Keys from 'least' on, at most 'range' above it; the gap, which is the
** greatest key, counts as range + 1 where there is one. */
static la_status group_by_table(const uint64_t *k, int64_t n, uint64_t least,
                                uint64_t range, bool gaps, int32_t *out,
                                int64_t *count)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(la_table_alloc(&block, (int64_t)range + 2, sizeof(int32_t), true));
    int32_t *number = block.p;
    for (int64_t i = 0; i < n; i++) {
        uint64_t v = gaps && k[i] == LA_TABLE_GAP ? range + 1 : k[i] - least;
        out[i] = (int32_t)v;
        number[v] = 1;
    }
    LA_TRY(la_poll());
    int32_t met = 0;
    for (uint64_t v = 0; v < range + 2; v++) {
        int32_t here = number[v];
        number[v] = met;
        met += here;
    }
    *count = met;
    if ((uint64_t)met == range + 2 || ((uint64_t)met == range + 1 && !gaps))
        return LA_OK;           /* the numbers are the differences */
    for (int64_t i = 0; i < n; i++) out[i] = number[out[i]];
    return la_poll();
}

/* Numbers of keys, ascending. */
static la_status group_number(const uint64_t *k, int64_t n, bool may_gap,
                              int32_t *out, int64_t *count)
{
    la_table_range r = la_table_range_of(k, n, may_gap);
    LA_TRY(la_poll());
    if (!r.any) {
        for (int64_t i = 0; i < n; i++) out[i] = 0;
        *count = n > 0;
        return LA_OK;
    }
    uint64_t range = r.most - r.least, small = 2 * (uint64_t)n + 1024;
    if (range < small)
        return group_by_table(k, n, r.least, range, r.gaps, out, count);
    return group_by_hash(k, n, out, count);
}

/* ---- columns ---- */

/* The rows with a gap in the column. */
static void group_mark_gaps(const la_table_column *c, const uint64_t *k,
                            int64_t n, uint8_t *marks)
{
    if (!la_table_may_gap(c)) return;
    for (int64_t i = 0; i < n; i++) marks[i] |= k[i] == LA_TABLE_GAP;
}

/* ids become those of the pairs (ids, more). */
static la_status group_pair(int32_t *ids, int64_t *count, const int32_t *more,
                            int64_t others, int64_t n, uint64_t *k)
{
    for (int64_t i = 0; i < n; i++)
        k[i] = (uint64_t)ids[i] * (uint64_t)others + (uint64_t)more[i];
    return group_number(k, n, false, ids, count);
}

/* Numbers of pairs are below the product of both counts, at most the square of
** 2^31: they never overflow 64 bits, as each pair is numbered anew before the
** next column comes. */
static la_status group_columns(const la_table_column *keys, int nkeys,
                               int64_t n, uint8_t *gaps, int32_t *ids,
                               int64_t *count)
{
    LA_TABLE_OWN block = {NULL, 0}, more = {NULL, 0};
    int64_t others;
    LA_TRY(la_table_alloc(&block, n, sizeof(uint64_t), false));
    uint64_t *k = block.p;
    if (nkeys > 1)
        LA_TRY(la_table_alloc(&more, n, sizeof(int32_t), false));
    for (int i = 0; i < nkeys; i++) {
        bool may_gap = la_table_may_gap(&keys[i]);
        la_table_keys(&keys[i], 0, n, k);
        if (gaps) group_mark_gaps(&keys[i], k, n, gaps);
        if (i == 0) {
            LA_TRY(group_number(k, n, may_gap, ids, count));
            continue;
        }
        LA_TRY(group_number(k, n, may_gap, more.p, &others));
        LA_TRY(group_pair(ids, count, more.p, others, n, k));
    }
    return LA_OK;
}

/* ---- numbering anew ---- */

/* Numbers in the order of first rows; rows that are marked have -1, and groups
** of those alone go. */
static la_status group_by_first(int32_t *ids, int64_t n, const uint8_t *marks,
                                bool sorted, int64_t *count)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(la_table_alloc(&block, *count, sizeof(int32_t), false));
    int32_t *to = block.p, met = 0;
    memset(to, 0xff, (size_t)*count * sizeof *to);
    for (int64_t i = 0; i < n; i++) {
        if (marks && marks[i]) ids[i] = -1;
        else if (to[ids[i]] < 0) to[ids[i]] = met++;
    }
    if (sorted) {
        met = 0;
        for (int64_t k = 0; k < *count; k++)
            if (to[k] >= 0) to[k] = met++;
    }
    for (int64_t i = 0; i < n; i++) if (ids[i] >= 0) ids[i] = to[ids[i]];
    *count = met;
    return la_poll();
}

/* The first row of each group. */
static la_status group_find_first(const int32_t *ids, int64_t n,
                                  la_table_grouping *out)
{
    LA_TRY(la_table_alloc(&out->first, out->count, sizeof(int32_t), false));
    int32_t *first = out->first.p;
    for (int64_t i = n - 1; i >= 0; i--) if (ids[i] >= 0) first[ids[i]]
        = (int32_t)i;
    return la_poll();
}

/* Sorted groups without marks need no second numbering: those of group_number
** ascend already. */
la_status la_table_group(const la_table_column *keys, int nkeys, int64_t n,
                         bool sorted, bool skip, la_table_grouping *out)
{
    LA_TABLE_OWN marks = {NULL, 0};
    if (skip) LA_TRY(la_table_alloc(&marks, n, 1, true));
    LA_TRY(group_columns(keys, nkeys, n, marks.p, out->ids, &out->count));
    if (skip || !sorted)
        LA_TRY(group_by_first(out->ids, n, marks.p, sorted, &out->count));
    return group_find_first(out->ids, n, out);
}

/* A counting sort by group, which keeps the order of rows within each. Offsets
** serve as cursors while rows are written, and are moved back by one entry at
** the end. */
la_status la_table_segments(const int32_t *ids, int64_t n, int64_t count,
                            int32_t *rows, int64_t *offsets)
{
    memset(offsets, 0, (size_t)(count + 1) * sizeof *offsets);
    for (int64_t i = 0; i < n; i++) if (ids[i] >= 0) offsets[ids[i] + 1]++;
    for (int64_t k = 0; k < count; k++) offsets[k + 1] += offsets[k];
    LA_TRY(la_poll());
    for (int64_t i = 0; i < n; i++)
        if (ids[i] >= 0) rows[offsets[ids[i]]++] = (int32_t)i;
    for (int64_t k = count; k > 0; k--) offsets[k] = offsets[k - 1];
    offsets[0] = 0;
    return la_poll();
}
