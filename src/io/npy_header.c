/*
** The header of an .npy file: a Python dict with the keys descr,
** fortran_order and shape. The grammar is small and closed:
**
**   header = blanks "{" pair { "," pair } [","] "}" blanks
**   pair   = string ":" value
**   value  = string | "True" | "False" | "(" [int {"," int} [","]] ")"
**
** Blanks and comments may stand anywhere. Each key once, in any order; no other
** keys, no escapes, no evaluation: NumPy, which evaluates the text as a
** literal, reads joined strings and numbers in other bases too, which nobody
** writes.
*/
#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "io/npy.h"

typedef struct reader {
    const char *at, *end;
} reader;

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static la_status npy_malformed(const char *what)
{
    return la_error(LA_EIO, "malformed .npy header (%s)", what);
}

/* A comment goes to the end of its line. */
static void skip_blanks(reader *r)
{
    bool comment = false;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') comment = false;
        else if (*r->at == '#') comment = true;
        else if (!comment && *r->at != ' ' && *r->at != '\t' && *r->at != '\r'
                 && *r->at != '\f') return;
    }
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

/* A quoted string without escapes; points into the text. The prefixes of Python
** 2 mean nothing then. */
static la_status read_string(reader *r, const char **text, size_t *n)
{
    skip_blanks(r);
    if (r->end - r->at > 1 && *r->at && strchr("uUrR", *r->at)
        && (r->at[1] == '\'' || r->at[1] == '"')) r->at++;
    char quote = accept(r, '\'') ? '\'' : accept(r, '"') ? '"' : 0;
    if (!quote) return npy_malformed("a string was expected");
    *text = r->at;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '\\') return npy_malformed("a string with escapes");
        if (*r->at == '\n') return npy_malformed("a string without end");
        r->at++;
    }
    if (r->at >= r->end) return npy_malformed("a string without end");
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

/* Other names of NumPy's for a dtype. Those whose size depends on the platform
** of who wrote them (long) are left out. */
static const struct {
    const char *name;
    la_dtype dtype;
} names[] = {
    {"?", LA_BOOL}, {"b", LA_INT8}, {"B", LA_UINT8}, {"h", LA_INT16},
    {"H", LA_UINT16}, {"i", LA_INT32}, {"I", LA_UINT32}, {"q", LA_INT64},
    {"Q", LA_UINT64}, {"e", LA_FLOAT16}, {"f", LA_FLOAT32}, {"d", LA_FLOAT64},
    {"F", LA_COMPLEX64}, {"D", LA_COMPLEX128}, {"bool", LA_BOOL},
    {"byte", LA_INT8}, {"ubyte", LA_UINT8}, {"short", LA_INT16},
    {"ushort", LA_UINT16}, {"intc", LA_INT32}, {"uintc", LA_UINT32},
    {"longlong", LA_INT64}, {"ulonglong", LA_UINT64}, {"half", LA_FLOAT16},
    {"single", LA_FLOAT32}, {"double", LA_FLOAT64}, {"float", LA_FLOAT64},
    {"csingle", LA_COMPLEX64}, {"cdouble", LA_COMPLEX128},
    {"complex", LA_COMPLEX128}, {"int8", LA_INT8}, {"uint8", LA_UINT8},
    {"int16", LA_INT16}, {"uint16", LA_UINT16}, {"int32", LA_INT32},
    {"uint32", LA_UINT32}, {"int64", LA_INT64}, {"uint64", LA_UINT64},
    {"float16", LA_FLOAT16}, {"float32", LA_FLOAT32}, {"float64", LA_FLOAT64},
    {"complex64", LA_COMPLEX64}, {"complex128", LA_COMPLEX128},
};

/* One letter may have an order of bytes in front, a word has none. */
static la_dtype dtype_of_name(const char *text, size_t n, bool has_order)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k].name) == n && !memcmp(names[k].name, text, n)
            && (n == 1 || !has_order)) return names[k].dtype;
    return LA_UNDEFINED;
}

/* The digits behind the kind; 0 where they are no size. */
static int number_after_kind(const char *text, size_t n)
{
    int bytes = 0;
    if (n < 2 || n > 4) return 0;
    for (size_t i = 1; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        bytes = bytes * 10 + (text[i] - '0');
    }
    return bytes;
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

/* "<f4": order of bytes, kind, size. Without an order, or with '|' and '=', it
** is the machine's. */
static la_status parse_descr(const char *text, size_t n, la_npy_header *out)
{
    char shown[900];
    bool has_order = n && text[0] && strchr("<>|=", text[0]);
    const char *kind = text + has_order;
    int bytes = number_after_kind(kind, n - has_order);
    la_dtype dtype = bytes ? dtype_of(*kind, bytes)
                           : dtype_of_name(kind, n - has_order, has_order);
    if (dtype == LA_UNDEFINED)
        dtype = dtype_of_name(kind, n - has_order, has_order);
    if (dtype == LA_UNDEFINED)
        return la_error(LA_EIO, "dtype '%s' cannot be read (numbers and bool"
                        " can)", la_quote(text, n, shown, sizeof shown));
    out->dtype = dtype;
    out->swapped = has_order && la_dtype_size(dtype) > 1
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

/* Digits without leading zeros, but for zero itself, which may have any sign;
** Python 2 wrote an L behind. */
static la_status read_size(reader *r, int64_t *out)
{
    int64_t value = 0;
    if (!accept(r, '+') && r->end - r->at > 1 && *r->at == '-'
        && r->at[1] == '0') r->at++;
    skip_blanks(r);
    const char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        if (__builtin_mul_overflow(value, 10, &value)
            || !la_add_ok(value, *r->at - '0', &value))
            return npy_malformed("a size of 2^63 or more");
        r->at++;
    }
    if (r->at == first)
        return npy_malformed(first < r->end && *first == '-' ? "a negative size"
                                                             : "a bad size");
    if (*first == '0' && value)
        return npy_malformed("a size with leading zeros");
    accept(r, 'L');
    *out = value;
    return LA_OK;
}

/* A Python tuple: (), (3,), (3, 4) or (3, 4,). One size without a comma would
** be a number in parentheses, not a tuple. */
static la_status read_shape(reader *r, la_npy_header *out)
{
    bool comma = false;
    if (!accept(r, '(')) return npy_malformed("shape is not a tuple");
    out->ndim = 0;
    while (!accept(r, ')')) {
        if (out->ndim && !comma) return npy_malformed("a comma is missing");
        if (out->ndim == LA_MAX_DIMS)
            return la_error(LA_EIO, "more than %d dimensions", LA_MAX_DIMS);
        LA_TRY(read_size(r, &out->sizes[out->ndim++]));
        comma = accept(r, ',');
    }
    if (out->ndim == 1 && !comma) return npy_malformed("shape is not a tuple");
    return LA_OK;
}

/* Python's literals; 1, 0 and lower case are not among what NumPy writes. */
static la_status read_order(reader *r, la_npy_header *out)
{
    out->fortran = accept_word(r, "True");
    if (!out->fortran && !accept_word(r, "False"))
        return npy_malformed("fortran_order is not True or False");
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
    if (!bit) return npy_malformed("an unknown key");
    if (*have & bit) return npy_malformed("a key is there twice");
    *have |= bit;
    if (!accept(r, ':')) return npy_malformed("':' was expected");
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
    if (!accept(&r, '{')) return npy_malformed("'{' was expected");
    while (!accept(&r, '}')) {
        if (!comma) return npy_malformed("a comma is missing");
        LA_TRY(read_pair(&r, out, &have));
        comma = accept(&r, ',');
    }
    skip_blanks(&r);
    if (r.at != r.end) return npy_malformed("text after '}'");
    if (have != HAS_ALL) return npy_malformed("a key is missing");
    return LA_OK;
}
