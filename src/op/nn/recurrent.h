/*
** Recurrent layers (tanh, relu, LSTM, GRU): the cell as a composite, which may
** be differentiated again, and a whole sequence built from it.
*/
#ifndef LA_OP_NN_RECURRENT_H
#define LA_OP_NN_RECURRENT_H

#include "kernel/nn/recurrent.h"
#include "op/value.h"

/* The kind named "tanh", "relu", "lstm" or "gru"; LA_EARG for argument
** 'arg'. */
la_status la_recurrent_kind_of(const la_value *word, int arg,
                               la_recurrent_kind *out);
/* Blocks of gates in a row. */
static inline int la_recurrent_width(la_recurrent_kind kind)
{
    return kind == LA_LSTM ? 4 : kind == LA_GRU ? 3 : 1;
}
/* One step of float32 for all rows, over threads. */
la_status la_recurrent_step(la_recurrent_kind kind, int64_t rows,
                            const la_recurrent *r);
/* The operation recurrent, computed step by step: output and cells (NULL but
** for LSTM). */
la_status la_recurrent_unrolled(la_recurrent_kind kind, la_tensor *gates,
                                la_tensor *weight, la_tensor *bias,
                                la_tensor *h, la_tensor *c, bool reverse,
                                la_tensor **output, la_tensor **cells);

#endif
