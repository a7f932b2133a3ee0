/* Logical operations on truth values of any dtype, bitwise ones on integers and
** bool, shifts. */
#include "kernel/each/drive.h"
#include "simd/permute/narrow_shifts.h"

/* Truth of a 16-bit float, and of a complex64, by its bits. */
#define IS_SET16(a) (((a) & 0x7fff) != 0)
#define IS_SET64(a) (((a) & 0x7fffffff7fffffffu) != 0)

#define NAME logical_and
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) (((a) != 0) & ((b) != 0))
#define EXPR(a, b) (((a) != 0) & ((b) != 0))
#define EXPR16(a, b, inf) (IS_SET16(a) & IS_SET16(b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) (((a) != 0) & ((b) != 0))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bool.inc"
#define EXPR64(a, b) (IS_SET64(a) & IS_SET64(b))
#include "kernel/each/each_complex_truth.inc"
#include "kernel/each/table.inc"

#define NAME logical_or
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) (((a) != 0) | ((b) != 0))
#define EXPR(a, b) (((a) != 0) | ((b) != 0))
#define EXPR16(a, b, inf) (IS_SET16(a) | IS_SET16(b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) (((a) != 0) | ((b) != 0))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bool.inc"
#define EXPR64(a, b) (IS_SET64(a) | IS_SET64(b))
#include "kernel/each/each_complex_truth.inc"
#include "kernel/each/table.inc"

#define NAME logical_xor
#define ARITY 2
#define RESULT uint8_t
#define EXPR_MASK(a, b) (((a) != 0) ^ ((b) != 0))
#define EXPR(a, b) (((a) != 0) ^ ((b) != 0))
#define EXPR16(a, b, inf) (IS_SET16(a) ^ IS_SET16(b))
#include "kernel/each/each_real.inc"
#define EXPR(a, b) (((a) != 0) ^ ((b) != 0))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) ^ (b))
#include "kernel/each/each_bool.inc"
#define EXPR64(a, b) (IS_SET64(a) ^ IS_SET64(b))
#include "kernel/each/each_complex_truth.inc"
#include "kernel/each/table.inc"

#define NAME logical_not
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) ((a) == 0)
#define EXPR(a) ((a) == 0)
#define EXPR16(a, inf) (!IS_SET16(a))
#include "kernel/each/each_real.inc"
#define EXPR(a) ((a) == 0)
#include "kernel/each/each_bits.inc"
#define EXPR(a) ((a) ^ 1)
#include "kernel/each/each_bool.inc"
#define EXPR64(a) (!IS_SET64(a))
#include "kernel/each/each_complex_truth.inc"
#include "kernel/each/table.inc"

#define NAME bitwise_and
#define ARITY 2
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME bitwise_or
#define ARITY 2
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME bitwise_xor
#define ARITY 2
#define EXPR(a, b) ((a) ^ (b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) ^ (b))
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME bitwise_not
#define ARITY 1
#define EXPR(a) (~(WIDE)(a))
#include "kernel/each/each_bits.inc"
#define EXPR(a) ((a) ^ 1)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

/* A count below 0 or not below the width shifts everything out: 0, or -1 for
** a negative number shifted right. */
#define BITS ((int)sizeof(INT) * 8)

#define NAME bitwise_left_shift
#define ARITY 2
#define EXPR(a, b) ((UINT)(b) < BITS ? (INT)((WIDE)(a) << ((b) & (BITS - 1))) \
    : (INT)0)
#ifdef HAS_NARROW_SHIFTS
#define EXPR_BYTES(a, b) bytes_left(a, b)
#define EXPR_WORDS(a, b) words_left(a, b)
#endif
#include "kernel/each/each_bits.inc"
#include "kernel/each/table.inc"

#define NAME bitwise_right_shift
#define ARITY 2
#define EXPR(a, b) ((UINT)(b) < BITS ? (INT)((a) >> ((b) & (BITS - 1))) \
    : (INT)(IS_SIGNED ? (a) >> (BITS - 1) : 0))
#ifdef HAS_NARROW_SHIFTS
#define EXPR_BYTES(a, b) \
    (IS_SIGNED ? bytes_right_signed(a, b) : bytes_right(a, b))
#define EXPR_WORDS(a, b) \
    (IS_SIGNED ? words_right_signed(a, b) : words_right(a, b))
#endif
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"
