/*
** The inverse of erf, by a form of M. Giles ("Approximating the erfinv
** function", GPU Computing Gems, 2011). For erf^-1(x) / x = g(w), w = -log(1 -
** x^2), polynomials in w and, beyond a limit, in sqrt(w) give g: few terms for
** float32, many for float64.
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
/* g(w) to 2^-56: by w, and by its root beyond 6.25, up to w = 37. In two parts,
** of which the second is what the last rounding of the first lost. */
typedef struct { f64v high, low; } f64_erfinv_parts_;
static inline f64_erfinv_parts_ f64_erfinv_poly_(f64v t, const double *c, int n)
{
    f64v p = f64_set1(c[n - 1]);
#pragma GCC unroll 32
    for (int k = n - 2; k > 0; k--) p = f64_fma(p, t, f64_set1(c[k]));
    f64v high = f64_fma(p, t, f64_set1(c[0]));
    return (f64_erfinv_parts_){high, f64_fma(p, t, c[0] - high)};
}
static __attribute__((noinline, unused))
f64_erfinv_parts_ f64_erfinv_beyond_(f64v w, f64_erfinv_parts_ near)
{
    static const double middle[] = {
        0x1.8abcc380d5a48p+1, 0x1.0158a6d641d55p+0, 0x1.5ffcfe5b6cd7ap-8,
        -0x1.ebadabba0238bp-9, 0x1.468eeca942caap-9, -0x1.ba9240d897616p-10,
        0x1.f3cc545e57fa7p-11, -0x1.7448bcc195916p-12, 0x1.932e8ebc3bd1fp-16,
        0x1.1e6abb03bcf53p-14, -0x1.8cf45f93cc783p-15, 0x1.a241e71baaa10p-17,
        0x1.8999a958d2b33p-19, -0x1.0b7a988f34b4ap-18, 0x1.8dbb90bf6c145p-20,
        -0x1.d956132f83496p-26, -0x1.07b8754067c12p-22, 0x1.1a748125447fdp-23,
        -0x1.65b0f8e5f3cc7p-26, -0x1.0691ce8e397a7p-26, 0x1.06b8e7cb2be48p-27};
    static const double far[] = {
        0x1.3664ddd1ad7fbp+2, 0x1.02a30d1fba10fp+0, -0x1.22ea5df1a329dp-13,
        -0x1.c2f36aa2ced5dp-13, 0x1.3ebf4ef24a443p-14, -0x1.4a348f8a2d314p-16,
        0x1.2fbd0351665e0p-18, -0x1.0a9088fe9c67cp-20, 0x1.ebdf56fa6f3efp-23,
        -0x1.2222f4c401ad3p-24, 0x1.f2e1320b25bd2p-26, -0x1.0630ad21097c6p-26,
        0x1.0b9412b98ad98p-27, -0x1.dc2ea5609faccp-29, 0x1.72e80162be1dbp-30,
        -0x1.e51f5950d0796p-32, 0x1.c89a90f3e5e41p-35, 0x1.8055a065e4e57p-35,
        -0x1.225731cca1fb3p-36};
    f64v root = f64_sqrt(w), lost = f64_fma(root, root, -w) / (root + root);
    f64_erfinv_parts_ m = f64_erfinv_poly_(root - 3.25, middle, 21);
    f64_erfinv_parts_ f = f64_erfinv_poly_(root - 5, far, 19);
    f64v high = f64_select(w > 16, f.high, m.high);
    f64v low = f64_select(w > 16, f.low, m.low) - lost;   /* slope near 1 */
    return (f64_erfinv_parts_){f64_select(w > 6.25, high, near.high),
                               f64_select(w > 6.25, low, near.low)};
}
static inline f64_erfinv_parts_ f64_erfinv_of_(f64v w)
{
    static const double near[] = {
        0x1.a755e7c99ae86p+0, 0x1.ebd80d9b13dfap-3, -0x1.8b6c33114ead6p-8,
        -0x1.84576948356aap-11, 0x1.879c2a20b529ap-13, -0x1.d1d1f7ca22344p-17,
        -0x1.6e8a53cde9820p-20, 0x1.c6b4f88bee585p-22, -0x1.f36ced467d428p-26,
        -0x1.1a9eb0f0442aap-28, 0x1.20f5363e19626p-30, -0x1.dc3f138c43ec5p-35,
        -0x1.c8a3f91b8a7d8p-37, 0x1.7235e0193d6a1p-39, -0x1.6bdbe444a1e06p-44,
        -0x1.686e62144277ap-45, 0x1.d6c6e134632d0p-48, -0x1.6fce901e09883p-55,
        -0x1.1ca736e6afa5fp-53, 0x1.1ec204ccaabdbp-56, 0x1.9aa46c7433428p-61,
        -0x1.9bbf6800d73f8p-62, 0x1.386d76444088cp-66, 0x1.e67e9698d5ba1p-69,
        -0x1.6ae241b91d698p-72};
    f64_erfinv_parts_ g = f64_erfinv_poly_(w - 3.125, near, 25);
    if (__builtin_expect(i64_any(w > 6.25), 0)) g = f64_erfinv_beyond_(w, g);
    return g;
}
static inline f64v f64_erfinv(f64v x)
{
    f64v a = f64_abs(x);
    f64_erfinv_parts_ g = f64_erfinv_of_(-f64_log((1 - a) * (1 + a)));
    f64v y = f64_fma(g.high, x, g.low * x);
    return f64_select(a == 1, f64_copysign(f64_set1(INFINITY), x), y);
}

#endif
