/* All metatables are made here, each locked. */
#include "lua/metatable.h"

/* Memory may end anywhere, and the next call finds what is registered: so the
** key and the lock are there before the table is, which has slots for them. */
bool la_new_metatable(lua_State *L, const char *name, const char *lock)
{
    if (luaL_getmetatable(L, name) == LUA_TTABLE) return false;
    lua_pop(L, 1);
    lua_pushliteral(L, "__metatable");
    if (lock) lua_pushstring(L, lock);
    else lua_pushboolean(L, 0);
    luaL_newmetatable(L, name);
    lua_insert(L, -3);
    lua_rawset(L, -3);
    return true;
}

void la_set_event(lua_State *L, const char *event, lua_CFunction fn)
{
    lua_pushcfunction(L, fn);
    lua_setfield(L, -2, event);
}

void la_set_metatable(lua_State *L, const char *name)
{
    luaL_setmetatable(L, name);
}

void la_set_own_metatable(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    lua_pushliteral(L, "__metatable");
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pushliteral(L, "the metatable is locked");
        lua_setfield(L, -3, "__metatable");
    }
    lua_pop(L, 1);
    lua_setmetatable(L, index);
}

void la_push_weak_table(lua_State *L, const void *key, const char *mode)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    la_set_own_metatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}
