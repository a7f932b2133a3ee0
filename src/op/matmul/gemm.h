/*
** Matrix products above the kernels: from strided operands of any layout to
** packed blocks, small and vector paths, batches and threads.
**
** out = alpha * (a @ b) + beta * add + bias for every matrix of a batch.
** Strides are in elements. Which path is taken depends on sizes and strides
** alone, and all paths but the dot product (few rows or columns, k contiguous)
** sum in the same order, so the bits do not depend on threads or caches. Where
** an ISA extension is in use (kernel/matmul/gemm.h), products of 16-bit floats
** by packed blocks have its order; whether they take it depends on their sizes
** and on whether an operand holds what it would misread, all of it, not a part.
*/
#ifndef LA_OP_MATMUL_GEMM_H
#define LA_OP_MATMUL_GEMM_H

#include "op/matmul/gemm_problem.h"

/* LA_ENOMEM before anything is written; LA_EINTR may leave 'out' unfinished.
** LA_EDTYPE for bool and complex32. */
la_status la_gemm_run(const la_gemm *g);

/* Are the bits of an m x n product the same whatever its operands' strides? Of
** fewer rows or columns some strides have a path with sums in another order. */
static inline bool la_gemm_ignores_strides(int64_t m, int64_t n)
{
    return m > LA_GEMM_FEW && n > LA_GEMM_FEW;
}

#endif
