/*
** Passes over the columns of a matrix of double precision, in which reductions
** to tridiagonal, bidiagonal and Hessenberg form spend what is no matrix
** product.
**
** A column is whole lines of memory; what is beyond its end is finite. To these
** passes a complex column is one of twice as many real numbers: both parts of a
** product with it are real products. So a vector of complex numbers has two
** forms: x and, 'apart' numbers further, (x.im, -x.re); what is added to is two
** vectors, of which the sum is the first plus i times the second. A line is
** always summed in the same order: bits do not depend on the width of vectors.
*/
#ifndef LA_KERNEL_LINALG_COLUMNS_H
#define LA_KERNEL_LINALG_COLUMNS_H

#include <stdint.h>

#include "kernel/kernel.h"

enum { LA_LINE = 64 };        /* bytes */

typedef struct la_colset {
    const double *a;
    int64_t step, apart;      /* real numbers to the next column, vector */
    int64_t cols, lines;
} la_colset;

typedef struct la_span_kernels {
    /* y[k] = a_k^H x; z += a_k s[k] for all k. */
    void (*dots)(const la_colset *, const double *x, double *y);
    void (*sums)(const la_colset *, const double *s, double *z);
    /* Both for the lower triangle of a square matrix, with s = x: columns begin
    ** at the line of their diagonal, before which they are zero. */
    void (*both)(const la_colset *, const double *x, double *y, double *z);
    /* n = 2 or 3 neighbouring columns from the right by I - tau u u^H with
    ** u = (1, v[0], v[1]) and tau = v[2]; v[1] = 0 for two. Products are
    ** rounded on every capability. */
    void (*reflect)(double *a, int64_t step, int64_t rows, int n,
                    const double *v);
} la_span_kernels;

LA_STUB_DECLARE(la_span_kernels, columns_f64);
LA_STUB_DECLARE(la_span_kernels, columns_c128);

#endif
