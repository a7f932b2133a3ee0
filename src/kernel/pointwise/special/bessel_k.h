/*
** Bessel functions of the second kind of one double. Y by the C library. K for
** x <= 1 by the series at 0 (Abramowitz and Stegun 9.6.13, 9.6.11), else by the
** trapezoidal rule on its integral, the one of e^-(x (cosh t - 1)) cosh(n t)
** from 0 on: the integrand is analytic and falls off doubly exponentially, so
** that a few dozen points give all digits, and nothing cancels.
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_BESSEL_K_H
#define LA_KERNEL_POINTWISE_SPECIAL_BESSEL_K_H

#include <math.h>
#include <stdbool.h>

#include "base/libm/libm.h"

static double special_bessel_y(int n, double x)
{
    if (x < 0) return NAN;
    if (x == 0) return -INFINITY;
    return n ? y1(x) : y0(x);
}

/* K(0, x) or K(1, x), 0 < x <= 1, with l = log(x/2) + gamma. Of K0 each term is
** z^k/k!^2 (1 + ... + 1/k - l); of K1, which is 1/x + x/2 times the sum,
** z^k/(k! (k+1)!) (l - the mean of two such sums). */
static double bessel_k_series(double x, bool one)
{
    double z = x * x / 4, l = la_m_log(x / 2) + 0.57721566490153286061;
    double term = 1, harmonic = 0, sum = 0;
    for (int k = 0; k < 14; k++) {
        double next = harmonic + 1.0 / (k + 1);
        sum += term * (one ? l - (harmonic + next) / 2 : harmonic - l);
        harmonic = next;
        term *= z / ((k + 1.0) * (k + 1 + one));
    }
    return one ? 1 / x + x / 2 * sum : sum;
}

/* e^x K(n, x) for x > 1. The step is what leaves an error of 2^-55. */
static double bessel_k_integral(double x, bool one)
{
    double h = fmin(0.2, 0.6 / sqrt(x)), sum = 0.5;
    for (int k = 1; k < 100; k++) {
        double s = la_m_sinh(h * k / 2), fall = 2 * x * s * s;
        if (fall > 42) break;
        sum += la_m_exp(-fall) * (one ? 1 + 2 * s * s : 1);
    }
    return sum * h;
}

/* K0 or K1, times e^x when scaled. */
static __attribute__((noinline))
double special_bessel_k(double x, bool one, bool scaled)
{
    if (x != x || x < 0) return NAN;
    if (x == 0) return INFINITY;
    if (isinf(x)) return 0;
    if (x <= 1) return bessel_k_series(x, one) * (scaled ? la_m_exp(x) : 1);
    return bessel_k_integral(x, one) * (scaled ? 1 : la_m_exp(-x));
}

/* The power of two in x = m 2^e, 1/2 <= |m| < 1; 0 where there is none. */
static int special_exponent(double x)
{
    int e = 0;
    if (isfinite(x)) frexp(x, &e);
    return e;
}

#endif
