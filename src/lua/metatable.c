/* All metatables are made here, each locked. */
#include "lua/binding.h"
#include "lua/metatable.h"

#include <string.h>

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
    luaL_getmetatable(L, name);
    la_take_metatable(L);
}

/* ---- what finalizers make ---- */

_Atomic int la_closing_states;
/* registry[&late]: objects by their addresses. The values are weak until the
** state is known to close: the collector takes a dead object out before it
** calls its finalizer, and nothing is taken out while Lua closes the state. */
static const char late;

void la_begin_closing(lua_State *L, la_state *s)
{
    if (s->closing) return;
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &late);
    s->closing = true;
    atomic_fetch_add(&la_closing_states, 1);
}

void la_note_late(lua_State *L)
{
    const la_state *s = la_state_of(L);
    if (!s || (!s->closing && !la_in_finalizer(L))) return;
    if (s->closed) luaL_error(L, "lunarray is closed in this Lua state");
    luaL_checkstack(L, 4, NULL);
    la_push_weak_table(L, &late, "v");
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, lua_touserdata(L, -1));
    lua_pop(L, 1);
}

/* Objects that these finalizers make are not noted any more. */
void la_end_closing(lua_State *L, la_state *s)
{
    if (s->closing) atomic_fetch_sub(&la_closing_states, 1);
    s->closing = false;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &late) != LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &late);
    int list = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, list); lua_settop(L, list + 1)) {
        if (luaL_getmetafield(L, -1, "__gc") != LUA_TFUNCTION) continue;
        lua_pushvalue(L, -2);
        lua_pcall(L, 1, 0, 0);
    }
    lua_settop(L, list - 1);
}

void *la_push_collected(lua_State *L, size_t bytes, const char *name,
                        lua_CFunction gc)
{
    void *object = lua_newuserdatauv(L, bytes, 0);
    memset(object, 0, bytes);
    if (la_new_metatable(L, name, NULL)) la_set_event(L, "__gc", gc);
    la_take_metatable(L);
    return object;
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
