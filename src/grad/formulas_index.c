/*
** Formulas of combining through indices and of quantiles.
**
** scatter_reduce and index_reduce differ in how places are named: by an index
** for each element, or for each slice. pick() reads there, pour() adds there.
** Where the largest is shared, its gradient is shared out evenly.
*/
#include "grad/formulas_index.h"

#include "grad/formulas_reduce.h"
#include "op/index/index.h"

enum { SELF, DIM, INDEX, SOURCE, REDUCE, INCLUDE };

static bool by_slices(const la_formula *x)
{
    return x->op->op->id == LA_OP_index_reduce;
}

static la_tensor *pick(la_formula *x, la_tensor *t)
{
    return by_slices(x) ? R(index_select, t, VAL(DIM), A(INDEX))
                        : R(gather, t, VAL(DIM), A(INDEX));
}

static la_tensor *pour(la_formula *x, la_tensor *t, la_tensor *source)
{
    return by_slices(x) ? R(index_add, t, VAL(DIM), A(INDEX), source)
                        : R(scatter_add, t, VAL(DIM), A(INDEX), source);
}

static la_tensor *combined(la_formula *x, la_tensor *t, la_tensor *source)
{
    return by_slices(x)
        ? R(index_reduce, t, VAL(DIM), A(INDEX), source, VAL(REDUCE),
            VAL(INCLUDE))
        : R(scatter_reduce, t, VAL(DIM), A(INDEX), source, VAL(REDUCE),
            VAL(INCLUDE));
}

static la_reduce_kind kind_of(la_formula *x)
{
    la_reduce_kind kind = LA_RED_NONE;
    la_value word = VAL(REDUCE);
    la_status status = la_reduce_parse(&word, REDUCE + 1, &kind);
    if (status) la_x_fail(x, status);
    return kind;
}

/* How many were combined at each place of self, at least 1. */
static la_tensor *combined_count(la_formula *x)
{
    la_tensor *start = VAL(INCLUDE).b ? R(ones_like, G) : R(zeros_like, G);
    la_tensor *n = pour(x, start, R(ones_like, A(SOURCE)));
    return R(masked_fill, n, R(eq, n, 0), 1);
}

/* 1 where 't' is the result, in the dtype of the gradient. */
static la_tensor *is_result(la_formula *x, la_tensor *t, la_tensor *result)
{
    return R(astype, R(eq, t, result), la_x_dtype(x));
}

/* The gradient of a result, for each that equals it. */
static la_tensor *shared(la_formula *x)
{
    la_tensor *self = is_result(x, A(SELF), RES(0));
    la_tensor *source = is_result(x, A(SOURCE), pick(x, RES(0)));
    return R(div, G, pour(x, self, source));
}

/* Without self, its places among the indices get nothing. */
static la_tensor *without_self(la_formula *x, la_tensor *grad)
{
    if (VAL(INCLUDE).b) return grad;
    return by_slices(x) ? R(index_fill, grad, VAL(DIM), A(INDEX), 0)
                        : R(scatter, grad, VAL(DIM), A(INDEX), 0);
}

la_tensor *la_x_combined_self(la_formula *x)
{
    la_tensor *self, *grad;
    switch (kind_of(x)) {
    case LA_RED_MEAN:
        grad = R(div, G, combined_count(x));
        break;
    case LA_RED_PROD:
        self = R(masked_fill, A(SELF), R(eq, A(SELF), 0), 1);
        grad = R(div, R(mul, G, C(combined(x, self, A(SOURCE)))), C(self));
        break;
    case LA_RED_AMAX: case LA_RED_AMIN:
        grad = R(mul, is_result(x, A(SELF), RES(0)), shared(x));
        break;
    default:
        grad = G;
    }
    return without_self(x, grad);
}

/* result / source, but where an element is the only zero of its place, the
** product of the others. */
static la_tensor *product_source(la_formula *x)
{
    la_tensor *source = A(SOURCE), *zero = R(eq, source, 0);
    la_tensor *none = R(zeros_like, A(SELF));
    la_tensor *zeros = pick(x, pour(x, none, R(astype, zero,
                                               la_x_dtype(x))));
    la_tensor *only = R(logical_and, zero, R(eq, zeros, 1));
    la_tensor *others = combined(x, A(SELF), R(masked_fill, source, only, 1));
    la_tensor *rest = R(div, pick(x, R(mul, G, C(RES(0)))),
                        C(R(masked_fill, source, zero, 1)));
    return R(where, only, pick(x, R(mul, G, C(others))), rest);
}

la_tensor *la_x_combined_source(la_formula *x)
{
    switch (kind_of(x)) {
    case LA_RED_MEAN:
        return pick(x, R(div, G, combined_count(x)));
    case LA_RED_PROD:
        return product_source(x);
    case LA_RED_AMAX: case LA_RED_AMIN:
        return R(mul, is_result(x, A(SOURCE), pick(x, RES(0))),
                 pick(x, shared(x)));
    default:
        return pick(x, G);
    }
}

/* ---- quantiles ---- */

enum { Q = 1, QDIM, KEEPDIM, HOW };

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
    if (many) g = R(movedim, g, LA_IS(&first, 1), LA_IS(&end, 1));
    else g = R(unsqueeze, g, -1);
    if (!VAL(KEEPDIM).b) return g;
    int64_t dim = u->dim;
    if (dim >= 0) return R(squeeze, g, LA_IS(&dim, 1));
    for (int d = 0; d < ndim; d++) g = R(squeeze, g, LA_IS(&first, 1));
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
    bool skip = x->op->op->id == LA_OP_nanquantile;
    n = R(sum, nan, LA_IS(&end, 1), true);
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
    u->low = R(add, R(astype, low, LA_DT(LA_INT64)), 1);
    u->high = R(add, R(astype, high, LA_DT(LA_INT64)), 1);
}

static quantiles quantile_of(la_formula *x)
{
    quantiles u = {.self = A(SELF), .dim = -1};
    la_value dim = VAL(QDIM);
    int64_t all = -1;
    int ndim = u.self ? u.self->ndim : 0;
    if (dim.tag == LA_VINT && ndim > 0) {
        la_status status = la_wrap_dim(dim.i, ndim, &u.dim);
        int64_t from = u.dim;
        if (status) la_x_fail(x, status);
        u.self = R(movedim, u.self, LA_IS(&from, 1), LA_IS(&all, 1));
    } else {
        u.self = R(reshape, u.self, LA_IS(&all, 1));
    }
    u.grad = quantile_grad(x, &u);
    quantile_ranks(x, &u);
    u.order = R(argsort, u.self, -1, false, true);
    return u;
}

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
    return dim >= 0 ? R(movedim, back, LA_IS(&end, 1), LA_IS(&dim, 1))
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
    g = R(sum, R(reshape, g, LA_IS(rows, 2)), LA_IS(&first, 1));
    return R(reshape, g, SIZES(Q));
}
