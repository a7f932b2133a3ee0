/*
** The prompt's lower half.
**
** lunarray.repl (Lua) decides what a line means, runs and prints; here is what
** it needs of the terminal: lines, the history, the window, a clock, calls that
** Ctrl-C stops. Nothing that a line does ends the prompt, except os.exit and
** the end of the input. When the input is no terminal there are no prompts, so
** that a session can be piped through.
*/
#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "repl/edit.h"
#include "repl/repl.h"

/* ---- what lunarray.repl is given: functions of the table 'terminal' ---- */

/* read(prompt, more): a chunk or, without an editor, a line; or nil and "end"
** or "stopped". 'more' is the prompt of a chunk's further lines. Output is
** flushed first, so that it stands before the prompt. */
static int term_read(lua_State *L)
{
    const char *prompt = luaL_checkstring(L, 1), *line;
    const char *more = luaL_optstring(L, 2, "");
    size_t n;
    fflush(stdout);
    repl_line kind = repl_edit_line(prompt, more, &line, &n);
    if (kind == REPL_LINE) {
        lua_pushlstring(L, line, n);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, kind == REPL_END ? "end" : "stopped");
    return 2;
}

/* remember(chunk) */
static int term_remember(lua_State *L)
{
    repl_edit_remember(luaL_checkstring(L, 1));
    return 0;
}

/* window(): columns, rows. */
static int term_window(lua_State *L)
{
    lua_pushinteger(L, repl_edit_columns());
    lua_pushinteger(L, repl_edit_rows());
    return 2;
}

/* clock(): seconds since some moment, of a clock that only goes forward. */
static int term_clock(lua_State *L)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + 1e-9 * (lua_Number)t.tv_nsec);
    return 1;
}

/* call(handler, f, ...): true and the results of f(...), or false and what
** handler(message) gives where the error is. Ctrl-C interrupts f. */
static int term_call(lua_State *L)
{
    int nargs = lua_gettop(L) - 2;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    repl_listen(L);
    int status = lua_pcall(L, nargs, LUA_MULTRET, 1);
    repl_stop_listening(L);
    lua_pushboolean(L, status == LUA_OK);
    lua_replace(L, 1);
    return lua_gettop(L);
}

/* list(folder): names of its files, folders with a slash; nil for none. The
** folder's handle is freed however it ends: nothing in the loop raises but for
** want of memory. */
static int term_list(lua_State *L)
{
    DIR *folder = opendir(luaL_checkstring(L, 1));
    struct dirent *entry;
    if (!folder) return 0;
    lua_newtable(L);
    for (int n = 0; n < 10000 && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        lua_pushfstring(L, entry->d_type == DT_DIR ? "%s/" : "%s", name);
        lua_rawseti(L, -2, ++n);
    }
    closedir(folder);
    return 1;
}

/* flush(): false when the output is gone. */
static int term_flush(lua_State *L)
{
    lua_pushboolean(L, fflush(stdout) == 0 && !ferror(stdout));
    return 1;
}

static void push_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"read", term_read}, {"remember", term_remember},
        {"window", term_window}, {"clock", term_clock},
        {"call", term_call}, {"list", term_list},
        {"flush", term_flush}, {NULL, NULL}
    };
    luaL_newlib(L, functions);
    lua_pushboolean(L, repl_edit_on_terminal());
    lua_setfield(L, -2, "interactive");
    lua_pushboolean(L, isatty(STDOUT_FILENO));
    lua_setfield(L, -2, "colour");
    lua_getfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    lua_setfield(L, -2, "no_environment");
}

/* term_call, and between calls Ctrl-C does nothing: it may come when a cell has
** just ended. */
static int term_call_alone(lua_State *L)
{
    int n = term_call(L);
    signal(SIGINT, SIG_IGN);
    return n;
}

/* lunarray kernel ...: true when lunarray.kernel.main(terminal, ...) is. */
bool repl_kernel(lua_State *L, int argc, char **argv)
{
    int top = lua_gettop(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunarray.kernel");
    bool good = lua_pcall(L, 1, 1, 0) == LUA_OK;
    if (good) {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        lua_getfield(L, -1, "main");
        push_terminal(L);
        lua_pushcfunction(L, term_call_alone);
        lua_setfield(L, -2, "call");
        for (int i = 0; i < argc; i++) lua_pushstring(L, argv[i]);
        good = lua_pcall(L, argc + 1, 1, 0) == LUA_OK;
    }
    if (!good) repl_report(L);
    good = good && lua_toboolean(L, -1);
    lua_settop(L, top);
    return good;
}

/* ---- completion: the words come from lunarray.repl ---- */

typedef struct completer {
    lua_State *L;
    char *insert;
    const char **list;
    int n;
    char *painted;
} completer;

/* The module's functions stand in the registry, out of the user's reach. */
#define MODULE "lunarray.prompt"

/* Push the function of the prompt that has that name. */
static void prompt_push_function(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, MODULE);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* Forgets the words of the completion before; the editor keeps none of the
** pointers. */
static void forget_words(completer *c)
{
    for (int i = 0; i < c->n; i++) free((char *)c->list[i]);
    free(c->list);
    free(c->insert);
    c->list = NULL;
    c->insert = NULL;
    c->n = 0;
}

/* Copy the words and their common part, which are on the stack:
** strdup, for the editor reads them after the stack has been cleared. Without
** memory there are fewer candidates. */
static void keep_words(lua_State *L, completer *c)
{
    int n = (int)lua_rawlen(L, -2);
    c->insert = strdup(lua_tostring(L, -1) ? lua_tostring(L, -1) : "");
    c->list = calloc((size_t)n + 1, sizeof *c->list);
    for (int i = 1; c->list && c->insert && i <= n; i++) {
        lua_rawgeti(L, -2, i);
        const char *word = strdup(lua_tostring(L, -1) ? lua_tostring(L, -1)
                                                      : "");
        lua_pop(L, 1);
        if (!word) return;
        c->list[c->n++] = word;
    }
}

/* Candidates come from Lua (lunarray.repl), protected: a broken metamethod must
** not end the prompt. They are valid until the next call. */
static repl_candidates prompt_complete(void *context, const char *line,
                                       size_t n)
{
    completer *c = context;
    lua_State *L = c->L;
    int top = lua_gettop(L);
    forget_words(c);
    prompt_push_function(L, "complete");
    lua_pushlstring(L, line, n);
    if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_istable(L, -2))
        keep_words(L, c);
    lua_settop(L, top);
    return (repl_candidates){c->n, c->insert ? c->insert : "", c->list};
}

/* Does Enter run the text? An error in asking means yes: it is shown then. */
static bool is_finished(void *context, const char *text, size_t n)
{
    completer *c = context;
    lua_State *L = c->L;
    int top = lua_gettop(L);
    prompt_push_function(L, "finished");
    lua_pushlstring(L, text, n);
    bool yes = lua_pcall(L, 1, 1, 0) != LUA_OK || lua_toboolean(L, -1);
    lua_settop(L, top);
    return yes;
}

/* The text in colours, from Lua as well; as it is after any error. */
static const char *paint_text(void *context, const char *text, size_t n,
                              size_t from, long cursor)
{
    completer *c = context;
    lua_State *L = c->L;
    int top = lua_gettop(L);
    free(c->painted);
    c->painted = NULL;
    prompt_push_function(L, "paint");
    lua_pushlstring(L, text, n);
    lua_pushinteger(L, (lua_Integer)from);
    if (cursor >= 0) lua_pushinteger(L, cursor);
    else lua_pushnil(L);
    if (lua_pcall(L, 3, 1, 0) == LUA_OK && lua_isstring(L, -1))
        c->painted = strdup(lua_tostring(L, -1));
    lua_settop(L, top);
    return c->painted;
}

/* ---- the whole ---- */

/* LUNARRAY_HISTORY (empty: none), else below $XDG_STATE_HOME or $HOME. */
static const char *history_path(void)
{
    static char path[4096];
    const char *own = getenv("LUNARRAY_HISTORY");
    const char *state = getenv("XDG_STATE_HOME"), *user_folder = getenv("HOME");
    if (own) return *own ? own : NULL;
    if (state && *state) {
        snprintf(path, sizeof path, "%s/lunarray", state);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/lunarray/history", state);
    } else if (user_folder && *user_folder) {
        snprintf(path, sizeof path, "%s/.lunarray_history", user_folder);
    } else {
        return NULL;
    }
    return path;
}

/* Until the input ends (true) or output fails (false); an error that escapes a
** step is one of memory or of a broken handler, and is reported like any
** other. */
static bool prompt_run_loop(lua_State *L)
{
    for (;;) {
        lua_settop(L, 0);
        prompt_push_function(L, "step");
        if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
            repl_report(L);
            continue;
        }
        if (!lua_toboolean(L, -1)) return !ferror(stdout);
    }
}

/* require "lunarray.repl".start(terminal) gives the table of functions. */
static int prompt_start(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunarray.repl");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "start");
    push_terminal(L);
    lua_call(L, 1, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, MODULE);
    return 0;
}

/* The locale is set for the width of characters alone: numbers keep the decimal
** point of C. */
bool repl_prompt(lua_State *L)
{
    completer c = {.L = L};
    repl_callbacks ask = {prompt_complete, is_finished, paint_text, &c};
    signal(SIGPIPE, SIG_IGN);  /* a closed pipe ends the loop instead */
    setlocale(LC_CTYPE, "");
    repl_edit_open(history_path(), &ask);
    if (repl_edit_on_terminal()) repl_version();
    lua_pushcfunction(L, prompt_start);
    bool good = lua_pcall(L, 0, 0, 0) == LUA_OK;
    if (good) good = prompt_run_loop(L);
    else repl_report(L);
    if (repl_edit_on_terminal()) putchar('\n');
    repl_edit_close();
    forget_words(&c);
    free(c.painted);
    return good;
}
