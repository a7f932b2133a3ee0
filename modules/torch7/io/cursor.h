/*
** A file of Torch7 from front to back: numbers and bytes, in binary form (the
** lowest byte first) or as text, where white space separates numbers and one
** end of a line follows bytes.
*/
#ifndef LA_TORCH7_CURSOR_H
#define LA_TORCH7_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"
#include "io/stream.h"

typedef struct la_cursor {
    const la_reader *in;        /* borrowed */
    int64_t at;                 /* of the next byte */
    bool text;
    int long_bytes;             /* 4 or 8 */
    int64_t from;               /* of the bytes in 'buffer' */
    size_t have;
    unsigned char buffer[4096];
} la_cursor;

/* Text or binary, as the first byte tells. LA_EIO for an empty file. */
la_status la_cursor_open(la_cursor *, const la_reader *in, int long_bytes);
static inline int64_t la_cursor_left(const la_cursor *c)
{
    return c->in->size - c->at;
}
/* A number of 4 bytes, of long_bytes, a double. */
la_status la_cursor_int(la_cursor *, int64_t *out);
la_status la_cursor_long(la_cursor *, int64_t *out);
la_status la_cursor_double(la_cursor *, double *out);
/* The next n bytes; at most those that are left. */
la_status la_cursor_bytes(la_cursor *, void *out, size_t n);
/* Bytes that one element of a storage has at least. */
int64_t la_cursor_least(const la_cursor *, la_dtype);
/* The next n elements, which are there: 'out' has capacity for them. */
la_status la_cursor_elements(la_cursor *, la_dtype, void *out, int64_t n);
/* The bytes are left out. */
la_status la_cursor_skip(la_cursor *, int64_t n);

#endif
