/* For the files that hold derivative formulas. */
#ifndef LA_GRAD_RULES_H
#define LA_GRAD_RULES_H

#include "grad/formula.h"

/* Zeros of argument k's shape and the gradient's dtype. */
la_tensor *la_x_zeros(la_formula *x, int k);

#endif
