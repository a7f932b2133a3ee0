/*
** The regularised incomplete gamma functions P(a, x) (lower) and Q = 1 - P
** (upper) of one double: by the power series where x is small or below a, the
** continued fraction above, and Temme's uniform expansion where a is large and
** x near it (W. Gautschi, A computational procedure for incomplete gamma
** functions, 1979; DLMF 8.7.1, 8.9.2, 8.12). What is small is computed itself,
** not as 1 less the other.
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_GAMMA_H
#define LA_KERNEL_POINTWISE_SPECIAL_GAMMA_H

#include "base/libm/libm.h"
#include "kernel/pointwise/special/gamma_coef.h"
#include "kernel/pointwise/special/special.h"

#define EULER 0.57721566490153286061

/* log(x / a) - (x - a) / a, by the series of the inverse hyperbolic tangent
** where the difference would cancel. */
static double gamma_rest(double a, double x)
{
    double m = (x - a) / a, r = m / (2 + m), y = r * r, sum = 0;
    if (m > 0.5 || m < -0.4) return la_m_log(x / a) - m;
    for (int k = 33; k >= 3; k -= 2) sum = (sum + 1.0 / k) * y;
    return r * (2 * sum - m);
}

/* log(gamma(1 + a)) with all digits near a = 0. */
static double gamma_log_1p(double a)
{
    double sum = 0;
    if (fabs(a) > 0.5) return special_lgamma(1 + a);
    for (int k = ZETAS + 1; k >= 2; k--)
        sum = (sum + zeta_less_1[k - 2] / k) * -a;
    return a * (1 - EULER) - la_m_log1p(a) - a * sum;
}

/* x^a e^-x / gamma(a), for a >= 20 by Stirling's series: the logarithm of the
** whole is small where those of the parts are not. */
static double gamma_factor(double a, double x)
{
    if (a < 20 && x < 700)
        return la_m_pow(x, a) * la_m_exp(-x) / la_m_tgamma(a);
    if (a < 20) return la_m_exp(a * la_m_log(x) - x - special_lgamma(a));
    double z = 1 / (a * a);
    double stirling = ((z / 1260 - 1.0 / 360) * z + 1.0 / 12) / a
        - z * z * z / a / 1680;
    return sqrt(a / (2 * M_PI)) * la_m_exp(a * gamma_rest(a, x) - stirling);
}

/* P by its power series. */
static double gamma_series(double a, double x)
{
    double term = 1, sum = 1, n = a;
    for (int k = 0; k < 2000 && term > sum * 0x1p-54; k++) {
        n += 1;
        term *= x / n;
        sum += term;
    }
    return sum * gamma_factor(a, x) / a;
}

/* Q where x is small: 1 - x^a / gamma(1 + a), without a cancellation, less the
** rest of the series. */
static double gamma_upper_series(double a, double x)
{
    double term = 1, sum = 0, l = a * la_m_log(x), g = gamma_log_1p(a);
    for (int n = 1; n < 2000 && fabs(term) > fabs(sum) * 0x1p-54; n++) {
        term *= -x / n;
        sum += term / (a + n);
    }
    return -la_m_expm1(l - g) - la_m_exp(l - g) * a * sum;
}

/* Q by Legendre's continued fraction, evaluated as Lentz does. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d, change = 0;
    for (int k = 1; k < 2000 && fabs(change - 1) > 0x1p-53; k++) {
        double up = -k * (k - a);
        b += 2;
        d = 1 / (up * d + b);
        c = b + up / c;
        change = c * d;
        h *= change;
    }
    return h * gamma_factor(a, x);
}

/* P (sign -1) or Q (sign 1). */
static double gamma_temme(double a, double x, int sign)
{
    const double *d = temme;
    double half = -a * gamma_rest(a, x), sum = 0, power = 1;
    double eta = copysign(sqrt(2 * half / a), x - a);
    for (int k = 0; k < TEMME_ROWS; k++, power /= a) {
        double row = 0;
        for (int n = temme_length[k] - 1; n >= 0; n--) row = row * eta + d[n];
        sum += row * power;
        d += temme_length[k];
    }
    return 0.5 * la_m_erfc(sign * copysign(sqrt(half), eta))
        + sign * la_m_exp(-half) * sum / sqrt(2 * M_PI * a);
}

/* Is the value 0 or 1, or none? Those of a = 0 and of infinities are limits. */
static bool gamma_simple(double a, double x, bool upper, double *value)
{
    double lower = NAN;
    if (a != a || x != x || a < 0 || x < 0) lower = NAN;
    else if (a == 0) lower = x > 0 ? 1 : NAN;
    else if (x == 0) lower = 0;
    else if (isinf(a)) lower = isinf(x) ? NAN : 0;
    else if (isinf(x)) lower = 1;
    else return false;
    *value = upper ? 1 - lower : lower;
    return true;
}

static bool gamma_near(double a, double x)
{
    return a > 20 && fabs(x - a) < 0.3 * a;
}

/* P(a, x) */
static __attribute__((noinline)) double special_igamma(double a, double x)
{
    double y;
    if (gamma_simple(a, x, false, &y)) return y;
    if (gamma_near(a, x)) return gamma_temme(a, x, -1);
    if (x <= 1 || x <= a) return gamma_series(a, x);
    return x > 1.1 ? 1 - gamma_fraction(a, x) : 1 - gamma_upper_series(a, x);
}

/* Q(a, x) */
static __attribute__((noinline)) double special_igammac(double a, double x)
{
    double y;
    if (gamma_simple(a, x, true, &y)) return y;
    if (gamma_near(a, x)) return gamma_temme(a, x, 1);
    if (x > 1.1)
        return x < a ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
    bool low = x <= 0.5 ? -0.4 / la_m_log(x) < a : x * 1.1 < a;
    return low ? 1 - gamma_series(a, x) : gamma_upper_series(a, x);
}

#endif
