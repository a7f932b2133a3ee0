/*
** Comparisons; the result is bool, and NaN compares false but for ne. Float and
** integer elements go through plain loops, of which compilers make vectors with
** narrow results.
*/
#include "kernel/each/drive.h"

/* 16-bit floats are compared by their bits, which saves widening two operands:
** 'inf' is the pattern of infinity, above which NaN lies. rank16() orders them
** as integers, with one 0. */
static inline int16_t rank16(uint16_t a)
{
    int16_t size = (int16_t)(a & 0x7fff), sign = (int16_t)a >> 15;
    return (int16_t)((size ^ sign) - sign);
}
#define IS_16(a, inf) ((uint8_t)(((a) & 0x7fff) <= (inf)))
#define COMPARE16(op, a, b, inf) ((uint8_t)(rank16(a) op rank16(b)) \
    & IS_16(a, inf) & IS_16(b, inf))

#define NAME eq
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) ((a) == (b))
#define EXPR16(a, b, inf) COMPARE16(==, a, b, inf)
#define EXPR(a, b) ((a) == (b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) ((a) == (b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) == (b))
#include "kernel/each/each_bool.inc"
#define COMBINE PARTS_AND
#include "kernel/each/each_complex_parts.inc"
#include "kernel/each/table.inc"

#define NAME ne
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) ((a) != (b))
#define EXPR16(a, b, inf) (1 ^ COMPARE16(==, a, b, inf))
#define EXPR(a, b) ((a) != (b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) ((a) != (b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) != (b))
#include "kernel/each/each_bool.inc"
#define COMBINE PARTS_OR
#include "kernel/each/each_complex_parts.inc"
#include "kernel/each/table.inc"

#define NAME lt
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) ((a) < (b))
#define EXPR16(a, b, inf) COMPARE16(<, a, b, inf)
#define EXPR(a, b) ((a) < (b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) ((a) < (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) < (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME le
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) ((a) <= (b))
#define EXPR16(a, b, inf) COMPARE16(<=, a, b, inf)
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME gt
#define SWAPPED lt
#define RESULT uint8_t
#include "kernel/pointwise/loops/each_swapped.inc"
#include "kernel/each/table.inc"

#define NAME ge
#define SWAPPED le
#define RESULT uint8_t
#include "kernel/pointwise/loops/each_swapped.inc"
#include "kernel/each/table.inc"
