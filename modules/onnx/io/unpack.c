/* Unpacking of narrow integers and floats. */
#include "modules/onnx/io/unpack.h"

#include <math.h>
#include <string.h>

/* A float of a byte or less: sign, exponent, mantissa. */
typedef struct narrow {
    const char *name;
    int exponent, mantissa, bias;   /* bits of both; bias of the exponent */
    enum { IEEE, NO_INFINITY, ONE_NAN, FINITE } kind;
} narrow;

static const narrow floats[] = {
    {"float8e4m3fn", 4, 3, 7, NO_INFINITY},
    {"float8e4m3fnuz", 4, 3, 8, ONE_NAN},
    {"float8e5m2", 5, 2, 15, IEEE}, {"float8e5m2fnuz", 5, 2, 16, ONE_NAN},
    {"float4e2m1", 2, 1, 1, FINITE}};
enum { FLOATS = sizeof floats / sizeof *floats };

bool la_onnx_is_packed(const la_onnx_type *type)
{
    return type->bits < 8 || (type->bits == 8 && type->dtype == LA_FLOAT32);
}

/* IEEE's infinities and NaN have all bits of the exponent; without infinities
** only those of the mantissa as well make a NaN; of the kinds with one NaN it
** is the sign alone. */
static float unpack_special(const narrow *f, unsigned sign, unsigned e,
                            unsigned m, bool *special)
{
    unsigned top = (1u << f->exponent) - 1, full = (1u << f->mantissa) - 1;
    *special = true;
    if (f->kind == IEEE && e == top) {
        float big = m ? NAN : INFINITY;
        return sign ? -big : big;
    }
    if (f->kind == NO_INFINITY && e == top && m == full) return NAN;
    if (f->kind == ONE_NAN && sign && e == 0 && m == 0) return NAN;
    *special = false;
    return 0;
}

static float unpack_float(const narrow *f, unsigned bits)
{
    bool special;
    unsigned m = bits & ((1u << f->mantissa) - 1);
    unsigned e = bits >> f->mantissa & ((1u << f->exponent) - 1);
    unsigned sign = bits >> (f->mantissa + f->exponent) & 1;
    float value = unpack_special(f, sign, e, m, &special);
    if (special) return value;
    if (e) m |= 1u << f->mantissa;
    value = ldexpf((float)m, (int)(e ? e : 1) - f->bias - f->mantissa);
    return sign ? -value : value;
}

/* A power of two: no sign, no mantissa. */
static float unpack_power(unsigned bits)
{
    return bits == 255 ? NAN : ldexpf(1, (int)bits - 127);
}

void la_onnx_unpack(const la_onnx_type *type, const unsigned char *from,
                    int64_t n, void *to)
{
    const narrow *f = floats;
    int bits = type->bits, in_byte = 8 / bits;
    unsigned mask = (1u << bits) - 1;
    while (f < floats + FLOATS && strcmp(f->name, type->name)) f++;
    for (int64_t k = 0; k < n; k++) {
        unsigned v = from[k / in_byte] >> (k % in_byte) * bits & mask;
        if (type->dtype == LA_UINT8)
            ((uint8_t *)to)[k] = (uint8_t)v;
        else if (type->dtype == LA_INT8)
            ((int8_t *)to)[k] = (int8_t)(v >> (bits - 1) ? (int)v - (1 << bits)
                                         : (int)v);
        else
            ((float *)to)[k] = f < floats + FLOATS ? unpack_float(f, v)
                : unpack_power(v);
    }
}
