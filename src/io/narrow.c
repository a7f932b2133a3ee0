/* Values of narrow floats. */
#include "io/narrow.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Bits of the exponent and of the mantissa, the exponent's bias, and what is no
** number. */
struct la_narrow {
    const char *word;
    int exponent, mantissa, bias;
    enum {
        NARROW_IEEE,            /* all ones in the exponent: infinities, NaN */
        NARROW_NAN_LAST,        /* all ones in exponent and mantissa: NaN */
        NARROW_NAN_MINUS_ZERO,  /* the sign alone: NaN */
        NARROW_FINITE,
        NARROW_POWER            /* an exponent alone; 255: NaN */
    } kind;
};

static const la_narrow kinds[] = {
    {"e4m3fn", 4, 3, 7, NARROW_NAN_LAST},
    {"e4m3fnuz", 4, 3, 8, NARROW_NAN_MINUS_ZERO},
    {"e5m2", 5, 2, 15, NARROW_IEEE},
    {"e5m2fnuz", 5, 2, 16, NARROW_NAN_MINUS_ZERO},
    {"e2m1", 2, 1, 1, NARROW_FINITE},
    {"e8m0fnu", 8, 0, 127, NARROW_POWER}
};

const la_narrow *la_narrow_of(const char *word, size_t n)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strlen(kinds[k].word) == n && memcmp(kinds[k].word, word, n) == 0)
            return &kinds[k];
    return NULL;
}

int la_narrow_bits(const la_narrow *f)
{
    return (f->kind != NARROW_POWER) + f->exponent + f->mantissa;
}

/* Are these parts no finite number? What they are then. */
static bool narrow_special(const la_narrow *f, bool sign, unsigned e,
                           unsigned m, float *out)
{
    unsigned top = (1u << f->exponent) - 1, full = (1u << f->mantissa) - 1;
    *out = NAN;
    if (f->kind == NARROW_IEEE && e == top && !m)
        *out = sign ? -INFINITY : INFINITY;
    return (f->kind == NARROW_IEEE && e == top)
        || (f->kind == NARROW_NAN_LAST && e == top && m == full)
        || (f->kind == NARROW_NAN_MINUS_ZERO && sign && !e && !m);
}

float la_narrow_value(const la_narrow *f, unsigned bits)
{
    float value;
    unsigned m = bits & ((1u << f->mantissa) - 1);
    unsigned e = bits >> f->mantissa & ((1u << f->exponent) - 1);
    bool sign = bits >> (f->mantissa + f->exponent) & 1;
    if (f->kind == NARROW_POWER)
        return e == 255 ? NAN : ldexpf(1, (int)e - f->bias);
    if (narrow_special(f, sign, e, m, &value)) return value;
    if (e) m |= 1u << f->mantissa;
    value = ldexpf((float)m, (int)(e ? e : 1) - f->bias - f->mantissa);
    return sign ? -value : value;
}
