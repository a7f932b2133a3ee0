/* Derivative formulas of the module that are longer than a row of grads.def. */
#ifndef LA_MODULES_VISION_GRADS_H
#define LA_MODULES_VISION_GRADS_H

#include "grad/formulas/formula.h"

/* resample's gradient is resample_backward, whose own is resample again. */
la_tensor *la_x_resample(la_formula *x);
la_tensor *la_x_resample_again(la_formula *x);
/* grid_sampler's gradient for its input from 'g', 'direction' as given. */
la_tensor *la_x_sample_input(la_formula *x, la_tensor *g, la_tensor *grid,
                             la_tensor *direction);
/* The second derivatives of grid_sampler, of all its four inputs. */
la_status la_x_sample_slope(la_formula *x, la_tensor **out);

#endif
