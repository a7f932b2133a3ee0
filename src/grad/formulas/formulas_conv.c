/*
** Formulas of convolutions and their gradients, of pooling and im2col. A
** convolution is linear in input and weight, so the gradients of its gradients
** are convolutions again.
*/
#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/frame.h"

/* One of the gradients, with the settings of the convolution. */
static la_tensor *conv(la_formula *x, const la_op *op)
{
    la_value args[] = {la_v_tensor(G), la_v_tensor(C(A(0))),
                       la_v_tensor(C(A(1))), VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_chain_call(&x->w, op, 9, args);
}

la_tensor *la_x_conv_input(la_formula *x)
{
    return conv(x, LA_OP(convolution_grad_input));
}

la_tensor *la_x_conv_weight(la_formula *x)
{
    return conv(x, LA_OP(convolution_grad_weight));
}

/* The sum over all dims but the channels. */
la_tensor *la_x_conv_bias(la_formula *x)
{
    int64_t dims[LA_MAX_DIMS];
    int n = 0, ndim = x->node->outputs[0].ndim;
    for (int d = 0; d < ndim; d++)
        if (d != 1) dims[n++] = d;
    return R(sum, G, la_v_ints(dims, n));
}

/* ---- gradients of the gradients ---- */

/* The convolution of 'input' and 'weight' with the settings of a gradient. */
la_tensor *la_x_conv_again(la_formula *x, la_tensor *input, la_tensor *weight)
{
    la_value args[] = {la_v_tensor(input), la_v_tensor(weight), la_v_none(),
                       VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_chain_call(&x->w, LA_OP(convolution), 9, args);
}

/* One of its two gradients, likewise. */
la_tensor *la_x_conv_part(la_formula *x, const la_op *op, la_tensor *grad,
                          la_tensor *input, la_tensor *weight)
{
    la_value args[] = {la_v_tensor(grad), la_v_tensor(input),
                       la_v_tensor(weight), VAL(3), VAL(4),
                       VAL(5), VAL(6), VAL(7), VAL(8)};
    return la_chain_call(&x->w, op, 9, args);
}

/* ---- pooling, im2col ---- */

/* VAL(1) is the kernel's size: as many spatial dims as it has entries. */
la_tensor *la_x_max_pool(la_formula *x)
{
    return R(max_pool_backward, G, A(0), RES(1), VAL(1).ints.n);
}

/* The values of a gradient's gradient at the indices of the maxima. */
la_tensor *la_x_max_pool_again(la_formula *x)
{
    la_tensor *g = G, *index = A(2);
    int64_t nd = VAL(3).i;
    if (!g || !index) return NULL;
    la_tensor *flat = R(flatten, g, la_v_int(g->ndim - nd), la_v_int(-1));
    la_tensor *at = R(flatten, index, la_v_int(index->ndim - nd), la_v_int(-1));
    return R(view_as, R(gather, flat, la_v_int(-1), at), index);
}

/* Adaptive average pooling of as many spatial dims as there are output
** sizes. */
la_tensor *la_x_adaptive_avg(la_formula *x)
{
    return R(adaptive_avg_pool_backward, G, A(0), VAL(1).ints.n);
}

la_tensor *la_x_adaptive_avg_again(la_formula *x)
{
    la_value sizes = SIZES(0);
    int64_t nd = VAL(2).i;
    if (x->w.status) return NULL;
    return R(adaptive_avg_pool, G,
             la_v_ints(sizes.ints.list + sizes.ints.n - nd, nd));
}

/* Its adjoint is col2im with the image's size. */
la_tensor *la_x_im2col(la_formula *x)
{
    la_value sizes = SIZES(0);
    if (x->w.status) return NULL;
    return R(col2im, G, la_v_ints(sizes.ints.list + sizes.ints.n - 2, 2),
             VAL(1),
             VAL(2), VAL(3), VAL(4));
}
