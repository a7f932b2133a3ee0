/*
** Functions of complex numbers: products of those of the parts where these are
** exact enough (exp, sinh, cosh), else the formulas of W. Kahan, "Branch cuts
** for complex elementary functions" (1987), with logarithms of sizes in two
** parts. The others are rotations: sin z = -i sinh(iz) and its kin.
*/
#include "base/libm/libm_complex.h"

#include "base/libm/libm_parts.h"

typedef la_m_complex num;

static const double LN2 = 0x1.62e42fefa39efp-1;
static const double PI = 0x1.921fb54442d18p1;
static const num NOTHING = {NAN, NAN};

static bool is_finite(double x) { return fabs(x) < INFINITY; }
static num i_times(num z) { return (num){-z.im, z.re}; }
static num by_i(num z) { return (num){z.im, -z.re}; }

/* ---- exponentials ---- */

/* e^x * f / 2 without an overflow on the way, x > 20 */
static double half_exp_times(double x, double f)
{
    double h = la_m_exp(x * 0.5);
    return h * (h * (0.5 * f));
}

/* Infinities and NaN as in C11 G.6.3.1: a real argument stays real. */
num la_m_cexp(num z)
{
    double x = z.re, y = z.im;
    if (y == 0) return (num){la_m_exp(x), y};
    if (!is_finite(y))
        return x == -INFINITY ? (num){0, 0}
             : x == INFINITY ? (num){x, NAN} : NOTHING;
    double c = la_m_cos(y), s = la_m_sin(y);
    if (x > 700 && is_finite(x))
        return (num){half_exp_times(x, 2 * c), half_exp_times(x, 2 * s)};
    double e = la_m_exp(x);
    return (num){e * c, e * s};
}

num la_m_ccosh(num z)
{
    double x = z.re, y = z.im;
    if (y == 0) return (num){la_m_cosh(x), copysign(0, x) * y};
    if (!is_finite(y))
        return x == 0 ? (num){NAN, 0}
             : isinf(x) ? (num){INFINITY, NAN} : NOTHING;
    double c = la_m_cos(y), s = la_m_sin(y);
    if (fabs(x) > 22 && is_finite(x))
        return (num){half_exp_times(fabs(x), c),
                     half_exp_times(fabs(x), copysign(1, x) * s)};
    if (x == 0) return (num){c, x * s};
    return (num){la_m_cosh(x) * c, la_m_sinh(x) * s};
}

num la_m_csinh(num z)
{
    double x = z.re, y = z.im;
    if (y == 0) return (num){la_m_sinh(x), y};
    if (!is_finite(y))
        return x == 0 || isinf(x) ? (num){x, NAN} : NOTHING;
    double c = la_m_cos(y), s = la_m_sin(y);
    if (fabs(x) > 22 && is_finite(x))
        return (num){half_exp_times(fabs(x), copysign(1, x) * c),
                     half_exp_times(fabs(x), s)};
    return (num){la_m_sinh(x) * c, la_m_cosh(x) * s};
}

num la_m_ctanh(num z)
{
    double x = z.re, y = z.im;
    if (isinf(x))
        return (num){copysign(1, x),
                     copysign(0, is_finite(y) ? la_m_sin(y) * la_m_cos(y) : 1)};
    if (y == 0) return (num){la_m_tanh(x), y};
    if (!is_finite(y)) return x == 0 ? (num){x, NAN} : NOTHING;
    if (fabs(x) > 22) {
        double e = la_m_exp(-2 * fabs(x));
        return (num){copysign(1, x), 4 * la_m_sin(y) * la_m_cos(y) * e};
    }
    double s = la_m_sinh(x), t = la_m_tan(y), b = 1 + t * t;
    double below = 1 + b * s * s;
    return (num){b * s * sqrt(1 + s * s) / below, t / below};
}

num la_m_csin(num z) { return by_i(la_m_csinh(i_times(z))); }
num la_m_ccos(num z) { return la_m_ccosh(i_times(z)); }
num la_m_ctan(num z) { return by_i(la_m_ctanh(i_times(z))); }

/* ---- logarithms and roots ---- */

/* log |z|: of the squares' sum in two parts, which is near 1 where the result
** is near 0. */
static double log_size(double x, double y)
{
    double a = fabs(x), b = fabs(y), high = a > b ? a : b;
    if (isinf(a) || isinf(b)) return INFINITY;
    if (a != a || b != b) return NAN;
    if (high == 0) return -INFINITY;
    int k = 0;
    if (high < 0x1p-1000) {
        a *= 0x1p600;
        b *= 0x1p600;
        high *= 0x1p600;
        k = -600;
    }
    int e = (int)(bits_of(high) >> 52) - 1023;
    if (e < -1 || e > 0) {
        a = scaled(a, -e);
        b = scaled(b, -e);
        k += e;
    }
    la_pair s = pair_add(product(a, a), product(b, b));
    la_pair half = pair_scale(la_log_pair(s), 0.5);
    la_pair units = product(k, LN2);
    units.lo += k * 0x1.abc9e3b39803fp-56;
    return pair_add(units, half).hi;
}

/* C11 G.6.3.2 */
num la_m_clog(num z)
{
    return (num){log_size(z.re, z.im), la_m_atan2(z.im, z.re)};
}

/* The larger part by the half angle's formula, which does not cancel, the other
** from the product of both. */
num la_m_csqrt(num z)
{
    double x = z.re, y = z.im, scale = 1;
    if (x == 0 && y == 0) return (num){0, y};
    if (isinf(y)) return (num){INFINITY, y};
    if (x != x) return NOTHING;
    if (x == INFINITY) return (num){x, y != y ? y : copysign(0, y)};
    if (x == -INFINITY)
        return (num){y != y ? y : 0, copysign(INFINITY, y)};
    if (y != y) return NOTHING;
    double high = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    if (high > 0x1p1020 || high < 0x1p-960) {
        bool large = high > 1;
        x *= large ? 0x1p-4 : 0x1p120;
        y *= large ? 0x1p-4 : 0x1p120;
        scale = large ? 4 : 0x1p-60;
    }
    double t = sqrt((fabs(x) + la_m_hypot(x, y)) * 0.5);
    double other = fabs(y) / (t + t);
    if (x >= 0) return (num){t * scale, copysign(other * scale, y)};
    return (num){other * scale, copysign(t * scale, y)};
}

num la_m_cpow(num a, num b)
{
    if (a.re == 0 && a.im == 0 && b.re > 0) return (num){0, 0};
    num l = la_m_clog(a);
    return la_m_cexp((num){b.re * l.re - b.im * l.im,
                           b.re * l.im + b.im * l.re});
}

/* ---- inverses ---- */

static bool is_far(num z)
{
    return fabs(z.re) > 0x1p500 || fabs(z.im) > 0x1p500;
}
/* The roots of 1 - z and 1 + z. */
static num root_below(num z) { return la_m_csqrt((num){1 - z.re, -z.im}); }
static num root_above(num z) { return la_m_csqrt((num){1 + z.re, z.im}); }
/* The imaginary part of the product of a's conjugate and b. */
static double cross(num a, num b) { return a.re * b.im - a.im * b.re; }

static num asinh_of_end(double x, double y)
{
    if (isinf(x))
        return (num){x, y != y ? y : copysign(isinf(y) ? PI / 4 : 0, y)};
    if (x != x) {
        if (y == 0) return (num){x, y};
        return isinf(y) ? (num){y, NAN} : NOTHING;
    }
    return isinf(y) ? (num){copysign(INFINITY, x), copysign(PI / 2, y)}
                    : NOTHING;
}

num la_m_casinh(num z)
{
    double x = z.re, y = z.im;
    if (!is_finite(x) || !is_finite(y)) return asinh_of_end(x, y);
    if (is_far(z))
        return (num){copysign(log_size(x, y) + LN2, x),
                     la_m_atan2(y, fabs(x))};
    /* -i asin(iz) */
    num w = {-y, x}, a = root_below(w), b = root_above(w);
    double re = la_m_atan2(w.re, a.re * b.re - a.im * b.im);
    double im = la_m_asinh(cross(a, b));
    return (num){copysign(im, x), copysign(re, y)};
}

num la_m_casin(num z) { return by_i(la_m_casinh(i_times(z))); }

static num acos_of_end(double x, double y)
{
    double down = -copysign(INFINITY, y);
    if (isinf(y)) {
        if (x != x) return (num){x, -y};
        return (num){x == INFINITY ? PI / 4 : x == -INFINITY ? 0.75 * PI
                     : PI / 2, -y};
    }
    if (y != y) {
        if (isinf(x)) return (num){y, INFINITY};
        return x == 0 ? (num){PI / 2, y} : NOTHING;
    }
    return isinf(x) ? (num){x > 0 ? 0 : PI, down} : NOTHING;
}

num la_m_cacos(num z)
{
    double x = z.re, y = z.im;
    if (!is_finite(x) || !is_finite(y)) return acos_of_end(x, y);
    if (is_far(z))
        return (num){la_m_atan2(fabs(y), x),
                     -copysign(log_size(x, y) + LN2, y)};
    num a = root_below(z), b = root_above(z);
    return (num){2 * la_m_atan2(a.re, b.re),
                 -copysign(la_m_asinh(cross(b, a)), y)};
}

num la_m_cacosh(num z)
{
    num w = la_m_cacos(z);
    return (num){fabs(w.im), copysign(w.re, z.im)};
}

static num atanh_of_end(double x, double y)
{
    if (isinf(y)) return (num){copysign(0, x), copysign(PI / 2, y)};
    if (isinf(x))
        return (num){copysign(0, x), y != y ? y : copysign(PI / 2, y)};
    return x == 0 ? (num){x, NAN} : NOTHING;
}

/* log |(1 + z) / (1 - z)| / 2 by log1p, so that small z keep their digits, and
** half the angle of 1 - |z|^2 + 2iy, a difference in two parts. */
num la_m_catanh(num z)
{
    double x = z.re, y = z.im, a = fabs(x);
    if (!is_finite(x) || !is_finite(y)) return atanh_of_end(x, y);
    if (is_far(z)) {
        double h = la_m_hypot(x, y);
        return (num){x / h / h, copysign(PI / 2, y)};
    }
    if (a == 1 && y == 0) return (num){copysign(INFINITY, x), y};
    if (x == 0) return (num){x, la_m_atan(y)};
    double re = a;
    if (a == 1 && fabs(y) < 0x1p-60) re = (LN2 - la_m_log(fabs(y))) * 0.5;
    else if (a >= 0x1p-60 || fabs(y) >= 0x1p-60)
        re = la_m_log1p(4 * a / ((1 - a) * (1 - a) + y * y)) * 0.25;
    la_pair d = pair_mul(sum(1, -a), sum(1, a));
    d = pair_add(d, pair_neg(product(y, y)));
    return (num){copysign(re, x), la_m_atan2(2 * y, d.hi) * 0.5};
}

num la_m_catan(num z) { return by_i(la_m_catanh(i_times(z))); }
