/*
** The library in a web page: scripts go in and what they print comes out, as
** text. Exported to JavaScript; one Lua state, one caller.
**
** lunarray_start(seconds) begins anew. With seconds > 0 the state is a sandbox
** (la_open_sandboxed), no run of which takes longer; with 0 it has all of Lua's
** libraries, files of the page's memory, and no limit. 0, or a status.
**
** lunarray_run(source) runs a chunk and gives what it printed, then the values
** that it returned, or "error: ..." and where. The text stays until the next
** call. Globals stay from run to run. An expression alone is shown. Without a
** lunarray_start before it the state is a sandbox with 10 seconds.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"

#define EXPORTED __attribute__((used, visibility("default")))
#define MOST ((size_t)1 << 20)      /* bytes of a run's text */

static lua_State *state;
static double limit = 10;
static struct { char *data; size_t size, capacity; int cut; } said;

/* Text that finds no memory is left out. */
static void append(const char *text, size_t n)
{
    said.cut = said.cut || said.size + n > MOST;
    if (said.cut) return;
    if (said.size + n + 1 > said.capacity) {
        size_t wider = 2 * (said.size + n + 1);
        char *data = realloc(said.data, wider);
        if (!data) return;
        said.data = data;
        said.capacity = wider;
    }
    memcpy(said.data + said.size, text, n);
    said.size += n;
    said.data[said.size] = '\0';
}

/* The values from index 'first' on, as print shows them. */
static void show(lua_State *L, int first)
{
    int last = lua_gettop(L);
    for (int i = first; i <= last; i++) {
        size_t n;
        const char *text = luaL_tolstring(L, i, &n);
        if (i > first) append("\t", 1);
        append(text, n);
        lua_pop(L, 1);
    }
    append("\n", 1);
}

static int print(lua_State *L)
{
    show(L, 1);
    return 0;
}

static int write(lua_State *L)
{
    for (int i = 1; i <= lua_gettop(L); i++) {
        size_t n;
        const char *text = luaL_checklstring(L, i, &n);
        append(text, n);
    }
    return 0;
}

static int take_output(lua_State *L)
{
    lua_register(L, "print", print);
    if (lua_getglobal(L, "io") == LUA_TTABLE) {
        lua_pushcfunction(L, write);
        lua_setfield(L, -2, "write");
    }
    return 0;
}

EXPORTED int lunarray_start(double seconds)
{
    if (state) lua_close(state);
    state = luaL_newstate();
    if (!state) return LA_ENOMEM;
    limit = seconds;
    if (seconds <= 0) luaL_openlibs(state);
    int status = seconds > 0 ? la_open_sandboxed(state, NULL)
                             : la_openlibs(state);
    lua_pushcfunction(state, take_output);
    if (!status && lua_pcall(state, 0, 0, 0)) status = LA_ENOMEM;
    if (status) {
        lua_close(state);
        state = NULL;
    }
    return status;
}

/* An expression, or a chunk. */
static int load(lua_State *L, const char *source)
{
    lua_pushfstring(L, "return %s", source);
    const char *text = lua_tostring(L, -1);
    int status = luaL_loadbufferx(L, text, strlen(text), "=script", "t");
    if (status) {
        lua_settop(L, 1);
        status = luaL_loadbufferx(L, source, strlen(source), "=script", "t");
    }
    return status ? lua_error(L) : 1;
}

static int run(lua_State *L)
{
    load(L, lua_touserdata(L, 1));
    int base = lua_gettop(L) - 1;
    lua_call(L, 0, LUA_MULTRET);
    if (lua_gettop(L) > base) show(L, base + 1);
    return 0;
}

static int text_of_error(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* Turned into a text with nothing reached, so that it may be any value. */
static void show_error(lua_State *L)
{
    lua_pushcfunction(L, text_of_error);
    lua_insert(L, -2);
    lua_pcall(L, 1, 1, 0);
    const char *text = lua_tostring(L, -1);
    if (!text) text = "(a value without a text)";
    append("error: ", 7);
    append(text, strlen(text));
    append("\n", 1);
}

EXPORTED const char *lunarray_run(const char *source)
{
    said.size = 0;
    said.cut = 0;
    append("", 0);
    int status = state ? 0 : lunarray_start(limit);
    if (status) return "error: the library could not be opened\n";
    la_token *token = la_token_of(state);
    if (limit > 0) la_set_deadline(token, (int64_t)(limit * 1e9));
    lua_pushcfunction(state, run);
    lua_pushlightuserdata(state, (void *)source);
    status = lua_pcall(state, 1, 0, 0);
    la_token_clear(token);
    if (status) show_error(state);
    la_token_release(token);
    lua_settop(state, 0);
    if (said.cut) {
        said.cut = 0;
        said.size -= said.size > MOST - 64 ? 64 : 0;
        append("\n(more was printed)\n", 20);
    }
    return said.data ? said.data : "";
}
