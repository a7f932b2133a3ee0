/*
** la.plot: what lunarray.plot (Lua) can't know by itself. Figures are made
** there; nothing here writes.
*/
#include <lauxlib.h>

#include "base/os/clock.h"
#include "base/os/terminal.h"
#include "base/runtime/thread_pool.h"
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

/* _ask(query, seconds): what the terminal answers, or nil. */
static int plot_ask(lua_State *L)
{
    size_t n;
    char reply[256];
    const char *query = luaL_checklstring(L, 1, &n);
    lua_Number seconds = luaL_checknumber(L, 2);
    if (la_up_state(L)->sandboxed || !(seconds >= 0 && seconds <= 10)) return 0;
    int length = la_os_ask_terminal(query, n, reply, sizeof reply,
                                    (int)(1e3 * seconds));
    if (length < 0) return 0;
    lua_pushlstring(L, reply, (size_t)length);
    return 1;
}

/* _clock(): seconds since some moment, of a clock that only goes forward. */
static int plot_clock(lua_State *L)
{
    lua_pushnumber(L, 1e-9 * (lua_Number)la_nanoseconds());
    return 1;
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
    static const luaL_Reg functions[] = {
        {"window", plot_window}, {"_ask", plot_ask}, {"_clock", plot_clock}};
    lua_getfield(L, lib, "plot");
    for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
        lua_pushnil(L);
        la_closure(L, functions[k].func);
        lua_setfield(L, -2, functions[k].name);
    }
    lua_getmetatable(L, -1);
    la_set_event(L, "__call", plot_call);
    lua_pop(L, 2);
}
