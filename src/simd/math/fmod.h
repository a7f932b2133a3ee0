/*
** fmod, the exact remainder of a division with the sign of the dividend, by
** vectors where the quotient is small enough for one fused step, by integers
** otherwise. fmod is exact, so every method gives the same bits, and a vector
** may take either.
**
** A quotient of 2000 bits costs no more than a dozen products: the remainder is
** x * 2^n mod y with 53 bits in x and y. Powers of 2 modulo the odd part of y
** are squared in Montgomery's form (Modular multiplication without trial
** division, 1985).
*/
#ifndef LA_SIMD_MATH_FMOD_H
#define LA_SIMD_MATH_FMOD_H

#include "simd/generic.h"

__extension__ typedef unsigned __int128 la_fmod_wide;

/* a * b / 2^64 modulo the odd m below 2^53; inverse * m is -1 modulo 2^64. */
static inline uint64_t fmod_reduced_(uint64_t a, uint64_t b, uint64_t m,
                                     uint64_t inverse)
{
    la_fmod_wide t = (la_fmod_wide)a * b;
    uint64_t k = (uint64_t)t * inverse;
    uint64_t r = (uint64_t)((t + (la_fmod_wide)k * m) >> 64);
    return r >= m ? r - m : r;
}

/* x * 2^n modulo y, both below 2^53 and y not 0, n from 1. */
static inline uint64_t fmod_shifted_(uint64_t x, int n, uint64_t y)
{
    int zeros = __builtin_ctzll(y);
    if (n <= 11) return (x % y << n) % y;
    if (zeros > n) zeros = n;
    y >>= zeros;        /* the remainder of both halved is half of it */
    n -= zeros;
    if (n <= 11 || !(y & 1)) return (x % y << n) % y << zeros;
    uint64_t inverse = y, power = -y % y;   /* 2^64 modulo y */
    for (int k = 0; k < 5; k++) inverse *= 2 - inverse * y;
    for (int bit = 31 - __builtin_clz((unsigned)n); bit >= 0; bit--) {
        power = fmod_reduced_(power, power, y, -inverse);
        if (n >> bit & 1) power = power * 2 >= y ? power * 2 - y : power * 2;
    }
    return fmod_reduced_(power, x % y, y, -inverse) << zeros;
}

/* The bits of a positive number as an integer below 2^53 times 2^(*e). */
static inline uint64_t fmod_parts_(uint64_t bits, int *e)
{
    int field = (int)(bits >> 52);
    *e = field ? field - 1 : 0;
    bits &= ((uint64_t)1 << 52) - 1;
    return field ? bits | (uint64_t)1 << 52 : bits;
}

static inline double fmod_far_(double a, double b)
{
    int ex, ey;
    uint64_t bits, sign = (uint64_t)1 << 63;
    double x = fabs(a), y = fabs(b);
    if (!(x < INFINITY) || !(y > 0) || x < y) return fmod(a, b);
    memcpy(&bits, &x, sizeof bits);
    uint64_t mx = fmod_parts_(bits, &ex);
    memcpy(&bits, &y, sizeof bits);
    uint64_t my = fmod_parts_(bits, &ey);
    uint64_t rest = ex > ey ? fmod_shifted_(mx, ex - ey, my) : mx % my;
    /* ey as the exponent again, with the first bit of 'rest' where it is. */
    int lead = rest ? 52 - (63 - __builtin_clzll(rest)) : 0;
    int up = lead < ey ? lead : ey;
    rest <<= up;
    ey -= up;
    bits = rest >> 52 ? rest + ((uint64_t)ey << 52) : rest;
    memcpy(&y, &bits, sizeof y);
    memcpy(&bits, &a, sizeof bits);
    return bits & sign ? -y : y;
}

static inline f32v f32_fmod_each_(f32v a, f32v b)
{
    for (int i = 0; i < F32_LANES; i++) a[i] = (float)fmod_far_(a[i], b[i]);
    return a;
}
static inline f64v f64_fmod_each_(f64v a, f64v b)
{
    for (int i = 0; i < F64_LANES; i++) a[i] = fmod_far_(a[i], b[i]);
    return a;
}

#ifdef __FMA__
#define LANE f32
#define MASK i32v
#define LIMIT 0x1p22f
#include "simd/math/fmod.inc"
#define LANE f64
#define MASK i64v
#define LIMIT 0x1p51
#include "simd/math/fmod.inc"
#else
static inline f32v f32_fmod(f32v a, f32v b) { return f32_fmod_each_(a, b); }
static inline f64v f64_fmod(f64v a, f64v b) { return f64_fmod_each_(a, b); }
#endif

#define vfmod(a, b) VPICK_(a, fmod)(a, b)

#endif
