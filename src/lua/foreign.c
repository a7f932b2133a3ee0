/*
** Names that are not in the module or the table of methods, whose __index this
** is: those that were not asked for yet (members.c), and those that are not
** there: la.svd, x.numpy.
**
** A name that PyTorch or NumPy has raises an error that says what to use; one
** that nobody has is nil, as in any table. The names lie in a Lua module of the
** library, loaded when the first name is missed.
*/
#include "lua/binding.h"
#include "lua/embed.h"
#include "op/op.h"

#define MODULE "lunarray.foreign"

/* Push the module, or nil where it can't be had. Without 'require': a host may
** have taken that away. */
static void push_module(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, MODULE) == LUA_TTABLE) return;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    if (lua_getfield(L, -1, MODULE) != LUA_TFUNCTION) {
        lua_pushnil(L);
        return;
    }
    lua_pushliteral(L, MODULE);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -5, MODULE);
}

/* The module decides what is said, this raises it: an error made there would
** show a line of the library. Names that begin with an underscore are asked for
** by libraries that look for metamethods and are nil at once. */
int la_missing_name(lua_State *L, const char *where, int level)
{
    size_t n;
    lua_settop(L, 2);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &n)
                                                     : "_";
    if (name[0] == '_') {
        lua_pushnil(L);
        return 1;
    }
    push_module(L);
    if (!lua_istable(L, -1)) {
        lua_pushnil(L);
        return 1;
    }
    lua_getfield(L, -1, "explain");
    lua_pushvalue(L, 2);
    lua_pushstring(L, where);
    lua_call(L, 2, 1);
    if (lua_type(L, -1) != LUA_TSTRING) return 1;
    return la_throw_as(L, name, level);
}

/* la.nn is the module lunarray.nn where there is no require, and in a sandbox,
** whose scripts expect none. It stays in the table at 1. False for other
** names. */
static bool push_embedded(lua_State *L)
{
    const la_state *s = la_state_of(L);
    size_t n;
    if (lua_type(L, 2) != LUA_TSTRING) return false;
    const char *name = lua_tolstring(L, 2, &n);
    if (!la_is_embedded(name, n)) return false;
    if (!s || !s->sandboxed) {
        bool has = lua_getglobal(L, "require") == LUA_TFUNCTION;
        lua_pop(L, 1);
        if (has) return false;
    }
    lua_pushcfunction(L, la_require);
    lua_pushfstring(L, "lunarray.%s", name);
    lua_call(L, 1, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return true;
}

/* The key at index 2 is an operation of the host's: these may come and go while
** the state is open, so they stand in no table. */
static bool push_hosted(lua_State *L, uint32_t form)
{
    size_t n;
    if (lua_type(L, 2) != LUA_TSTRING) return false;
    const char *name = lua_tolstring(L, 2, &n);
    la_enter_state(L);
    return la_push_hosted(L, name, n, form);
}

/* Makes the function of the name at index 2, which stays in the table that is
** the upvalue. */
static bool make_missing(lua_State *L, bool (*push)(lua_State *L,
                                                    const char *name, size_t n))
{
    size_t n;
    if (lua_type(L, 2) != LUA_TSTRING) return false;
    const char *name = lua_tolstring(L, 2, &n);
    if (!push(L, name, n)) return false;
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, lua_upvalueindex(1));
    return true;
}

/* __index of the module: la.name, asked by the function at level 1. */
static int missing_function(lua_State *L)
{
    if (make_missing(L, la_push_member) || push_hosted(L, LA_FN)
        || push_embedded(L)) return 1;
    return la_missing_name(L, "la", 1);
}

/* Between the script and this is __index of the tensors. */
static int missing_method(lua_State *L)
{
    return make_missing(L, la_push_method) || push_hosted(L, LA_METHOD)
        ? 1 : la_missing_name(L, ":", 2);
}

/* next, whatever a script has made of the global. */
static int walk_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    return lua_next(L, 1) ? 2 : 0;
}

/* pairs(la): functions that nobody asked for yet come, too. */
static int walk_module(lua_State *L)
{
    lua_settop(L, 1);
    la_make_members(L, 1);
    return la_push_next(L);
}

/* pairs of the table of methods, which no script has: for those who look at the
** library itself. */
static int walk_methods(lua_State *L)
{
    lua_settop(L, 1);
    la_make_methods(L, 1);
    return la_push_next(L);
}

int la_push_next(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushcfunction(L, walk_next);
    lua_insert(L, 1);
    lua_pushnil(L);
    return 3;
}

/* The table is the upvalue of its __index. */
static void set_walks(lua_State *L, int table, lua_CFunction index,
                      lua_CFunction pairs)
{
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, table);
    lua_pushcclosure(L, index, 1);
    lua_setfield(L, -2, "__index");
    la_set_event(L, "__pairs", pairs);
    la_set_own_metatable(L, table);
}

void la_open_foreign(lua_State *L, int lib, int methods)
{
    set_walks(L, lib, missing_function, walk_module);
    set_walks(L, methods, missing_method, walk_methods);
}
