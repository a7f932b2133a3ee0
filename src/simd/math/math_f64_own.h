/*
** Own methods for float64, in the manner of math_f32_own.h: Cody and Waite's
** reduction, a minimax polynomial, reconstruction with what the roundings lost.
** The logarithm is fdlibm's. RARE routines are kept out of line: they hold what
** the common path must not pay for.
*/
#ifndef LA_SIMD_MATH_MATH_F64_OWN_H
#define LA_SIMD_MATH_MATH_F64_OWN_H

#include "simd/math/math_erfcx.h"
#include "simd/int_extreme.h"
#include "simd/vec.h"

#define RARE __attribute__((noinline, cold)) static
#define UNLIKELY(x) __builtin_expect(x, 0)
#define LN2_LOW_64 0x1.ef35793c7673p-45

/* p*x + c, a step of Horner's rule. */
static inline f64v f64_step_(f64v p, f64v x, double c)
{
    return f64_fma(p, x, f64_set1(c));
}

static inline i64v f64_beyond_(f64v x, double limit)
{
    return (i64v)f64_abs(x) > (i64v)f64_set1(limit);
}
static inline bool f64_any_beyond_(f64v x, double limit)
{
    return i64_any_above((i64v)f64_abs(x), (i64v)f64_set1(limit));
}

/* ---- exponentials ---- */

/* x = n*ln2 + r + rest, n in the low bits of 'shifted'; |x| below 2^20. */
#define EXP_SHIFT_64 0x1.8p52
typedef struct { f64v shifted, n, r, rest; } f64_exp_parts_;
static inline f64_exp_parts_ f64_exp_reduce_(f64v x)
{
    f64_exp_parts_ p;
    p.shifted = f64_fma(x, f64_set1(0x1.71547652b82fep0),
                        f64_set1(EXP_SHIFT_64));
    p.n = p.shifted - EXP_SHIFT_64;
    f64v a = f64_fma(p.n, f64_set1(-0x1.62e42fefa39efp-1), x);
    p.r = f64_fma(p.n, f64_set1(-0x1.abc9e3b39803fp-56), a);
    p.rest = f64_fma(p.n, f64_set1(-0x1.abc9e3b39803fp-56), a - p.r);
    return p;
}
/* (e^r - 1 - r) / r^2 on |r| <= ln2/2 */
static const double f64_exp_c_[] = {
    0x1.ad937209d2824p-26, 0x1.28ae10fca39b6p-22, 0x1.71df18b9a1062p-19,
    0x1.a019994c1311ep-16, 0x1.a01a012ffa32bp-13, 0x1.6c16c1847c94ap-10,
    0x1.1111111126b2ep-7, 0x1.55555555506acp-5, 0x1.55555555554fep-3,
    0x1.000000000000ap-1
};
static inline f64v f64_exp_tail_(f64v r)
{
    f64v q = f64_set1(f64_exp_c_[0]);
#pragma GCC unroll 16
    for (int k = 1; k < 10; k++) q = f64_step_(q, r, f64_exp_c_[k]);
    return q;
}
static inline f64v f64_exp_poly_(f64v r)
{
    return f64_step_(f64_step_(f64_exp_tail_(r), r, 1), r, 1);
}
/* y * 2^n where the result is a normal number; n as in f64_exp_parts_. */
static inline f64v f64_scale_near_(f64v y, f64v shifted)
{
    return (f64v)((u64v)y + ((u64v)shifted << 52));
}
/* f64_scale_near_ for any |n| < 2000: in two steps, of which only the second
** rounds. */
static inline f64v f64_scale_far_(f64v y, f64v shifted)
{
    f64v n = shifted - EXP_SHIFT_64, half = f64_floor(n * 0.5);
    i64v a = (i64v)(half + (EXP_SHIFT_64 + 1023)) << 52;
    i64v b = (i64v)(n - half + (EXP_SHIFT_64 + 1023)) << 52;
    return y * (f64v)a * (f64v)b;
}
/* Like f32_exp_far_. */
RARE f64v f64_exp_far_(f64v x)
{
    f64v near = f64_max(f64_min(x, f64_set1(720)), f64_set1(-760));
    f64_exp_parts_ p = f64_exp_reduce_(near);
    f64v y = f64_scale_far_(f64_exp_poly_(p.r), p.shifted);
    return f64_select(x != x, x, y);
}
/* The exponential without its rare branch: |x| <= 708, and no NaN. */
static inline f64v f64_exp_near_(f64v x)
{
    f64_exp_parts_ p = f64_exp_reduce_(x);
    return f64_scale_near_(f64_exp_poly_(p.r), p.shifted);
}
static inline f64v f64_exp(f64v x)
{
    if (UNLIKELY(f64_any_beyond_(x, 708))) return f64_exp_far_(x);
    return f64_exp_near_(x);
}

/* 2^r = 1 + r*p(r) on |r| <= 1/2 */
static inline f64v f64_exp2_poly_(f64v r)
{
    f64v p = f64_set1(0x1.eeb7666f12a2cp-32);
    p = f64_step_(p, r, 0x1.e62d6d755227dp-28);
    p = f64_step_(p, r, 0x1.b521dc5ef1ca8p-24);
    p = f64_step_(p, r, 0x1.62bfbde7da79bp-20);
    p = f64_step_(p, r, 0x1.ffcbfdd60fcbp-17);
    p = f64_step_(p, r, 0x1.4309131273a83p-13);
    p = f64_step_(p, r, 0x1.5d87fe785cd32p-10);
    p = f64_step_(p, r, 0x1.3b2ab6fb9ef4fp-7);
    p = f64_step_(p, r, 0x1.c6b08d704a225p-5);
    p = f64_step_(p, r, 0x1.ebfbdff82c5abp-3);
    p = f64_step_(p, r, 0x1.62e42fefa39efp-1);
    return f64_step_(p, r, 1);
}
RARE f64v f64_exp2_far_(f64v x)
{
    f64v near = f64_max(f64_min(x, f64_set1(1030)), f64_set1(-1080));
    f64v shifted = near + EXP_SHIFT_64;
    f64v y = f64_exp2_poly_(near - (shifted - EXP_SHIFT_64));
    return f64_select(x != x, x, f64_scale_far_(y, shifted));
}
static inline f64v f64_exp2(f64v x)
{
    if (UNLIKELY(f64_any_beyond_(x, 1021))) return f64_exp2_far_(x);
    f64v shifted = x + EXP_SHIFT_64;
    f64v y = f64_exp2_poly_(x - (shifted - EXP_SHIFT_64));
    return f64_scale_near_(y, shifted);
}

/* ---- logarithms ---- */

/* The exponent of 2^k from its bits without the bias. */
static inline f64v f64_from_exponent_(u64v e)
{
    u64v count = (e + ((uint64_t)1023 << 52)) >> 52;   /* may have wrapped */
    return (f64v)(count | 0x4330000000000000) - (0x1p52 + 1023);
}
/* s*(h + R(s^2)), s = f / (2 + f), h = f^2/2, in fdlibm's form of the
** logarithm: log(1 + f) = f - (h - s*(h + R)), sqrt(1/2) <= 1 + f < sqrt(2). */
static inline f64v f64_log_tail_(f64v f, f64v h, f64v low)
{
    f64v s = f / (2 + f), z = s * s;
    f64v q = f64_set1(0x1.2b66b9b1db878p-3);
    q = f64_step_(q, z, 0x1.39fd3c2f1dab9p-3);
    q = f64_step_(q, z, 0x1.7462bd21827f1p-3);
    q = f64_step_(q, z, 0x1.c71c62c9cb9adp-3);
    q = f64_step_(q, z, 0x1.2492492e03d4fp-2);
    q = f64_step_(q, z, 0x1.9999999995284p-2);
    q = f64_step_(q, z, 0x1.5555555555558p-1);
    return f64_fma(s, f64_fma(q, z, h), low);
}
/* k*ln2 + low + log(1 + f) */
static inline f64v f64_log_sum_(f64v k, f64v f, f64v low)
{
    f64v h = f * f * 0.5, base = k * 0x1.62e42fefa38p-1, high = base + f;
    return high - (h - f64_log_tail_(f, h, low + (base - high + f)));
}
/* Logarithm to another base: units of 'unit' (few bits and the rest) for k, the
** logarithm times 'scale' (in two parts). */
typedef struct { double unit, unit_low, scale, scale_low; } f64_log_base_;
static inline f64v f64_log_based_(f64v k, f64v f, f64_log_base_ b)
{
    f64v h = f * f * 0.5, y = f - h;
    f64v low = f64_log_tail_(f, h, f - y - h), z = y * b.scale;
    f64v rest = f64_fma(y, f64_set1(b.scale), -z);
    rest = f64_fma(low, f64_set1(b.scale), rest);
    rest = f64_fma(y, f64_set1(b.scale_low), rest);
    rest = f64_fma(k, f64_set1(b.unit_low), rest);
    f64v base = k * b.unit, high = base + z;
    return high + (base - high + z + rest);
}
/* x = 2^k * (1 + f), x normal and positive. */
typedef struct { f64v k, f; } f64_log_parts_;
static inline f64_log_parts_ f64_log_split_(f64v x)
{
    u64v low = (u64v)f64_set1(0x1.6a09e667f3bcdp-1);
    u64v d = ((u64v)x - low) & 0xfff0000000000000;
    return (f64_log_parts_){f64_from_exponent_(d), (f64v)((u64v)x - d) - 1};
}
static inline i64v f64_log_rare_(f64v x)
{
    return ~((x >= 0x1p-1022) & (x < f64_set1(INFINITY)));
}
/* The logarithm of what f64_log_rare_ finds, from that of a denormal. */
static inline f64v f64_log_mend_(f64v x, f64v y)
{
    y = f64_select(x == 0, f64_set1(-INFINITY), y);
    y = f64_select(x < 0, f64_set1(NAN), y);
    return f64_select((x == f64_set1(INFINITY)) | (x != x), x, y);
}
RARE f64v f64_log_far_(f64v x)
{
    f64_log_parts_ v = f64_log_split_(x * 0x1p54);
    v.k -= 54;
    return f64_log_mend_(x, f64_log_sum_(v.k, v.f, v.k * LN2_LOW_64));
}
static inline f64v f64_log(f64v x)
{
    f64_log_parts_ v = f64_log_split_(x);
    f64v y = f64_log_sum_(v.k, v.f, v.k * LN2_LOW_64);
    i64v rare = f64_log_rare_(x);
    if (UNLIKELY(i64_any(rare)))
        return f64_select(rare, f64_log_far_(x), y);
    return y;
}
RARE f64v f64_log_based_far_(f64v x, const f64_log_base_ *b)
{
    f64_log_parts_ v = f64_log_split_(x * 0x1p54);
    return f64_log_mend_(x, f64_log_based_(v.k - 54, v.f, *b));
}
static inline f64v f64_log_to_base_(f64v x, const f64_log_base_ *b)
{
    f64_log_parts_ v = f64_log_split_(x);
    f64v y = f64_log_based_(v.k, v.f, *b);
    i64v rare = f64_log_rare_(x);
    if (UNLIKELY(i64_any(rare)))
        return f64_select(rare, f64_log_based_far_(x, b), y);
    return y;
}
static inline f64v f64_log2(f64v x)
{
    static const f64_log_base_ two = {1, 0, 0x1.71547652b82fep0,
                                      0x1.777d0ffda0d24p-56};
    return f64_log_to_base_(x, &two);
}
static inline f64v f64_log10(f64v x)
{
    static const f64_log_base_ ten = {0x1.34413509f78p-2, 0x1.fef311f12b358p-46,
                                      0x1.bcb7b1526e50ep-2,
                                      0x1.95355baaafad3p-57};
    return f64_log_to_base_(x, &ten);
}
/* 1 + x = 2^k * (1 + f) as f32_log1p_split_ has it; 'lost' is what the sum
** lost, 'unit' 4 * 2^-k. */
typedef struct { f64v k, f, lost, unit; } f64_log1p_parts_;
static inline f64_log1p_parts_ f64_log1p_split_(f64v x)
{
    u64v low = (u64v)f64_set1(0x1.6a09e667f3bcdp-1);
    u64v d = ((u64v)(x + 1) - low) & 0xfff0000000000000;
    f64v scaled = (f64v)((u64v)x - d);
    f64v unit = (f64v)((u64v)f64_set1(4) - d);
    f64v rest = f64_fma(unit, f64_set1(0.25), f64_set1(-1));
    f64v f = scaled + rest, other = f - scaled;
    f64v lost = (scaled - (f - other)) + (rest - other);
    return (f64_log1p_parts_){f64_from_exponent_(d), f, lost, unit};
}
static inline f64v f64_log1p_near_(f64v x)
{
    f64_log1p_parts_ v = f64_log1p_split_(x);
    return f64_log_sum_(v.k, v.f, f64_fma(v.k, f64_set1(LN2_LOW_64), v.lost));
}
/* log(1 + x + low) for x >= 0 and a low far below 1 + x. */
static inline f64v f64_log1p_pair_(f64v x, f64v low)
{
    f64_log1p_parts_ v = f64_log1p_split_(x);
    f64v c = f64_fma(low, v.unit * 0.25, v.lost);
    c = f64_fma(c, -v.f, c);
    return f64_log_sum_(v.k, v.f, f64_fma(v.k, f64_set1(LN2_LOW_64), c));
}
RARE f64v f64_log1p_far_(f64v x, f64v y)
{
    y = f64_select(x == -1, f64_set1(-INFINITY), y);
    y = f64_select(x < -1, f64_set1(NAN), y);
    return f64_select((x == f64_set1(INFINITY)) | (x != x), x, y);
}
static inline f64v f64_log1p(f64v x)
{
    f64v y = f64_copysign(f64_log1p_near_(x), x);
    i64v rare = ~((x > -1) & (x < f64_set1(INFINITY)));
    if (UNLIKELY(i64_any(rare))) return f64_log1p_far_(x, y);
    return y;
}

/* x = j*pi/2 + r + rest, j in the low bits of 'shifted'; pi/2 in three parts of
** Cody and Waite, x - j*P1 has no rounding. For |x| up to ANGLE_TOP. */
typedef struct { f64v r, rest; i64v j; } f64_angle_;
static inline f64_angle_ f64_angle_reduce_(f64v x)
{
    f64v shifted = f64_fma(x, f64_set1(0x1.45f306dc9c883p-1),
                           f64_set1(EXP_SHIFT_64));
    f64v j = shifted - EXP_SHIFT_64;
    f64v a = f64_fma(j, f64_set1(-0x1.921fb54442d18p0), x);
    f64v r = f64_fma(j, f64_set1(-0x1.1a62633145c07p-54), a);
    f64v lost = f64_fma(j, f64_set1(-0x1.1a62633145c07p-54), a - r);
    return (f64_angle_){r, f64_fma(j, f64_set1(0x1.f1976b7ed8fbcp-110), lost),
                        (i64v)shifted};
}

/* The sine of an angle and so many quarters of a circle: fdlibm's polynomials
** of sine and cosine, chosen lane by lane. */
#define HAS_QUARTERS_64
static inline f64v f64_sin_quarters_(f64_angle_ a, i64v quarters)
{
    f64v r = a.r, z = r * r, half = z * 0.5, w = 1 - half;
    f64v s = f64_step_(f64_set1(0x1.5d93a5acfd57cp-33), z,
                       -0x1.ae5e68a2b9cebp-26);
    f64v c = f64_step_(f64_set1(-0x1.8fae9be8838d4p-37), z,
                       0x1.1ee9ebdb4b1c4p-29);
    s = f64_step_(s, z, 0x1.71de357b1fe7dp-19);
    c = f64_step_(c, z, -0x1.27e4f809c52adp-22);
    s = f64_step_(s, z, -0x1.a01a019c161d5p-13);
    c = f64_step_(c, z, 0x1.a01a019cb159p-16);
    s = f64_step_(s, z, 0x1.111111110f8a6p-7);
    c = f64_step_(c, z, -0x1.6c16c16c15177p-10);
    s = f64_step_(s, z, -0x1.5555555555549p-3);
    c = f64_step_(c, z, 0x1.555555555554cp-5);
    s = r + f64_fma(r * z, s, a.rest);
    s = (f64v)((u64v)s | ((u64v)r & (uint64_t)1 << 63));    /* -0 stays */
    c = w + (1 - w - half + f64_fma(z * z, c, -(r * a.rest)));
    i64v k = a.j + quarters;
    f64v y = f64_select((k & 1) != 0, c, s);
    return (f64v)((u64v)y ^ (u64v)(k & 2) << 62);
}

/* ---- erf and tanh ---- */

/* An odd polynomial for small |x|, 1 - e^q(|x|) above, q for
** log(erfc), fitted where erfc matters against 1. Even and odd coefficients go
** apart: one chain would be too long to hide its latency. */
static inline f64v f64_erf_small_(f64v a)
{
    f64v s = a * a, z = s * s;
    f64v p = f64_set1(0x1.d71ef526f4b34p-27);
    f64v p1 = f64_set1(-0x1.abb9bc2a5c22cp-31);
    p = f64_step_(p, z, 0x1.b97fec26998a4p-20);
    p1 = f64_step_(p1, z, -0x1.5c07b986ae5d3p-23);
    p = f64_step_(p, z, 0x1.f9a2bad31e8c0p-14);
    p1 = f64_step_(p1, z, -0x1.f4ca4fee943a7p-17);
    p = f64_step_(p, z, 0x1.565bccf937203p-8);
    p1 = f64_step_(p1, z, -0x1.c02db03f9e47cp-11);
    p = f64_step_(p, z, 0x1.ce2f21a040d2dp-4);
    p1 = f64_step_(p1, z, -0x1.b82ce311faf10p-6);
    p = f64_step_(p, z, 0x1.06eba8214db68p-3);
    p1 = f64_step_(p1, z, -0x1.812746b0379bdp-2);
    p = f64_fma(p1, s, p);
    return f64_fma(p, a, a);
}
static inline f64v f64_erf_large_(f64v a)
{
    f64v t = f64_min(a, f64_set1(5.93)), z = t * t;
    f64v q = f64_set1(0x1.41526bea433aap-40);
    f64v q1 = f64_set1(-0x1.c7c396d7070e4p-35);
    q = f64_step_(q, z, 0x1.2e9dc7b3f3e00p-30);
    q1 = f64_step_(q1, z, -0x1.f367afcf1ea24p-27);
    q = f64_step_(q, z, 0x1.1e432e6d6112ap-23);
    q1 = f64_step_(q1, z, -0x1.e1c39e934c6a8p-21);
    q = f64_step_(q, z, 0x1.31215ac785fbcp-18);
    q1 = f64_step_(q1, z, -0x1.2290b7404d813p-16);
    q = f64_step_(q, z, 0x1.8d5d3879273e6p-15);
    q1 = f64_step_(q1, z, -0x1.3db5a919b66cbp-14);
    q = f64_step_(q, z, -0x1.24d3121be848dp-15);
    q1 = f64_step_(q1, z, 0x1.48874a6d3f440p-11);
    q = f64_step_(q, z, -0x1.cb4dc1d2cdb51p-10);
    q1 = f64_step_(q1, z, 0x1.16111fd6d6403p-12);
    q = f64_step_(q, z, 0x1.38bff3e13d4afp-6);
    q1 = f64_step_(q1, z, -0x1.a4dff32711e37p-4);
    q = f64_step_(q, z, -0x1.45f3eb8663e1fp-1);
    q1 = f64_step_(q1, z, -0x1.20dd5d28afdc6p+0);
    q = f64_step_(q, z, -0x1.26bcc68384b42p-23);
    q = f64_fma(q1, t, q);
    return 1 - f64_exp_near_(q);
}
static inline f64v f64_erf(f64v x)
{
    f64v a = f64_abs(x);
    f64v y = f64_select(a > 0.98, f64_erf_large_(a), f64_erf_small_(a));
    return f64_copysign(y, x);
}

/* tanh by the theorem of addition. r is what is left of |x| without n halves of
** ln2, from -0.09 to 0.26, and t its tanh, an odd polynomial; 'rest' is r with
** what the product of n lost. With w = 2^-n, tanh of the halves is
** (1 - w) / (1 + w). The result is 1 - w, which is exact and close to that, and
** a quotient, which is small, or t itself where n is 0. */
static inline f64v f64_tanh_rest_(f64v r, f64v rest)
{
    f64v z = r * r, zz = z * z;
    f64v p = f64_step_(f64_set1(0x1.11111110f2663p-3), z,
                       -0x1.55555555554afp-2);
    f64v q = f64_step_(f64_set1(0x1.664f2b7aa629dp-6), z,
                       -0x1.ba1ba17cdd33fp-5);
    f64v s = f64_step_(f64_set1(0x1.d4c21cff5a9d7p-9), z,
                       -0x1.2266d4f66b5e9p-7);
    s = f64_fma(zz, f64_set1(-0x1.56b743a178a7fp-10), s);
    return f64_fma(r * z, f64_fma(zz, f64_fma(zz, s, q), p), rest);
}
static inline f64v f64_tanh(f64v x)
{
    f64v a = f64_min(f64_set1(19.5), f64_abs(x));       /* NaN stays */
    f64v n = f64_round(f64_fma(a, f64_set1(0x1.71547652b82fep1),
                               f64_set1(-0.25)));
    f64v r = f64_fma(n, f64_set1(-0x1.62e42fefa39efp-2), a);
    f64v rest = f64_fma(n, f64_set1(-0x1.abc9e3b39803fp-57), r);
    f64v t = f64_tanh_rest_(r, rest);
    u64v exponent = (u64v)(n + EXP_SHIFT_64) << 52;
    f64v w = (f64v)((u64v)f64_set1(1) - exponent), near = 1 - w;
    f64v more = f64_fma(t, 3 - w, -near) * w / f64_fma(t, near, 1 + w);
    return f64_copysign(near + more, x);
}

#define HAS_TAIL_64
/* (1 + 2t) e^(t^2) erfc(t) by q = (t - 4) / (t + 4), t from 0 to 27.5: the form
** of M. M. Shepherd and J. G. Laframboise ("Chebyshev approximation of (1 + 2x)
** exp(x^2) erfc x in 0 <= x < infinity", Mathematics of Computation 36, 1981),
** where the function is between 1 and 1.3. */
static const double f64_erfc_c_[] = {
    -0x1.e83c060238760p-30, -0x1.d25c81ce46f4bp-27, -0x1.0cc37a62c66a5p-27,
    0x1.edddc425bb219p-24, 0x1.0d77f79066100p-24, -0x1.c014dc74df367p-21,
    0x1.43b4402057fabp-22, 0x1.7fb0ec5c29685p-18, -0x1.78a5a1704590ap-17,
    -0x1.9969e1946aef5p-16, 0x1.3be0c1175404bp-13, -0x1.a1de858678361p-13,
    -0x1.8d4a9eddbbd1cp-11, 0x1.49c6719710d01p-8, -0x1.09623881b5347p-6,
    0x1.3079edf9dd29cp-5, -0x1.0fb06dfe52269p-4, 0x1.7fee004df7ccfp-4,
    -0x1.9ddb23c3e8ed9p-4, 0x1.16ecefcfa5fa7p-4, 0x1.f7f5df66fd7bbp-7,
    -0x1.1df1ad154a29bp-3};
/* erfc(t) 2^-n for t from 0 to 27.5, n in the low bits of 'shifted'; s + lost
** is the exact square of t. What the last roundings of the polynomial and of
** the quotient lose is carried along and added at the end. */
static inline f64v f64_tail_parts_(f64v t, f64v s, f64v lost, f64v *shifted)
{
    f64v far = t + 4, below = f64_fma(t, f64_set1(2), f64_set1(1));
    f64v inverse = 1 / (far * below);
    f64v v = t * below * inverse, by = far * inverse;
    f64v q = f64_fma(v, f64_set1(2), f64_set1(-1));
    f64v p = f64_set1(f64_erfc_c_[0]);
#pragma GCC unroll 32
    for (int k = 1; k < 22; k++) p = f64_step_(p, q, f64_erfc_c_[k]);
    f64v one = f64_set1(0x1.3ba5916e9fd7fp+0), top = f64_fma(p, q, one);
    f64v rest = f64_fma(p, q, one - top - 0x1.aa3d59e0b2d07p-55);
    f64v steep = f64_min(q + 0.6, f64_zero());
    rest = f64_fma(steep * steep * 11, f64_fma(v, f64_set1(2), -1 - q), rest);
    f64v y = top * by;
    rest += f64_fma(-y, below, top);
    rest -= y * f64_fma(t, f64_set1(2), 1 - below);
    f64_exp_parts_ e = f64_exp_reduce_(-s);
    f64v m = f64_fma(e.r * e.r, f64_exp_tail_(e.r), e.r);
    lost = e.rest - lost;
    m += f64_fma(lost, m, lost);
    rest *= by;
    *shifted = e.shifted;
    return y + f64_fma(y, m, f64_fma(rest, m, rest));
}
RARE f64v f64_tail_far_(f64v t, f64v s, f64v lost)
{
    f64v shifted, y = f64_tail_parts_(t, s, lost, &shifted);
    return f64_scale_far_(y, shifted);
}
static inline f64v f64_tail_from_(f64v t, f64v s, f64v lost)
{
    if (UNLIKELY(f64_any_beyond_(s, 708))) return f64_tail_far_(t, s, lost);
    f64v shifted, y = f64_tail_parts_(t, s, lost, &shifted);
    return f64_scale_near_(y, shifted);
}
/* erfc(a) for a >= 0 */
static inline f64v f64_tail_(f64v a)
{
    f64v t = f64_min(f64_set1(27.3), a), s = t * t;
    return f64_tail_from_(t, s, f64_fma(t, t, -s));
}
static inline f64v f64_erfc(f64v x)
{
    f64v y = f64_tail_(f64_abs(x));
    return f64_select(x < 0, 2 - y, y);
}
/* The normal distribution beyond a >= 0, where a^2/2 is exact. */
static inline f64v f64_normal_tail_(f64v a)
{
    f64v b = f64_min(f64_set1(38.6), a), s = b * b;
    f64v lost = f64_fma(b, b, -s) * 0.5;
    return f64_tail_from_(b * 0.70710678118654752440, s * 0.5, lost) * 0.5;
}

#include "simd/math/math_f64_coef.h"

#endif
