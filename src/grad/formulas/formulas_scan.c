/*
** Formulas of scans: cumprod and logcumsumexp.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "grad/formulas/formulas.h"
#include "op/call.h"
#include "tensor/shape.h"
#include "grad/formulas/formula_terms.h"

/* Sums from each position to the end. */
static la_tensor *reverse_cumsum(la_formula *x, la_tensor *t, la_value dim)
{
    return R(flip, R(cumsum, R(flip, t, dim), dim), dim);
}

/* Position i of the gradient when a row holds zeros: the products without
** element i, weighted and summed. Its intermediates are released at once. */
static la_tensor *without(la_formula *x, la_tensor *self, la_tensor *g,
                          la_value dim, int64_t i, int64_t n)
{
    int mark = x->w.n;
    la_tensor *one = R(ones_like, R(select, self, dim, i));
    la_tensor *p = R(cumprod, R(select_scatter, self, one, dim, i), dim);
    p = R(narrow, R(mul, g, C(p)), dim, i, n - i);
    p = R(sum, p, dim, true);
    if (p) la_tensor_retain(p);
    while (x->w.n > mark) la_tensor_release(x->w.temps[--x->w.n]);
    return p;
}

/* Position by position: no division, O(n^2), only for rows with a zero. */
static la_tensor *cumprod_with_zeros(la_formula *x, la_tensor *self, int d)
{
    int64_t n = la_sizes(self)[d], count = 0;
    size_t bytes = (size_t)n * sizeof(la_tensor *);
    la_tensor *g = G, *out = NULL, **list = la_mem_zalloc(bytes);
    if (!list) return la_chain_fail(&x->w, LA_ENOMEM);
    for (; count < n && !x->w.status; count++)
        list[count] = without(x, self, g, la_v_int(d), count, n);
    if (!x->w.status) out = R(cat, la_v_tensors(list, n), d);
    for (int64_t i = 0; i < n; i++) la_tensor_drop(&list[i]);
    la_mem_free(list, bytes);
    return out;
}

/* reverse_cumsum(grad * result) / self, unless an element of self is 0. */
la_tensor *la_x_cumprod(la_formula *x)
{
    la_tensor *self = la_x_as_grad(x, A(0)), *zero = R(eq, self, 0);
    la_value any[LA_MAX_RESULTS];
    int d;
    if (!zero) return NULL;
    if (la_x_ndim(x, 0) == 0) return G;
    if (la_run_many(any, any, zero)) return la_chain_fail(&x->w, LA_EGRAD);
    if (la_wrap_dim(VAL(1).i, self->ndim, &d))
        return la_chain_fail(&x->w, LA_EINDEX);
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

/* The gradient as a sum over pairs of positions: exp(self[i] - result[j]) is at
** most 1 for j from i on. Its size is that of the rows squared, but it holds
** for complex numbers, and each part can be differentiated again. */
static la_tensor *pair_sums(la_formula *x)
{
    la_tensor *self = A(0), *result = RES(0), *g = G;
    la_value dim = VAL(1), last = la_v_int(-1);
    if (x->w.status) return NULL;
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

/* Computes in logarithms for real numbers that are not recorded, else by
** pairs. */
la_tensor *la_x_logcumsumexp(la_formula *x)
{
    la_tensor *g = G;
    if (!g || la_x_ndim(x, 0) == 0) return g;
    if (la_grad_enabled() || la_is_complex((la_dtype)g->dtype))
        return pair_sums(x);
    return R(sub, log_part(x, g), log_part(x, R(neg, g)));
}

la_tensor *la_x_reached(la_formula *x, la_tensor *t)
{
    return R(where, R(eq, t, -INFINITY), 0, t);
}
