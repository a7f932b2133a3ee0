/* binary16 <-> binary32 by integer arithmetic, so that every platform and
** every rounding mode gives the same bits. */
#include "base/half.h"

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

float la_f16_to_f32(la_f16 h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16;
    uint32_t exponent = h.bits >> 10 & 0x1f;
    uint32_t fraction = h.bits & 0x3ff;
    if (exponent == 0x1f) {  /* infinity, or NaN made quiet as hardware does */
        uint32_t quiet = fraction ? 0x400000 : 0;
        return from_bits(sign | 0x7f800000 | quiet | fraction << 13);
    }
    if (exponent)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    if (!fraction) return from_bits(sign);
    int shift = __builtin_clz(fraction) - 21;  /* leading one to bit 10 */
    fraction = fraction << shift & 0x3ff;
    return from_bits(sign | (uint32_t)(113 - shift) << 23 | fraction << 13);
}

/* 'x' shifted right by 'n' (1..31), rounded to nearest even. */
static uint32_t shift_round(uint32_t x, int n)
{
    uint32_t half = 1u << (n - 1), odd = x >> n & 1;
    return (x + half - 1 + odd) >> n;
}

la_f16 la_f32_to_f16(float f)
{
    uint32_t x;
    memcpy(&x, &f, 4);
    uint16_t sign = (uint16_t)(x >> 16 & 0x8000);
    x &= 0x7fffffff;
    if (x > 0x7f800000)
        return (la_f16){(uint16_t)(sign | 0x7e00 | (x >> 13 & 0x3ff))};
    if (x >= 0x477ff000)  /* from 65520 on rounding gives infinity */
        return (la_f16){(uint16_t)(sign | 0x7c00)};
    if (x >= 0x38800000)  /* normal: rebias, a carry moves the exponent */
        return (la_f16){(uint16_t)(sign | shift_round(x - 0x38000000, 13))};
    if (x < 0x33000000)   /* below half of the smallest denormal */
        return (la_f16){sign};
    int shift = 126 - (int)(x >> 23);
    uint32_t fraction = (x & 0x7fffff) | 0x800000;
    return (la_f16){(uint16_t)(sign | shift_round(fraction, shift))};
}
