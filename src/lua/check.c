/*
** The checks of Lua's lauxlib.h, with its texts, which leave a record of the
** failure too: a host that reads it after its lua_pcall finds the function, the
** argument and LA_EARG. binding.h gives them the names of those.
*/
#include <string.h>

#include "lua/binding.h"
#include "op/frame.h"

/* Push the name of the function that runs, as its caller wrote it. The first
** argument of a method is self. */
static const char *push_name(lua_State *L, bool *method)
{
    lua_Debug ar;
    *method = false;
    if (!lua_getstack(L, la_extra_levels(L), &ar))
        return lua_pushstring(L, "?");
    lua_getinfo(L, "n", &ar);
    *method = strcmp(ar.namewhat, "method") == 0;
    return lua_pushstring(L, ar.name ? ar.name : "?");
}

/* Counts arguments of a method as lauxlib.h does, behind self where it was
** called by a colon: the caller sees the others alone. */
int la_arg_error(lua_State *L, int arg, const char *text)
{
    bool method;
    const char *name = push_name(L, &method);
    if (!method) return la_raise_arg(L, arg, name, "%s", text);
    if (arg > 1) return la_raise_arg(L, arg - 1, name, "%s", text);
    return la_throw(L, "%s: called on a value of the wrong type (%s)", name,
                    text);
}

/* "number expected, got tensor". */
int la_type_error(lua_State *L, int arg, const char *expected)
{
    const char *got = la_type_text(L, arg);
    return la_arg_error(L, arg, lua_pushfstring(L, "%s expected, got %s",
                                                expected, got));
}

void la_check_any(lua_State *L, int arg)
{
    if (lua_isnone(L, arg)) la_arg_error(L, arg, "value expected");
}

void la_check_type(lua_State *L, int arg, int type)
{
    if (lua_type(L, arg) != type)
        la_type_error(L, arg, lua_typename(L, type));
}

/* Texts that are numbers count, as everywhere in Lua's own library: what takes
** the sizes of tensors is stricter (lua/values.c). */
lua_Integer la_check_integer(lua_State *L, int arg)
{
    int fits;
    lua_Integer i = lua_tointegerx(L, arg, &fits);
    if (fits) return i;
    if (lua_isnumber(L, arg))
        la_arg_error(L, arg, "number has no integer representation");
    return la_type_error(L, arg, "number");
}

lua_Integer la_opt_integer(lua_State *L, int arg, lua_Integer none)
{
    return lua_isnoneornil(L, arg) ? none : la_check_integer(L, arg);
}

lua_Number la_check_number(lua_State *L, int arg)
{
    int fits;
    lua_Number x = lua_tonumberx(L, arg, &fits);
    if (!fits) la_type_error(L, arg, "number");
    return x;
}

const char *la_check_text(lua_State *L, int arg, size_t *n)
{
    const char *text = lua_tolstring(L, arg, n);
    if (!text) la_type_error(L, arg, "string");
    return text;
}

const char *la_opt_text(lua_State *L, int arg, const char *none, size_t *n)
{
    if (!lua_isnoneornil(L, arg)) return la_check_text(L, arg, n);
    if (n) *n = none ? strlen(none) : 0;
    return none;
}

/* Userdata of the metatable with that name in the registry; another one that
** only says the name is refused. */
void *la_check_userdata(lua_State *L, int arg, const char *name)
{
    void *value = luaL_testudata(L, arg, name);
    if (!value) la_type_error(L, arg, name);
    return value;
}

lua_Integer la_read_limit(lua_State *L, int at, const char *name,
                          lua_Integer fallback)
{
    int exact = 0;
    if (!lua_istable(L, at)) return fallback;
    int type = lua_getfield(L, at, "limit");
    lua_Integer limit = type == LUA_TNIL ? fallback
                                         : lua_tointegerx(L, -1, &exact);
    if (type != LUA_TNIL && (type != LUA_TNUMBER || !exact || limit < 1))
        la_raise_arg(L, at, name, "limit: a number of bytes expected, got %s",
                     type == LUA_TNUMBER ? luaL_tolstring(L, -1, NULL)
                                         : la_type_text(L, -1));
    lua_pop(L, 1);
    return limit;
}

bool la_is_callable(lua_State *L, int at)
{
    if (lua_isfunction(L, at)) return true;
    if (luaL_getmetafield(L, at, "__call") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

void la_check_callable(lua_State *L, int arg, const char *name)
{
    if (!la_is_callable(L, arg))
        la_raise_arg(L, arg, name, "function expected, got %s",
                     la_type_text(L, arg));
}
