/*
** The modulus of complex64, without overflow on the way: infinite where a part
** is, whatever the other. Of the squares the larger is not rounded, so that the
** result is good to 0.9 units; parts whose squares leave the range of float,
** and the capability without fused multiply-add, go through double, where the
** squares of floats are exact.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_MODULUS_H
#define LA_KERNEL_POINTWISE_COMPLEX_MODULUS_H

#include "simd/math/math.h"

static inline f64v modulus_half_(f64v re, f64v im)
{
    i64v infinite = f64_isinf(re) | f64_isinf(im);
    f64v size = f64_sqrt(re * re + im * im);
    return f64_select(infinite, f64_set1(INFINITY), size);
}
static inline f32v modulus_wide_(f32v re, f32v im)
{
    f64v low = modulus_half_(f64_from_f32_low(re), f64_from_f32_low(im));
    f64v high = modulus_half_(f64_from_f32_high(re), f64_from_f32_high(im));
    return f32_from_f64(low, high);
}
#ifdef __AVX2__
__attribute__((noinline, cold))
static f32v modulus_far_(f32v re, f32v im, i32v inside, f32v near)
{
    return f32_select(inside, near, modulus_wide_(re, im));
}
static inline f32v f32_modulus(f32v re, f32v im)
{
    f32v a = f32_abs(re), b = f32_abs(im);
    f32v most = f32_max(a, b), least = f32_min(a, b);
    f32v near = f32_sqrt(f32_fma(most, most, least * least));
    i32v inside = (most >= 0x1p-62f) & (most <= 0x1p63f);
    inside &= (a == a) & (b == b);      /* where one is NaN, most may not be */
    if (__builtin_expect(i32_all(inside), 1)) return near;
    return modulus_far_(re, im, inside, near);
}
#else
static inline f32v f32_modulus(f32v re, f32v im)
{
    return modulus_wide_(re, im);
}
#endif
static inline f64v f64_modulus(f64v re, f64v im) { return f64_hypot(re, im); }

#endif
