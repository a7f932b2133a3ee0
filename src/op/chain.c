/* The steps of a chain. */
#include "op/chain.h"
#include "op/call.h"

la_tensor *la_chain_call(la_chain *w, const la_op *op, int n,
                         const la_value *args)
{
    la_tensor *out = NULL;
    if (w->status) return NULL;
    la_status status = la_do(op, &out, n, args);
    return la_chain_take(w, status, out);
}

la_tensor *la_chain_take(la_chain *w, la_status status, la_tensor *owned)
{
    if (status) return la_chain_fail(w, status);
    if (!owned) return NULL;
    if (w->n == LA_CHAIN_STEPS) {
        la_tensor_release(owned);
        return la_chain_fail(w, la_error(LA_EARG, "too many steps"));
    }
    w->temps[w->n++] = owned;
    return owned;
}

la_tensor *la_chain_fail(la_chain *w, la_status status)
{
    if (!w->status) w->status = status;
    return NULL;
}
