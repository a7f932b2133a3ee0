/* Percentiles, weighted means and ranges of values. */
#include "base/runtime/context.h"
#include "op/reduce/reduce.h"
#include "modules/stats/stats.h"
#include "tensor/scalar.h"

#define LA_ROWS "modules/stats/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* ---- percentile(self, p, dim, keepdim, interpolation) ---- */

/* 'values' are in 0..100; NaN is refused too. LA_EARG. */
static la_status check_percent(la_chain *w, la_tensor *p)
{
    bool outside;
    la_tensor *inside = R(logical_and, R(ge, p, 0), R(le, p, 100));
    la_tensor *out = R(logical_not, inside);
    if (w->status) return w->status;
    LA_TRY(la_any_of(out, &outside));
    if (!outside) return LA_OK;
    return la_error_at(LA_EARG, 2, "percentiles must be in the range [0, 100]");
}

/* p / 100 in float64: a number stays one. */
static la_status fraction_of(la_chain *w, la_tensor *p, la_value *q)
{
    la_scalar s;
    LA_TRY(check_percent(w, p));
    if ((p->flags & LA_F_WRAPPED) && la_tensor_to_scalar(p, &s)) {
        *q = la_v_double(s.re / 100);
        return LA_OK;
    }
    p = R(to_dtype, p, la_v_dtype(LA_FLOAT64));
    *q = la_v_tensor(R(div, p, 100.0));
    return w->status;
}

/* 16-bit floats have their quantiles in float32, which holds them exactly, and
** are rounded once; integers have theirs in the default dtype. */
static la_status percentile(la_frame *f, const la_op *op)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    la_dtype to = la_inexact_dtype(x);
    la_dtype in = la_is_half(to) ? LA_FLOAT32 : to;
    la_value args[5];
    args[0] = la_v_tensor(R(to_dtype, x, la_v_dtype(in)));
    if (w->status) return w->status;
    LA_TRY(fraction_of(w, la_arg(f, 1), &args[1]));
    for (int k = 2; k < 5; k++) args[k] = f->args[k];
    la_tensor *out = la_chain_call(w, op, 5, args);
    if (to != in) out = R(to_dtype, out, la_v_dtype(to));
    return la_chain_end(w, f, out);
}

LA_FORWARD(la_impl_percentile, percentile(f, LA_OP(quantile)))
LA_FORWARD(la_impl_nanpercentile, percentile(f, LA_OP(nanquantile)))

/* ---- average(self, dim, weights, keepdim) ---- */

/* Weights in the sizes of self, or, of one dim, along the only one that is
** averaged over: as a tensor that broadcasts to self. LA_ESHAPE. */
static la_status shape_weights(la_chain *w, la_frame *f, uint64_t mask,
                               la_tensor **weights)
{
    la_tensor *x = la_arg(f, 0), *own = *weights;
    int64_t sizes[LA_MAX_DIMS];
    bool same = own->ndim == x->ndim;
    for (int d = 0; same && d < x->ndim; d++)
        same = la_sizes(own)[d] == la_sizes(x)[d];
    if (same) return LA_OK;
    if (!la_has(f, 1) || own->ndim != 1 || !mask || (mask & (mask - 1)))
        return la_error_at(LA_ESHAPE, 3, "weights need the sizes of the "
                           "tensor, or one dim for a single dim");
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = mask >> d & 1 ? own->numel : 1;
        if ((mask >> d & 1) && la_sizes(x)[d] != own->numel)
            return la_error_at(LA_ESHAPE, 3, "%lld weights for %lld elements "
                               "along dimension %d", (long long)own->numel,
                               (long long)la_sizes(x)[d], d + 1);
    }
    *weights = R(reshape, own, la_v_ints(sizes, x->ndim));
    return w->status;
}

/* The sum of weighted elements over the sum of weights. */
static la_status average_weighted(la_frame *f, uint64_t mask)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *weights = la_arg(f, 2);
    bool nothing;
    LA_TRY(shape_weights(w, f, mask, &weights));
    la_tensor *sum = R(sum, R(mul, x, weights), f->args[1], f->args[3]);
    la_tensor *all = R(sum, weights, f->args[1], f->args[3]);
    la_tensor *zero = R(eq, all, 0);
    if (w->status) return w->status;
    LA_TRY(la_any_of(zero, &nothing));
    if (nothing)
        return la_error_at(LA_EARG, 3, "Weights sum to zero, can't be "
                           "normalized");
    return la_chain_end(w, f, R(div, sum, all));
}

/* Without weights it is the mean. NumPy's average refuses weights that sum to
** zero, and so does this. */
la_status la_impl_average(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    uint64_t mask = 0;
    LA_TRY(la_reduce_dims(f, 1, x, &mask));
    if (la_arg(f, 2)) return average_weighted(f, mask);
    return la_run_result(f, mean, x, f->args[1], f->args[3],
                         la_v_dtype(la_inexact_dtype(x)));
}

