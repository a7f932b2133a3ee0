/* The steps of a chain. */
#include "op/composite.h"

la_tensor *la_chain_call(la_chain *w, const la_op *op, int n,
                         const la_value *args)
{
    la_tensor *out = NULL;
    if (w->status) return NULL;
    if (w->n == LA_CHAIN_STEPS) {
        w->status = la_error(LA_EARG, "too many steps");
        return NULL;
    }
    w->status = la_do(op, &out, n, args);
    if (w->status) return NULL;
    w->temps[w->n++] = out;
    return out;
}
