/*
** Rows of a tensor along one dim, and the working memory to order them; what
** the files on sorting and searching share.
*/
#ifndef LA_OP_SORT_ORDER_H
#define LA_OP_SORT_ORDER_H

#include "iter/items.h"
#include "kernel/sort/order.h"
#include "op/value.h"
#include "tensor/scalar.h"

/* The methods for one dtype. */
typedef struct la_order {
    const la_key_kernels *key;
    const la_order_kernels *order;
    int64_t key_bytes, item_bytes;
} la_order;
/* LA_EDTYPE for complex dtypes: they have no order. */
la_status la_order_of(la_dtype d, const char *what, la_order *out);

/* The key of zero and of NaN; false when the dtype has no NaN. */
uint64_t la_key_of_zero(const la_order *o, uint64_t flip);
bool la_key_of_nan(const la_order *o, la_dtype d, uint64_t flip, uint64_t *key);
static inline uint64_t la_key_at(const la_order *o, const void *keys, int64_t i)
{
    return o->key->wide ? ((const uint64_t *)keys)[i]
                        : ((const uint32_t *)keys)[i];
}

/* Byte offset of row 'r' of the rows along 'dim', in row-major order of the
** other dims. */
int64_t la_row_offset(const la_tensor *t, int dim, int64_t r);
/* Byte step, length and number of rows; a 0-dim tensor is one row of one. */
static inline int64_t la_row_step(const la_tensor *t, int dim)
{
    return t->ndim ? la_strides(t)[dim] * (int64_t)la_itemsize(t)
                   : (int64_t)la_itemsize(t);
}
static inline int64_t la_row_length(const la_tensor *t, int dim)
{
    return t->ndim ? la_sizes(t)[dim] : 1;
}

/* Call 'fn' for each row of 'length' elements, over threads, with 'bytes' of
** scratch for a call. LA_ENOMEM, LA_EINTR or LA_OK. */
la_status la_rows_run(int64_t rows, int64_t length, size_t bytes,
                      la_unit_fn fn, void *context);

/* The largest or least of each row, NaN before all else, the first of equals,
** and its 1-based position: contiguous results. In
** op/reduce/argmax.c. LA_EINTR, LA_OK. */
la_status la_find_most(const la_tensor *t, int dim, bool largest,
                       la_tensor *value, la_tensor *index);

/* Blocks of working memory that end with their scope. */
typedef struct la_work {
    void *block;
    size_t bytes;
} la_work;
void la_work_drop(la_work *w);
#define LA_WORK __attribute__((cleanup(la_work_drop))) la_work
la_status la_work_get(la_work *w, int64_t count, int64_t size);

#endif
