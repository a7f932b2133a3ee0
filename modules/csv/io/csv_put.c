/*
** Elements and texts as fields of comma-separated values. The digits of a float
** are the fewest that are rounded to it in its own dtype, the form is that of
** printf's %g; neither depends on the locale.
*/
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "modules/csv/io/csv.h"
#include "base/decimal.h"

/* Properties of a dtype: bits of its mantissa, the exponent of its least
** number, and digits that always come back where a value is not subnormal. */
typedef struct float_form { int bits, least, digits; } float_form;

/* Form of a float dtype. */
static float_form form_of(la_dtype dtype)
{
    switch (dtype) {
    case LA_FLOAT16: return (float_form){11, -24, 3};
    case LA_BFLOAT16: return (float_form){8, -133, 2};
    case LA_FLOAT32: return (float_form){24, -149, 6};
    default: return (float_form){53, -1074, 15};
    }
}

/* An element as a double, exactly. */
static double to_double(const void *p, la_dtype dtype)
{
    float f;
    double d;
    la_f16 h;
    la_bf16 b;
    switch (dtype) {
    case LA_FLOAT16: memcpy(&h, p, sizeof h); return la_f16_to_f32(h);
    case LA_BFLOAT16: memcpy(&b, p, sizeof b); return la_bf16_to_f32(b);
    case LA_FLOAT32: memcpy(&f, p, sizeof f); return f;
    default: memcpy(&d, p, sizeof d); return d;
    }
}

/* Does the decimal come back? la.read_csv rounds to a double first. */
static bool comes_back(la_decimal x, double v, la_dtype dtype)
{
    double d;
    if (!la_decimal_nearest(x.digits, x.exponent, &d)) return false;
    switch (dtype) {
    case LA_FLOAT16: return la_f16_to_f32(la_f32_to_f16((float)d)) == v;
    case LA_BFLOAT16: return la_bf16_to_f32(la_f32_to_bf16((float)d)) == v;
    default: return dtype == LA_FLOAT64 || (double)(float)d == v;
    }
}

/* c * 2^q of a double, c of 53 bits or, for subnormals, fewer. */
static void split_double(double v, uint64_t *c, int *q)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    int exponent = (int)(word >> 52 & 2047);
    *c = word & ((UINT64_C(1) << 52) - 1);
    if (exponent) *c |= UINT64_C(1) << 52;
    *q = (exponent ? exponent : 1) - 1075;
}

/* v > 0, finite. What the dtype's own digits would lose by the double between
** is given with the digits of the double. */
static la_decimal shortest(double v, la_dtype dtype, float_form form)
{
    uint64_t c, wide;
    int q, wide_q;
    split_double(v, &wide, &wide_q);
    c = wide, q = wide_q;
    /* Zeros, as v is a value of the dtype. */
    int drop = 53 - form.bits;
    if (drop) {
        if (q + drop < form.least) drop = form.least - q;
        c >>= drop, q += drop;
    }
    bool narrow = c == UINT64_C(1) << (form.bits - 1) && q > form.least;
    la_decimal x = la_decimal_shortest(c, q, narrow);
    if (dtype == LA_FLOAT64 || comes_back(x, v, dtype)) return x;
    return la_decimal_shortest(wide, wide_q,
                               wide == UINT64_C(1) << 52 && wide_q > -1074);
}

/* ---- texts ---- */

/* All of these return what is behind. */
static char *put_zeros(char *at, int n)
{
    memset(at, '0', (size_t)n);
    return at + n;
}

/* Puts the digits of a number, or a word. */
static char *put_digits(char *at, const char *digits, int n)
{
    memcpy(at, digits, (size_t)n);
    return at + n;
}

/* d.ddde+xx */
static char *put_scientific(char *at, const char *digits, int n, int exponent)
{
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    *at++ = digits[0];
    if (n > 1) *at++ = '.';
    at = put_digits(at, digits + 1, n - 1);
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    if (size < 10) *at++ = '0';
    return at + la_decimal_digits(size, at);
}

/* Puts a number as C's %g has it with as many digits as are needed: an exponent
** below 1e-4 and where there are more digits before the point than that. */
static char *put_decimal(char *at, la_decimal x, int least)
{
    char digits[20];
    int n = la_decimal_digits(x.digits, digits), exponent = x.exponent + n - 1;
    if (exponent < -4 || exponent >= (n > least ? n : least))
        return put_scientific(at, digits, n, exponent);
    if (exponent < 0) {
        at = put_digits(at, "0.", 2);
        at = put_zeros(at, -exponent - 1);
        return put_digits(at, digits, n);
    }
    int before = exponent + 1;
    if (before >= n) {
        at = put_digits(at, digits, n);
        at = put_zeros(at, before - n);
        return put_digits(at, ".0", 2);
    }
    at = put_digits(at, digits, before);
    *at++ = '.';
    return put_digits(at, digits + before, n - before);
}

/* A point or an exponent says that it is no integer. */
static void put_float(la_bytes *out, double v, la_dtype dtype)
{
    char text[48], *at = text;
    float_form form = form_of(dtype);
    if (signbit(v) && !isnan(v)) *at++ = '-';
    v = fabs(v);
    if (isnan(v)) {
        at = put_digits(at, "nan", 3);
    } else if (isinf(v)) {
        at = put_digits(at, "inf", 3);
    } else if (v == 0) {
        at = put_digits(at, "0.0", 3);
    } else {
        bool normal = v >= ldexp(1, form.least + form.bits - 1);
        at = put_decimal(at, shortest(v, dtype, form),
                         normal ? form.digits : 1);
    }
    la_bytes_put(out, text, (size_t)(at - text));
}

/* All dtypes but uint64 are values of int64. */
static void put_integer(la_bytes *out, const void *p, la_dtype dtype)
{
    char text[24];
    bool is_signed = la_dtype_kind(dtype) == 'i';
    int64_t v = 0;
    switch (la_dtype_size(dtype)) {
    case 1: v = is_signed ? *(const int8_t *)p : *(const uint8_t *)p; break;
    case 2: v = is_signed ? *(const int16_t *)p : *(const uint16_t *)p; break;
    case 4: v = is_signed ? *(const int32_t *)p
                          : (int64_t)*(const uint32_t *)p; break;
    default: memcpy(&v, p, sizeof v);
    }
    bool minus = is_signed && v < 0;
    text[0] = '-';
    int n = la_decimal_digits(minus ? -(uint64_t)v : (uint64_t)v,
                              text + minus);
    la_bytes_put(out, text, (size_t)(n + minus));
}

/* Puts an element by the kind of the dtype; bool in words. */
void la_csv_put(la_bytes *out, const void *element, la_dtype dtype)
{
    if (dtype == LA_BOOL) {
        bool set = *(const uint8_t *)element;
        la_bytes_put(out, set ? "true" : "false", set ? 4 : 5);
    } else if (la_is_float(dtype)) {
        put_float(out, to_double(element, dtype), dtype);
    } else {
        put_integer(out, element, dtype);
    }
}

/* Blanks at an end, and what would be a file's byte order mark, are kept by
** quotes, too. */
void la_csv_put_text(la_bytes *out, const char *text, size_t n, char separator)
{
    bool plain = n == 0 || (text[0] != ' ' && text[n - 1] != ' '
                            && text[0] != '\xef');
    for (size_t i = 0; i < n && plain; i++)
        plain = text[i] != separator && text[i] != '"' && text[i] != '\n'
            && text[i] != '\r';
    if (plain) la_bytes_put(out, text, n);
    else la_csv_put_quoted(out, text, n);
}

/* Up to and with each quote, and that again. */
void la_csv_put_quoted(la_bytes *out, const char *text, size_t n)
{
    la_bytes_put_byte(out, '"');
    for (const char *end = text + n, *p; text < end; text = p) {
        p = memchr(text, '"', (size_t)(end - text));
        p = p ? p + 1 : end;
        la_bytes_put(out, text, (size_t)(p - text));
        if (p[-1] == '"') la_bytes_put_byte(out, '"');
    }
    la_bytes_put_byte(out, '"');
}
