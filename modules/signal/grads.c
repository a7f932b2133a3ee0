/*
** Gradients of signals.
**
** Recursive filters: with the leading coefficient 1 the filter
** is A y = B x + z for triangular Toeplitz matrices A and B and the state z at
** its head, so u = A^-H g is the same recursion from the last sample to the
** first. The gradient of the state after the last sample stands for u behind
** the end: what it is made of enters u there.
*/
#include "modules/signal/grads.h"
#include "grad/formulas/formula_terms.h"
#include "op/call.h"

enum { B, A_, X, ZI, DIM };

typedef struct adjoint {
    la_tensor *b, *a, *one;   /* conjugate coefficients; 1, 0, 0, ... */
    la_tensor *back;          /* the gradient from the end, see backwards */
    int64_t order, n, dim;
    bool has_state;
} adjoint;

/* The cascade over t, from rest. */
static la_tensor *signal_grad_run(la_formula *x, const adjoint *p, la_tensor *b,
                                  la_tensor *a, la_tensor *t)
{
    la_value r[LA_MAX_RESULTS];
    if (x->w.status || !b || !a || !t) return NULL;
    x->w.status = la_run_many(filter_sections, r, b, a, t, la_v_none(),
                            (int)p->dim);
    if (x->w.status) return NULL;
    la_chain_own(&x->w, r[1].tensor);
    return la_chain_own(&x->w, r[0].tensor);
}

/* The gradient of y in reverse, behind what makes u there the gradient of the
** state, in reverse too. */
static la_tensor *signal_grad_backwards(la_formula *x, const adjoint *p)
{
    la_tensor *g = R(flip, G, p->dim);
    if (!p->has_state) return g;
    la_tensor *head = R(flip, R(select, GR(1), 0, 0), p->dim);
    la_tensor *list[2] = {signal_grad_run(x, p, p->a, p->one, head), g};
    if (x->w.status) return NULL;
    return R(cat, la_v_tensors(list, 2), p->dim);
}

/* Without the first samples of what 'backwards' begins with, in order. */
static la_tensor *signal_grad_forwards(la_formula *x, const adjoint *p,
                                       la_tensor *t)
{
    int64_t head = p->has_state ? p->order : 0;
    return R(flip, R(narrow, t, p->dim, head, p->n), p->dim);
}

/* u with 'order' samples behind the end, the dim last. */
static la_tensor *whole_u(la_formula *x, const adjoint *p)
{
    la_tensor *u = R(flip, signal_grad_run(x, p, p->one, p->a, p->back),
                     p->dim);
    int64_t pad[2] = {0, p->order};
    u = R(movedim, u, p->dim, -1);
    return p->has_state ? u : R(constant_pad_nd, u, la_v_ints(pad, 2));
}

/* Sums over n of u[n + k] t[n]*, for k = 0 .. order, over all signals. */
static la_tensor *lags(la_formula *x, const adjoint *p, la_tensor *u,
                       la_tensor *t)
{
    int64_t rows[2] = {-1, p->order + 1}, all = 0, sizes[2] = {1, -1};
    la_tensor *views = R(unfold, u, -1, p->n, 1);
    t = R(unsqueeze, R(movedim, C(t), p->dim, -1), -1);
    la_tensor *sums = R(reshape, R(matmul, views, t), la_v_ints(rows, 2));
    return R(reshape, R(sum, sums, la_v_ints(&all, 1)), la_v_ints(sizes, 2));
}

/* a[0] counts as 1, so it has no part. */
static la_tensor *without_lead(la_formula *x, const adjoint *p, la_tensor *g)
{
    int64_t pad[2] = {1, 0};
    g = R(neg, R(narrow, g, 1, 1, p->order));
    return R(constant_pad_nd, g, la_v_ints(pad, 2));
}

/* Gradient of one section, or of x alone (modules/signal/filter_composite.c
** sees to it). */
la_status la_x_filter(la_formula *x, la_tensor **out)
{
    adjoint p = {.b = C(A(B)), .a = C(A(A_)), .dim = VAL(DIM).i};
    la_tensor *in = A(X), *y = RES(0), *u;
    if (x->w.status) return x->w.status;
    int64_t sections = la_sizes(p.b)[0];
    p.order = la_sizes(p.b)[1] - 1;
    p.n = la_sizes(in)[p.dim];
    p.has_state = sections == 1 && p.order > 0 && x->ngrads > 1 && x->grads[1];
    p.one = R(eye, (int64_t)1, p.order + 1, (int64_t)0,
              la_v_dtype((la_dtype)in->dtype),
              la_v_device((la_device)in->device));
    p.back = signal_grad_backwards(x, &p);
    if (la_x_wants(x, X)) {
        la_tensor *g = sections == 1 ? signal_grad_run(x, &p, p.b, p.a, p.back)
            : signal_grad_run(x, &p, R(flip, p.b, 0), R(flip, p.a, 0), p.back);
        la_x_set(x, out, X, signal_grad_forwards(x, &p, g));
    }
    if (!la_x_wants(x, B) && !la_x_wants(x, A_) && !la_x_wants(x, ZI))
        return x->w.status;
    u = whole_u(x, &p);
    if (la_x_wants(x, B)) la_x_set(x, out, B, lags(x, &p, u, in));
    if (la_x_wants(x, A_))
        la_x_set(x, out, A_, without_lead(x, &p, lags(x, &p, u, y)));
    if (la_x_wants(x, ZI)) {
        la_tensor *z = R(movedim, R(narrow, u, -1, 0, p.order), -1, p.dim);
        la_x_set(x, out, ZI, R(unsqueeze, z, 0));
    }
    return x->w.status;
}

/* overlap_add(parts, step, length): the parts of the gradient. */
la_tensor *la_x_overlap_add(la_formula *x)
{
    la_value sizes = SIZES(0), step = VAL(1);
    la_tensor *g = G;
    if (x->w.status) return NULL;
    int64_t frames = sizes.ints.list[1], n = sizes.ints.list[2];
    g = R(narrow, g, 1, (int64_t)0, (frames - 1) * step.i + n);
    return R(unfold, g, 1, n, step);
}
