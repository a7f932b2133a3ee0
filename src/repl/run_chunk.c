/*
** Running chunks, and what they fail with.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/trace.h"
#include "lunarray.h"
#include "repl/repl.h"

/* ---- chunks ---- */

/* Adds a hint to the message at 1, "did you mean softmax?", where a name led to
** nil or a keyword is unknown. What fails on the way leaves it as it is. */
static void add_hint(lua_State *L)
{
    const char *message = lua_tostring(L, 1);
    if (!strstr(message, "a nil value (") && !strstr(message, "(known: "))
        return;
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunarray.repl.errors");
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1)) {
        lua_getfield(L, -1, "hint");
        lua_pushvalue(L, 1);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1)) {
            lua_pushfstring(L, "%s\n  %s", message, lua_tostring(L, -1));
            lua_replace(L, 1);
        }
    }
    lua_settop(L, 1);
}

/* The handler: a string gets a hint and a traceback; others show themselves. */
static int add_traceback(lua_State *L)
{
    const char *message = lua_tostring(L, 1);
    if (!message) {
        if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
            return 1;
        message = lua_pushfstring(L, "(error object is a %s value)",
                                  luaL_typename(L, 1));
    }
    else add_hint(L);
    luaL_traceback(L, L, lua_tostring(L, -1), 1);
    return 1;
}

/* lua_pcall with a traceback, and with Ctrl-C as an error while it runs; the
** message handler stands below the function. */
int repl_call(lua_State *L, int nargs, int nresults)
{
    int base = lua_gettop(L) - nargs;
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, base);
    repl_listen(L);
    int status = lua_pcall(L, nargs, nresults, base);
    repl_stop_listening(L);
    lua_remove(L, base);
    return status;
}

/* Pops the message. What the script printed before comes first, though stdout
** is buffered and stderr is not. One process of many may have a title in the
** registry (lunarray.mpi sets "rank 2 of 4"). */
void repl_report(lua_State *L)
{
    const char *message = lua_tostring(L, -1);
    lua_getfield(L, LUA_REGISTRYINDEX, "lunarray.title");
    const char *title = lua_tostring(L, -1);
    fflush(stdout);
    fprintf(stderr, "lunarray: %s%s%s\n", title ? title : "",
            title ? ": " : "",
            message ? message : "(error object is not a string)");
    fflush(stderr);
    lua_pop(L, 2);
}

/* Call the function below the arguments, or report the message on top when
** loading failed; false after any error. */
static bool call_chunk(lua_State *L, int load_status, int nargs)
{
    if (load_status == LUA_OK && repl_call(L, nargs, 0) == LUA_OK) return true;
    repl_report(L);
    return false;
}

/* The code stays in the registry, by the name of its chunk, for hints. */
bool repl_run_string(lua_State *L, const char *code, const char *chunk)
{
    lua_pushstring(L, code);
    lua_setfield(L, LUA_REGISTRYINDEX, chunk);
    return call_chunk(L, luaL_loadbuffer(L, code, strlen(code), chunk), 0);
}

/* Push the script's arguments: arg[1], arg[2], ... */
static int push_arguments(lua_State *L)
{
    if (lua_getglobal(L, "arg") != LUA_TTABLE) {
        lua_pop(L, 1);
        return 0;
    }
    int n = (int)luaL_len(L, -1);
    luaL_checkstack(L, n + 3, "too many arguments to script");
    for (int i = 1; i <= n; i++) lua_rawgeti(L, -i, i);
    lua_remove(L, -(n + 1));
    return n;
}

/* path NULL: standard input. The script's arguments are its varargs. */
bool repl_run_file(lua_State *L, const char *path)
{
    int status = luaL_loadfile(L, path), n = 0;
    if (status == LUA_OK) n = push_arguments(L);
    return call_chunk(L, status, n);
}

/* Into the global of the module's name, or into g of "g=module", as lua -l
** does. */
bool repl_require(lua_State *L, const char *module)
{
    const char *equals = strchr(module, '=');
    if (equals) lua_pushlstring(L, module, (size_t)(equals - module));
    else lua_pushstring(L, module);
    lua_getglobal(L, "require");
    lua_pushstring(L, equals ? equals + 1 : module);
    if (repl_call(L, 1, 1) != LUA_OK) {
        repl_report(L);
        lua_pop(L, 1);
        return false;
    }
    lua_setglobal(L, lua_tostring(L, -2));
    lua_pop(L, 1);
    return true;
}

/* LUA_INIT_5_4 or LUA_INIT: code, or @ and the path of a file, as for lua. */
bool repl_run_init(lua_State *L)
{
    static const char *const names[] = {"LUA_INIT_5_4", "LUA_INIT"};
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        if (!text) continue;
        if (*text == '@')
            return call_chunk(L, luaL_loadfile(L, text + 1), 0);
        char name[32];
        snprintf(name, sizeof name, "=%s", names[i]);
        return repl_run_string(L, text, name);
    }
    return true;
}

/* ---- the library ---- */

static void trace_line(void *stream, const char *text)
{
    fprintf(stream, "%s\n", text);
}

/* LUNARRAY_TRACE other than empty and 0: stages of calls go to stderr. */
static void open_trace(void)
{
    const char *word = getenv("LUNARRAY_TRACE");
    if (word && *word && strcmp(word, "0")) la_set_trace(trace_line, stderr);
}

/* The library is linked in, so that 'require' needs no path; la is a global of
** the program, not of hosts. */
void repl_open(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_lunarray);
    lua_setfield(L, -2, "lunarray");
    lua_pop(L, 1);
    repl_interrupt_open(L);
    open_trace();
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunarray");
    lua_call(L, 1, 1);
    lua_setglobal(L, "la");
}

void repl_version(void)
{
    printf("lunarray %s  %s\n", LA_VERSION_TEXT, LUA_RELEASE);
}
