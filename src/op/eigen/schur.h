/*
** Eigenvalues and vectors of a general matrix: balanced, reduced to Hessenberg
** form (op/eigen/reduce.h), brought to triangular form by QR iterations.
** Blocks of some size take many pairs of shifts at once, whose reflectors are
** gathered for a window and applied by matrix products (Braman, Byers and
** Mathias, SIAM J. Matrix Anal. Appl. 23, 2002); smaller ones a pair at a time
** (Francis). Vectors are solutions with the triangular matrix, by blocks.
*/
#ifndef LA_OP_EIGEN_SCHUR_H
#define LA_OP_EIGEN_SCHUR_H

#include "op/eigen/reduce.h"

/* Bytes of scratch, besides those of the reduction. */
size_t la_general_work(la_dtype dtype, int64_t n);

/* r: the matrix, loaded. values: n complex numbers. *vectors (NULL: none), in
** scratch: n rows of n complex numbers, whose columns are the vectors. */
la_status la_general_solve(la_condenser *r, double *values, double **vectors,
                           char *scratch, int32_t *info);

#endif
