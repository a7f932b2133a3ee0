/*
** Products over chosen dims, and outer products: outer, addr, kron, tensordot,
** inner. Composites of mul, addcmul and mm over views.
*/
#include "base/runtime/memory.h"
#include "op/composite.h"
#include "op/scalar_range.h"
#include "op/view/view.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/call.h"
#include "op/impls.h"

/* The pointer is read after 'status' was computed. */
/* ---- outer, addr ---- */

/* out[i, j] = a[i] * b[j], a column broadcast against a row. */
static la_status tensordot_outer(la_tensor *a, la_tensor *b, la_tensor **out)
{
    if (a->ndim != 1 || b->ndim != 1)
        return la_error(LA_ESHAPE, "outer: Expected 1-D argument %s, but got "
                        "%d-D", a->ndim != 1 ? "self" : "vec2",
                        a->ndim != 1 ? a->ndim : b->ndim);
    LA_LET(column, la_run(unsqueeze, &column, a, 1));
    return la_run(mul, out, column, b);
}

/* outer(a [m], b [n]) -> [m, n], dtypes promoted as mul does. */
la_status la_impl_outer(la_frame *f)
{
    la_tensor *out;
    return la_give(f, tensordot_outer(la_arg(f, 0), la_arg(f, 1), &out), &out);
}

/* Is the scalar exactly v? */
static bool scalar_is(const la_scalar *s, double v)
{
    return s->re == v && (s->kind != LA_KCOMPLEX || s->im == 0);
}

/* t * by; t itself for 1, so no pass over the data is spent. */
static la_status scaled(la_tensor *t, const la_scalar *by, la_tensor **out)
{
    if (scalar_is(by, 1)) return la_tensor_same(t, out);
    return la_run(mul, out, t, *by);
}

/* Shapes, and that integers get no fractional factors. */
static la_status check_addr(const la_frame *f)
{
    const la_tensor *self = la_arg(f, 0);
    const la_tensor *u = la_arg(f, 1), *v = la_arg(f, 2);
    if (u->ndim != 1 || v->ndim != 1)
        return la_error(LA_ESHAPE, "addr: Expected 1-D argument %s, but got "
                        "%d-D", u->ndim != 1 ? "vec1" : "vec2",
                        u->ndim != 1 ? u->ndim : v->ndim);
    int64_t want[2] = {u->numel, v->numel};
    for (int d = 0; d < self->ndim; d++) {
        int64_t have = la_sizes(self)[d];
        int64_t w = self->ndim > 2 ? -1 : want[2 - self->ndim + d];
        if (w < 0 || (have != w && have != 1))
            return la_error(LA_ESHAPE, "addr: self can't be expanded to the "
                            "result's shape [%lld, %lld]", (long long)want[0],
                            (long long)want[1]);
    }
    bool whole = la_dtype_kind(self->dtype) != 'f'
        && la_dtype_kind(self->dtype) != 'c' && !la_is_float(u->dtype)
        && !la_is_complex(u->dtype) && !la_is_float(v->dtype)
        && !la_is_complex(v->dtype);
    for (int k = 3; whole && k <= 4; k++)
        if (f->args[k].scalar.kind >= LA_KFLOAT)
            return la_error(LA_EDTYPE, "For integral input tensors, argument "
                            "%s must not be a floating point number.",
                            k == 3 ? "beta" : "alpha");
    return LA_OK;
}

/* beta * self, zeros where beta is 0 (self only tells the dtype then). */
static la_status scaled_self(la_frame *f, la_tensor **out)
{
    la_tensor *self = la_arg(f, 0);
    if (scalar_is(&f->args[3].scalar, 0))
        return la_run(zeros_like, out, self);
    return scaled(self, &f->args[3].scalar, out);
}

/* All three operands are float32, or all are float64. */
static bool is_one_float_dtype(const la_frame *f)
{
    int d = la_arg(f, 0)->dtype;
    return (d == LA_FLOAT32 || d == LA_FLOAT64) && la_arg(f, 1)->dtype == d
        && la_arg(f, 2)->dtype == d;
}

/* One pass of addcmul for float32 and float64, where the product is not rounded
** on its own anyway; 16-bit floats take the steps of la_impl_addr, which round
** it. */
static la_status addr_in_one(la_frame *f, la_tensor **out)
{
    LA_LET(left, scaled_self(f, &left));
    LA_LET(column, la_run(unsqueeze, &column, f->args[1], 1));
    return la_run(addcmul, out, left, column, f->args[2], f->args[4].scalar);
}

/* The vectors' product in 'd': in their own dtype it may not fit, or get fewer
** digits from alpha than self has. */
static la_status outer_in(la_frame *f, la_dtype d, la_tensor **out)
{
    LA_LET(u, la_run(to_dtype, &u, f->args[1], la_v_dtype(d)));
    LA_LET(v, la_run(to_dtype, &v, f->args[2], la_v_dtype(d)));
    return tensordot_outer(u, v, out);
}

/* addr: beta * self [m, n] or broadcast + alpha * outer(vec1 [m], vec2 [n]), in
** the dtype that the tensors promote to. */
la_status la_impl_addr(la_frame *f)
{
    la_tensor *out;
    const la_scalar *alpha = &f->args[4].scalar;
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype d;
    LA_TRY(check_addr(f));
    if (is_one_float_dtype(f)) return la_give(f, addr_in_one(f, &out), &out);
    for (int k = 0; k < 3; k++) la_result_type_add(&r, la_arg(f, k));
    LA_TRY(la_result_type_get(&r, &d));
    LA_TRY(la_wrapped_fits(la_arg(f, 0), d, 1));
    LA_LET(product, outer_in(f, d, &product));
    LA_LET(right, scaled(product, alpha, &right));
    LA_LET(left, scaled_self(f, &left));
    LA_LET(sum, la_run(add, &sum, left, right));
    if (la_is_complex((la_dtype)sum->dtype) && !la_is_complex(d))
        d = (la_dtype)sum->dtype;
    return la_give(f, la_run(to_dtype, &out, sum, la_v_dtype(d)), &out);
}

/* ---- kron ---- */

/* Sizes with ones between: a of (2, 3) is (2, 1, 3, 1), b is (1, 2, 1, 3). */
static int tensordot_interleave(const la_tensor *t, int ndim, int first,
                                int64_t *sizes)
{
    for (int d = 0; d < ndim; d++) {
        int own = d - (ndim - t->ndim);
        sizes[2 * d + first] = own < 0 ? 1 : la_sizes(t)[own];
        sizes[2 * d + 1 - first] = 1;
    }
    return 2 * ndim;
}

/* kron by one broadcast product: dims of a and b are interleaved, then pairs of
** them joined. */
static la_status kron(la_tensor *a, la_tensor *b, la_tensor **out)
{
    int64_t x[LA_MAX_DIMS], y[LA_MAX_DIMS], both[LA_MAX_DIMS / 2];
    int n = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (2 * n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "kron takes at most %d dims",
                        LA_MAX_DIMS / 2);
    int wide = tensordot_interleave(a, n, 0, x);
    tensordot_interleave(b, n, 1, y);
    for (int d = 0; d < n; d++)
        if (!la_mul_ok(x[2 * d], y[2 * d + 1], &both[d]))
            return la_error(LA_ESHAPE, "size overflow");
    LA_LET(wide_a, la_view_to(a, wide, x, &wide_a));
    LA_LET(wide_b, la_view_to(b, wide, y, &wide_b));
    LA_LET(product, la_run(mul, &product, wide_a, wide_b));
    return la_reshape_to(product, n, both, out);   /* permuted, as a or b is */
}

/* kron(a, b): size of dim d is a's times b's; missing leading dims count as 1.
** At most LA_MAX_DIMS / 2 dims. */
la_status la_impl_kron(la_frame *f)
{
    la_tensor *out;
    return la_give(f, kron(la_arg(f, 0), la_arg(f, 1), &out), &out);
}

/* ---- tensordot, inner ---- */

/* 't' as a matrix of its summed dims, in the order of 'dims', and all others:
** [others, summed], or transposed when 'front'. 'free_sizes' gets the sizes of
** the others. */
static la_status as_matrix(la_tensor *t, const int64_t *dims, int n, bool front,
                           int64_t *free_sizes, int *nfree, la_tensor **out)
{
    int64_t order[LA_MAX_DIMS], rest = 1, summed = 1;
    uint64_t mask = 0;
    for (int i = 0; i < n; i++) {
        mask |= (uint64_t)1 << dims[i];
        summed *= la_sizes(t)[dims[i]];
        order[front ? i : t->ndim - n + i] = dims[i];
    }
    int at = front ? n : 0;
    *nfree = 0;
    for (int d = 0; d < t->ndim; d++)
        if (!(mask >> d & 1)) {
            order[at++] = d;
            free_sizes[(*nfree)++] = la_sizes(t)[d];
            rest *= la_sizes(t)[d];
        }
    int64_t flat[2] = {front ? summed : rest, front ? rest : summed};
    LA_LET(permuted, la_run(permute, &permuted, t, la_v_ints(order, t->ndim)));
    return la_reshape_to(permuted, 2, flat, out);
}

/* Dims counted from 0; LA_EARG for duplicates, LA_EINDEX for dims of a 0-dim
** tensor: it has no sizes to read. */
static la_status wrap_dims(const la_tensor *t, const int64_t *dims, int n,
                           int64_t *out)
{
    uint64_t mask;
    if (n > 0 && t->ndim == 0)
        return la_error(LA_EINDEX, "Dimension specified as %lld but tensor has "
                        "no dimensions", (long long)dims[0] + (dims[0] >= 0));
    LA_TRY(la_dim_mask(n, dims, t->ndim, &mask));  /* also: no duplicates */
    for (int i = 0; i < n; i++) {
        int d;
        LA_TRY(la_wrap_dim(dims[i], t->ndim, &d));
        out[i] = d;
    }
    return LA_OK;
}

/* A dim of size 1 is broadcast: its factor is the same for the other's sum. */
static la_status sum_of_dim(la_tensor **t, int64_t dim)
{
    la_tensor *out;
    if (la_sizes(*t)[dim] == 1) return LA_OK;
    LA_TRY(la_run(sum, &out, *t, la_v_ints(&dim, 1), la_v_bool(true),
                  la_v_dtype((la_dtype)(*t)->dtype)));
    la_tensor_release(*t);
    *t = out;
    return LA_OK;
}

/* Sums of products over dims x[i] of 'a' with y[i] of 'b', as one matrix
** product. The result has the other dims of a, then those of b. */
static la_status tensordot(la_tensor *a, la_tensor *b, const int64_t *x,
                           const int64_t *y, int n, la_tensor **out)
{
    int64_t da[LA_MAX_DIMS], db[LA_MAX_DIMS], sizes[2 * LA_MAX_DIMS];
    int na, nb;
    da[0] = db[0] = 0;      /* gcc sees a path where they are not set */
    LA_OWNED short_a = la_tensor_retain(a);
    LA_OWNED short_b = la_tensor_retain(b);
    LA_TRY(wrap_dims(a, x, n, da));
    LA_TRY(wrap_dims(b, y, n, db));
    for (int i = 0; i < n; i++) {
        if (la_sizes(b)[db[i]] == 1) LA_TRY(sum_of_dim(&short_a, da[i]));
        else if (la_sizes(a)[da[i]] == 1) LA_TRY(sum_of_dim(&short_b, db[i]));
    }
    a = short_a;
    b = short_b;
    for (int i = 0; i < n; i++)
        if (la_sizes(a)[da[i]] != la_sizes(b)[db[i]])
            return la_error(LA_ESHAPE, "contracted dimensions need to match, "
                            "but first has size %lld in dim %d and second has "
                            "size %lld in dim %d",
                            (long long)la_sizes(a)[da[i]], (int)da[i] + 1,
                            (long long)la_sizes(b)[db[i]], (int)db[i] + 1);
    LA_LET(left, as_matrix(a, da, n, false, sizes, &na, &left));
    LA_LET(right, as_matrix(b, db, n, true, sizes + na, &nb, &right));
    if (na + nb > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "the result would have more than %d dims",
                        LA_MAX_DIMS);
    LA_LET(product, la_run(mm, &product, left, right));
    return la_view_to(product, na + nb, sizes, out);
}

/* tensordot(a, b, n): the last n dims of a with the first n of b. */
la_status la_impl_tensordot(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1), *out;
    int64_t n = la_arg_int(f, 2), x[LA_MAX_DIMS], y[LA_MAX_DIMS];
    if (n < 0 || n > a->ndim || n > b->ndim)
        return la_error_at(LA_EARG, 3, "tensordot expects dims from 0 to the "
                           "number of dims of both tensors, got %lld",
                           (long long)n);
    for (int i = 0; i < n; i++) {
        x[i] = a->ndim - n + i;
        y[i] = i;
    }
    return la_give(f, tensordot(a, b, x, y, (int)n, &out), &out);
}

/* tensordot(a, b, dims): argument 2 holds both lists, one after the other. */
la_status la_impl_tensordot_dims(la_frame *f)
{
    la_tensor *out;
    int64_t n = f->args[2].ints.n / 2;
    const int64_t *dims = f->args[2].ints.list;
    if (n > LA_MAX_DIMS || f->args[2].ints.n % 2)
        return la_error_at(LA_EARG, 3, "both lists of dims must have the same "
                           "length");
    return la_give(f, tensordot(la_arg(f, 0), la_arg(f, 1), dims, dims + n,
                             (int)n, &out), &out);
}

/* inner(a, b): sum over the last dim of both; a product where either is
** 0-dim. */
la_status la_impl_inner(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1), *out;
    int64_t last = -1;
    if (a->ndim == 0 || b->ndim == 0)
        return la_give(f, la_run(mul, &out, a, b), &out);
    if (la_sizes(a)[a->ndim - 1] != la_sizes(b)[b->ndim - 1])
        return la_error(LA_ESHAPE, "inner() the last dimension must match on "
                        "both input tensors but got sizes %lld and %lld",
                        (long long)la_sizes(a)[a->ndim - 1],
                        (long long)la_sizes(b)[b->ndim - 1]);
    return la_give(f, tensordot(a, b, &last, &last, 1, &out), &out);
}
