/*
** Products and quotients of C's complex numbers by formulas written out: C's
** own operators call functions of the compiler's library, which recover
** infinities (PyTorch does not) and whose bits are the platform's.
*/
#ifndef LA_BASE_COMPLEX_H
#define LA_BASE_COMPLEX_H

#include <math.h>

static inline float _Complex la_c64_mul(float _Complex a, float _Complex b)
{
    float _Complex r = 0;
    __real__ r = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ r = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return r;
}

static inline double _Complex la_c128_mul(double _Complex a, double _Complex b)
{
    double _Complex r = 0;
    __real__ r = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ r = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return r;
}

/* Divides by the larger part of b, so that no square overflows (Smith,
** Algorithm 116, 1962). */
static inline double _Complex la_c128_div(double _Complex a, double _Complex b)
{
    double re = __real__ b, im = __imag__ b;
    double _Complex r = 0;
    if (re == 0 && im == 0) {
        __real__ r = __real__ a / fabs(re);
        __imag__ r = __imag__ a / fabs(re);
    } else if (fabs(re) >= fabs(im)) {
        double q = im / re, d = re + im * q;
        __real__ r = (__real__ a + __imag__ a * q) / d;
        __imag__ r = (__imag__ a - __real__ a * q) / d;
    } else {
        double q = re / im, d = re * q + im;
        __real__ r = (__real__ a * q + __imag__ a) / d;
        __imag__ r = (__imag__ a * q - __real__ a) / d;
    }
    return r;
}

#endif
