/*
** Lua's own library for untrusted scripts: what of it stays.
**
** Taken away or replaced is whatever reaches files, programs and other code
** (io, package, loadfile, os but its clocks), loads bytecode (which can crash
** the interpreter), looks into functions (debug), steers the collector, writes
** to the host's output, or shows an address (tostring, string.format). Patterns
** are Lua's: a host that needs a limit on their time has to replace find,
** match, gmatch and gsub.
*/
#include "lua/sandbox.h"

#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#define REPEATED ((size_t)1 << 26)     /* bytes that string.rep may give */

/* ---- replacements; the original is upvalue 1 ---- */

/* load(chunk, name, mode, env): text alone, whatever 'mode' says. */
static int load_text(lua_State *L)
{
    if (lua_gettop(L) < 3) lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* collectgarbage("count") */
static int count_memory(lua_State *L)
{
    if (strcmp(luaL_optstring(L, 1, "collect"), "count") != 0)
        return luaL_error(L, "collectgarbage: only \"count\" is available in a "
                          "sandbox");
    lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT, 0)
                   + lua_gc(L, LUA_GCCOUNTB, 0) / 1024.0);
    return 1;
}

/* Would Lua show the address of what stands at 'index'? */
static bool has_address(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL: case LUA_TBOOLEAN: case LUA_TNUMBER: case LUA_TSTRING:
        return false;
    default:
        break;
    }
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return true;
    lua_pop(L, 1);
    return false;
}

/* The text of a value, pushed: the name of its type where it has no other. */
static void push_text(lua_State *L, int index)
{
    if (!has_address(L, index))
        luaL_tolstring(L, index, NULL);
    else if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING)
        lua_pushstring(L, luaL_typename(L, index));
}

/* tostring(value) */
static int text_of(lua_State *L)
{
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

/* string.format: no %p, and the texts of above for what has an address. */
static int format_text(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    for (const char *p = text; p < text + n; p++) {
        if (*p != '%') continue;
        p++;
        p += strspn(p, "-+ #0123456789.");
        if (*p == 'p')
            return luaL_error(L, "format: %%p is not available in a sandbox");
    }
    for (int k = 2, top = lua_gettop(L); k <= top; k++) {
        if (!has_address(L, k)) continue;
        push_text(L, k);
        lua_replace(L, k);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* string.rep(s, n, separator): Lua's goes round n times even for nothing. */
static int repeat_text(lua_State *L)
{
    size_t size, gap = 0;
    luaL_checklstring(L, 1, &size);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &gap);
    if (n > 0 && size + gap == 0) n = 1;
    if (n > 0 && size + gap > 0
        && (lua_Unsigned)n > REPEATED / (size + gap))
        return luaL_error(L, "resulting string too large");
    lua_settop(L, 3);
    lua_pushinteger(L, n);
    lua_replace(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 3, 1);
    return 1;
}

/* ---- closing ---- */

/* The functions of the table on the top that are replaced; each gets the
** original. */
static void replace(lua_State *L, const luaL_Reg *list)
{
    for (; list->name; list++) {
        lua_getfield(L, -1, list->name);
        lua_pushcclosure(L, list->func, 1);
        lua_setfield(L, -2, list->name);
    }
}

/* Fields of the table on the top become nil. */
static void clear(lua_State *L, const char *const *names)
{
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

/* require stays for what is loaded or preloaded; the table that it looks in is
** its upvalue, and reached by nothing else. */
static void close_package(lua_State *L)
{
    static const char *const gone[] = {"loadlib", "searchpath", "path",
                                       "cpath", NULL};
    lua_getglobal(L, LUA_LOADLIBNAME);
    clear(L, gone);
    lua_getfield(L, -1, "searchers");
    lua_createtable(L, 1, 0);
    lua_rawgeti(L, -2, 1);
    lua_rawseti(L, -2, 1);
    lua_setfield(L, -3, "searchers");
    lua_pop(L, 2);
}

/* Of os the clocks, in a table of its own: the old one may be held. */
static void close_os(lua_State *L)
{
    static const char *const kept[] = {"time", "clock", "difftime"};
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_createtable(L, 0, 3);
    for (int k = 0; k < 3; k++) {
        lua_getfield(L, -2, kept[k]);
        lua_setfield(L, -2, kept[k]);
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, LUA_OSLIBNAME);
    lua_pop(L, 1);
    lua_setglobal(L, LUA_OSLIBNAME);
    lua_pop(L, 1);
}

int la_close_unsafe(lua_State *L)
{
    static const luaL_Reg libs[] = {
        {LUA_GNAME, luaopen_base}, {LUA_LOADLIBNAME, luaopen_package},
        {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_OSLIBNAME, luaopen_os}, {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8}};
    static const luaL_Reg globals[] = {
        {"load", load_text}, {"collectgarbage", count_memory},
        {"tostring", text_of}, {NULL, NULL}};
    static const luaL_Reg strings[] = {
        {"format", format_text}, {"rep", repeat_text}, {NULL, NULL}};
    static const char *const functions[] = {"dofile", "loadfile", "print",
        "warn", NULL};
    static const char *const modules[] = {"io", "debug", "package", NULL};
    static const char *const bytecode[] = {"dump", NULL};
    for (size_t k = 0; k < sizeof(libs) / sizeof(libs[0]); k++) {
        luaL_requiref(L, libs[k].name, libs[k].func, 1);
        lua_pop(L, 1);
    }
    close_package(L);
    close_os(L);
    lua_getglobal(L, LUA_STRLIBNAME);
    replace(L, strings);
    clear(L, bytecode);
    lua_pushglobaltable(L);
    replace(L, globals);
    clear(L, functions);
    clear(L, modules);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    clear(L, modules);
    return 0;
}
