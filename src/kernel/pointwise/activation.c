/*
** Activations with exponentials, and the shrinking ones. NaN goes through. The
** formulas stand with the functions in simd/math/each_math.inc; complex ones
** are those of complex_math.h. Tables: la_loops by dtype, as everywhere in this
** folder.
*/
#include "kernel/pointwise/complex/complex_math.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME silu
#define HEAVY 2
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME mish
#define HEAVY 2
#include "kernel/each/function.inc"

#define NAME gelu
#define HEAVY 2
#include "kernel/each/function.inc"

#define NAME gelu_tanh
#define HEAVY 2
#include "kernel/each/function.inc"

#define NAME logsigmoid
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, log_sigmoid)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME softsign
#define HEAVY 1
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME tanhshrink
#define HEAVY 2
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME hardswish
#define HEAVY 1
#include "kernel/each/function.inc"

#define NAME hardsigmoid
#define HEAVY 1
#include "kernel/each/function.inc"

/* p0: alpha, p1: scale, p2: scale of x in the exponential */
#define NAME elu
#define ARITY 1
#define HEAVY 2
#define NPARAMS 3
#define EXPR(a) VPICK_(a, elu)(a, p0, p1, p2)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0: alpha */
#define NAME celu
#define ARITY 1
#define HEAVY 2
#define NPARAMS 1
#define EXPR(a) VPICK_(a, celu)(a, p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0: beta, p1: the threshold of beta*x */
#define NAME softplus
#define ARITY 1
#define HEAVY 2
#define NPARAMS 2
#define EXPR(a) VPICK_(a, softplus_scaled)(a, p0, p1)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0: half of the width */
#define NAME hardshrink
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) VPICK_(a, hardshrink)(a, p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0: half of the width */
#define NAME softshrink
#define ARITY 1
#define NPARAMS 1
#define EXPR(a) VPICK_(a, softshrink)(a, p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* p0: eps, negative for none */
#define NAME logit
#define ARITY 1
#define HEAVY 2
#define NPARAMS 1
#define EXPR(a) VPICK_(a, logit)(a, p0)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"
