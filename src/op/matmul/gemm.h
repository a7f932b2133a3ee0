/*
** Matrix products above the kernels: from strided operands of any layout to
** packed blocks, small and vector paths, batches and threads.
**
** out = alpha * (a @ b) + beta * add + bias for every matrix of a batch.
** Strides are in elements. Which path is taken depends on sizes and strides
** alone, and all paths but the dot product (few rows or columns, k contiguous)
** sum in the same order, so the bits do not depend on threads or caches. Where
** a ISA extension is in use (kernel/matmul/gemm.h), products of 16-bit floats
** by packed blocks have its order; whether they take it depends on their sizes
** and on whether an operand holds what it would misread, all of it, not a part.
*/
#ifndef LA_OP_MATMUL_GEMM_H
#define LA_OP_MATMUL_GEMM_H

#include "base/status.h"
#include "kernel/matmul/gemm.h"

typedef struct la_gemm {
    la_dtype dtype;           /* of every operand and of the result */
    int64_t m, n, k;
    la_gemm_mat a, b;         /* m x k and k x n */
    la_gemm_mat out;          /* must not overlap a or b */
    la_gemm_mat add;          /* data NULL: beta is 0; may be 'out' itself */
    la_gemm_mat bias;         /* data NULL: none */
    la_gemm_scalar alpha, beta;
    bool conj_a, conj_b, conj_add;  /* complex only */
    int nbatch;               /* dims of the batch; 0 for one product */
    const int64_t *batch;     /* their sizes, and the steps per operand: */
    const int64_t *a_step, *b_step, *out_step, *add_step;
} la_gemm;

/* alpha 1 and all else off; the caller fills in sizes and operands. */
void la_gemm_init(la_gemm *g, la_dtype dtype);
la_gemm_scalar la_gemm_scalar_of(const la_scalar *s);

/* LA_ENOMEM before anything is written; LA_EINTR may leave 'out' unfinished.
** LA_EDTYPE for bool and complex32. */
la_status la_gemm_run(const la_gemm *g);

/* The kernels of a dtype at the capability in use; NULL: none. */
const la_gemm_kernels *la_gemm_kernels_of(la_dtype dtype);
/* The ISA extension that its packed blocks may go to; NULL: none. */
const la_gemm_kernels *la_gemm_extension_of(la_dtype dtype);
/* The extensions in use, as la_cpu_extensions; those of tiles have been
** tried. */
unsigned la_gemm_extensions(void);

#endif
