/* Sign and magnitude: neg, conj, abs, sign, sgn, signbit; square, reciprocal,
** degrees and radians. */
#include "kernel/pointwise/complex/complex_loops.h"
#include "kernel/pointwise/complex/modulus.h"
#include "simd/math/math.h"

#define NAME neg
#define ARITY 1
#define EXPR(a) vneg(a)
#define EXPR16(a, inf) ((a) ^ 0x8000)
#include "kernel/each/each_float.inc"
#define EXPR(a) (0 - (WIDE)(a))
#include "kernel/each/each_bits.inc"
#define EXPR(a) vneg(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME conj_physical
#define ARITY 1
#define EXPR(a) vconj(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME abs
#define ARITY 1
#define EXPR(a) vabs(a)
#define EXPR16(a, inf) ((a) & 0x7fff)
#include "kernel/each/each_float.inc"
#define EXPR(a) (NEGATIVE(a) ? 0 - (WIDE)(a) : (WIDE)(a))
#include "kernel/each/each_int.inc"
#define EXPR(a) (a)
#include "kernel/each/each_bool.inc"
#define EXPR(a, b) VPICK_(a, modulus)(a, b)
#include "kernel/each/each_complex_to_real.inc"
#include "kernel/each/table.inc"

/* 1, 0 or -1; 0 for NaN. */
#define NAME sign
#define ARITY 1
#define EXPR(a) vselect((a) > 0, vset(a, 1), \
    vselect((a) < 0, vset(a, -1), vset(a, 0)))
#include "kernel/each/each_float.inc"
#define EXPR(a) (((a) > 0) - NEGATIVE(a))
#include "kernel/each/each_int.inc"
#define EXPR(a) (a)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

/* Both parts over the modulus; of a zero 0, whatever its signs. */
#define IS_ZERO(a) (((a) == 0) & (vcswap(a) == 0))
#define DIRECTION(a) vselect(IS_ZERO(a), vset(a, 0), \
    (a) / vselect(IS_ZERO(a), vset(a, 1), \
        VPICK_(a, hypot)(vcfirst(a), vcsecond(a))))

#define NAME sgn
#define ARITY 1
#define EXPR(a) vselect((a) > 0, vset(a, 1), \
    vselect((a) < 0, vset(a, -1), vset(a, 0)))
#include "kernel/each/each_float.inc"
#define EXPR(a) (((a) > 0) - NEGATIVE(a))
#include "kernel/each/each_int.inc"
#define EXPR(a) (a)
#include "kernel/each/each_bool.inc"
#define EXPR(a) DIRECTION(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME signbit
#define ARITY 1
#define RESULT uint8_t
#define EXPR_MASK(a) ((i64v)(a) < 0)
/* Sign by copysign for doubles, whose signbit would be no vector. */
#define EXPR(a) (sizeof(REAL) == 4 ? __builtin_signbit((float)(a)) != 0 \
    : __builtin_copysign(1, a) < 0)
#define EXPR16(a, inf) ((a) >> 15)
#include "kernel/each/each_real.inc"
#undef EXPR_MASK
#define EXPR(a) NEGATIVE(a)
#include "kernel/each/each_int.inc"
#define EXPR(a) ((a) & 0)
#include "kernel/each/each_bool.inc"
#include "kernel/each/table.inc"

#define NAME square
#define ARITY 1
#define EXPR(a) ((a) * (a))
#include "kernel/each/each_float.inc"
#define EXPR(a) ((WIDE)(a) * (WIDE)(a))
#include "kernel/each/each_bits.inc"
#define EXPR(a) vcmul(a, a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME reciprocal
#define ARITY 1
#define HEAVY 1
#define EXPR(a) (1 / (a))
#include "kernel/each/each_float.inc"
#define EXPR(a) vcinverse(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME deg2rad
#define ARITY 1
#define EXPR(a) ((a) * vset(a, 0.017453292519943295769))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME rad2deg
#define ARITY 1
#define EXPR(a) ((a) * vset(a, 57.295779513082320877))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"
