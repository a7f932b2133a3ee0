/*
** A chain of operation calls whose intermediate results are released together,
** of a composite (op/composite.h) or the formula of a derivative. After a
** failure all further calls return NULL and the status is kept, so only the end
** asks for it, and whoever looks into a tensor before.
*/
#ifndef LA_OP_CHAIN_H
#define LA_OP_CHAIN_H

#include "op/frame.h"

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

#endif
