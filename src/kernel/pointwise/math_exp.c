/* Exponentials and logarithms; methods in simd/math/math.h. complex64 goes by
** vectors where complex_wide.h has the function, else one by one by C's. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME exp
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, exp)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_exp(a)
#define EXPR128(a) c128_exp(a)
#define EXPR128V(a) c128s_exp(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME exp2
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, exp2)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) CXF(exp2)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME expm1
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, expm1)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_expm1(a)
#define EXPR128(a) c128_expm1(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME log
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, log)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_log(a)
#define EXPR128(a) c128_log(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME log2
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, log2)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_log2(a)
#define EXPR128(a) c128_log2(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME log10
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, log10)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_log10(a)
#define EXPR128(a) c128_log10(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME log1p
#define ARITY 1
#define HEAVY 2
#define EXPR(a) VPICK_(a, log1p)(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) c64s_log1p(a)
#define EXPR128(a) c128_log1p(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"
