/*
** Special functions element by element in double, from which the other floats
** are rounded: there is no method by vectors for them, so one copy serves all
** capabilities (special.h, gamma.h, bessel_k.h, the C library).
*/
#include "kernel/each/drive.h"
#include "kernel/pointwise/special/bessel_k.h"
#include "kernel/pointwise/special/gamma.h"
#include "kernel/pointwise/special/special.h"

#define NAME polygamma
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) (REAL)special_polygamma((double)p0, (double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME mvlgamma
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) (REAL)special_mvlgamma((double)(a), (double)p0)
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME zeta
#define ARITY 2
#define EXPR(a, b) (REAL)special_zeta((double)(a), (double)(b))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME igamma
#define ARITY 2
#define EXPR(a, b) (REAL)special_igamma((double)(a), (double)(b))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME igammac
#define ARITY 2
#define EXPR(a, b) (REAL)special_igammac((double)(a), (double)(b))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME bessel_j0
#define ARITY 1
#define EXPR(a) (REAL)j0((double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME bessel_j1
#define ARITY 1
#define EXPR(a) (REAL)j1((double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME bessel_y0
#define ARITY 1
#define EXPR(a) (REAL)special_bessel_y(0, (double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME bessel_y1
#define ARITY 1
#define EXPR(a) (REAL)special_bessel_y(1, (double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME bessel_k
#define ARITY 1
#define NPARAMS 2
#define EXPR(a) (REAL)special_bessel_k((double)(a), p0 != 0, p1 != 0)
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

/* The exponent that frexp gives. */
#define NAME frexp_exponent
#define ARITY 1
#define RESULT int32_t
#define EXPR(a) special_exponent((double)(a))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"
