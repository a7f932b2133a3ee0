/*
** Formulas of eigenvalues and singular values.
**
** Sources: J. Townsend, "Differentiating the singular value decomposition"
** (2016); Z. Wan and S. Zhang, "Automatic differentiation for complex valued
** SVD" (arXiv 1909.02659); M. Giles, "An extended collection of matrix
** derivative results" (2008). As in PyTorch, the derivative of vectors is that
** of a loss that does not depend on their free choice of sign or phase: of
** complex vectors a loss that does is refused. Equal eigenvalues or singular
** values give infinities where vectors take part.
*/
#include "grad/formulas/formulas.h"
#include "op/call.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"
#include "grad/formulas/formula_terms.h"

#define H(t) R(mH, t)
#define MM(a, b) R(matmul, a, b)

/* ---- parts ---- */

/* Rows of 't' times the elements of 's', and columns. */
static la_tensor *scale_rows(la_formula *x, la_tensor *s, la_tensor *t)
{
    return R(mul, R(unsqueeze, s, -1), t);
}
static la_tensor *scale_columns(la_formula *x, la_tensor *t, la_tensor *s)
{
    return R(mul, t, R(unsqueeze, s, -2));
}

/* s_j - s_i at (i, j), and 1 on the diagonal. */
static la_tensor *gaps(la_formula *x, la_tensor *s)
{
    la_tensor *e = R(sub, R(unsqueeze, s, -2), R(unsqueeze, s, -1));
    return R(add, e, R(diag_embed, R(ones_like, s)));
}

static la_tensor *diagonal(la_formula *x, la_tensor *t)
{
    return R(diagonal, t, 0, -2, -1);
}

static la_tensor *skew(la_formula *x, la_tensor *t)
{
    return R(sub, t, H(t));
}

/* The elements of the real vector are 0 but for rounding, or the loss depends
** on a phase. */
static void check_phase(la_formula *x, la_tensor *t, const char *what)
{
    la_tensor *most = t ? R(abs, R(detach, t)) : NULL;
    if (x->w.status || most->numel == 0 || most->device != LA_CPU) return;
    most = R(max, most);
    if (x->w.status || (most->flags & LA_F_BATCHED)) return;
    la_scalar s = la_scalar_load((la_dtype)most->dtype, la_data(most));
    if (s.re <= 1e-2 || s.re != s.re) return;
    la_chain_fail(&x->w, la_error(
        LA_EGRAD, "%s of a complex matrix: the vectors are unique but for a "
        "factor exp(i phi), and the loss depends on it", what));
}

/* ---- Hermitian eigenvalues ---- */

/* V diag(g) V^H. */
static la_tensor *from_values(la_formula *x, la_tensor *v, la_tensor *g)
{
    return MM(scale_columns(x, v, g), H(v));
}

/* V (diag(gL) + skew(V^H gV) / (2 E)) V^H, E_ij = L_j - L_i: Hermitian. */
la_tensor *la_x_eigh(la_formula *x)
{
    la_tensor *l = RES(0), *v = RES(1);
    if (!la_x_has_grad(x, 1)) return from_values(x, v, GR(0));
    la_tensor *m = MM(H(v), GR(1));
    if (!x->w.status && la_is_complex((la_dtype)v->dtype))
        check_phase(x, R(imag, diagonal(x, m)), "eigh");
    m = R(div, R(mul, skew(x, m), 0.5), gaps(x, l));
    la_tensor *d = R(diag_embed, R(sub, GR(0), diagonal(x, m)));
    return MM(MM(v, R(add, m, d)), H(v));
}

/* The second result of eigh(A). */
static la_tensor *many(la_formula *x, const la_op *op, int n,
                       const la_value *args, la_tensor **second,
                       la_tensor **third)
{
    la_value r[LA_MAX_RESULTS];
    if (x->w.status) return NULL;
    la_status status = la_do_many(op, r, n, args);
    if (status) return la_chain_fail(&x->w, status);
    la_tensor *first = la_chain_own(&x->w, r[0].tensor);
    *second = la_chain_own(&x->w, r[1].tensor);
    if (third) *third = la_chain_own(&x->w, r[2].tensor);
    return first;
}

la_tensor *la_x_eigvalsh(la_formula *x)
{
    la_tensor *v = NULL;
    la_value args[] = {la_v_tensor(A(0)), VAL(1)};
    many(x, LA_OP(eigh), 2, args, &v, NULL);
    return from_values(x, v, G);
}

/* ---- general eigenvalues ---- */

/* V^-H t V^H. */
static la_tensor *back(la_formula *x, la_tensor *v, la_tensor *t)
{
    la_tensor *h = H(v);
    return R(solve, h, MM(t, h));
}

/* V^-H (diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(E)) V^H, with E_ij
** = L_j - L_i; the second term as the vectors have norm 1. */
la_tensor *la_x_eig(la_formula *x)
{
    la_tensor *l = RES(0), *v = RES(1);
    if (!la_x_has_grad(x, 1)) return back(x, v, R(diag_embed, GR(0)));
    la_tensor *m = MM(H(v), GR(1)), *own = diagonal(x, m);
    check_phase(x, x->w.status ? NULL : R(imag, own), "eig");
    m = R(sub, m, MM(H(v), scale_columns(x, v, R(real, own))));
    m = R(div, m, R(conj, gaps(x, l)));
    m = R(add, m, R(diag_embed, R(sub, GR(0), diagonal(x, m))));
    return back(x, v, m);
}

la_tensor *la_x_eigvals(la_formula *x)
{
    la_tensor *v = NULL;
    la_value args[] = {la_v_tensor(A(0))};
    many(x, LA_OP(eig), 1, args, &v, NULL);
    return back(x, v, R(diag_embed, G));
}

/* ---- singular values ---- */

/* The first k columns (dim -1) or rows. */
static la_tensor *first(la_formula *x, la_tensor *t, int dim, int64_t k)
{
    return R(narrow, t, dim, la_v_int(0), la_v_int(k));
}

typedef struct svd {
    la_tensor *u, *s, *vh;    /* of min(m, n) columns and rows */
    la_tensor *gu, *gvh;      /* NULL: none came */
    int64_t m, n, k;
} svd;

/* Contribution of U and Vh between them: a k x k matrix, but for what is
** outside their spaces. */
static la_tensor *spectral_between(la_formula *x, const svd *d)
{
    la_tensor *e = gaps(x, R(square, d->s)), *both = NULL;
    la_tensor *su = NULL, *sv = NULL, *phase = NULL;
    if (d->gu) {
        su = skew(x, MM(H(d->u), d->gu));
        both = scale_columns(x, su, d->s);
    }
    if (d->gvh) {
        sv = skew(x, MM(d->vh, H(d->gvh)));
        la_tensor *t = scale_rows(x, d->s, sv);
        both = both ? R(add, both, t) : t;
    }
    if (x->w.status || !la_is_complex((la_dtype)d->u->dtype))
        return R(div, both, e);
    if (su) phase = R(imag, diagonal(x, su));
    if (sv) {
        la_tensor *t = R(imag, diagonal(x, sv));
        phase = phase ? R(add, phase, t) : t;
    }
    check_phase(x, R(mul, phase, 0.5), "linalg.svd");
    /* the diagonals of E are 1, and those of 'both' are to be replaced */
    both = R(sub, both, R(diag_embed, diagonal(x, both)));
    both = R(div, both, e);
    if (!su || !sv) return both;
    la_tensor *half = R(div, diagonal(x, su), R(mul, d->s, 2));
    return R(add, both, R(diag_embed, half));
}

/* U [(skew(U^H gU) S + S skew(V^H gV)) / E + diag(gS)] V^H and the parts of gU
** and gV outside the spaces of U and V; E_ij = S_j^2 - S_i^2. */
static la_tensor *svd_gradient(la_formula *x, const svd *d, la_tensor *gs)
{
    la_tensor *more;
    if (!d->gu && !d->gvh) return MM(d->u, scale_rows(x, gs, d->vh));
    la_tensor *inner = spectral_between(x, d);
    if (gs) inner = R(add, inner, R(diag_embed, gs));
    la_tensor *a = MM(MM(d->u, inner), d->vh);
    if (d->m > d->k && d->gu) {
        more = scale_columns(x, d->gu, R(reciprocal, d->s));
        more = R(sub, more, MM(d->u, MM(H(d->u), more)));
        a = R(add, a, MM(more, d->vh));
    }
    if (d->n > d->k && d->gvh) {
        more = scale_rows(x, R(reciprocal, d->s), d->gvh);
        more = R(sub, more, MM(MM(more, H(d->vh)), d->vh));
        a = R(add, a, MM(d->u, more));
    }
    return a;
}

la_tensor *la_x_svd(la_formula *x)
{
    svd d = {RES(0), RES(1), RES(2), NULL, NULL, 0, 0, 0};
    if (x->w.status) return NULL;
    d.k = la_sizes(d.s)[d.s->ndim - 1];
    d.m = la_sizes(d.u)[d.u->ndim - 2];
    d.n = la_sizes(d.vh)[d.vh->ndim - 1];
    d.u = first(x, d.u, -1, d.k);
    d.vh = first(x, d.vh, -2, d.k);
    if (la_x_has_grad(x, 0)) d.gu = first(x, GR(0), -1, d.k);
    if (la_x_has_grad(x, 2)) d.gvh = first(x, GR(2), -2, d.k);
    return svd_gradient(x, &d, la_x_has_grad(x, 1) ? GR(1) : NULL);
}

la_tensor *la_x_svdvals(la_formula *x)
{
    svd d = {.u = NULL};
    la_value args[] = {la_v_tensor(A(0)), la_v_bool(false)};
    d.u = many(x, LA_OP(linalg_svd), 2, args, &d.s, &d.vh);
    return svd_gradient(x, &d, G);
}

/* ---- pseudo-inverse ---- */

/* G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
** nonlinear least squares problems whose variables separate" (1973), for a
** constant rank. p is the pseudo-inverse of a, g the gradient of p. */
static la_tensor *pinv_gradient(la_formula *x, la_tensor *a, la_tensor *p,
                                la_tensor *g)
{
    la_tensor *ph = H(p), *gh = H(g), *k, *t;
    int64_t m = x->w.status ? 0 : la_sizes(a)[a->ndim - 2];
    int64_t n = x->w.status ? 0 : la_sizes(a)[a->ndim - 1];
    if (m <= n) {
        k = MM(gh, p);
        t = MM(k, ph);
        la_tensor *rest = MM(MM(ph, p), R(sub, gh, MM(k, a)));
        t = R(add, R(sub, t, MM(MM(a, p), t)), rest);
        return R(sub, t, H(MM(p, k)));
    }
    k = MM(p, gh);
    t = MM(ph, k);
    la_tensor *rest = MM(MM(R(sub, gh, MM(a, k)), p), ph);
    t = R(add, R(sub, t, MM(MM(t, p), a)), rest);
    return R(sub, t, H(MM(k, p)));
}

la_tensor *la_x_pinv(la_formula *x)
{
    return pinv_gradient(x, A(0), RES(0), G);
}

/* lstsq_solve(A, B, rcond, driver): X is the pseudo-inverse of A times B, and
** that what it is for the identity. */
la_status la_x_lstsq(la_formula *x, la_tensor **out)
{
    la_tensor *a = A(0), *rank = NULL, *values = NULL;
    if (x->w.status) return x->w.status;
    int64_t m = la_sizes(a)[a->ndim - 2];
    la_tensor *one = R(eye, m, m, 0, la_v_dtype((la_dtype)a->dtype),
                       la_v_device((la_device)a->device));
    la_value args[] = {la_v_tensor(a), la_v_tensor(one), VAL(2), VAL(3)};
    la_tensor *p = many(x, LA_OP(lstsq_solve), 4, args, &rank, &values);
    la_x_set(x, out, 1, MM(H(p), GR(0)));
    if (!la_x_wants(x, 0)) return x->w.status;
    la_x_set(x, out, 0, pinv_gradient(x, a, p, MM(GR(0), H(A(1)))));
    return x->w.status;
}
