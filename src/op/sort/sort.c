/*
** sort, argsort, msort, topk, kthvalue. All are stable, NaN counts as larger
** than everything, and rows are independent: results do not depend on threads.
**
** A row is encoded into unsigned keys (kernel/sort), which sort as the elements
** do; keys and positions are ordered, and the keys decoded into the values. So
** there is one order kernel per width of keys, not one per dtype.
*/
#include "base/runtime/thread_pool.h"
#include "op/move/copy.h"
#include "op/sort/order.h"

#include <string.h>

#define LA_ROWS "op/def/index.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Description of the rows. It is read by all threads and written by none; 'k'
** is that of topk and kthvalue, 'flip' complements the keys. */
typedef struct job {
    la_order o;
    la_tensor *self, *values, *indices;   /* results may be NULL */
    int dim;
    int64_t n, k;
    uint64_t flip;
} job;

/* Working memory of a row: keys, items, spare items. */
typedef struct work {
    void *keys;
    char *items, *spare;
} work;

/* Scratch for so many keys and twice so many items, each aligned to 64
** bytes. */
static size_t sort_work_bytes(const job *j, int64_t keys, int64_t items)
{
    keys = (keys * j->o.key_bytes + 63) & ~(int64_t)63;
    return (size_t)(keys + 2 * items * j->o.item_bytes);
}

/* Scratch memory of a task as pointers into 'block'. */
static work work_in(const job *j, void *block, int64_t keys, int64_t items)
{
    char *p = block;
    keys = (keys * j->o.key_bytes + 63) & ~(int64_t)63;
    return (work){p, p + keys, p + keys + items * j->o.item_bytes};
}

/* Items of 32-bit keys hold the position in 32 bits. */
static la_status sort_too_long(const job *j, int64_t n)
{
    if (j->o.key->wide || n <= UINT32_MAX) return LA_OK;
    return la_error(LA_ESHAPE, "a row of %lld elements is too long to be "
                    "ordered with positions", (long long)n);
}

/* The dim and the kernels for self's dtype; descending order complements the
** keys, which keeps equal elements in their order. LA_EINDEX, LA_EDTYPE or
** LA_ESHAPE. */
static la_status sort_prepare(job *j, la_tensor *self, int64_t dim, bool flip,
                              const char *what)
{
    LA_TRY(la_wrap_dim(dim, self->ndim, &j->dim));
    LA_TRY(la_order_of((la_dtype)self->dtype, what, &j->o));
    j->self = self;
    j->n = la_row_length(self, j->dim);
    j->flip = flip ? ~(uint64_t)0 : 0;
    return sort_too_long(j, j->n);
}

/* Destination of the positions of a row; *step in elements. */
static int64_t *positions_of(const job *j, int64_t row, int64_t *step)
{
    *step = la_row_step(j->indices, j->dim) / 8;
    return (int64_t *)(la_data(j->indices)
                       + la_row_offset(j->indices, j->dim, row));
}

/* The first 'm' keys of a row go to the values; its positions are there.
** 'signs': the row has zeros whose signs are to be restored from self. */
static void sort_deliver(const job *j, int64_t row, const void *keys, int64_t m,
                         bool signs)
{
    if (!j->values) return;
    const char *from = la_data(j->self) + la_row_offset(j->self, j->dim, row);
    char *to = la_data(j->values) + la_row_offset(j->values, j->dim, row);
    int64_t from_step = la_row_step(j->self, j->dim), at_step;
    int64_t step = la_row_step(j->values, j->dim);
    j->o.key->decode(to, step, keys, m, j->flip);
    if (!signs) return;
    /* both zeros have one key: their signs come from the elements */
    uint64_t zero = la_key_of_zero(&j->o, j->flip);
    size_t item = la_itemsize(j->self);
    const int64_t *at = positions_of(j, row, &at_step);
    LA_EACH_POLLED(i, 0, m)
        if (la_key_at(&j->o, keys, i) == zero)
            memcpy(to + i * step, from + (at[i * at_step] - 1) * from_step,
                   item);
}

/* Encodes a row; true when it has zeros whose signs the keys lose. */
static bool sort_load_row(const job *j, int64_t row, work *w)
{
    const char *from = la_data(j->self) + la_row_offset(j->self, j->dim, row);
    bool zero = j->o.key->encode(w->keys, from, la_row_step(j->self, j->dim),
                                 j->n, j->flip);
    return zero;
}

/* One row: keys, sorted with their positions, decoded to the values. An
** interrupted sort has not set all positions: signs may not be restored. */
static la_status sort_row(void *context, int64_t row, char *block)
{
    const job *j = context;
    work w = work_in(j, block, j->n, j->n);
    bool signs = sort_load_row(j, row, &w);
    int64_t step, *at = positions_of(j, row, &step);
    j->o.order->sort_positions(w.keys, at, step, w.items, w.spare, j->n);
    if (la_poll_long(j->n)) return LA_EINTR;
    sort_deliver(j, row, w.keys, j->n, signs);
    return LA_OK;
}

/* Rows along the dim; none where it is empty. */
static int64_t row_count(const job *j)
{
    return j->n ? j->self->numel / j->n : 0;
}

/* Several short rows at once. The last group may have fewer than
** LA_ORDER_ROWS. */
static la_status sort_rows(void *context, int64_t group, char *block)
{
    const job *j = context;
    int64_t first = group * LA_ORDER_ROWS, rows = row_count(j) - first;
    int64_t *at[LA_ORDER_ROWS] = {NULL};
    int64_t row_bytes = j->n * j->o.key_bytes, step = 1;
    bool signs = false;
    char *keys = block;
    rows = rows < LA_ORDER_ROWS ? rows : LA_ORDER_ROWS;
    for (int64_t r = 0; r < rows; r++) {
        work w = {keys + r * row_bytes, NULL, NULL};
        signs |= sort_load_row(j, first + r, &w);
        at[r] = positions_of(j, first + r, &step);
    }
    j->o.order->sort_rows(keys, at, step, j->n, (int)rows);
    for (int64_t r = 0; r < rows; r++)
        sort_deliver(j, first + r, keys + r * row_bytes, j->n, signs);
    return LA_OK;
}

/* Short rows are sorted several at once (LA_ORDER_ROWS). */
static la_status run_sort(job *j)
{
    if (j->n > 1 && j->n <= j->o.order->few && row_count(j) > 1)
        return la_rows_run((row_count(j) - 1) / LA_ORDER_ROWS + 1,
                           j->n * LA_ORDER_ROWS,
                           (size_t)(j->n * LA_ORDER_ROWS * j->o.key_bytes),
                           sort_rows, j);
    return la_rows_run(row_count(j), j->n, sort_work_bytes(j, j->n, j->n),
                       sort_row, j);
}

/* ---- sort, argsort, msort ---- */

/* Result k with self's sizes and order of strides. */
static la_status sort_same_shape(la_frame *f, int k, const la_tensor *x,
                                 la_dtype d)
{
    int64_t strides[LA_MAX_DIMS];
    la_preserve_strides(x, strides);
    LA_TRY(la_set_output(f, k, x->ndim, la_sizes(x), strides, d));
    la_copy_names(la_result(f, k), x);
    return LA_OK;
}

/* (self, dim, descending) -> values and 1-based positions. */
la_status la_meta_sort(la_frame *f)
{
    job j;
    la_tensor *x = la_arg(f, 0);
    LA_TRY(sort_prepare(&j, x, la_arg_int(f, 1), la_arg_bool(f, 2), "sort"));
    LA_TRY(sort_same_shape(f, 0, x, (la_dtype)x->dtype));
    return sort_same_shape(f, 1, x, LA_INT64);
}

la_status la_impl_sort(la_frame *f)
{
    job j = {.values = la_result(f, 0), .indices = la_result(f, 1)};
    LA_TRY(sort_prepare(&j, la_arg(f, 0), la_arg_int(f, 1), la_arg_bool(f, 2),
                        "sort"));
    return run_sort(&j);
}

/* (self, dim, descending) -> 1-based positions, int64. */
la_status la_meta_argsort(la_frame *f)
{
    job j;
    LA_TRY(sort_prepare(&j, la_arg(f, 0), la_arg_int(f, 1), la_arg_bool(f, 2),
                        "argsort"));
    return sort_same_shape(f, 0, la_arg(f, 0), LA_INT64);
}

/* Without values: deliver has nothing to decode. */
la_status la_impl_argsort(la_frame *f)
{
    job j = {.indices = la_result(f, 0)};
    LA_TRY(sort_prepare(&j, la_arg(f, 0), la_arg_int(f, 1), la_arg_bool(f, 2),
                        "argsort"));
    return run_sort(&j);
}

/* Without positions: keys alone, unless zeros have signs to be kept. */
static la_status msort_row(void *context, int64_t row, char *block)
{
    const job *j = context;
    work w = work_in(j, block, j->n, j->n);
    const char *from = la_data(j->self) + la_row_offset(j->self, j->dim, row);
    char *to = la_data(j->values) + la_row_offset(j->values, j->dim, row);
    int64_t step = la_row_step(j->values, j->dim);
    if (j->o.key->encode(w.keys, from, la_row_step(j->self, j->dim), j->n, 0)) {
        job with = *j;
        return sort_row(&with, row, block);
    }
    j->o.order->sort_keys(w.keys, w.items, j->n);
    j->o.key->decode(to, step, w.keys, j->n, 0);
    return LA_OK;
}

/* (self): sorted along dim 1, values alone. */
la_status la_meta_msort(la_frame *f)
{
    job j;
    la_tensor *x = la_arg(f, 0);
    LA_TRY(sort_prepare(&j, x, 0, false, "msort"));
    return sort_same_shape(f, 0, x, (la_dtype)x->dtype);
}

/* Positions are needed only to restore the signs of zeros. */
la_status la_impl_msort(la_frame *f)
{
    LA_OWNED positions = NULL;
    la_tensor *x = la_arg(f, 0);
    job j = {.values = la_result(f, 0)};
    LA_TRY(sort_prepare(&j, x, 0, false, "msort"));
    if (la_is_float((la_dtype)x->dtype)) {
        LA_TRY(la_tensor_empty(x->ndim, la_sizes(x), LA_INT64, &positions));
        j.indices = positions;
    }
    return la_rows_run(row_count(&j), j.n, sort_work_bytes(&j, j.n, j.n),
                       msort_row, &j);
}

/* ---- topk ---- */

/* Keys that are filtered at a time: they and their items stay in the L1
** cache. */
enum { BLOCK = 4096 };

/* Items that are kept before they are cut down to k again. Each cut then drops
** at least as many as stay, which keeps its cost per item constant. */
static int64_t kept(int64_t k) { return k + (k < 512 ? 512 : k); }

/* The largest key of m items. */
static uint64_t largest_key(const job *j, const char *items, int64_t m)
{
    uint64_t most = 0;
    for (int64_t i = 0; i < m; i++) {
        uint64_t key = j->o.key->wide ? ((const la_item64 *)items)[i].key
                                      : ((const uint64_t *)items)[i] >> 32;
        if (key > most) most = key;
    }
    return most;
}

/* Only keys below the k-th so far come in; of equal ones the first stay. Equal
** keys come in order of position, and selection is stable. */
static la_status topk_row(void *context, int64_t row, char *block)
{
    const job *j = context;
    int64_t k = j->k, capacity = kept(k), m = 0;
    int64_t step = la_row_step(j->self, j->dim);
    work w = work_in(j, block, BLOCK > k ? BLOCK : k, capacity + BLOCK);
    const char *from = la_data(j->self) + la_row_offset(j->self, j->dim, row);
    int64_t left = la_poll_every(j->n);
    uint64_t limit = 0;
    bool signs = false, known = false;
    for (int64_t i = 0; i < j->n; i += BLOCK) {
        if (la_poll_run(&left, BLOCK)) return LA_EINTR;
        int64_t n = j->n - i < BLOCK ? j->n - i : BLOCK;
        signs |= j->o.key->encode(w.keys, from + i * step, step, n, j->flip);
        m += j->o.order->filter(w.items + m * j->o.item_bytes, w.keys, i, n,
                                limit, !known);
        if (m <= capacity) continue;
        j->o.order->select_items(w.items, w.spare, m, k);
        limit = largest_key(j, w.items, k);
        known = true;
        m = k;
    }
    j->o.order->select_items(w.items, w.spare, m, k);
    j->o.order->sort_items(w.items, w.spare, k);
    int64_t at_step, *at = positions_of(j, row, &at_step);
    j->o.order->split_items(w.items, k, w.keys, at, at_step);
    sort_deliver(j, row, w.keys, k, signs);
    return LA_OK;
}

/* Rows that fit in one block, or with many results: select among all items. */
static la_status topk_selected_row(void *context, int64_t row, char *block)
{
    const job *j = context;
    work w = work_in(j, block, j->n, j->n);
    int64_t step, *at = positions_of(j, row, &step);
    bool signs = sort_load_row(j, row, &w);
    j->o.order->smallest(w.keys, at, step, w.items, w.spare, j->n, j->k);
    if (la_poll_long(j->n)) return LA_EINTR;
    sort_deliver(j, row, w.keys, j->k, signs);
    return LA_OK;
}

/* LA_EARG unless 0 <= k <= n. */
static la_status prepare_topk(job *j, la_frame *f)
{
    j->k = la_arg_int(f, 1);
    LA_TRY(sort_prepare(j, la_arg(f, 0), la_arg_int(f, 2), la_arg_bool(f, 3),
                        "topk"));
    if (j->k < 0 || j->k > j->n)
        return la_error_at(LA_EARG, 2, "selected index k out of range: %lld of "
                           "%lld elements", (long long)j->k, (long long)j->n);
    return LA_OK;
}

/* (self, k, dim, largest) -> the k extremes in order, with 1-based
** positions. */
la_status la_meta_topk(la_frame *f)
{
    job j;
    la_shape s = la_shape_of(la_arg(f, 0));
    LA_TRY(prepare_topk(&j, f));
    if (s.ndim > 0) s.sizes[j.dim] = j.k;
    LA_TRY(la_set_output(f, 0, s.ndim, s.sizes, NULL,
                         (la_dtype)la_arg(f, 0)->dtype));
    LA_TRY(la_set_output(f, 1, s.ndim, s.sizes, NULL, LA_INT64));
    la_copy_names(la_result(f, 0), la_arg(f, 0));
    la_copy_names(la_result(f, 1), la_arg(f, 0));
    return LA_OK;
}

/* One element is found without keys; not where NaN, the largest, must lose. */
static bool is_search(const job *j)
{
    return j->k == 1 && (j->flip || !la_is_float((la_dtype)j->self->dtype))
        && la_is_contiguous(j->values) && la_is_contiguous(j->indices);
}

/* One result by a search, many by selection from all items, few of many by a
** filter that keeps the best so far. */
la_status la_impl_topk(la_frame *f)
{
    job j = {.values = la_result(f, 0), .indices = la_result(f, 1)};
    LA_TRY(prepare_topk(&j, f));
    if (j.self->ndim == 0) j.k = 1;     /* its one value, also for k = 0 */
    int64_t rows = row_count(&j), keys = BLOCK > j.k ? BLOCK : j.k;
    if (j.k == 0 || rows == 0) return LA_OK;
    if (is_search(&j))
        return la_find_most(j.self, j.dim, j.flip != 0, j.values, j.indices);
    if (j.n <= BLOCK || j.k > j.n / 256)
        return la_rows_run(rows, j.n, sort_work_bytes(&j, j.n, j.n),
                           topk_selected_row, &j);
    return la_rows_run(rows, j.n, sort_work_bytes(&j, keys, kept(j.k) + BLOCK),
                       topk_row, &j);
}

/* ---- kthvalue ---- */

/* Quickselect: the row is not sorted. */
static la_status kth_row(void *context, int64_t row, char *block)
{
    const job *j = context;
    work w = work_in(j, block, j->n, j->n);
    int64_t step, *at = positions_of(j, row, &step);
    bool signs = sort_load_row(j, row, &w);
    uint64_t key = j->o.order->kth(w.keys, w.items, w.spare, j->n, j->k, at);
    uint32_t narrow = (uint32_t)key;
    sort_deliver(j, row, j->o.key->wide ? (void *)&key : &narrow, 1, signs);
    return LA_OK;
}

/* LA_EARG unless 1 <= k <= n. */
static la_status prepare_kth(job *j, la_frame *f)
{
    j->k = la_arg_int(f, 1);
    LA_TRY(sort_prepare(j, la_arg(f, 0), la_arg_int(f, 2), false, "kthvalue"));
    if (j->k < 1 || j->k > j->n)
        return la_error_at(LA_EARG, 2, "kthvalue(): selected number k out of "
                           "range for dimension %d: %lld, 1 to %lld expected",
                           j->dim + 1, (long long)j->k, (long long)j->n);
    return LA_OK;
}

/* The result has size 1 in the dim while the rows are run. */
la_status la_impl_kthvalue(la_frame *f)
{
    job j = {.n = 0};
    la_tensor *x = la_arg(f, 0), *squeezed;
    la_shape s = la_shape_of(x);
    la_tensor *fresh[2] = {NULL, NULL};
    LA_TRY(prepare_kth(&j, f));
    if (s.ndim > 0) s.sizes[j.dim] = 1;
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, (la_dtype)x->dtype, &fresh[0]));
    la_set_result(f, 0, fresh[0]);
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, LA_INT64, &fresh[1]));
    la_set_result(f, 1, fresh[1]);
    la_copy_names(fresh[0], x);
    la_copy_names(fresh[1], x);
    j.values = fresh[0];
    j.indices = fresh[1];
    LA_TRY(la_rows_run(row_count(&j), j.n, sort_work_bytes(&j, j.n, j.n),
                       kth_row, &j));
    for (int k = 0; k < 2 && s.ndim > 0 && !la_arg_bool(f, 3); k++) {
        LA_TRY(la_run(select, &squeezed, fresh[k], j.dim, 0));
        la_tensor_release(fresh[k]);
        la_set_result(f, k, squeezed);
    }
    return LA_OK;
}
