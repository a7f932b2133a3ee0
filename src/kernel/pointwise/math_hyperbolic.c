/* Hyperbolic functions and their inverses, the logistic function; as
** math_exp.c. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sinh
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME cosh
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME tanh
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME asinh
#define HEAVY 3
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME acosh
#define HEAVY 3
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME atanh
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME sigmoid
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"
