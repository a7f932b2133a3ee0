/* Formulas of scans, row-wise norms and convolutions. */
#ifndef LA_GRAD_FORMULAS_ROWS_H
#define LA_GRAD_FORMULAS_ROWS_H

#include "grad/rules.h"

la_tensor *la_x_cumprod(la_formula *x);
la_tensor *la_x_logcumsumexp(la_formula *x);
/* Infinities as 0: a row of -inf has no slope, not NaN. */
la_tensor *la_x_finite(la_formula *x, la_tensor *t);
/* The gradient of a product's right factor, argument k, from the left one. */
la_tensor *la_x_right_factor(la_formula *x, la_tensor *left, la_tensor *g,
                             int k);
la_tensor *la_x_conv_input(la_formula *x);
la_tensor *la_x_conv_weight(la_formula *x);
la_tensor *la_x_conv_bias(la_formula *x);
la_status la_x_layer_norm(la_formula *x, la_tensor **out);
la_status la_x_rms_norm(la_formula *x, la_tensor **out);

la_status la_x_channel_norm(la_formula *x, la_tensor **out);
la_tensor *la_x_label_entropy(la_formula *x);

#endif
