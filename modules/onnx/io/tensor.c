/* TensorProto as tensors. */
#include "modules/onnx/io/tensor.h"

#include <math.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "base/size.h"
#include "tensor/shape.h"

/* Fields of TensorProto and of the entries of external_data. */
enum { DIMS = 1, TYPE = 2, SEGMENT = 3, FLOATS = 4, INTS = 5, TEXTS = 6,
       LONGS = 7, NAME = 8, RAW = 9, DOUBLES = 10, UNSIGNED = 11,
       EXTERNAL = 13, LOCATION = 14 };

/* Element types by TensorProto.DataType. */
static const la_onnx_type types[] = {
    {NULL, LA_UNDEFINED, 0},
    {"float32", LA_FLOAT32, 32}, {"uint8", LA_UINT8, 8},
    {"int8", LA_INT8, 8}, {"uint16", LA_UINT16, 16},
    {"int16", LA_INT16, 16}, {"int32", LA_INT32, 32},
    {"int64", LA_INT64, 64}, {"string", LA_UNDEFINED, 0},
    {"bool", LA_BOOL, 8}, {"float16", LA_FLOAT16, 16},
    {"float64", LA_FLOAT64, 64}, {"uint32", LA_UINT32, 32},
    {"uint64", LA_UINT64, 64}, {"complex64", LA_COMPLEX64, 64},
    {"complex128", LA_COMPLEX128, 128}, {"bfloat16", LA_BFLOAT16, 16},
    {"float8e4m3fn", LA_FLOAT32, 8}, {"float8e4m3fnuz", LA_FLOAT32, 8},
    {"float8e5m2", LA_FLOAT32, 8}, {"float8e5m2fnuz", LA_FLOAT32, 8},
    {"uint4", LA_UINT8, 4}, {"int4", LA_INT8, 4},
    {"float4e2m1", LA_FLOAT32, 4}, {"float8e8m0", LA_FLOAT32, 8},
    {"uint2", LA_UINT8, 2}, {"int2", LA_INT8, 2}};
enum { TYPES = sizeof types / sizeof *types };

const la_onnx_type *la_onnx_type_of(int64_t number)
{
    return number > 0 && number < TYPES ? &types[number] : NULL;
}

/* ---- reading fields ---- */

/* The field whose rows hold elements of the type, and the kind of its
** numbers. */
static uint32_t tensor_row_of(const la_onnx_type *type, la_wire *wire)
{
    *wire = LA_WIRE_VARINT;
    switch (type->dtype) {
    case LA_UNDEFINED: return TEXTS;
    case LA_INT64: return LONGS;
    case LA_UINT32: case LA_UINT64: return UNSIGNED;
    case LA_FLOAT64: case LA_COMPLEX128: *wire = LA_WIRE_8; return DOUBLES;
    case LA_FLOAT32:
        if (type->bits < 32) return INTS;
        *wire = LA_WIRE_4;
        return FLOATS;
    case LA_COMPLEX64: *wire = LA_WIRE_4; return FLOATS;
    default: return INTS;
    }
}

static la_status tensor_add_size(la_onnx_tensor *t, uint64_t size)
{
    if (t->ndim == LA_MAX_DIMS)
        return la_error(LA_EIO, "more than %d dimensions", LA_MAX_DIMS);
    if (size > INT64_MAX)
        return la_error(LA_EIO, "dim %d has a negative size", t->ndim + 1);
    t->sizes[t->ndim++] = (int64_t)size;
    return LA_OK;
}

static la_status tensor_read_sizes(la_onnx_tensor *t, la_proto_field *f)
{
    uint64_t size;
    if (f->wire == LA_WIRE_VARINT) return tensor_add_size(t, f->bits);
    while (f->wire == LA_WIRE_BYTES && la_proto_left(&f->part)) {
        LA_TRY(la_proto_varint(&f->part, &size));
        LA_TRY(tensor_add_size(t, size));
    }
    return LA_OK;
}

static bool tensor_is(const la_proto *text, const char *word)
{
    return la_proto_left(text) == strlen(word)
        && memcmp(text->at, word, strlen(word)) == 0;
}

/* Digits of an offset or a length. */
static la_status tensor_read_digits(const la_proto *text, int64_t *out)
{
    int64_t value = 0;
    for (const unsigned char *p = text->at; p < text->end; p++)
        if (*p < '0' || *p > '9' || !la_mul_ok(value, 10, &value)
            || !la_add_ok(value, *p - '0', &value))
            return la_error(LA_EIO, "external_data: a number of bytes expected "
                            "at byte %lld", la_proto_at(text));
    *out = value;
    return LA_OK;
}

/* One key and value of external_data; unknown keys say nothing. */
static la_status tensor_read_external(la_onnx_tensor *t, la_proto entry)
{
    la_proto_field f;
    la_proto key = {0}, value = {0};
    while (la_proto_left(&entry)) {
        LA_TRY(la_proto_next(&entry, &f));
        if (f.wire != LA_WIRE_BYTES) continue;
        if (f.number == 1) key = f.part;
        if (f.number == 2) value = f.part;
    }
    if (!key.at || !value.at) return LA_OK;
    if (tensor_is(&key, "location")) t->location = value;
    if (tensor_is(&key, "offset"))
        return tensor_read_digits(&value, &t->offset);
    if (tensor_is(&key, "length"))
        return tensor_read_digits(&value, &t->length);
    return LA_OK;
}

static la_status tensor_read_field(la_onnx_tensor *t, la_proto_field *f)
{
    bool bytes = f->wire == LA_WIRE_BYTES;
    switch (f->number) {
    case DIMS: return tensor_read_sizes(t, f);
    case TYPE: t->number = f->wire == LA_WIRE_VARINT ? (int64_t)f->bits : 0;
        return LA_OK;
    case SEGMENT:
        return la_error(LA_EIO, "a tensor in segments is not read");
    case NAME: if (bytes) t->name = f->part;
        return LA_OK;
    case RAW:
        if (bytes) t->raw = f->part, t->has_raw = true;
        return LA_OK;
    case EXTERNAL:
        return bytes ? tensor_read_external(t, f->part) : LA_OK;
    case LOCATION: t->external = f->bits == 1;
        return LA_OK;
    default: return LA_OK;
    }
}

/* How many numbers or texts the rows of the type's field hold. */
static la_status tensor_count(la_onnx_tensor *t)
{
    la_wire wire;
    la_proto p = t->message;
    la_proto_field f;
    t->row = tensor_row_of(t->type, &wire);
    while (la_proto_left(&p)) {
        int64_t n = 1;
        LA_TRY(la_proto_next(&p, &f));
        if (f.number != t->row) continue;
        if (t->row == TEXTS ? f.wire != LA_WIRE_BYTES
            : f.wire != LA_WIRE_BYTES && f.wire != wire)
            return la_error(LA_EIO, "elements of another kind before byte "
                            "%lld", la_proto_at(&p));
        if (t->row != TEXTS && f.wire == LA_WIRE_BYTES)
            LA_TRY(la_proto_count(&f.part, wire, &n));
        t->count += n;
    }
    return LA_OK;
}

/* Bytes of all elements as raw_data has them; the product cannot overflow, as
** sizes are below 2^48. */
static int64_t tensor_bytes(const la_onnx_tensor *t)
{
    return la_ceil_div(t->numel * t->type->bits, 8);
}

/* Are there as many elements as the sizes say? */
static la_status tensor_check_count(const la_onnx_tensor *t)
{
    int64_t want = t->numel, has = t->count;
    const char *what = "elements";
    if (t->external) {
        if (!t->location.at)
            return la_error(LA_EIO, "external_data names no file");
        return LA_OK;
    }
    if (t->has_raw && t->type->bits) {
        what = "bytes";
        want = tensor_bytes(t);
        has = (int64_t)la_proto_left(&t->raw);
    } else if (la_is_complex(t->type->dtype)) {
        want = 2 * t->numel;
    } else if (t->type->bits && t->type->bits < 8) {
        want = tensor_bytes(t);
    }
    if (want == has) return LA_OK;
    return la_error(LA_EIO, "%lld %s of %s are needed, there are %lld",
                    (long long)want, what, t->type->name, (long long)has);
}

la_status la_onnx_tensor_scan(la_proto message, la_onnx_tensor *out)
{
    la_proto p = message;
    la_proto_field f;
    *out = (la_onnx_tensor){.message = message, .length = -1};
    while (la_proto_left(&p)) {
        LA_TRY(la_proto_next(&p, &f));
        LA_TRY(tensor_read_field(out, &f));
    }
    out->type = la_onnx_type_of(out->number);
    if (!out->type)
        return la_error(LA_EIO, "there is no element type %lld",
                        (long long)out->number);
    if (la_numel(out->ndim, out->sizes, &out->numel))
        return la_error(LA_EIO, "the product of the sizes is too large");
    if (!out->has_raw && !out->external) LA_TRY(tensor_count(out));
    return tensor_check_count(out);
}

/* ---- elements ---- */

/* The low 'size' bytes of each number in the rows, one after the other. */
static la_status tensor_read_rows(const la_onnx_tensor *t, char *to,
                                  size_t size)
{
    la_wire wire;
    la_proto p = t->message;
    la_proto_field f;
    tensor_row_of(t->type, &wire);
    while (la_proto_left(&p)) {
        LA_TRY(la_proto_next(&p, &f));
        if (f.number != t->row) continue;
        if (f.wire != LA_WIRE_BYTES) {
            memcpy(to, &f.bits, size);
            to += size;
            continue;
        }
        while (la_proto_left(&f.part)) {
            LA_TRY(la_proto_packed(&f.part, wire, &f.bits));
            memcpy(to, &f.bits, size);
            to += size;
        }
    }
    return LA_OK;
}

/* Raw bytes as elements of the tensor. */
static void tensor_fill(const la_onnx_tensor *t, const unsigned char *raw,
                        la_tensor *out)
{
    unsigned char *to = (unsigned char *)la_data(out);
    size_t n = (size_t)tensor_bytes(t);
    if (la_onnx_is_packed(t->type)) {
        la_onnx_unpack(t->type, raw, t->numel, to);
    } else {
        if (n && raw != to) memcpy(to, raw, n);
        for (size_t k = 0; t->type->dtype == LA_BOOL && k < n; k++)
            to[k] = to[k] != 0;
    }
}

/* Tensor of raw bytes at 'raw', which lie in the mapping if there is one. */
static la_status tensor_of_raw(const la_onnx_tensor *t,
                               const unsigned char *raw, la_mapping *m,
                               la_tensor **out)
{
    size_t item = la_dtype_size(t->type->dtype);
    if (la_is_complex(t->type->dtype)) item /= 2;
    int64_t at = m ? (const char *)raw - m->data : 1;
    if (m && t->numel && at % (int64_t)item == 0 && t->type->dtype != LA_BOOL
        && !la_onnx_is_packed(t->type))
        return la_mapping_tensor(m, at, t->type->dtype, t->ndim, t->sizes,
                                 false, out);
    LA_TRY(la_tensor_empty(t->ndim, t->sizes, t->type->dtype, out));
    tensor_fill(t, raw, *out);
    return LA_OK;
}

/* Numbers of the rows go where they stay, those of packed types into bytes that
** are unpacked. */
static la_status tensor_of_rows(const la_onnx_tensor *t, la_tensor *out)
{
    size_t size = t->type->bits < 8 ? 1 : (size_t)t->type->bits / 8;
    if (la_is_complex(t->type->dtype)) size /= 2;
    if (!la_onnx_is_packed(t->type)) {
        LA_TRY(tensor_read_rows(t, la_data(out), size));
        tensor_fill(t, (unsigned char *)la_data(out), out);
        return LA_OK;
    }
    size_t n = (size_t)t->count + 1;
    unsigned char *bytes = la_mem_alloc(n);
    if (!bytes) return LA_ENOMEM;
    la_status status = tensor_read_rows(t, (char *)bytes, 1);
    if (!status) tensor_fill(t, bytes, out);
    la_mem_free(bytes, n);
    return status;
}

la_status la_onnx_tensor_make(const la_onnx_tensor *t, la_mapping *m,
                              la_tensor **out)
{
    if (t->has_raw) return tensor_of_raw(t, t->raw.at, m, out);
    LA_TRY(la_tensor_empty(t->ndim, t->sizes, t->type->dtype, out));
    la_status status = tensor_of_rows(t, *out);
    if (status) {
        la_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

la_status la_onnx_tensor_from(const la_onnx_tensor *t, const void *bytes,
                              size_t n, la_mapping *m, la_tensor **out)
{
    int64_t want = tensor_bytes(t), left;
    if (!t->type->bits)
        return la_error(LA_EIO, "strings in another file are not read");
    if (t->offset > (int64_t)n)
        return la_error(LA_EIO, "truncated at byte %zu of the external file",
                        n);
    left = (int64_t)n - t->offset;
    if (t->length >= 0 && t->length != want)
        return la_error(LA_EIO, "external_data: %lld bytes of %s are needed, "
                        "length is %lld", (long long)want, t->type->name,
                        (long long)t->length);
    if (want > left)
        return la_error(LA_EIO, "truncated at byte %zu of the external file",
                        n);
    return tensor_of_raw(t, (const unsigned char *)bytes + t->offset, m, out);
}
