/* The scaled complementary error function of non-negative doubles. */
#ifndef LA_SIMD_MATH_MATH_ERFCX_H
#define LA_SIMD_MATH_MATH_ERFCX_H

#include "simd/vec.h"

/* e^(x^2) * erfc(x) for x from 0 to 27.4: a rational approximation to 2^-53. It
** is good to a few units where SLEEF's erfc is good to one and a half, at a
** quarter of the time: for what has other roundings anyway. */
static inline f64v f64_erfcx_(f64v x)
{
#define STEP(v, c) v = f64_fma(v, x, f64_set1(c))
    f64v n = f64_set1(0x1.05c12c1ecaae2p-14);
    f64v d = f64_set1(0x1.cff2aa62ba640p-14);
    STEP(d, 0x1.13e0d728e92b6p-9);
    STEP(n, 0x1.374b99422297bp-10);
    STEP(d, 0x1.42237f2503c74p-6);
    STEP(n, 0x1.6a78d9c0bdce4p-7);
    STEP(d, 0x1.de1b11171bd5cp-4);
    STEP(n, 0x1.0b4f6e6366ef2p-4);
    STEP(d, 0x1.ee0f13074404bp-2);
    STEP(n, 0x1.111c77a13fe8cp-2);
    STEP(d, 0x1.709eb0debd9e8p+0);
    STEP(n, 0x1.8f8a45bc95f30p-1);
    STEP(d, 0x1.8fe8ab7a5858dp+1);
    STEP(n, 0x1.a281775c5b894p+0);
    STEP(d, 0x1.360fbe3e0a86cp+2);
    STEP(n, 0x1.2fe976119b72bp+1);
    STEP(d, 0x1.47a730e3b5612p+2);
    STEP(n, 0x1.186b669047ef6p+1);
    STEP(d, 0x1.a8da21125cc90p+1);
    STEP(n, 0x1.0000000000000p+0);
    STEP(d, 0x1.0000000000000p+0);
#undef STEP
    return n / d;
}

#endif
