/* Formulas of combining through indices and of quantiles. */
#ifndef LA_GRAD_FORMULAS_INDEX_H
#define LA_GRAD_FORMULAS_INDEX_H

#include "grad/rules.h"

/* scatter_reduce, index_reduce: the gradients of self and of the source. */
la_tensor *la_x_combined_self(la_formula *x);
la_tensor *la_x_combined_source(la_formula *x);

/* quantile, nanquantile: of self, and of q where it is interpolated. */
la_tensor *la_x_quantile_self(la_formula *x);
la_tensor *la_x_quantile_q(la_formula *x);

#endif
