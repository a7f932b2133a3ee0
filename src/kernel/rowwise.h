/*
** The contract of row-wise kernels: functions of whole rows that give rows of
** the same length. Rows lie without gaps one after another, in the input and
** in the output; sums run over lanes of 128 bytes, so the bits do not depend
** on the vector width. Floating dtypes only.
*/
#ifndef LA_KERNEL_ROWWISE_H
#define LA_KERNEL_ROWWISE_H

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

/* (x - mean) * rstd * weight + bias, row by row; weight, bias, mean and rstd
** may be NULL. mean and rstd are float, or double for float64. 'centred' off:
** the root of the mean square is the scale and nothing is taken off. */
typedef struct la_row_norm {
    const char *in;
    char *out;
    const char *weight, *bias;
    char *mean, *rstd;
    int64_t n, rows;
    double eps;
    bool centred;
} la_row_norm;
typedef void (*la_row_norm_fn)(const la_row_norm *r);
typedef la_row_norm_fn la_row_norms[LA_NDTYPES];
LA_STUB_DECLARE(la_row_norms, row_norm);

/* The gradient of the row norm for the input: dy, x, weight, mean and rstd give
** dx. Sums over rows (weight, bias) are reductions of other operations. */
typedef struct la_row_norm_grad {
    const char *dy, *in, *weight, *mean, *rstd;
    char *out;
    int64_t n, rows;
    bool centred;
} la_row_norm_grad;
typedef void (*la_row_norm_grad_fn)(const la_row_norm_grad *r);
typedef la_row_norm_grad_fn la_row_norm_grads[LA_NDTYPES];
LA_STUB_DECLARE(la_row_norm_grads, row_norm_grad);

#endif
