/* Activations made of comparisons: relu, leaky_relu, hardtanh, threshold. NaN
** goes through all of them: every comparison with it is false. */
#include "kernel/each/drive.h"

#define NAME relu
#define ARITY 1
#define EXPR(a) vselect((a) < 0, vset(a, 0), a)
#include "kernel/each/each_float.inc"
#define EXPR(a) (NEGATIVE(a) ? 0 : (a))
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

/* p0: the slope below zero */
#define NAME leaky_relu
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) vselect((a) > 0, a, (a) * p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0, p1: the ends */
#define NAME hardtanh
#define ARITY 1
#define NPARAMS 2
#define EXPR(a) vselect((a) < p0, p0, vselect((a) > p1, p1, a))
#include "kernel/each/each_float.inc"
#define EXPR(a) ((a) < p0 ? p0 : (a) > p1 ? p1 : (a))
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

/* p0: the threshold, p1: the value at and below it */
#define NAME threshold
#define ARITY 1
#define NPARAMS 2
#define EXPR(a) vselect((a) <= p0, p1, a)
#include "kernel/each/each_float.inc"
#define EXPR(a) ((a) <= p0 ? p1 : (a))
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"
