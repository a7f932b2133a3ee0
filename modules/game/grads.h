/* Derivative formulas of the module that are longer than a row of grads.def. */
#ifndef LA_MODULES_GAME_GRADS_H
#define LA_MODULES_GAME_GRADS_H

#include "grad/formulas/formula.h"

/* A program over rows: the gradients of all its inputs, by a program that the
** reverse mode of program.c makes of its steps. */
la_status la_x_game_rows(la_formula *x, la_tensor **out);
/* One step of a flock: the gradients of positions and velocities. */
la_status la_x_game_boids(la_formula *x, la_tensor **out);

#endif
