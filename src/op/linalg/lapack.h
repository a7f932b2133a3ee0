/*
** Calls of LAPACK for one matrix of the dtypes of linear algebra. A plan finds
** the routine and the sizes of its work arrays once for a batch; the call takes
** scratch of plan->bytes, aligned to a cache line. Matrices are in columns, as
** LAPACK has them. Calls return LAPACK's info, which is positive where the
** method did not converge.
*/
#ifndef LA_OP_LINALG_LAPACK_H
#define LA_OP_LINALG_LAPACK_H

#include "op/linalg/lapack_library.h"
#include "op/linalg/linalg.h"

typedef struct la_lapack_plan {
    la_field f;
    la_lapack_fn fn;
    int64_t m, n;
    int64_t work, rwork, iwork;   /* elements, real numbers, integers */
    int64_t own;              /* elements of ours, after them */
    size_t bytes;
    bool vectors, full;
} la_lapack_plan;

/* fn for each matrix of 'b', in threads where the library can; then
** la_check_finite of the codes. LAPACK asks nobody, so whoever waits for large
** matrices may be gone before it ends: fn gets a copy of the job of 'size'
** bytes, and all memory that it is to use besides belongs to the results and
** codes of 'b' or to 'copy'. */
la_status la_lapack_batch(const la_lapack_plan *p, const la_batch *b,
                          double work, la_matrix_fn fn, const void *job,
                          size_t size, la_tensor *copy);

/* Hermitian a (n x n, of which one triangle is read) becomes its vectors, if
** the plan has them, and 'values' the rising eigenvalues (syevd, heevd). */
la_status la_plan_eigh(la_lapack_plan *p, const la_field *f, int64_t n,
                       bool vectors);
int32_t la_lapack_eigh(const la_lapack_plan *p, char *a, bool upper,
                       char *values, char *scratch);

/* a (m x n) is destroyed; values fall; u (m x m, or m x min(m, n) unless full)
** and vh (n x n or min(m, n) x n) if the plan has vectors (gesdd). */
la_status la_plan_svd(la_lapack_plan *p, const la_field *f, int64_t m,
                      int64_t n, bool vectors, bool full);
int32_t la_lapack_svd(const la_lapack_plan *p, char *a, char *values, char *u,
                      char *vh, char *scratch);

/* a (n x n) is destroyed; n complex eigenvalues and, if the plan has vectors, n
** rows of n elements whose columns are those (geev). */
la_status la_plan_eig(la_lapack_plan *p, const la_field *f, int64_t n,
                      bool vectors);
int32_t la_lapack_eig(const la_lapack_plan *p, char *a, char *values,
                      char *vectors, char *scratch);

/* Are all elements of m rows of n finite, or those up to the diagonal or from
** it on? LAPACK may not come back from others. */
enum { LA_FULL_PART, LA_LOWER_PART, LA_UPPER_PART };
bool la_all_finite(const la_field *f, const char *a, int64_t m, int64_t n,
                   int part);

#endif
