/*
** Formulas of factorizations, inverses and determinants.
**
** Sources: M. Giles, "An extended collection of matrix derivative results"
** (2008), for inverses, determinants and solutions; I. Murray,
** "Differentiation of the Cholesky decomposition" (2016); S. Walter and L.
** Lehmann, "Algorithmic differentiation of linear algebra functions" (2010),
** for QR. Complex forms follow from dL = Re tr(G^H dA).
*/
#include "grad/formulas/formulas.h"
#include "op/call.h"
#include "tensor/shape.h"
#include "grad/formulas/formula_terms.h"

static la_tensor *adjoint(la_formula *x, la_tensor *t) { return R(mH, t); }
#define H(t) adjoint(x, t)
#define MM(a, b) R(matmul, a, b)

/* Columns (rows with dim -2) first .. first + n - 1. */
static la_tensor *linalg_part(la_formula *x, la_tensor *t, int dim,
                              int64_t first, int64_t n)
{
    return R(narrow, t, dim, la_v_int(first), la_v_int(n));
}

static la_tensor *linalg_joined(la_formula *x, la_tensor *a, la_tensor *b,
                                int dim)
{
    x->members[0] = a;
    x->members[1] = b;
    return R(cat, la_v_tensors(x->members, 2), dim);
}

static int64_t linalg_size_of(la_formula *x, la_tensor *t, int back)
{
    return x->w.status ? 0 : la_sizes(t)[t->ndim - back];
}

/* ---- inverse, solutions ---- */

la_tensor *la_x_inv(la_formula *x)
{
    la_tensor *y = H(RES(0));
    return R(neg, MM(y, MM(G, y)));
}

/* solve(A, B, left): gB = A^-H G, gA = -gB X^H; vectors as columns. */
la_status la_x_solve(la_formula *x, la_tensor **out)
{
    la_tensor *a = A(0), *g = G, *r = RES(0);
    bool left = VAL(2).b;
    if (x->w.status) return x->w.status;
    bool vector = r->ndim == a->ndim - 1;
    if (vector) {
        g = R(unsqueeze, g, -1);
        r = R(unsqueeze, r, -1);
    }
    la_tensor *gb = R(solve, H(a), g, left);
    if (la_x_wants(x, 0))
        la_x_set(x, out, 0, R(neg, left ? MM(gb, H(r)) : MM(H(r), gb)));
    la_x_set(x, out, 1, vector ? R(squeeze, gb, -1) : gb);
    return x->w.status;
}

/* solve_triangular(A, B, upper, left, unitriangular) */
la_status la_x_solve_triangular(la_formula *x, la_tensor **out)
{
    bool upper = VAL(2).b, left = VAL(3).b, unit = VAL(4).b;
    la_tensor *gb = R(solve_triangular, H(A(0)), G, !upper, left, unit);
    la_x_set(x, out, 1, gb);
    if (!la_x_wants(x, 0)) return x->w.status;
    la_tensor *r = H(RES(0));
    la_tensor *ga = R(neg, left ? MM(gb, r) : MM(r, gb));
    la_x_set(x, out, 0, upper ? R(triu, ga, unit ? 1 : 0)
                              : R(tril, ga, unit ? -1 : 0));
    return x->w.status;
}

/* ---- determinants ---- */

/* 1 or -1: the determinant of the permutation of 'pivots'. */
static la_tensor *permutation_sign(la_formula *x, la_tensor *pivots)
{
    int64_t n = linalg_size_of(x, pivots, 1);
    la_tensor *rows = R(arange_start, la_scalar_int(1), la_scalar_int(n + 1));
    la_tensor *odd = R(remainder, R(sum, R(ne, pivots, rows), -1), 2);
    return R(rsub, R(mul, odd, 2), 1);
}

/* conj(g) times the transpose of the adjugate of A: by LU factors, in which a
** zero pivot is replaced by a tiny one, as the determinant is a polynomial. */
static la_tensor *adjugate(la_formula *x)
{
    la_value r[LA_MAX_RESULTS];
    la_tensor *a = A(0), *g = G;
    la_value args[] = {la_v_tensor(a)};
    if (x->w.status) return NULL;
    la_status status = la_do_many(LA_OP(lu_factor_ex), r, 1, args);
    if (status) return la_chain_fail(&x->w, status);
    la_tensor *lu = la_chain_own(&x->w, r[0].tensor);
    la_tensor *pivots = la_chain_own(&x->w, r[1].tensor);
    la_tensor_release(r[2].tensor);
    la_dtype real = la_dtype_to_real((la_dtype)a->dtype);
    double tiny = real == LA_FLOAT32 ? 0x1p-46 : 0x1p-104;
    la_tensor *d = R(diagonal, lu, 0, -2, -1);
    la_tensor *more = R(mul, R(eq, d, 0), tiny);
    lu = R(add, lu, R(diag_embed, R(to_dtype, more, la_v_dtype(real))));
    la_tensor *det = R(prod, R(diagonal, lu, 0, -2, -1), -1);
    det = R(mul, det, permutation_sign(x, pivots));
    int64_t n = linalg_size_of(x, a, 1);
    la_tensor *one = R(eye, n, n, 0, la_v_dtype((la_dtype)a->dtype),
                       la_v_device((la_device)a->device));
    la_tensor *scale = R(unsqueeze, R(unsqueeze, R(mul, g, C(det)), -1), -1);
    return R(lu_solve, lu, pivots, R(mul, scale, one), true, true);
}

/* Is a pivot of some matrix so small against its largest that half the digits
** of the inverse are lost? */
static bool near_singular(la_formula *x, la_tensor *a)
{
    la_value r[LA_MAX_RESULTS], args[] = {la_v_tensor(a)};
    int64_t last = -1;
    double least = a->dtype == LA_FLOAT32 || a->dtype == LA_COMPLEX64
        ? 0x1p-12 : 0x1p-26;
    if (x->w.status) return false;
    x->w.status = la_do_many(LA_OP(lu_factor_ex), r, 1, args);
    if (x->w.status) return false;
    la_tensor *lu = la_chain_own(&x->w, r[0].tensor);
    la_tensor_release(r[1].tensor);
    la_tensor_release(r[2].tensor);
    la_tensor *d = R(abs, R(diagonal, lu, 0, -2, -1));
    la_tensor *most = R(amax, d, la_v_ints(&last, 1));
    la_tensor *small = R(le, R(amin, d, la_v_ints(&last, 1)),
                         R(mul, most, least));
    if (x->w.status) return false;
    x->w.status = la_run_many(any, r, small);
    return !x->w.status && r[0].b;
}

/* The positions (from 1) of all n rows but the first, all but the second, ...:
** n lists of n - 1. */
static la_tensor *all_but_one(la_formula *x, int64_t n)
{
    la_tensor *t;
    int64_t count = n * (n - 1);
    if (x->w.status) return NULL;
    x->w.status = la_tensor_empty(1, &count, LA_INT64, &t);
    if (x->w.status) return NULL;
    int64_t *p = (int64_t *)la_data(t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n - 1; k++) *p++ = k + (k >= i) + 1;
    return la_chain_own(&x->w, t);
}

/* 1 and -1 in turn, n x n, in the dtype of 'a'. */
static la_tensor *signs(la_formula *x, la_tensor *a, int64_t n)
{
    la_tensor *row = R(arange_start, la_scalar_int(0), la_scalar_int(n));
    la_tensor *odd = R(remainder, R(add, row, R(unsqueeze, row, -1)), 2);
    return R(to_dtype, R(rsub, R(mul, odd, 2), 1),
             la_v_dtype(x->w.status ? LA_FLOAT32 : (la_dtype)a->dtype));
}

/* Small enough for n x n minors of each matrix, and with a pivot that the
** inverse, though not the determinant's derivative, would divide by. */
static bool needs_minors(la_formula *x, la_tensor *a)
{
    int64_t n = linalg_size_of(x, a, 1), all = a->numel * (n - 1);
    if (x->w.status || a->device != LA_CPU || a->numel == 0 || n > 64
        || all > ((int64_t)1 << 22) / (n * n)) return false;
    bool before = la_switch_grad(false);
    bool yes = near_singular(x, R(detach, a));
    la_switch_grad(before);
    return yes;
}

/* g times the conjugates of the cofactors: determinants of A without a row and
** a column, whose own derivatives exist for matrices of any rank. */
static la_tensor *by_minors(la_formula *x, la_tensor *a)
{
    int64_t n = linalg_size_of(x, a, 1), sizes[LA_MAX_DIMS + 2];
    int lead = x->w.status ? 0 : a->ndim - 2;
    la_tensor *one = all_but_one(x, n);
    la_tensor *t = R(index_select, R(index_select, a, -2, one), -1, one);
    for (int d = 0; d < lead; d++) sizes[d] = la_sizes(a)[d];
    for (int k = 0; k < 4; k++) sizes[lead + k] = k % 2 ? n - 1 : n;
    t = R(reshape, t, la_v_ints(sizes, lead + 4));
    t = R(det, R(transpose, t, -3, -2));
    t = R(mul, t, signs(x, a, n));
    return R(mul, R(unsqueeze, R(unsqueeze, G, -1), -1), C(t));
}

/* det: g conj(det) A^-H. */
la_tensor *la_x_det(la_formula *x)
{
    la_tensor *a = A(0);
    if (x->w.status) return NULL;
    if (!la_grad_enabled() && a->device == LA_CPU) return adjugate(x);
    if (needs_minors(x, a)) return by_minors(x, a);
    la_tensor *scale = R(mul, G, C(RES(0)));
    scale = R(unsqueeze, R(unsqueeze, scale, -1), -1);
    return R(mul, scale, H(R(inv_ex, a)));
}

/* slogdet: with w = log det, dL = gl d Re(w) + Re(conj(gs) i s) d Im(w). */
la_tensor *la_x_slogdet(la_formula *x)
{
    la_tensor *a = A(0), *g = GR(1);
    if (x->w.status) return NULL;
    if (la_is_complex((la_dtype)a->dtype)) {
        la_tensor *phase = R(imag, R(mul, C(GR(0)), RES(0)));
        g = R(complex, g, R(neg, phase));
    }
    g = R(unsqueeze, R(unsqueeze, g, -1), -1);
    return R(mul, g, H(R(inv_ex, a)));
}

/* ---- LU ---- */

static la_tensor *permutation(la_formula *x, la_tensor *pivots, la_tensor *lu)
{
    return R(lu_permutation, pivots, linalg_size_of(x, lu, 2),
             la_v_dtype(x->w.status ? LA_FLOAT32 : (la_dtype)lu->dtype));
}

/* The strictly lower and the upper triangle of two matrices. */
static la_tensor *triangles(la_formula *x, la_tensor *low, la_tensor *up)
{
    return R(add, R(tril, low, -1), R(triu, up));
}

/* lu_factor_ex(A, pivot): the triangles of G are the gradients of L and U. */
la_tensor *la_x_lu_factor(la_formula *x)
{
    la_tensor *lu = RES(0), *g = G;
    int64_t m = linalg_size_of(x, lu, 2), n = linalg_size_of(x, lu, 1),
        k = la_min(m, n);
    la_tensor *l = linalg_part(x, linalg_part(x, lu, -1, 0, k), -2, 0, k);
    la_tensor *g1 = linalg_part(x, linalg_part(x, g, -1, 0, k), -2, 0, k);
    la_tensor *u = R(triu, l), *rest = NULL;
    la_tensor *one = R(tril, l, -1);     /* L without its unit diagonal */
    la_tensor *gl = R(tril, g1, -1), *gu = R(triu, g1);
    la_tensor *low = R(add, MM(H(one), gl), gl), *up = MM(gu, H(u));
    if (m < n) {
        la_tensor *u2 = linalg_part(x, lu, -1, k, n - k);
        rest = linalg_part(x, g, -1, k, n - k);
        low = R(sub, low, MM(rest, H(u2)));
    } else if (m > n) {
        la_tensor *l2 = linalg_part(x, lu, -2, k, m - k);
        rest = linalg_part(x, g, -2, k, m - k);
        up = R(sub, up, MM(H(l2), rest));
    }
    la_tensor *ga = triangles(x, low, up);
    if (m > n)
        ga = linalg_joined(x, R(solve_triangular, H(l), ga, true, true, true),
                           rest, -2);
    ga = R(solve_triangular, H(u), ga, false, false);
    if (m < n) ga = linalg_joined(x, ga, rest, -1);
    if (m <= n) ga = R(solve_triangular, H(l), ga, true, true, true);
    if (!VAL(1).b) return ga;
    return MM(permutation(x, RES(1), lu), ga);
}

/* lu_solve(LU, pivots, B, left, adjoint): the gradient of A = P L U first. */
la_status la_x_lu_solve(la_formula *x, la_tensor **out)
{
    la_tensor *lu = A(0), *pivots = A(1), *r = RES(0);
    bool left = VAL(3).b, other = VAL(4).b;
    la_tensor *gb = R(lu_solve, lu, pivots, G, left, !other);
    la_x_set(x, out, 2, gb);
    if (!la_x_wants(x, 0)) return x->w.status;
    la_tensor *ga;
    if (left) ga = other ? MM(r, H(gb)) : MM(gb, H(r));
    else ga = other ? MM(H(gb), r) : MM(H(r), gb);
    ga = R(neg, MM(H(permutation(x, pivots, lu)), ga));
    la_tensor *one = R(tril, lu, -1), *u = R(triu, lu);
    la_x_set(x, out, 0, triangles(x, MM(ga, H(u)),
                                  R(add, MM(H(one), ga), ga)));
    return x->w.status;
}

/* ---- Cholesky, QR ---- */

/* cholesky(A, upper): L^-H S L^-1, S the Hermitian part of tril(L^H G). */
la_tensor *la_x_cholesky(la_formula *x)
{
    bool upper = VAL(1).b;
    la_tensor *l = upper ? H(RES(0)) : RES(0), *g = upper ? H(G) : G;
    la_tensor *s = R(tril, MM(H(l), g));
    s = R(mul, R(add, s, H(R(tril, s, -1))), 0.5);
    s = R(solve_triangular, H(l), s, true);
    return R(solve_triangular, l, s, false, false);
}

/* The Hermitian matrix with the upper triangle of t and the real part of its
** diagonal. */
static la_tensor *mirrored(la_formula *x, la_tensor *t)
{
    t = R(triu, t);
    la_tensor *d = R(real, R(diagonal, t, 0, -2, -1));
    return R(sub, R(add, t, H(t)), R(diag_embed, d));
}

/* Q R = A with as many rows as columns or more: (G_Q + Q S) R^-H. */
static la_tensor *qr_tall(la_formula *x, la_tensor *q, la_tensor *r,
                          la_tensor *gq, la_tensor *gr)
{
    la_tensor *s = R(sub, MM(gr, H(r)), MM(H(q), gq));
    la_tensor *ga = R(add, MM(q, mirrored(x, s)), gq);
    return R(solve_triangular, H(r), ga, false, false);
}

/* qr(A, mode): of more columns than rows the first are factored, and R2 is
** Q^H A2. */
la_tensor *la_x_qr(la_formula *x)
{
    la_tensor *q = RES(0), *r = RES(1), *gq = GR(0), *gr = GR(1);
    int64_t n = linalg_size_of(x, r, 1), k = linalg_size_of(x, r, 2);
    if (x->w.status) return NULL;
    if (q->ndim != r->ndim)
        return la_chain_fail(&x->w, la_error(
            LA_EGRAD, "qr: mode 'r' has no derivative, as Q is needed for it"));
    if (n == 0) return la_x_zeros(x, 0);
    if (k > n)
        return la_chain_fail(&x->w, la_error(
            LA_EGRAD, "qr: mode 'complete' has no derivative for more rows "
            "than columns"));
    if (k == n) return qr_tall(x, q, r, gq, gr);
    la_tensor *r2 = linalg_part(x, r, -1, k, n - k),
        *g2 = linalg_part(x, gr, -1, k, n - k);
    gq = R(add, gq, MM(q, MM(r2, H(g2))));
    la_tensor *first = qr_tall(x, q, linalg_part(x, r, -1, 0, k), gq,
                               linalg_part(x, gr, -1, 0, k));
    return linalg_joined(x, first, MM(q, g2), -1);
}

/* ---- matrix_exp ---- */

/* The upper right block of exp [[A^H, G], [0, A^H]] (Najfeld and Havel, Adv.
** Appl. Math. 16, 1995). */
la_tensor *la_x_matrix_exp(la_formula *x)
{
    la_tensor *a = H(A(0));
    int64_t n = linalg_size_of(x, a, 1);
    la_tensor *top = linalg_joined(x, a, G, -1);
    la_tensor *bottom = linalg_joined(x, R(zeros_like, a), a, -1);
    la_tensor *e = R(matrix_exp, linalg_joined(x, top, bottom, -2));
    return linalg_part(x, linalg_part(x, e, -2, 0, n), -1, n, n);
}

/* ---- distances ---- */

/* The differences and their norms as operations, whose graph is differentiated
** with create_graph. */
static la_status linalg_differences(la_formula *x, la_tensor **out)
{
    la_tensor *args[2], *inputs[2], *grads[2] = {NULL};
    int where[2], n = 0;
    int64_t last = -1;
    for (int k = 0; k < 2; k++) {
        args[k] = A(k);
        if (!la_x_wants(x, k)) continue;
        /* A view of its own: one input may depend on another. */
        args[k] = R(view_as, args[k], args[k]);
        where[n] = k;
        inputs[n++] = args[k];
    }
    la_tensor *d = R(sub, R(unsqueeze, args[0], -2), R(unsqueeze, args[1], -3));
    la_tensor *root = R(vector_norm, d, VAL(2), la_v_ints(&last, 1)), *seed = G;
    if (x->w.status) return x->w.status;
    LA_TRY(la_run_backward(1, &root, &seed, n, inputs, grads,
                           LA_BW_CREATE_GRAPH | LA_BW_ALLOW_UNUSED));
    for (int k = 0; k < n; k++) *la_x_slot(x, out, where[k]) = grads[k];
    return LA_OK;
}

/* distance_rows(x1, x2, p, product); the distance of two rows is that of the
** second to the first. */
la_status la_x_distance_rows(la_formula *x, la_tensor **out)
{
    if (la_grad_enabled()) return linalg_differences(x, out);
    la_tensor *a = A(0), *b = A(1);
    if (la_x_wants(x, 0))
        la_x_set(x, out, 0, R(distance_rows_backward, G, a, b, VAL(2), VAL(3),
                              RES(0)));
    if (la_x_wants(x, 1))
        la_x_set(x, out, 1, R(distance_rows_backward, R(mT, G), b, a, VAL(2),
                              VAL(3), R(mT, RES(0))));
    return x->w.status;
}
