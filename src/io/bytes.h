/* Bytes in memory that grow while a file is made. */
#ifndef LA_IO_BYTES_H
#define LA_IO_BYTES_H

#include <stddef.h>

#include "base/status.h"

/* Empty at first ({0}). 'status' holds the first failure; later writes do
** nothing. */
typedef struct la_bytes {
    unsigned char *data;        /* of la_mem_alloc(capacity) */
    size_t n, capacity;
    la_status status;
} la_bytes;
void la_bytes_put(la_bytes *, const void *from, size_t n);
void la_bytes_put_byte(la_bytes *, unsigned byte);
/* Empty afterwards; may run twice. */
void la_bytes_free(la_bytes *);
#define LA_BYTES __attribute__((cleanup(la_bytes_free))) la_bytes

#endif
