/*
** Stable sorting by several columns.
**
** Keys are cut to the bits that their range needs, and as many as fit are put
** into one word of 64 bits, so that one radix sort (by digits of 11 bits, from
** the lowest; digits that all rows share are passed over) orders the rows by
** all of them. Words of at most 32 bits are sorted with the row next to them in
** one integer. Wider ones go by their upper 32 bits first, and runs that are
** equal there are put right by insertion, if they are short; otherwise all
** digits are sorted.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

/* 2048 buckets of counts fit the first-level cache, and three passes sort 32
** bits; digits of 8 bits would take four. Below ORDER_SHORT rows the counts
** alone cost more than insertion does. */
enum { ORDER_DIGIT = 11, ORDER_BUCKETS = 1 << ORDER_DIGIT, ORDER_DIGITS = 6,
       ORDER_SHORT = 24 };

/* ---- radix ---- */

typedef struct order_counts { uint32_t n[ORDER_DIGITS][ORDER_BUCKETS]; }
    order_counts;

static inline unsigned order_digit(uint64_t v, int digit)
{
    return (unsigned)(v >> (ORDER_DIGIT * digit)) & (ORDER_BUCKETS - 1);
}

/* How often each digit is met, of all digits in one walk. */
static void order_count(const uint64_t *v, int64_t n, int shift, int digits,
                        order_counts *c)
{
    memset(c, 0, sizeof *c);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < digits; d++)
            c->n[d][order_digit(v[i] >> shift, d)]++;
}

/* Counts become offsets; false where all have one digit. */
static bool order_starts(uint32_t *counts, int64_t n)
{
    uint32_t at = 0;
    for (int k = 0; k < ORDER_BUCKETS; k++) {
        uint32_t here = counts[k];
        if (here == n) return false;
        counts[k] = at;
        at += here;
    }
    return true;
}

/* Words v by the bits above 'shift', with scratch for n more; where the result
** is. Polls between the digits. */
static uint64_t *order_words(uint64_t *v, uint64_t *scratch, int64_t n,
                             int shift, int bits, order_counts *c)
{
    int digits = (bits + ORDER_DIGIT - 1) / ORDER_DIGIT;
    order_count(v, n, shift, digits, c);
    for (int d = 0; d < digits; d++) {
        uint32_t *at = c->n[d];
        if (!order_starts(at, n) || la_poll_long(n)) continue;
        for (int64_t i = 0; i < n; i++)
            scratch[at[order_digit(v[i] >> shift, d)]++] = v[i];
        uint64_t *swap = v;
        v = scratch;
        scratch = swap;
    }
    return v;
}

/* ---- wide keys ---- */

/* Rows of a short run by their whole keys, those of one key as they are. */
static void order_insert(int32_t *rows, int64_t n, const uint64_t *keys)
{
    for (int64_t i = 1; i < n; i++) {
        int32_t row = rows[i];
        int64_t k = i;
        for (; k > 0 && keys[rows[k - 1]] > keys[row]; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

/* Is the run in order? It is where all of its keys are one. */
static bool order_is_done(const int32_t *rows, int64_t n, const uint64_t *keys)
{
    for (int64_t i = 1; i < n; i++)
        if (keys[rows[i - 1]] > keys[rows[i]]) return false;
    return true;
}

/* Runs of equal upper bits. False where a long one is not in order. */
static bool order_mend(int32_t *rows, int64_t n, const uint64_t *keys,
                       int low)
{
    for (int64_t i = 0, end; i < n; i = end) {
        uint64_t upper = keys[rows[i]] >> low;
        for (end = i + 1; end < n && keys[rows[end]] >> low == upper; end++) {}
        if (end - i <= ORDER_SHORT) order_insert(rows + i, end - i, keys);
        else if (!order_is_done(rows + i, end - i, keys)) return false;
    }
    return true;
}

/* All digits of keys, which stay, with rows next to them. */
static la_status order_all(const uint64_t *keys, int bits, int64_t n,
                           int32_t *rows, order_counts *c)
{
    LA_TABLE_OWN block = {NULL, 0};
    int digits = (bits + ORDER_DIGIT - 1) / ORDER_DIGIT;
    LA_TRY(la_table_alloc(&block, n, sizeof(int32_t), false));
    int32_t *from = rows, *to = block.p;
    for (int64_t i = 0; i < n; i++) rows[i] = (int32_t)i;
    order_count(keys, n, 0, digits, c);
    for (int d = 0; d < digits; d++) {
        uint32_t *at = c->n[d];
        if (!order_starts(at, n)) continue;
        LA_TRY(la_poll());
        for (int64_t i = 0; i < n; i++)
            to[at[order_digit(keys[from[i]], d)]++] = from[i];
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != rows) memcpy(rows, from, (size_t)n * sizeof *rows);
    return LA_OK;
}

/* Upper 32 bits of each key next to its row. */
static la_status order_upper(uint64_t *keys, int low, int bits, int64_t n,
                             int32_t *rows, order_counts *c)
{
    LA_TABLE_OWN words = {NULL, 0}, scratch = {NULL, 0};
    LA_TRY(la_table_alloc(&words, n, sizeof(uint64_t), false));
    LA_TRY(la_table_alloc(&scratch, n, sizeof(uint64_t), false));
    uint64_t *v = words.p;
    for (int64_t i = 0; i < n; i++)
        v[i] = keys[i] >> low << 32 | (uint64_t)i;
    v = order_words(v, scratch.p, n, 32, bits - low, c);
    for (int64_t i = 0; i < n; i++) rows[i] = (int32_t)(v[i] & INT32_MAX);
    return la_poll();
}

/* Most keys of tables have a small range after order_fit (dates of a year,
** codes of text): 32 bits hold them, and a row fits next to them. n is at most
** LA_TABLE_ROWS, so a row has 31 bits. */
la_status la_table_sort_keys(uint64_t *keys, int bits, int64_t n,
                             int32_t *rows)
{
    LA_TABLE_OWN counts = {NULL, 0};
    if (n <= ORDER_SHORT) {
        for (int64_t i = 0; i < n; i++) rows[i] = (int32_t)i;
        order_insert(rows, n, keys);
        return LA_OK;
    }
    LA_TRY(la_table_alloc(&counts, 1, sizeof(order_counts), false));
    int low = bits > 32 ? bits - 32 : 0;
    LA_TRY(order_upper(keys, low, bits, n, rows, counts.p));
    if (!low || order_mend(rows, n, keys, low)) return LA_OK;
    return order_all(keys, bits, n, rows, counts.p);
}

/* ---- several columns ---- */

/* Bits of the largest key; a column of one value has none and is passed
** over. */
static int order_bits(uint64_t most)
{
    return most ? 64 - __builtin_clzll(most) : 0;
}

/* Keys of a column in place: from 0 on, as the order wants them. Bits that
** they have. */
static int order_fit(const la_table_key *key, int64_t n, uint64_t *k)
{
    bool may_gap = la_table_may_gap(&key->column);
    la_table_range r = la_table_range_of(k, n, may_gap);
    if (!r.any) return 0;
    uint64_t range = r.most - r.least;
    bool first = r.gaps && key->missing_first;
    for (int64_t i = 0; i < n; i++) {
        bool gap = may_gap && k[i] == LA_TABLE_GAP;
        uint64_t v = key->descending ? r.most - k[i] : k[i] - r.least;
        k[i] = gap ? (first ? 0 : range + 1) : v + first;
    }
    return order_bits(range + r.gaps);
}

/* rows = rows[by]. */
static la_status order_follow(int32_t *rows, const int32_t *by, int64_t n)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(la_table_alloc(&block, n, sizeof(int32_t), false));
    int32_t *out = block.p;
    for (int64_t i = 0; i < n; i++) out[i] = rows[by[i]];
    memcpy(rows, out, (size_t)n * sizeof *rows);
    return LA_OK;
}

typedef struct order_word {
    uint64_t *keys;             /* in the order of the rows as they were */
    uint64_t *sorted;
    int bits;
} order_word;

/* The rows by the word, if there is one. */
static la_status order_flush(order_word *w, int64_t n, int32_t *rows,
                             int32_t *by, bool *begun)
{
    int bits = w->bits;
    if (!bits) return LA_OK;
    w->bits = 0;
    if (!*begun) {
        *begun = true;
        return la_table_sort_keys(w->keys, bits, n, rows);
    }
    for (int64_t i = 0; i < n; i++) w->sorted[i] = w->keys[rows[i]];
    LA_TRY(la_table_sort_keys(w->sorted, bits, n, by));
    return order_follow(rows, by, n);
}

/* The keys of one more column go above those of the word, or begin another. */
static la_status order_add(const la_table_key *key, int64_t n, uint64_t *k,
                           order_word *w, int32_t *rows, int32_t *by,
                           bool *begun)
{
    la_table_keys(&key->column, 0, n, k);
    LA_TRY(la_poll());
    int bits = order_fit(key, n, k);
    if (!bits) return LA_OK;
    if (w->bits + bits > 64) LA_TRY(order_flush(w, n, rows, by, begun));
    if (!w->bits) memmove(w->keys, k, (size_t)n * sizeof *k);
    else for (int64_t i = 0; i < n; i++) w->keys[i] |= k[i] << w->bits;
    w->bits += bits;
    return la_poll();
}

/* The last column is the lowest part of the word. Where a word is full, the
** rows are sorted by it and the columns before it start another: later sorts
** are stable, so they keep what the earlier ones decided. */
la_status la_table_order(const la_table_key *keys, int nkeys, int64_t n,
                         int32_t *rows)
{
    LA_TABLE_OWN first = {NULL, 0}, second = {NULL, 0}, third = {NULL, 0};
    LA_TABLE_OWN others = {NULL, 0};
    order_word w = {NULL, NULL, 0};
    bool begun = false;
    LA_TRY(la_table_alloc(&first, n, sizeof(uint64_t), false));
    w.keys = first.p;
    uint64_t *k = first.p;
    if (nkeys > 1) {
        LA_TRY(la_table_alloc(&second, n, sizeof(uint64_t), false));
        LA_TRY(la_table_alloc(&third, n, sizeof(uint64_t), false));
        LA_TRY(la_table_alloc(&others, n, sizeof(int32_t), false));
        k = second.p;
        w.sorted = third.p;
    }
    for (int i = nkeys - 1; i >= 0; i--)
        LA_TRY(order_add(&keys[i], n, k, &w, rows, others.p, &begun));
    LA_TRY(order_flush(&w, n, rows, others.p, &begun));
    for (int64_t i = 0; !begun && i < n; i++) rows[i] = (int32_t)i;
    return la_poll();
}
