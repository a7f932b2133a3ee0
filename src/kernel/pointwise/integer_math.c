/* gcd, lcm; and what goes by the bits of floats: heaviside, copysign,
** nextafter; and the search for a zero divisor. */
#include "base/size.h"
#include "kernel/each/drive.h"

#define SIZE_OF(a) (NEGATIVE(a) ? (UINT)(0 - (WIDE)(a)) : (UINT)(a))

#define NAME gcd
#define ARITY 2
#define EXPR(a, b) (INT)la_gcd(SIZE_OF(a), SIZE_OF(b))
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

#define NAME lcm
#define ARITY 2
#define EXPR(a, b) ((a) == 0 || (b) == 0 ? (INT)0 : (INT)((WIDE)SIZE_OF(a) \
    / (WIDE)la_gcd(SIZE_OF(a), SIZE_OF(b)) * (WIDE)SIZE_OF(b)))
#include "kernel/each/each_int.inc"
#include "kernel/each/table.inc"

#define NAME heaviside
#define ARITY 2
#define EXPR(a, b) vselect((a) == 0, b, \
    vselect((a) > 0, vset(a, 1), vset(a, 0)))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((a) == 0 ? (b) : (INT)((a) > 0))
#include "kernel/each/each_int.inc"
#define EXPR(a, b) ((a) == 0 ? (b) : 1)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME copysign
#define ARITY 2
#define EXPR(a, b) vcopysign(a, b)
#define EXPR16(a, b, inf) (((a) & 0x7fff) | ((b) & 0x8000))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* nextafter by bits: neighbours of one sign are neighbours as integers. */
#define WORD uint16_t
#define NEXT next16
#include "kernel/pointwise/loops/nextafter.inc"
#define WORD uint32_t
#define NEXT next32
#include "kernel/pointwise/loops/nextafter.inc"
#define WORD uint64_t
#define NEXT next64
#include "kernel/pointwise/loops/nextafter.inc"

#define NAME nextafter
#define ARITY 2
#define TAG f32
#define IN uint32_t
#define OUT uint32_t
#define EXPR(a, b) next32(a, b, 0x7f800000)
#include "kernel/each/core_plain.inc"
#undef EXPR
#define TAG f64
#define IN uint64_t
#define OUT uint64_t
#define EXPR(a, b) next64(a, b, 0x7ff0000000000000)
#include "kernel/each/core_plain.inc"
#undef EXPR
#define TAG f16
#define IN uint16_t
#define OUT uint16_t
#define EXPR(a, b) next16(a, b, 0x7c00)
#include "kernel/each/core_plain.inc"
#undef EXPR
#define TAG bf16
#define IN uint16_t
#define OUT uint16_t
#define EXPR(a, b) next16(a, b, 0x7f80)
#include "kernel/each/core_plain.inc"
#undef EXPR
#define HAS_FLOAT 1
#include "kernel/each/table.inc"

/* Is there a zero among the integers? Answered in the output, one byte. */
#define NAME is_zero
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((a) == 0)
#include "kernel/each/each_bits.inc"
#define EXPR(a) ((a) == 0)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"
