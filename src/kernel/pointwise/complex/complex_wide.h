/*
** Functions of complex64 by vectors: a vector of alternating parts becomes two
** of doubles, real and imaginary parts, in which squares of floats are exact
** and nothing overflows; the result rounds once. Values that C's functions have
** rules for (infinities, NaN, powers of zero) go to those, one by one.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_WIDE_H
#define LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_WIDE_H

#include "kernel/pointwise/complex/complex_math.h"
#include "simd/math/math.h"
#include "simd/permute/deinterleave.h"
#include "simd/permute/interleave.h"

typedef struct f64c { f64v re, im; } f64c;

/* The F64_LANES numbers of a vector, and back. */
static inline f64c wide_from(f32v a)
{
    return (f64c){f64_from_f32_low(f32_even(a, a)),
                  f64_from_f32_low(f32_odd(a, a))};
}
static inline f32v wide_to(f64c z)
{
    return f32_interleave_halves(f32_from_f64(z.re, z.im));
}

/* y, but fn(a, b) for the numbers whose lane of 'odd' is set. */
static __attribute__((noinline, unused))
f32v wide_mend(c64 (*fn)(c64, c64), f32v a, f32v b, f32v y, i64v odd)
{
    c64 in[F64_LANES], by[F64_LANES], out[F64_LANES];
    memcpy(in, &a, sizeof in);
    memcpy(by, &b, sizeof by);
    memcpy(out, &y, sizeof out);
    for (int i = 0; i < F64_LANES; i++)
        if (odd[i]) out[i] = fn(in[i], by[i]);
    memcpy(&y, out, sizeof y);
    return y;
}

/* Half the logarithm of 'sum', not negative; where 'near' is set, of 1 +
** 'rest', which is that sum before it was rounded. */
static inline f64v wide_half_log(f64v sum, f64v rest, i64v near)
{
    f64v r = f64_log(sum);
    if (i64_any(near))
        r = f64_select(near, f64_log1p(f64_select(near, rest, f64_zero())), r);
    return r * 0.5;
}
/* The squares of both parts and what their sum, rounded, has lost. */
static inline f64v wide_squares(f64c z, f64v *lost)
{
    f64v x = z.re * z.re, y = z.im * z.im, big = f64_max(x, y), sum = x + y;
    *lost = f64_min(x, y) - (sum - big);
    return f64_select(f64_isinf(z.re) | f64_isinf(z.im), f64_set1(INFINITY),
                      sum);
}
static inline f64c wide_log(f64c z)
{
    f64v lost, sum = wide_squares(z, &lost);
    i64v near = (sum > 0.5) & (sum < 2);
    return (f64c){wide_half_log(sum, sum - 1 + lost, near),
                  f64_atan2(z.im, z.re)};
}
static inline f64c wide_log_base(f64c z, double scale)
{
    f64c r = wide_log(z);
    return (f64c){r.re * scale, r.im * scale};
}
/* |1 + z|^2 - 1 is 2x + y^2 + x^2 for small z, the first sum with its loss. */
static inline f64c wide_log1p(f64c z)
{
    f64v one = 1 + z.re, twice = z.re + z.re, y = z.im * z.im;
    f64v s = twice + y, part = s - twice;
    f64v left = (twice - (s - part)) + (y - part);
    i64v small = (f64_abs(z.re) < 0.5) & (f64_abs(z.im) < 0.5);
    f64v lost, sum = wide_squares((f64c){one, z.im}, &lost);
    f64v rest = sum - 1 + (lost + f64_fma(one, one, -(one * one)));
    rest = f64_select(small, s + (z.re * z.re + left), rest);
    i64v near = small | ((sum > 0.5) & (sum < 2));
    return (f64c){wide_half_log(sum, rest, near), f64_atan2(z.im, one)};
}

static inline f32v c64s_log(f32v a) { return wide_to(wide_log(wide_from(a))); }
static inline f32v c64s_log2(f32v a)
{
    return wide_to(wide_log_base(wide_from(a), 1.44269504088896340736));
}
static inline f32v c64s_log10(f32v a)
{
    return wide_to(wide_log_base(wide_from(a), 0.43429448190325182765));
}
static inline f32v c64s_log1p(f32v a)
{
    return wide_to(wide_log1p(wide_from(a)));
}

/* A function by lanes; C's own, 'c64_name', where a part is not finite or
** 'size', what is raised, leaves the range of doubles. */
#define WIDE(name, size) \
    static inline c64 c64_##name##_of(c64 a, c64 b) { return c64_##name(a); } \
    static inline f32v c64s_##name(f32v a) \
    { \
        f64c z = wide_from(a); \
        i64v odd = ~f64_isfinite(z.re) | ~f64_isfinite(z.im) | ((size) > 300); \
        f32v y = wide_to(wide_##name(z)); \
        return i64_any(odd) ? wide_mend(c64_##name##_of, a, a, y, odd) : y; \
    }

static inline f64c wide_exp(f64c z)
{
    f64v e = f64_exp(z.re);
    return (f64c){e * f64_cos(z.im), e * f64_sin(z.im)};
}
/* Like complex_expm1. */
static inline f64c wide_expm1(f64c z)
{
    f64v half = f64_sin(z.im * 0.5);
    return (f64c){f64_expm1(z.re) * f64_cos(z.im) - 2 * half * half,
                  f64_exp(z.re) * f64_sin(z.im)};
}
static inline f64c wide_sinh(f64c z)
{
    return (f64c){f64_sinh(z.re) * f64_cos(z.im),
                  f64_cosh(z.re) * f64_sin(z.im)};
}
static inline f64c wide_cosh(f64c z)
{
    return (f64c){f64_cosh(z.re) * f64_cos(z.im),
                  f64_sinh(z.re) * f64_sin(z.im)};
}
/* tanh by s = sinh x and t = tan y (Kahan, Branch cuts for complex elementary
** functions). */
static inline f64c wide_tanh(f64c z)
{
    f64v s = f64_sinh(z.re), t = f64_tan(z.im), b = 1 + t * t, bs = b * s;
    f64v below = 1 + bs * s;
    return (f64c){bs * f64_sqrt(1 + s * s) / below, t / below};
}
/* f(z) = -i g(iz), and cos z = cosh(iz). */
static inline f64c wide_rotated(f64c (*g)(f64c), f64c z)
{
    f64c r = g((f64c){-z.im, z.re});
    return (f64c){r.im, -r.re};
}
static inline f64c wide_sin(f64c z) { return wide_rotated(wide_sinh, z); }
static inline f64c wide_tan(f64c z) { return wide_rotated(wide_tanh, z); }
static inline f64c wide_cos(f64c z)
{
    return wide_cosh((f64c){-z.im, z.re});
}
/* The root's larger part first; the other is half of y over it. */
static inline f64c wide_sqrt(f64c z)
{
    f64v size = f64_sqrt(z.re * z.re + z.im * z.im);
    f64v t = f64_sqrt((f64_abs(z.re) + size) * 0.5);
    f64v other = f64_select(t == 0, z.im, z.im / (t + t));
    i64v right = z.re >= 0;
    return (f64c){f64_select(right, t, f64_abs(other)),
                  f64_select(right, other, f64_copysign(t, z.im))};
}
/* 1 / (1 + e^-z) */
static inline f64c wide_sigmoid(f64c z)
{
    f64c e = wide_exp((f64c){-z.re, -z.im});
    f64v one = 1 + e.re, below = one * one + e.im * e.im;
    return (f64c){one / below, (f64_zero() - e.im) / below};
}
/* atanh z: a quarter of log(|1 + z|^2 / |1 - z|^2), and half the angle of
** 1 - |z|^2 + 2iy. Odd, so x is not negative in the first. */
static inline f64c wide_atanh(f64c z)
{
    f64v x = f64_abs(z.re), less = 1 - x, lost, sum = wide_squares(z, &lost);
    f64v ratio = 4 * x / (less * less + z.im * z.im);
    f64v angle = f64_atan2(z.im + z.im, 1 - sum - lost);
    return (f64c){f64_copysign(f64_log1p(ratio) * 0.25, z.re), angle * 0.5};
}
static inline f64c wide_atan(f64c z) { return wide_rotated(wide_atanh, z); }

WIDE(exp, z.re)
WIDE(expm1, z.re)
WIDE(sinh, f64_abs(z.re))
WIDE(cosh, f64_abs(z.re))
WIDE(tanh, 3 * f64_abs(z.re))
WIDE(sin, f64_abs(z.im))
WIDE(cos, f64_abs(z.im))
WIDE(tan, 3 * f64_abs(z.im))
WIDE(atan, f64_zero())
WIDE(atanh, f64_zero())
WIDE(sqrt, f64_zero())
WIDE(sigmoid, -z.re)
#undef WIDE

static inline c64 c64_pow(c64 a, c64 b)
{
    if (b.re == 0 && b.im == 0) return (c64){1, 0};
    double _Complex x = CMPLX(a.re, a.im), y = CMPLX(b.re, b.im);
    return c64_narrow(c128_from(complex_pow(x, y)));
}
/* e^(b log a) */
static inline f32v c64s_pow(f32v a, f32v b)
{
    f64c z = wide_log(wide_from(a)), w = wide_from(b);
    f64v size = w.re * z.re - w.im * z.im, angle = w.re * z.im + w.im * z.re;
    i64v odd = ~f64_isfinite(size) | ~f64_isfinite(angle) | (size > 700);
    f64v scale = f64_exp(size);
    f32v y = wide_to((f64c){scale * f64_cos(angle), scale * f64_sin(angle)});
    return i64_any(odd) ? wide_mend(c64_pow, a, b, y, odd) : y;
}

#endif
