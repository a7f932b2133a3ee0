/*
** Formats piece by piece: numbers with a point are written here, all else by
** the C library, which asks no locale for it.
**
** Each directive is read into a record, and its argument taken by the size that
** the record has, as one list of arguments cannot be shared with the C library
** piece by piece: what it has read of the list is nobody else's to know.
** Integers go through snprintf as the widest type with the same directive. Not
** for hot paths: a line of text takes a microsecond.
*/
#include "base/format.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"

/* ---- numbers ---- */

/* Digits and a point become text in the three notations of printf; all of
** these return what is behind. */

/* n digits from the k-th on, with zeros on both sides of those that are. */
static char *format_put_digits(char *at, const la_decimal_digits_of *d, int k,
                               int n)
{
    for (int end = k + n; k < end; k++)
        *at++ = k >= 0 && k < d->n ? d->digits[k] : '0';
    return at;
}

/* ddd.ddd, with a digit before the point and 'precision' behind it. */
static char *put_fixed(char *at, const la_decimal_digits_of *d, int precision)
{
    int before = d->n && d->point > 0 ? d->point : 0;
    if (before == 0) *at++ = '0';
    at = format_put_digits(at, d, 0, before);
    if (precision == 0) return at;
    *at++ = '.';
    return format_put_digits(at, d, d->n ? d->point : 0, precision);
}

/* d.ddde+xx */
static char *format_put_scientific(char *at, const la_decimal_digits_of *d,
                                   int precision)
{
    int exponent = d->n ? d->point - 1 : 0;
    at = format_put_digits(at, d, 0, 1);
    if (precision > 0) *at++ = '.';
    at = format_put_digits(at, d, 1, precision);
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    if (exponent < 10) *at++ = '0';
    return at + la_decimal_digits((uint64_t)exponent, at);
}

/* Without zeros at the end: as few digits as there are. The exponent is that of
** the rounded number, so 9.9999 in three digits is 10. */
static char *put_general(char *at, la_decimal_digits_of *d, int precision)
{
    while (d->n && d->digits[d->n - 1] == '0') d->n--;
    int exponent = d->n ? d->point - 1 : 0;
    if (exponent < -4 || exponent >= precision)
        return format_put_scientific(at, d, d->n - 1);
    int behind = d->n - d->point;
    return put_fixed(at, d, d->n && behind > 0 ? behind : 0);
}

int la_format_number(char out[LA_NUMBER_BYTES], char notation, int precision,
                     bool plus, double v)
{
    la_decimal_digits_of d;
    char *at = out;
    d.n = d.point = 0;
    if (precision > LA_NUMBER_PRECISION) precision = LA_NUMBER_PRECISION;
    if (notation == 'g' && precision == 0) precision = 1;
    if (signbit(v)) *at++ = '-';
    else if (plus) *at++ = '+';
    if (!isfinite(v)) {
        memcpy(at, isnan(v) ? "nan" : "inf", 4);
        return (int)(at - out) + 3;
    }
    /* 'e' has one digit in front of its precision, 'g' counts all of them. */
    int significant = precision + (notation == 'e');
    if (notation == 'f') la_decimal_expand(fabs(v), precision, -1, &d);
    else la_decimal_expand(fabs(v), 0, significant, &d);
    la_decimal_round(&d, notation == 'f' ? d.point + precision : significant);
    at = notation == 'f' ? put_fixed(at, &d, precision)
        : notation == 'e' ? format_put_scientific(at, &d, precision)
        : put_general(at, &d, precision);
    *at = '\0';
    return (int)(at - out);
}

/* ---- formats ---- */

typedef struct directive {
    char text[32];              /* as the C library reads it, without stars */
    bool plus, left, zero;
    int width, precision;       /* -1: none */
    char size, conversion;      /* 'H' is "hh", 'L' is "ll", 0 is none */
} directive;

/* Text that is clipped at its end. */
typedef struct output {
    char *text;
    size_t capacity, n;         /* n: all that would be written */
} output;

/* Characters that do not fit are counted. */
static void format_put(output *o, const char *text, size_t n)
{
    if (o->n + 1 < o->capacity) {
        size_t left = o->capacity - 1 - o->n;
        memcpy(o->text + o->n, text, n < left ? n : left);
    }
    o->n += n;
}

static void put_repeated(output *o, char c, int n)
{
    for (; n > 0; n--) format_put(o, &c, 1);
}

/* Digits at *at, which ends behind them; larger numbers than any use are
** clipped. */
static int format_read_number(const char **at)
{
    int n = 0;
    for (; la_is_digit(**at); ++*at)
        if (n < 100000) n = n * 10 + (**at - '0');
    return n;
}

/* All of these return what is behind. */
static const char *read_flags(directive *d, const char *p)
{
    for (;; p++) {
        if (*p == '+') d->plus = true;
        else if (*p == '-') d->left = true;
        else if (*p == '0') d->zero = true;
        else return p;
    }
}

static const char *format_read_size(directive *d, const char *p)
{
    if (strchr("hlzjt", *p) == NULL || !*p) return p;
    d->size = *p++;
    if (*p == d->size) {
        d->size = d->size == 'h' ? 'H' : 'L';
        p++;
    }
    return p;
}

/* The directive for the C library, whose width and precision are known by now,
** whether they were digits or arguments. */
static void spell(directive *d)
{
    static const char *const sizes[] = {"hh", "ll"};
    char size[2] = {d->size, '\0'};
    const char *word = d->size == 'H' ? sizes[0] : d->size == 'L' ? sizes[1]
        : size;
    int n = snprintf(d->text, sizeof d->text, "%%%s%s%s", d->plus ? "+" : "",
                     d->left ? "-" : "", d->zero ? "0" : "");
    if (d->width >= 0)
        n += snprintf(d->text + n, sizeof d->text - (size_t)n, "%d", d->width);
    if (d->precision >= 0)
        n += snprintf(d->text + n, sizeof d->text - (size_t)n, ".%d",
                      d->precision);
    snprintf(d->text + n, sizeof d->text - (size_t)n, "%s%c", word,
             d->conversion);
}

/* Zeros come behind a sign, where there is one; infinities and NaN have blanks
** there. */
static void format_put_float(output *o, const directive *d, double v)
{
    char text[LA_NUMBER_BYTES];
    int n = la_format_number(text, d->conversion, d->precision < 0 ? 6
                             : d->precision, d->plus, v);
    int pad = d->width > n ? d->width - n : 0, sign = 0;
    bool zeros = d->zero && !d->left && isfinite(v);
    if (!d->left && !zeros) put_repeated(o, ' ', pad);
    if (zeros) {
        sign = text[0] == '-' || text[0] == '+';
        format_put(o, text, (size_t)sign);
        put_repeated(o, '0', pad);
    }
    format_put(o, text + sign, (size_t)(n - sign));
    if (d->left) put_repeated(o, ' ', pad);
}

/* Texts are as long as they like; a precision clips them. */
static void put_text(output *o, const directive *d, const char *s)
{
    if (!s) s = "(null)";
    size_t n = d->precision < 0 ? strlen(s) : 0;
    while (d->precision > 0 && n < (size_t)d->precision && s[n]) n++;
    int pad = d->width > 0 && n < (size_t)d->width ? d->width - (int)n : 0;
    if (!d->left) put_repeated(o, ' ', pad);
    format_put(o, s, n);
    if (d->left) put_repeated(o, ' ', pad);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* An integer of any size; the directive's own size is that of its widest. */
static void format_put_integer(output *o, directive *d, long long v)
{
    char text[256];
    if (d->width > 200) d->width = 200;
    if (d->precision > 200) d->precision = 200;
    d->size = 'L';
    spell(d);
    format_put(o, text, (size_t)snprintf(text, sizeof text, d->text, v));
}

static void put_pointer(output *o, directive *d, void *v)
{
    char text[256];
    if (d->width > 200) d->width = 200;
    spell(d);
    format_put(o, text, (size_t)snprintf(text, sizeof text, d->text, v));
}
#pragma GCC diagnostic pop

/* The next argument of an integer's directive: what is smaller than an int is
** passed as one. */
static long long signed_of(char size, va_list *list)
{
    switch (size) {
    case 'H': return (signed char)va_arg(*list, int);
    case 'h': return (short)va_arg(*list, int);
    case 'l': return va_arg(*list, long);
    case 'L': return va_arg(*list, long long);
    case 'z': return (long long)va_arg(*list, size_t);
    case 'j': return va_arg(*list, intmax_t);
    case 't': return va_arg(*list, ptrdiff_t);
    default: return va_arg(*list, int);
    }
}

static unsigned long long unsigned_of(char size, va_list *list)
{
    switch (size) {
    case 'H': return (unsigned char)va_arg(*list, unsigned);
    case 'h': return (unsigned short)va_arg(*list, unsigned);
    case 'l': return va_arg(*list, unsigned long);
    case 'L': return va_arg(*list, unsigned long long);
    case 'z': return va_arg(*list, size_t);
    case 'j': return va_arg(*list, uintmax_t);
    case 't': return (unsigned long long)va_arg(*list, ptrdiff_t);
    default: return va_arg(*list, unsigned);
    }
}

/* The argument of the directive, or the '%' of "%%". */
static void put_argument(output *o, directive *d, va_list *list)
{
    char c;
    switch (d->conversion) {
    case 'd': case 'i':
        format_put_integer(o, d, signed_of(d->size, list));
        break;
    case 'u': case 'x': case 'X': case 'o':
        format_put_integer(o, d, (long long)unsigned_of(d->size, list));
        break;
    case 'e': case 'f': case 'g':
        format_put_float(o, d, va_arg(*list, double));
        break;
    case 's': put_text(o, d, va_arg(*list, const char *)); break;
    case 'p': put_pointer(o, d, va_arg(*list, void *)); break;
    case 'c':
        c = (char)va_arg(*list, int);
        format_put(o, &c, 1);
        break;
    default: format_put(o, "%", 1); break;
    }
}

/* Prints the directive that begins behind '%'; returns what follows it. */
static const char *put_directive(output *o, const char *p, va_list *list)
{
    directive d = {.width = -1, .precision = -1};
    p = read_flags(&d, p);
    if (*p == '*') {
        d.width = va_arg(*list, int);
        d.left = d.left || d.width < 0;
        d.width = d.width < 0 ? -d.width : d.width;
        p++;
    } else if (la_is_digit(*p)) {
        d.width = format_read_number(&p);
    }
    if (*p == '.') {
        p++;
        if (*p == '*') d.precision = va_arg(*list, int), p++;
        else d.precision = format_read_number(&p);
    }
    p = format_read_size(&d, p);
    d.conversion = *p;
    if (*p) p++;
    put_argument(o, &d, list);
    return p;
}

int la_format_list(char *out, size_t capacity, const char *format, va_list list)
{
    output o = {out, capacity, 0};
    va_list rest;
    va_copy(rest, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        format_put(&o, format, plain);
        format += plain;
        if (*format == '%') format = put_directive(&o, format + 1, &rest);
    }
    va_end(rest);
    if (capacity) out[o.n < capacity ? o.n : capacity - 1] = '\0';
    return (int)o.n;
}

int la_format(char *out, size_t capacity, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = la_format_list(out, capacity, format, list);
    va_end(list);
    return n;
}
