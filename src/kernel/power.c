/* Powers: the general pow, and the exponents that have a shorter way (chosen
** by the operation when the exponent is a number). */
#include "kernel/complex_math.h"

#include "simd/math.h"

#define vpow(a, b) VPICK_(a, pow)(a, b)

/* By squaring, modulo the width. Negative exponents leave 1 or -1 for those
** bases, else 0. */
static inline uint64_t power_u64(uint64_t base, uint64_t n)
{
    uint64_t r = 1;
    for (; n; n >>= 1, base *= base)
        if (n & 1) r *= base;
    return r;
}
static inline uint64_t power_i64(int64_t base, int64_t n)
{
    if (n >= 0) return power_u64((uint64_t)base, (uint64_t)n);
    if (base == 1) return 1;
    if (base == -1) return n & 1 ? UINT64_MAX : 1;
    return 0;
}

static inline c64 c64_pow(c64 a, c64 b)
{
    if (b.re == 0 && b.im == 0) return (c64){1, 0};
    double _Complex x = CMPLX(a.re, a.im), y = CMPLX(b.re, b.im);
    double _Complex r = cpow(x, y);
    return (c64){(float)creal(r), (float)cimag(r)};
}
static inline c128 c128_pow(c128 a, c128 b)
{
    if (b.re == 0 && b.im == 0) return (c128){1, 0};
    double _Complex r = cpow(CMPLX(a.re, a.im), CMPLX(b.re, b.im));
    return (c128){creal(r), cimag(r)};
}

#define NAME pow
#define ARITY 2
#define EXPR(a, b) vpow(a, b)
#include "kernel/each_float.inc"
#define EXPR(a, b) (INT)(IS_SIGNED ? power_i64((int64_t)(a), (int64_t)(b)) \
    : power_u64((uint64_t)(a), (uint64_t)(b)))
#include "kernel/each_int.inc"
#define EXPR(a, b) CXF(pow)(a, b)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

/* The second input is the exponent that chose the loop; it is not read. */
#define NAME pow_2
#define ARITY 2
#define EXPR(a, b) ((a) * (a))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(a))
#include "kernel/each_bits.inc"
#define EXPR(a, b) vcmul(a, a)
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

#define NAME pow_3
#define ARITY 2
#define EXPR(a, b) ((a) * (a) * (a))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(a) * (WIDE)(a))
#include "kernel/each_bits.inc"
#define EXPR(a, b) vcmul(vcmul(a, a), a)
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

#define NAME pow_half
#define ARITY 2
#define EXPR(a, b) vsqrt(a)
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME pow_minus_half
#define ARITY 2
#define EXPR(a, b) (1 / vsqrt(a))
#include "kernel/each_float.inc"
#include "kernel/table.inc"

#define NAME pow_minus_1
#define ARITY 2
#define EXPR(a, b) (1 / (a))
#include "kernel/each_float.inc"
#define EXPR(a, b) CXF(div)((CX){1, 0}, a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME pow_minus_2
#define ARITY 2
#define EXPR(a, b) (1 / ((a) * (a)))
#include "kernel/each_float.inc"
#include "kernel/table.inc"
