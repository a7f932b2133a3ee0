/* Longer formulas: scans, row-wise norms, convolutions. */
#include "grad/formulas_rows.h"

#include <math.h>

#include "base/memory.h"
#include "grad/formulas_reduce.h"
#include "tensor/shape.h"

/* ---- scans ---- */

static la_tensor *reverse_cumsum(la_formula *x, la_tensor *t, la_value dim)
{
    return R(flip, R(cumsum, R(flip, t, dim), dim), dim);
}

/* Position i of the gradient when a row holds zeros: the products without
** element i, weighted and summed. Its intermediates are released at once. */
static la_tensor *without(la_formula *x, la_tensor *self, la_tensor *g,
                          la_value dim, int64_t i, int64_t n)
{
    int mark = x->ntemps;
    la_tensor *one = R(ones_like, R(select, self, dim, i));
    la_tensor *p = R(cumprod, R(select_scatter, self, one, dim, i), dim);
    p = R(narrow, R(mul, g, C(p)), dim, i, n - i);
    p = R(sum, p, dim, true);
    if (p) la_tensor_retain(p);
    while (x->ntemps > mark) la_tensor_release(x->temps[--x->ntemps]);
    return p;
}

static la_tensor *cumprod_with_zeros(la_formula *x, la_tensor *self, int d)
{
    int64_t n = la_sizes(self)[d], made = 0;
    size_t bytes = (size_t)n * sizeof(la_tensor *);
    la_tensor *g = G, *out = NULL, **list = la_mem_zalloc(bytes);
    if (!list) return la_x_fail(x, LA_ENOMEM);
    for (; made < n && !x->status; made++)
        list[made] = without(x, self, g, LA_I(d), made, n);
    if (!x->status) out = R(cat, LA_TS(list, n), d);
    for (int64_t i = 0; i < n; i++) la_tensor_drop(&list[i]);
    la_mem_free(list, bytes);
    return out;
}

la_tensor *la_x_cumprod(la_formula *x)
{
    la_tensor *self = la_x_as_grad(x, A(0)), *zero = R(eq, self, 0);
    la_value any[LA_MAX_RESULTS];
    int d;
    if (!zero) return NULL;
    if (la_x_ndim(x, 0) == 0) return G;
    if (la_run_many(any, any, LA_T(zero))) return la_x_fail(x, LA_EGRAD);
    if (la_wrap_dim(VAL(1).i, self->ndim, &d)) return la_x_fail(x, LA_EINDEX);
    if (any[0].b) return cumprod_with_zeros(x, self, d);
    la_tensor *w = R(mul, G, C(R(cumprod, self, VAL(1))));
    return R(div, reverse_cumsum(x, w, VAL(1)), C(self));
}

/* exp(self) times the sum of grad / exp(result) from here on, in logarithms
** and apart by sign, so that nothing overflows. */
static la_tensor *log_part(la_formula *x, la_tensor *g)
{
    la_tensor *l = R(where, R(gt, g, 0), R(log, g), -INFINITY);
    l = R(flip, R(sub, l, RES(0)), VAL(1));
    l = R(flip, R(logcumsumexp, l, VAL(1)), VAL(1));
    return R(exp, R(add, l, A(0)));
}

/* The same as a sum over pairs of places: exp(self[i] - result[j]) is at most
** 1 for j from i on. Its size is that of the rows squared, but it holds for
** complex numbers, and each part can be differentiated again. */
static la_tensor *pair_sums(la_formula *x)
{
    la_tensor *self = A(0), *result = RES(0), *g = G;
    la_value dim = VAL(1), last = LA_I(-1);
    if (x->status) return NULL;
    self = R(unsqueeze, R(movedim, self, dim, last), -1);
    result = R(unsqueeze, R(movedim, result, dim, last), -2);
    la_tensor *pairs = R(sub, self, result);
    if (!pairs) return NULL;
    la_tensor *later = R(triu, R(ones_like, pairs));
    pairs = R(where, R(eq, later, 0), 0, R(exp, R(where, R(eq, later, 0), 0,
                                                 pairs)));
    g = R(unsqueeze, R(movedim, g, dim, last), -2);
    la_tensor *sum = R(sum, R(mul, g, C(pairs)), -1);
    return R(movedim, sum, last, dim);
}

la_tensor *la_x_logcumsumexp(la_formula *x)
{
    la_tensor *g = G;
    if (!g || la_x_ndim(x, 0) == 0) return g;
    if (la_grad_enabled() || la_is_complex((la_dtype)g->dtype))
        return pair_sums(x);
    return R(sub, log_part(x, g), log_part(x, R(neg, g)));
}

la_tensor *la_x_finite(la_formula *x, la_tensor *t)
{
    return R(where, R(isinf, t), 0, t);
}

/* ---- products ---- */

/* A factor that is a transposed tensor, as the weight of linear is, gets a
** transposed product: turned back on its way it lies as the tensor does, and
** need not be copied. */
la_tensor *la_x_right_factor(la_formula *x, la_tensor *left, la_tensor *g,
                             int k)
{
    left = C(left);
    if (la_x_result_of(x, k, LA_OP_t) || la_x_result_of(x, k, LA_OP_transpose))
        return R(t, R(mm, R(t, g), left));
    return R(mm, R(t, left), g);
}

/* ---- convolutions ---- */

static la_tensor *conv(la_formula *x, int op)
{
    la_value args[] = {LA_T(G), LA_T(C(A(0))), LA_T(C(A(1))), VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_x_run(x, op, 9, args);
}

la_tensor *la_x_conv_input(la_formula *x)
{
    return conv(x, LA_OP_convolution_grad_input);
}

la_tensor *la_x_conv_weight(la_formula *x)
{
    return conv(x, LA_OP_convolution_grad_weight);
}

la_tensor *la_x_conv_bias(la_formula *x)
{
    int64_t dims[LA_MAX_DIMS];
    int n = 0, ndim = x->node->outputs[0].ndim;
    for (int d = 0; d < ndim; d++)
        if (d != 1) dims[n++] = d;
    return R(sum, G, LA_IS(dims, n));
}

/* ---- norms over the last dims ---- */

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

static la_tensor *over(la_formula *x, la_tensor *t, const rows *r)
{
    if (r->nouter == 0) return t;
    return R(sum, t, LA_IS(r->outer, r->nouter));
}

static la_tensor *inner_mean(la_formula *x, la_tensor *t, const rows *r)
{
    return R(mean, t, LA_IS(r->inner, r->ninner), true);
}

static void give(la_formula *x, la_tensor **out, int edge, int arg,
                 la_tensor *g)
{
    if (g && la_x_wants(x, arg)) out[edge] = la_tensor_retain(g);
}

/* The place of argument 'arg's edge: optional tensors that are nil have none. */
static int edge_at(la_formula *x, int arg)
{
    int e = 0;
    for (int k = 0; k < arg; k++) e += VAL(k).tag == LA_VTENSOR;
    return e;
}

/* Elements of a row. */
static double inner_count(la_formula *x, const rows *r)
{
    const la_output_meta *o = &x->node->outputs[0];
    double n = 1;
    for (int k = 0; k < r->ninner; k++) n *= (double)o->sizes[r->inner[k]];
    return n;
}

/* All gradients when nobody differentiates them again: one pass. */
static la_status norm_once(la_formula *x, la_tensor **out, la_tensor *mean,
                           la_tensor *rstd, int bias)
{
    la_value g[LA_MAX_RESULTS];
    la_status status = x->status ? x->status
        : la_run_many(norm_backward, g, LA_T(G), LA_T(A(0)), VAL(1),
                      LA_T(mean), LA_T(rstd), LA_T(A(2)));
    if (status) return la_x_fail(x, status), status;
    for (int k = 0; k < 3; k++) la_x_own(x, g[k].tensor);
    give(x, out, 0, 0, g[0].tensor);
    if (VAL(2).tag == LA_VTENSOR)
        give(x, out, edge_at(x, 2), 2, g[1].tensor);
    if (bias && VAL(bias).tag == LA_VTENSOR)
        give(x, out, edge_at(x, bias), bias, g[2].tensor);
    return x->status;
}

/* Of the result, and of the means and inverse deviations that come with it. */
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

static bool once(la_formula *x, int other)
{
    bool more = false;
    for (int k = 1; k <= other; k++) more = more || x->grads[k];
    return !la_grad_enabled() && !more && x->grads[0];
}

la_status la_x_layer_norm(la_formula *x, la_tensor **out)
{
    rows r;
    if (once(x, 2)) return norm_once(x, out, RES(1), RES(2), 3);
    la_tensor *self = A(0), *g = G, *weight = A(2);
    split_dims(x, &r);
    la_tensor *centred = R(sub, self, inner_mean(x, self, &r));
    la_tensor *var = inner_mean(x, R(square, centred), &r);
    la_tensor *rstd = R(rsqrt, R(add, var, VAL(4).d));
    give(x, out, 0, 0, layer_norm_input(x, &r, centred, rstd,
                                        weight ? R(mul, g, weight) : g));
    if (weight && la_x_wants(x, 2))
        give(x, out, edge_at(x, 2), 2,
             over(x, R(mul, g, R(mul, centred, rstd)), &r));
    if (VAL(3).tag == LA_VTENSOR)
        give(x, out, edge_at(x, 3), 3, over(x, g, &r));
    return x->status;
}

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
    give(x, out, 0, 0, gx);
    if (weight) give(x, out, edge_at(x, 2), 2, over(x, R(mul, g, hat), &r));
    return x->status;
}

/* ---- batch and group norm: native_channel_norm(self, groups, weight, bias,
** eps) ---- */

static la_status channel_norm_once(la_formula *x, la_tensor **out)
{
    la_value g[LA_MAX_RESULTS];
    la_status status = x->status ? x->status
        : la_run_many(native_channel_norm_backward, g, LA_T(G), LA_T(A(0)),
                      VAL(1), LA_T(RES(1)), LA_T(RES(2)), LA_T(A(2)), VAL(4));
    if (status) return la_x_fail(x, status), status;
    for (int k = 0; k < 3; k++) la_x_own(x, g[k].tensor);
    give(x, out, 0, 0, g[0].tensor);
    for (int k = 2; k <= 3; k++)
        if (VAL(k).tag == LA_VTENSOR)
            give(x, out, edge_at(x, k), k, g[k - 1].tensor);
    return x->status;
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
    return s->groups ? R(reshape, t, LA_IS(s->shape, 2)) : t;
}

static la_tensor *shared_mean(la_formula *x, la_tensor *t, const sharing *s)
{
    int64_t second = 1;
    return s->groups ? R(mean, t, LA_IS(&second, 1), true)
                     : R(mean, t, LA_IS(s->dims, s->n), true);
}

static la_tensor *by_channel(la_formula *x, la_tensor *v, int ndim)
{
    int64_t shape[LA_MAX_DIMS];
    for (int d = 0; d < ndim; d++) shape[d] = d == 1 ? -1 : 1;
    return R(reshape, v, LA_IS(shape, ndim));
}

la_status la_x_channel_norm(la_formula *x, la_tensor **out)
{
    if (once(x, 2)) return channel_norm_once(x, out);
    const la_output_meta *o = &x->node->outputs[0];
    la_tensor *self = A(0), *g = G, *weight = A(2), *mean = NULL;
    sharing s = {.shape = {o->sizes[0] * VAL(1).i, -1}, .groups = VAL(1).i > 0};
    for (int d = 0; d < o->ndim; d++)
        if (d != 1) s.dims[s.n++] = d;
    la_value sizes = LA_IS(o->sizes, o->ndim), dims = LA_IS(s.dims, s.n);
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
    give(x, out, 0, 0, R(reshape, gx, sizes));
    if (VAL(2).tag == LA_VTENSOR)
        give(x, out, edge_at(x, 2), 2,
             R(sum, R(mul, g, R(reshape, hat, sizes)), dims));
    if (VAL(3).tag == LA_VTENSOR)
        give(x, out, edge_at(x, 3), 3, R(sum, g, dims));
    return x->status;
}

/* ---- label_entropy(self, labels) ---- */

/* grad * (softmax(self) - 1 at the label) */
la_tensor *la_x_label_entropy(la_formula *x)
{
    la_tensor *self = A(0), *labels = A(1);
    if (!la_grad_enabled())
        return R(label_entropy_backward, G, self, labels, RES(1));
    la_tensor *g = R(unsqueeze, G, 1), *p = R(softmax, self, 1);
    la_tensor *at = R(unsqueeze, labels, 1);
    la_tensor *hit = R(scatter, R(zeros_like, p), 1, at,
                       R(ones_like, p));
    if (!hit) return NULL;
    return R(mul, g, R(sub, p, hit));
}
