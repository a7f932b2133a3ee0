/* The product of rows with packed weights, whatever packs them. */
#ifndef LA_OP_NN_PACKED_ROWS_H
#define LA_OP_NN_PACKED_ROWS_H

#include "op/frame.h"

/* A kind of packed weights: 'dots' takes the arguments of the call with its
** rows as a matrix of float32 {rows, in}, and gives {rows, out}; 'numbers'
** takes as many arguments from the second on as it says, and gives the weights
** {out, in}. */
typedef struct la_packed_weights {
    const la_op *dots, *numbers;
    int args;
    const char *word;         /* for messages: "a matrix of ..." */
} la_packed_weights;

/* self @ w.T for the weights of argument 2 and on: by 'dots' for a few rows, by
** a matrix product for more. The result has the dtype of self. */
la_status la_rows_by_packed(la_frame *f, const la_packed_weights *kind);

#endif
