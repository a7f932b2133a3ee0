/*
** Formulas of transforms of real numbers, and to real numbers: the adjoint of a
** transform is the one in the other direction, with the same factor.
*/
#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/value.h"

/* fft_r2c(x, dim, norm, forward, onesided): the real part of the transform of
** the gradient, with zeros for what was not kept. */
la_tensor *la_x_fft_r2c(la_formula *x)
{
    la_tensor *g = G;
    la_value dims = VAL(1), sizes = SIZES(0);
    int64_t pads[2 * LA_MAX_DIMS] = {0};
    if (x->w.status) return NULL;
    int64_t d = dims.ints.list[dims.ints.n - 1];
    if (d < 0) d += g->ndim;
    int64_t more = sizes.ints.list[d] - la_sizes(g)[d];
    int at = 2 * (g->ndim - 1 - (int)d);
    pads[at + 1] = more;
    if (more > 0) g = R(constant_pad_nd, g, la_v_ints(pads, at + 2));
    return R(real, R(fft_c2c, g, dims, VAL(2), !VAL(3).b));
}

/* fft_c2r(x, dim, norm, forward, n): the transform of the gradient, twice for
** elements that stand for their conjugates too. */
la_tensor *la_x_fft_c2r(la_formula *x)
{
    la_value dims = VAL(1);
    int64_t n = VAL(4).i;
    la_tensor *g = R(fft_r2c, G, dims, VAL(2), !VAL(3).b, true);
    if (x->w.status) return NULL;
    int64_t d = dims.ints.list[dims.ints.n - 1];
    int64_t twice = (n - 1) / 2, last = n / 2 - twice;
    if (twice == 0) return g;
    la_tensor *middle = R(narrow, g, d, (int64_t)1, twice);
    x->members[0] = R(narrow, g, d, (int64_t)0, (int64_t)1);
    x->members[1] = R(mul, middle, 2);
    if (last) x->members[2] = R(narrow, g, d, twice + 1, last);
    return R(cat, la_v_tensors(x->members, 2 + (last > 0)), d);
}
