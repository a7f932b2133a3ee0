/* Helpers that the statistics made of other operations share. */
#ifndef LA_OP_STATS_STATS_H
#define LA_OP_STATS_STATS_H

#include "op/composite.h"

/* *yes: is any element of 't' not zero? On the meta device there are none to
** ask: false. */
la_status la_any_of(la_tensor *t, bool *yes);
/* The dtype that integers and bool are computed in, floats are themselves. */
la_dtype la_inexact_dtype(const la_tensor *t);
/* Outcome of a chain, for the caller: *out is owned. */
static inline la_status la_chain_result(la_chain *w, la_tensor *t,
                                        la_tensor **out)
{
    if (w->status) return w->status;
    *out = la_tensor_retain(t);
    return LA_OK;
}
/* Can a value of 't' be NaN? */
static inline bool la_has_nan(const la_tensor *t)
{
    return la_is_inexact((la_dtype)t->dtype);
}

#endif
