/*
** What stands in a GGUF file, as Lua values: metadata and the descriptions of
** tensors. The tensors themselves are views of its bytes, which lua/gguf.lua
** makes.
*/
#include <string.h>

#include "io/map.h"
#include "lua/binding.h"
#include "lua/files/loader.h"
#include "lua/files/media.h"
#include "modules/gguf/io/gguf.h"
#include "op/call.h"

#define NAME "gguf.parse"
#define DEPTH 64              /* arrays of arrays */

/* The bytes are anchored by the argument, and errors say where they were met.
** Texts of the file are shown by la_quote. */
typedef struct gguf_where {
    const char *path;         /* at 2 of the stack */
    const char *what;         /* "key", "tensor", NULL: the header */
    la_gguf_text name;
} gguf_where;

static void gguf_raise(lua_State *L, const gguf_where *p, la_status status)
{
    char path[200], name[100];
    if (status == LA_OK) return;
    if (status != LA_EIO) LA_CHECK(L, NAME, status);
    lua_pushstring(L, la_error_text());
    la_quote(p->path, strlen(p->path), path, sizeof path);
    if (!p->what)
        luaL_error(L, "%s: '%s': %s", NAME, path, lua_tostring(L, -1));
    size_t n = p->name.n < 64 ? p->name.n : 64;
    luaL_error(L, "%s: '%s': %s '%s': %s", NAME, path, p->what,
               la_quote(p->name.text, n, name, sizeof name),
               lua_tostring(L, -1));
}

static void push_text(lua_State *L, la_gguf_text s)
{
    lua_pushlstring(L, s.text, s.n);
}

static void push_scalar(lua_State *L, const la_gguf_value *v)
{
    switch (v->kind) {
    case LA_GGUF_STRING: push_text(L, v->s); break;
    case LA_GGUF_BOOL: lua_pushboolean(L, v->i != 0); break;
    case LA_GGUF_F32: case LA_GGUF_F64: lua_pushnumber(L, v->d); break;
    default:
        if (v->large) lua_pushnumber(L, v->d);
        else lua_pushinteger(L, v->i);
    }
}

/* A value; arrays become lists. Tables grow as elements are read, as strings
** may be long. */
static la_status push_value(lua_State *L, la_gguf *g, la_gguf_kind kind,
                            int depth)
{
    la_gguf_value v;
    int64_t n = 0;
    if (kind != LA_GGUF_ARRAY) {
        LA_TRY(la_gguf_read(g, kind, &v));
        push_scalar(L, &v);
        return LA_OK;
    }
    if (depth == DEPTH)
        return la_error(LA_EIO, "arrays nest deeper than %d", DEPTH);
    luaL_checkstack(L, 8, "arrays");
    LA_TRY(la_gguf_array(g, &kind, &n));
    lua_createtable(L, n < 4096 ? (int)n : 4096, 0);
    for (int64_t i = 1; i <= n; i++) {
        LA_TRY(push_value(L, g, kind, depth + 1));
        lua_rawseti(L, -2, i);
    }
    return LA_OK;
}

/* ---- the parts of a file ---- */

/* A key that the table on the stack's top already has is damage. */
static la_status refuse_twice(lua_State *L, la_gguf_text key)
{
    push_text(L, key);
    bool twice = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 1);
    return twice ? la_error(LA_EIO, "is there twice") : LA_OK;
}

/* The key of the alignment counts when tensors are read. */
static la_status take_alignment(lua_State *L, la_gguf *g, la_gguf_text key,
                                la_gguf_kind kind)
{
    static const char word[] = "general.alignment";
    if (key.n != sizeof word - 1 || memcmp(key.text, word, key.n) != 0)
        return LA_OK;
    lua_Integer a = lua_tointeger(L, -1);
    if (kind != LA_GGUF_U32 || a < 1 || (a & (a - 1)))
        return la_error(LA_EIO, "a power of two expected");
    g->alignment = a;
    return LA_OK;
}

static void push_metadata(lua_State *L, la_gguf *g, gguf_where *where)
{
    la_gguf_kind kind = LA_GGUF_U8;
    lua_newtable(L);
    for (int64_t i = 0; i < g->nvalues; i++) {
        where->what = NULL;
        gguf_raise(L, where, la_gguf_key(g, &where->name, &kind));
        where->what = "key";
        gguf_raise(L, where, refuse_twice(L, where->name));
        push_text(L, where->name);
        gguf_raise(L, where, push_value(L, g, kind, 0));
        gguf_raise(L, where, take_alignment(L, g, where->name, kind));
        lua_rawset(L, -3);
    }
    where->what = NULL;
}

static void set_integer(lua_State *L, const char *key, int64_t v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, key);
}

/* {name =, type =, dtype =, shape =, offset =, bytes =}; dtype is missing where
** the numbers are quantized. */
static void push_tensor_info(lua_State *L, const la_gguf_tensor *t)
{
    lua_createtable(L, 0, 6);
    push_text(L, t->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, t->type->name);
    lua_setfield(L, -2, "type");
    if (t->type->dtype != LA_UNDEFINED) {
        lua_pushstring(L, la_dtype_name(t->type->dtype));
        lua_setfield(L, -2, "dtype");
    }
    lua_createtable(L, t->ndim, 0);
    for (int d = 0; d < t->ndim; d++) {
        lua_pushinteger(L, t->sizes[d]);
        lua_rawseti(L, -2, d + 1);
    }
    lua_setfield(L, -2, "shape");
    set_integer(L, "offset", t->offset);
    set_integer(L, "bytes", t->bytes);
    if (t->type->dtype == LA_UNDEFINED)
        set_integer(L, "row", t->sizes[t->ndim - 1] / t->type->size
                              * t->type->bytes);
}

/* A list in the file's order; offsets from the file's begin, 0. */
static void push_infos(lua_State *L, la_gguf *g, gguf_where *where)
{
    la_gguf_tensor t;
    int64_t data = 0, at = g->at;
    lua_createtable(L, g->ntensors < 4096 ? (int)g->ntensors : 4096, 0);
    lua_newtable(L);                        /* the names that were there */
    for (int64_t i = 0; i < g->ntensors; i++) {
        la_status status = la_gguf_tensor_read(g, &t);
        where->what = t.name.text ? "tensor" : NULL;
        where->name = t.name;
        gguf_raise(L, where, status);
        gguf_raise(L, where, refuse_twice(L, t.name));
        push_text(L, t.name);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
    where->what = NULL;
    gguf_raise(L, where, la_gguf_data(g, &data));
    g->at = at;
    for (int64_t i = 0; i < g->ntensors; i++) {
        gguf_raise(L, where, la_gguf_tensor_read(g, &t));
        where->what = "tensor";
        where->name = t.name;
        gguf_raise(L, where, la_gguf_check(g, data, &t));
        t.offset += data;
        push_tensor_info(L, &t);
        lua_rawseti(L, -2, i + 1);
    }
}

/* la.gguf.parse(bytes, path): metadata, tensors, version. 'bytes' is a uint8
** tensor; the tensors are described in a list. */
static int gguf_parse(lua_State *L)
{
    la_state *s = la_begin(L, NAME, 0);
    la_gguf g;
    gguf_where where = {.path = luaL_checkstring(L, 2)};
    la_handle *h = la_new_handle(L, s);     /* which finalizers can't free */
    la_tensor *t = la_check_tensor(L, 1, NAME);
    if (t->dtype != LA_UINT8 || t->ndim != 1 || t->numel == 0
        || !la_is_contiguous(t) || t->device != LA_CPU)
        la_raise_arg(L, 1, NAME, "the bytes of a file expected, a contiguous "
                     "tensor of uint8 on the CPU");
    LA_CHECK(L, NAME, la_tensor_check_bounds(t));
    la_fill_handle(s, h, la_tensor_retain(t));
    gguf_raise(L, &where, la_gguf_begin(&g, la_data(h->tensor),
                                        h->tensor->numel));
    push_metadata(L, &g, &where);
    push_infos(L, &g, &where);
    lua_pushinteger(L, g.version);
    return 3;
}

/* ---- the bytes ---- */

static la_status map_bytes(const char *path, la_tensor **out)
{
    LA_READER source = {.fd = -1};
    LA_MAPPING m = NULL;
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_mapping_open(&source, &m));
    return la_mapping_tensor(m, 0, LA_UINT8, 1, &source.size, false, out);
}

/* The host of a sandbox has the bytes, which come into memory of the state. */
static int map_of_host(lua_State *L, la_state *s)
{
    la_tensor *t = NULL;
    const la_loader *known;
    const char *path = la_check_name(L, 1, "gguf.map");
    la_handle *h = la_new_handle(L, s);
    la_open_file *file = la_push_load(L, "gguf.map", path);
    la_load_check(L, file, la_load_open(L, file, &known));
    int64_t n = file->in.size;
    la_load_check(L, file, la_tensor_empty(1, &n, LA_UINT8, &t));
    la_fill_handle(s, h, t);    /* the collector's, whatever follows */
    la_load_check(L, file, la_reader_read(&file->in, 0, la_data(t),
                                          (size_t)n));
    la_load_close(L, -1);
    lua_pop(L, 1);
    return 1;
}

/* la.gguf.map(path): the bytes of a file, which is mapped, read-only. */
static int gguf_map(lua_State *L)
{
    la_state *s = la_begin(L, "gguf.map", 0);
    la_tensor *t = NULL;
    if (s->open) return map_of_host(L, s);
    const char *path = la_check_path(L, 1, "gguf.map");
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "gguf.map", la_media_name(map_bytes(path, &t), path));
    la_fill_handle(s, h, t);
    return 1;
}

/* la.gguf.types(): {word = number in a file}. */
static int gguf_types(lua_State *L)
{
    lua_newtable(L);
    for (const la_gguf_type *t = la_gguf_types; t->name; t++)
        set_integer(L, t->name, t->number);
    return 1;
}

/* la.quantized_matmul(x, quantized[, fast]), and the operation for all else. */
static int quantized_matmul(lua_State *L)
{
    la_begin(L, "quantized_matmul", 0);
    la_check_tensor(L, 1, "quantized_matmul");
    bool fast = lua_toboolean(L, 3);
    if (lua_istable(L, 2) && lua_getfield(L, 2, "product") != LUA_TNIL) {
        lua_pushvalue(L, 2);
        lua_pushvalue(L, 1);
        lua_pushboolean(L, fast);
        lua_call(L, 3, 1);
        return 1;
    }
    lua_settop(L, lua_gettop(L) - lua_istable(L, 2));
    lua_getfield(L, 1, "quantized_matmul");
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static const la_function functions[] = {
    {"quantized_matmul", quantized_matmul, LA_MANY}, {NULL, NULL, 0}
};

static const la_function members[] = {
    {"parse", gguf_parse, 2}, {"map", gguf_map, 1},
    {"types", gguf_types, 0},
    {NULL, NULL, 0}
};

const la_module la_module_gguf = {functions, members, NULL};
