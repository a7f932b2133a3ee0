/*
** Floating reductions: what the loops of float.inc have in common, one driver
** for all formulas and dtypes. It moves accumulators as bytes and leaves the
** arithmetic to the loops; orders of additions are decided here.
**
** Rows that are not short (float.inc) go by blocks of 64 logical rows. Columns
** go eight rows at a time, and up to fifteen in the last pass; columns after
** the last whole vector are the end of a vector that goes back over its
** neighbours.
*/
#ifndef LA_KERNEL_REDUCE_FLOAT_DRIVER_H
#define LA_KERNEL_REDUCE_FLOAT_DRIVER_H

#include "kernel/reduce/map.h"

/* Bytes of accumulators: of a logical row, and of a block of them. */
#define FLOAT_ROW 256
#define FLOAT_BLOCK (64 * FLOAT_ROW)

/* The loops of one formula for one dtype (float.inc). */
struct la_float_kind {
    int64_t size, acc;     /* bytes of an element and of its accumulator */
    /* Rows of n contiguous elements, at most a block: the lanes of a logical
    ** row of the only one ('whole'), else of each row one vector, to which its
    ** lanes are halved. */
    void (*blocks)(const char *p, int64_t row, int64_t rows, int64_t n,
                   bool whole, char *out, const la_reduce_args *args);
    /* The accumulators of as many such vectors as one has lanes. */
    void (*transposed)(char *vectors, char *acc);
    /* The accumulator of the lanes of a logical row, which are overwritten. */
    void (*ends)(char *lanes, char *acc);
    /* One pass over whole vectors of contiguous columns: eight rows combined by
    ** halving where 'eight' says so, then 'more' rows one by one. 'fresh': acc
    ** holds nothing yet. */
    void (*columns)(const char *p, int64_t row, bool fresh, bool eight,
                    int64_t more, int64_t cols, char *acc,
                    const la_reduce_args *args);
    void (*combine)(char *into, const char *from, int64_t n);
    /* la_reduction.inner */
    void (*inner)(const la_reduce_rows *r, char *acc,
                  const la_reduce_args *args);
};

/* 'map' is NULL, or what makes the elements (then accumulators without gaps) of
** memory. */
typedef struct la_float_driver {
    /* rows of at least a logical row; not mapped */
    void (*inner)(const la_float_kind *k, const la_reduce_rows *r, char *acc,
                  const la_reduce_args *args);
    void (*mapped_inner)(const la_float_kind *k, const la_reduce_map *map,
                         const la_reduce_rows *r, char *acc,
                         const la_reduce_args *args);
    /* columns without gaps, or mapped ones */
    void (*outer)(const la_float_kind *k, const la_reduce_map *map,
                  const la_reduce_cols *c, char *acc,
                  const la_reduce_args *args);
} la_float_driver;
extern const la_float_driver LA_OWN_TABLE(reduce_float);

#endif
