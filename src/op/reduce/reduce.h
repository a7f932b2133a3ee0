/*
** Reductions above the kernels, the rules that the operations share: dims,
** dtypes, sizes of results. The engine is iter/reduce_iter.h.
*/
#ifndef LA_OP_REDUCE_REDUCE_H
#define LA_OP_REDUCE_REDUCE_H

#include "iter/reduce_iter.h"
#include "op/op.h"
#include "tensor/shape.h"

/* The kernel table of a row of kind REDUCE for this processor. */
static inline const la_reductions *la_reductions_of(const la_op *op)
{
    return op->tables[la_cpu_cap()];
}

/* ---- plans, for those who make blocks of rows (src/fuse) ---- */

/* False for operations that are no such reduction, for complex numbers, and
** where the call converts or refuses its input: that is its own business. */
bool la_reduce_plan_of(const la_frame *f, la_reduce_plan *plan);
bool la_var_plan_of(const la_frame *f, la_reduce_plan *plan);

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
