/*
** Derivative formulas that are longer than a row of grad/def/, by theme; each
** theme has a file formulas_<theme>.c. The gradient of one argument is returned
** (borrowed from the formula, NULL for none); a function with 'out' sets those
** of all arguments.
*/
#ifndef LA_GRAD_FORMULAS_FORMULAS_H
#define LA_GRAD_FORMULAS_FORMULAS_H

#include "grad/formulas/formula.h"
#include "op/value.h"

/* ---- powers, special functions, activations ---- */

la_tensor *la_x_pow_self(la_formula *x);
la_tensor *la_x_pow_exponent(la_formula *x);
la_tensor *la_x_sgn(la_formula *x);
la_tensor *la_x_sinc(la_formula *x);
la_tensor *la_x_angle(la_formula *x);
la_tensor *la_x_mvlgamma(la_formula *x);
la_tensor *la_x_logit(la_formula *x);
la_tensor *la_x_inverse_norm(la_formula *x);   /* 1 / (a^2 + b^2), 0 at 0 */
/* a - b, and 0 for equal infinities. */
la_tensor *la_x_distance(la_formula *x, la_tensor *a, la_tensor *b);
/* I1(x) / x of i1's and i1e's formula, times exp(-|x|) when 'scaled'. */
la_tensor *la_x_i1_quotient(la_formula *x, bool scaled);
/* J1(x) / x of bessel_j1's. */
la_tensor *la_x_j1_quotient(la_formula *x);
/* Refuses the gradient of argument k: LA_EGRAD. */
la_tensor *la_x_missing(la_formula *x, int k);
/* The slope of igamma in its second argument. */
la_tensor *la_x_gamma_density(la_formula *x);
la_tensor *la_x_bessel_k(la_formula *x);
la_tensor *la_x_log_ndtr(la_formula *x);
/* Argument 0 where it is negative, else 0 while the formula is recorded. */
la_tensor *la_x_below_zero(la_formula *x);
/* 'g', which depends on argument 0 by conditions alone: in a recorded formula
** it is a function of it whose slope is 0, as in PyTorch. */
la_tensor *la_x_flat(la_formula *x, la_tensor *g);
la_tensor *la_x_silu(la_formula *x);
/* Argument k, a 16-bit float in float32: what is computed with it is too, and
** la_validate_grad rounds the gradient once. */
la_tensor *la_x_wide(la_formula *x, int k);
la_tensor *la_x_softsign(la_formula *x);
la_tensor *la_x_mish(la_formula *x);
la_tensor *la_x_gelu(la_formula *x);
la_tensor *la_x_elu(la_formula *x);

/* ---- reductions and order ---- */

/* 'g' with the reduced dims back as size 1 (unsqueezed), or expanded to
** argument 0's sizes. 'dims' and 'keep' are the indices of the arguments dim
** and keepdim; -1: no such argument. */
la_tensor *la_x_unsqueezed(la_formula *x, la_tensor *g, int dims, int keep);
la_tensor *la_x_expand_grad(la_formula *x, la_tensor *g, int dims, int keep);
/* How many elements each result was reduced from. */
double la_x_count(la_formula *x, int dims);
/* 'g' divided evenly among the elements equal to 'result'. */
la_tensor *la_x_evenly(la_formula *x, la_tensor *g, la_tensor *result,
                       int dims, int keep);
/* Values that were selected along argument 'dim': their gradients go back to
** the indices in result 1. */
la_tensor *la_x_select_back(la_formula *x, int dim, int keep);
/* 'self' as dtype= converted it before the operation. */
la_tensor *la_x_as_grad(la_formula *x, la_tensor *self);
la_tensor *la_x_prod(la_formula *x);
la_tensor *la_x_var(la_formula *x, la_tensor *g);
la_tensor *la_x_std(la_formula *x, la_tensor *g);
la_tensor *la_x_norm(la_formula *x);
/* quantile, nanquantile: of self, and of q where it is interpolated. */
la_tensor *la_x_quantile_self(la_formula *x);
la_tensor *la_x_quantile_q(la_formula *x);

/* ---- indexing ---- */

/* scatter_reduce, index_reduce: the gradients of self and of the source. */
la_tensor *la_x_combined_self(la_formula *x);
la_tensor *la_x_combined_source(la_formula *x);
la_tensor *la_x_masked_source(la_formula *x);
la_value la_x_list(la_formula *x);      /* the saved list of index tensors */
la_value la_x_dtype(la_formula *x);     /* of the gradient, as an argument */

/* ---- scans ---- */

la_tensor *la_x_cumprod(la_formula *x);
la_tensor *la_x_logcumsumexp(la_formula *x);
/* -inf as 0: a row of -inf has no slope, not NaN. */
la_tensor *la_x_reached(la_formula *x, la_tensor *t);

/* ---- matrix products, convolutions, pooling ---- */

/* The gradient of a product's right factor, argument k, from the left one. */
la_tensor *la_x_right_factor(la_formula *x, la_tensor *left, la_tensor *g,
                             int k);
la_tensor *la_x_conv_input(la_formula *x);
la_tensor *la_x_conv_weight(la_formula *x);
la_tensor *la_x_conv_bias(la_formula *x);
/* Operations of a convolution's gradient formulas, with its settings: a
** convolution of these operands, or one of its gradients ('op'). */
la_tensor *la_x_conv_again(la_formula *x, la_tensor *input,
                           la_tensor *weight);
la_tensor *la_x_conv_part(la_formula *x, const la_op *op, la_tensor *grad,
                          la_tensor *input, la_tensor *weight);
la_tensor *la_x_max_pool(la_formula *x);
la_tensor *la_x_max_pool_again(la_formula *x);
la_tensor *la_x_adaptive_avg(la_formula *x);
la_tensor *la_x_adaptive_avg_again(la_formula *x);
la_tensor *la_x_im2col(la_formula *x);

/* ---- factorizations, inverses, determinants ---- */

la_tensor *la_x_inv(la_formula *x);
la_status la_x_solve(la_formula *x, la_tensor **out);
la_status la_x_distance_rows(la_formula *x, la_tensor **out);
la_status la_x_solve_triangular(la_formula *x, la_tensor **out);
la_tensor *la_x_det(la_formula *x);
la_tensor *la_x_slogdet(la_formula *x);
la_tensor *la_x_lu_factor(la_formula *x);
la_status la_x_lu_solve(la_formula *x, la_tensor **out);
la_tensor *la_x_cholesky(la_formula *x);
la_tensor *la_x_qr(la_formula *x);
la_tensor *la_x_matrix_exp(la_formula *x);
la_tensor *la_x_eigh(la_formula *x);
la_tensor *la_x_eigvalsh(la_formula *x);
la_tensor *la_x_svd(la_formula *x);
la_tensor *la_x_svdvals(la_formula *x);
la_tensor *la_x_eig(la_formula *x);
la_tensor *la_x_eigvals(la_formula *x);
la_tensor *la_x_pinv(la_formula *x);
la_status la_x_lstsq(la_formula *x, la_tensor **out);

/* Fourier transforms (formulas_fft.c). */
la_tensor *la_x_fft_r2c(la_formula *x);
la_tensor *la_x_fft_c2r(la_formula *x);

/* ---- norms, layers, borders ---- */

la_status la_x_layer_norm(la_formula *x, la_tensor **out);
la_status la_x_rms_norm(la_formula *x, la_tensor **out);
la_status la_x_channel_norm(la_formula *x, la_tensor **out);
la_tensor *la_x_label_entropy(la_formula *x);
la_status la_x_attention(la_formula *x, la_tensor **out);
la_status la_x_recurrent(la_formula *x, la_tensor **out);
/* pad with mode reflect, replicate or circular. */
la_tensor *la_x_border_pad(la_formula *x);

#endif
