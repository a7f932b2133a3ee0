/*
** Our own decompositions of one matrix, for which no library is needed:
** Hermitian matrices by tridiagonal form, singular values by bidiagonal form,
** general ones by Hessenberg form (LAPACK's sytrd, gebrd and gehrd: panels of
** columns, behind which the rest is updated by matrix products). All compute in
** double precision, real or complex, whatever the dtype of the matrix. The
** condensed matrices are solved by op/eigen/divide.h and op/eigen/schur.h.
**
** Steps ask whether to go on, and return LA_EINTR or LA_ENOMEM with results
** half done. How blocks are cut depends on sizes alone.
*/
#ifndef LA_OP_EIGEN_REDUCE_H
#define LA_OP_EIGEN_REDUCE_H

#include "kernel/linalg/columns.h"
#include "op/linalg/linalg.h"

/* A matrix in columns of whole lines of memory, and scratch to reduce it. */
typedef struct la_condenser {
    la_field f;               /* of float64 or complex128 */
    const la_span_kernels *ker;
    int64_t m, n, parts;      /* parts: real numbers of an element */
    int64_t step;             /* real numbers from one column to the next */
    int64_t most;             /* rows or columns, as real numbers, padded */
    double *a, *tau, *right;  /* factors of the reflectors, of those of rows */
    double *panel, *vectors;
    double *d, *e;            /* the diagonal and the one next to it */
    double scale;             /* what elements have been divided by */
} la_condenser;

/* LA_ESHAPE for sizes whose bytes of work can't be counted. */
la_status la_reduction_check(int64_t m, int64_t n, int64_t rows);
/* Bytes of all parts for m x n of this dtype; la_reduction_begin lays them
** out. */
size_t la_reduction_bytes(la_dtype dtype, int64_t m, int64_t n);
void la_reduction_begin(la_condenser *r, la_dtype dtype, int64_t m, int64_t n,
                        char *scratch);
/* The matrix in a (or its conjugate), of dtype 'from', divided by a power of
** two; its lower triangle alone with 'lower'. False: an element is not
** finite. */
bool la_reduction_load(la_condenser *r, la_dtype from, la_gemm_mat a,
                       bool lower, bool conj);
la_gemm_mat la_reduction_matrix(const la_condenser *r);

/* The lower triangle becomes Q T Q^H: reflectors below the subdiagonal. */
la_status la_reduce_tridiagonal(const la_condenser *r);
/* m >= n: Q B P^H, B upper bidiagonal: reflectors below the diagonal, and right
** of the superdiagonal. */
la_status la_reduce_bidiagonal(const la_condenser *r);
/* Q H Q^H: reflectors below the subdiagonal. */
la_status la_reduce_hessenberg(const la_condenser *r);

/* out (rows x cols) = the n rows of x, 'step' apart, as columns; what is beyond
** n is the identity. */
void la_write_rows(const la_condenser *r, const double *x, int64_t step,
                   int64_t n, int64_t rows, int64_t cols, la_gemm_mat out);
/* 'count' numbers of dtype 'to' at 'out' from x, times 'scale'; 'conj' complex
** ones conjugate. */
void la_store_doubles(const double *x, int64_t count, double scale, bool conj,
                      la_dtype to, char *out);

#endif
