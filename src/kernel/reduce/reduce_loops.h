/*
** The contract of reduction kernels.
**
** A reduction gathers elements in accumulators of 'acc_size' bytes. 'inner'
** reduces rows: n elements 'step' bytes apart become one accumulator; 'outer'
** reduces columns: 'rows' rows become one accumulator per column. Both write
** their accumulators (n or rows 0: the identity). 'combine' joins accumulators
** one by one, 'store' converts them to elements.
**
** Order: an inner row is cut into blocks of 64 times 256 bytes of accumulator;
** element i of a block goes to lane i mod (256 / size), lanes are halved at the
** end. The cut depends on n alone, so the bits are the same for every vector
** width, alignment, stride and number of threads.
*/
#ifndef LA_KERNEL_REDUCE_REDUCE_LOOPS_H
#define LA_KERNEL_REDUCE_REDUCE_LOOPS_H

#include "kernel/kernel.h"

/* Elements that one call of 'inner' should see at most: callers cut longer
** rows here and combine the parts pairwise. */
#define LA_REDUCE_CHUNK 32768

typedef enum la_reduce_mode {   /* what 'store' does */
    LA_STORE_PLAIN,
    LA_STORE_MEAN,        /* acc / count */
    LA_STORE_SQRT,        /* sqrt(acc) */
    LA_STORE_ROOT,        /* acc to the power 1/p */
    LA_STORE_VAR, LA_STORE_STD, LA_STORE_VAR_MEAN /* of var: the mean */
} la_reduce_mode;

typedef struct la_reduce_args {
    double p;             /* norms */
    double correction;    /* var, std */
    double count;         /* elements per result */
    la_reduce_mode mode;
} la_reduce_args;

typedef struct la_reduce_rows {
    const char *in;
    int64_t step, n;      /* within a row */
    int64_t row_step, rows;
} la_reduce_rows;

typedef struct la_reduce_cols {
    const char *in;
    int64_t row_step, rows;
    int64_t step, cols;   /* from column to column */
} la_reduce_cols;

/* The accumulator of reduce_var: mean, sum of squared deviations, count. */
typedef struct la_moments {
    double mean, m2, n;
} la_moments;

typedef struct la_reduction {
    int acc_size;
    int transpose_max;    /* rows up to this long are faster transposed, */
    bool own;             /* but not those without gaps */
    void (*inner)(const la_reduce_rows *r, char *acc, const la_reduce_args *);
    void (*outer)(const la_reduce_cols *c, char *acc, const la_reduce_args *);
    void (*combine)(char *into, const char *from, int64_t n);
    void (*store)(const char *acc, char *out, int64_t n,
                  const la_reduce_args *);
} la_reduction;

/* Indexed by the dtype of the input. */
typedef la_reduction la_reductions[LA_NDTYPES];

/* Tables that implementations ask for by name. A table that only rows of
** op/def/ name needs no line here: src/op/registry.c declares it from the row,
** and one that no kernel file defines is an error of the linker that names
** it. */
LA_STUB_DECLARE(la_reductions, reduce_sum);     /* ints, bool to int64 */
LA_STUB_DECLARE(la_reductions, reduce_nansum);
LA_STUB_DECLARE(la_reductions, reduce_max);     /* NaN wins; no complex */
LA_STUB_DECLARE(la_reductions, reduce_min);
LA_STUB_DECLARE(la_reductions, reduce_any);     /* to bytes 0 and 1 */
LA_STUB_DECLARE(la_reductions, reduce_all);
/* floats and complex numbers from here on */
LA_STUB_DECLARE(la_reductions, reduce_abs_sum);
LA_STUB_DECLARE(la_reductions, reduce_abs_max);
LA_STUB_DECLARE(la_reductions, reduce_abs_min);
LA_STUB_DECLARE(la_reductions, reduce_square);
LA_STUB_DECLARE(la_reductions, reduce_cube);
LA_STUB_DECLARE(la_reductions, reduce_power);   /* |x| to the power p */
LA_STUB_DECLARE(la_reductions, reduce_nonzero); /* count as a float */
LA_STUB_DECLARE(la_reductions, reduce_var);     /* no complex */
LA_STUB_DECLARE(la_reductions, reduce_lse);     /* log of sum of exp */

/* Rows of elements of 'size' bytes become columns: element i of row r goes to
** out + (i * width + r) * size. 'back' is the way back, into the memory of
** r->in. */
typedef struct la_reduce_transpose {
    void (*rows)(const la_reduce_rows *r, int64_t size, int64_t width,
                 char *out);
    void (*back)(const char *columns, int64_t size, int64_t width,
                 const la_reduce_rows *r);
} la_reduce_transpose;
LA_STUB_DECLARE(la_reduce_transpose, reduce_transpose);

/* Position of the largest or smallest element: positions count from 1; the
** first of equal ones, the first NaN. 'value' may be NULL. */
typedef struct la_arg_reduction {
    void (*rows)(const la_reduce_rows *r, int64_t *index, char *value);
    void (*cols)(const la_reduce_cols *c, int64_t *index, char *value);
} la_arg_reduction;
typedef la_arg_reduction la_arg_reductions[LA_NDTYPES];
LA_STUB_DECLARE(la_arg_reductions, reduce_argmax);
LA_STUB_DECLARE(la_arg_reductions, reduce_argmin);

#endif
