/*
** Norms of vectors and matrices, condition numbers.
*/
#include <math.h>

#include "op/composite.h"
#include "op/linalg/linalg.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Which matrix norm: of orders 1 and inf (or their negatives) the extreme of
** the sums along a dim; of 2, -2 and "nuc" an extreme or the sum of the
** singular values. */
typedef struct order {
    bool frobenius, rows, least, spectral, nuclear;
} order;

/* Checks the order before anything is computed. nuc, 2 and -2 need singular
** values, others only sums. */
static la_status order_of(const la_value *v, int arg, order *out)
{
    double p = v->tag == LA_VSCALAR ? v->scalar.re : 0;
    *out = (order){.least = p < 0, .rows = isinf(p),
                   .frobenius = la_str_is(v, "fro"),
                   .nuclear = la_str_is(v, "nuc"),
                   .spectral = p == 2 || p == -2};
    if (v->tag == LA_VSTR ? out->frobenius || out->nuclear
                          : isinf(p) || p == 1 || p == -1 || out->spectral)
        return LA_OK;
    return la_error_at(LA_EARG, arg, "unknown order of a matrix norm: 'fro', "
                       "'nuc', 1, -1, 2, -2, inf or -inf expected");
}

/* svdvals wants the matrices in the last two dims; the values are then a
** vector in place of two dims, which keepdim puts back in their order. */
static la_tensor *by_singular_values(la_chain *w, la_tensor *a, order o,
                                     int row, int col, bool keep)
{
    int64_t dims[] = {row, col}, last[] = {-2, -1}, end = -1;
    la_tensor *s =
        R(svdvals, R(movedim, a, la_v_ints(dims, 2), la_v_ints(last, 2)));
    if (w->status) return NULL;
    bool none = la_sizes(s)[s->ndim - 1] == 0;
    if (o.nuclear || (none && !o.least))
        s = R(sum, s, la_v_ints(&end, 1));
    else if (o.least) s = R(amin, s, la_v_ints(&end, 1));
    else s = R(amax, s, la_v_ints(&end, 1));
    if (!keep) return s;
    s = R(unsqueeze, s, row < col ? row : col);
    return R(unsqueeze, s, row < col ? col : row);
}

/* The norm over two different dims. */
static la_status matrix_norm(la_tensor *a, const la_value *ord, int arg,
                             const int64_t *dims, bool keep, la_tensor **out)
{
    LA_CHAIN(w);
    order o;
    LA_TRY(order_of(ord, arg, &o));
    int row, col;
    LA_TRY(la_wrap_dim(dims[0], a->ndim, &row));
    LA_TRY(la_wrap_dim(dims[1], a->ndim, &col));
    if (row == col)
        return la_error_at(LA_EARG, arg + 1, "two different dims expected");
    la_tensor *t = a;
    if (o.spectral || o.nuclear) {
        t = by_singular_values(w, t, o, row, col, keep);
    } else if (o.frobenius) {
        t = R(vector_norm, t, la_v_float(2), la_v_ints(dims, 2), keep);
    } else {
        int64_t along = o.rows ? col : row, other = o.rows ? row : col;
        t = R(sum, R(abs, t), la_v_ints(&along, 1), true);
        if (!o.least && la_sizes(a)[other] == 0)   /* no sums: the norm is 0 */
            t = R(sum, t, la_v_ints(&other, 1), true);
        else t = o.least ? R(amin, t, la_v_ints(&other, 1), true)
                    : R(amax, t, la_v_ints(&other, 1), true);
        if (!keep)
            t = R(squeeze, t, la_v_ints(((int64_t[]){row, col}), 2));
    }
    LA_TRY(w->status);
    return la_tensor_same(t, out);
}

/* dtype= converts first. */
static la_status converted(la_tensor *a, const la_value *dtype,
                           la_tensor **out)
{
    if (dtype->tag == LA_VDTYPE)
        return la_run(to_dtype, out, a, la_v_dtype(dtype->dtype));
    return la_tensor_same(a, out);
}

/* Norms of integers would need a dtype that nobody named: PyTorch refuses
** them, and so does this. */
static la_status check_inexact(const la_tensor *a)
{
    if (la_is_inexact((la_dtype)a->dtype))
        return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "a floating point or complex tensor "
                       "expected, got %s", la_dtype_name((la_dtype)a->dtype));
}

/* (A, ord, dim, keepdim, dtype) */
la_status la_impl_matrix_norm(la_frame *f)
{
    la_tensor *out = NULL;
    LA_LET(a, converted(la_arg(f, 0), &f->args[4], &a));
    LA_TRY(check_inexact(a));
    LA_TRY(la_check_dims(a, 0));
    if (f->args[2].ints.n != 2)
        return la_error_at(LA_EARG, 3, "two dims expected");
    return la_give(f, matrix_norm(a, &f->args[1], 2, f->args[2].ints.list,
                                  la_arg_bool(f, 3), &out), &out);
}

LA_FORWARD(la_impl_matrix_norm_word, la_impl_matrix_norm(f))

/* (A, ord, dim, keepdim, dtype): of one dim the vector norm, of two the matrix
** norm; without an order the 2-norm of all. */
la_status la_impl_linalg_norm(la_frame *f)
{
    la_tensor *out = NULL;
    const la_value *ord = &f->args[1], *dim = &f->args[2];
    bool keep = la_arg_bool(f, 3), all = !la_has(f, 2);
    int64_t own[2] = {-2, -1};
    LA_LET(a, converted(la_arg(f, 0), &f->args[4], &a));
    LA_TRY(check_inexact(a));
    int64_t n = all ? a->ndim : dim->ints.n;
    if (!la_has(f, 1))
        return la_run_result(f, vector_norm, a, la_v_float(2), *dim, keep);
    if (n == 1 && ord->tag == LA_VSCALAR)
        return la_run_result(f, vector_norm, a, la_v_float(ord->scalar.re),
                             *dim, keep);
    if (n != 2 && ord->tag == LA_VSTR)
        return la_error_at(LA_EARG, 2, "a matrix norm needs two dims, got "
                           "%lld", (long long)n);
    if (n != 2)
        return la_error_at(LA_EARG, 3, "an order needs one dim or two, got "
                           "%lld", (long long)n);
    return la_give(f, matrix_norm(a, ord, 2, all ? own : dim->ints.list, keep,
                                  &out), &out);
}

LA_FORWARD(la_impl_linalg_norm_word, la_impl_linalg_norm(f))

/* The quotient of the extreme singular values. */
/* Singular values come in falling order, so that the extremes are the first
** and the last. */
static la_status cond_of_extremes(la_frame *f, la_tensor *a, bool inverse)
{
    LA_CHAIN(w);
    la_tensor *s = R(svdvals, a);
    LA_TRY(w->status);
    int64_t k = la_sizes(s)[s->ndim - 1];
    la_tensor *most = R(select, s, -1, (int64_t)0);
    la_tensor *least = R(select, s, -1, k - 1);
    return la_chain_end(w, f, inverse ? R(div, least, most)
                        : R(div, most, least));
}

/* Zeros: the condition numbers of matrices without elements. */
static la_status cond_of_none(la_frame *f, la_tensor *a)
{
    int64_t dims[] = {-2, -1};
    LA_CHAIN(w);
    return la_chain_end(w, f, R(sum, R(abs, a), la_v_ints(dims, 2)));
}

/* (A, p): |A| |A^-1|, infinite for singular matrices. */
la_status la_impl_cond(la_frame *f)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    int64_t dims[2] = {-2, -1};
    la_tensor *a = la_arg(f, 0);
    order o = {.spectral = true};
    if (la_has(f, 1)) LA_TRY(order_of(&f->args[1], 2, &o));
    if (o.spectral) LA_TRY(la_check_matrix(f, 0));
    else LA_TRY(la_check_square(f, 0));
    if (la_sizes(a)[a->ndim - 1] == 0 || la_sizes(a)[a->ndim - 2] == 0)
        return cond_of_none(f, a);
    if (o.spectral) return cond_of_extremes(f, a, o.least);
    LA_LET(norm, matrix_norm(a, &f->args[1], 2, dims, false, &norm));
    LA_TRY(la_run_many(inv_ex, r, a));
    LA_OWNED inverse = r[0].tensor;
    LA_OWNED info = r[1].tensor;
    la_tensor *singular = R(ne, info, 0);
    if (o.nuclear) {
        /* what is not finite has no singular values */
        la_tensor *mask = R(unsqueeze, R(unsqueeze, singular, -1), -1);
        la_tensor *some = R(where, mask, 0.0, inverse);
        LA_TRY(w->status);
        la_tensor_drop(&inverse);
        inverse = la_tensor_retain(some);
    }
    LA_LET(other, matrix_norm(inverse, &f->args[1], 2, dims, false, &other));
    la_tensor *c = R(mul, norm, other);
    return la_chain_end(w, f, R(where, singular, (double)INFINITY, c));
}

LA_FORWARD(la_impl_cond_word, la_impl_cond(f))
