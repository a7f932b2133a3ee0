/*
** Products by packed blocks (gemm_packed.c), and the arithmetic of positions
** and shares that all paths use.
*/
#ifndef LA_OP_MATMUL_GEMM_PATHS_H
#define LA_OP_MATMUL_GEMM_PATHS_H

#include "base/size.h"
#include "op/matmul/gemm_problem.h"

#define SMALL_WORK ((int64_t)1 << 17)  /* multiply-adds worth a thread */

/* One product (no batch) on all threads. LA_ENOMEM before anything is written;
** LA_EINTR may leave 'out' unfinished. */
la_status la_gemm_packed(const la_gemm *g, const la_gemm_kernels *ker);

/* The packed product on this thread alone, in 'scratch' of so many bytes. */
size_t la_gemm_packed_bytes(const la_gemm *g, const la_gemm_kernels *ker);
la_status la_gemm_packed_in(const la_gemm *g, const la_gemm_kernels *ker,
                            char *scratch);

/* The address of element (i, j), NULL for an absent operand; 'size' in
** bytes. */
static inline char *gemm_at(const la_gemm_mat *m, int64_t i, int64_t j,
                            int64_t size)
{
    return m->data ? m->data + (i * m->rs + j * m->cs) * size : NULL;
}

/* The block without its first i rows and j columns. */
static inline void shift(la_gemm_block *b, int64_t i, int64_t j, int64_t size)
{
    b->out.data = gemm_at(&b->out, i, j, size);
    b->add.data = gemm_at(&b->add, i, j, size);
    b->bias.data = gemm_at(&b->bias, i, j, size);
    if (b->part) b->part += i * b->part_rs + j;
}

/* Part t of n units, in units; the first parts take the remainder. */
static inline int64_t share(int64_t n, int t, int parts)
{
    return n / parts * t + la_min(n % parts, t);
}

#endif
