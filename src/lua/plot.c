/*
** la.plot: what lunarray.plot (Lua) can't know by itself. Figures are made
** there; nothing here writes.
*/
#include "base/terminal.h"
#include "lua/binding.h"

/* window(): columns, rows, and the pixels of both; nil where standard output is
** no terminal, or is not the script's to know. */
static int plot_window(lua_State *L)
{
    la_os_window w;
    if (la_up_state(L)->sandboxed || !la_os_find_window(&w)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, w.columns);
    lua_pushinteger(L, w.rows);
    lua_pushinteger(L, w.width);
    lua_pushinteger(L, w.height);
    return 4;
}

/* la.plot(...): la.plot.line(...). */
static int plot_call(lua_State *L)
{
    int n = lua_gettop(L);
    lua_getfield(L, 1, "_call");
    lua_replace(L, 1);
    lua_call(L, n - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void la_open_plot(lua_State *L, int lib)
{
    lua_getfield(L, lib, "plot");
    lua_pushnil(L);
    la_closure(L, plot_window);
    lua_setfield(L, -2, "window");
    lua_getmetatable(L, -1);
    lua_pushcfunction(L, plot_call);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 2);
}
