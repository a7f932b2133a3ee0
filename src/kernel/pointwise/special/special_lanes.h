/*
** Digamma, the logarithm of the normal distribution and its quantile, of
** vectors; float32 goes through double. Formulas are Abramowitz and Stegun's
** 6.3.5 (the recurrence), 6.3.7 (reflection), 6.3.18 (the asymptotic series)
** and 26.2.12.
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_SPECIAL_LANES_H
#define LA_KERNEL_POINTWISE_SPECIAL_SPECIAL_LANES_H

#include "kernel/pointwise/special/special.h"
#include "simd/math/math.h"
#include "simd/math/math_erfcx.h"

/* The polynomial of n coefficients, the highest power's first. */
static inline f64v special_poly(const double *c, int n, f64v z)
{
    f64v sum = f64_set1(c[0]);
    for (int k = 1; k < n; k++) sum = f64_fma(sum, z, f64_set1(c[k]));
    return sum;
}

/* The asymptotic series from 10 on. Below, the recurrence's sum of 1/(x + i)
** is the derivative of the product of all x + i over the product: one division
** for ten. Below 0 by reflection. */
static inline f64v f64_digamma(f64v x)
{
    static const double c[] = {  /* B(2k) / 2k */
        0.08333333333333333, -0.021092796092796094, 0.007575757575757576,
        -0.004166666666666667, 0.003968253968253968, -0.008333333333333333,
        0.08333333333333333};
    i64v below = x < 0;
    f64v t = f64_select(below, 1 - x, x);
    f64v product = f64_set1(1), slope = f64_zero();
    for (int k = 0; k < 10; k++) {
        i64v near = t < 10;
        slope = f64_select(near, f64_fma(slope, t, product), slope);
        product = f64_select(near, product * t, product);
        t = f64_select(near, t + 1, t);
    }
    f64v z = 1 / (t * t);
    f64v y = f64_log(t) - 0.5 / t - special_poly(c, 7, z) * z - slope / product;
    if (i64_any(below)) {
        f64v part = x - f64_round(x);
        f64v reflected = y - M_PI / f64_tan(part * M_PI);
        /* NaN at a pole, whose two sides have opposite infinities. */
        reflected = f64_select(part == 0, f64_set1(NAN), reflected);
        y = f64_select(below, reflected, y);
    }
    return f64_select(x == 0, f64_copysign(f64_set1(INFINITY), -x), y);
}

/* e^(x^2) erfc(x): beyond 27 the asymptotic series, DLMF 7.12.1; below 0 from
** the other side, with what the rounding of the square lost. */
static inline f64v f64_erfcx(f64v x)
{
    static const double c[] = {10395 / 64.0, -945 / 32.0, 105 / 16.0,
                               -15 / 8.0, 3 / 4.0, -1 / 2.0, 1};
    f64v a = f64_abs(x), s = x * x;
    i64v far = a > 27, below = x < 0;
    f64v y = f64_erfcx_(f64_min(f64_set1(27.3), a));
    if (i64_any(far)) {
        f64v series = special_poly(c, 7, 1 / s) * 0.56418958354775628695 / a;
        y = f64_select(far, series, y);
    }
    if (i64_any(below)) {
        f64v high = (f64v)((u64v)x & 0xfffffffff8000000u), low = x - high;
        f64v lost = high * high - s + 2 * high * low + low * low;
        f64v power = f64_exp(s);
        power = f64_select(a < 26.7, power + power * lost, power);
        y = f64_select(below, power * 2 - y, y);
    }
    return f64_select(x != x, x, y);
}

/* Half the normal distribution is left at 0: the logarithm of what lies below
** x < 0, of the rest above. Far out the tail's own series. */
static inline f64v f64_log_ndtr(f64v x)
{
    static const double c[] = {10395, -945, 105, -15, 3, -1, 0};
    f64v a = f64_abs(x), tail = f64_normal_tail_(a);
    i64v below = x < 0;
    f64v y = f64_select(below, f64_log(tail), f64_log1p(-tail));
    i64v far = x < -26;
    if (i64_any(far)) {
        f64v series = special_poly(c, 7, 1 / (a * a));
        f64v there = f64_log1p(series) - f64_log(a) - HALF_LOG_2PI;
        y = f64_select(far, f64_fma(a * -0.5, a, there), y);
    }
    return y;
}

/* The quantile where less than 1e-16 is left: Newton on the logarithm, which is
** nearly a parabola. */
static inline f64v special_quantile_far(f64v q)
{
    f64v target = f64_log(q), z = -f64_sqrt(target * -2);
    for (int k = 0; k < 5; k++) {
        f64v y = f64_log_ndtr(z);
        z -= (y - target) * f64_exp(f64_fma(z * 0.5, z, y) + HALF_LOG_2PI);
    }
    return z;
}
/* Quantile as erfinv of 2p - 1, whose distance from 1 is known exactly here:
** that is twice what is left on the nearer side. */
static inline __attribute__((always_inline))
f64v special_quantile(f64v p, bool single)
{
    f64v q = f64_min(p, 1 - p), x = f64_fma(p, f64_set1(2), f64_set1(-1));
    f64v w = -f64_log(4 * q * (1 - q)), by = x * ROOT_2, z;
    f64v left = f64_fma(p, f64_set1(2), -1 - x) * ROOT_2;
    left += f64_fma(x, f64_set1(ROOT_2), -by);
    if (single) {
        z = f64_erfinv_near_(w) * by;
    } else {
        f64_erfinv_parts_ g = f64_erfinv_of_(w);
        z = f64_fma(g.high, by, f64_fma(g.low, by, g.high * left));
    }
    i64v far = q < 1e-16;
    if (i64_any(far))
        z = f64_select(far, f64_copysign(special_quantile_far(q), x), z);
    return f64_select(q == 0, f64_copysign(f64_set1(INFINITY), x), z);
}
static inline f64v f64_ndtri(f64v p) { return special_quantile(p, false); }
static inline f64v special_ndtri_32(f64v p)
{
    return special_quantile(p, true);
}
static inline f32v f32_ndtri(f32v p) { return f32_wide_(special_ndtri_32, p); }

static inline f32v f32_digamma(f32v x) { return f32_wide_(f64_digamma, x); }
static inline f32v f32_erfcx(f32v x) { return f32_wide_(f64_erfcx, x); }
static inline f32v f32_log_ndtr(f32v x) { return f32_wide_(f64_log_ndtr, x); }

#endif
