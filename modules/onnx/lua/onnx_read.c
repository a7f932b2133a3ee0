/*
** la.onnx.read: the messages of an ONNX file as Lua tables.
**
** A message is a table with the names of its fields, which the rows of
** modules/onnx/io/schema.def list; a field that may be there several times is a
** list. A tensor is {name, type, tensor} or {name, type, strings, shape}: its
** elements are checked and taken while the file is read. Messages in messages
** are followed to a depth of 64; errors name the way to the message.
*/
#include <stdio.h>
#include <string.h>

#include "lua/build_options.h"
#include "lua/files/loader.h"
#include "lua/files/media.h"
#include "modules/onnx/lua/onnx.h"

enum { DEPTH = 64, SPOT = 400 };

/* Stack positions while a file is read. */
enum { SOURCE = 1, OPTIONS, FILE_AT, EXTERNALS, FILES };

/* Position of a message, for errors: from the innermost outwards. */
typedef struct spot {
    const char *field;
    int64_t index;          /* from 1 in a list; 0: alone */
    const struct spot *around;
} spot;

typedef struct reader {
    const char *path;       /* NULL for bytes */
    la_onnx_file *file;
    bool host;              /* files are those of a sandbox's host */
    bool callback;          /* the function at EXTERNALS gives other files */
} reader;

/* ---- errors ---- */

static size_t read_put_path(const spot *p, char *out, size_t n)
{
    if (!p) return 0;
    size_t at = read_put_path(p->around, out, n);
    if (at + 40 > n) return at;
    int put = snprintf(out + at, n - at, p->index ? "%s%s[%lld]" : "%s%s",
                       at ? "." : "", p->field, (long long)p->index);
    return put > 0 ? at + (size_t)put : at;
}

/* The error of 'status' with the position in front, and the path. */
static void read_check(lua_State *L, const reader *r, const spot *p,
                       la_status status)
{
    char text[512], where[SPOT] = "";
    if (!status) return;
    if (status == LA_EIO && p) {
        strncpy(text, la_error_message(), sizeof text - 1);
        text[sizeof text - 1] = 0;
        read_put_path(p, where, sizeof where);
        status = la_error(LA_EIO, "%s: %s", where, text);
    }
    if (r->path) status = la_media_name(status, r->path);
    la_raise(L, "onnx.load", status);
}

/* ---- external data ---- */

/* Push the userdata of a file that the model names, which is kept by its name.
** What the callback gives is anchored with it. */
static la_onnx_file *read_open_external(lua_State *L, const reader *r,
                                      const spot *p, const char *name,
                                      size_t n)
{
    char path[2 * LA_OS_PATH];
    read_check(L, r, p, la_onnx_check_location(name, n));
    la_onnx_file *f = la_push_onnx_file(L);
    if (r->callback) {
        lua_pushvalue(L, EXTERNALS);
        lua_pushlstring(L, name, n);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            la_raise_arg(L, OPTIONS, "onnx.load", "externals(\"%s\"): string of"
                         " bytes expected, got %s", name,
                         la_type_text(L, lua_gettop(L)));
        f->bytes = lua_tolstring(L, -1, &f->n);
        lua_rawsetp(L, FILES, f->bytes);
    } else if (!r->path || r->host) {
        read_check(L, r, p, la_error(LA_EIO, "its elements are in another "
                                     "file: the option externals gives it"));
    } else {
        read_check(L, r, p, la_onnx_external_path(r->path, name, path));
        read_check(L, r, p, la_onnx_file_map(f, path));
    }
    return f;
}

/* Push the file's userdata, opened at the first tensor in it. */
static la_onnx_file *read_external(lua_State *L, const reader *r,
                                   const spot *p, const la_proto *location)
{
    size_t n = la_proto_left(location);
    lua_pushlstring(L, (const char *)location->at, n);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, FILES) == LUA_TNIL) {
        lua_pop(L, 1);
        const char *name = lua_tostring(L, -1);
        read_open_external(L, r, p, name, n);
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, FILES);
    }
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}

/* ---- tensors ---- */

/* Tensors of strings have no dtype here: they become a list and a shape, which
** metadata and label maps need. */
static void read_push_strings(lua_State *L, const reader *r, const spot *p,
                              const la_onnx_tensor *t)
{
    la_proto message = t->message;
    la_proto_field f;
    int64_t k = 0;
    lua_newtable(L);
    while (la_proto_left(&message)) {
        read_check(L, r, p, la_proto_next(&message, &f));
        if (f.number != t->row || f.wire != LA_WIRE_BYTES) continue;
        lua_pushlstring(L, (const char *)f.part.at, la_proto_left(&f.part));
        lua_rawseti(L, -2, ++k);
    }
    lua_setfield(L, -2, "strings");
    lua_createtable(L, t->ndim, 0);
    for (int d = 0; d < t->ndim; d++) {
        lua_pushinteger(L, t->sizes[d]);
        lua_rawseti(L, -2, d + 1);
    }
    lua_setfield(L, -2, "shape");
}

/* Tries once more after a collection where memory is out. */
static la_status read_make_tensor(lua_State *L, const reader *r,
                                  const la_onnx_tensor *t, la_onnx_file *f,
                                  la_tensor **out)
{
    for (int k = 0; ; k++) {
        la_status status = f
            ? la_onnx_tensor_from(t, f->bytes, f->n, f->mapping, out)
            : la_onnx_tensor_make(t, r->file->mapping, out);
        if (status != LA_ENOMEM || k || !la_collect_here(L)) return status;
    }
}

/* A TensorProto as {name, type, tensor}. External data
** come from a file of their own; read_make_tensor says whose memory the
** elements are. */
static void read_push_tensor(lua_State *L, const reader *r, const spot *p,
                             la_proto message)
{
    la_state *s = la_up_state(L);
    la_onnx_tensor t;
    la_onnx_file *f = NULL;
    la_tensor *tensor = NULL;
    read_check(L, r, p, la_onnx_tensor_scan(message, &t));
    lua_createtable(L, 0, 4);
    lua_pushlstring(L, t.name.at ? (const char *)t.name.at : "",
                    la_proto_left(&t.name));
    lua_setfield(L, -2, "name");
    lua_pushstring(L, t.type->name);
    lua_setfield(L, -2, "type");
    if (t.number == LA_ONNX_STRING_TYPE && !t.external) {
        read_push_strings(L, r, p, &t);
        return;
    }
    if (t.external) f = read_external(L, r, p, &t.location);
    else lua_pushnil(L);
    la_handle *h = la_lasting_handle(L, s);
    read_check(L, r, p, read_make_tensor(L, r, &t, f, &tensor));
    la_fill_handle(s, h, tensor);
    lua_setfield(L, -3, "tensor");
    lua_pop(L, 1);
}

/* ---- messages ---- */

static void read_push_message(lua_State *L, const reader *r, const spot *p,
                              la_proto message, la_onnx_kind kind, int depth);

/* Push a number of a field; a packed one gives its numbers one by one. */
static void read_push_number(lua_State *L, la_onnx_kind kind, uint64_t bits)
{
    if (kind == LA_ONNX_FLOAT) lua_pushnumber(L, la_proto_float(bits));
    else lua_pushinteger(L, (lua_Integer)bits);
}

/* Push the list of a field of the message at the top, new at its first entry,
** and return its length. */
static int64_t read_push_list(lua_State *L, const char *name)
{
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    return (int64_t)lua_rawlen(L, -1);
}

/* A packed repeated field: numbers without keys between them. Writers may split
** it into several, so that each part appends. */
static void read_packed(lua_State *L, const reader *r, const spot *p,
                        const la_onnx_field *field, la_proto part)
{
    la_wire wire = field->kind == LA_ONNX_FLOAT ? LA_WIRE_4 : LA_WIRE_VARINT;
    uint64_t bits;
    int64_t n = read_push_list(L, field->name);
    while (la_proto_left(&part)) {
        read_check(L, r, p, la_proto_packed(&part, wire, &bits));
        read_push_number(L, field->kind, bits);
        lua_rawseti(L, -2, ++n);
    }
    lua_pop(L, 1);
}

/* Push the value of a field that is no row of numbers. */
static void read_push_value(lua_State *L, const reader *r, const spot *p,
                            const la_onnx_field *field,
                            const la_proto_field *f, int depth)
{
    if (field->kind <= LA_ONNX_FLOAT) {
        read_push_number(L, field->kind, f->bits);
    } else if (field->kind == LA_ONNX_TEXT) {
        lua_pushlstring(L, (const char *)f->part.at, la_proto_left(&f->part));
    } else if (field->kind == LA_ONNX_TENSOR) {
        read_push_tensor(L, r, p, f->part);
    } else {
        read_push_message(L, r, p, f->part, field->kind, depth + 1);
    }
}

/* A field joins the message on the top. */
static void read_field(lua_State *L, const reader *r, const spot *around,
                       const la_onnx_field *field, const la_proto_field *f,
                       int depth)
{
    bool bytes = f->wire == LA_WIRE_BYTES;
    bool number = field->kind <= LA_ONNX_FLOAT;
    la_wire wire = field->kind == LA_ONNX_FLOAT ? LA_WIRE_4 : LA_WIRE_VARINT;
    spot here = {field->name, 0, around};
    if (number ? !(f->wire == wire || (bytes && field->many)) : !bytes)
        read_check(L, r, &here, la_error(LA_EIO, "a field of another kind"));
    if (number && bytes) {
        read_packed(L, r, &here, field, f->part);
    } else if (field->many) {
        here.index = read_push_list(L, field->name) + 1;
        read_push_value(L, r, &here, field, f, depth);
        lua_rawseti(L, -2, here.index);
        lua_pop(L, 1);
    } else {
        read_push_value(L, r, &here, field, f, depth);
        lua_setfield(L, -2, field->name);
    }
}

/* A message as a table by the names of onnx.proto. Fields that no table of ours
** has are skipped, as protobuf demands of readers. The depth is bounded,
** because the file decides it and each level is a call in C. */
static void read_push_message(lua_State *L, const reader *r, const spot *p,
                              la_proto message, la_onnx_kind kind, int depth)
{
    la_proto_field f;
    if (depth > DEPTH)
        read_check(L, r, p, la_error(LA_EIO, "nested deeper than %d", DEPTH));
    luaL_checkstack(L, 8, "onnx.load");
    lua_newtable(L);
    while (la_proto_left(&message)) {
        read_check(L, r, p, la_proto_next(&message, &f));
        const la_onnx_field *field = la_onnx_field_of(kind, f.number);
        if (field) read_field(L, r, p, field, &f, depth);
    }
}

/* ---- the function ---- */

/* Checks the options and gives the kind of message that the bytes are, a whole
** model unless they say otherwise. */
static la_onnx_kind read_options(lua_State *L)
{
    static const char *const known[] = {"message", "externals", "bytes", NULL};
    la_onnx_kind kind = LA_ONNX_MODEL;
    lua_settop(L, OPTIONS);
    if (lua_isnil(L, OPTIONS)) {
        lua_newtable(L);
        lua_replace(L, OPTIONS);
    }
    la_check_table(L, OPTIONS, "onnx.read");
    la_check_keywords(L, OPTIONS, known, "onnx.read");
    if (lua_getfield(L, OPTIONS, "message") != LUA_TNIL) {
        const char *word = lua_tostring(L, -1);
        kind = word ? la_onnx_message(word) : LA_ONNX_INT;
        if (kind == LA_ONNX_INT)
            la_raise_arg(L, OPTIONS, "onnx.read", "message: unknown name");
    }
    lua_settop(L, OPTIONS);
    return kind;
}

/* Bytes of a message hold other than letters, a path does not: every message
** begins with the number of a field, below 32 in all that are read. */
static bool read_is_path(lua_State *L)
{
    size_t n;
    const char *text = lua_tolstring(L, SOURCE, &n);
    bool bytes = lua_getfield(L, OPTIONS, "bytes") != LUA_TNIL
        && lua_toboolean(L, -1);
    lua_pop(L, 1);
    return !bytes && n > 0 && n < LA_OS_PATH && (unsigned char)text[0] >= 32
        && !memchr(text, 0, n);
}

/* The bytes are those that the host of a sandbox has under the name. */
static void read_from_host(lua_State *L, const reader *r)
{
    const la_loader *known;
    la_open_file *open = la_push_load(L, "onnx.load", r->path);
    read_check(L, r, NULL, la_load_open(L, open, &known));
    read_check(L, r, NULL, la_onnx_file_read(r->file, &open->in));
    la_load_close(L, -1);
    lua_pop(L, 1);
}

/* la.onnx.read(source[, options]): the message as tables and tensors. The
** state's own opener of files is asked where there is one, so that a sandbox
** reads what its host allows and nothing else. */
int la_onnx_read(lua_State *L)
{
    la_begin(L, "onnx.read", 0);
    reader r = {0};
    if (lua_type(L, SOURCE) != LUA_TSTRING)
        la_raise_arg(L, SOURCE, "onnx.load", "path or string of bytes "
                     "expected, got %s", la_type_text(L, SOURCE));
    la_onnx_kind kind = read_options(L);
    r.file = la_push_onnx_file(L);
    r.callback = lua_getfield(L, OPTIONS, "externals") != LUA_TNIL;
    if (r.callback && !la_is_callable(L, EXTERNALS))
        la_raise_arg(L, OPTIONS, "onnx.load", "externals: function expected, "
                     "got %s", la_type_text(L, EXTERNALS));
    lua_newtable(L);
    if (read_is_path(L)) {
        la_state *s = la_up_state(L);
        r.host = s->open != NULL;
        r.path = r.host ? la_check_name(L, SOURCE, "onnx.load")
            : la_check_path(L, SOURCE, "onnx.load");
        if (r.host) read_from_host(L, &r);
        else read_check(L, &r, NULL, la_onnx_file_map(r.file, r.path));
    } else {
        r.file->bytes = lua_tolstring(L, SOURCE, &r.file->n);
    }
    la_charge_more(L, "onnx.load", (int64_t)r.file->n);
    la_proto all = {r.file->bytes, r.file->bytes,
                    (const unsigned char *)r.file->bytes + r.file->n};
    if (kind == LA_ONNX_TENSOR) read_push_tensor(L, &r, NULL, all);
    else read_push_message(L, &r, NULL, all, kind, 1);
    la_pace(L, la_state_of(L));
    return 1;
}
