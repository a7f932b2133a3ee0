/*
** The error function and its relatives, the gamma function, modified Bessel
** functions, by vectors (simd/math/math.h, special_lanes.h, bessel.h); what has
** no method for them is in special_double.c.
*/
#include "kernel/pointwise/special/bessel.h"
#include "kernel/each/drive.h"
#include "kernel/pointwise/special/special_lanes.h"
#include "simd/math/math.h"

#define NAME erf
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, erf)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME erfc
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, erfc)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME ndtr
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, ndtr)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME lgamma
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, lgamma)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME erfinv
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, erfinv)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME ndtri
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, ndtri)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME log_ndtr
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, log_ndtr)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME digamma
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, digamma)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME erfcx
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, erfcx)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME entr
#define ARITY 1
#define HEAVY 3
#define EXPR(a) vselect((a) < 0, VPICK_(a, set1)(-INFINITY), \
                        0 - VPICK_(a, xlogy)(a, a))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME i0
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, i0)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME i0e
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, i0e)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME i1
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, i1)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME i1e
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, i1e)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"
