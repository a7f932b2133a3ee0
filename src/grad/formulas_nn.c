/* Formulas of attention, pooling and repeated convolution gradients. */
#include "grad/formulas_nn.h"

#include <math.h>

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
        la_tensor *seen = R(tril, R(ones, LA_IS(sizes, 2), LA_DT(LA_BOOL)));
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
    la_tensor *sum = R(sum, R(mul, dp, p), LA_IS(&last, 1), true);
    la_tensor *ds = R(mul, p, R(sub, dp, sum));
    la_scalar scale = la_scalar_float(VAL(5).d);
    grads[0] = R(mul, R(matmul, ds, k), scale);
    grads[1] = R(mul, R(matmul, R(transpose, ds, -2, -1), q), scale);
    grads[2] = R(matmul, R(transpose, p, -2, -1), g);
    grads[3] = ds;
}

/* One pass gives all three gradients. */
la_status la_x_attention(la_formula *x, la_tensor **out)
{
    if (la_grad_enabled() || la_x_wants(x, 3)) {
        la_tensor *grads[4];
        attention_plain(x, grads);
        for (int k = 0; k < 4 && !x->status; k++)
            if (la_x_wants(x, k)) out[k] = la_tensor_retain(grads[k]);
        return x->status;
    }
    la_value r[LA_MAX_RESULTS];
    la_value args[] = {LA_T(G), LA_T(A(0)), LA_T(A(1)), LA_T(A(2)),
                       LA_T(A(3)), LA_T(RES(0)), LA_T(RES(1)), VAL(4),
                       VAL(5)};
    if (x->status) return x->status;
    LA_TRY(la_do_many(LA_OP_attention_backward, r, 9, args));
    for (int k = 0; k < 3; k++) {
        if (la_x_wants(x, k)) out[k] = r[k].tensor;
        else la_tensor_release(r[k].tensor);
    }
    return LA_OK;
}

la_tensor *la_x_max_pool(la_formula *x)
{
    return R(max_pool_backward, G, A(0), RES(1), VAL(1).ints.n);
}

/* The values of a gradient's gradient at the places of the maxima. */
la_tensor *la_x_max_pool_again(la_formula *x)
{
    la_tensor *g = G, *index = A(2);
    int64_t nd = VAL(3).i;
    if (!g || !index) return NULL;
    la_tensor *flat = R(flatten, g, LA_I(g->ndim - nd), LA_I(-1));
    la_tensor *at = R(flatten, index, LA_I(index->ndim - nd), LA_I(-1));
    return R(view_as, R(gather, flat, LA_I(-1), at), index);
}

la_tensor *la_x_adaptive_avg(la_formula *x)
{
    return R(adaptive_avg_pool_backward, G, A(0), VAL(1).ints.n);
}

la_tensor *la_x_adaptive_avg_again(la_formula *x)
{
    la_value sizes = SIZES(0);
    int64_t nd = VAL(2).i;
    if (x->status) return NULL;
    return R(adaptive_avg_pool, G,
             LA_IS(sizes.ints.list + sizes.ints.n - nd, nd));
}

/* The convolution of 'input' and 'weight' with the settings of a gradient. */
la_tensor *la_x_conv_again(la_formula *x, la_tensor *input, la_tensor *weight)
{
    la_value args[] = {LA_T(input), LA_T(weight), LA_NIL, VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_x_run(x, LA_OP_convolution, 9, args);
}

/* One of its two gradients, likewise. */
la_tensor *la_x_conv_part(la_formula *x, int op, la_tensor *grad,
                          la_tensor *input, la_tensor *weight)
{
    la_value args[] = {LA_T(grad), LA_T(input), LA_T(weight), VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_x_run(x, op, 9, args);
}

la_tensor *la_x_im2col(la_formula *x)
{
    la_value sizes = SIZES(0);
    if (x->status) return NULL;
    return R(col2im, G, LA_IS(sizes.ints.list + sizes.ints.n - 2, 2), VAL(1),
             VAL(2), VAL(3), VAL(4));
}
