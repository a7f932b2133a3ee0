/* Formulas of reductions, order and indexing that are longer than a row. */
#ifndef LA_GRAD_FORMULAS_REDUCE_H
#define LA_GRAD_FORMULAS_REDUCE_H

#include "grad/rules.h"

/* Which dims argument 'at' names, as a bit set (nil or absent: all). */
uint64_t la_x_dims(la_formula *x, int at);
/* 'g' with the reduced dims back at their places, expanded to argument 0's
** sizes; 'keep' is the place of keepdim. -1: none of these arguments. */
la_tensor *la_x_expand_grad(la_formula *x, la_tensor *g, int dims, int keep);
la_tensor *la_x_unsqueezed(la_formula *x, la_tensor *g, int dims, int keep);
double la_x_count(la_formula *x, int dims);
la_tensor *la_x_evenly(la_formula *x, la_tensor *g, la_tensor *result,
                       int dims, int keep);
la_tensor *la_x_select_back(la_formula *x, int dim, int keep);
la_tensor *la_x_as_grad(la_formula *x, la_tensor *self);
la_tensor *la_x_prod(la_formula *x);
la_tensor *la_x_var(la_formula *x, la_tensor *g);
la_tensor *la_x_std(la_formula *x, la_tensor *g);
la_tensor *la_x_norm(la_formula *x);
la_tensor *la_x_masked_source(la_formula *x);
la_value la_x_list(la_formula *x);      /* the saved list of index tensors */
la_value la_x_dtype(la_formula *x);     /* of the gradient, as an argument */

#endif
