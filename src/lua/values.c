/* Single values between Lua and C: numbers, dtypes, names of dims, and the box
** that owns tensors while Lua code may run. */
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "lua/binding.h"
#include "op/call.h"
#include "tensor/names.h"

/* Strings are not converted, unlike luaL_checkinteger: "3" where a number
** belongs is a mistake. A float with an integral value is accepted. */
int64_t la_check_int(lua_State *L, int arg, const char *name)
{
    int ok = 0;
    int64_t v = 0;
    if (lua_type(L, arg) != LUA_TNUMBER)
        return la_raise_arg(L, arg, name, "number expected, got %s",
                            la_type_text(L, arg));
    v = lua_tointegerx(L, arg, &ok);
    if (!ok)
        la_raise_arg(L, arg, name, "number has no integer representation");
    return v;
}

la_dtype la_check_dtype(lua_State *L, int arg, const char *name)
{
    size_t n;
    char quoted[256];
    if (lua_type(L, arg) != LUA_TSTRING)
        la_raise_arg(L, arg, name, "dtype expected, got %s",
                     la_type_text(L, arg));
    const char *word = lua_tolstring(L, arg, &n);
    la_dtype d = la_dtype_parse(word, n);
    if (d == LA_UNDEFINED)
        la_raise_arg(L, arg, name, "unknown dtype '%s' (known: %s)",
                     la_quote(word, n, quoted, sizeof(quoted)),
                     la_known_dtypes);
    return d;
}

const char *la_check_path(lua_State *L, int arg, const char *name)
{
    if (la_up_state(L)->sandboxed)
        la_raise_arg(L, arg, name, "files are not open to this script");
    return la_check_name(L, arg, name);
}

const char *la_check_name(lua_State *L, int arg, const char *name)
{
    size_t n;
    if (lua_type(L, arg) != LUA_TSTRING)
        la_raise_arg(L, arg, name, "path expected, got %s",
                     la_type_text(L, arg));
    const char *path = lua_tolstring(L, arg, &n);
    if (strlen(path) != n) la_raise_arg(L, arg, name, "NUL byte in the path");
    return path;
}

/* A tensor that needs a gradient is refused, as the scalar would lose its
** history (la_tensor_to_scalar). */
bool la_to_scalar(lua_State *L, int arg, la_scalar *out)
{
    switch (lua_type(L, arg)) {
    case LUA_TBOOLEAN:
        *out = la_scalar_bool(lua_toboolean(L, arg));
        return true;
    case LUA_TNUMBER:
        la_read_number(L, arg, out);
        return true;
    default: {
        la_handle *h = la_to_handle(L, arg);
        if (!h || !h->tensor) return false;
        if (la_ctx()->recorder && la_record_read(h->tensor)) return false;
        return la_tensor_to_scalar(h->tensor, out);
    }
    }
}

void la_check_table(lua_State *L, int arg, const char *name)
{
    if (lua_type(L, arg) != LUA_TTABLE)
        la_raise_arg(L, arg, name, "table expected, got %s",
                     la_type_text(L, arg));
}

/* Lua's own conversion asks the locale. A float that is whole ends with ".0",
** which an infinity and what is no number do not. */
const char *la_push_number(lua_State *L, double v)
{
    char text[LA_NUMBER_BYTES];
    int n = la_format_number(text, 'g', 14, false, v);
    bool whole = isfinite(v) && strcspn(text, ".e") == (size_t)n;
    return lua_pushfstring(L, whole ? "%s.0" : "%s", text);
}

const char *la_key_text(lua_State *L, int at, char *quoted, size_t n)
{
    size_t length;
    if (lua_isinteger(L, at))
        return lua_pushfstring(L, "[%I]", (LUAI_UACINT)lua_tointeger(L, at));
    if (lua_type(L, at) == LUA_TNUMBER)
        return lua_pushfstring(L, "[%s]",
                               la_push_number(L, lua_tonumber(L, at)));
    if (lua_type(L, at) != LUA_TSTRING)
        return lua_pushfstring(L, "of type %s", luaL_typename(L, at));
    const char *word = lua_tolstring(L, at, &length);
    return lua_pushfstring(L, "'%s'", la_quote(word, length, quoted, n));
}

bool la_has_string_key(lua_State *L, int table)
{
    bool found = false;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        found = lua_type(L, -2) == LUA_TSTRING;
        lua_pop(L, found ? 2 : 1);
        if (found) break;
    }
    return found;
}

bool la_is_list(lua_State *L, int at)
{
    if (lua_rawlen(L, at) > 0) return true;
    if (luaL_getmetafield(L, at, "__len") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

/* A table with __len may run Lua code at each access, which readers of
** arguments must not do while they hold tensors: it is copied here, once. Its
** string keys are options and come along. */
void la_take_list(lua_State *L, int at)
{
    if (lua_type(L, at) != LUA_TTABLE
        || luaL_getmetafield(L, at, "__len") == LUA_TNIL) return;
    lua_pop(L, 1);
    lua_Integer n = luaL_len(L, at);
    if (n < 0)
        luaL_error(L, "the length of a list (__len) is negative: %I",
                   (LUAI_UACINT)n);
    if (n > LA_MAX_OBJECT)
        luaL_error(L, "list of %I is too long: an object may have %d",
                   (LUAI_UACINT)n, LA_MAX_OBJECT);
    luaL_checkstack(L, 6, "too many arguments");
    lua_createtable(L, (int)n, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        if (lua_geti(L, at, i) == LUA_TNIL)
            luaL_error(L, "[%d] of a list of %d is nil", (int)i, (int)n);
        lua_rawseti(L, -2, i);
    }
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
    }
    lua_replace(L, at);
}

bool la_open_options(lua_State *L, int at)
{
    if (lua_type(L, at) != LUA_TTABLE || la_is_list(L, at)
        || luaL_getmetafield(L, at, "__index") == LUA_TNIL) return false;
    lua_pop(L, 1);
    luaL_checkstack(L, 6, "too many arguments");
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
    }
    return true;
}

void la_see_option(lua_State *L, int at, const char *word, size_t n)
{
    lua_pushlstring(L, word, n);
    lua_pushvalue(L, -1);
    lua_gettable(L, at);
    lua_rawset(L, -3);
}

void la_take_options(lua_State *L, int at, const char *const *known)
{
    if (!la_open_options(L, at)) return;
    for (int k = 0; known[k]; k++)
        la_see_option(L, at, known[k], strlen(known[k]));
    lua_replace(L, at);
}

lua_Integer la_count_cells(lua_State *L, int at)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, at);
    int first = lua_rawgeti(L, at, 1);
    lua_pop(L, 1);
    return first == LUA_TTABLE && n <= LA_MAX_LIST ? n : -1;
}

lua_Integer la_read_cells(lua_State *L, int at, lua_Integer n, int64_t *out)
{
    luaL_checkstack(L, 4, "cells");
    for (lua_Integer i = 0; i < n; i++) {
        int fits[2] = {0, 0}, keys = 0, cell = lua_gettop(L) + 1;
        bool table = lua_rawgeti(L, at, i + 1) == LUA_TTABLE;
        for (int side = 0; side < 2 && table; side++) {
            if (lua_rawgeti(L, cell, side + 1) == LUA_TNUMBER)
                out[2 * i + side] = lua_tointegerx(L, -1, &fits[side]);
            lua_pop(L, 1);
        }
        if (table) lua_pushnil(L);
        for (; table && lua_next(L, cell); lua_pop(L, 1)) keys++;
        lua_pop(L, 1);
        if (!fits[0] || !fits[1] || keys != 2) return i + 1;
    }
    return 0;
}

/* t[i] has two entries alone: a word and an integer. Pushes both. */
static bool is_named_size(lua_State *L, int at, lua_Integer i)
{
    int keys = 0, entry = lua_gettop(L) + 1;
    if (lua_rawgeti(L, at, i) != LUA_TTABLE) return false;
    for (lua_pushnil(L); lua_next(L, entry); lua_pop(L, 1)) keys++;
    bool word = lua_rawgeti(L, entry, 1) == LUA_TSTRING;
    lua_rawgeti(L, entry, 2);
    return word && keys == 2 && lua_isinteger(L, -1);
}

lua_Integer la_read_named_sizes(lua_State *L, int at, lua_Integer n,
                                int64_t *sizes, const char **names)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 6, "named sizes");
    for (lua_Integer i = 0; i < n; i++) {
        size_t length;
        if (!is_named_size(L, at, i + 1)) {
            lua_settop(L, top);
            return i + 1;
        }
        const char *word = lua_tolstring(L, -2, &length);
        sizes[i] = lua_tointeger(L, -1);
        names[i] = la_name_intern(word, length);
        if (!names[i]) luaL_error(L, "%s", la_error_message());
        lua_settop(L, top);
    }
    return 0;
}

la_tensor *la_number_tensor(lua_State *L, int arg)
{
    la_scalar s;
    la_tensor *t = NULL;
    int type = lua_type(L, arg);
    if (type != LUA_TNUMBER && type != LUA_TBOOLEAN) return NULL;
    la_to_scalar(L, arg, &s);
    if (la_tensor_from_scalar(&s, &t)) luaL_error(L, "%s", la_error_message());
    return t;
}

/* A uint64 that is no integer of Lua is a float. A complex number is two
** values, real and imaginary part: callers that return it must count. */
void la_push_scalar(lua_State *L, const la_scalar *s)
{
    switch (s->kind) {
    case LA_KBOOL: lua_pushboolean(L, s->i != 0); break;
    case LA_KINT:
        if (la_scalar_above_int(s)) lua_pushnumber(L, s->re);
        else lua_pushinteger(L, s->i);
        break;
    case LA_KFLOAT: lua_pushnumber(L, s->re); break;
    default:
        lua_pushnumber(L, s->re);
        lua_pushnumber(L, s->im);
    }
}

/* The entries are NULL before the metatable is set, so that the finalizer never
** sees indeterminate pointers. */
la_tensor_box *la_push_box(lua_State *L, int64_t n)
{
    if (n < 0 || n > LA_MAX_LIST)
        luaL_error(L, "a list of %I tensors is not possible", (LUAI_UACINT)n);
    la_tensor_box *box = lua_newuserdatauv(
        L, sizeof(*box) + (size_t)n * sizeof(la_tensor *), 0);
    box->n = n;
    memset(box->list, 0, (size_t)n * sizeof(la_tensor *));
    la_set_metatable(L, LA_BOX_NAME);
    return box;
}
