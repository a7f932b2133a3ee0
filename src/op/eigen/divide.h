/*
** Real tridiagonal and bidiagonal matrices, in double precision: what is left
** of eigenvalues and singular values of matrices of any dtype after their
** reduction (op/eigen/reduce.h). Values alone come from QR iterations, vectors
** from divide and conquer: small blocks by QR iterations are joined pairwise,
** each time by an equation for the new values and matrix products.
**
** Calls return LA_EINTR or LA_ENOMEM with results half done; *info is 1 where
** an iteration did not converge. Elements should be at most near 1.
*/
#ifndef LA_OP_EIGEN_DIVIDE_H
#define LA_OP_EIGEN_DIVIDE_H

#include "op/linalg/blocked.h"

/* Bytes of 'work' for the vectors of n values, of 'sets' 1 or 2 (left and
** right). */
size_t la_divide_work(int64_t n, int sets);

/* d: the diagonal of a symmetric tridiagonal matrix becomes its values, which
** rise; e: n - 1 elements next to it, lost. x: n rows, 'step' apart, become the
** vectors. */
la_status la_tridiagonal_values(double *d, double *e, int64_t n,
                                int32_t *info);
la_status la_tridiagonal_vectors(double *d, double *e, int64_t n, double *x,
                                 int64_t step, char *work, int32_t *info);

/* Functions for an upper bidiagonal matrix U diag(d) V^T, whose values fall:
** the rows of u and v are columns of U and V. */
la_status la_bidiagonal_values(double *d, double *e, int64_t n,
                               int32_t *info);
la_status la_bidiagonal_vectors(double *d, double *e, int64_t n, double *u,
                                double *v, int64_t step, char *work,
                                int32_t *info);

/* ---- between divide.c and condensed.c ---- */

/* QR iterations on blocks; their rotations take part of 'cols' elements of the
** rows of x, u and v (NULL: none). Values in no order; false: they did not
** converge, or the host says stop. */
bool la_tridiagonal_qr(double *d, double *e, int64_t n, double *x,
                       int64_t step, int64_t cols);
/* Values alone, of elements up to near 1. */
bool la_tridiagonal_pwk(double *d, double *e, int64_t n);
bool la_bidiagonal_qr(double *d, double *e, int64_t n, double *u, double *v,
                      int64_t step, int64_t cols);
/* r, and c and s with c x + s y = r, c y - s x = 0. */
double la_rotation_of(double x, double y, double *c, double *s);
/* Rows p and q of 'cols' elements become c p + s q and c q - s p. */
void la_rotate_rows(double *p, double *q, int64_t cols, double c, double s);

/* The equation 1 + rho sum(z_i^2 / (d_i - x)) = 0 for rising d (with 'squares'
** for x and d in squares), rho > 0: its n roots, and in row k of 'gaps' (n x n)
** the d_i - root k (differences of squares). z becomes the vector to which the
** roots belong exactly (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 15, 1994
** and 16, 1995). 'spare': n numbers. */
typedef struct la_secular {
    int64_t n;
    const double *d;
    double *z, *roots, *gaps, *spare;
    double rho;
    bool squares;
} la_secular;
la_status la_secular_solve(const la_secular *s, int32_t *info);

#endif
