/*
** A chain of operation calls whose intermediate results are released together:
** how composite operations and the formulas of derivatives are written without
** a name and a cleanup for each temporary.
**
**     LA_CHAIN(w);
**     la_tensor *d = R(sub, x, y);
**     return la_chain_end(w, f, R(mul, d, d));
**
** After a failure all further calls return NULL and the status is kept, so only
** the end asks for it, and whoever looks into a tensor before.
*/
#ifndef LA_OP_COMPOSITE_H
#define LA_OP_COMPOSITE_H

#include "op/call.h"
#include "op/frame.h"

/* Runs 'impl', the implementation of a composite, for the call of 'f'. Where
** its floating tensors are all float16, or all bfloat16, it gets them as
** float32 and its results are rounded back: each of its steps would round
** otherwise. Arguments in the bit set 'kept' stay as they are (what it
** writes); they don't count. Recorded like any conversion. */
la_status la_in_float32(la_frame *f, uint32_t kept, la_op_fn impl);

#define LA_CHAIN_STEPS 96

typedef struct la_chain {
    la_status status;
    int n;
    la_tensor *temps[LA_CHAIN_STEPS];   /* the first n are set */
} la_chain;

/* Releases the results, the last one first; the chain goes on without them. */
static inline void la_chain_drop(la_chain *w)
{
    while (w->n > 0) la_tensor_release(w->temps[--w->n]);
}

/* Declares an empty chain 'w', which is dropped when its scope ends. */
#define LA_CHAIN(w) \
    __attribute__((cleanup(la_chain_drop))) la_chain w##_box; \
    la_chain *w = &w##_box; \
    w->status = LA_OK, w->n = 0

/* A call whose result belongs to the chain. NULL after a failure. */
la_tensor *la_chain_call(la_chain *w, const la_op *op, int n,
                         const la_value *args);
/* The result that a call with that status made belongs to the chain; NULL after
** a failure. */
la_tensor *la_chain_take(la_chain *w, la_status status, la_tensor *owned);
static inline la_tensor *la_chain_own(la_chain *w, la_tensor *owned)
{
    return la_chain_take(w, LA_OK, owned);
}
/* The first failure is kept; NULL for the caller to return. */
la_tensor *la_chain_fail(la_chain *w, la_status status);

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
    la_set_result(f, 0, la_tensor_retain(t));
    return LA_OK;
}

#endif
