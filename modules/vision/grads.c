/* Formulas of resampling and of samples at points. */
#include "modules/vision/grads.h"
#include "grad/formulas/formula_terms.h"
#include "op/value.h"

/* The last sizes of argument 0, as many as argument 1 has. */
static la_value spatial_sizes(la_formula *x)
{
    la_value sizes = SIZES(0);
    int64_t nd = VAL(1).ints.n;
    if (x->w.status) return la_v_none();
    return la_v_ints(sizes.ints.list + sizes.ints.n - nd, nd);
}

la_tensor *la_x_resample(la_formula *x)
{
    la_value sizes = spatial_sizes(x);
    if (x->w.status) return NULL;
    return R(resample_backward, G, sizes, VAL(2), VAL(3), VAL(4), VAL(5));
}

la_tensor *la_x_resample_again(la_formula *x)
{
    la_value sizes = spatial_sizes(x);
    if (x->w.status) return NULL;
    return R(resample, G, sizes, VAL(2), VAL(3), VAL(4), VAL(5));
}

la_tensor *la_x_sample_input(la_formula *x, la_tensor *g, la_tensor *grid,
                             la_tensor *direction)
{
    la_value sizes = SIZES(0);
    if (x->w.status) return NULL;
    return R(grid_sampler_grad_input, g, grid, la_v_tensor(direction), VAL(3),
             VAL(4), VAL(5), la_v_ints(sizes.ints.list + 2, sizes.ints.n - 2));
}

/* grid_sampler_grad_grid(grad, input, grid, direction, mode, padding, align):
** the gradient that arrives is a direction of the points. */
la_status la_x_sample_slope(la_formula *x, la_tensor **out)
{
    la_tensor *u = G, *grad = A(0), *input = A(1), *grid = A(2);
    if (A(3))
        return la_error(LA_EGRAD, "third derivatives of grid_sample by its "
                        "grid are not implemented");
    if (x->w.status || !u) return x->w.status;
    if (la_x_wants(x, 0))
        la_x_set(x, out, 0,
                 R(grid_sampler, input, grid, u, VAL(4), VAL(5), VAL(6)));
    if (la_x_wants(x, 1)) {
        la_value sizes = la_v_ints(la_sizes(input) + 2, input->ndim - 2);
        la_x_set(x, out, 1, R(grid_sampler_grad_input, grad, grid, u, VAL(4),
                              VAL(5), VAL(6), sizes));
    }
    if (la_x_wants(x, 2))
        la_x_set(x, out, 2, R(grid_sampler_grad_grid, grad, input, grid, u,
                              VAL(4), VAL(5), VAL(6)));
    return x->w.status;
}
