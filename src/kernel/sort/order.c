/*
** Sorting, selecting and searching by keys: the tables 'order', whose contract
** is order.h. Which method sorts a row of n keys, from few to many:
**
**   n <= 16             each key's rank is counted (order.inc, by_rank); many
**                       such rows side by side: a network (short_rows.inc)
**   in order already    nothing
**   few distinct bits   counting sort (by_counting)
**   n <= BASE_CASE      vectors of 32 bits: the bits that differ over the index
**                       (by_index)
**   longer              bucket.inc, then each bucket as above; else quicksort
**                       by vectors (vector.inc, items.inc)
**   without vectors     least significant digit first (radix.inc)
**
** Passes over rows of more than LA_POLL_ELEMENTS ask whether the operation is
** interrupted, and so does whoever relies on what such a pass has left
** (la_poll_long): keys and positions are of no use then, nor are they all set.
**
** The template files below are included once for 32-bit and once for 64-bit
** keys. What radix.inc takes is also for order.inc, which follows it, and so is
** undefined by hand where nothing follows.
*/
#include "kernel/sort/order.h"

#include "base/runtime/interrupt.h"
#include "base/scratch.h"
#include "kernel/sort/sorting.h"

#include <string.h>

#define DIGIT 10   /* see radix.inc */
#define COUNTED 16 /* bits of keys that are sorted by counting */
#define VALUES 16  /* so many different keys are counted one by one */
#define RANKED 16  /* rows of so many are sorted by counting */

/* The digits of a sort: n of them, 'width' bits each, from bit 'low' up; the
** lowest bit that varies is 'least'. */
typedef struct digits {
    int n, width, low, least;
} digits;

/* The digits of n keys that differ in the bits 'vary': three at most, from the
** highest bit that varies down. Digits have about as many values as the row has
** keys, so that counting stays cheap. */
static digits choose_digits(uint64_t vary, int64_t n)
{
    int high = 64 - __builtin_clzll(vary), least = __builtin_ctzll(vary);
    int most = 63 - __builtin_clzll((uint64_t)n);
    most = most < 6 ? 6 : most > DIGIT ? DIGIT : most;
    int low = high - least > 3 * most ? high - 3 * most : least;
    int count = (high - low + most - 1) / most;
    return (digits){count, (high - low + count - 1) / count, low, least};
}

/* memcpy of many bytes. */
static void copy_long(void *to, const void *from, size_t bytes)
{
    int64_t n = (int64_t)bytes;
    for (int64_t i = 0, end; (end = la_poll_piece(i, n)) > i; i = end)
        memcpy((char *)to + i, (const char *)from + i, (size_t)(end - i));
}

/* A write to each page of memory that many elements go to in no order: the
** first ones would have all of it cleared by the kernel, in one stretch. */
static void touch_long(void *to, size_t bytes)
{
    int64_t n = (int64_t)bytes;
    if (n <= 16 * LA_POLL_ELEMENTS) return;
    for (int64_t i = 0, end; (end = la_poll_piece(i, n)) > i; )
        for (; i < end; i += 4096) ((volatile char *)to)[i] = 0;
}

#define PLAIN(x) (x)
#define PREFIX keys32
#define ITEM uint32_t
#define KEY uint32_t
#define KEYOF PLAIN
#include "kernel/sort/radix.inc"
#undef PREFIX
#undef ITEM
#undef KEY
#undef KEYOF

#define PREFIX keys64
#define ITEM uint64_t
#define KEY uint64_t
#define KEYOF PLAIN
#include "kernel/sort/radix.inc"
#undef PREFIX
#undef ITEM
#undef KEY
#undef KEYOF

#define FIELD(x) ((x).key)
#define PREFIX items64
#define ITEM la_item64
#define KEY uint64_t
#define KEYOF FIELD
#include "kernel/sort/radix.inc"
#undef PREFIX
#undef ITEM
#undef KEY
#undef KEYOF

#define PREFIX v32
#define LANE u32
#define KEY uint32_t
#define RADIX keys32_sort
#include "kernel/sort/vector.inc"
#define PREFIX v64
#define LANE u64
#define KEY uint64_t
#define RADIX keys64_sort
#include "kernel/sort/vector.inc"
#define PREFIX order32
#define LANE u32
#define KEY uint32_t
#include "kernel/sort/insertion.inc"
#define PREFIX order64
#define LANE u64
#define KEY uint64_t
#include "kernel/sort/insertion.inc"
#include "kernel/sort/items.inc"

/* Bucket sort, see bucket.inc: bits of a cell's number (one more for wide keys:
** the exponents of doubles take more bits), buckets at most, bits of a bucket's
** number where cells are buckets, keys per bucket at least. */
enum { CELL_BITS = 17, BUCKET_BITS = 12, EVEN_BITS = 13, PER_BUCKET = 128 };
#define PREFIX order32
#define KEY uint32_t
#include "kernel/sort/bucket.inc"
#define PREFIX order64
#define KEY uint64_t
#include "kernel/sort/bucket.inc"

/* Vectors win where there are any to sort by, but for one pass of digits. */
static bool by_vectors(int width, int64_t n)
{
    return VEC_SORTS && (n <= BASE_CASE || width > DIGIT);
}

/* Rows of up to so many are sorted side by side; FEW is 1 << FEW_BITS. */
#define FEW 16
#define FEW_BITS 4

/* Compare-exchange of one vector of items with another. */
static inline void few_order(uint64_t *a, uint64_t *b)
{
    u64v x = u64_load(a), y = u64_load(b);
    u64_order(&x, &y);
    u64_store(a, x);
    u64_store(b, y);
}

/* Compare-exchange of the vectors from..to-1 with the ones 'd' further on. */
static inline void few_orders(uint64_t *x, int64_t from, int64_t to, int64_t d,
                              int rows)
{
    for (int64_t i = from; i < to; i++)
        for (int r = 0; r < rows; r += U64_LANES)
            few_order(x + i * LA_ORDER_ROWS + r,
                      x + (i + d) * LA_ORDER_ROWS + r);
}

/* Batcher's merge exchange (Knuth, TAOCP vol. 3, 5.2.2, algorithm M), a sorting
** network for any n. It is stable because the items hold their indices. */
static void few_sort(uint64_t *x, int64_t n, int rows)
{
    int64_t top = 1;
    while (2 * top < n) top *= 2;
    for (int64_t p = top; p > 0; p /= 2) {
        int64_t d = p, start = 0;
        for (int64_t q = top; ; q /= 2) {
            for (int64_t i = start; i < n - d; i += 2 * p)
                few_orders(x, i, i + p < n - d ? i + p : n - d, d, rows);
            if (q == p) break;
            d = q - p;
            start = p;
        }
    }
}

#define UPPER(x) ((uint32_t)((x) >> 32))
#define PREFIX items32
#define ITEM uint64_t
#define KEY uint32_t
#define KEYOF UPPER
#include "kernel/sort/radix.inc"
#define KEYSORT keys32
#define VECTOR(name) v32_##name
#define SORTED(keys, other) ((uint32_t *)(keys))
#define NAME order32
#define BASE_SORT order32_base
#define TAKE u32_take
#define ITEM_OF(k, p) ((uint64_t)(k) << 32 | (p))
#define POSITION(x) ((x) & 0xffffffffu)
#include "kernel/sort/order.inc"
#define PREFIX order32
#define KEY uint32_t
#include "kernel/sort/short_rows.inc"

#define PREFIX items64
#define ITEM la_item64
#define KEY uint64_t
#define KEYOF FIELD
#define KEYSORT keys64
#define VECTOR(name) v64_##name
#define SORTED(keys, other) ((uint32_t *)(other))
#define NAME order64
#define BASE_SORT order64_base
#define TAKE u64_take
#define ITEM_OF(k, p) ((la_item64){(k), (p)})
#define POSITION(x) ((x).position)
#include "kernel/sort/order.inc"
#define PREFIX order64
#define KEY uint64_t
#include "kernel/sort/short_rows.inc"

const la_order_table LA_KERNEL(order) = {
    {order32_sort_keys, order32_make, items32_sort, order32_sort_positions,
     order32_sort_rows, VEC_SORTS ? FEW : 0,
     order32_smallest, order32_kth, order32_select, order32_split,
     order32_filter, order32_runs, order32_member, order32_width,
     order32_looked_up},
    {order64_sort_keys, order64_make, items64_sort, order64_sort_positions,
     order64_sort_rows, VEC_SORTS ? FEW : 0,
     order64_smallest, order64_kth, order64_select, order64_split,
     order64_filter, order64_runs, order64_member, order64_width,
     order64_looked_up},
};
