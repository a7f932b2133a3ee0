/*
** How do the rows of derivatives.def become functions and a table?
**
** Each GRAD row expands to a function of one expression, so a debugger stops on
** the row itself; each row also becomes an entry of 'rows'. At start
** la_grad_bind() groups the entries by operation. The helpers before the table
** are those that rows of several themes share.
*/
#include "base/runtime/memory.h"
#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "modules/grads.h"
#include "op/op.h"

/* ---- helpers that several formulas share ---- */

/* grad times the scalar in argument k, conjugated. */
static la_tensor *times(la_formula *x, la_tensor *grad, int k)
{
    la_scalar s = VAL(k).scalar;
    if (s.re == 1 && s.im == 0) return grad;
    s.im = -s.im;
    return R(mul, grad, s);
}

/* NULL (a missing argument) is real. */
static bool is_complex(const la_tensor *t)
{
    return t && la_is_complex((la_dtype)t->dtype);
}

/* div with a rounding mode (argument 2): a step function, slope 0. */
static bool rounds(la_formula *x) { return VAL(2).tag == LA_VSTR; }

/* ---- views ---- */

/* narrow: the gradient into zeros, where it was taken; 'start' may count from
** the end. */
static la_tensor *narrow_back(la_formula *x)
{
    la_value sizes = SIZES(0);
    int64_t start = VAL(2).i, dim = VAL(1).i;
    if (dim < 0) dim += sizes.ints.n;
    if (start < 0) start += sizes.ints.list[dim];
    return R(slice_scatter, la_x_zeros(x, 0), G, la_v_int(dim), la_v_int(start),
             la_v_int(start + VAL(3).i));
}

/* permute: the gradient by the inverse permutation. */
static la_tensor *inverse_permute(la_formula *x)
{
    la_value dims = VAL(1);
    int64_t inverse[LA_MAX_DIMS];
    for (int d = 0; d < (int)dims.ints.n; d++) {
        int64_t to = dims.ints.list[d];
        inverse[to < 0 ? to + dims.ints.n : to] = d;
    }
    return R(permute, G, la_v_ints(inverse, dims.ints.n));
}

/* Argument 1, a list of integers, with the sign flipped. */
static la_value negated(la_formula *x)
{
    la_value v = VAL(1);
    for (int64_t i = 0; i < v.ints.n && i < 2 * LA_MAX_DIMS; i++)
        x->ints[i] = -v.ints.list[i];
    return la_v_ints(x->ints, v.ints.n);
}

/* Each tensor's piece of the gradient; empty 1-d tensors took no part. */
static la_status cat_backward(la_formula *x, la_tensor **out)
{
    int64_t n = x->op->args[0].tensors.n, at = 0, dim = VAL(1).i;
    int ndim = x->node->outputs[0].ndim;
    int d = (int)(dim < 0 ? dim + ndim : dim);
    for (int64_t i = 0; i < n; i++) {
        const la_output_meta *o = la_x_meta(x, 0, i);
        int64_t size = x->op->sizes[i];
        if (la_x_wants_edge(x, i) && o->ndim == ndim) {
            la_tensor *piece = R(narrow, G, d, at, size);
            if (x->w.status) return x->w.status;
            out[i] = la_tensor_retain(piece);
        }
        at += size;
    }
    return LA_OK;
}

/* ---- arithmetic ---- */

/* maximum and minimum: half of the gradient to each of two equal elements. */
static la_tensor *halved_ties(la_formula *x)
{
    return R(where, R(eq, A(0), A(1)), R(div, G, 2), G);
}

/* The gradient of clamp's self: inside the limits; at one that is a tensor
** half of it, all of it where both limits are met. */
static la_tensor *clamp_self(la_formula *x, la_tensor *low, la_tensor *high)
{
    la_tensor *self = A(0), *g = G, *tie = NULL;
    for (int k = 1; k <= 2; k++) {
        la_tensor *limit = k == 1 ? low : high;
        if (!limit || la_x_is_number(x, k)) continue;
        la_tensor *met = R(eq, self, limit);
        tie = tie ? R(logical_xor, tie, met) : met;
    }
    if (tie) g = R(where, tie, R(div, g, 2), g);
    if (low) g = la_x_is_number(x, 1) ? R(where, R(gt, self, low), g, 0)
                                      : R(where, R(lt, self, low), 0, g);
    if (high) g = la_x_is_number(x, 2) ? R(where, R(lt, self, high), g, 0)
                                       : R(where, R(gt, self, high), 0, g);
    return g;
}

/* The gradient of one limit: where self is 'beyond' it, half of it where they
** are equal and self does not meet the 'other' limit, too. */
static la_tensor *clamp_limit(la_formula *x, la_tensor *limit,
                              la_tensor *other, la_tensor *beyond)
{
    la_tensor *tie = R(eq, A(0), limit);
    if (other) tie = R(logical_and, tie, R(ne, A(0), other));
    return R(where, beyond, G, R(where, tie, R(div, G, 2), 0));
}

/* Outside of the limits the gradient belongs to the limit; where they are in
** the wrong order, to the higher one. */
static la_status clamp_backward(la_formula *x, la_tensor **out)
{
    la_tensor *low = A(1), *high = A(2), *g;
    if (la_x_wants(x, 0)) la_x_set(x, out, 0, clamp_self(x, low, high));
    if (low && la_x_wants(x, 1)) {
        g = clamp_limit(x, low, high, R(lt, A(0), low));
        if (high) g = R(where, R(gt, low, high), 0, g);
        la_x_set(x, out, 1, g);
    }
    if (!high || !la_x_wants(x, 2)) return x->w.status;
    la_tensor *beyond = R(gt, A(0), high);
    if (low) beyond = R(logical_or, beyond, R(gt, low, high));
    la_x_set(x, out, 2, clamp_limit(x, high, low, beyond));
    return x->w.status;
}

/* ---- the table ---- */

#define GRAD(op, k, saves, expr) \
    extern const la_op la_row_##op; \
    static la_tensor *grad_##op##_##k(la_formula *x) { return expr; }
#define ALL(op, args, saves, fn) extern const la_op la_row_##op;
#include "grad/derivatives.def"
#undef GRAD
#undef ALL

static const la_grad_row rows[] = {
#define GRAD(op, k, saves, expr) \
    {&la_row_##op, k, saves, grad_##op##_##k, NULL},
#define ALL(op, args, saves, fn) {&la_row_##op, args, saves, NULL, fn},
#include "grad/derivatives.def"
#undef GRAD
#undef ALL
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))
static la_grad_rule rules[NROWS];    /* at the index of an operation's first */

/* Rows of one operation stand together. */
void la_grad_bind(void)
{
    size_t end;
    for (size_t i = 0; i < NROWS; i = end) {
        la_grad_rule *r = &rules[i];
        for (end = i; end < NROWS && rows[end].op == rows[i].op; ) end++;
        if (r->name) continue;
        r->rows = rows[i].fn ? &rows[i] : NULL;
        r->nrows = rows[i].fn ? (int)(end - i) : 0;
        r->all = rows[i].all;
        r->all_saves = r->all ? rows[i].saves : 0;
        r->args = r->all ? (uint32_t)rows[i].arg : 0;
        for (int k = 0; k < r->nrows; k++) r->args |= 1u << r->rows[k].arg;
        r->name = rows[i].op->name;
        rows[i].op->state->grad = r;
    }
}
