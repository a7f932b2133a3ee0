/*
** Reductions above the kernels: from a tensor and a set of dims to few calls
** of a kernel, cut by sizes alone. Also the rules that the operations share:
** dims, dtypes, sizes of results.
*/
#ifndef LA_OP_REDUCE_REDUCE_H
#define LA_OP_REDUCE_REDUCE_H

#include "kernel/reduce/reduce.h"
#include "op/op.h"

/* One pass over the input may fill two results (var and mean). */
typedef struct la_reduce_out {
    la_tensor *tensor;        /* contiguous; sizes of the kept dims */
    la_reduce_mode mode;
} la_reduce_out;

typedef struct la_reduce_job {
    const la_reduction *kernel;
    la_reduce_args args;      /* count is filled in */
    int nouts;
    la_reduce_out out[2];
    int decided;              /* any 1, all 0: the value that ends it; -1 */
} la_reduce_job;

/* The kernel table of a row of kind REDUCE for this processor. */
static inline const la_reductions *la_reductions_of(const la_op *op)
{
    return op->reductions[la_cpu_cap()];
}

/* Reduce the dims of 'mask'. LA_ENOMEM, LA_EINTR or LA_OK. */
la_status la_reduce_run(la_reduce_job *job, const la_tensor *in, uint64_t mask);

/* ---- blocks of rows, for those who make them (src/fuse) ---- */

/* What a call with one result does with the dims of 'mask'; args.count is for
** who knows the dims to fill in. */
typedef struct la_reduce_plan {
    const la_reduction *kernel;
    const la_reduction *squares;      /* the same of the elements' squares, bit
                              ** by bit for rows that are not turned; or NULL */
    la_reduce_args args;      /* 'mode' included */
    uint64_t mask;
    bool keepdim;
    int64_t esize;            /* bytes of what is reduced */
    la_dtype dtype;           /* of the result */
} la_reduce_plan;

/* False for operations that are no such reduction, for complex numbers, and
** where the call converts or refuses its input: that is its own business. */
bool la_reduce_plan_of(const la_frame *f, la_reduce_plan *plan);
bool la_var_plan_of(const la_frame *f, la_reduce_plan *plan);

/* Rows without gaps, of at most LA_REDUCE_CHUNK elements, to results without
** gaps, in the order that la_reduce_run has for a contiguous tensor of such
** rows; 'alone' when the whole tensor is one. */
void la_reduce_dense(const la_reduce_plan *plan, const la_reduce_rows *r,
                     bool alone, char *out);
/* The accumulators of a longer row's pieces of LA_REDUCE_CHUNK elements (the
** last may be shorter), in order, to its result. They are overwritten. */
void la_reduce_join(const la_reduce_plan *plan, char *acc, int64_t pieces,
                    char *out);

/* ---- rules ---- */

/* The dims that argument k (dim, dim[] or nil) names; nil and an empty list
** are all of them. */
la_status la_reduce_dims(const la_frame *f, int k, const la_tensor *self,
                         uint64_t *mask);
/* Sizes of the result: reduced dims are dropped, or 1 with keepdim. */
la_shape la_reduce_shape(const la_tensor *self, uint64_t mask, bool keepdim);
/* set_output with these sizes. */
la_status la_reduce_output(la_frame *f, int k, const la_tensor *self,
                           uint64_t mask, bool keepdim, la_dtype dtype);
/* PyTorch's refusal to reduce a dim of size 0 without an identity. */
la_status la_reduce_check_nonzero(const la_tensor *self, uint64_t mask,
                                  const char *name, bool whole);
/* Give 'out' the names of 'self', of the same dims. */
la_status la_take_names(la_tensor *out, const la_tensor *self);
/* Replace *slot (owned; may be NULL) by 't' converted to a dtype. */
la_status la_convert_to(la_tensor *t, la_dtype to, la_tensor **slot);
static inline uint64_t la_all_dims(const la_tensor *t)
{
    return t->ndim >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << t->ndim) - 1;
}

#endif
