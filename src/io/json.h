/*
** As much of JSON as the header of .safetensors needs, read strictly: objects
** and arrays are walked by the caller, so nothing nests deeper than the format
** says. Numbers are plain non-negative integers.
*/
#ifndef LA_IO_JSON_H
#define LA_IO_JSON_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct la_json {
    const char *at, *end;
} la_json;

/* Skip white space, and 'c' when it comes next. */
bool la_json_accept(la_json *, char c);
la_status la_json_expect(la_json *, char c);
/* A string, decoded into 'out' (capacity for all that is left is enough); its
** length in *n. Valid UTF-8 without surrogates. */
la_status la_json_string(la_json *, char *out, size_t capacity, size_t *n);
la_status la_json_integer(la_json *, int64_t *out);
bool la_json_is_utf8(const char *text, size_t n);
la_status la_json_malformed(const char *what);

#endif
