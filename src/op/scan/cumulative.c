/* cumulative_sum and cumulative_prod of the array API: cumsum and cumprod, the
** dim of which may be left out where it is the only one, and whose result may
** begin with that of no elements. */
#include "op/composite.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"

/* (self, dim, dtype, include_initial); 'first' stands before the rest. */
static la_status cumulative(la_frame *f, const la_op *op, double first)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int d;
    if (!la_has(f, 1) && x->ndim != 1)
        return la_error_at(LA_EARG, 2, "dim may only be left out for a tensor "
                           "of one dimension, got %d", x->ndim);
    LA_TRY(la_wrap_dim(la_has(f, 1) ? la_arg_int(f, 1) : 0, x->ndim, &d));
    la_value args[] = {f->args[0], la_v_int(d), f->args[2]};
    if (!la_arg_bool(f, 3)) return la_do_result(f, op, 3, args);
    if (x->ndim == 0)
        return la_error(LA_ESHAPE, "include_initial: a 0-dim tensor has no "
                        "dimension to begin");
    la_tensor *sums = la_chain_call(w, op, 3, args);
    int64_t pairs[2 * LA_MAX_DIMS] = {0};
    int n = x->ndim - d;
    pairs[2 * (n - 1)] = 1;
    return la_chain_end(w, f, R(pad, sums, la_v_ints(pairs, 2 * n),
                                   la_v_string("constant"), first));
}

LA_FORWARD(la_impl_cumulative_sum, cumulative(f, LA_OP(cumsum), 0))
LA_FORWARD(la_impl_cumulative_prod, cumulative(f, LA_OP(cumprod), 1))
