/*
** The elementary functions of the random kernels, on the arguments that occur
** there (a number in (0, 1], an angle in quarters of the circle). Only +, -, *,
** / and square roots are used and nothing is contracted, so that every
** capability gives equal bits, unlike simd/math/math.h, whose methods differ
** between those with and without FMA; the coefficients are Cephes' (S.
** Moshier). Errors stay below 2 ulp.
*/
#ifndef LA_KERNEL_RANDOM_MATH_H
#define LA_KERNEL_RANDOM_MATH_H

#include "simd/vec.h"

/* ln x of a normal x > 0: x = 2^e * (1 + m), sqrt(1/2) <= 1 + m < sqrt(2), ln2
** in two parts. */
static inline f32v log_float(f32v x)
{
    u32v u = (u32v)x;
    f32v m = (f32v)((u & 0x7fffffu) | 0x3f000000u);
    i32v small = m < 0.707106781186547524f;
    f32v e = f32_from_i32((i32v)(u >> 23) - 126 + small);
    m = m + (f32v)((i32v)m & small) - 1.0f;
    f32v z = m * m, y = m * 7.0376836292E-2f;
    y = (y - 1.1514610310E-1f) * m;
    y = (y + 1.1676998740E-1f) * m;
    y = (y - 1.2420140846E-1f) * m;
    y = (y + 1.4249322787E-1f) * m;
    y = (y - 1.6668057665E-1f) * m;
    y = (y + 2.0000714765E-1f) * m;
    y = (y - 2.4999993993E-1f) * m;
    y = (y + 3.3333331174E-1f) * m;
    y = y * z - e * 2.12194440e-4f - z * 0.5f;
    return m + y + e * 0.693359375f;
}

/* A small integer as a double: the mantissa of 2^52 + 2^51 holds it. */
static inline f64v double_of_small(i64v i)
{
    return (f64v)(i + 0x4338000000000000) - 0x1.8p52;
}

/* Logarithm in double, a rational approximation. */
static inline f64v log_double(f64v x)
{
    u64v u = (u64v)x;
    f64v m = (f64v)((u & 0xfffffffffffffu) | 0x3fe0000000000000u);
    i64v small = m < 0.70710678118654752440;
    f64v e = double_of_small((i64v)(u >> 52) - 1022 + small);
    m = m + (f64v)((i64v)m & small) - 1.0;
    f64v z = m * m, p = m * 1.01875663804580931796E-4;
    p = (p + 4.97494994976747001425E-1) * m;
    p = (p + 4.70579119878881725854E0) * m;
    p = (p + 1.44989225341610930846E1) * m;
    p = (p + 1.79368678507819816313E1) * m;
    p = p + 7.70838733755885391666E0;
    f64v q = m + 1.12873587189167450590E1;
    q = q * m + 4.52279145837532221105E1;
    q = q * m + 8.29875266912776603211E1;
    q = q * m + 7.11544750618563894466E1;
    q = q * m + 2.31251620126765340583E1;
    f64v y = m * (z * p / q) - e * 2.121944400546905827679e-4 - z * 0.5;
    return m + y + e * 0.693359375;
}

/* Sine and cosine of (t + q) * pi/2, |t| <= 1/2. */
static inline void sincos_float(f32v t, u32v q, f32v *sine, f32v *cosine)
{
    f32v x = t * 1.57079632679489661923f, z = x * x;
    f32v s = z * -1.9515295891E-4f, c = z * 2.443315711809948E-5f;
    s = ((s + 8.3321608736E-3f) * z - 1.6666654611E-1f) * z * x + x;
    c = ((c - 1.388731625493765E-3f) * z + 4.166664568298827E-2f) * z * z
      - z * 0.5f + 1.0f;
    i32v odd = (i32v)(q << 31) < 0;
    *sine = (f32v)((u32v)f32_select(odd, c, s) ^ (q & 2) << 30);
    *cosine = (f32v)((u32v)f32_select(odd, s, c) ^ ((q + 1) & 2) << 30);
}

static inline void sincos_double(f64v t, u64v q, f64v *sine, f64v *cosine)
{
    f64v x = t * 1.57079632679489661923, z = x * x;
    f64v s = z * 1.58962301576546568060E-10;
    f64v c = z * -1.13585365213876817300E-11;
    s = (s - 2.50507477628578072866E-8) * z;
    s = (s + 2.75573136213857245213E-6) * z;
    s = (s - 1.98412698295895385996E-4) * z;
    s = (s + 8.33333333332211858878E-3) * z;
    s = (s - 1.66666666666666307295E-1) * z * x + x;
    c = (c + 2.08757008419747316778E-9) * z;
    c = (c - 2.75573141792967388112E-7) * z;
    c = (c + 2.48015872888517045348E-5) * z;
    c = (c - 1.38888888888730564116E-3) * z;
    c = (c + 4.16666666666665929218E-2) * z * z - z * 0.5 + 1.0;
    i64v odd = (i64v)(q << 63) < 0;
    *sine = (f64v)((u64v)f64_select(odd, c, s) ^ (q & 2) << 62);
    *cosine = (f64v)((u64v)f64_select(odd, s, c) ^ ((q + 1) & 2) << 62);
}

#endif
