/*
** Our own decompositions of one matrix, for which no library is needed: Hermitian
** matrices by tridiagonal form, singular values by bidiagonal form, general ones
** by Hessenberg form (LAPACK's sytrd, gebrd and gehrd: panels of columns, behind
** which the rest is updated by matrix products). The condensed matrices are real
** or small, and are solved in double precision for all dtypes
** (op/linalg/divide.h) or in the matrix' own (op/linalg/schur.h).
**
** All ask whether to go on, and return LA_EINTR or LA_ENOMEM with results half
** done. *info is -1 where an element is not finite, 1 where the method did not
** converge. How blocks are cut depends on sizes alone.
*/
#ifndef LA_OP_LINALG_REDUCE_H
#define LA_OP_LINALG_REDUCE_H

#include "op/linalg/linalg.h"

/* A matrix in columns of whole lines of memory, and room to reduce it. */
typedef struct la_reduction {
    const la_field *f;
    int64_t m, n;
    int64_t step;             /* real numbers from one column to the next */
    int64_t most;             /* rows or columns, in real numbers, and padding */
    char *a, *tau, *right;    /* factors of the reflectors, of those of rows */
    char *panel, *vectors;
    double *d, *e;            /* the diagonal and the one beside it */
    double scale;             /* what elements have been divided by */
} la_reduction;

/* Bytes of all parts for m x n; la_reduction_begin lays them out. */
size_t la_reduction_bytes(const la_field *f, int64_t m, int64_t n);
void la_reduction_begin(la_reduction *r, const la_field *f, int64_t m,
                        int64_t n, char *scratch);

/* The steps for one dtype. */
typedef struct la_reducer {
    /* The matrix with these strides (or its conjugate) divided by a power of
    ** two; its lower triangle alone with 'lower'. False: an element is not
    ** finite. */
    bool (*load)(la_reduction *, const la_gemm_mat *a, bool lower, bool conj);
    /* The lower triangle becomes Q T Q^H: reflectors below the subdiagonal. */
    la_status (*tridiagonal)(const la_reduction *);
    /* m >= n: Q B P^H, B upper bidiagonal: reflectors below the diagonal, and
    ** right of the superdiagonal. */
    la_status (*bidiagonal)(const la_reduction *);
    /* Q H Q^H: reflectors below the subdiagonal. */
    la_status (*hessenberg)(const la_reduction *);
    /* out (rows x cols) = the n rows of x, 'step' apart, as columns; what is
    ** beyond n is the identity. */
    void (*place)(const la_reduction *, const double *x, int64_t step,
                  int64_t n, int64_t rows, int64_t cols, la_gemm_mat out);
    void (*conjugate)(la_gemm_mat a, int64_t m, int64_t n);
    /* x, multiplied with the scale, as numbers of the dtype. */
    void (*values)(const la_reduction *, const double *x, int64_t n,
                   char *out);
} la_reducer;
const la_reducer *la_reducer_of(la_dtype dtype);

#endif
