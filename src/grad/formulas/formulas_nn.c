/*
** Formulas of attention and of label_entropy (the core of cross_entropy). Both
** have a kernel for the gradient, and a form by operations for when the
** gradient is recorded itself.
*/
#include <math.h>

#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/call.h"

/* Scores that take part; 'dead' rows, in which none does, become 0. */
static la_tensor *attention_scores(la_formula *x, la_tensor *dead)
{
    la_tensor *q = A(0), *k = A(1), *mask = A(3);
    la_tensor *s = R(mul, R(matmul, q, R(transpose, k, -2, -1)),
                     la_scalar_float(VAL(5).d));
    if (!s) return NULL;
    if (mask && mask->dtype == LA_BOOL)
        s = R(where, mask, s, la_scalar_float(-INFINITY));
    else if (mask)
        s = R(add, s, mask);
    if (s && VAL(4).b) {
        int64_t sizes[2] = {la_sizes(s)[s->ndim - 2], la_sizes(s)[s->ndim - 1]};
        la_tensor *seen = R(tril,
                            R(ones, la_v_ints(sizes, 2), la_v_dtype(LA_BOOL)));
        s = R(where, seen, s, la_scalar_float(-INFINITY));
    }
    return R(where, dead, 0, s);
}

/* The gradients with the matrix of scores in memory: for a mask's, which has
** its size, and where they are to be differentiated again. */
static void attention_plain(la_formula *x, la_tensor *grads[4])
{
    la_tensor *g = G, *q = A(0), *k = A(1), *v = A(2);
    la_tensor *dead = R(unsqueeze, R(eq, RES(1), la_scalar_float(-INFINITY)),
                        -1);
    la_tensor *p = R(where, dead, 0,
                     R(softmax, attention_scores(x, dead), -1));
    la_tensor *dp = R(matmul, g, R(transpose, v, -2, -1));
    int64_t last = -1;
    la_tensor *sum = R(sum, R(mul, dp, p), la_v_ints(&last, 1), true);
    la_tensor *ds = R(mul, p, R(sub, dp, sum));
    la_scalar scale = la_scalar_float(VAL(5).d);
    if (la_x_wants(x, 0)) grads[0] = R(mul, R(matmul, ds, k), scale);
    if (la_x_wants(x, 1))
        grads[1] = R(mul, R(matmul, R(transpose, ds, -2, -1), q), scale);
    if (la_x_wants(x, 2)) grads[2] = R(matmul, R(transpose, p, -2, -1), g);
    grads[3] = ds;
}

/* One pass gives all three gradients. */
la_status la_x_attention(la_formula *x, la_tensor **out)
{
    if (la_grad_enabled() || la_x_wants(x, 3)) {
        la_tensor *grads[4];
        attention_plain(x, grads);
        for (int k = 0; k < 4 && !x->w.status; k++)
            if (la_x_wants(x, k)) out[k] = la_tensor_retain(grads[k]);
        return x->w.status;
    }
    la_value r[LA_MAX_RESULTS];
    la_value args[] = {la_v_tensor(G), la_v_tensor(A(0)), la_v_tensor(A(1)),
                       la_v_tensor(A(2)),
                       la_v_tensor(A(3)), la_v_tensor(RES(0)),
                       la_v_tensor(RES(1)), VAL(4),
                       VAL(5)};
    if (x->w.status) return x->w.status;
    LA_TRY(la_do_many(LA_OP(attention_backward), r, 9, args));
    for (int k = 0; k < 3; k++) {
        if (la_x_wants(x, k)) out[k] = r[k].tensor;
        else la_tensor_release(r[k].tensor);
    }
    return LA_OK;
}

/* ---- label_entropy(self, labels) ---- */

/* grad * (softmax(self) - 1 at the label) */
la_tensor *la_x_label_entropy(la_formula *x)
{
    la_tensor *self = A(0), *labels = A(1);
    if (!la_grad_enabled())
        return R(label_entropy_backward, G, self, labels, RES(1));
    la_tensor *g = R(unsqueeze, G, 1), *p = R(softmax, self, 1);
    la_tensor *at = R(unsqueeze, labels, 1);
    la_tensor *hit = R(scatter, R(zeros_like, p), 1, at,
                       R(ones_like, p));
    if (!hit) return NULL;
    return R(mul, g, R(sub, p, hit));
}
