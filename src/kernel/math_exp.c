/* Exponentials and logarithms. */
#include "kernel/complex_math.h"
#include "kernel/drive.h"
#include "simd/math.h"

#define NAME exp
#define ARITY 1
#define EXPR(a) VPICK_(a, exp)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(exp)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME exp2
#define ARITY 1
#define EXPR(a) VPICK_(a, exp2)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(exp2)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME expm1
#define ARITY 1
#define EXPR(a) VPICK_(a, expm1)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(expm1)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME log
#define ARITY 1
#define EXPR(a) VPICK_(a, log)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(log)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME log2
#define ARITY 1
#define EXPR(a) VPICK_(a, log2)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(log2)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME log10
#define ARITY 1
#define EXPR(a) VPICK_(a, log10)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(log10)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME log1p
#define ARITY 1
#define EXPR(a) VPICK_(a, log1p)(a)
#include "kernel/each_float.inc"
#define EXPR(a) CXF(log1p)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"
