/*
** Formulas of matrix products that are longer than a row.
*/
#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/frame.h"

/* A factor that is a transposed tensor, as the weight of linear is, gets a
** transposed product: transposed back on its way it has the tensor's strides,
** and need not be copied. */
la_tensor *la_x_right_factor(la_formula *x, la_tensor *left, la_tensor *g,
                             int k)
{
    left = C(left);
    if (la_x_result_of(x, k, LA_OP(t))
        || la_x_result_of(x, k, LA_OP(transpose)))
        return R(t, R(mm, R(t, g), left));
    return R(mm, R(t, left), g);
}
