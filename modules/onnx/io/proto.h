/*
** The wire format of protocol buffers: a message is a row of fields, each a
** number, a kind and a value. Nothing is copied, and nothing is read beyond the
** message's end; errors name the byte of the file.
*/
#ifndef LA_ONNX_PROTO_H
#define LA_ONNX_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The part of a message that is still to be read. */
typedef struct la_proto {
    const unsigned char *file;  /* where the file begins, for messages */
    const unsigned char *at, *end;
} la_proto;

typedef enum la_wire {
    LA_WIRE_VARINT = 0, LA_WIRE_8 = 1, LA_WIRE_BYTES = 2, LA_WIRE_4 = 5
} la_wire;

typedef struct la_proto_field {
    uint32_t number;
    la_wire wire;
    uint64_t bits;              /* of a number, as it stands there */
    la_proto part;              /* LA_WIRE_BYTES: a text or a message */
} la_proto_field;

static inline size_t la_proto_left(const la_proto *p)
{
    return (size_t)(p->end - p->at);
}

/* Byte of the file at which reading is. */
static inline long long la_proto_at(const la_proto *p)
{
    return (long long)(p->at - p->file);
}

/* The next field of a message that has some left. LA_EIO: truncated, a number
** of more than ten bytes, a kind of field that there is none of. */
la_status la_proto_next(la_proto *p, la_proto_field *out);
/* One number of a row of them (a packed field). */
la_status la_proto_varint(la_proto *p, uint64_t *out);
/* How many numbers of the kind 'part' holds: by their size, of varints by the
** bytes that end one. LA_EIO where the last is cut. */
la_status la_proto_count(const la_proto *part, la_wire wire, int64_t *out);
/* Number of that kind from a row, as its bits. */
la_status la_proto_packed(la_proto *part, la_wire wire, uint64_t *out);

static inline float la_proto_float(uint64_t bits)
{
    union { uint32_t bits; float value; } u = {(uint32_t)bits};
    return u.value;
}

#endif
