/*
** A matrix product or a batch of them, described by pointers and strides, and
** what the kernels of its dtype need to know of it. The paths (gemm.c,
** gemm_packed.c) and the choice of an ISA extension are above.
*/
#ifndef LA_OP_MATMUL_GEMM_PROBLEM_H
#define LA_OP_MATMUL_GEMM_PROBLEM_H

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
    bool portable;            /* on no ISA extension; la_gemm_run sets it */
} la_gemm;

/* alpha 1 and all else off; the caller fills in sizes and operands. */
void la_gemm_init(la_gemm *g, la_dtype dtype);
la_gemm_scalar la_gemm_scalar_of(const la_scalar *s);

/* The kernels of a dtype at the capability in use; NULL: none. */
const la_gemm_kernels *la_gemm_kernels_of(la_dtype dtype);

/* The part that all blocks of a product have in common. */
la_gemm_block la_gemm_block_of(const la_gemm *g);

#endif
