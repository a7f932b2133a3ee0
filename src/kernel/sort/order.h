/*
** Order: sorting, selecting and searching by keys.
**
** A key is an unsigned integer whose order is that of the element it stands
** for: NaN comes last (all NaN are one key), -0.0 and 0.0 are one key, and for
** descending order the key is complemented. Elements of up to four bytes have
** 32-bit keys, wider ones 64-bit keys. An item is a key with the position that
** it came from, so that every method here is stable:
**   32-bit keys  uint64_t, key << 32 | position
**   64-bit keys  la_item64
** Work space is the caller's; nothing here fails or allocates. Passes over more
** than LA_POLL_ELEMENTS (base/runtime/thread_pool.h) end early when the
** operation is interrupted: results may not be read then, positions least of
** all.
*/
#ifndef LA_KERNEL_SORT_ORDER_H
#define LA_KERNEL_SORT_ORDER_H

#include "kernel/kernel.h"

#define LA_ORDER_ROWS 8

typedef struct la_item64 {
    uint64_t key, position;
} la_item64;

/* Per dtype. Steps are in bytes; 'flip' is 0, or all ones for descending. */
typedef struct la_key_kernels {
    /* 'keys' are uint32_t or uint64_t by 'wide'. True: -0.0 was seen. */
    bool (*encode)(void *keys, const char *data, int64_t step, int64_t n,
                   uint64_t flip);
    void (*decode)(char *data, int64_t step, const void *keys, int64_t n,
                   uint64_t flip);
    /* How many of m sorted elements are below (right: not above) each of n
    ** keys, plus 1: where each would be put in. */
    void (*search)(const void *sorted, int64_t m, const void *keys, int64_t n,
                   bool right, int64_t *out);
    bool wide;
} la_key_kernels;

/* Per width of the key: [0] for 32 bits, [1] for 64. */
typedef struct la_order_kernels {
    /* Sort n keys; 'spare' has a capacity of 2n. The result is in 'keys'. */
    void (*sort_keys)(void *keys, void *spare, int64_t n);
    /* Make items of n keys, positions from 'first' on. */
    void (*make_items)(void *items, const void *keys, int64_t first,
                       int64_t n);
    void (*sort_items)(void *items, void *spare, int64_t n);
    /* n keys and their 1-based positions; 'items' and 'spare' are work space
    ** for n items. */
    void (*sort_positions)(void *keys, int64_t *positions, int64_t step,
                           void *items, void *spare, int64_t n);
    /* Sort of up to LA_ORDER_ROWS short rows side by side: row r has its keys
    ** at keys + r * n and its positions at positions[r]. Rows have at most
    ** 'few' keys; 0 where this is not worth while. */
    void (*sort_rows)(void *keys, int64_t *const *positions, int64_t step,
                      int64_t n, int rows);
    int64_t few;
    /* The k smallest of n keys, sorted, in front of 'keys', and where they
    ** were; the rest as for sort_positions. */
    void (*smallest)(void *keys, int64_t *positions, int64_t step, void *items,
                     void *spare, int64_t n, int64_t k);
    /* The k-th smallest key, the k-th in stable order of its equals, and its
    ** 1-based position. */
    uint64_t (*kth)(const void *keys, void *work, void *spare, int64_t n,
                    int64_t k, int64_t *position);
    /* Move the k smallest items to the front, equal keys in their order. */
    void (*select_items)(void *items, void *spare, int64_t n, int64_t k);
    /* Keys and 1-based positions of sorted items; either may be NULL. */
    void (*split_items)(const void *items, int64_t n, void *keys,
                        int64_t *positions, int64_t step);
    /* Append items for the keys below 'limit' (all of them when 'all');
    ** returns how many. */
    int64_t (*filter)(void *items, const void *keys, int64_t first, int64_t n,
                      uint64_t limit, bool all);
    /* The first of each run of equal sorted keys; returns how many. starts
    ** (n + 1 elements) may be NULL. 'single' is a key that is never equal to
    ** itself (that of NaN), or one that no element has. */
    int64_t (*runs)(void *keys, int64_t n, uint64_t single, bool has_single,
                    int64_t *starts);
    /* 1 for each of n keys that is one of m; meant for a few. */
    void (*member)(const void *keys, int64_t n, const void *tests, int64_t m,
                   uint8_t *out);
    /* How many bits there are between the least key, 'low', and the largest. */
    int (*width)(const void *keys, int64_t n, uint64_t *low);
    /* 'member' for any m; 'table' has a byte for each of the 1 << width values
    ** from 'low' on: tests lie there, keys need not. */
    void (*looked_up)(const void *keys, int64_t n, const void *tests,
                      int64_t m, uint64_t low, int width, uint8_t *table,
                      uint8_t *out);
} la_order_kernels;

typedef la_key_kernels la_key_table[LA_NDTYPES];
typedef la_order_kernels la_order_table[2];
LA_STUB_DECLARE(la_key_table, keys);
LA_STUB_DECLARE(la_order_table, order);

#endif
