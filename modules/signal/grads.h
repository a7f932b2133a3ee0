/* Derivative formulas of the module that are longer than a row of grads.def. */
#ifndef LA_MODULES_SIGNAL_GRADS_H
#define LA_MODULES_SIGNAL_GRADS_H

#include "grad/formulas/formula.h"

/* filter_sections: the gradient of a recursive filter is the filter run
** backwards; all inputs at once. */
la_status la_x_filter(la_formula *x, la_tensor **out);
/* overlap_add: adding parts up is undone by taking them out. */
la_tensor *la_x_overlap_add(la_formula *x);

#endif
