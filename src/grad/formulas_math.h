/* Formulas of functions and activations that are longer than a row. */
#ifndef LA_GRAD_FORMULAS_MATH_H
#define LA_GRAD_FORMULAS_MATH_H

#include "grad/rules.h"

la_tensor *la_x_pow_self(la_formula *x);
la_tensor *la_x_pow_exponent(la_formula *x);
la_tensor *la_x_sgn(la_formula *x);
la_tensor *la_x_sinc(la_formula *x);
la_tensor *la_x_angle(la_formula *x);
la_tensor *la_x_mvlgamma(la_formula *x);
la_tensor *la_x_logit(la_formula *x);
la_tensor *la_x_inverse_norm(la_formula *x);   /* 1 / (a^2 + b^2), 0 at 0 */
la_tensor *la_x_weight(la_formula *x, la_tensor *w);
la_tensor *la_x_silu(la_formula *x);
la_tensor *la_x_softsign(la_formula *x);
la_tensor *la_x_mish(la_formula *x);
la_tensor *la_x_gelu(la_formula *x);
la_tensor *la_x_elu(la_formula *x);

#endif
