/*
** Reductions that leave NaN out. Each NaN is replaced by the value that does
** not count for the reduction, which then is the ordinary one; the gradient of
** a NaN is 0.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "modules/stats/stats.h"

#define LA_ROWS "modules/stats/ops.def"
#include "op/call.h"
#include "op/impls.h"

la_status la_any_of(la_tensor *t, bool *yes)
{
    la_value any[LA_MAX_RESULTS];
    *yes = false;
    if (t->device != LA_CPU) return LA_OK;
    LA_TRY(la_run_many(any, any, t));
    *yes = any[0].b;
    return LA_OK;
}

/* Integers have no NaN; their means are numbers of the default dtype. */
la_dtype la_inexact_dtype(const la_tensor *t)
{
    return la_has_nan(t) ? (la_dtype)t->dtype : la_ctx()->default_dtype;
}

/* 'x' with 'value' for NaN, which *nan tells; both belong to the chain. */
static la_tensor *without_nan(la_chain *w, la_tensor *x, double value,
                              la_tensor **nan)
{
    *nan = R(isnan, x);
    return R(where, *nan, value, x);
}

/* ---- extremes: (self, dim, keepdim) ---- */

/* The extreme of what is no NaN; NaN where there is nothing else. Most data has
** none, and its plain extreme tells so. */
static la_status extreme(la_frame *f, const la_op *op, double least)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *nan, *alone;
    la_value args[] = {f->args[0], f->args[1], f->args[2]};
    if (!la_has_nan(x)) return la_do_result(f, op, 3, args);
    la_tensor *plain = la_chain_call(w, op, 3, args);
    bool odd = true;
    nan = R(isnan, plain);
    if (w->status) return w->status;
    LA_TRY(la_any_of(nan, &odd));
    if (!odd) return la_chain_end(w, f, plain);
    args[0] = la_v_tensor(without_nan(w, x, least, &nan));
    la_tensor *top = la_chain_call(w, op, 3, args);
    alone = R(all_dim, nan, f->args[1], f->args[2]);
    return la_chain_end(w, f, R(where, alone, (double)NAN, top));
}

LA_FORWARD(la_impl_nanmax, extreme(f, LA_OP(amax), -INFINITY))
LA_FORWARD(la_impl_nanmin, extreme(f, LA_OP(amin), INFINITY))

/* The first element that equals the extreme: an infinity that stands for NaN
** must not be taken for one. */
static la_status nan_position(la_frame *f, const la_op *op)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int64_t dim = la_has(f, 1) ? la_arg_int(f, 1) : 0;
    la_value dims = la_v_ints(&dim, la_has(f, 1) ? 1 : 0);
    la_value args[] = {f->args[0], dims, la_v_bool(true)};
    la_tensor *top = la_chain_call(w, op, 3, args);
    la_tensor *none = R(isnan, top);
    bool alone;
    if (w->status) return w->status;
    LA_TRY(la_any_of(none, &alone));
    if (alone)
        return la_error_at(LA_EARG, 1, "All-NaN slice encountered: there is "
                           "no position to give");
    return la_chain_end(w, f, R(argmax, R(eq, x, top), f->args[1], f->args[2]));
}

/* Dtypes without NaN have no special position: the plain operation answers. */
la_status la_impl_nanargmax(la_frame *f)
{
    return la_has_nan(la_arg(f, 0)) ? nan_position(f, LA_OP(nanmax))
        : la_run_result(f, argmax, f->args[0], f->args[1], f->args[2]);
}
la_status la_impl_nanargmin(la_frame *f)
{
    return la_has_nan(la_arg(f, 0)) ? nan_position(f, LA_OP(nanmin))
        : la_run_result(f, argmin, f->args[0], f->args[1], f->args[2]);
}

/* ---- products and running sums ---- */

/* (self, dim, keepdim, dtype) */
/* 1 is neutral in a product, and 0 in a running sum below. */
la_status la_impl_nanprod(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *nan;
    if (la_has_nan(x)) x = without_nan(w, x, 1, &nan);
    return la_chain_end(w, f, R(prod, x, f->args[1], f->args[2], f->args[3]));
}

/* (self, dim, dtype) */
la_status la_impl_nancumsum(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *nan;
    if (la_has_nan(x)) x = without_nan(w, x, 0, &nan);
    return la_chain_end(w, f, R(cumsum, x, f->args[1], f->args[2]));
}

/* ---- variance: (self, dim, correction, keepdim) ---- */

/* n - correction in the dtype of the variance, NaN where that is not above
** 0. */
static la_tensor *nan_divisor(la_chain *w, la_frame *f, la_tensor *number,
                              la_tensor *squares)
{
    la_tensor *n =
        R(sum, number, f->args[1], f->args[3], la_v_dtype(LA_FLOAT64));
    n = R(sub, n, la_arg_float(f, 2));
    n = R(where, R(gt, n, 0), n, (double)NAN);
    return squares ? R(to_dtype, n, la_v_dtype((la_dtype)squares->dtype))
        : NULL;
}

/* Two passes: the mean, then the squared distances from it. */
static la_tensor *variance(la_chain *w, la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *nan;
    la_value keep = la_v_bool(true);
    la_tensor *clean = without_nan(w, x, 0, &nan);
    la_tensor *number = R(logical_not, nan);
    la_tensor *count = R(sum, number, f->args[1], keep);
    la_tensor *total = R(sum, clean, f->args[1], keep);
    la_tensor *apart = R(sub, clean, R(div, total, count));
    apart = R(where, nan, 0, apart);
    if (la_is_complex((la_dtype)x->dtype)) apart = R(abs, apart);
    la_tensor *squares = R(sum, R(square, apart), f->args[1], f->args[3]);
    return R(div, squares, nan_divisor(w, f, number, squares));
}

/* The divisor counts what is no NaN, per result; NaN where the correction
** leaves none, as torch.var gives it for one element. */
la_status la_impl_nanvar(la_frame *f)
{
    LA_CHAIN(w);
    return la_chain_end(w, f, variance(w, f));
}

/* The root has no slope at 0, where the gradient is 0 as that of std. */
la_status la_impl_nanstd(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *square = variance(w, f), *zero = R(eq, square, 0);
    la_tensor *root = R(sqrt, R(where, zero, 1, square));
    return la_chain_end(w, f, R(where, zero, 0, root));
}
