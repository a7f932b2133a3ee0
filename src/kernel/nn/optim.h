/*
** The contract of optimiser steps: one pass over a parameter, its gradient and
** what the optimiser remembers of it, all flat, of one length and dtype and
** without overlap. Computed in float for 16-bit dtypes; element by element, so
** that the bits depend on nothing else. Floating dtypes only; complex ones are
** passed as twice as many reals.
*/
#ifndef LA_KERNEL_NN_OPTIM_H
#define LA_KERNEL_NN_OPTIM_H

#include <stdbool.h>

#include "kernel/kernel.h"

enum { LA_OPTIM_STATES = 3 };

typedef struct la_optim {
    char *param;
    const char *grad;
    char *state[LA_OPTIM_STATES];   /* NULL: not kept */
    int64_t n;
    double lr;              /* with the correction of the step's number */
    double decay;           /* this part of the parameter joins the gradient */
    double shrink;          /* factor on the parameter before the step */
    double eps;
    double rate, other;     /* of the first and second average; see optim.inc */
    double root;            /* divides the root of the second average */
    bool negate, nesterov, first;
} la_optim;

typedef void (*la_optim_fn)(const la_optim *);
typedef la_optim_fn la_optims[LA_NDTYPES];
LA_STUB_DECLARE(la_optims, sgd);
LA_STUB_DECLARE(la_optims, adam);
LA_STUB_DECLARE(la_optims, rmsprop);
LA_STUB_DECLARE(la_optims, adagrad);

#endif
