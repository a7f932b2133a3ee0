/* Division, and what is left over. Integer division never traps: by zero gives
** 0 here (the operation has refused it before), the smallest number by -1 wraps
** to itself. */
#include "kernel/complex.h"
#include "simd/fmod.h"

#define NAME div
#define ARITY 2
#define EXPR(a, b) ((a) / (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) CXF(div)(a, b)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

/* A number over a tensor: PyTorch multiplies it by the reciprocal. */
#define NAME div_into
#define ARITY 2
#define EXPR(a, b) (1 / (b) * (a))
#include "kernel/each_float.inc"
#define EXPR(a, b) CXF(mul)(CXF(div)((CX){1, 0}, b), a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define BY_MINUS_ONE(b) (IS_SIGNED && (b) == (INT)-1)
#define QUOTIENT(a, b) ((b) == 0 ? (WIDE)0 : BY_MINUS_ONE(b) \
    ? 0 - (WIDE)(a) : (WIDE)((a) / (b)))
#define REST(a, b) ((b) == 0 || BY_MINUS_ONE(b) ? (INT)0 : (INT)((a) % (b)))
/* Does the quotient have to go down by one to be the floor? */
#define DOWN(a, b) (NEGATIVE(a) != NEGATIVE(b) && REST(a, b) != 0)

#define NAME div_trunc
#define ARITY 2
#define EXPR(a, b) vtrunc((a) / (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) QUOTIENT(a, b)
#include "kernel/each_int.inc"
#include "kernel/table.inc"

#define LANE f32
#define MASK i32v
#include "kernel/floor_divide.inc"
#define LANE f64
#define MASK i64v
#include "kernel/floor_divide.inc"

#define NAME floor_divide
#define ARITY 2
#define EXPR(a, b) VPICK_(a, floor_divide)(a, b)
#include "kernel/each_float.inc"
#define EXPR(a, b) (QUOTIENT(a, b) - DOWN(a, b))
#include "kernel/each_int.inc"
#include "kernel/table.inc"

/* The sign of the divisor. */
#define NAME remainder
#define ARITY 2
#define EXPR(a, b) VPICK_(a, modulo)(a, b)
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)REST(a, b) + (DOWN(a, b) ? (WIDE)(b) : 0))
#include "kernel/each_int.inc"
#include "kernel/table.inc"

/* The sign of the dividend. */
#define NAME fmod
#define ARITY 2
#define EXPR(a, b) vfmod(a, b)
#include "kernel/each_float.inc"
#define EXPR(a, b) REST(a, b)
#include "kernel/each_int.inc"
#include "kernel/table.inc"

