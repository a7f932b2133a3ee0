/*
** The header of an .npy file: a Python dict with the keys descr,
** fortran_order and shape. The grammar is small and closed:
**
**   header = "{" pair { "," pair } [","] "}" blanks
**   pair   = string ":" value
**   value  = string | "True" | "False" | "(" [int {"," int} [","]] ")"
**
** Each key once, in any order; no other keys, no escapes, no evaluation.
*/
#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "io/npy.h"

typedef struct reader {
    const char *at, *end;
} reader;

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static la_status malformed(const char *what)
{
    return la_error(LA_EIO, "malformed .npy header (%s)", what);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'
                              || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Skip blanks, and 'c' when it comes next. */
static bool accept(reader *r, char c)
{
    skip_blanks(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool accept_word(reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return false;
    r->at += n;
    return true;
}

/* A quoted string without escapes; points into the text. */
static la_status read_string(reader *r, const char **text, size_t *n)
{
    char quote = accept(r, '\'') ? '\'' : accept(r, '"') ? '"' : 0;
    if (!quote) return malformed("a string was expected");
    *text = r->at;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '\\') return malformed("a string with escapes");
        if (*r->at == '\n') return malformed("a string without end");
        r->at++;
    }
    if (r->at >= r->end) return malformed("a string without end");
    *n = (size_t)(r->at++ - *text);
    return LA_OK;
}

/* ---- descr ---- */

/* The kinds of NumPy's array interface: b bool, u and i integers, f floats, c
** complex. LA_UNDEFINED for long doubles, text, dates, objects. */
static la_dtype dtype_of(char kind, int bytes)
{
    switch (kind) {
    case 'b': return bytes == 1 ? LA_BOOL : LA_UNDEFINED;
    case 'u': return bytes == 1 ? LA_UINT8 : bytes == 2 ? LA_UINT16
                   : bytes == 4 ? LA_UINT32 : bytes == 8 ? LA_UINT64
                   : LA_UNDEFINED;
    case 'i': return bytes == 1 ? LA_INT8 : bytes == 2 ? LA_INT16
                   : bytes == 4 ? LA_INT32 : bytes == 8 ? LA_INT64
                   : LA_UNDEFINED;
    case 'f': return bytes == 2 ? LA_FLOAT16 : bytes == 4 ? LA_FLOAT32
                   : bytes == 8 ? LA_FLOAT64 : LA_UNDEFINED;
    case 'c': return bytes == 8 ? LA_COMPLEX64 : bytes == 16 ? LA_COMPLEX128
                   : LA_UNDEFINED;
    default: return LA_UNDEFINED;
    }
}

/* The one or two digits behind order and kind; 0 where they are no size. */
static int number_after_kind(const char *text, size_t n)
{
    int bytes = 0;
    if (n < 3 || n > 4) return 0;
    for (size_t i = 2; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        bytes = bytes * 10 + (text[i] - '0');
    }
    return text[2] == '0' ? 0 : bytes;
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

/* "<f4": order of bytes, kind, size. '|' is for single bytes. */
static la_status parse_descr(const char *text, size_t n, la_npy_header *out)
{
    char shown[900];
    int bytes = number_after_kind(text, n);
    la_dtype dtype = bytes ? dtype_of(text[1], bytes) : LA_UNDEFINED;
    bool known_order = n && strchr("<>|=", text[0]) && text[0];
    if (dtype == LA_UNDEFINED || !known_order
        || (text[0] == '|' && bytes > 1))
        return la_error(LA_EIO, "dtype '%s' cannot be read (numbers and bool"
                        " can)", la_quote(text, n, shown, sizeof shown));
    out->dtype = dtype;
    out->swapped = bytes > 1
        && text[0] == (is_little_endian() ? '>' : '<');
    return LA_OK;
}

/* A list is a record dtype; its fields have no tensor that could hold them. */
static la_status read_descr(reader *r, la_npy_header *out)
{
    const char *text;
    size_t n;
    skip_blanks(r);
    if (r->at < r->end && *r->at == '[')
        return la_error(LA_EIO, "structured dtypes cannot be read");
    LA_TRY(read_string(r, &text, &n));
    return parse_descr(text, n, out);
}

/* ---- shape ---- */

/* Digits without sign or leading zeros; Python 2 wrote an L behind. */
static la_status read_size(reader *r, int64_t *out)
{
    int64_t value = 0;
    skip_blanks(r);
    const char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        if (__builtin_mul_overflow(value, 10, &value)
            || !la_add_ok(value, *r->at - '0', &value))
            return malformed("a size of 2^63 or more");
        r->at++;
    }
    if (r->at == first)
        return malformed(first < r->end && *first == '-' ? "a negative size"
                                                         : "a bad size");
    if (*first == '0' && r->at - first > 1)
        return malformed("a size with leading zeros");
    if (r->at < r->end && *r->at == 'L') r->at++;
    *out = value;
    return LA_OK;
}

/* A Python tuple: (), (3,), (3, 4) or (3, 4,). One size without a comma would
** be a number in parentheses, not a tuple. */
static la_status read_shape(reader *r, la_npy_header *out)
{
    bool comma = false;
    if (!accept(r, '(')) return malformed("shape is not a tuple");
    out->ndim = 0;
    while (!accept(r, ')')) {
        if (out->ndim && !comma) return malformed("a comma is missing");
        if (out->ndim == LA_MAX_DIMS)
            return la_error(LA_EIO, "more than %d dimensions", LA_MAX_DIMS);
        LA_TRY(read_size(r, &out->sizes[out->ndim++]));
        comma = accept(r, ',');
    }
    if (out->ndim == 1 && !comma) return malformed("shape is not a tuple");
    return LA_OK;
}

/* Python's literals; 1, 0 and lower case are not among what NumPy writes. */
static la_status read_order(reader *r, la_npy_header *out)
{
    out->fortran = accept_word(r, "True");
    if (!out->fortran && !accept_word(r, "False"))
        return malformed("fortran_order is not True or False");
    return LA_OK;
}

/* ---- the dict ---- */

/* 0 for a key that the format does not have. */
static int key_bit(const char *text, size_t n)
{
    if (n == 5 && !memcmp(text, "descr", n)) return HAS_DESCR;
    if (n == 13 && !memcmp(text, "fortran_order", n)) return HAS_ORDER;
    if (n == 5 && !memcmp(text, "shape", n)) return HAS_SHAPE;
    return 0;
}

/* Keys may come in any order, each exactly once: the bits of 'have' say which
** were there. */
static la_status read_pair(reader *r, la_npy_header *out, int *have)
{
    const char *text;
    size_t n;
    LA_TRY(read_string(r, &text, &n));
    int bit = key_bit(text, n);
    if (!bit) return malformed("an unknown key");
    if (*have & bit) return malformed("a key is there twice");
    *have |= bit;
    if (!accept(r, ':')) return malformed("':' was expected");
    return bit == HAS_DESCR ? read_descr(r, out)
        : bit == HAS_SHAPE ? read_shape(r, out) : read_order(r, out);
}

/* The grammar of one flat dict; NumPy itself evaluates the text as a literal,
** which accepts more, but writes only this. */
la_status la_npy_parse(const char *text, size_t n, la_npy_header *out)
{
    reader r = {text, text + n};
    int have = 0;
    bool comma = true;
    if (!n || text[n - 1] != '\n') return malformed("no newline at its end");
    if (!accept(&r, '{')) return malformed("'{' was expected");
    while (!accept(&r, '}')) {
        if (!comma) return malformed("a comma is missing");
        LA_TRY(read_pair(&r, out, &have));
        comma = accept(&r, ',');
    }
    skip_blanks(&r);
    if (r.at != r.end) return malformed("text after '}'");
    if (have != HAS_ALL) return malformed("a key is missing");
    return LA_OK;
}
