/* Numbers and bytes of Torch7's files, binary and text. */
#include "modules/torch7/io/cursor.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/half.h"
#include "base/runtime/interrupt.h"
#include "io/zip.h"

enum { NUMBER = 64 };       /* bytes of the longest number in a text */

la_status la_cursor_open(la_cursor *c, const la_reader *in, int long_bytes)
{
    unsigned char first = 0;
    c->in = in;
    c->at = 0;
    c->from = 0;
    c->have = 0;
    c->long_bytes = long_bytes;
    LA_TRY(la_reader_read(in, 0, &first, 1));
    c->text = la_is_digit(first);
    return LA_OK;
}

/* The next n bytes of at most the buffer's stay in it. */
static la_status cursor_look(la_cursor *c, size_t n, const unsigned char **out)
{
    if ((int64_t)n > la_cursor_left(c))
        return la_error(LA_EIO, "truncated at byte %lld",
                        (long long)c->in->size);
    if (c->at < c->from || c->at + (int64_t)n > c->from + (int64_t)c->have) {
        int64_t left = la_cursor_left(c);
        size_t have = left < (int64_t)sizeof c->buffer ? (size_t)left
                                                       : sizeof c->buffer;
        c->have = 0;
        LA_TRY(la_reader_read(c->in, c->at, c->buffer, have));
        c->have = have;
        c->from = c->at;
    }
    *out = c->buffer + (c->at - c->from);
    return LA_OK;
}

/* ---- text ---- */

static bool cursor_is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* White space is skipped, and the word behind it is put into 'word', with a
** NUL. */
static la_status cursor_word(la_cursor *c, char *word)
{
    const unsigned char *s = NULL;
    size_t n = 0;
    for (;;) {
        if (!la_cursor_left(c)) break;
        LA_TRY(cursor_look(c, 1, &s));
        if (cursor_is_space(*s) && n) break;
        if (!cursor_is_space(*s)) word[n++] = (char)*s;
        if (n == NUMBER) return la_error(LA_EIO, "a number is damaged");
        c->at++;
    }
    word[n] = 0;
    return n ? LA_OK : la_error(LA_EIO, "truncated at byte %lld",
                                (long long)c->in->size);
}

/* One end of a line behind a number or bytes. */
static la_status cursor_end_line(la_cursor *c)
{
    const unsigned char *s = NULL;
    if (!c->text || !la_cursor_left(c)) return LA_OK;
    LA_TRY(cursor_look(c, 1, &s));
    c->at += *s == '\n';
    return LA_OK;
}

static la_status cursor_read_whole(la_cursor *c, int64_t *out)
{
    char word[NUMBER + 1];
    int64_t v = 0;
    LA_TRY(cursor_word(c, word));
    bool minus = *word == '-';
    const char *s = word + minus;
    bool fits = *s != 0;
    for (; *s; s++)
        fits = fits && la_is_digit(*s) && !__builtin_mul_overflow(v, 10, &v)
            && !__builtin_add_overflow(v, minus ? '0' - *s : *s - '0', &v);
    if (!fits) return la_error(LA_EIO, "an integer is damaged");
    *out = v;
    return LA_OK;
}

static la_status cursor_read_real(la_cursor *c, double *out)
{
    char word[NUMBER + 1];
    LA_TRY(cursor_word(c, word));
    bool minus = *word == '-';
    const char *s = word + minus, *end = s + strlen(s);
    if (strcmp(s, "nan") == 0) *out = NAN;
    else if (strcmp(s, "inf") == 0) *out = INFINITY;
    else {
        la_decimal_text number = la_decimal_read(s, end);
        if (number.end != end || s == end)
            return la_error(LA_EIO, "a number is damaged");
        *out = number.value;
    }
    if (minus) *out = -*out;
    return LA_OK;
}

/* ---- both ---- */

static la_status cursor_integer(la_cursor *c, int bytes, int64_t *out)
{
    const unsigned char *s = NULL;
    if (c->text) {
        LA_TRY(cursor_read_whole(c, out));
        return cursor_end_line(c);
    }
    LA_TRY(cursor_look(c, (size_t)bytes, &s));
    uint64_t v = la_little(s, bytes);
    *out = bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
    c->at += bytes;
    return LA_OK;
}

la_status la_cursor_int(la_cursor *c, int64_t *out)
{
    return cursor_integer(c, 4, out);
}

la_status la_cursor_long(la_cursor *c, int64_t *out)
{
    return cursor_integer(c, c->long_bytes, out);
}

la_status la_cursor_double(la_cursor *c, double *out)
{
    const unsigned char *s = NULL;
    if (c->text) {
        LA_TRY(cursor_read_real(c, out));
        return cursor_end_line(c);
    }
    LA_TRY(cursor_look(c, 8, &s));
    uint64_t bits = la_little(s, 8);
    memcpy(out, &bits, sizeof bits);
    c->at += 8;
    return LA_OK;
}

la_status la_cursor_bytes(la_cursor *c, void *out, size_t n)
{
    const unsigned char *s = NULL;
    if (!n) return LA_OK;
    if (n <= sizeof c->buffer) {
        LA_TRY(cursor_look(c, n, &s));
        memcpy(out, s, n);
    } else {
        LA_TRY(la_reader_read(c->in, c->at, out, n));
    }
    c->at += (int64_t)n;
    return cursor_end_line(c);
}

la_status la_cursor_skip(la_cursor *c, int64_t n)
{
    if (n < 0 || n > la_cursor_left(c))
        return la_error(LA_EIO, "truncated at byte %lld",
                        (long long)c->in->size);
    c->at += n;
    return n ? cursor_end_line(c) : LA_OK;
}

/* ---- storages ---- */

static bool cursor_is_raw(const la_cursor *c, la_dtype dtype)
{
    return !c->text || dtype == LA_UINT8 || dtype == LA_INT8;
}

int64_t la_cursor_least(const la_cursor *c, la_dtype dtype)
{
    if (!cursor_is_raw(c, dtype)) return 2;
    return dtype == LA_INT64 ? c->long_bytes : (int64_t)la_dtype_size(dtype);
}

static void cursor_store_whole(la_dtype dtype, char *to, int64_t v)
{
    if (dtype == LA_INT16) memcpy(to, &(int16_t){(int16_t)v}, 2);
    else if (dtype == LA_INT32) memcpy(to, &(int32_t){(int32_t)v}, 4);
    else memcpy(to, &v, 8);
}

static void cursor_store_real(la_dtype dtype, char *to, double v)
{
    if (dtype == LA_FLOAT16) {
        la_f16 h = la_f32_to_f16((float)v);
        memcpy(to, &h, sizeof h);
    } else if (dtype == LA_FLOAT32) {
        memcpy(to, &(float){(float)v}, 4);
    } else {
        memcpy(to, &v, 8);
    }
}

static la_status cursor_words(la_cursor *c, la_dtype dtype, char *to,
                              int64_t n)
{
    size_t item = la_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++, to += item) {
        int64_t whole = 0;
        double real = 0;
        if (i % 65536 == 0) LA_TRY(la_poll());
        if (la_is_float(dtype)) {
            LA_TRY(cursor_read_real(c, &real));
            cursor_store_real(dtype, to, real);
        } else {
            LA_TRY(cursor_read_whole(c, &whole));
            cursor_store_whole(dtype, to, whole);
        }
    }
    return n ? cursor_end_line(c) : LA_OK;
}

/* Longs of 4 bytes are widened from the last to the first, in the memory of the
** result. */
static la_status cursor_narrow_longs(la_cursor *c, char *to, int64_t n)
{
    if (n) LA_TRY(la_reader_read(c->in, c->at, to, (size_t)n * 4));
    c->at += 4 * n;
    for (int64_t i = n; i-- > 0;) {
        int64_t v = (int32_t)(uint32_t)la_little(to + 4 * i, 4);
        memcpy(to + 8 * i, &v, sizeof v);
    }
    return LA_OK;
}

/* The machine's order of bytes, where it is the other. */
static void cursor_order(char *to, int64_t n, size_t item)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one) return;
    for (int64_t i = 0; i < n; i++, to += item)
        for (size_t k = 0; k < item / 2; k++) {
            char low = to[k];
            to[k] = to[item - 1 - k];
            to[item - 1 - k] = low;
        }
}

la_status la_cursor_elements(la_cursor *c, la_dtype dtype, void *out, int64_t n)
{
    size_t item = la_dtype_size(dtype);
    if (!cursor_is_raw(c, dtype)) return cursor_words(c, dtype, out, n);
    if (dtype == LA_INT64 && c->long_bytes == 4)
        return cursor_narrow_longs(c, out, n);
    if (!n) return LA_OK;
    LA_TRY(la_reader_read(c->in, c->at, out, (size_t)n * item));
    c->at += n * (int64_t)item;
    cursor_order(out, n, item);
    return cursor_end_line(c);
}
