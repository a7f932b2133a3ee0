/*
** Division, and what is left over: div, div_trunc, floor_divide, remainder,
** fmod. Integer division never traps: by zero gives 0 here (the operation has
** refused it before), the smallest integer by -1 wraps to itself. By one
** divisor for all it is a multiplication (divide_by_scalar.inc).
*/
#include "kernel/pointwise/complex/complex_loops.h"
#include "simd/math/divide.h"
#include "simd/math/fmod.h"
#include "simd/permute/narrow_shifts.h"

#define ROWS 1
#define NAME div
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) ((a) / (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) vcdiv(a, b)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

/* A scalar over a tensor: PyTorch multiplies it by the reciprocal. */
#define NAME div_into
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) (1 / (b) * (a))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) vcmul(vcinverse(b), a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define BY_MINUS_ONE(b) (IS_SIGNED && (b) == (INT)-1)
/* 0 and -1 are divisors of their own: 1 stands for them in the division, which
** so is made for all elements alike, and they multiply the quotient. Chosen by
** bits: what compilers see as branches would not become vectors. */
#define ODD(b) ((UINT)(0 - (UINT)(IS_SIGNED \
    ? (UINT)((UINT)(b) + 1) <= 1 : (b) == 0)))
#define CHOOSE(mask, x, y) \
    ((INT)(((UINT)(x) & (mask)) | ((UINT)(y) & (UINT)~(mask))))
#define SAFE(b) CHOOSE(ODD(b), 1, b)
/* a / d for a safe d, in floats where they hold INT: the quotient is further
** from the next whole number than it is rounded. */
#define CUT(a, d) (INT)(sizeof(INT) <= 2 ? (INT)((float)(a) / (float)(d)) \
    : sizeof(INT) == 4 ? (INT)((double)(a) / (double)(d)) \
    : IS_SIGNED ? (INT)int64_quotient((int64_t)(a), (int64_t)(d)) \
    : (INT)((a) / (d)))
#define QUOTIENT(a, b) \
    ((WIDE)CUT(a, SAFE(b)) * (WIDE)CHOOSE(ODD(b), b, 1))
#define REST(a, b) \
    (INT)((WIDE)(a) - (WIDE)CUT(a, SAFE(b)) * (WIDE)SAFE(b))
/* Does the quotient have to go down by one to be the floor? */
#define DOWN(a, b) ((NEGATIVE(a) != NEGATIVE(b)) & (REST(a, b) != 0))

#include "kernel/pointwise/loops/each_divide_by_scalar.inc"
#define BY(way, a, by) LA_CAT(by_, TAG, _##way, )(a, by)

#define LANE f32
#define MASK i32v
#include "kernel/pointwise/loops/floor_divide.inc"
#define LANE f64
#define MASK i64v
#include "kernel/pointwise/loops/floor_divide.inc"

#define NAME floor_divide
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, floor_divide)(a, b)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) (QUOTIENT(a, b) - DOWN(a, b))
#define EXPR_BY(a, by) BY(floor, a, by)
#define EXPR_BY_BYTES(a, by) BY(floor_bytes, a, by)
#define EXPR_BY_WORDS(a, by) BY(floor_words, a, by)
#define EXPR_BY_WIDE(a, by) BY(floor_wide, a, by)
#define EXPR_LONGS(a, b) longs_quotient(a, b, true)
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

/* Unsigned quotients are their own floors, and rests have one sign. */
#define NAME div_trunc
#define ARITY 2
#define HEAVY 1
#define UNSIGNED_AS floor_divide
#define EXPR(a, b) vtrunc((a) / (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) QUOTIENT(a, b)
#define EXPR_BY(a, by) BY(trunc, a, by)
#define EXPR_LONGS(a, b) longs_quotient(a, b, false)
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

/* The sign of the divisor. */
#define NAME remainder
#define ARITY 2
#define HEAVY 2
#define EXPR(a, b) VPICK_(a, modulo)(a, b)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) \
    ((WIDE)REST(a, b) + ((0 - (WIDE)DOWN(a, b)) & (WIDE)(b)))
#define EXPR_BY(a, by) BY(remainder, a, by)
#define EXPR_BY_WIDE(a, by) BY(remainder_wide, a, by)
#define EXPR_LONGS(a, b) longs_rest(a, b, true)
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

/* The sign of the dividend. */
#define NAME fmod
#define ARITY 2
#define HEAVY 2
#define UNSIGNED_AS remainder
#define EXPR(a, b) vfmod(a, b)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) REST(a, b)
#define EXPR_BY(a, by) BY(fmod, a, by)
#define EXPR_LONGS(a, b) longs_rest(a, b, false)
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

