/* Numbers and strings of protocol 0, which are lines of text, and integers of
** any length. */
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/size.h"
#include "modules/pickle/io/pickle.h"

/* ---- integers ---- */

/* Sign bytes at the end say nothing. */
la_status la_pickle_new_long(la_pickle *p, int64_t at, size_t n, bool own,
                             uint32_t *out)
{
    const unsigned char *b = (const unsigned char *)
        (own ? (const char *)p->texts.data : p->data) + at;
    uint64_t v = n && b[n - 1] & 0x80 ? UINT64_MAX : 0;
    while (n > 8 && b[n - 1] == (b[n - 2] & 0x80 ? 0xff : 0)) n--;
    if (n <= 8) {
        for (size_t i = n; i-- > 0;) v = v << 8 | b[i];
        LA_TRY(la_pickle_new(p, LA_PICKLE_INT, out));
        memcpy(&p->nodes[*out].i, &v, sizeof v);
        return LA_OK;
    }
    LA_TRY(la_pickle_new(p, LA_PICKLE_LONG, out));
    p->nodes[*out].own = own;
    p->nodes[*out].i = at;
    p->nodes[*out].n = (uint32_t)n;
    return LA_OK;
}

/* The eight highest bytes, and whether there is more below them, decide how it
** is rounded. */
double la_pickle_long(const la_pickle *p, const la_pickle_node *node)
{
    const unsigned char *b = (const unsigned char *)la_pickle_text(p, node);
    uint32_t n = node->n, low = n - 8;
    bool minus = b[n - 1] & 0x80, more = false;
    uint64_t top = 0;
    for (uint32_t i = 0; i < low; i++) more = more || b[i];
    for (uint32_t i = n; i-- > low;)
        top = top << 8 | (minus ? b[i] ^ 0xffu : b[i]);
    if (minus && !more) top++;
    if (minus && !more && !top) return -ldexp(1, (int)la_min(8 * n, 9999));
    double v = ldexp((double)(top | more), (int)la_min(8 * (int64_t)low, 9999));
    return minus ? -v : v;
}

static la_status text_damaged(const la_pickle *p, const char *what)
{
    return la_pickle_fail(p, "%s is damaged", what);
}

/* "I01" and "I00" are booleans; beyond 64 bits a float. */
la_status la_pickle_read_int(la_pickle *p, const char *line, size_t n,
                             bool is_long, uint32_t *out)
{
    if (n && line[n - 1] == '\r') n--;
    if (!is_long && n == 2 && line[0] == '0' && (line[1] | 1) == '1') {
        LA_TRY(la_pickle_new(p, LA_PICKLE_BOOL, out));
        p->nodes[*out].i = line[1] == '1';
        return LA_OK;
    }
    if (n && line[n - 1] == 'L') n--;
    bool minus = n && *line == '-', exact = true;
    int64_t v = 0;
    if (n == minus) return text_damaged(p, "an integer");
    for (size_t i = minus; i < n; i++) {
        int digit = line[i] - '0';
        if (!la_is_digit(line[i])) return text_damaged(p, "an integer");
        if (__builtin_mul_overflow(v, 10, &v)
            || __builtin_add_overflow(v, minus ? -digit : digit, &v))
            exact = false;
    }
    LA_TRY(la_pickle_new(p, exact ? LA_PICKLE_INT : LA_PICKLE_FLOAT, out));
    if (exact) p->nodes[*out].i = v;
    else p->nodes[*out].f = la_decimal_read(line + minus, line + n).value
        * (minus ? -1 : 1);
    return LA_OK;
}

la_status la_pickle_read_float(la_pickle *p, const char *line, size_t n,
                               uint32_t *out)
{
    if (n && line[n - 1] == '\r') n--;
    bool minus = n && *line == '-';
    const char *from = line + minus, *end = line + n;
    double v = 0;
    if (end - from == 3 && memcmp(from, "nan", 3) == 0) {
        v = NAN;
    } else if (end - from == 3 && memcmp(from, "inf", 3) == 0) {
        v = INFINITY;
    } else {
        la_decimal_text text = la_decimal_read(from, end);
        if (text.end != end || from == end) return text_damaged(p, "a float");
        v = text.value;
    }
    LA_TRY(la_pickle_new(p, LA_PICKLE_FLOAT, out));
    p->nodes[*out].f = minus ? -v : v;
    return LA_OK;
}

/* ---- strings ---- */

static void text_put_utf8(la_bytes *out, unsigned c)
{
    if (c < 0x80) {
        la_bytes_put_byte(out, c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    la_bytes_put_byte(out, (more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0)
                      | c >> (6 * more));
    while (more--) la_bytes_put_byte(out, 0x80 | (c >> (6 * more) & 0x3f));
}

/* 'count' hexadecimal digits. */
static bool text_hex(const char *s, size_t left, int count, unsigned *out)
{
    *out = 0;
    if (left < (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        int digit = la_hex_digit(s[i]);
        if (digit < 0) return false;
        *out = *out << 4 | (unsigned)digit;
    }
    return true;
}

/* The escape behind a backslash at s[0]; how many bytes it has, 0 for none. */
static size_t text_escape(const char *s, size_t left, unsigned *out)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    const char *at = left && *s ? strchr(from, *s) : NULL;
    if (at) {
        *out = (unsigned char)to[at - from];
        return 1;
    }
    if (left && *s == 'x' && text_hex(s + 1, left - 1, 2, out)) return 3;
    size_t n = 0;
    *out = 0;
    while (n < left && n < 3 && s[n] >= '0' && s[n] <= '7')
        *out = *out << 3 | (unsigned)(s[n++] - '0');
    *out &= 0xff;
    return n;
}

la_status la_pickle_read_string(la_pickle *p, const char *line, size_t n,
                                uint32_t *out)
{
    LA_BYTES bytes = {0};
    if (n && line[n - 1] == '\r') n--;
    if (n < 2 || (*line != '\'' && *line != '"') || line[n - 1] != *line)
        return text_damaged(p, "a string in quotes");
    for (size_t i = 1; i < n - 1; i++) {
        unsigned c = (unsigned char)line[i];
        if (c == '\\') {
            size_t used = text_escape(line + i + 1, n - 2 - i, &c);
            if (!used) c = '\\';
            i += used;
        }
        la_bytes_put_byte(&bytes, c);
    }
    LA_TRY(bytes.status);
    return la_pickle_new_text(p, LA_PICKLE_TEXT, bytes.data, bytes.n, out);
}

/* Bytes are characters of latin1; \uXXXX and \UXXXXXXXX any. */
la_status la_pickle_read_unicode(la_pickle *p, const char *line, size_t n,
                                 uint32_t *out)
{
    LA_BYTES bytes = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned c = (unsigned char)line[i];
        int digits = c == '\\' && i + 1 < n
            ? line[i + 1] == 'u' ? 4 : line[i + 1] == 'U' ? 8 : 0 : 0;
        if (digits) {
            if (!text_hex(line + i + 2, n - i - 2, digits, &c) || c > 0x10ffff)
                return text_damaged(p, "a character");
            i += (size_t)digits + 1;
        }
        text_put_utf8(&bytes, c);
    }
    LA_TRY(bytes.status);
    return la_pickle_new_text(p, LA_PICKLE_TEXT, bytes.data, bytes.n, out);
}
