/*
** isnan, isinf, isfinite, isposinf, isneginf, isreal, nan_to_num, isclose, and
** the answers that a dtype gives by itself. Results are bool, so elements go
** one by one through plain loops; 16-bit floats by their bits.
*/
#include "kernel/pointwise/complex/complex_lanes.h"
#include "kernel/pointwise/complex/complex_loops.h"

#define NAME isnan
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) ((a) != (a))
#define EXPR(a) ((a) != (a))
#define EXPR16(a, inf) (((a) & 0x7fff) > (inf))
#include "kernel/each/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) CXF(isnan)(a)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

/* Computes in the type of the operand: compilers do not undo a conversion to
** double. */
#define SIZE_(x) ((__typeof__(x))__builtin_fabs(x))
#define INFINITE(a) (SIZE_(a) == (__typeof__(a))__builtin_inf())
#define FINITE(a) (SIZE_(a) < (__typeof__(a))__builtin_inf())

#define NAME isinf
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) (f64_abs(a) == INFINITY)
#define EXPR(a) INFINITE(a)
#define EXPR16(a, inf) (((a) & 0x7fff) == (inf))
#include "kernel/each/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) (INFINITE((a).re) | INFINITE((a).im))
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME isfinite
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) (f64_abs(a) < INFINITY)
#define EXPR(a) FINITE(a)
#define EXPR16(a, inf) (((a) & 0x7fff) < (inf))
#include "kernel/each/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) (FINITE((a).re) & FINITE((a).im))
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

#define NAME isposinf
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) ((a) == INFINITY)
#define EXPR(a) ((a) == (REAL)__builtin_inf())
#define EXPR16(a, inf) ((a) == (inf))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME isneginf
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) ((a) == -INFINITY)
#define EXPR(a) ((a) == -(REAL)__builtin_inf())
#define EXPR16(a, inf) ((a) == (0x8000 | (inf)))
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"

#define NAME isreal
#define ARITY 1
#define RESULT uint8_t
#define NO_PRODUCTS 1
#define EXPR(a) ((a).im == 0)
#include "kernel/each/each_complex.inc"
#include "kernel/each/table.inc"

/* p0, p1, p2: what stands for NaN, inf and -inf */
#define REPLACED(a) vselect(visnan(a), p0, vselect(visinf(a), \
    vselect(vsignbit(a), p2, p1), a))
#define NAME nan_to_num
#define ARITY 1
#define NPARAMS 3
#define EXPR(a) REPLACED(a)
#include "kernel/each/each_float.inc"
#define EXPR(a) REPLACED(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

/* |a - b| <= atol + rtol * |b|. p0, p1, p2: rtol, atol, NaN equals NaN.
** Integers are compared as float. */
#define NEAR(a, b, equal, rtol, atol) ((equal) \
    | ((SIZE_((a) - (b)) <= (atol) + SIZE_((rtol) * (b))) & FINITE((a) - (b))))

#define NAME isclose
#define ARITY 2
#define NPARAMS 3
#define RESULT uint8_t
#define EXPR(a, b) NEAR(a, b, \
    ((a) == (b)) | ((p2 != 0) & ((a) != (a)) & ((b) != (b))), p0, p1)
#include "kernel/each/each_real.inc"
#undef NPARAMS
#define NPARAMS 2
#define SCALAR_TYPE float
#define EXPR(a, b) NEAR((float)(a), (float)(b), (a) == (b), p0, p1)
#include "kernel/each/each_int.inc"
#define EXPR(a, b) NEAR((float)(a), (float)(b), (a) == (b), p0, p1)
#include "kernel/each/each_bool.inc"
#undef SCALAR_TYPE
#define LANE f32
#define TAG c64
#include "kernel/pointwise/complex/isclose_complex.inc"
#define LANE f64
#define TAG c128
#include "kernel/pointwise/complex/isclose_complex.inc"
#define TAG c32
#define LANE f16
#define WORK c64
#define PARTS 2
#include "kernel/each/core_half.inc"
#define HAS_COMPLEX 1
#include "kernel/each/table.inc"

/* The answers that a dtype gives by itself: no integer is NaN, all are
** finite. */
#define NAME never
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((void)(a), 0)
#include "kernel/each/each_bits.inc"
#define EXPR(a) ((void)(a), 0)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME always
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((void)(a), 1)
#include "kernel/each/each_bits.inc"
#define EXPR(a) ((void)(a), 1)
#include "kernel/each/each_bool.inc"
#define EXPR(a) ((void)(a), 1)
#define EXPR16(a, inf) ((void)(a), 1)
#include "kernel/each/each_real.inc"
#include "kernel/each/table.inc"
