/* Functions of two floats: atan2, hypot, logaddexp, xlogy, ldexp and kin;
** methods in simd/math/math.h. */
#include "base/libm/libm.h"
#include "kernel/pointwise/complex/complex_math.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"
#include "simd/math/scale.h"

#define NAME atan2
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, atan2)(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME hypot
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, hypot)(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME logaddexp
#define ARITY 2
#define HEAVY 3
#define EXPR(a, b) VPICK_(a, logaddexp)(a, b)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) CXF(logaddexp)(a, b)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME logaddexp2
#define ARITY 2
#define HEAVY 3
#define EXPR(a, b) VPICK_(a, logaddexp2)(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME xlogy
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, xlogy)(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME xlog1py
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, xlog1py)(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define LANE f32
#define CTYPE float
#define BITS u32v
#define MANTISSA 23
#define BIAS 127
#include "kernel/pointwise/loops/ldexp.inc"
#define LANE f64
#define CTYPE double
#define BITS u64v
#define MANTISSA 52
#define BIAS 1023
#include "kernel/pointwise/loops/ldexp.inc"

/* The exponents are whole numbers. */
#define NAME ldexp_whole
#define ARITY 2
#define EXPR(a, b) VPICK_(a, ldexp)(a, b)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) CXF(scale)(a, la_m_exp2((b).re))
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"
