/*
** As much of JSON as headers and metadata need, read strictly: objects and
** arrays are walked by the caller, so nothing nests deeper than the format
** says. Numbers are plain non-negative integers.
*/
#ifndef LA_IO_JSON_H
#define LA_IO_JSON_H

#include "base/status.h"
#include "io/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct la_json {
    const char *at, *end;
} la_json;

/* Skip white space, and 'c' when it comes next: true. Otherwise false, and
** 'at' is past the white space. */
bool la_json_accept(la_json *, char c);
/* la_json_accept that gives LA_EIO where another character comes next. */
la_status la_json_expect(la_json *, char c);
/* A string, decoded into 'out' (capacity for all that is left is enough); its
** length in *n, without a NUL behind it. LA_EIO for invalid UTF-8, a lone
** surrogate, a control character, or no string. */
la_status la_json_string(la_json *, char *out, size_t capacity, size_t *n);
/* The escape whose backslash was read, as UTF-8 of *n bytes. Two escapes that
** are the halves of one character are read together. LA_EIO for others. */
la_status la_json_escape(la_json *, char out[4], size_t *n);
/* Digits without sign, fraction, exponent or leading zeros; LA_EIO from 2^63
** on. */
la_status la_json_integer(la_json *, int64_t *out);
/* Is the text valid UTF-8, so that a header may hold it as a name? */
bool la_json_is_utf8(const char *text, size_t n);
/* LA_EIO, with 'what' as the reason in the message. */
la_status la_json_malformed(const char *what);

/* Append the text, which is UTF-8, as a JSON string. */
void la_json_put(la_bytes *, const char *text, size_t n);

#endif
