/*
** The contract of recurrent cells: one step of 'rows' sequences with n hidden
** units each. All arrays are rows without gaps; those of gates have 3 (GRU) or
** 4 (LSTM) blocks of n in a row, 1 otherwise. float and double only. The matrix
** products with the weights are done before ('gates', 'hidden') and after.
*/
#ifndef LA_KERNEL_NN_RECURRENT_H
#define LA_KERNEL_NN_RECURRENT_H

#include "kernel/kernel.h"

typedef enum la_recurrent_kind {
    LA_RNN_TANH, LA_RNN_RELU, LA_LSTM, LA_GRU, LA_RECURRENT_KINDS
} la_recurrent_kind;

typedef struct la_recurrent {
    int64_t n, rows;
    const char *gates, *hidden; /* parts of the input and of the state */
    const char *h, *c;          /* the state before */
    char *out, *cell;           /* the state after; cell: LSTM */
    char *acts;                 /* LSTM: i f g o; GRU: r z n, n's hidden part */
    /* Backward: out, cell and acts are read. */
    const char *dout, *dcell;   /* gradients of the state after */
    char *dgates, *dhidden;     /* of the parts; GRU's differ */
    char *dh, *dc;              /* what reaches the state before directly */
} la_recurrent;

typedef void (*la_recurrent_fn)(const la_recurrent *r);
typedef struct la_recurrent_kernels {
    la_recurrent_fn forward[LA_RECURRENT_KINDS];
    la_recurrent_fn backward[LA_RECURRENT_KINDS];
} la_recurrent_kernels;
LA_STUB_DECLARE(la_recurrent_kernels, recurrent_f32);
LA_STUB_DECLARE(la_recurrent_kernels, recurrent_f64);

#endif
