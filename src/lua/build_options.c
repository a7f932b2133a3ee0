/*
** The options that functions take which make a tensor of Lua values: dtype,
** device, requires_grad, names, memory_format. Operations that create tensors
** have theirs in their schemas (op/def/create.def).
*/
#include "lua/build_options.h"

#include <string.h>

#include "op/call.h"
#include "op/host/device_names.h"
#include "tensor/names.h"

/* LA_UNDEFINED where it is not given; raises for an unknown one. */
static la_dtype option_dtype(lua_State *L, int at, const char *name)
{
    la_dtype d = LA_UNDEFINED;
    lua_getfield(L, at, "dtype");
    if (!lua_isnil(L, -1)) d = la_check_dtype(L, lua_gettop(L), name);
    lua_pop(L, 1);
    return d;
}

/* The device that the top of the stack names. */
static la_device option_device(lua_State *L, const char *name)
{
    size_t n;
    char quoted[256];
    la_device device;
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "%s: device: string expected, got %s", name,
                   la_type_text(L, lua_gettop(L)));
    const char *word = lua_tolstring(L, -1, &n);
    if (!la_device_parse(word, n, &device))
        luaL_error(L, "%s: unknown device '%s'", name,
                   la_quote(word, n, quoted, sizeof(quoted)));
    return device;
}

/* Raises when the key on the top of the stack is none of 'known'. */
static void check_keyword(lua_State *L, const char *const *known,
                          const char *name)
{
    char quoted[256];
    size_t n;
    int type = lua_type(L, -1);
    for (int i = 0; known[i] && type == LUA_TSTRING; i++)
        if (strcmp(known[i], lua_tostring(L, -1)) == 0) return;
    const char *word = type == LUA_TSTRING ? lua_tolstring(L, -1, &n)
        : type != LUA_TNUMBER ? luaL_typename(L, -1)
        : lua_isinteger(L, -1) ? luaL_tolstring(L, -1, NULL)
        : la_push_number(L, lua_tonumber(L, -1));
    la_quote(word, type == LUA_TSTRING ? n : strlen(word), quoted,
             sizeof(quoted));
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 0; known[i]; i++) {
        if (i > 0) luaL_addstring(&b, ", ");
        luaL_addstring(&b, known[i]);
    }
    luaL_pushresult(&b);
    luaL_error(L, "%s: unknown keyword '%s' (known: %s)", name, quoted,
               lua_tostring(L, -1));
}

/* lua_next is raw: keys behind an __index metamethod are not seen. */
void la_check_keywords(lua_State *L, int at, const char *const *known,
                       const char *name)
{
    lua_pushnil(L);
    while (lua_next(L, at)) {
        lua_pop(L, 1);
        check_keyword(L, known, name);
    }
}

/* names = {...} of the table on the top: interned, in a userdata that stays on
** the stack; "*" is a dim without a name. A name is never freed, so the array
** may hold plain pointers. */
static void option_names(lua_State *L, int at, la_build_options *o,
                         const char *name)
{
    size_t length;
    if (lua_getfield(L, at, "names") == LUA_TNIL) return;
    int table = lua_gettop(L);
    la_take_list(L, table);
    if (lua_type(L, table) != LUA_TTABLE)
        luaL_error(L, "%s: names: list of names expected, got %s", name,
                   la_type_text(L, table));
    size_t n = lua_rawlen(L, table);
    if (n > LA_MAX_DIMS)
        luaL_error(L, "%s: at most %d names", name, LA_MAX_DIMS);
    o->nnames = (int)n;
    o->names = lua_newuserdatauv(L, (n + 1) * sizeof(*o->names), 0);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, table, (lua_Integer)i + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: names: [%d]: string expected, got %s", name,
                       (int)i + 1, la_type_text(L, lua_gettop(L)));
        const char *word = lua_tolstring(L, -1, &length);
        o->names[i] = la_name_intern(word, length);
        lua_pop(L, 1);
        if (!o->names[i]) la_raise(L, name, LA_ENOMEM);
    }
}

/* The options among the fields of the table at 'at', whose keys are known.
** Leaves up to two values on the stack, the anchor of the names among them. */
static void read_fields(lua_State *L, int at, la_build_options *o,
                        const char *name)
{
    size_t n;
    char quoted[256];
    la_dtype dtype = option_dtype(L, at, name);
    if (dtype != LA_UNDEFINED) o->dtype = dtype;
    lua_getfield(L, at, "requires_grad");
    o->requires_grad = lua_toboolean(L, -1);
    lua_getfield(L, at, "device");
    o->has_device = !lua_isnil(L, -1);
    if (o->has_device) o->device = option_device(L, name);
    lua_getfield(L, at, "memory_format");
    if (!lua_isnil(L, -1)) {
        const char *word = lua_type(L, -1) == LUA_TSTRING
            ? lua_tolstring(L, -1, &n) : NULL;
        if (!word || !la_format_parse(word, n, &o->format))
            luaL_error(L, "%s: unknown memory format '%s'", name,
                       word ? la_quote(word, n, quoted, sizeof(quoted))
                            : luaL_typename(L, -1));
        o->has_format = true;
    }
    lua_pop(L, 3);
    option_names(L, at, o, name);
}

la_build_options la_read_options(lua_State *L, int at,
                                 const char *const *known, const char *name)
{
    la_build_options o = {.dtype = LA_UNDEFINED, .device = LA_CPU};
    if (lua_isnoneornil(L, at)) return o;
    o.given = true;
    if (lua_type(L, at) == LUA_TSTRING) {
        o.dtype = la_check_dtype(L, at, name);
        return o;
    }
    if (lua_type(L, at) != LUA_TTABLE)
        la_raise_arg(L, at, name, "table of options expected, got %s",
                     la_type_text(L, at));
    la_check_keywords(L, at, known, name);
    read_fields(L, at, &o, name);
    return o;
}

void la_raise_hole(lua_State *L, const char *name, const char *row,
                   lua_Integer i, int n)
{
    luaL_error(L, "bad argument #1 to '%s' (%s[%I]: the table has a hole: its "
               "length is %d)", name, row, (LUAI_UACINT)i, n);
}

/* Push the key at which to begin a walk that has to see all keys which are no
** elements of a list of n: those stand behind the array part. Lists that were
** filled one by one may have a few of their last elements there. lua_next walks
** the array part in order and the hash part after it, so that a walk that
** begins near the end of a long list is short. */
static void push_first_key(lua_State *L, int at, lua_Integer n)
{
    enum { TAIL = 32 };
    bool late = n > TAIL && lua_rawgeti(L, at, n - TAIL) != LUA_TNIL;
    if (n > TAIL) lua_pop(L, 1);
    if (late) lua_pushinteger(L, n - TAIL);
    else lua_pushnil(L);
}

void la_read_options_in_data(lua_State *L, int at, const char *const *known,
                             la_build_options *o, const char *name)
{
    bool found = false;
    if (lua_type(L, at) != LUA_TTABLE || lua_getmetatable(L, at)) return;
    lua_Unsigned n = lua_rawlen(L, at);
    push_first_key(L, at, (lua_Integer)n);
    while (lua_next(L, at)) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1)) {
            if ((lua_Unsigned)lua_tointeger(L, -1) - 1 < n) continue;
            la_raise_hole(L, name, "", lua_tointeger(L, -1), (int)n);
        }
        check_keyword(L, known, name);
        found = true;
    }
    if (found && o->given)
        luaL_error(L, "%s: options stand next to the data or in the next "
                   "argument, not in both", name);
    if (found) read_fields(L, at, o, name);
}

/* Each step leaves 'h' with a tensor it owns, so that an error in the next
** leaks nothing. The meta device keeps only shape and dtype. */
void la_apply_options(lua_State *L, la_handle *h, const la_build_options *o,
                      const char *name)
{
    bool moves = o->has_device && o->device != h->tensor->device;
    if (moves && o->device == LA_META) {
        la_tensor *t = h->tensor, *meta = NULL;
        LA_CHECK(L, name, la_tensor_empty_on(LA_META, t->ndim, la_sizes(t),
                                             NULL, (la_dtype)t->dtype, &meta));
        h->tensor = meta;
        la_tensor_release(t);
    } else if (moves) {
        la_tensor *t = h->tensor, *there = NULL;
        LA_CHECK(L, name, la_run(to_copy, &there, t, la_v_none(),
                                 la_v_device(o->device), la_v_none()));
        h->tensor = there;
        la_tensor_release(t);
    }
    if (o->has_format) {
        la_tensor *t = NULL;
        la_value format = {.tag = LA_VFORMAT, .given = true,
                           .format = o->format};
        LA_CHECK(L, name, la_run(clone, &t, h->tensor, format));
        la_tensor_release(h->tensor);
        h->tensor = t;
    }
    if (o->names) {
        la_names *names = NULL;
        if (o->nnames != h->tensor->ndim)
            luaL_error(L, "%s: %d names for a tensor of dimension %d", name,
                       o->nnames, h->tensor->ndim);
        LA_CHECK(L, name, la_names_new(o->nnames, o->names, &names));
        la_tensor_set_names(h->tensor, names);
    }
    if (o->requires_grad)
        LA_CHECK(L, name, la_require_grad(h->tensor, true));
}
