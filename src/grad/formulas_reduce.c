/* Longer formulas: reductions, order, indexing. */
#include "grad/formulas_reduce.h"

#include <math.h>

#include "tensor/shape.h"

uint64_t la_x_dims(la_formula *x, int at)
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
    uint64_t mask = la_x_dims(x, dims);
    if (keep >= 0 && VAL(keep).b) return g;
    for (int d = 0; d < o->ndim; d++)
        sizes[d] = mask >> d & 1 ? 1 : o->sizes[d];
    return R(reshape, g, LA_IS(sizes, o->ndim));
}

/* One number for every place: for few places a filled tensor is made faster
** than a view, and is used faster, too. */
enum { FEW_PLACES = 1024 };

static la_tensor *filled(la_formula *x, const la_tensor *g,
                         const la_output_meta *o, int64_t n)
{
    la_tensor *t = NULL;
    size_t size = la_itemsize(g);
    la_status status = la_tensor_empty(o->ndim, o->sizes, (la_dtype)g->dtype,
                                       &t);
    if (status) return la_x_fail(x, status);
    char *data = la_data(t), *one = la_data(g);
    for (int64_t i = 0; i < n; i++) memcpy(data + (size_t)i * size, one, size);
    return la_x_own(x, t);
}

static bool is_plain_number(const la_tensor *g)
{
    return g->numel == 1 && g->device == LA_CPU && la_data(g)
        && !(g->flags & (LA_F_CONJ | LA_F_NEG | LA_F_ZERO))
        && la_tensor_check_bounds(g) == LA_OK;
}

la_tensor *la_x_expand_grad(la_formula *x, la_tensor *g, int dims, int keep)
{
    const la_output_meta *o = la_x_meta(x, 0, 0);
    int64_t n = 1;
    for (int d = 0; d < o->ndim; d++) n *= o->sizes[d];
    if (g && n > 0 && n <= FEW_PLACES && !la_grad_enabled()
        && is_plain_number(g))
        return filled(x, g, o, n);
    return R(expand, la_x_unsqueezed(x, g, dims, keep), SIZES(0));
}

double la_x_count(la_formula *x, int dims)
{
    const la_output_meta *o = la_x_meta(x, 0, 0);
    uint64_t mask = la_x_dims(x, dims);
    double n = 1;
    for (int d = 0; d < o->ndim; d++)
        if (mask >> d & 1) n *= (double)o->sizes[d];
    return n;
}

/* The dims of argument 'dims' as a list value for sum. */
static la_value dim_list(la_formula *x, int dims, int64_t *list)
{
    uint64_t mask = la_x_dims(x, dims);
    int n = 0;
    for (int d = 0; d < la_x_ndim(x, 0); d++)
        if (mask >> d & 1) list[n++] = d;
    return LA_IS(list, n);
}

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

/* 'self' as dtype= made it before the operation: a complex tensor whose result
** is real gave its real part. */
la_tensor *la_x_as_grad(la_formula *x, la_tensor *self)
{
    la_tensor *g = G;
    bool halved = self && g && la_is_complex((la_dtype)self->dtype)
        && !la_is_complex((la_dtype)g->dtype);
    return halved ? R(real, self) : self;
}

/* result / self where self is not zero; where it is the only zero of its row,
** the product of the others. */
la_tensor *la_x_prod(la_formula *x)
{
    int64_t list[LA_MAX_DIMS];
    la_tensor *self = la_x_as_grad(x, A(0)), *g = la_x_expand_grad(x, G, 1, 2);
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
static double divisor(la_formula *x)
{
    double correction = 1, n = la_x_count(x, 1);
    if (VAL(2).tag != LA_VNONE) correction = VAL(2).d;
    else if (VAL(3).tag != LA_VNONE) correction = VAL(3).b;
    return n > correction ? n - correction : 0;
}

la_tensor *la_x_var(la_formula *x, la_tensor *g)
{
    int64_t list[LA_MAX_DIMS];
    la_tensor *self = A(0);
    la_tensor *mean = la_x_ndim(x, 0) == 0 ? self
        : R(mean, self, dim_list(x, 1, list), true);
    g = la_x_unsqueezed(x, g, 1, 4);
    return R(mul, g, R(mul, R(sub, self, mean), 2 / divisor(x)));
}

la_tensor *la_x_std(la_formula *x, la_tensor *g)
{
    la_tensor *result = RES(0), *none = R(eq, result, 0);
    la_tensor *twice = R(mul, R(where, none, 1, result), 2);
    return la_x_var(x, R(where, none, 0, R(div, g, twice)));
}

la_tensor *la_x_norm(la_formula *x)
{
    double p = VAL(1).d;
    la_tensor *self = A(0), *g = G, *result = RES(0), *scale;
    la_tensor *wide = la_x_unsqueezed(x, result, 2, 3);
    la_tensor *none = R(eq, wide, 0), *safe = R(where, none, 1, wide);
    if (p == 0) return R(zeros_like, self);
    if (p == 1) return R(mul, la_x_unsqueezed(x, g, 2, 3), R(sgn, self));
    g = la_x_unsqueezed(x, g, 2, 3);
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

la_tensor *la_x_masked_source(la_formula *x)
{
    int64_t n = 1;
    const la_output_meta *o = la_x_meta(x, 2, 0);
    la_tensor *picked = R(masked_select, G, A(1));
    if (!picked) return NULL;
    for (int d = 0; d < o->ndim; d++) n *= o->sizes[d];
    int64_t pad[2] = {0, n - picked->numel};
    return R(reshape, R(constant_pad_nd, picked, LA_IS(pad, 2)), SIZES(2));
}

la_value la_x_list(la_formula *x)
{
    int64_t n = x->op->args[1].tensors.n;
    if (n > LA_MAX_DIMS) n = LA_MAX_DIMS;
    for (int64_t i = 0; i < n; i++) x->members[i] = la_x_member(x, i);
    return LA_TS(x->members, n);
}

la_value la_x_dtype(la_formula *x)
{
    return LA_DT((la_dtype)x->node->outputs[0].dtype);
}
