/*
** Formulas of reductions: sum, prod, extrema, variance, norms, quantiles. The
** gradient of the result is expanded back over the dims that were reduced.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "grad/formulas/formulas.h"
#include "op/op.h"
#include "tensor/shape.h"
#include "grad/formulas/formula_terms.h"

/* The dims that argument 'at' names, as a bit set (nil or absent: all). */
static uint64_t reduce_dims_of(la_formula *x, int at)
{
    int ndim = la_x_ndim(x, 0), d;
    uint64_t all = ndim >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << ndim) - 1;
    uint64_t mask = 0;
    if (at < 0) return all;
    la_value v = VAL(at);
    if (v.tag == LA_VNONE || (v.tag == LA_VINTS && v.ints.n == 0)) return all;
    int n = v.tag == LA_VINT ? 1 : (int)v.ints.n;
    for (int i = 0; i < n; i++) {
        int64_t dim = v.tag == LA_VINT ? v.i : v.ints.list[i];
        if (la_wrap_dim(dim, ndim, &d) == LA_OK) mask |= UINT64_C(1) << d;
    }
    return mask;
}

la_tensor *la_x_unsqueezed(la_formula *x, la_tensor *g, int dims, int keep)
{
    const la_output_meta *o = la_x_meta(x, 0, 0);
    int64_t sizes[LA_MAX_DIMS];
    uint64_t mask = reduce_dims_of(x, dims);
    if (keep >= 0 && VAL(keep).b) return g;
    for (int d = 0; d < o->ndim; d++)
        sizes[d] = mask >> d & 1 ? 1 : o->sizes[d];
    return R(reshape, g, la_v_ints(sizes, o->ndim));
}

/* One value for every element: for few of them a filled tensor is built faster
** than an expanded view, and is read faster, too. */
enum { FEW_ELEMENTS = 1024 };

/* A tensor of the input's sizes filled with the only element of 'g'. */
static la_tensor *filled(la_formula *x, const la_tensor *g,
                         const la_output_meta *o, int64_t n)
{
    la_tensor *t = NULL;
    size_t size = la_itemsize(g);
    la_status status = la_tensor_empty(o->ndim, o->sizes, (la_dtype)g->dtype,
                                       &t);
    if (status) return la_chain_fail(&x->w, status);
    char *data = la_data(t), *one = la_data(g);
    for (int64_t i = 0; i < n; i++) memcpy(data + (size_t)i * size, one, size);
    return la_chain_own(&x->w, t);
}

/* One element in memory that can be read directly. */
static bool is_plain_scalar(const la_tensor *g)
{
    return g->numel == 1 && g->device == LA_CPU && g->storage
        && !(g->flags & (LA_F_CONJ | LA_F_NEG))
        && la_tensor_check_bounds(g) == LA_OK && la_data(g);
}

la_tensor *la_x_expand_grad(la_formula *x, la_tensor *g, int dims, int keep)
{
    const la_output_meta *o = la_x_meta(x, 0, 0);
    int64_t n = 1;
    for (int d = 0; d < o->ndim; d++) n *= o->sizes[d];
    bool few = g && n > 0 && n <= FEW_ELEMENTS && !la_grad_enabled()
        && is_plain_scalar(g);
    if (few && !la_ctx()->recorder) return filled(x, g, o, n);
    la_tensor *t = R(expand, la_x_unsqueezed(x, g, dims, keep), SIZES(0));
    if (few && n == 1) return R(clone, t);      /* nobody else's memory */
    return few ? R(contiguous, t) : t;
}

double la_x_count(la_formula *x, int dims)
{
    const la_output_meta *o = la_x_meta(x, 0, 0);
    uint64_t mask = reduce_dims_of(x, dims);
    double n = 1;
    for (int d = 0; d < o->ndim; d++)
        if (mask >> d & 1) n *= (double)o->sizes[d];
    return n;
}

/* The dims of argument 'dims' as a list value for sum. */
static la_value dim_list(la_formula *x, int dims, int64_t *list)
{
    uint64_t mask = reduce_dims_of(x, dims);
    int n = 0;
    for (int d = 0; d < la_x_ndim(x, 0); d++)
        if (mask >> d & 1) list[n++] = d;
    return la_v_ints(list, n);
}

/* NaN counts as equal to NaN, since a NaN result is one. */
la_tensor *la_x_evenly(la_formula *x, la_tensor *g, la_tensor *result,
                       int dims, int keep)
{
    int64_t list[LA_MAX_DIMS];
    la_tensor *self = A(0);
    la_tensor *most = la_x_unsqueezed(x, result, dims, keep);
    la_tensor *hit = R(logical_or, R(eq, self, most),
                       R(logical_and, R(isnan, self), R(isnan, most)));
    la_tensor *n = R(sum, hit, dim_list(x, dims, list), true);
    if (la_x_ndim(x, 0) == 0) n = R(sum, hit);
    return R(mul, R(div, la_x_unsqueezed(x, g, dims, keep), n), hit);
}

/* Values that were picked along a dim: their gradients go to the indices. */
la_tensor *la_x_select_back(la_formula *x, int dim, int keep)
{
    la_tensor *g = G, *at = RES(1);
    if (la_x_ndim(x, 0) == 0) return R(reshape, g, SIZES(0));
    if (keep >= 0) {
        g = la_x_unsqueezed(x, g, dim, keep);
        at = la_x_unsqueezed(x, at, dim, keep);
    }
    return R(scatter_add, la_x_zeros(x, 0), VAL(dim), at, g);
}

/* dtype= converts before the reduction; of a complex self with a real result
** only the real part took part. */
la_tensor *la_x_as_grad(la_formula *x, la_tensor *self)
{
    la_tensor *g = G;
    bool halved = self && g && la_is_complex((la_dtype)self->dtype)
        && !la_is_complex((la_dtype)g->dtype);
    return halved ? R(real, self) : self;
}

/* Products of all elements before each position along the dim. */
static la_tensor *products_before(la_formula *x, la_tensor *t, int d)
{
    if (!t) return NULL;
    la_tensor *one = R(ones_like, R(narrow, t, d, 0, 1));
    la_tensor *rest = R(narrow, t, d, 0, la_sizes(t)[d] - 1);
    la_tensor *both[] = {one, rest};
    return one && rest ? R(cumprod, R(cat, la_v_tensors(both, 2), d), d) : NULL;
}

/* The product of the other elements as a polynomial of them: those before it
** times those behind it. It has all further derivatives whatever is zero. */
static la_tensor *others_multiplied(la_formula *x, la_tensor *self)
{
    int d = 0;
    int64_t all = -1;
    bool whole = VAL(1).tag == LA_VNONE || self->ndim == 0;
    if (!whole && la_wrap_dim(VAL(1).i, la_x_ndim(x, 0), &d)) return NULL;
    if (whole) self = R(reshape, self, la_v_ints(&all, 1));
    la_tensor *behind = products_before(x, R(flip, self, d), d);
    behind = R(flip, behind, d);
    la_tensor *others = R(mul, products_before(x, self, d), behind);
    return whole ? R(reshape, others, SIZES(0)) : others;
}

/* result / self where self is not zero; where it is the only zero that was
** multiplied, the product of the others. */
la_tensor *la_x_prod(la_formula *x)
{
    int64_t list[LA_MAX_DIMS];
    la_tensor *self = la_x_as_grad(x, A(0)), *g = la_x_expand_grad(x, G, 1, 2);
    if (la_grad_enabled() && self && self->numel > 0)
        return R(mul, g, C(others_multiplied(x, self)));
    la_tensor *zero = R(eq, self, 0), *safe = R(where, zero, 1, self);
    la_tensor *result = la_x_unsqueezed(x, RES(0), 1, 2);
    la_value dims = dim_list(x, 1, list);
    la_tensor *zeros = R(sum, zero, dims, true), *others;
    if (VAL(1).tag == LA_VNONE) {
        others = R(prod, safe);
        zeros = R(sum, zero);
    } else {
        others = R(prod, safe, VAL(1), true);
    }
    others = R(where, R(eq, zeros, 1), others, 0);
    return R(mul, g, C(R(where, zero, others, R(div, result, safe))));
}

/* n - correction, not below 0; unbiased = false stands for correction 0. */
static double reduce_divisor(la_formula *x)
{
    double correction = 1, n = la_x_count(x, 1);
    if (VAL(2).tag != LA_VNONE) correction = VAL(2).d;
    else if (VAL(3).tag != LA_VNONE) correction = VAL(3).b;
    return n > correction ? n - correction : 0;
}

/* 2 (x - mean) / divisor. */
la_tensor *la_x_var(la_formula *x, la_tensor *g)
{
    int64_t list[LA_MAX_DIMS];
    la_tensor *self = A(0);
    la_tensor *mean = la_x_ndim(x, 0) == 0 ? self
        : R(mean, self, dim_list(x, 1, list), true);
    g = la_x_unsqueezed(x, g, 1, 4);
    return R(mul, g, R(mul, R(sub, self, mean), 2 / reduce_divisor(x)));
}

/* var's gradient / (2 std); 0 where std is 0. */
la_tensor *la_x_std(la_formula *x, la_tensor *g)
{
    la_tensor *result = RES(0), *none = R(eq, result, 0);
    la_tensor *twice = R(mul, R(where, none, 1, result), 2);
    return la_x_var(x, R(where, none, 0, R(div, g, twice)));
}

/* Gradient of |x|_p by the cases of p; where the norm is 0 the subgradient 0 is
** taken, and the maximum norm divides evenly among equal extrema. */
la_tensor *la_x_norm(la_formula *x)
{
    double p = VAL(1).d;
    la_tensor *self = A(0), *g = G, *result = RES(0), *scale;
    la_tensor *wide = la_x_unsqueezed(x, result, 2, 3);
    la_tensor *none = R(eq, wide, 0), *safe = R(where, none, 1, wide);
    if (p == 0) return R(zeros_like, self);
    if (p == 1) return R(mul, la_x_unsqueezed(x, g, 2, 3), R(sgn, self));
    g = la_x_unsqueezed(x, g, 2, 3);
    if (p == 2 && la_grad_enabled())    /* 1 / safe^2 may be infinite */
        return R(mul, R(where, none, 0, g), R(div, self, safe));
    if (p == 2) {
        scale = R(where, none, 0, R(div, g, safe));
        return R(mul, self, scale);
    }
    la_tensor *size = R(abs, self);
    if (p == INFINITY || p == -INFINITY) {
        int64_t list[LA_MAX_DIMS];
        la_tensor *hit = R(eq, size, wide);
        la_tensor *n = la_x_ndim(x, 0) == 0 ? R(sum, hit)
            : R(sum, hit, dim_list(x, 2, list), true);
        return R(mul, R(mul, R(sgn, self), hit), R(div, g, n));
    }
    scale = R(where, none, 0, R(div, g, R(pow, safe, p - 1)));
    la_tensor *slope = R(mul, R(sgn, self), R(pow, size, p - 1));
    slope = R(where, R(eq, self, 0), 0, slope);
    return R(mul, slope, scale);
}

/* ---- quantiles ---- */

enum { SELF, Q, QDIM, KEEPDIM, HOW };

/* A call of quantile with its dim at the end, and the q too. */
typedef struct quantiles {
    la_tensor *self;            /* (rows ..., n) */
    la_tensor *order;           /* where the sorted elements are */
    la_tensor *grad;            /* (rows ..., q) */
    la_tensor *last;            /* the last rank, (rows ..., 1) */
    la_tensor *low, *high;      /* ranks from 1, (rows ..., q) */
    la_tensor *part;            /* how far on the way to the upper one */
    int dim;                    /* -1: everything */
} quantiles;

/* Is the interpolation argument this word? */
static bool is_mode(const la_value *v, const char *word)
{
    return v->tag == LA_VSTR && la_str_is(v, word);
}

/* The gradient of the result, with q last. */
static la_tensor *quantile_grad(la_formula *x, const quantiles *u)
{
    la_tensor *g = G;
    int ndim = A(SELF) ? A(SELF)->ndim : 0;
    bool many = A(Q) && A(Q)->ndim == 1;
    int64_t first = 0, end = -1;
    if (many) g = R(movedim, g, la_v_ints(&first, 1), la_v_ints(&end, 1));
    else g = R(unsqueeze, g, -1);
    if (!VAL(KEEPDIM).b) return g;
    int64_t dim = u->dim;
    if (dim >= 0) return R(squeeze, g, la_v_ints(&dim, 1));
    for (int d = 0; d < ndim; d++) g = R(squeeze, g, la_v_ints(&first, 1));
    return g;
}

/* Rows that have NaN give it: their rank is the last, where NaN is sorted. */
static void quantile_ranks(la_formula *x, quantiles *u)
{
    la_value how = VAL(HOW);
    int64_t end = -1;
    la_tensor *nan = R(isnan, u->self), *n, *rank;
    la_value dtype = la_x_dtype(x);
    int64_t size = u->self ? la_sizes(u->self)[u->self->ndim - 1] : 1;
    bool skip = x->op->op == LA_OP(nanquantile);
    n = R(sum, nan, la_v_ints(&end, 1), true);
    if (skip) {
        u->last = R(clamp, R(rsub, n, (double)(size - 1)), 0.0);
        rank = R(mul, R(astype, u->last, dtype), A(Q));
    } else {
        u->last = R(mul, R(ones_like, n), (double)(size - 1));
        rank = R(mul, R(astype, u->last, dtype), A(Q));
        rank = R(where, R(gt, n, 0), R(astype, u->last, dtype), rank);
    }
    if (is_mode(&how, "nearest")) rank = R(round, rank);
    if (is_mode(&how, "lower")) rank = R(floor, rank);
    if (is_mode(&how, "higher")) rank = R(ceil, rank);
    la_tensor *low = R(floor, rank), *high = R(ceil, rank);
    u->part = is_mode(&how, "midpoint") ? R(mul, R(ones_like, rank), 0.5)
                                        : R(sub, rank, low);
    u->low = R(add, R(astype, low, la_v_dtype(LA_INT64)), 1);
    u->high = R(add, R(astype, high, la_v_dtype(LA_INT64)), 1);
}

/* Inputs of both gradients: self with its dim last, its order, the ranks. */
static quantiles quantile_of(la_formula *x)
{
    quantiles u = {.self = A(SELF), .dim = -1};
    la_value dim = VAL(QDIM);
    int64_t all = -1;
    int ndim = u.self ? u.self->ndim : 0;
    if (dim.tag == LA_VINT && ndim > 0) {
        la_status status = la_wrap_dim(dim.i, ndim, &u.dim);
        int64_t from = u.dim;
        if (status) la_chain_fail(&x->w, status);
        u.self = R(movedim, u.self, la_v_ints(&from, 1), la_v_ints(&all, 1));
    } else {
        u.self = R(reshape, u.self, la_v_ints(&all, 1));
    }
    u.grad = quantile_grad(x, &u);
    quantile_ranks(x, &u);
    u.order = R(argsort, u.self, -1, false, true);
    return u;
}

/* Weights of the two neighbouring ranks, scattered through the sort order. */
la_tensor *la_x_quantile_self(la_formula *x)
{
    quantiles u = quantile_of(x);
    la_tensor *high = R(mul, u.grad, u.part), *low = R(sub, u.grad, high);
    la_tensor *g = R(zeros_like, u.self);
    g = R(scatter_add, g, -1, u.low, low);
    g = R(scatter_add, g, -1, u.high, high);
    la_tensor *back = R(zeros_like, u.self);
    back = R(scatter_add, back, -1, u.order, g);
    int64_t dim = u.dim, end = -1;
    return dim >= 0 ? R(movedim, back, la_v_ints(&end, 1), la_v_ints(&dim, 1))
                    : R(reshape, back, SIZES(0));
}

/* Only between two elements does the result move with q. */
la_tensor *la_x_quantile_q(la_formula *x)
{
    la_value how = VAL(HOW);
    if (how.tag == LA_VSTR && !is_mode(&how, "linear")) return NULL;
    quantiles u = quantile_of(x);
    la_tensor *sorted = R(gather, u.self, -1, u.order);
    la_tensor *slope = R(sub, R(gather, sorted, -1, u.high),
                         R(gather, sorted, -1, u.low));
    la_tensor *g = R(mul, R(mul, u.grad, slope), u.last);
    if (!g) return NULL;
    int64_t rows[2] = {-1, la_sizes(g)[g->ndim - 1]}, first = 0;
    g = R(sum, R(reshape, g, la_v_ints(rows, 2)), la_v_ints(&first, 1));
    return R(reshape, g, SIZES(Q));
}
