/*
** Recurrent layers: the cells by operations, which differentiate again.
*/
#ifndef LA_OP_NN_RECURRENT_H
#define LA_OP_NN_RECURRENT_H

#include "kernel/nn/recurrent.h"
#include "op/op.h"

/* "tanh", "relu", "lstm" or "gru". */
la_status la_recurrent_kind_of(const la_value *word, int arg,
                               la_recurrent_kind *out);
/* Blocks of gates in a row. */
static inline int la_recurrent_width(la_recurrent_kind kind)
{
    return kind == LA_LSTM ? 4 : kind == LA_GRU ? 3 : 1;
}
/* One step from the two parts of the gates; 'cell' only for LSTM. Owned. */
la_status la_recurrent_step(la_recurrent_kind kind, la_tensor *gates,
                            la_tensor *hidden, la_tensor *h, la_tensor *c,
                            la_tensor **out, la_tensor **cell);
/* What the operation recurrent computes, step by step: output and cells (NULL
** but for LSTM). */
la_status la_recurrent_unrolled(la_recurrent_kind kind, la_tensor *gates,
                                la_tensor *weight, la_tensor *bias,
                                la_tensor *h, la_tensor *c, bool reverse,
                                la_tensor **output, la_tensor **cells);

#endif
