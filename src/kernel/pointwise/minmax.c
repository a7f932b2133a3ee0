/*
** maximum, minimum, fmax, fmin, clamp. maximum, minimum and clamp propagate
** NaN, fmax and fmin prefer the number. The first two are bound by memory,
** hence vordered (simd/keep_order.h).
*/
#include "kernel/each/drive.h"
#include "simd/keep_order.h"

#define NAME maximum
#define ARITY 2
#define EXPR(a, b) vordered(vmax_nan(a, b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((a) > (b) ? (a) : (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME minimum
#define ARITY 2
#define EXPR(a, b) vordered(vmin_nan(a, b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((a) < (b) ? (a) : (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME fmax
#define ARITY 2
#define EXPR(a, b) vselect((b) != (b), a, vmax(a, b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((a) > (b) ? (a) : (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME fmin
#define ARITY 2
#define EXPR(a, b) vselect((b) != (b), a, vmin(a, b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((a) < (b) ? (a) : (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

/* The upper end is applied last: it wins when the ends are crossed. */
#define NAME clamp
#define ARITY 3
#define EXPR(a, b, c) vmin_nan(vmax_nan(a, b), c)
#include "kernel/each/each_float.inc"
#define EXPR(a, b, c) (((a) > (b) ? (a) : (b)) < (c) ? ((a) > (b) ? (a) : (b)) \
    : (c))
#include "kernel/each/each_int.inc"
#define EXPR(a, b, c) (((a) | (b)) & (c))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"
