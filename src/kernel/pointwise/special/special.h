/*
** Special functions of one double, for which there is no vector method
** (polygamma, mvlgamma, zeta): the float dtypes share them and round once.
** Formulas are the textbook's (Abramowitz and Stegun, chapter 6).
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_SPECIAL_H
#define LA_KERNEL_POINTWISE_SPECIAL_SPECIAL_H

#include <math.h>
#include <stdbool.h>

#include "base/libm/libm.h"

#define ROOT_2 1.41421356237309504880
#define HALF_LOG_2PI 0.91893853320467274178

/* lgamma without the global sign of C's. */
static inline double special_lgamma(double x)
{
    int sign;
    return la_m_lgamma_sign(x, &sign);
}

/* ---- the derivatives of digamma ---- */

/* The sum of (q + k)^-s for s > 1, q > 0 by Euler and Maclaurin. Where s is
** large, ten terms stand before the series, however large q is. */
static inline double special_zeta_sum(double s, double q)
{
    static const double b[] = {  /* B(2k) / (2k)! */
        0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05,
        -8.267195767195767e-07, 2.08767569878681e-08, -5.284190138687493e-10,
        1.3382536530684679e-11, -3.3896802963225827e-13};
    double sum = 0;
    for (int k = s > 8 ? 10 : 0; q < 10 || k > 0; q += 1, k--) {
        double term = la_m_pow(q, -s);
        sum += term;
        if (term <= sum * 0x1p-60) return sum;
    }
    double p = la_m_pow(q, -s), rise = s;
    sum += p * q / (s - 1) + p / 2;
    p /= q;
    for (int k = 0; k < 8; k++) {
        sum += b[k] * rise * p;
        p /= q * q;
        rise *= (s + 2 * k + 1) * (s + 2 * k + 2);
    }
    return sum;
}
/* Hurwitz zeta(s, q): infinite at s = 1 and at the poles q = 0, -1, ...; below
** 0 only for whole s, where the terms below 0 are a sum from the other side. */
static inline double special_zeta(double s, double q)
{
    if (s == 1) return INFINITY;
    if (!(s > 1) || q != q) return NAN;
    if (q == INFINITY) return 0;
    if (q > 0) return isinf(s) ? (q < 1 ? INFINITY : q == 1)
                               : special_zeta_sum(s, q);
    if (q == floor(q)) return INFINITY;
    if (s != floor(s) || isinf(s)) return NAN;
    double part = q - floor(q);
    double below = special_zeta_sum(s, 1 - part) - special_zeta_sum(s, 1 - q);
    return special_zeta_sum(s, part) + (fmod(s, 2) != 0 ? -below : below);
}
/* Reflected below one half: the series would need a term per unit. */
static inline double special_trigamma(double x)
{
    if (!(x < 0.5)) return special_zeta(2, x);
    double s = la_m_sin(M_PI * (x - trunc(x)));
    if (isinf(x)) return NAN;
    return M_PI * M_PI / (s * s) - special_zeta(2, 1 - x);
}
/* Polygamma of n from 1; order 0 is digamma itself. */
static inline double special_polygamma(double n, double x)
{
    if (x != x || x == -INFINITY) return NAN;
    if (n == 1) return special_trigamma(x);
    double scale = la_m_exp(special_lgamma(n + 1));
    return (fmod(n, 2) != 0 ? 1 : -1) * scale * special_zeta(n + 1, x);
}
/* log of the multivariate gamma function of dimension p. */
static inline double special_mvlgamma(double x, double p)
{
    double sum = p * (p - 1) / 4 * 1.14472988584940017414;  /* log(pi) */
    for (int k = 0; k < (int)p; k++) sum += special_lgamma(x - k * 0.5);
    return sum;
}

#endif
