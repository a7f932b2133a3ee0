/*
** The contract of the linear algebra kernels.
**
** Two kinds. Batches of small matrices (all sizes at most LA_SMALL) are
** interleaved, so that lane l of a vector holds an element of matrix l of a
** group: every step is a vector instruction whatever the size, pivots are
** chosen by selects, and a matrix has the same bits in any lane and group.
** Larger matrices are cut by op/linalg into blocks whose products are matrix
** products; what is left are panels of LA_PANEL columns.
**
** Strides and steps are in elements. Kernels take no memory and can't fail; a
** zero pivot is told by 'info'. Methods and conventions are LAPACK's (getf2,
** potf2, geqr2, larft): pivots and orders of minors count from 1, the size of a
** complex number in the search for a pivot is |re| + |im|.
*/
#ifndef LA_KERNEL_LINALG_LINALG_H
#define LA_KERNEL_LINALG_LINALG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "kernel/matmul/gemm.h"

enum {
    LA_SMALL = 16,        /* rows and columns of a small matrix at most */
    LA_PANEL = 16,        /* columns of a panel */
    LA_JACOBI = 8         /* of small matrices: eigenvalues, singular values */
};

/* A batch of matrices: the first, and elements from one to the next. */
typedef struct la_mats {
    la_gemm_mat mat;          /* data NULL: not there */
    int64_t step;
} la_mats;

/* 'count' small matrices a, m x n, and what is made of them. Results may be
** the operands themselves, but overlap nothing else. */
typedef struct la_small {
    int m, n, k;
    int64_t count;
    la_mats a, b;             /* b: n x k right-hand sides */
    la_mats x;                /* n x k solutions, or the main result */
    la_mats f;                /* m x n factors */
    int32_t *pivots;          /* min(m, n) of each, 1-based; NULL: not wanted */
    int32_t *info;            /* one of each; NULL: not wanted */
    char *det;                /* one element of each; NULL: not wanted */
    char *tau;                /* min(m, n) elements of each; NULL: none */
    char *values;             /* min(m, n) real numbers of each */
    bool pivot;               /* lu: exchange rows */
    bool conj;                /* the conjugate of a is meant */
    bool reverse, unit;       /* triangular: upper, ones on the diagonal */
} la_small;

/* A diagonal block of a triangular matrix, n x n, n <= LA_PANEL. */
typedef struct la_triangle {
    la_gemm_mat a;
    int n;
    bool upper, unit, conj;
} la_triangle;

typedef struct la_linalg_kernels {
    /* lu: P a = L U. Any of f (L below U), pivots, info, det; x where a is
    ** square: the solution for b, or the inverse where b.mat.data is NULL. A
    ** zero pivot leaves zeros in its column of L and x unspecified. */
    void (*small_lu)(const la_small *);
    /* x = L, n x n, of the lower triangle of a, zeros above. info: the first
    ** minor that is not positive; rows from there on are unspecified. */
    void (*small_cholesky)(const la_small *);
    /* x = a^-1 b for a triangular a. */
    void (*small_triangular)(const la_small *);
    /* f: R above the Householder vectors, tau their factors; x (m x k, k from
    ** min(m, n) to m): the first columns of Q. R alone is f with
    ** 'unit' (nothing but zeros below the diagonal, min(m, n) rows or, if k is
    ** more, k). */
    void (*small_qr)(const la_small *);
    /* Of real numbers (complex: NULL), symmetric n x n, n <= LA_JACOBI, of
    ** which the lower triangle is read ('reverse': the upper one): values rise,
    ** x are the vectors (data NULL: not wanted). info (never NULL) is -1 where
    ** an element is not finite. */
    void (*small_eigh)(const la_small *);
    /* min(m, n) <= LA_JACOBI: values fall, x = U and f = V^H (both or neither),
    ** square with 'unit', else of min(m, n) columns and rows. info as above. */
    void (*small_svd)(const la_small *);

    /* ---- panels: rows of LA_PANEL elements in the kernel's own format ---- */
    int64_t row_bytes;
    /* An m x n part, n <= LA_PANEL, to a panel and back; zeros to the right. */
    void (*pack)(char *panel, const la_gemm_mat *a, int64_t m, int n);
    void (*unpack)(const char *panel, const la_gemm_mat *a, int64_t m, int n);
    /* LU of the first n columns of a panel of m rows: row j was exchanged with
    ** row pivots[j] (from 0). Returns the first zero pivot from 1, or 0. */
    int (*lu_panel)(char *panel, int64_t m, int n, int64_t *pivots,
                    bool pivot);
    /* Householder QR of the same; tau has min(m, n) elements. */
    void (*qr_panel)(char *panel, int64_t m, int n, char *tau);
    /* L of the lower triangle of a block, in place. Returns info. */
    int (*cholesky_block)(const la_gemm_mat *a, int n);
    /* b = t^-1 b, b of k columns. */
    void (*solve_block)(const la_triangle *t, const la_gemm_mat *b, int64_t k);
    /* The triangular factor T of n reflectors (larft) from tau and from
    ** 'gram', V^H V; both n x n, row-major. */
    void (*reflector_factor)(char *t, const char *gram, const char *tau,
                             int64_t n);
    /* Determinants with a step of 'step' elements: the product of the diagonal
    ** of n elements (det, of 'odd' exchanges negated); and log |.| and the sign
    ** or phase of it. */
    void (*log_det)(const char *diagonal, int64_t step, int64_t n, bool odd,
                    char *sign, char *log_abs);
    void (*det)(const char *diagonal, int64_t step, int64_t n, bool odd,
                char *det);
} la_linalg_kernels;

LA_STUB_DECLARE(la_linalg_kernels, linalg_f32);
LA_STUB_DECLARE(la_linalg_kernels, linalg_f64);
LA_STUB_DECLARE(la_linalg_kernels, linalg_c64);
LA_STUB_DECLARE(la_linalg_kernels, linalg_c128);

#endif
