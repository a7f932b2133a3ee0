/* Formulas of attention, pooling and repeated convolution gradients. */
#ifndef LA_GRAD_FORMULAS_NN_H
#define LA_GRAD_FORMULAS_NN_H

#include "grad/rules.h"

la_status la_x_attention(la_formula *x, la_tensor **out);
la_status la_x_recurrent(la_formula *x, la_tensor **out);
la_tensor *la_x_max_pool(la_formula *x);
la_tensor *la_x_max_pool_again(la_formula *x);
la_tensor *la_x_adaptive_avg(la_formula *x);
la_tensor *la_x_adaptive_avg_again(la_formula *x);
la_tensor *la_x_conv_again(la_formula *x, la_tensor *input,
                           la_tensor *weight);
la_tensor *la_x_conv_part(la_formula *x, int op, la_tensor *grad,
                          la_tensor *input, la_tensor *weight);
la_tensor *la_x_im2col(la_formula *x);

#endif
