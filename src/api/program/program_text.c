/* Values of a program's text: written, and read as strictly. */
#include "api/program/program_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "tensor/names.h"
#include "tensor/shape.h"

/* ---- writing ---- */

/* The comma is written in front of each entry but the first of a bracket or
** behind a key, so no writer has to know which entry is the last. */
static void text_comma(la_jtext_writer *w)
{
    if (w->more) la_bytes_put_byte(w->to, ',');
    w->more = true;
}

void la_jtext_open(la_jtext_writer *w, char bracket)
{
    text_comma(w);
    la_bytes_put_byte(w->to, (unsigned char)bracket);
    w->more = false;
}

void la_jtext_close(la_jtext_writer *w, char bracket)
{
    la_bytes_put_byte(w->to, (unsigned char)bracket);
    w->more = true;
}

void la_jtext_key(la_jtext_writer *w, const char *key)
{
    text_comma(w);
    la_json_put(w->to, key, strlen(key));
    la_bytes_put_byte(w->to, ':');
    w->more = false;
}

/* Integers are written by printf of long long, whose digits no locale groups,
** and go through text as they are: JSON readers that hold numbers as doubles
** would lose the low bits, so this text is for its own reader alone. */
void la_jtext_integer(la_jtext_writer *w, int64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
    text_comma(w);
    la_bytes_put(w->to, digits, (size_t)n);
}

void la_jtext_string(la_jtext_writer *w, const char *text, size_t n)
{
    text_comma(w);
    la_json_put(w->to, text, n);
}

void la_jtext_word(la_jtext_writer *w, const char *text)
{
    la_jtext_string(w, text, strlen(text));
}

/* The 16 hexadecimal digits of the bits: decimal text would need a correctly
** rounding reader, has no word for infinities and NaN, and depends on the
** locale in C. */
void la_jtext_double(la_jtext_writer *w, double v)
{
    char digits[20];
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    snprintf(digits, sizeof digits, "%016" PRIx64, bits);
    la_jtext_word(w, digits);
}

static void text_integers(la_jtext_writer *w, const char *key, int n,
                          const int64_t *list)
{
    la_jtext_key(w, key);
    la_jtext_open(w, '[');
    for (int i = 0; i < n; i++) la_jtext_integer(w, list[i]);
    la_jtext_close(w, ']');
}

/* A form is geometry and dtype without data. Strides are part of it: a program
** was planned for them, and its views of a slot are only right with them. */
void la_jtext_form(la_jtext_writer *w, const la_tensor *t)
{
    char bits[8];
    size_t n = 0;
    for (int k = 0; k < 3; k++)
        if (t->flags & la_program_bit(k)) bits[n++] = LA_PROGRAM_BITS[k];
    la_jtext_open(w, '{');
    la_jtext_key(w, "dtype");
    la_jtext_word(w, la_dtype_name((la_dtype)t->dtype));
    text_integers(w, "sizes", t->ndim, la_sizes(t));
    text_integers(w, "strides", t->ndim, la_strides(t));
    la_jtext_key(w, "bits");
    la_jtext_string(w, bits, n);
    la_jtext_key(w, "names");
    la_jtext_open(w, '[');
    for (int d = 0; t->names && d < t->ndim; d++)
        la_jtext_word(w, t->names->name[d]);
    la_jtext_close(w, ']');
    la_jtext_close(w, '}');
}

/* ---- reading ---- */

/* The first failure is the cause; what is read behind it follows from it. */
static void text_take(la_jtext_reader *r, la_status status)
{
    if (!r->status) r->status = status;
}

void la_jtext_fail(la_jtext_reader *r, const char *what)
{
    if (!r->status)
        r->status = la_error(LA_EIO, "the program is damaged: %s", what);
}

/* The comma in front of a value that is not the first. */
static bool text_begin(la_jtext_reader *r)
{
    if (r->status) return false;
    if (r->more) text_take(r, la_json_expect(&r->json, ','));
    r->more = true;
    return !r->status;
}

void la_jtext_enter(la_jtext_reader *r, char bracket)
{
    if (text_begin(r)) text_take(r, la_json_expect(&r->json, bracket));
    r->more = false;
}

/* Loops over a list end after a failure too, as nothing can be read then: no
** caller has to ask for the status in between. */
bool la_jtext_next(la_jtext_reader *r, char bracket)
{
    if (r->status) return false;
    if (!la_json_accept(&r->json, bracket)) return true;
    r->more = true;
    return false;
}

void la_jtext_leave(la_jtext_reader *r, char bracket)
{
    if (!r->status) text_take(r, la_json_expect(&r->json, bracket));
    r->more = true;
}

/* Texts are unescaped into one buffer that was allocated for the whole file, so
** a text of any length needs no allocation of its own. A caller that is done
** with one sets 'used' back. */
const char *la_jtext_read_string(la_jtext_reader *r, size_t *n)
{
    char *text = r->text + r->used;
    size_t left = r->capacity - r->used;
    *n = 0;
    if (!text_begin(r)) return "";
    /* One byte for the NUL, and some for an escape that is begun at the end. */
    if (left < 8) {
        la_jtext_fail(r, "too many texts");
        return "";
    }
    text_take(r, la_json_string(&r->json, text, left - 1, n));
    /* Names are C strings later on: one with a NUL would be two names. */
    if (!r->status && memchr(text, 0, *n)) la_jtext_fail(r, "a text has a NUL");
    if (r->status) {
        *n = 0;
        return "";
    }
    text[*n] = '\0';
    r->used += *n + 1;
    return text;
}

/* Keys come in the order in which they are written. So no key can be missing,
** be there twice or be unknown, and a file of a later version is refused at the
** first difference. */
void la_jtext_want(la_jtext_reader *r, const char *key)
{
    char shown[128];
    size_t n, before = r->used;
    const char *got = la_jtext_read_string(r, &n);
    if (!r->status && strcmp(got, key) != 0)
        r->status = la_error(LA_EIO, "the program is damaged, or of a later "
                             "version: '%s' where '%s' was expected",
                             la_quote(got, n, shown, sizeof shown), key);
    r->used = before;
    if (!r->status) text_take(r, la_json_expect(&r->json, ':'));
    r->more = false;
}

/* Digits, perhaps behind a minus. */
int64_t la_jtext_read_integer(la_jtext_reader *r)
{
    int64_t v = 0;
    if (!text_begin(r)) return 0;
    bool minus = la_json_accept(&r->json, '-');
    const char *at = r->json.at, *end = r->json.end;
    /* Leading zeros are none of JSON, and would be a second way to write the
    ** same file. */
    if (at >= end || !la_is_digit(*at)
        || (*at == '0' && end - at > 1 && la_is_digit(at[1])))
        la_jtext_fail(r, "a number was expected");
    for (; !r->status && at < end && la_is_digit(*at); at++) {
        int digit = *at - '0';
        /* Digits are added with the sign, as the lowest integer has no positive
        ** counterpart. */
        if (__builtin_mul_overflow(v, 10, &v)
            || __builtin_add_overflow(v, minus ? -digit : digit, &v))
            la_jtext_fail(r, "a number of more than 64 bits");
    }
    if (!r->status && at < end && (*at == '.' || *at == 'e' || *at == 'E'))
        la_jtext_fail(r, "a number is no plain integer");
    r->json.at = at;
    return r->status ? 0 : v;
}

/* A value within the range even after a failure: callers use it as an index
** before they look at the status. */
int64_t la_jtext_read_range(la_jtext_reader *r, int64_t low, int64_t high)
{
    int64_t v = la_jtext_read_integer(r);
    if (!r->status && (v < low || v > high))
        la_jtext_fail(r, "a number is out of range");
    return r->status ? low : v;
}

/* The bits in hexadecimal, so that NaNs, infinities and the sign of zero come
** back exactly. */
double la_jtext_read_double(la_jtext_reader *r)
{
    size_t n, before = r->used;
    const char *digits = la_jtext_read_string(r, &n);
    uint64_t bits = 0;
    double v;
    if (!r->status && n != 16) la_jtext_fail(r, "16 digits were expected");
    for (size_t i = 0; i < n && !r->status; i++) {
        if (la_hex_digit(digits[i]) < 0) la_jtext_fail(r, "no digit");
        bits = bits << 4 | (uint64_t)(la_hex_digit(digits[i]) & 15);
    }
    r->used = before;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- forms ---- */

/* Reads LA_MAX_DIMS numbers or fewer, none of them negative: no tensor of ours
** steps backwards. text_make_form checks them together. */
static int text_read_sizes(la_jtext_reader *r, const char *key, int64_t *list)
{
    int n = 0;
    la_jtext_want(r, key);
    la_jtext_enter(r, '[');
    while (la_jtext_next(r, ']')) {
        if (n == LA_MAX_DIMS) {
            la_jtext_fail(r, "too many dims");
            return 0;
        }
        list[n++] = la_jtext_read_range(r, 0, INT64_MAX);
    }
    return n;
}

/* Lazy conjugation and the like, one letter each. */
static uint32_t text_read_bits(la_jtext_reader *r)
{
    size_t n, before = r->used;
    uint32_t bits = 0;
    la_jtext_want(r, "bits");
    const char *text = la_jtext_read_string(r, &n);
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(LA_PROGRAM_BITS, text[i]);
        if (!at) la_jtext_fail(r, "an unknown bit of a tensor");
        else bits |= la_program_bit((int)(at - LA_PROGRAM_BITS));
    }
    r->used = before;
    return bits;
}

/* Names are interned at once, so that the buffer of texts is free again; the
** list of a tensor shares them. */
static void text_read_names(la_jtext_reader *r, la_tensor *t)
{
    const char *names[LA_MAX_DIMS];
    la_names *own = NULL;
    int n = 0;
    la_jtext_want(r, "names");
    la_jtext_enter(r, '[');
    while (la_jtext_next(r, ']')) {
        size_t length, before = r->used;
        const char *text = la_jtext_read_string(r, &length);
        if (n == LA_MAX_DIMS) la_jtext_fail(r, "too many names");
        if (r->status) return;
        names[n] = la_name_intern(text, length);
        if (!names[n++]) text_take(r, LA_ENOMEM);
        r->used = before;
    }
    if (r->status || !n) return;
    if (n != t->ndim) la_jtext_fail(r, "a name for each dim was expected");
    else text_take(r, la_names_new(n, names, &own));
    if (!r->status) la_tensor_set_names(t, own);
}

/* On the meta device first, which checks sizes and strides. */
static la_tensor *text_make_form(la_jtext_reader *r, la_dtype dtype, int ndim,
                                 const int64_t *sizes, const int64_t *strides)
{
    la_tensor *meta = NULL, *form = NULL;
    int64_t numel;
    if (r->status) return NULL;
    text_take(r, la_numel(ndim, sizes, &numel));
    if (!r->status)
        text_take(r, la_tensor_empty_on(LA_META, ndim, sizes, strides, dtype,
                                        &meta));
    if (!r->status) text_take(r, la_tensor_form(meta, &form));
    la_tensor_release(meta);
    /* A caller gave no shape: the file did, and the error is about the file. */
    if (r->status == LA_ESHAPE) {
        r->status = LA_OK;
        la_jtext_fail(r, "sizes or strides of a tensor are too large");
    }
    /* The meta device was there for its checks alone. */
    if (form) form->device = LA_CPU;
    return form;
}

/* A header without memory, owned; NULL with the reader's status set. */
la_tensor *la_jtext_read_form(la_jtext_reader *r)
{
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS];
    size_t n, before = r->used;
    la_jtext_enter(r, '{');
    la_jtext_want(r, "dtype");
    const char *word = la_jtext_read_string(r, &n);
    la_dtype dtype = r->status ? LA_UNDEFINED : la_dtype_parse(word, n);
    if (!r->status && dtype == LA_UNDEFINED) la_jtext_fail(r, "unknown dtype");
    r->used = before;
    int ndim = text_read_sizes(r, "sizes", sizes);
    if (text_read_sizes(r, "strides", strides) != ndim)
        la_jtext_fail(r, "a stride for each dim was expected");
    la_tensor *form = text_make_form(r, dtype, ndim, sizes, strides);
    uint32_t bits = text_read_bits(r);
    if (!r->status) form->flags |= bits;
    if (!r->status) text_read_names(r, form);
    la_jtext_leave(r, '}');
    if (!r->status) return form;
    la_tensor_release(form);
    return NULL;
}
