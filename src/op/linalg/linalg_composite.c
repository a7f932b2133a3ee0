/*
** Composites of factorizations: they call other operations, so they need no
** derivative of their own.
*/
#include <math.h>

#include "op/composite.h"
#include "op/linalg/linalg.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"

/* The results of a call with several, in the order of its schema. */
typedef la_value results[LA_MAX_RESULTS];
static void results_drop(results *r)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_value_drop(&(*r)[k]);
}
#define RESULTS __attribute__((cleanup(results_drop))) results

/* ---- LU ---- */

/* (A, *, pivot) */
la_status la_impl_lu_factor(la_frame *f)
{
    RESULTS r = {{.tag = LA_VNONE}};
    LA_TRY(la_run_many(lu_factor_ex, r, la_arg(f, 0), f->args[1]));
    la_set_result(f, 0, la_tensor_retain(r[0].tensor));
    la_set_result(f, 1, la_tensor_retain(r[1].tensor));
    return LA_OK;
}

/* m x n with ones on a diagonal, of the dtype and device of 'like'. */
static la_tensor *linalg_identity(la_chain *w, const la_tensor *like, int64_t m,
                                  int64_t n, int64_t diagonal)
{
    return R(eye, m, n, diagonal, la_v_dtype((la_dtype)like->dtype),
             la_v_device((la_device)like->device));
}

/* An empty vector for a part that is not wanted. */
static la_status set_empty(la_frame *f, int k, const la_tensor *like)
{
    int64_t none = 0;
    la_tensor *t;
    LA_TRY(la_tensor_empty_on((la_device)like->device, 1, &none, NULL,
                              (la_dtype)like->dtype, &t));
    la_set_result(f, k, t);
    return LA_OK;
}

/* Results 1 and 2: L (m x k, its ones on the diagonal) and U (k x n). */
static la_status set_triangles(la_frame *f, la_tensor *lu)
{
    LA_CHAIN(w);
    int d = lu->ndim;
    int64_t m = la_sizes(lu)[d - 2], n = la_sizes(lu)[d - 1];
    int64_t k = la_min(m, n);
    la_tensor *l = R(tril, R(narrow, lu, d - 1, (int64_t)0, k), -1);
    l = R(add, l, linalg_identity(w, lu, m, k, 0));
    la_tensor *u = R(triu, R(narrow, lu, d - 2, (int64_t)0, k));
    if (w->status) return w->status;
    la_set_result(f, 1, la_tensor_retain(l));
    la_set_result(f, 2, la_tensor_retain(u));
    return LA_OK;
}

/* Result 0: P. */
static la_status set_permutation(la_frame *f, la_tensor *lu,
                                 la_tensor *pivots)
{
    la_tensor *p = NULL;
    LA_TRY(la_run(lu_permutation, &p, pivots, la_sizes(lu)[lu->ndim - 2],
                  la_v_dtype((la_dtype)lu->dtype)));
    return LA_GIVE(f, p);
}

/* (LU, pivots, unpack_data, unpack_pivots) */
la_status la_impl_lu_unpack(la_frame *f)
{
    la_tensor *lu = la_arg(f, 0);
    LA_TRY(la_check_matrix(f, 0));
    if (la_arg_bool(f, 3)) LA_TRY(set_permutation(f, lu, la_arg(f, 1)));
    else LA_TRY(set_empty(f, 0, lu));
    if (la_arg_bool(f, 2)) return set_triangles(f, lu);
    LA_TRY(set_empty(f, 1, lu));
    return set_empty(f, 2, lu);
}

/* (A, *, pivot); without pivoting P is empty. */
la_status la_impl_lu(la_frame *f)
{
    RESULTS r = {{.tag = LA_VNONE}};
    LA_TRY(la_run_many(lu_factor_ex, r, la_arg(f, 0), f->args[1]));
    if (la_arg_bool(f, 1))
        LA_TRY(set_permutation(f, r[0].tensor, r[1].tensor));
    else LA_TRY(set_empty(f, 0, r[0].tensor));
    return set_triangles(f, r[0].tensor);
}

/* (A): the logarithm of a complex sign is its angle. */
la_status la_impl_logdet(la_frame *f)
{
    LA_CHAIN(w);
    RESULTS r = {{.tag = LA_VNONE}};
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_square(f, 0));
    LA_TRY(la_run_many(slogdet, r, a));
    la_tensor *sign = r[0].tensor, *logs = r[1].tensor;
    if (la_is_complex((la_dtype)a->dtype))
        return la_chain_end(w, f, R(add, R(log, sign), logs));
    la_tensor *negative = R(eq, sign, -1);
    return la_chain_end(w, f, R(where, negative, (double)NAN, logs));
}

/* ---- Cholesky ---- */

/* X = A^-1 B by two triangular systems. */
static la_tensor *solve_cholesky(la_chain *w, la_tensor *b, la_tensor *l,
                                 bool upper)
{
    la_tensor *other = R(mH, l);
    la_tensor *lower = upper ? other : l, *top = upper ? l : other;
    la_tensor *y = R(solve_triangular, lower, b, false);
    return R(solve_triangular, top, y, true);
}

/* (B, L, upper) */
la_status la_impl_cholesky_solve(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(la_check_square(f, 1));
    return la_chain_end(w, f, solve_cholesky(w, la_arg(f, 0), la_arg(f, 1),
                                             la_arg_bool(f, 2)));
}

/* (L, upper) */
la_status la_impl_cholesky_inverse(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *l = la_arg(f, 0);
    LA_TRY(la_check_square(f, 0));
    int64_t n = la_sizes(l)[l->ndim - 1];
    la_tensor *one = linalg_identity(w, l, n, n, 0);
    return la_chain_end(w, f, solve_cholesky(w, one, l, la_arg_bool(f, 1)));
}

/* ---- Householder reflections ---- */

/* c - tau v (v^H c) with v below a one in row j; tau conjugated for the
** adjoint. */
static la_tensor *reflect(la_chain *w, la_tensor *a, la_tensor *tau,
                          la_tensor *c, int64_t j, bool adjoint)
{
    int d = a->ndim;
    int64_t m = la_sizes(a)[d - 2];
    la_tensor *v = R(tril, R(narrow, a, d - 1, j, (int64_t)1), -j - 1);
    v = R(add, v, linalg_identity(w, a, m, 1, -j));
    la_tensor *t = R(unsqueeze, R(narrow, tau, d - 2, j, (int64_t)1), -1);
    if (adjoint) t = R(conj, t);
    la_tensor *p = R(mul, R(matmul, R(mH, v), c), t);
    return R(sub, c, R(matmul, v, p));
}

/* No reflection: c, of which a and tau are inputs all the same. */
static la_status without_steps(la_tensor *a, la_tensor *tau, la_tensor *c,
                               la_tensor **out)
{
    LA_CHAIN(w);
    la_tensor *none = R(narrow, a, a->ndim - 1, (int64_t)0, (int64_t)0);
    la_tensor *x = R(add, R(add, c, R(sum, none)), R(sum, tau));
    LA_TRY(w->status);
    return la_tensor_same(x, out);
}

/* One reflection after the other: what autograd can follow. */
static la_status by_steps(la_tensor *a, la_tensor *tau, la_tensor *c,
                          bool adjoint, la_tensor **out)
{
    int64_t n = la_sizes(tau)[tau->ndim - 1];
    LA_OWNED x = la_tensor_retain(c);
    if (n == 0) return without_steps(a, tau, c, out);
    for (int64_t i = 0; i < n; i++) {
        LA_CHAIN(w);
        int64_t j = adjoint ? i : n - 1 - i;
        la_tensor *next = reflect(w, a, tau, x, j, adjoint);
        LA_TRY(w->status);
        la_tensor_drop(&x);
        x = la_tensor_retain(next);
    }
    return la_tensor_same(x, out);
}

static la_status linalg_apply(la_tensor *a, la_tensor *tau, la_tensor *c,
                              bool adjoint, la_tensor **out)
{
    if (la_grad_flag(a) || la_grad_flag(tau) || la_grad_flag(c))
        return by_steps(a, tau, c, adjoint, out);
    return la_run(householder_apply, out, a, tau, c, adjoint);
}

/* (A, tau): m x n from the identity */
la_status la_impl_householder_product(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0), *out = NULL;
    LA_TRY(la_check_matrix(f, 0));
    int d = a->ndim;
    int64_t m = la_sizes(a)[d - 2], n = la_sizes(a)[d - 1];
    if (m < n)
        return la_error_at(LA_ESHAPE, 1, "at least as many rows as columns "
                           "expected, got %lld x %lld", (long long)m,
                           (long long)n);
    la_tensor *one =
        R(expand, linalg_identity(w, a, m, n, 0), la_v_ints(la_sizes(a), d));
    LA_TRY(w->status);
    return la_give(f, linalg_apply(a, la_arg(f, 1), one, false, &out), &out);
}

/* (A, tau, other, left, transpose); C Q is (Q^H C^H)^H. */
la_status la_impl_ormqr(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *c = la_arg(f, 2), *out = NULL;
    bool left = la_arg_bool(f, 3), transpose = la_arg_bool(f, 4);
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(la_check_matrix(f, 2));
    if (!left) c = R(mH, c);
    LA_TRY(w->status);
    LA_TRY(linalg_apply(la_arg(f, 0), la_arg(f, 1), c, transpose == left,
                        &out));
    LA_OWNED product = out;
    if (!left) return la_run_result(f, mH, product);
    return LA_GIVE(f, la_tensor_retain(product));
}
