/*
** x[key] and x[key] = value, for the Lua binding and for hosts in C.
**
** A key is an array of items, one for each dim that it names. Positions in it
** count from 1, negative ones from the end, and both ends of a range belong to
** it, as in Lua: what a key means is decided here alone.
*/
#ifndef LA_OP_INDEX_KEY_H
#define LA_OP_INDEX_KEY_H

#include "op/value.h"

/* Items of a key at most: every dim once, and as many new axes. */
#define LA_MAX_ITEMS (2 * LA_MAX_DIMS)

typedef enum la_item_kind {
    LA_ITEM_INTEGER,    /* index 'first'; the dim goes */
    LA_ITEM_RANGE,      /* first to last, every step-th; step < 0 falls */
    LA_ITEM_NEWAXIS,    /* a new dim of size 1 */
    LA_ITEM_ELLIPSIS,   /* all dims that no other item names; once in a key */
    LA_ITEM_TENSOR      /* indices (int64, int32), or a mask (bool) that takes
                        ** as many dims as it has; of 0 dims it is an integer,
                        ** or a truth value */
} la_item_kind;

typedef struct la_index_item {
    la_item_kind kind;
    bool has_first, has_last;   /* false: from, or up to, the dim's end */
    int64_t first, last, step;
    la_tensor *tensor;          /* borrowed */
} la_index_item;

/* x[items]: a view where the items allow it, a copy through index tensors and
** falling ranges. 'out' is owned. Every step is a call of an operation (select,
** slice, unsqueeze, flip, index, alias), but for a plain tensor that nobody
** observes: there the view is made at once. LA_EINDEX for an item that is out
** of range or one too many, LA_EARG for a range that means nothing. */
la_status la_index_get(la_tensor *x, int n, const la_index_item *items,
                       la_tensor **out);
/* x[items] = value, by fill_, copy_ or index_put_; value NULL: the scalar. Dims
** of size 1 in front of a value with too many are dropped. On failure x is as
** it was. */
la_status la_index_put(la_tensor *x, int n, const la_index_item *items,
                       la_tensor *value, const la_scalar *scalar);

/* x[{i, j, ...}] and x[{i, j, ...}] = scalar, with n integers, at least one and
** at most LA_MAX_POINT: without items where nobody observes 'x'. */
enum { LA_MAX_POINT = 6 };
la_status la_index_get_at(la_tensor *x, int n, const int64_t *point,
                          la_tensor **out);
la_status la_index_put_at(la_tensor *x, int n, const int64_t *point,
                          const la_scalar *scalar);

/* Does i count an element of a dim of this size? */
static inline bool la_index_in_range(int64_t i, int64_t size)
{
    return i != 0 && i <= size && i >= -size;
}
/* Index i, which is in range, counted from 0. */
static inline int64_t la_index_from_0(int64_t i, int64_t size)
{
    return i > 0 ? i - 1 : i + size;
}
/* LA_EINDEX, in words, for an i that is not; 'dim' from 0. */
la_status la_index_out_of_range(int64_t i, int dim, int64_t size);

#endif
