/*
** The reduction engine: a tensor and a set of dims become an iterator by rows
** (iter.h), and that becomes few calls of a reduction kernel
** (kernel/reduce/reduce_loops.h) over rows or columns, cut by sizes alone.
*/
#ifndef LA_ITER_REDUCE_ITER_H
#define LA_ITER_REDUCE_ITER_H

#include "iter/iter.h"
#include "kernel/reduce/reduce_loops.h"

/* One pass over the input may fill two results (var and mean). */
typedef struct la_reduce_out {
    la_tensor *tensor;        /* owned by the caller */
    la_reduce_mode mode;
} la_reduce_out;

typedef struct la_reduce_job {
    const la_reduction *kernel;
    la_reduce_args args;      /* count is filled in */
    int nouts;
    la_reduce_out out[2];
    int decided;              /* any 1, all 0: the value that ends it; -1 */
} la_reduce_job;

/* Reduce the dims of 'mask', bit d for dim d. An output has the sizes of the
** other dims, or 1 in place of each reduced one. Elements that a result needs
** in one accumulator are combined in an order that depends on sizes and strides
** alone. LA_ENOMEM, LA_EINTR or LA_OK. */
la_status la_reduce_run(la_reduce_job *job, const la_tensor *in, uint64_t mask);

/* ---- blocks of rows, for those who make them (src/fuse) ---- */

/* Plan of a call with one result over the dims of 'mask'; args.count is for who
** knows the dims to fill in. */
typedef struct la_reduce_plan {
    const la_reduction *kernel;
    const la_reduction *squares;      /* the same of the elements' squares, bit
                              ** by bit for rows not transposed; or NULL */
    la_reduce_args args;      /* 'mode' included */
    uint64_t mask;
    bool keepdim;
    int64_t esize;            /* bytes of what is reduced */
    la_dtype dtype;           /* of the result */
} la_reduce_plan;

/* Rows without gaps, of at most LA_REDUCE_CHUNK elements, to results without
** gaps, in the order that la_reduce_run has for a contiguous tensor of such
** rows; 'alone' when the whole tensor is one. */
void la_reduce_dense(const la_reduce_plan *plan, const la_reduce_rows *r,
                     bool alone, char *out);
/* The accumulators of a longer row's pieces of LA_REDUCE_CHUNK elements (the
** last may be shorter), in order, to its result. They are overwritten. */
void la_reduce_join(const la_reduce_plan *plan, char *acc, int64_t pieces,
                    char *out);

#endif
