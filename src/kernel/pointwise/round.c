/* Rounding of floats: ceil, floor, round, trunc, frac. Integers are their own
** result; the operation copies them. */
#include "kernel/each/drive.h"

#define NAME ceil
#define ARITY 1
#define EXPR(a) vceil(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME floor
#define ARITY 1
#define EXPR(a) vfloor(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* Half to even. */
#define NAME round
#define ARITY 1
#define EXPR(a) vround(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0 = 10^decimals, for decimals > 0; the next one for decimals < 0. */
#define NAME round_digits
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) (vround((a) * p0) / p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME round_tens
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) (vround((a) / p0) * p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME trunc
#define ARITY 1
#define EXPR(a) vtrunc(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME frac
#define ARITY 1
#define EXPR(a) ((a) - vtrunc(a))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"
