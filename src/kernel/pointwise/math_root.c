/* Square and cube roots, and the angle of a number. */
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sqrt
#define HEAVY 1
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME rsqrt
#define HEAVY 1
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME cbrt
#define HEAVY 2
#include "kernel/each/function.inc"

/* Angle of a real number: pi below zero, else 0; NaN stays. */
#define NAME angle
#define ARITY 1
#define EXPR(a) VPICK_(a, angle)(a)
#include "kernel/each/each_float.inc"
#define EXPR(re, im) VPICK_(re, atan2)(im, re)
#include "kernel/each/each_complex_to_real.inc"
#include "kernel/each/table.inc"
