/* Circular functions and their inverses; as math_exp.c. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sin
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, sin)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_sin(a)
#define EXPR128(a) c128_sin(a)
#define EXPR128V(a) c128s_sin(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME cos
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, cos)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_cos(a)
#define EXPR128(a) c128_cos(a)
#define EXPR128V(a) c128s_cos(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME tan
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, tan)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_tan(a)
#define EXPR128(a) c128_tan(a)
#define EXPR128V(a) c128s_tan(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME asin
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, asin)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(asin)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME acos
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, acos)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(acos)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME atan
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, atan)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_atan(a)
#define EXPR128(a) c128_atan(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME sinc
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, sinc)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(sinc)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"
