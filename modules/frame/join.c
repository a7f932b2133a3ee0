/* Pairs of rows with equal keys. */
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "modules/frame/frame.h"

/* How many pairs there will be; LA_ESHAPE for too many. */
static la_status join_size(const int32_t *left, int64_t nleft,
                           const int64_t *offsets, bool keep, int64_t *out)
{
    int64_t n = 0;
    for (int64_t i = 0; i < nleft; i++) {
        int32_t g = left[i];
        int64_t here = g < 0 ? 0 : offsets[g + 1] - offsets[g];
        n += here || !keep ? here : 1;
        if (n > LA_TABLE_ROWS)
            return la_error(LA_ESHAPE, "the result has more than %lld rows",
                            (long long)LA_TABLE_ROWS);
    }
    *out = n;
    return la_poll();
}

/* The pairs of one row of the left. */
static int64_t join_row(int32_t row, const int32_t *right, int64_t n, bool keep,
                        int32_t *l, int32_t *r)
{
    for (int64_t k = 0; k < n; k++) {
        l[k] = row;
        r[k] = right[k];
    }
    if (n || !keep) return n;
    *l = row;
    *r = -1;
    return 1;
}

/* A left row's number is the row of its only partner where every row of the
** right is a group of its own, in their order. */
static bool join_is_by_row(const int32_t *right, int64_t nright, int64_t count)
{
    if (count != nright) return false;
    for (int64_t i = 0; i < nright; i++) if (right[i] != i) return false;
    return true;
}

static la_status join_by_row(const int32_t *left, int64_t nleft, bool keep,
                             la_table_match *out)
{
    for (int64_t i = 0; i < nleft; i++) out->n += keep || left[i] >= 0;
    LA_TRY(la_table_alloc(&out->left, out->n, sizeof(int32_t), false));
    LA_TRY(la_table_alloc(&out->right, out->n, sizeof(int32_t), false));
    int32_t *l = out->left.p, *r = out->right.p;
    int64_t at = 0;
    LA_EACH_POLLED (i, 0, nleft) {
        if (!keep && left[i] < 0) continue;
        l[at] = (int32_t)i;
        r[at++] = left[i];
    }
    return la_poll();
}

/* Both sides are numbered together beforehand, so a join compares small
** integers only. The right side is sorted by group once; each left row then
** finds its partners in one run. The result is sized by a first walk, because
** a join of many with many can exceed any guess. */
la_status la_table_join(const int32_t *left, int64_t nleft,
                        const int32_t *right, int64_t nright, int64_t count,
                        bool keep, la_table_match *out)
{
    LA_TABLE_OWN block = {NULL, 0}, starts = {NULL, 0};
    if (join_is_by_row(right, nright, count))
        return join_by_row(left, nleft, keep, out);
    LA_TRY(la_table_alloc(&block, nright, sizeof(int32_t), false));
    LA_TRY(la_table_alloc(&starts, count + 1, sizeof(int64_t), false));
    int64_t *offsets = starts.p, at = 0;
    LA_TRY(la_table_segments(right, nright, count, block.p, offsets));
    LA_TRY(join_size(left, nleft, offsets, keep, &out->n));
    LA_TRY(la_table_alloc(&out->left, out->n, sizeof(int32_t), false));
    LA_TRY(la_table_alloc(&out->right, out->n, sizeof(int32_t), false));
    const int32_t *rows = block.p;
    int32_t *l = out->left.p, *r = out->right.p;
    LA_EACH_POLLED (i, 0, nleft) {
        int32_t g = left[i];
        int64_t from = g < 0 ? 0 : offsets[g];
        int64_t n = g < 0 ? 0 : offsets[g + 1] - from;
        at += join_row((int32_t)i, rows + from, n, keep, l + at, r + at);
    }
    return la_poll();
}

/* Joins that promise one partner per row (validate) name the first row that
** breaks the promise; one byte per group suffices for that. */
la_status la_table_twice(const int32_t *ids, int64_t n, int64_t count,
                         int64_t *row)
{
    LA_TABLE_OWN block = {NULL, 0};
    LA_TRY(la_table_alloc(&block, count, 1, true));
    uint8_t *met = block.p;
    *row = -1;
    for (int64_t i = 0; i < n && *row < 0; i++) {
        if (ids[i] < 0) continue;
        if (met[ids[i]]) *row = i;
        met[ids[i]] = 1;
    }
    return LA_OK;
}
