/*
** What the losses share: checks of sizes and reductions, and the last step.
*/
#ifndef LA_OP_NN_LOSS_H
#define LA_OP_NN_LOSS_H

#include "op/composite.h"
#include "op/frame.h"
#include "tensor/shape.h"

/* Arguments a (input) and b (target) have one shape. No broadcasting: it hides
** mistakes in losses. LA_ESHAPE names both shapes. */
static inline la_status same_sizes(const la_frame *f, int a, int b)
{
    char have[256], want[256];
    const la_tensor *x = la_arg(f, a), *y = la_arg(f, b);
    if (la_same_sizes(x, y)) return LA_OK;
    return la_error_at(LA_ESHAPE, b + 1, "the sizes of input %s and target %s "
                       "differ: reshape or expand one of them",
                       la_sizes_text(x->ndim, la_sizes(x), want, sizeof want),
                       la_sizes_text(y->ndim, la_sizes(y), have, sizeof have));
}

/* Argument k is 'mean', 'sum' or 'none'. */
static inline la_status known_reduction(const la_frame *f, int k)
{
    const la_value *v = &f->args[k];
    if (la_str_is(v, "mean") || la_str_is(v, "sum") || la_str_is(v, "none"))
        return LA_OK;
    return la_error_at(LA_EARG, k + 1, "'%.*s' is not a valid reduction: "
                       "'mean', 'sum' or 'none' expected",
                       (int)v->str.n, v->str.text);
}

/* The loss of each element, reduced as argument k says, is the result. */
static inline la_status finish(la_chain *w, la_frame *f, int k, la_tensor *each)
{
    if (w->status) return w->status;
    const la_value *how = &f->args[k];
    if (la_str_is(how, "mean")) each = R(mean, each);
    else if (la_str_is(how, "sum")) each = R(sum, each);
    return la_chain_end(w, f, each);
}

#endif
