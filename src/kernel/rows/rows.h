/*
** The contract of row-wise kernels: functions of whole rows that give rows of
** the same length. Rows lie without gaps one after another, in the input and
** in the output; sums run over lanes of 128 bytes, so the bits do not depend
** on the vector width. Floating dtypes only.
*/
#ifndef LA_KERNEL_ROWS_ROWS_H
#define LA_KERNEL_ROWS_ROWS_H

#include <stdbool.h>

#include "kernel/kernel.h"

typedef struct la_softmax {
    /* 'rows' rows of n elements. */
    void (*rows)(const char *in, char *out, int64_t n, int64_t rows);
    /* n rows of 'cols' columns, 'row_step' bytes apart; along the columns. */
    void (*columns)(const char *in, char *out, int64_t n, int64_t row_step,
                    int64_t cols);
} la_softmax;
typedef la_softmax la_softmaxes[LA_NDTYPES];
LA_STUB_DECLARE(la_softmaxes, softmax);
LA_STUB_DECLARE(la_softmaxes, log_softmax);

/* Their gradients, from the gradient and the result of the forward call. */
typedef struct la_softmax_grad {
    void (*rows)(const char *dy, const char *y, char *out, int64_t n,
                 int64_t rows);
    void (*columns)(const char *dy, const char *y, char *out, int64_t n,
                    int64_t row_step, int64_t cols);
} la_softmax_grad;
typedef la_softmax_grad la_softmax_grads[LA_NDTYPES];
LA_STUB_DECLARE(la_softmax_grads, softmax_grad);
LA_STUB_DECLARE(la_softmax_grads, log_softmax_grad);

/* -log_softmax(row)[label], labels from 1 and within the row, and the log of
** the row's sum of exponentials (float, or double for float64); 'grad' is of
** the losses, a number per row. */
typedef struct la_entropy {
    void (*rows)(const char *in, const int64_t *label, int64_t n, int64_t rows,
                 char *loss, char *lse);
    void (*grad)(const char *grad, const char *in, const int64_t *label,
                 const char *lse, int64_t n, int64_t rows, char *out);
} la_entropy;
typedef la_entropy la_entropies[LA_NDTYPES];
LA_STUB_DECLARE(la_entropies, entropy);

/* (x - mean) * rstd * weight + bias, row by row; weight, bias, mean and rstd
** may be NULL. mean and rstd are float, or double for float64. 'centred' off:
** the root of the mean square is the scale and nothing is taken off. */
typedef struct la_norm_rows {
    const char *in;
    char *out;
    const char *weight, *bias;
    char *mean, *rstd;
    int64_t n, rows;
    double eps;
    bool centred;
} la_norm_rows;
/* 'out' may be NULL: the statistics alone. */
typedef void (*la_row_norm_fn)(const la_norm_rows *r);
typedef la_row_norm_fn la_row_norms[LA_NDTYPES];
LA_STUB_DECLARE(la_row_norms, row_norm);

/* The gradient of the row norm for the input: dy, x, weight, mean and rstd give
** dx. The sums over the rows that are the gradients of weight and bias are
** added to dweight and dbias (of mean's dtype), where they are not NULL. */
typedef struct la_row_norm_grad {
    const char *dy, *in, *weight, *mean, *rstd;
    char *out, *dweight, *dbias;
    int64_t n, rows;
    int64_t apart;      /* elements from a row of dy to the next: n, or 0 where
                        ** one serves for all */
    bool centred;
} la_row_norm_grad;
typedef void (*la_row_norm_grad_fn)(const la_row_norm_grad *r);
typedef la_row_norm_grad_fn la_row_norm_grads[LA_NDTYPES];
LA_STUB_DECLARE(la_row_norm_grads, row_norm_grad);

/* Batch and group norm, for a plane of n elements without gaps:
**   apply   out = (in - k[0]) * k[1] + k[2]
**   sums    sums[0] of dy, sums[1] of dy * (in - mean), added in blocks in
**           double
**   back    out = dy * k[1] + (in - k[0]) * k[2] + k[3]
** The coefficients are double and are rounded to float but for float64. */
typedef struct la_plane_norm {
    void (*apply)(const char *in, char *out, int64_t n, const double *k);
    void (*sums)(const char *dy, const char *in, int64_t n, double mean,
                 double *sums);
    void (*back)(const char *dy, const char *in, char *out, int64_t n,
                 const double *k);
} la_plane_norm;
typedef la_plane_norm la_plane_norms[LA_NDTYPES];
LA_STUB_DECLARE(la_plane_norms, plane_norm);

#endif
