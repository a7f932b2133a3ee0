/*
** Functions of complex numbers, by base/libm/libm_complex.h: they have the
** branch cuts and special values of Annex G of the C standard, as PyTorch's
** have. complex64 goes through double, so that it rounds once. complex_wide.h
** has vectors for the frequent ones.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_MATH_H
#define LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_MATH_H

#include <complex.h>

#include "base/libm/libm.h"
#include "base/libm/libm_complex.h"
#include "kernel/pointwise/complex/complex_loops.h"

#ifndef CMPLX  /* glibc hides it from clang */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

static inline c128 c128_from(double _Complex z)
{
    return (c128){creal(z), cimag(z)};
}
static inline double _Complex c128_to(c128 a) { return CMPLX(a.re, a.im); }
static inline c128 c128_widen(c64 a) { return (c128){a.re, a.im}; }
static inline c64 c64_narrow(c128 a)
{
    return (c64){(float)a.re, (float)a.im};
}

/* complex_exp, complex_log, ...: libm's */
#define COMPLEX_OF(name) \
    static inline double _Complex complex_##name(double _Complex z) \
    { \
        la_m_complex r = la_m_c##name((la_m_complex){creal(z), cimag(z)}); \
        return CMPLX(r.re, r.im); \
    }
LA_LIBM_COMPLEX(COMPLEX_OF)
#undef COMPLEX_OF
static inline double _Complex complex_pow(double _Complex a, double _Complex b)
{
    la_m_complex r = la_m_cpow((la_m_complex){creal(a), cimag(a)},
                               (la_m_complex){creal(b), cimag(b)});
    return CMPLX(r.re, r.im);
}

/* log2 and log10 of the components of log. */
static inline double _Complex complex_log_base(double _Complex z, double scale)
{
    double _Complex r = complex_log(z);
    return CMPLX(creal(r) * scale, cimag(r) * scale);
}
static inline double _Complex complex_log2(double _Complex z)
{
    return complex_log_base(z, 1.44269504088896340736);
}
static inline double _Complex complex_log10(double _Complex z)
{
    return complex_log_base(z, 0.43429448190325182765);
}
static inline double _Complex complex_exp2(double _Complex z)
{
    const double ln2 = 0.69314718055994530942;
    return complex_exp(CMPLX(creal(z) * ln2, cimag(z) * ln2));
}
/* e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y/2) */
static inline double _Complex complex_expm1(double _Complex z)
{
    double x = creal(z), y = cimag(z), half = la_m_sin(y / 2);
    if (y == 0) return CMPLX(la_m_expm1(x), y);
    if (isinf(x) || !isfinite(y)) return complex_exp(z) - 1;
    return CMPLX(la_m_expm1(x) * la_m_cos(y) - 2 * half * half,
                 la_m_exp(x) * la_m_sin(y));
}
/* |1 + z| near 1 is 1 + (x(2 + x) + y^2): the small part goes to log1p. */
static inline double _Complex complex_log1p(double _Complex z)
{
    double x = creal(z), y = cimag(z);
    if (!(fabs(x) < 0.5 && fabs(y) < 0.5))
        return complex_log(CMPLX(x + 1, y));
    return CMPLX(la_m_log1p(x * (2 + x) + y * y) / 2, la_m_atan2(y, x + 1));
}
/* Smith's division; 1/0 is infinite in the real part as in PyTorch. */
static inline double _Complex complex_reciprocal(double _Complex z)
{
    c128 r = c128_div((c128){1, 0}, (c128){creal(z), cimag(z)});
    return c128_to(r);
}
static inline double _Complex complex_rsqrt(double _Complex z)
{
    return complex_reciprocal(complex_sqrt(z));
}
static inline double _Complex complex_sigmoid(double _Complex z)
{
    double _Complex e = complex_exp(CMPLX(-creal(z), -cimag(z)));
    return complex_reciprocal(CMPLX(1 + creal(e), cimag(e)));
}
/* z / (1 + e^-z) */
static inline double _Complex complex_silu(double _Complex z)
{
    double _Complex e = complex_exp(CMPLX(-creal(z), -cimag(z)));
    return c128_to(c128_div(c128_from(z), (c128){1 + creal(e), cimag(e)}));
}
static inline double _Complex complex_softsign(double _Complex z)
{
    double by = 1 + la_m_hypot(creal(z), cimag(z));
    return CMPLX(creal(z) / by, cimag(z) / by);
}
static inline double _Complex complex_tanhshrink(double _Complex z)
{
    return z - complex_tanh(z);
}
/* The larger in its real part is taken out first. Of two infinite ones the
** imaginary parts rotate the sum, those of -inf don't count. */
static inline c128 c128_logaddexp(c128 a, c128 b)
{
    c128 low = a.re < b.re ? a : b, high = a.re < b.re ? b : a;
    if (c128_isnan(a) || c128_isnan(b)) return (c128){NAN, NAN};
    if (isinf(low.re) && low.re == high.re) {
        double _Complex sum = complex_exp(c128_to(low))
                            + complex_exp(c128_to(high));
        return low.re < 0 ? low : c128_from(complex_log(sum));
    }
    c128 d = {low.re - high.re, low.im - high.im};
    return c128_add(high, c128_from(complex_log1p(complex_exp(c128_to(d)))));
}
static inline c64 c64_logaddexp(c64 a, c64 b)
{
    return c64_narrow(c128_logaddexp(c128_widen(a), c128_widen(b)));
}
static inline double _Complex complex_sinc(double _Complex z)
{
    double _Complex t = CMPLX(creal(z) * M_PI, cimag(z) * M_PI);
    if (creal(z) == 0 && cimag(z) == 0) return 1;
    double _Complex s = complex_sin(t);
    return c128_to(c128_div((c128){creal(s), cimag(s)},
                            (c128){creal(t), cimag(t)}));
}
#define COMPLEX1(name, fn) \
    static inline c128 c128_##name(c128 a) \
    { \
        return c128_from(fn(c128_to(a))); \
    } \
    static inline c64 c64_##name(c64 a) \
    { \
        return c64_narrow(c128_##name(c128_widen(a))); \
    }
COMPLEX1(exp, complex_exp)
COMPLEX1(exp2, complex_exp2)
COMPLEX1(expm1, complex_expm1)
COMPLEX1(log, complex_log)
COMPLEX1(log2, complex_log2)
COMPLEX1(log10, complex_log10)
COMPLEX1(log1p, complex_log1p)
COMPLEX1(sqrt, complex_sqrt)
COMPLEX1(rsqrt, complex_rsqrt)
COMPLEX1(sin, complex_sin)
COMPLEX1(cos, complex_cos)
COMPLEX1(tan, complex_tan)
COMPLEX1(asin, complex_asin)
COMPLEX1(acos, complex_acos)
COMPLEX1(atan, complex_atan)
COMPLEX1(sinh, complex_sinh)
COMPLEX1(cosh, complex_cosh)
COMPLEX1(tanh, complex_tanh)
COMPLEX1(asinh, complex_asinh)
COMPLEX1(acosh, complex_acosh)
COMPLEX1(atanh, complex_atanh)
COMPLEX1(sigmoid, complex_sigmoid)
COMPLEX1(sinc, complex_sinc)
COMPLEX1(silu, complex_silu)
COMPLEX1(softsign, complex_softsign)
COMPLEX1(tanhshrink, complex_tanhshrink)
#undef COMPLEX1

#endif
