/* Gradients through activations, from the gradient g and the result y, in one
** pass. The roundings are those of the formulas written out as operations. */
#include "kernel/each/drive.h"

#define NAME tanh_backward
#define ARITY 2
#define EXPR(g, y) ((g) * (vset(y, 1) - (y) * (y)))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME sigmoid_backward
#define ARITY 2
#define EXPR(g, y) ((g) * ((y) * (vset(y, 1) - (y))))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* NaN results pass the gradient. */
#define NAME relu_backward
#define ARITY 2
#define EXPR(g, y) vselect((y) <= 0, vset(g, 0), g)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"
