/*
** Composite operations are written as chains of calls (op/chain.h), without a
** name and a cleanup for each temporary:
**
**     LA_CHAIN(w);
**     la_tensor *d = R(sub, x, y);
**     return la_chain_end(w, f, R(mul, d, d));
*/
#ifndef LA_OP_COMPOSITE_H
#define LA_OP_COMPOSITE_H

#include "op/call.h"
#include "op/chain.h"
#include "op/frame.h"

/* Runs 'impl', the implementation of a composite, for the call of 'f'. Where
** its floating tensors are all float16, or all bfloat16, it gets them as
** float32 and its results are rounded back: each of its steps would round
** otherwise. Arguments in the bit set 'kept' stay as they are (what it
** writes); they don't count. Recorded like any conversion. */
la_status la_in_float32(la_frame *f, uint32_t kept, la_op_fn impl);

/* la_in_float32 where other tensors may have another dtype than the floating
** argument 0: all 16-bit floats come as float32, and floating results are
** rounded to that argument's dtype. A network in 16 bits may keep weights and
** moments in float32, and its next layer expects what it has, as in PyTorch. */
la_status la_like_self(la_frame *f, uint32_t kept, la_op_fn impl);

/* The next call, by the name of its operation; uses the variable w. */
#define R(name, ...) la_chain_call(w, LA_OP(name), LA_ARGS_(__VA_ARGS__))

/* *result (owned) becomes result 0 of the frame where the call that was to make
** it succeeded: la_give(f, la_run(mul, &x, a, b), &x). Its status. */
static inline la_status la_give(la_frame *f, la_status status,
                                la_tensor **result)
{
    if (status == LA_OK) la_set_result(f, 0, *result);
    return status;
}

/* An owned local becomes result 0 of the frame; it owns nothing then. LA_OK. */
static inline la_status la_give_owned(la_frame *f, la_tensor **result)
{
    la_set_result(f, 0, *result);
    *result = NULL;
    return LA_OK;
}

/* 't' becomes result 0 of the frame. */
static inline la_status la_chain_end(la_chain *w, la_frame *f, la_tensor *t)
{
    if (w->status) return w->status;
    bool last = w->n > 0 && w->temps[w->n - 1] == t;
    w->n -= last;       /* which the frame takes over */
    la_set_result(f, 0, last ? t : la_tensor_retain(t));
    return LA_OK;
}

#endif
