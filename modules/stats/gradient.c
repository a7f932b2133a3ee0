/*
** gradient: the derivative of a function known at points, by differences of
** neighbours (B. Fornberg, Generation of finite difference formulas on
** arbitrarily spaced grids, 1988, of three points), as torch.gradient.
*/
#include "modules/stats/stats.h"
#include "op/view/view.h"

#define LA_ROWS "modules/stats/ops.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* The samples along one dim, and how far they are apart. */
typedef struct grid {
    la_tensor *y, *steps;     /* steps: n - 1 distances that broadcast to y, or
                              ** NULL: all are 'step' */
    la_scalar step;
    int dim, order;
    int64_t n;
} grid;

/* Elements from..from + count - 1 of t along the dim. */
static la_tensor *gradient_part(la_chain *w, const grid *g, la_tensor *t,
                                int64_t from, int64_t count)
{
    return R(narrow, t, g->dim, from, count);
}

/* The slope between points k and k + 1. */
static la_tensor *slope(la_chain *w, const grid *g, int64_t k)
{
    la_tensor *rise =
        R(sub, gradient_part(w, g, g->y, k + 1, 1),
          gradient_part(w, g, g->y, k, 1));
    if (!g->steps) return R(div, rise, g->step);
    return R(div, rise, gradient_part(w, g, g->steps, k, 1));
}

/* *out: at an end, the slope of the nearest pair, or of the parabola through
** the nearest three points; 'k' and 'next' are the pairs. */
static la_status edge(const grid *g, int64_t k, int64_t next, la_tensor **out)
{
    LA_CHAIN(w);
    la_tensor *near = slope(w, g, k), *a, *b, *far;
    if (g->order == 1) return la_chain_result(w, near, out);
    far = slope(w, g, next);
    if (!g->steps)
        return la_chain_result(w, R(sub, R(mul, near, 1.5), R(mul, far, 0.5)),
                               out);
    a = gradient_part(w, g, g->steps, k, 1);
    b = gradient_part(w, g, g->steps, next, 1);
    near = R(mul, near, R(add, R(mul, a, 2), b));
    near = R(sub, near, R(mul, far, a));
    return la_chain_result(w, R(div, near, R(add, a, b)), out);
}

/* *out: at all points but the ends, the slopes on both sides, each weighted by
** the distance of the other. */
static la_status middle(const grid *g, la_tensor **out)
{
    LA_CHAIN(w);
    int64_t m = g->n - 2;
    la_tensor *left = gradient_part(w, g, g->y, 0, m),
        *right = gradient_part(w, g, g->y, 2, m);
    if (!g->steps)
        return la_chain_result(w, R(div, R(sub, right, left), 2 * g->step.re),
                               out);
    la_tensor *a = gradient_part(w, g, g->steps, 0, m);
    la_tensor *b = gradient_part(w, g, g->steps, 1, m),
        *y = gradient_part(w, g, g->y, 1, m);
    left = R(mul, R(div, R(sub, y, left), a), b);
    right = R(mul, R(div, R(sub, right, y), b), a);
    return la_chain_result(w, R(div, R(add, left, right), R(add, a, b)), out);
}

/* Ends and middle are three pieces of one result, put together along the dim:
** no loop over points, whatever the number of dims. */
static la_status derivative(const grid *g, la_dtype to, la_tensor **out)
{
    LA_LET(first, edge(g, 0, 1, &first));
    LA_LET(inner, middle(g, &inner));
    LA_LET(last, edge(g, g->n - 2, g->n - 3, &last));
    la_tensor *list[] = {first, inner, last};
    LA_LET(all, la_run(cat, &all, la_v_tensors(list, 3), g->dim));
    return la_run(to_dtype, out, all, la_v_dtype(to));
}

/* ---- (self, spacing, dim, edge_order) ---- */

/* The dims asked for, in that order, or all. LA_EDIM or LA_EARG. */
static la_status dims_of(const la_frame *f, int *dims, int *n)
{
    la_tensor *x = la_arg(f, 0);
    const la_value *asked = &f->args[2];
    uint64_t mask;
    *n = x->ndim;
    for (int d = 0; d < x->ndim; d++) dims[d] = d;
    if (asked->tag == LA_VNONE) return LA_OK;
    *n = (int)asked->ints.n;
    LA_TRY(la_blame(la_dim_mask(*n, asked->ints.list, x->ndim, &mask), 3));
    for (int k = 0; k < *n; k++)
        LA_TRY(la_wrap_dim(asked->ints.list[k], x->ndim, &dims[k]));
    return LA_OK;
}

static la_status check_gradient(const la_frame *f)
{
    int64_t order = la_arg_int(f, 3);
    if (order == 1 || order == 2) return LA_OK;
    return la_error_at(LA_EARG, 4, "gradient only supports edge_order=1 and "
                       "edge_order=2, got %lld", (long long)order);
}

/* Sets the distances along the dim from an entry of spacing: a number, or a
** vector of positions. The tensor belongs to the chain. LA_ESHAPE. */
static la_status set_steps(la_chain *w, la_tensor *given, grid *g)
{
    int64_t sizes[LA_MAX_DIMS];
    if (given->ndim == 0) {
        if (la_tensor_to_scalar(given, &g->step)) return LA_OK;
        return la_error_at(LA_EARG, 2, "a distance is a number");
    }
    if (given->ndim != 1 || given->numel != g->n)
        return la_error_at(LA_ESHAPE, 2, "the positions along dimension %d are "
                           "a vector of %lld, got %s of %lld", g->dim + 1,
                           (long long)g->n, given->ndim == 1 ? "one"
                           : "a tensor", (long long)given->numel);
    for (int d = 0; d < g->y->ndim; d++) sizes[d] = d == g->dim ? -1 : 1;
    g->steps = R(reshape, R(diff, given), la_v_ints(sizes, g->y->ndim));
    return w->status;
}

/* Result 0: a list with the derivative along each of n dims. spacing: one entry
** for all of them, or one for each. Integers are exact in double. */
static la_status gradients(la_frame *f, la_tensor *const *spacing, int64_t ns)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int dims[LA_MAX_DIMS], n;
    la_dtype to = la_inexact_dtype(x);
    la_value list;
    LA_TRY(check_gradient(f));
    LA_TRY(dims_of(f, dims, &n));
    if (ns > 0 && ns != n)
        return la_error_at(LA_EARG, 2, "%lld distances for %d dims",
                           (long long)ns, n);
    if (!la_has_nan(x)) x = R(to_dtype, x, la_v_dtype(LA_FLOAT64));
    if (w->status) return w->status;
    LA_TRY(la_list_new(n, &list));
    la_set_result_value(f, 0, list);
    for (int k = 0; k < n; k++) {
        grid g = {.y = x, .dim = dims[k], .n = la_sizes(x)[dims[k]],
                  .order = (int)la_arg_int(f, 3),
                  .step = ns == 0 && la_has(f, 1) ? f->args[1].scalar
                      : la_scalar_float(1)};
        LA_CHAIN(own);
        if (g.n < g.order + 1)
            return la_error_at(LA_ESHAPE, 1, "gradient expected each dimension "
                               "size to be at least edge_order+1: dimension %d "
                               "is of size %lld", g.dim + 1, (long long)g.n);
        if (ns > 0) LA_TRY(set_steps(own, spacing[k], &g));
        LA_TRY(derivative(&g, to, &list.tensors.list[k]));
    }
    return LA_OK;
}

/* Overloads differ in spacing alone: none or one number here, a list below. */
LA_FORWARD(la_impl_gradient, gradients(f, NULL, 0))
la_status la_impl_gradient_spacing(la_frame *f)
{
    const la_value *spacing = &f->args[1];
    if (spacing->tensors.n == 0)
        return la_error_at(LA_EARG, 2, "an empty list of distances");
    return gradients(f, spacing->tensors.list, spacing->tensors.n);
}
