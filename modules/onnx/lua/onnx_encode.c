/*
** la.onnx.encode: tables as the messages of an ONNX file, by the rows that read
** them (modules/onnx/io/schema.def). A tensor is {name, tensor}, of its dtype,
** or {name, strings, shape}.
*/
#include <string.h>

#include "io/stream.h"
#include "lua/files/growing_bytes.h"
#include "modules/onnx/lua/onnx.h"
#include "op/call.h"

enum { DEPTH = 64 };

static void encode_message(lua_State *L, la_bytes *out, la_onnx_kind kind,
                           int depth);

/* ---- numbers ---- */

static void encode_varint(la_bytes *out, uint64_t v)
{
    for (; v >= 128; v >>= 7) la_bytes_put_byte(out, (unsigned)(v & 127) | 128);
    la_bytes_put_byte(out, (unsigned)v);
}

static void encode_key(la_bytes *out, uint32_t number, la_wire wire)
{
    encode_varint(out, (uint64_t)number << 3 | (unsigned)wire);
}

static void encode_text(la_bytes *out, uint32_t number, const char *text,
                        size_t n)
{
    encode_key(out, number, LA_WIRE_BYTES);
    encode_varint(out, n);
    la_bytes_put(out, text, n);
}

/* The length of what was written from 'begin' on goes in front of it. */
static void encode_length(la_bytes *out, size_t begin)
{
    size_t n = out->n - begin;
    encode_varint(out, n);
    if (out->status) return;
    size_t digits = out->n - begin - n;
    unsigned char length[10];
    memcpy(length, out->data + begin + n, digits);
    memmove(out->data + begin + digits, out->data + begin, n);
    memcpy(out->data + begin, length, digits);
}

/* ---- tensors ---- */

static int64_t encode_type_of(la_dtype dtype)
{
    for (int64_t k = 1; la_onnx_type_of(k); k++) {
        const la_onnx_type *type = la_onnx_type_of(k);
        if (type->dtype == dtype && !la_onnx_is_packed(type)) return k;
    }
    return 0;
}

/* The values as an owned contiguous tensor. */
static la_status encode_plain(la_tensor *t, la_tensor **out)
{
    LA_LET(own, la_run(detach, &own, t));
    LA_LET(real, la_run(resolve_conj, &real, own));
    LA_LET(plain, la_run(resolve_neg, &plain, real));
    if (plain->device != LA_CPU)
        return la_error(LA_EKEY, "a tensor on the %s device has no data",
                        la_device_name((la_device)plain->device));
    return la_run(contiguous, out, plain);
}

static void encode_sizes(la_bytes *out, int ndim, const int64_t *sizes)
{
    for (int d = 0; d < ndim; d++) {
        encode_key(out, 1, LA_WIRE_VARINT);
        encode_varint(out, (uint64_t)sizes[d]);
    }
}

/* The fields dims, data_type and raw_data of a TensorProto. Raw data are
** little-endian and contiguous, as the format asks, whatever the layout of the
** tensor; a plain copy is owned by a handle while the bytes grow. */
static void encode_elements(lua_State *L, la_bytes *out)
{
    la_state *s = la_up_state(L);
    la_tensor *plain = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "onnx.encode", encode_plain(
        la_check_tensor(L, lua_gettop(L) - 1, "onnx.encode"), &plain));
    la_fill_handle(s, h, plain);
    int64_t type = encode_type_of((la_dtype)plain->dtype);
    if (!type)
        luaL_error(L, "onnx.encode: ONNX has no %s",
                   la_dtype_name((la_dtype)plain->dtype));
    encode_sizes(out, plain->ndim, la_sizes(plain));
    encode_key(out, 2, LA_WIRE_VARINT);
    encode_varint(out, (uint64_t)type);
    encode_text(out, 9, la_data(plain), (size_t)plain->numel
                * la_dtype_size((la_dtype)plain->dtype));
}

/* {strings} at the top, sizes in {shape} of the message below. */
static void encode_strings(lua_State *L, la_bytes *out)
{
    int64_t count = (int64_t)lua_rawlen(L, -1);
    if (lua_getfield(L, -2, "shape") == LUA_TTABLE) {
        for (int64_t k = 1; k <= (int64_t)lua_rawlen(L, -1); k++) {
            lua_rawgeti(L, -1, k);
            int64_t size = lua_tointeger(L, -1);
            encode_sizes(out, 1, &size);
            lua_pop(L, 1);
        }
    } else {
        encode_sizes(out, 1, &count);
    }
    lua_pop(L, 1);
    encode_key(out, 2, LA_WIRE_VARINT);
    encode_varint(out, LA_ONNX_STRING_TYPE);
    for (int64_t k = 1; k <= count; k++) {
        size_t n;
        lua_rawgeti(L, -1, k);
        const char *text = lua_tolstring(L, -1, &n);
        if (!text) luaL_error(L, "onnx.encode: strings: a text expected");
        encode_text(out, 6, text, n);
        lua_pop(L, 1);
    }
}

/* The table at the top. */
static void encode_tensor(lua_State *L, la_bytes *out)
{
    size_t n;
    if (lua_getfield(L, -1, "tensor") != LUA_TNIL) {
        encode_elements(L, out);
        lua_pop(L, 1);
    } else if (lua_getfield(L, -2, "strings") == LUA_TTABLE) {
        lua_remove(L, -2);
        encode_strings(L, out);
    } else {
        luaL_error(L, "onnx.encode: a tensor has neither tensor nor strings");
    }
    lua_pop(L, 1);
    if (lua_getfield(L, -1, "name") == LUA_TSTRING) {
        const char *name = lua_tolstring(L, -1, &n);
        encode_text(out, 8, name, n);
    }
    lua_pop(L, 1);
}

/* ---- fields ---- */

/* The value of the field at the top. */
static void encode_value(lua_State *L, la_bytes *out,
                         const la_onnx_field *field, int depth)
{
    size_t n;
    if (field->kind == LA_ONNX_INT) {
        if (!lua_isinteger(L, -1))
            luaL_error(L, "onnx.encode: %s: integer expected", field->name);
        encode_key(out, field->number, LA_WIRE_VARINT);
        encode_varint(out, (uint64_t)lua_tointeger(L, -1));
    } else if (field->kind == LA_ONNX_FLOAT) {
        union { float value; uint32_t bits; } u
            = {(float)luaL_checknumber(L, lua_gettop(L))};
        encode_key(out, field->number, LA_WIRE_4);
        for (int k = 0; k < 4; k++)
            la_bytes_put_byte(out, u.bits >> 8 * k & 255);
    } else if (field->kind == LA_ONNX_TEXT) {
        const char *text = lua_tolstring(L, -1, &n);
        if (!text) luaL_error(L, "onnx.encode: %s: text expected", field->name);
        encode_text(out, field->number, text, n);
    } else {
        if (!lua_istable(L, -1))
            luaL_error(L, "onnx.encode: %s: table expected", field->name);
        encode_key(out, field->number, LA_WIRE_BYTES);
        size_t begin = out->n;
        encode_message(L, out, field->kind, depth + 1);
        encode_length(out, begin);
    }
}

/* The message that is the table at the top. */
static void encode_message(lua_State *L, la_bytes *out, la_onnx_kind kind,
                           int depth)
{
    if (depth > DEPTH)
        luaL_error(L, "onnx.encode: nested deeper than %d", DEPTH);
    luaL_checkstack(L, 8, "onnx.encode");
    if (kind == LA_ONNX_TENSOR) {
        encode_tensor(L, out);
        return;
    }
    for (const la_onnx_field *f = la_onnx_fields; f->name; f++) {
        if (f->message != kind) continue;
        int type = lua_getfield(L, -1, f->name);
        if (type == LUA_TTABLE && f->many) {
            for (int64_t k = 1; k <= (int64_t)lua_rawlen(L, -1); k++) {
                lua_rawgeti(L, -1, k);
                encode_value(L, out, f, depth);
                lua_pop(L, 1);
            }
        } else if (type != LUA_TNIL) {
            encode_value(L, out, f, depth);
        }
        lua_pop(L, 1);
    }
}

/* The bytes become the file, whole. */
static la_status encode_store(const char *path, const char *bytes, size_t n)
{
    LA_WRITER sink = {.fd = -1};
    LA_TRY(la_writer_open(path, &sink));
    LA_TRY(la_writer_write(&sink, bytes, n));
    return la_writer_commit(&sink);
}

/* la.onnx.write(bytes, path) */
int la_onnx_write(lua_State *L)
{
    size_t n;
    la_begin(L, "onnx.write", 0);
    const char *bytes = la_check_text(L, 1, &n);
    const char *path = la_check_path(L, 2, "onnx.save");
    LA_CHECK(L, "onnx.save", encode_store(path, bytes, n));
    return 0;
}

/* la.onnx.encode(t[, message]): the reverse of la.onnx.read, so that t has
** fields by the names of onnx.proto. The bytes are in a box on the stack until
** they are a string. */
int la_onnx_encode(lua_State *L)
{
    la_begin(L, "onnx.encode", 0);
    la_check_table(L, 1, "onnx.encode");
    const char *word = la_opt_text(L, 2, "ModelProto", NULL);
    la_onnx_kind kind = la_onnx_message(word);
    if (kind == LA_ONNX_INT)
        la_raise_arg(L, 2, "onnx.encode", "unknown message '%s'", word);
    la_bytes *out = la_push_bytes(L);
    lua_pushvalue(L, 1);
    encode_message(L, out, kind, 1);
    LA_CHECK(L, "onnx.encode", out->status);
    lua_pushlstring(L, out->n ? (const char *)out->data : "", out->n);
    la_bytes_free(out);
    return 1;
}
