/*
** Formulas of norms by rows: layer_norm, rms_norm, batch and group norm. One
** pass of the backward kernel where nothing is recorded; else operations, which
** may be differentiated again.
*/
#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/call.h"

/* ---- norms over the last dims ---- */

/* The dims of a row (normalized_shape) and those before it. */
typedef struct rows {
    int64_t inner[LA_MAX_DIMS], outer[LA_MAX_DIMS];
    int ninner, nouter;
} rows;

static void split_dims(la_formula *x, rows *r)
{
    int ndim = x->node->outputs[0].ndim;
    r->ninner = (int)VAL(1).ints.n;
    r->nouter = ndim - r->ninner;
    for (int d = 0; d < ndim; d++)
        if (d < r->nouter) r->outer[d] = d;
        else r->inner[d - r->nouter] = d;
}

/* The sum over all rows: gradients of weight and bias. */
static la_tensor *over(la_formula *x, la_tensor *t, const rows *r)
{
    if (r->nouter == 0) return t;
    return R(sum, t, la_v_ints(r->outer, r->nouter));
}

/* The mean of each row, its dims kept. */
static la_tensor *inner_mean(la_formula *x, la_tensor *t, const rows *r)
{
    return R(mean, t, la_v_ints(r->inner, r->ninner), true);
}

/* Elements of a row. */
static double inner_count(la_formula *x, const rows *r)
{
    const la_output_meta *o = &x->node->outputs[0];
    double n = 1;
    for (int k = 0; k < r->ninner; k++) n *= (double)o->sizes[r->inner[k]];
    return n;
}

/* The gradient of the input alone, by a kernel that adds up no others. */
static la_status norm_input_once(la_formula *x, la_tensor **out,
                                 la_tensor *mean, la_tensor *rstd)
{
    la_tensor *g = mean
        ? R(native_layer_norm_backward, G, A(0), VAL(1), mean, rstd, A(2))
        : R(native_rms_norm_backward, G, A(0), VAL(1), rstd, A(2));
    la_x_set(x, out, 0, g);
    return x->w.status;
}

/* All gradients when nobody differentiates them again: one pass. */
static la_status norm_once(la_formula *x, la_tensor **out, la_tensor *mean,
                           la_tensor *rstd, int bias)
{
    la_value g[LA_MAX_RESULTS];
    if (!la_x_wants(x, 2) && !(bias && la_x_wants(x, bias)))
        return norm_input_once(x, out, mean, rstd);
    la_status status = x->w.status ? x->w.status
        : la_run_many(norm_backward, g, G, A(0), VAL(1), mean, rstd, A(2));
    if (status) return la_chain_fail(&x->w, status), status;
    for (int k = 0; k < 3; k++) la_chain_own(&x->w, g[k].tensor);
    la_x_set(x, out, 0, g[0].tensor);
    if (VAL(2).tag == LA_VTENSOR)
        la_x_set(x, out, 2, g[1].tensor);
    if (bias && VAL(bias).tag == LA_VTENSOR)
        la_x_set(x, out, bias, g[2].tensor);
    return x->w.status;
}

/* Gradient of the input, from those of the result, and of the means and inverse
** deviations that come with it. */
static la_tensor *layer_norm_input(la_formula *x, const rows *r,
                                   la_tensor *centred, la_tensor *rstd,
                                   la_tensor *gw)
{
    la_tensor *hat = R(mul, centred, rstd);
    la_tensor *gx = R(sub, gw, inner_mean(x, gw, r));
    gx = R(sub, gx, R(mul, hat, inner_mean(x, R(mul, gw, hat), r)));
    gx = R(mul, gx, rstd);
    double n = inner_count(x, r);
    if (x->grads[1]) gx = R(add, gx, R(div, GR(1), n));
    if (x->grads[2])
        gx = R(sub, gx, R(mul, R(div, R(mul, GR(2), R(square, rstd)), n), hat));
    return gx;
}

/* May the backward kernel be used? Not when the gradient is recorded, nor when
** a result other than the first got a gradient. */
static bool once(la_formula *x, int other)
{
    bool more = false;
    for (int k = 1; k <= other; k++) more = more || x->grads[k];
    return !la_grad_enabled() && !more && x->grads[0];
}

/* native_layer_norm(self, normalized_shape, weight, bias, eps). */
la_status la_x_layer_norm(la_formula *x, la_tensor **out)
{
    rows r;
    if (once(x, 2)) return norm_once(x, out, RES(1), RES(2), 3);
    la_tensor *self = A(0), *g = G, *weight = A(2);
    split_dims(x, &r);
    la_tensor *centred = R(sub, self, inner_mean(x, self, &r));
    la_tensor *var = inner_mean(x, R(square, centred), &r);
    la_tensor *rstd = R(rsqrt, R(add, var, VAL(4).d));
    la_tensor *gw = weight ? R(mul, g, weight) : g;
    if (la_x_wants(x, 0))
        la_x_set(x, out, 0, layer_norm_input(x, &r, centred, rstd, gw));
    if (weight && la_x_wants(x, 2))
        la_x_set(x, out, 2, over(x, R(mul, g, R(mul, centred, rstd)), &r));
    if (la_x_wants(x, 3)) la_x_set(x, out, 3, over(x, g, &r));
    return x->w.status;
}

/* native_rms_norm(self, normalized_shape, weight, eps). */
la_status la_x_rms_norm(la_formula *x, la_tensor **out)
{
    rows r;
    if (once(x, 1)) return norm_once(x, out, NULL, RES(1), 0);
    la_tensor *self = A(0), *g = G, *weight = A(2);
    split_dims(x, &r);
    la_dtype d = self ? (la_dtype)self->dtype : LA_FLOAT32;
    double eps = VAL(3).tag != LA_VNONE ? VAL(3).d
        : d == LA_FLOAT64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    la_tensor *ms = inner_mean(x, R(square, self), &r);
    la_tensor *rstd = R(rsqrt, R(add, ms, eps));
    la_tensor *hat = R(mul, self, rstd);
    la_tensor *gw = weight ? R(mul, g, weight) : g;
    la_tensor *gx = R(sub, gw, R(mul, hat, inner_mean(x, R(mul, gw, hat), &r)));
    gx = R(mul, gx, rstd);
    if (x->grads[1])
        gx = R(sub, gx, R(mul, R(div, R(mul, GR(1), R(square, rstd)),
                                 inner_count(x, &r)), hat));
    la_x_set(x, out, 0, gx);
    if (la_x_wants(x, 2)) la_x_set(x, out, 2, over(x, R(mul, g, hat), &r));
    return x->w.status;
}

/* ---- batch and group norm: native_channel_norm(self, groups, weight, bias,
** eps) ---- */

/* All gradients by the backward kernel. */
static la_status channel_norm_once(la_formula *x, la_tensor **out)
{
    la_value g[LA_MAX_RESULTS];
    la_status status = x->w.status ? x->w.status
        : la_run_many(native_channel_norm_backward, g, G, A(0), VAL(1), RES(1),
                      RES(2), A(2), VAL(4));
    if (status) return la_chain_fail(&x->w, status), status;
    for (int k = 0; k < 3; k++) la_chain_own(&x->w, g[k].tensor);
    la_x_set(x, out, 0, g[0].tensor);
    for (int k = 2; k <= 3; k++)
        if (VAL(k).tag == LA_VTENSOR)
            la_x_set(x, out, k, g[k - 1].tensor);
    return x->w.status;
}

/* Which elements share moments: rows of a matrix for groups, all but dim 1
** of a batch. */
typedef struct sharing {
    int64_t shape[2], dims[LA_MAX_DIMS];
    int n;
    bool groups;
} sharing;

static la_tensor *to_groups(la_formula *x, la_tensor *t, const sharing *s)
{
    return s->groups ? R(reshape, t, la_v_ints(s->shape, 2)) : t;
}

/* The mean over the elements that share moments. */
static la_tensor *shared_mean(la_formula *x, la_tensor *t, const sharing *s)
{
    int64_t second = 1;
    return s->groups ? R(mean, t, la_v_ints(&second, 1), true)
                     : R(mean, t, la_v_ints(s->dims, s->n), true);
}

/* A vector of channels, shaped to broadcast over dim 1. */
static la_tensor *by_channel(la_formula *x, la_tensor *v, int ndim)
{
    int64_t shape[LA_MAX_DIMS];
    for (int d = 0; d < ndim; d++) shape[d] = d == 1 ? -1 : 1;
    return R(reshape, v, la_v_ints(shape, ndim));
}

/* With h = (x - mean) rstd and w = grad * weight: rstd (w - mean(w) - h mean(w
** h)). */
la_status la_x_channel_norm(la_formula *x, la_tensor **out)
{
    if (once(x, 2)) return channel_norm_once(x, out);
    const la_output_meta *o = &x->node->outputs[0];
    la_tensor *self = A(0), *g = G, *weight = A(2), *mean = NULL;
    sharing s = {.shape = {o->sizes[0] * VAL(1).i, -1}, .groups = VAL(1).i > 0};
    for (int d = 0; d < o->ndim; d++)
        if (d != 1) s.dims[s.n++] = d;
    la_value sizes = la_v_ints(o->sizes, o->ndim),
    dims = la_v_ints(s.dims, s.n);
    la_tensor *in = to_groups(x, self, &s);
    mean = shared_mean(x, in, &s);
    la_tensor *centred = R(sub, in, mean);
    la_tensor *var = shared_mean(x, R(square, centred), &s);
    la_tensor *rstd = R(rsqrt, R(add, var, VAL(4).d));
    la_tensor *hat = R(mul, centred, rstd), *gw = g;
    if (weight) gw = R(mul, g, by_channel(x, weight, o->ndim));
    gw = to_groups(x, gw, &s);
    la_tensor *gx = R(sub, gw, shared_mean(x, gw, &s));
    gx = R(mul, R(sub, gx, R(mul, hat, shared_mean(x, R(mul, gw, hat), &s))),
           rstd);
    la_x_set(x, out, 0, R(reshape, gx, sizes));
    if (la_x_wants(x, 2))
        la_x_set(x, out, 2, R(sum, R(mul, g, R(reshape, hat, sizes)), dims));
    if (la_x_wants(x, 3)) la_x_set(x, out, 3, R(sum, g, dims));
    return x->w.status;
}
