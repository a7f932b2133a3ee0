/*
** Modified Bessel functions of the first kind, of vectors: Chebyshev series in
** x up to 8 and in 1/x beyond, of which both are computed for all lanes and one
** is selected; of I0 and I1 times e^-|x|, which neither overflows. Coefficients
** were computed to 40 digits and rounded; the first omitted term is below
** 2^-60, so the error is that of the roundings. float32 goes through double,
** with the terms that it can see.
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_BESSEL_H
#define LA_KERNEL_POINTWISE_SPECIAL_BESSEL_H

#include "simd/math/math.h"

static const double bessel_i0_near[] = {
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
static const double bessel_i0_far[] = {
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
static const double bessel_i1_near[] = {
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
static const double bessel_i1_far[] = {
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
enum { BESSEL_NEAR = 30, BESSEL_FAR = 27, BESSEL_NEAR_32 = 20,
       BESSEL_FAR_32 = 10 };

/* The sum of n terms c[k] T_k(t) by Clenshaw's recurrence, t from -1 to 1. */
static inline __attribute__((always_inline))
f64v bessel_series(const double *c, int n, f64v t)
{
    f64v a = f64_zero(), b = f64_zero(), twice = t + t;
#pragma GCC unroll 32
    for (int k = n - 1; k > 0; k--) {
        f64v next = f64_fma(twice, a, f64_set1(c[k]) - b);
        b = a;
        a = next;
    }
    return f64_fma(t, a, f64_set1(c[0]) - b);
}
/* e^-|x| I0(x) and e^-|x| I1(x) */
static inline __attribute__((always_inline))
f64v bessel_i0e(f64v x, int near, int far)
{
    f64v a = f64_abs(x);
    f64v small = bessel_series(bessel_i0_near, near, a * 0.25 - 1);
    f64v large = bessel_series(bessel_i0_far, far, 16 / a - 1) / f64_sqrt(a);
    return f64_select(a <= 8, small, large);
}
static inline __attribute__((always_inline))
f64v bessel_i1e(f64v x, int near, int far)
{
    f64v a = f64_abs(x);
    f64v small = bessel_series(bessel_i1_near, near, a * 0.25 - 1) * x;
    f64v large = bessel_series(bessel_i1_far, far, 16 / a - 1) / f64_sqrt(a);
    return f64_select(a <= 8, small, f64_copysign(large, x));
}
/* The exponential in two halves: the product may be in range where it is
** not. */
static inline f64v bessel_unscaled(f64v x, f64v y)
{
    f64v half = f64_exp(f64_abs(x) * 0.5);
    return f64_select(f64_isinf(x), f64_abs(x), y * half * half);
}

static inline f64v f64_i0e(f64v x)
{
    return bessel_i0e(x, BESSEL_NEAR, BESSEL_FAR);
}
static inline f64v f64_i1e(f64v x)
{
    return bessel_i1e(x, BESSEL_NEAR, BESSEL_FAR);
}
static inline f64v f64_i0(f64v x) { return bessel_unscaled(x, f64_i0e(x)); }
static inline f64v f64_i1(f64v x)
{
    return f64_copysign(bessel_unscaled(x, f64_i1e(x)), x);
}
static inline f64v bessel_i0e_32(f64v x)
{
    return bessel_i0e(x, BESSEL_NEAR_32, BESSEL_FAR_32);
}
static inline f64v bessel_i1e_32(f64v x)
{
    return bessel_i1e(x, BESSEL_NEAR_32, BESSEL_FAR_32);
}
static inline f64v bessel_i0_32(f64v x)
{
    return bessel_unscaled(x, bessel_i0e_32(x));
}
static inline f64v bessel_i1_32(f64v x)
{
    return f64_copysign(bessel_unscaled(x, bessel_i1e_32(x)), x);
}
static inline f32v f32_i0e(f32v x) { return f32_wide_(bessel_i0e_32, x); }
static inline f32v f32_i1e(f32v x) { return f32_wide_(bessel_i1e_32, x); }
static inline f32v f32_i0(f32v x) { return f32_wide_(bessel_i0_32, x); }
static inline f32v f32_i1(f32v x) { return f32_wide_(bessel_i1_32, x); }

#endif
