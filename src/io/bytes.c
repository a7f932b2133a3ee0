/* Bytes that grow. The first failure stays in the status and later additions
** are passed over, so that writers ask once, at their end. */
#include "io/bytes.h"

#include <stdint.h>
#include <string.h>

#include "base/runtime/memory.h"

/* Twice as large where it is too small. */
static void bytes_grow(la_bytes *b, size_t n)
{
    size_t capacity = b->capacity ? b->capacity : 4096;
    while (capacity - b->n < n && capacity < SIZE_MAX / 2) capacity *= 2;
    unsigned char *data = la_mem_alloc(capacity);
    if (!data) {
        b->status = LA_ENOMEM;
        return;
    }
    if (b->n) memcpy(data, b->data, b->n);
    if (b->data) la_mem_free(b->data, b->capacity);
    b->data = data;
    b->capacity = capacity;
}

void la_bytes_put(la_bytes *b, const void *from, size_t n)
{
    if (b->status || !n) return;
    if (b->capacity - b->n < n) bytes_grow(b, n);
    if (b->status) return;
    memcpy(b->data + b->n, from, n);
    b->n += n;
}

/* The low eight bits. */
void la_bytes_put_byte(la_bytes *b, unsigned byte)
{
    const unsigned char v = (unsigned char)byte;
    la_bytes_put(b, &v, 1);
}

void la_bytes_free(la_bytes *b)
{
    if (b->data) la_mem_free(b->data, b->capacity);
    *b = (la_bytes){0};
}
