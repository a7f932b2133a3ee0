/* Fields of comma-separated values, read and written. */
#include "io/csv.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/half.h"

/* ---- fields ---- */

/* CRLF or LF at 'p'? Its length, or 0. */
static size_t line_end(const la_csv *c, const char *p)
{
    if (p < c->end && *p == '\n') return 1;
    return p + 1 < c->end && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

bool la_csv_more(la_csv *c)
{
    for (size_t n; (n = line_end(c, c->at)); c->line++) c->at += n;
    return c->at < c->end;
}

void la_csv_skip(la_csv *c, int64_t n)
{
    for (; n > 0 && c->at < c->end; n--, c->line++) {
        const char *p = memchr(c->at, '\n', (size_t)(c->end - c->at));
        c->at = p ? p + 1 : c->end;
    }
}

/* Behind a field there is a separator, or the row ends. */
static la_status end_field(la_csv *c, la_csv_field *out)
{
    size_t n = line_end(c, c->at);
    out->last = n || c->at == c->end;
    if (n) c->line++;
    else if (!out->last && *c->at != c->separator)
        return la_error(LA_EIO, "line %lld: '%c' behind a closing quote",
                        (long long)c->line, *c->at);
    c->at += n ? n : !out->last;
    return LA_OK;
}

/* The text up to the closing quote; doubled ones are halved in scratch. */
static la_status next_quoted(la_csv *c, la_csv_field *out)
{
    const char *from = ++c->at;
    int64_t line = c->line;
    bool doubled = false;
    c->scratch->n = 0;
    for (;; c->at++) {
        const char *p = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!p)
            return la_error(LA_EIO, "line %lld: a quote without its end",
                            (long long)line);
        for (const char *q = c->at; q < p; q++) c->line += *q == '\n';
        c->at = p;
        bool more = p + 1 < c->end && p[1] == '"';
        if (!more && !doubled) break;
        la_bytes_put(c->scratch, from, (size_t)(p + more - from));
        if (!more) break;
        doubled = true;
        c->at++;
        from = c->at + 1;
    }
    *out = (la_csv_field){from, (size_t)(c->at - from), false,
                          true};
    if (doubled) {
        out->text = (const char *)c->scratch->data;
        out->n = c->scratch->n;
    }
    c->at++;
    return c->scratch->status ? c->scratch->status : end_field(c, out);
}

la_status la_csv_next(la_csv *c, la_csv_field *out)
{
    if (c->at < c->end && *c->at == '"') return next_quoted(c, out);
    const char *p = c->at;
    while (p < c->end && *p != c->separator && *p != '\n') p++;
    if (p > c->at && p < c->end && *p == '\n' && p[-1] == '\r') p--;
    *out = (la_csv_field){c->at, (size_t)(p - c->at), false, false};
    c->at = p;
    return end_field(c, out);
}

/* ---- numbers ---- */

enum { LONGEST = 800 };         /* bytes of a number */

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22};

/* What stands for the point in numbers of the C library. */
static const char *locale_point(void)
{
    const char *point = localeconv()->decimal_point;
    return *point ? point : ".";
}

/* By the C library, which rounds every number of digits to the nearest, with
** the locale's point in it. */
static double slow_number(const char *text, size_t n)
{
    char copy[LONGEST + 16];
    const char *point = memchr(text, '.', n);
    size_t before = point ? (size_t)(point - text) : n;
    snprintf(copy, sizeof copy, "%.*s%.8s%.*s", (int)before, text,
             point ? locale_point() : "", point ? (int)(n - before - 1) : 0,
             point ? point + 1 : "");
    return strtod(copy, NULL);
}

/* Are the n bytes that word, in any case? */
static bool is_word(const char *p, size_t n, const char *word)
{
    return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits at *at: their number; the value of the first 19 significant ones goes
** on in *v, and what does not fit counts in *lost. */
static int digits(const char **at, const char *end, uint64_t *v, int *lost)
{
    int n = 0;
    for (; *at < end && is_digit(**at); ++*at, n++) {
        if (*v < UINT64_C(1000000000000000000))
            *v = *v * 10 + (uint64_t)(**at - '0');
        else
            ++*lost;
    }
    return n;
}

/* Magnitude of all digits where it is below 2^64. */
static bool whole(const char *p, const char *end, uint64_t *out)
{
    *out = 0;
    for (; p < end; p++)
        if (__builtin_mul_overflow(*out, 10, out)
            || __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return false;
    return true;
}

/* A number without its sign, from p to end; the grammar decides, the values of
** up to 2^53 times or by an exact power of ten are one rounding. */
static bool read_number(const char *p, const char *end, la_csv_value *out)
{
    const char *from = p;
    uint64_t v = 0;
    int lost = 0, unused = 0, exponent = 0;
    int before = digits(&p, end, &v, &lost), behind = 0;
    if (before && p == end && whole(from, end, &out->magnitude)) {
        out->kind = LA_CSV_INTEGER;
        out->number = (double)out->magnitude;
        return true;
    }
    if (p < end && *p == '.') {
        p++;
        behind = digits(&p, end, &v, &unused);
    }
    if (before + behind == 0) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end || !is_digit(*p)) return false;
        for (; p < end && is_digit(*p); p++)
            if (exponent < 100000) exponent = exponent * 10 + (*p - '0');
        if (down) exponent = -exponent;
    }
    if (p != end) return false;
    exponent -= behind;
    out->kind = LA_CSV_FLOAT;
    if (lost || unused || v > UINT64_C(1) << 53 || exponent < -22
        || exponent > 22) out->number = slow_number(from, (size_t)(end - from));
    else if (exponent < 0) out->number = (double)v / powers[-exponent];
    else out->number = (double)v * powers[exponent];
    return true;
}

/* true or false as they are usually written. */
static bool read_bool(const char *p, size_t n, la_csv_value *out)
{
    static const char *const words[] = {"false", "true", "False", "True",
                                        "FALSE", "TRUE"};
    for (unsigned k = 0; k < 6; k++)
        if (n == strlen(words[k]) && memcmp(p, words[k], n) == 0) {
            out->kind = LA_CSV_BOOL;
            out->magnitude = k & 1;
            return true;
        }
    return false;
}

void la_csv_read(const char *text, size_t n, la_csv_value *out)
{
    const char *p = text, *end = text + n;
    *out = (la_csv_value){.kind = LA_CSV_TEXT};
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (p == end || end - p > LONGEST) return;
    if (read_bool(p, (size_t)(end - p), out)) return;
    bool minus = *p == '-';
    p += minus || *p == '+';
    n = (size_t)(end - p);
    if (is_word(p, n, "inf") || is_word(p, n, "infinity")) {
        out->kind = LA_CSV_FLOAT;
        out->number = INFINITY;
    } else if (is_word(p, n, "nan")) {
        out->kind = LA_CSV_FLOAT;
        out->number = NAN;
    } else if (!read_number(p, end, out)) {
        return;
    }
    out->negative = minus;
    if (minus) out->number = -out->number;
}

/* ---- writing ---- */

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

/* Is v what a double rounds to in the dtype? A double that was read is rounded
** once more, as by la.read_csv. */
static bool rounds_to(double d, double v, la_dtype dtype)
{
    switch (dtype) {
    case LA_FLOAT16: return la_f16_to_f32(la_f32_to_f16((float)d)) == v;
    case LA_BFLOAT16: return la_bf16_to_f32(la_f32_to_bf16((float)d)) == v;
    case LA_FLOAT32: return (float)d == (float)v;
    default: return d == v;
    }
}

/* As many digits always come back, where v is not subnormal; fewer are tried
** only there, since %g drops zeros. */
static int least_digits(double v, la_dtype dtype)
{
    switch (dtype) {
    case LA_FLOAT16: return fabs(v) < 0x1p-14 ? 1 : 3;
    case LA_BFLOAT16: return fabs(v) < 0x1p-126 ? 1 : 2;
    case LA_FLOAT32: return fabs(v) < 0x1p-126 ? 1 : 6;
    default: return fabs(v) < 0x1p-1022 ? 1 : 15;
    }
}

/* What the C library wrote, with a point for the locale's. */
static void put_with_point(la_bytes *out, const char *text)
{
    const char *local = locale_point(), *at = strstr(text, local);
    size_t n = strlen(text), before = at ? (size_t)(at - text) : n;
    la_bytes_put(out, text, before);
    if (!at) return;
    la_bytes_put_byte(out, '.');
    la_bytes_put(out, at + strlen(local), n - before - strlen(local));
}

/* A point or an exponent says that it is no integer. NaN may have a sign. */
static void put_float(la_bytes *out, double v, la_dtype dtype)
{
    char text[48];
    for (int n = least_digits(v, dtype); n <= 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, v);
        if (rounds_to(strtod(text, NULL), v, dtype)) break;
    }
    put_with_point(out, text);
    if (isfinite(v) && !strchr(text, 'e') && !strstr(text, locale_point()))
        la_bytes_put(out, ".0", 2);
}

static void put_integer(la_bytes *out, const void *p, la_dtype dtype)
{
    char text[32];
    size_t size = la_dtype_size(dtype);
    bool is_signed = la_dtype_kind(dtype) == 'i';
    int64_t v = 0;
    switch (size) {
    case 1: v = is_signed ? *(const int8_t *)p : *(const uint8_t *)p; break;
    case 2: v = is_signed ? *(const int16_t *)p : *(const uint16_t *)p; break;
    case 4: v = is_signed ? *(const int32_t *)p
                          : (int64_t)*(const uint32_t *)p; break;
    default: memcpy(&v, p, sizeof v);
    }
    if (is_signed) snprintf(text, sizeof text, "%lld", (long long)v);
    else snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    la_bytes_put(out, text, strlen(text));
}

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

void la_csv_put_quoted(la_bytes *out, const char *text, size_t n)
{
    la_bytes_put_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') la_bytes_put_byte(out, '"');
        la_bytes_put(out, text + i, 1);
    }
    la_bytes_put_byte(out, '"');
}
