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
#define HEAVY 2
#include "kernel/each/function.inc"

#define NAME erfc
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME ndtr
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME lgamma
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME erfinv
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME ndtri
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME log_ndtr
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME digamma
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME erfcx
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME entr
#define ARITY 1
#define HEAVY 3
#define EXPR(a) vselect((a) < 0, VPICK_(a, set1)(-INFINITY), \
                        0 - VPICK_(a, xlogy)(a, a))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME i0
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME i0e
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME i1
#define HEAVY 3
#include "kernel/each/function.inc"

#define NAME i1e
#define HEAVY 3
#include "kernel/each/function.inc"
