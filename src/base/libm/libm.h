/*
** Elementary and special functions of one number, our own: the same bits on
** every machine and with every C library. They are made of + - * / and sqrt of
** IEEE 754, conversions and integers, without fused multiply-adds; sums and
** products are kept in two parts where a rounding would show. Special values
** are those of C's Annex F. Rounding to nearest is assumed; no errno, no traps
** asked for.
**
** Measured against 200 bits (tools/libm_accuracy.py), largest errors in units
** in the last place of results that are normal numbers: 0.51 for exp, exp2,
** pow, logarithms, inverse functions, cbrt, hypot and cosh, 0.55 for sinh and
** lgamma above zero, 0.65 for tanh and erfc, 0.7 for expm1 and tgamma, 0.8 for
** sin, cos, sinpi, cospi and erf, 0.95 for tan. Below zero lgamma is right to
** 1e-15 of the larger of 1 and its terms. Functions of floats compute in double
** and round once more: 0.501 and less.
*/
#ifndef LA_BASE_LIBM_LIBM_H
#define LA_BASE_LIBM_LIBM_H

/* X(name) for each function of one number: la_m_exp(x), la_m_expf(x), ...
**   exp exp2 expm1       e^x, 2^x (exact for whole x), e^x - 1
**   log log2 log10       -inf at 0, NaN below; log2 is exact for powers of 2
**   log1p                log(1 + x); -inf at -1
**   sin cos tan          of radians, right for any size; NaN of infinities
**   sinpi cospi          of pi x; halves give 0, 1 and -1 exactly
**   asin acos            NaN outside of -1..1
**   atan                 -pi/2 to pi/2
**   sinh cosh tanh asinh acosh atanh
**   cbrt                 the cube root, of negative numbers too
**   erf erfc             2/sqrt(pi) times the integral of e^(-t^2), 1 less it
**   lgamma               log |gamma x|; inf at 0, -1, -2, ...
**   tgamma               gamma; NaN at -1, -2, ..., an infinity at 0 */
#define LA_LIBM1(X) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) \
    X(sin) X(cos) X(tan) X(sinpi) X(cospi) X(asin) X(acos) X(atan) \
    X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(cbrt) \
    X(erf) X(erfc) X(lgamma) X(tgamma)
/* ... and of two:
**   pow                  x^y; NaN for x < 0 unless y is a whole number
**   atan2                the angle of the point (y, x): the first is the height
**   hypot                sqrt(x^2 + y^2), without overflow on the way */
#define LA_LIBM2(X) X(pow) X(atan2) X(hypot)

#define LA_LIBM_DECLARE1(name) \
    double la_m_##name(double x); \
    static inline float la_m_##name##f(float x) \
    { \
        return (float)la_m_##name((double)x); \
    }
#define LA_LIBM_DECLARE2(name) \
    double la_m_##name(double x, double y); \
    static inline float la_m_##name##f(float x, float y) \
    { \
        return (float)la_m_##name((double)x, (double)y); \
    }
/* log(1 + e^x) for x <= 0, where each result waits for the one before. */
double la_m_log1p_exp(double x);

LA_LIBM1(LA_LIBM_DECLARE1)
LA_LIBM2(LA_LIBM_DECLARE2)
#undef LA_LIBM_DECLARE1
#undef LA_LIBM_DECLARE2

/* lgamma, and in *sign 1 or -1, the sign of gamma. */
double la_m_lgamma_sign(double x, int *sign);

#endif
