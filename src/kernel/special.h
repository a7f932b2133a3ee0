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

/* ---- digamma and its derivatives ---- */

/* Asymptotic series of digamma for x >= 10. */
static inline double special_digamma_far(double x)
{
    static const double c[] = {  /* B(2k) / 2k */
        0.08333333333333333, -0.008333333333333333, 0.003968253968253968,
        -0.004166666666666667, 0.007575757575757576, -0.021092796092796094,
        0.08333333333333333};
    double z = 1 / (x * x), sum = 0;
    for (int k = 6; k >= 0; k--) sum = sum * z + c[k];
    return log(x) - 0.5 / x - sum * z;
}
static inline double special_digamma(double x)
{
    if (x == 0) return copysign(INFINITY, -x);
    double mirrored = 0;
    if (x < 0) {
        double whole = trunc(x);
        if (x == whole || isinf(x)) return NAN;
        mirrored = -M_PI / tan(M_PI * (x - whole));
        x = 1 - x;
    }
    double sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    return sum + special_digamma_far(x) + mirrored;
}
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
static inline double special_polygamma(double n, double x)
{
    if (x != x) return x;
    if (n == 0) return special_digamma(x);
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
static inline double special_log_ndtr(double x)
{
    double t = x * (1 / ROOT_2);
    if (x == -INFINITY) return x;
    if (x < -1) return log(special_erfcx(-t) / 2) - t * t;
    return log1p(-erfc(t) / 2);
}

/* ---- modified Bessel functions ---- */

static inline double special_chebyshev(const double *c, int n, double t)
{
    double a = 0, b = 0;
    for (int k = n - 1; k > 0; k--) {
        double next = 2 * t * a - b + c[k];
        b = a;
        a = next;
    }
    return t * a - b + c[0];
}
static const double special_i0_near[] = {
    0x1.5a84e9035a22ap-2, -0x1.37febc057cd8dp-2, 0x1.5f7ac77ac88c0p-3,
    -0x1.84b70342d06eap-4, 0x1.93e8acea8a32dp-5, -0x1.84e9ef121b6f0p-6,
    0x1.59961f3dde3ddp-7, -0x1.1b65e201aa849p-8, 0x1.adc758a12100ep-10,
    -0x1.2e2fd1f15eb52p-11, 0x1.8b51b74107cabp-13, -0x1.e2b2659c41d5ap-15,
    0x1.13f58be9a2859p-16, -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20,
    -0x1.1ec638f227f8dp-22, 0x1.03b769d4d6435p-24, -0x1.beaf68c0b30abp-27,
    0x1.6d903a454cb34p-29, -0x1.1d4fe13ae9556p-31, 0x1.a98becc743c10p-34,
    -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39, -0x1.1164c62ee1af0p-41,
    0x1.59b464b262627p-44, -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50,
    -0x1.184eb721ebbb4p-52, 0x1.33362977da589p-55, -0x1.45cb72134d0efp-58,
    0x1.4ea63223aef14p-61,
};
static const double special_i0_far[] = {
    0x1.9be62aca809cbp-2, 0x1.b998ca2e59049p-9, 0x1.20fa378999e52p-14,
    0x1.8412bc101c586p-19, 0x1.b8007d9cd616ep-23, 0x1.8569280d6d56dp-26,
    0x1.d2c64a9225b87p-29, 0x1.0f9ccc0f46f75p-31, 0x1.a24feabe8004fp-37,
    -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
    0x1.94347fa268cecp-41, 0x1.b1c8c6b83c073p-42, 0x1.156ff0d5fc545p-46,
    -0x1.75d99cf68bb32p-45, -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48,
    0x1.fee7da3eafb1fp-50, -0x1.8aee7d908de38p-52, -0x1.4600babd21fe4p-52,
    0x1.3f3dd076041cdp-55, 0x1.9be1812d98421p-55, -0x1.646da66119130p-58,
    -0x1.0adb754ca8b19p-57, 0x1.24d48c789b293p-60, 0x1.604db61ad3debp-60,
};
static const double special_i1_near[] = {
    0x1.02a63724a7ffap-3, -0x1.694d10469192ep-3, 0x1.a46dad536f53cp-4,
    -0x1.b1bbc537c9ebcp-5, 0x1.951e3e7bb2349p-6, -0x1.5a29f7913a26ap-7,
    0x1.1065349d3a1b4p-8, -0x1.8cc620b3cd4a4p-10, 0x1.0c95db6c6df7dp-11,
    -0x1.533cad3d694fep-13, 0x1.911b542c70d0bp-15, -0x1.bd5f9b8debbcfp-17,
    0x1.d1c4ed511afc5p-19, -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23,
    -0x1.7dd3e24b8c3e8p-25, 0x1.4258e02395010p-27, -0x1.0361b28ea67e6p-29,
    0x1.8ea34b43fdf6cp-32, -0x1.2510397eb07dep-34, 0x1.9cee2b21d3154p-37,
    -0x1.173835fb70366p-39, 0x1.6af784779d955p-42, -0x1.c628e1c8f0b3bp-45,
    0x1.11d7f0615290cp-47, -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53,
    -0x1.857d0c38a0576p-56, 0x1.99f2a0c3c4014p-59, -0x1.a21dbdbdd0288p-62,
};
static const double special_i1_far[] = {
    0x1.8ea18b55b1514p-2, -0x1.3fda053fcdb4cp-7, -0x1.cfd7f804aa9a6p-14,
    -0x1.048df49ca0373p-18, -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26,
    -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31, -0x1.4dcf9d4504c0cp-36,
    0x1.1e1a1f1587865p-35, 0x1.f101f653c457bp-37, 0x1.1e7d3f6439fa3p-39,
    -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46,
    0x1.80d3c26b3281ep-45, 0x1.776e1762d31e8p-47, -0x1.12db5138afbc7p-48,
    -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52, 0x1.55915fceb588ap-52,
    -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55, 0x1.45b8aea87b950p-58,
    0x1.1556db352e8e6p-57, -0x1.12e7f21d2c006p-60, -0x1.6ea1785f94461p-60,
};
#define SPECIAL_SERIES(c, t) \
    special_chebyshev(c, (int)(sizeof(c) / sizeof(*(c))), t)

/* e^-|x| I0(x): a series in x up to 8, in 1/x beyond. */
static inline double special_i0e(double x)
{
    x = fabs(x);
    if (x <= 8) return SPECIAL_SERIES(special_i0_near, x / 4 - 1);
    return SPECIAL_SERIES(special_i0_far, 16 / x - 1) / sqrt(x);
}
static inline double special_i1e(double x)
{
    double a = fabs(x);
    if (a <= 8) return x * SPECIAL_SERIES(special_i1_near, a / 4 - 1);
    double y = SPECIAL_SERIES(special_i1_far, 16 / a - 1) / sqrt(a);
    return copysign(y, x);
}
/* The exponential in two halves: the product may be in range where it is
** not. */
static inline double special_i0(double x)
{
    double half = exp(fabs(x) / 2);
    return isinf(x) ? INFINITY : special_i0e(x) * half * half;
}
static inline double special_i1(double x)
{
    double half = exp(fabs(x) / 2);
    return isinf(x) ? x : special_i1e(x) * half * half;
}

#endif
