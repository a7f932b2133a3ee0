/* Hyperbolic functions and their inverses, the logistic function; as
** math_exp.c. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME sinh
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, sinh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_sinh(a)
#define EXPR128(a) c128_sinh(a)
#define EXPR128V(a) c128s_sinh(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME cosh
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, cosh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_cosh(a)
#define EXPR128(a) c128_cosh(a)
#define EXPR128V(a) c128s_cosh(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME tanh
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, tanh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_tanh(a)
#define EXPR128(a) c128_tanh(a)
#define EXPR128V(a) c128s_tanh(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME asinh
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, asinh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(asinh)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME acosh
#define ARITY 1
#define HEAVY 3
#define EXPR(a) VPICK_(a, acosh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(acosh)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME atanh
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, atanh)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_atanh(a)
#define EXPR128(a) c128_atanh(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME sigmoid
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, sigmoid)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_sigmoid(a)
#define EXPR128(a) c128_sigmoid(a)
#define EXPR128V(a) c128s_sigmoid(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"
