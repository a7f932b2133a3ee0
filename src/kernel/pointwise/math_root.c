/* Square and cube roots, and the angle of a number. */
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sqrt
#define ARITY 1
#define HEAVY 1
#define EXPR(a) VPICK_(a, sqrt)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_sqrt(a)
#define EXPR128(a) c128_sqrt(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME rsqrt
#define ARITY 1
#define HEAVY 1
#define EXPR(a) VPICK_(a, rsqrt)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(rsqrt)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME cbrt
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, cbrt)(a)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* Angle of a real number: pi below zero, else 0; NaN stays. */
#define NAME angle
#define ARITY 1
#define EXPR(a) VPICK_(a, angle)(a)
#include "kernel/each/each_float.inc"
#define EXPR(re, im) VPICK_(re, atan2)(im, re)
#include "kernel/each/each_complex_to_real.inc"
#include "kernel/each/table.inc"
