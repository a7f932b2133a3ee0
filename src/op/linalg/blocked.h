/*
** Factorizations of one matrix of any size, in place, by blocks whose products
** are matrix products (op/matmul). Strides are in elements. All may return
** LA_ENOMEM or LA_EINTR with the matrix half done; how blocks are cut depends
** on sizes alone, so the bits do not depend on threads.
*/
#ifndef LA_OP_LINALG_BLOCKED_H
#define LA_OP_LINALG_BLOCKED_H

#include "kernel/linalg/linalg.h"
#include "op/matmul/gemm.h"

typedef struct la_field {     /* a dtype with its kernels */
    la_dtype dtype;
    const la_linalg_kernels *ker;
    int64_t size;             /* bytes of an element */
} la_field;

/* dtype is float32, float64, complex64 or complex128. */
la_field la_field_of(la_dtype dtype);

/* Bytes of the real numbers that belong to it. */
static inline int64_t la_real_size(const la_field *f)
{
    return la_is_complex(f->dtype) ? f->size / 2 : f->size;
}

static inline la_gemm_mat la_mat_at(const la_field *f, la_gemm_mat a,
                                    int64_t i, int64_t j)
{
    a.data += (i * a.rs + j * a.cs) * f->size;
    return a;
}
static inline la_gemm_mat la_mat_t(la_gemm_mat a)
{
    return (la_gemm_mat){a.data, a.cs, a.rs};
}

/* Bytes of scratch, so that what follows begins at a cache line. */
static inline size_t la_whole_lines(int64_t bytes)
{
    return (size_t)((bytes + 63) & ~(int64_t)63);
}

/* out = a b, or out -= a b, for m x k and k x n. */
enum { LA_CONJ_A = 1, LA_CONJ_B = 2, LA_SUBTRACT = 4 };
la_status la_mat_product(const la_field *f, la_gemm_mat a, la_gemm_mat b,
                         la_gemm_mat out, int64_t m, int64_t n, int64_t k,
                         int flags);

/* Properties of a triangular matrix; conj: its conjugate is meant. */
enum { LA_UPPER = 1, LA_UNIT = 2, LA_CONJ = 4 };

/* b = t^-1 b for n x n and n x k; the other triangle is not read. */
la_status la_blocked_triangular(const la_field *f, la_gemm_mat t, int flags,
                                la_gemm_mat b, int64_t n, int64_t k);

/* LU of m x n with row exchanges: pivots (min(m, n), from 1; never NULL) as in
** LAPACK. 'panel' is scratch for m rows of ker->row_bytes. *info: the first
** zero pivot. */
la_status la_blocked_lu(const la_field *f, la_gemm_mat a, int64_t m, int64_t n,
                        bool pivot, char *panel, int32_t *pivots,
                        int32_t *info);
/* Rows first..end-1 of 'cols' columns exchanged as the pivots say, backwards
** with 'undo'. */
void la_exchange_rows(const la_field *f, la_gemm_mat a, int64_t cols,
                      const int32_t *pivots, int64_t first, int64_t end,
                      bool undo);

/* L of the lower triangle; the upper one is not touched. */
la_status la_blocked_cholesky(const la_field *f, la_gemm_mat a, int64_t n,
                              int32_t *info);

/* R above the Householder vectors; tau has min(m, n) elements. 'work' has
** la_qr_work bytes, for c of up to k columns. */
size_t la_qr_work(const la_field *f, int64_t m, int64_t k);
la_status la_blocked_qr(const la_field *f, la_gemm_mat a, int64_t m, int64_t n,
                        char *tau, char *work);
/* c = H c for c of m x k, where H is the product of the 'rank' reflectors below
** the diagonal of a; or H^H c. */
enum { LA_ADJOINT = 1,
       LA_IDENTITY = 2 };     /* c is columns of the identity matrix */
la_status la_blocked_reflect(const la_field *f, la_gemm_mat a,
                             const char *tau, int64_t rank, la_gemm_mat c,
                             int64_t m, int64_t k, int flags, char *work);

#endif
