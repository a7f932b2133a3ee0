/* Circular functions and their inverses; as math_exp.c. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sin
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME cos
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME tan
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME asin
#define HEAVY 2
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME acos
#define HEAVY 2
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME atan
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME sinc
#define HEAVY 3
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"
