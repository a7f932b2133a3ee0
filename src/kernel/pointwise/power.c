/*
** Powers: the general pow, and the exponents that have a shorter formula
** (chosen by the operation when the exponent is a scalar): their rounding is
** that of the formula, as in PyTorch.
*/
#include "kernel/pointwise/complex/complex_wide.h"

#include "simd/math/math.h"

#define vpow(a, b) VPICK_(a, pow)(a, b)

static inline c128 c128_pow(c128 a, c128 b)
{
    if (b.re == 0 && b.im == 0) return (c128){1, 0};
    double _Complex r = complex_pow(CMPLX(a.re, a.im), CMPLX(b.re, b.im));
    return (c128){creal(r), cimag(r)};
}

#define NAME pow
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) vpow(a, b)
#include "kernel/each/each_float.inc"
#include "kernel/pointwise/loops/each_power_int.inc"
#define EXPR(a, b) c64s_pow(a, b)
#define EXPR128(a, b) c128_pow(a, b)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

/* The second input is the exponent that chose the loop; it is not read. */
#define NAME pow_2
#define ARITY 2
#define EXPR(a, b) ((a) * (a))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(a))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) vcmul(a, a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME pow_3
#define ARITY 2
#define EXPR(a, b) ((a) * (a) * (a))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(a) * (WIDE)(a))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) vcmul(vcmul(a, a), a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME pow_half
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) vsqrt(a)
#include "kernel/each/each_float.inc"
#define EXPR(a, b) c64s_sqrt(a)
#define EXPR128(a, b) c128_sqrt(a)
#include "kernel/each/each_complex_vec64.inc"
#include "kernel/each/table.inc"

#define NAME pow_minus_half
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) (1 / vsqrt(a))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

#define NAME pow_minus_1
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) (1 / (a))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) vcinverse(a)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define NAME pow_minus_2
#define ARITY 2
#define HEAVY 1
#define EXPR(a, b) (1 / ((a) * (a)))
#include "kernel/each/each_float.inc"
#include "kernel/each/table.inc"

/* An integer power of complex numbers, p0, by repeated squaring. complex64 goes
** through double, so that it rounds once. */
static inline f64v f64_whole(f64v a, int64_t n)
{
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    if (n == 0) return f64_cone();
    for (; !(left & 1); left >>= 1) a = f64_cmul(a, a);
    f64v r = a;
    while (left >>= 1) {
        a = f64_cmul(a, a);
        if (left & 1) r = f64_cmul(r, a);
    }
    return n < 0 ? f64_cinverse(r) : r;
}
static inline f32v f32_whole(f32v a, int64_t n)
{
    return f32_from_f64(f64_whole(f64_from_f32_low(a), n),
                        f64_whole(f64_from_f32_high(a), n));
}

#define NAME pow_whole
#define ARITY 2
#define EXPR(a, b) VPICK_(a, whole)(a, (int64_t)params->v[0].re)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"
