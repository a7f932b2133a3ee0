/*
** What the files of libm share: numbers in two parts (the sum of 'hi' and of a
** 'lo' below its last digit) by the exact sums and products of Knuth and
** Dekker, and the parts of functions that others are made of.
**
** These are exact only where the compiler keeps products and sums apart
** (-ffp-contract=off, the build's flag).
**
** Polynomials in these files are near-minimax (Chebyshev interpolation in 320
** bits, rounded term by term), from the constant term up; the figure next to
** each is the largest error of what it stands for.
*/
#ifndef LA_BASE_LIBM_LIBM_PARTS_H
#define LA_BASE_LIBM_LIBM_PARTS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/libm/libm.h"

typedef struct la_pair { double hi, lo; } la_pair;

#define COUNT(c) ((int)(sizeof(c) / sizeof((c)[0])))

static inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static inline double from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}
/* 2^k of normal numbers, -1022 to 1023 */
static inline double power_of_2(int k)
{
    return from_bits((uint64_t)(k + 1023) << 52);
}
/* Nearest integers of |x| < 2^51, ties to even. */
static inline double nearest(double x)
{
    return x + 0x1.8p52 - 0x1.8p52;
}
/* x * 2^k for any k; rounds once more where the result is subnormal. */
static inline double scaled(double x, int k)
{
    for (; k > 1000; k -= 1000) x *= 0x1p1000;
    for (; k < -900; k += 900) x *= 0x1p-900;
    return x * power_of_2(k);
}

/* ---- pairs ---- */

/* The rounded sum and what it lost, exactly (Knuth). */
static inline la_pair sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (la_pair){s, (a - (s - t)) + (b - t)};
}
/* |a| >= |b| or a = 0 */
static inline la_pair sum_down(double a, double b)
{
    double s = a + b;
    return (la_pair){s, b - (s - a)};
}
/* The upper 26 bits. */
static inline double upper(double x)
{
    return from_bits(bits_of(x) & ~UINT64_C(0x7ffffff));
}
/* The rounded product and what it lost (Dekker), but for 2^-106 of it, as the
** lower parts have 27 bits. */
static inline la_pair product(double a, double b)
{
    double p = a * b, ah = upper(a), bh = upper(b), al = a - ah, bl = b - bh;
    return (la_pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
/* Errors of the operations below: a few times 2^-105 of the result, 2^-105 of
** the larger operand where a sum cancels. */
static inline la_pair pair_add(la_pair a, la_pair b)
{
    la_pair s = sum(a.hi, b.hi);
    return sum_down(s.hi, s.lo + (a.lo + b.lo));
}
static inline la_pair pair_mul(la_pair a, la_pair b)
{
    la_pair p = product(a.hi, b.hi);
    return sum_down(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
static inline la_pair pair_neg(la_pair a) { return (la_pair){-a.hi, -a.lo}; }
/* The quotient of the upper parts, and that of what it leaves over. */
static inline la_pair pair_div(la_pair a, la_pair b)
{
    double q = a.hi / b.hi;
    la_pair p = product(q, b.hi);
    double rest = (a.hi - p.hi) - p.lo + a.lo - q * b.lo;
    return sum_down(q, rest / b.hi);
}
/* Square root by the derivative of the square. */
static inline la_pair pair_sqrt(la_pair a)
{
    double s = sqrt(a.hi);
    if (s == 0) return (la_pair){s, 0};
    la_pair p = product(s, s);
    return sum_down(s, ((a.hi - p.hi) - p.lo + a.lo) / (s + s));
}
static inline la_pair pair_scale(la_pair a, double power)
{
    return (la_pair){a.hi * power, a.lo * power};
}

/* c[0] + c[1] x + ..., by Horner's rule */
static inline double polynomial(double x, const double *c, int n)
{
    double y = c[n - 1];
    for (int k = n - 2; k >= 0; k--) y = y * x + c[k];
    return y;
}
#define POLY(x, c) polynomial(x, c, COUNT(c))

static const la_pair la_pi = {0x1.921fb54442d18p1, 0x1.1a62633145c07p-53};
static const la_pair la_half_pi = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};

/* ---- parts of functions ---- */

/* e^x = result * 2^*k, |x| < 800, to 2^-60. */
la_pair la_exp_pair(la_pair x, int *k);
/* log x, x.hi > 0 and normal, to 2^-66 of itself. */
la_pair la_log_pair(la_pair x);
/* sin(pi x); x finite */
la_pair la_sinpi_pair(double x);

#endif
