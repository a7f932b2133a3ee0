/* The formula of borders that are made of the tensor itself. */
#ifndef LA_GRAD_FORMULAS_MOVE_H
#define LA_GRAD_FORMULAS_MOVE_H

#include "grad/rules.h"

la_tensor *la_x_border_pad(la_formula *x);

#endif
