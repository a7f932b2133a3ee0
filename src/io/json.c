/* Strict reading of JSON strings and integers; writing of strings. */
#include "io/json.h"

#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"

la_status la_json_malformed(const char *what)
{
    return la_error(LA_EIO, "malformed header (%s)", what);
}

static void skip_space(la_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\t'
                              || *j->at == '\n' || *j->at == '\r'))
        j->at++;
}

bool la_json_accept(la_json *j, char c)
{
    skip_space(j);
    if (j->at >= j->end || *j->at != c) return false;
    j->at++;
    return true;
}

la_status la_json_expect(la_json *j, char c)
{
    char what[] = "'x' was expected";
    if (la_json_accept(j, c)) return LA_OK;
    what[1] = c;
    return la_json_malformed(what);
}

/* ---- strings ---- */

/* Four hexadecimal digits, or -1. */
static int32_t read_hex4(la_json *j)
{
    int32_t v = 0;
    if (j->end - j->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = *j->at++;
        int digit = c >= '0' && c <= '9' ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* After "\u": a code point, by two escapes above 0xffff; -1 when wrong. */
static int32_t read_code_point(la_json *j)
{
    int32_t high = read_hex4(j);
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || j->end - j->at < 6 || memcmp(j->at, "\\u", 2))
        return -1;
    j->at += 2;
    int32_t low = read_hex4(j);
    if (low < 0xdc00 || low > 0xdfff) return -1;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* 1 to 4 bytes; surrogates were joined or refused by the caller. */
static size_t put_utf8(int32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[n] | c);
    return n;
}

la_status la_json_escape(la_json *j, char out[4], size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->end ? *j->at++ : '\0';
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        *out = to[found - from];
        *n = 1;
        return LA_OK;
    }
    int32_t point = c == 'u' ? read_code_point(j) : -1;
    if (point < 0) return la_json_malformed("a bad escape");
    *n = put_utf8(point, out);
    return LA_OK;
}

/* Bytes of the UTF-8 sequence at 's', 0 when it is not valid. */
static size_t utf8_length(const char *s, const char *end)
{
    const unsigned char *b = (const unsigned char *)s;
    size_t n = b[0] < 0x80 ? 1 : b[0] >= 0xc2 && b[0] < 0xe0 ? 2
        : (b[0] & 0xf0) == 0xe0 ? 3 : b[0] >= 0xf0 && b[0] < 0xf5 ? 4 : 0;
    if (!n || (size_t)(end - s) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((b[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && (b[0] == 0xe0 ? b[1] < 0xa0 : b[0] == 0xed && b[1] > 0x9f))
        return 0;
    if (n == 4 && (b[0] == 0xf0 ? b[1] < 0x90 : b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    return n;
}

bool la_json_is_utf8(const char *text, size_t n)
{
    const char *end = text + n;
    for (size_t k; text < end; text += k)
        if (!(k = utf8_length(text, end))) return false;
    return true;
}

/* Up to four bytes are written per step, hence the check of the capacity before
** each. */
la_status la_json_string(la_json *j, char *out, size_t capacity, size_t *n)
{
    *n = 0;
    LA_TRY(la_json_expect(j, '"'));
    while (j->at < j->end && *j->at != '"') {
        size_t k = 0;
        if (capacity - *n < 4) return la_json_malformed("a string is too long");
        if (*j->at == '\\') {
            j->at++;
            LA_TRY(la_json_escape(j, out + *n, &k));
        } else {
            k = utf8_length(j->at, j->end);
            if (!k) return la_json_malformed("invalid UTF-8");
            if ((unsigned char)*j->at < 0x20)
                return la_json_malformed("a control character in a string");
            memcpy(out + *n, j->at, k);
            j->at += k;
        }
        *n += k;
    }
    if (j->at >= j->end) return la_json_malformed("a string without end");
    j->at++;
    return LA_OK;
}

/* A fraction or an exponent is refused even where the value is whole: sizes and
** offsets are written by digits. */
la_status la_json_integer(la_json *j, int64_t *out)
{
    int64_t v = 0;
    skip_space(j);
    const char *first = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9') {
        if (__builtin_mul_overflow(v, 10, &v)
            || !la_add_ok(v, *j->at - '0', &v))
            return la_json_malformed("a number of 2^63 or more");
        j->at++;
    }
    if (j->at == first || (*first == '0' && j->at - first > 1)
        || (j->at < j->end && (*j->at == '.' || *j->at == 'e'
                               || *j->at == 'E')))
        return la_json_malformed("a number is no plain integer");
    *out = v;
    return LA_OK;
}

/* ---- writing ---- */

/* JSON asks for escapes of the quote, the backslash and control characters
** only; the rest is UTF-8, which the caller has checked. */
void la_json_put(la_bytes *out, const char *text, size_t n)
{
    la_bytes_put_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        char piece[8];
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') la_bytes_put_byte(out, '\\');
        if (c < 0x20) {
            snprintf(piece, sizeof piece, "\\u%04x", c);
            la_bytes_put(out, piece, 6);
        } else {
            la_bytes_put_byte(out, c);
        }
    }
    la_bytes_put_byte(out, '"');
}
