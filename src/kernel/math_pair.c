/* Functions of two floats. */
#include "kernel/complex_math.h"
#include "kernel/drive.h"
#include "simd/math.h"

#define NAME atan2
#define ARITY 2
#define EXPR(a, b) VPICK_(a, atan2)(a, b)
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME hypot
#define ARITY 2
#define EXPR(a, b) VPICK_(a, hypot)(a, b)
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME logaddexp
#define ARITY 2
#define EXPR(a, b) VPICK_(a, logaddexp)(a, b)
#include "kernel/each_float.inc"
#define EXPR(a, b) CXF(logaddexp)(a, b)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME logaddexp2
#define ARITY 2
#define EXPR(a, b) VPICK_(a, logaddexp2)(a, b)
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME xlogy
#define ARITY 2
#define EXPR(a, b) VPICK_(a, xlogy)(a, b)
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME xlog1py
#define ARITY 2
#define EXPR(a, b) VPICK_(a, xlog1py)(a, b)
#include "kernel/each_float.inc"
#include "kernel/table.inc"
