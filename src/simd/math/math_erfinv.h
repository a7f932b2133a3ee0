/*
** The inverse of erf, by a form of M. Giles ("Approximating the erfinv
** function", GPU Computing Gems, 2011). For erf^-1(x) / x = g(w), w = -log(1 -
** x^2), polynomials in w (up to 5) and in sqrt(w) (beyond) give g to 2^-27:
** that is float32's result, and where float64 starts one step of Halley's
** iteration.
*/
#ifndef LA_SIMD_MATH_MATH_ERFINV_H
#define LA_SIMD_MATH_MATH_ERFINV_H

#define LANE f32
#include "simd/math/math_erfinv.inc"
#define LANE f64
#include "simd/math/math_erfinv.inc"

static inline f32v f32_erfinv(f32v x)
{
    f32v a = f32_abs(x);
    f32v y = f32_erfinv_ratio_(-f32_log((1 - a) * (1 + a))) * x;
    return f32_select(a == 1, f32_copysign(f32_set1(INFINITY), x), y);
}

/* Beyond w = 16 (1 - |x| < 2^-24), which float32 does not reach. */
static inline f64v f64_erfinv_far_(f64v w)
{
    static const float c[] = {
        0x1.7ae5a4p-22f, -0x1.4b5ee2p-20f, 0x1.265572p-18f, -0x1.46933ap-16f,
        0x1.3f04d6p-14f, -0x1.c317acp-13f, -0x1.22f04ap-13f, 0x1.02a30ep+0f,
        0x1.3664dep+2f};
    f64v t = f64_sqrt(w) - 5, p = f64_set1(c[0]);
    for (int k = 1; k < 9; k++) p = f64_fma(p, t, f64_set1(c[k]));
    return p;
}
/* g(w), up to w = 37 */
static inline f64v f64_erfinv_near_(f64v w)
{
    return f64_select(w > 16, f64_erfinv_far_(w), f64_erfinv_ratio_(w));
}
/* Halley's step from y, where erf is off by gap. */
static inline f64v f64_erfinv_step_(f64v y, f64v gap)
{
    f64v step = gap * f64_exp(y * y) * 0.88622692545275801365;
    return y - step / (1 + y * step);
}
/* The residue of the guess is erf(y) - a for small a, and (1 - a) - erfc(y)
** above, where erf has no digits left to tell. */
static inline f64v f64_erfinv(f64v x)
{
    f64v a = f64_abs(x), w = -f64_log((1 - a) * (1 + a));
    f64v y = f64_erfinv_near_(w) * a;
    f64v gap = f64_select(a > 0.5, (1 - a) - f64_tail_(y), f64_erf(y) - a);
    y = f64_copysign(f64_erfinv_step_(y, gap), x);
    return f64_select(a == 1, f64_copysign(f64_set1(INFINITY), x), y);
}

#endif
