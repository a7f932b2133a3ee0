/*
** The grammar of a GGUF file, versions 2 and 3, in memory: a header, metadata
** by key, descriptions of tensors, their data. Nothing is copied, and every
** count is compared with the bytes that are left before anybody allocates for
** it. Errors are LA_EIO and name the byte.
*/
#ifndef LA_GGUF_IO_GGUF_H
#define LA_GGUF_IO_GGUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "modules/gguf/product.h"

/* The types of values, with their numbers in a file. */
typedef enum la_gguf_kind {
    LA_GGUF_U8, LA_GGUF_I8, LA_GGUF_U16, LA_GGUF_I16, LA_GGUF_U32, LA_GGUF_I32,
    LA_GGUF_F32, LA_GGUF_BOOL, LA_GGUF_STRING, LA_GGUF_ARRAY, LA_GGUF_U64,
    LA_GGUF_I64, LA_GGUF_F64, LA_GGUF_KINDS
} la_gguf_kind;

typedef struct la_gguf {
    const uint8_t *base;
    int64_t size, at;
    int version;
    int64_t nvalues, ntensors;
    int64_t alignment;        /* of the data; the caller sets what a key says */
} la_gguf;

typedef struct la_gguf_text {
    const char *text;         /* in the file, without an end */
    size_t n;
} la_gguf_text;

/* A value that is no array. */
typedef struct la_gguf_value {
    la_gguf_kind kind;
    int64_t i;                /* of integers; 1 or 0 of a BOOL */
    bool large;               /* of a U64 from 2^63 on: d has it */
    double d;
    la_gguf_text s;
} la_gguf_value;

#define LA_GGUF_DIMS 4
typedef struct la_gguf_tensor {
    la_gguf_text name;
    const la_gguf_type *type;
    int ndim;
    int64_t sizes[LA_GGUF_DIMS];      /* the last dim is the fastest */
    int64_t numel, bytes, offset;     /* offset from the data's begin */
} la_gguf_tensor;

/* The header of n bytes, which stay where they are. */
la_status la_gguf_begin(la_gguf *, const void *bytes, int64_t n);
/* A key and the kind of its value. */
la_status la_gguf_key(la_gguf *, la_gguf_text *key, la_gguf_kind *kind);
/* The kind of an array's elements and their number, which the file can hold. */
la_status la_gguf_array(la_gguf *, la_gguf_kind *kind, int64_t *n);
la_status la_gguf_read(la_gguf *, la_gguf_kind, la_gguf_value *out);
la_status la_gguf_tensor_read(la_gguf *, la_gguf_tensor *out);
/* The byte at which the data begins, after the last description. */
la_status la_gguf_data(la_gguf *, int64_t *out);
/* LA_EIO where the data of a tensor is not inside the file. */
la_status la_gguf_check(const la_gguf *, int64_t data, const la_gguf_tensor *);

#endif
