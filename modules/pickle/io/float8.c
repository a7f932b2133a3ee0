/* Floats of 8 bits as float32: one table of 256 for each kind. */
#include "modules/pickle/io/float8.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Bits of the exponent and its bias; what all ones mean. */
static const struct {
    const char *word;
    int exponent, bias;
    enum { NAN_LAST, LIKE_IEEE, NAN_MINUS_ZERO, POWERS } specials;
} kinds[] = {
    [LA_FLOAT8_E4M3FN] = {"float8_e4m3fn", 4, 7, NAN_LAST},
    [LA_FLOAT8_E5M2] = {"float8_e5m2", 5, 15, LIKE_IEEE},
    [LA_FLOAT8_E4M3FNUZ] = {"float8_e4m3fnuz", 4, 8, NAN_MINUS_ZERO},
    [LA_FLOAT8_E5M2FNUZ] = {"float8_e5m2fnuz", 5, 16, NAN_MINUS_ZERO},
    [LA_FLOAT8_E8M0FNU] = {"float8_e8m0fnu", 8, 127, POWERS},
};

la_float8 la_float8_of(const char *word, size_t n)
{
    for (int k = LA_FLOAT8_E4M3FN; k <= LA_FLOAT8_E8M0FNU; k++)
        if (strlen(kinds[k].word) == n && memcmp(kinds[k].word, word, n) == 0)
            return (la_float8)k;
    return LA_FLOAT8_NONE;
}

static float float8_value(la_float8 kind, unsigned bits)
{
    if (kinds[kind].specials == POWERS)
        return bits == 255 ? NAN : ldexpf(1, (int)bits - 127);
    int wide = 7 - kinds[kind].exponent;
    unsigned low = bits & ((1u << wide) - 1);
    int exponent = (int)((bits & 127) >> wide);
    float sign = bits & 128 ? -1.0f : 1.0f;
    bool is_nan = kinds[kind].specials == NAN_LAST ? (bits & 127) == 127
        : kinds[kind].specials == NAN_MINUS_ZERO ? bits == 128
        : exponent == 31 && low;
    if (is_nan) return NAN;
    if (kinds[kind].specials == LIKE_IEEE && exponent == 31)
        return sign * INFINITY;
    if (exponent == 0)
        return sign * ldexpf((float)low, 1 - kinds[kind].bias - wide);
    return sign * ldexpf((float)(low + (1u << wide)),
                         exponent - kinds[kind].bias - wide);
}

void la_float8_widen(la_float8 kind, const unsigned char *from, float *out,
                     size_t n)
{
    float table[256];
    for (unsigned bits = 0; bits < 256; bits++)
        table[bits] = float8_value(kind, bits);
    for (size_t i = 0; i < n; i++) out[i] = table[from[i]];
}
