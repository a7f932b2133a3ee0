/*
** Special functions of one double, for which there is no vector method: the
** float dtypes share them and round once. Formulas are the textbook's
** (Abramowitz and Stegun, chapters 6, 7 and 9); Bessel coefficients are
** Chebyshev series computed to 40 digits.
*/
#ifndef LA_KERNEL_SPECIAL_H
#define LA_KERNEL_SPECIAL_H

#include <math.h>
#include <stdbool.h>

#define ROOT_2 1.41421356237309504880
#define ROOT_PI 1.77245385090551602730
#define HALF_LOG_2PI 0.91893853320467274178

/* lgamma without the global sign of C's. */
static inline double special_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* ---- the derivatives of digamma ---- */

/* Hurwitz zeta(s, q) for whole s >= 2 by Euler and Maclaurin; the poles at
** q = 0, -1, ... are infinite. */
static inline double special_zeta(int s, double q)
{
    static const double b[] = {  /* B(2k) / (2k)! */
        0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05,
        -8.267195767195767e-07, 2.08767569878681e-08, -5.284190138687493e-10,
        1.3382536530684679e-11, -3.3896802963225827e-13};
    if (isinf(q)) return q > 0 ? 0 : NAN;
    if (q <= 0 && q == floor(q)) return INFINITY;
    if (q < -1e6) return NAN;    /* hopeless: as many terms */
    double sum = 0;
    for (; q < 10; q += 1) sum += pow(q, -s);
    double p = pow(q, -s), rise = s;
    sum += p * q / (s - 1) + p / 2;
    p /= q;
    for (int k = 0; k < 8; k++) {
        sum += b[k] * rise * p;
        p /= q * q;
        rise *= (double)(s + 2 * k + 1) * (s + 2 * k + 2);
    }
    return sum;
}
/* Reflected below one half: the series would need a term per unit. */
static inline double special_trigamma(double x)
{
    if (!(x < 0.5)) return special_zeta(2, x);
    double s = sin(M_PI * (x - trunc(x)));
    if (isinf(x)) return NAN;
    return M_PI * M_PI / (s * s) - special_zeta(2, 1 - x);
}
/* For n from 1; order 0 is digamma itself. */
static inline double special_polygamma(double n, double x)
{
    if (x != x) return x;
    if (n == 1) return special_trigamma(x);
    double scale = exp(special_lgamma(n + 1));
    return (fmod(n, 2) != 0 ? 1 : -1) * scale * special_zeta((int)n + 1, x);
}
/* log of the multivariate gamma function of dimension p. */
static inline double special_mvlgamma(double x, double p)
{
    double sum = p * (p - 1) / 4 * 1.14472988584940017414;  /* log(pi) */
    for (int k = 0; k < (int)p; k++) sum += special_lgamma(x - k * 0.5);
    return sum;
}

/* ---- the error function's relatives ---- */

/* e^(x^2) * erfc(x) for x >= 0 */
static inline double special_erfcx(double x)
{
    if (x < 5) return exp(x * x) * erfc(x);
    /* continued fraction, from the far end */
    double f = x;
    for (int k = 40; k > 0; k--) f = x + k * 0.5 / f;
    return 1 / (f * ROOT_PI);
}
/* A start for the inverse: Winitzki's formula, log1m = log(1 - y^2). */
static inline double special_erfinv_guess(double log1m)
{
    double t = 2 / (M_PI * 0.147) + log1m * 0.5;
    return sqrt(sqrt(t * t - log1m / 0.147) - t);
}
/* x with erfc(x) = q for 0 < q <= 1/2: Newton on log(erfc), which is nearly a
** parabola. */
static inline double special_erfcinv(double q)
{
    double target = log(q), x = special_erfinv_guess(log(q * (2 - q)));
    for (int k = 0; k < 4; k++) {
        double scaled = special_erfcx(x);
        double gap = log(scaled) - x * x - target;
        x += gap * scaled * (ROOT_PI / 2);
    }
    return x;
}
/* Halley's steps from the guess; near 1 through erfc, which keeps digits. */
static inline double special_erfinv(double y)
{
    double a = fabs(y);
    if (!(a < 1)) return a == 1 ? copysign(INFINITY, y) : NAN;
    if (a > 0.5) return copysign(special_erfcinv(1 - a), y);
    double x = a < 0.01 ? a * (ROOT_PI / 2) * (1 + M_PI / 12 * a * a)
        : special_erfinv_guess(log1p(-a * a));
    for (int k = 0; k < 2; k++) {
        double step = (erf(x) - a) * exp(x * x) * (ROOT_PI / 2);
        x -= step / (1 + x * step);
    }
    return copysign(x, y);
}
/* The quantile of the normal distribution. */
static inline double special_ndtri(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p < 0.25) return -ROOT_2 * special_erfcinv(2 * p);
    if (p > 0.75) return ROOT_2 * special_erfcinv(2 * (1 - p));
    return ROOT_2 * special_erfinv(2 * p - 1);
}

#endif
