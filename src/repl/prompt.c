/*
** The prompt.
**
** A line that is an expression is printed, as if "return" stood before it; a
** chunk that is not finished asks for more lines. Nothing that a line does
** ends the prompt, except os.exit and the end of the input. When the input is
** no terminal there are no prompts, so that a session can be piped through.
*/
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lauxlib.h>

#include "repl/edit.h"
#include "repl/repl.h"

#define CHUNK "=stdin"

/* ---- chunks ---- */

/* Is the error on the top the one of a chunk that only lacks its end? */
static bool is_unfinished(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t n;
    if (status != LUA_ERRSYNTAX) return false;
    const char *message = lua_tolstring(L, -1, &n);
    size_t m = sizeof mark - 1;
    return n >= m && memcmp(message + n - m, mark, m) == 0;
}

/* Push the chunk of the text at 'text', or the error message; a status of
** Lua's. Text only: binary chunks could crash the process. */
static int load(lua_State *L, int text)
{
    size_t n;
    const char *code = lua_tolstring(L, text, &n);
    return luaL_loadbufferx(L, code, n, CHUNK, "t");
}

/* Load the text at 'text' as an expression; false leaves nothing. */
static bool load_expression(lua_State *L, int text)
{
    lua_pushliteral(L, "return ");
    lua_pushvalue(L, text);
    lua_concat(L, 2);
    int status = load(L, lua_gettop(L));
    lua_remove(L, -2);
    if (status == LUA_OK) return true;
    lua_pop(L, 1);
    return false;
}

/* ---- reading ---- */

/* The prompt that the user has set as a global, as in lua, or the usual one.
** Cut to 63 bytes; valid until the next call. */
static const char *prompt_text(lua_State *L, const char *global,
                               const char *usual)
{
    static char text[64];
    lua_getglobal(L, global);
    const char *own = lua_tostring(L, -1);
    snprintf(text, sizeof text, "%s", own ? own : usual);
    lua_pop(L, 1);
    return text;
}

/* Push the next line on REPL_LINE, nothing otherwise. Output is flushed first,
** so that it stands before the prompt. */
static repl_line push_line(lua_State *L, bool first)
{
    const char *line;
    size_t n;
    const char *prompt = first ? prompt_text(L, "_PROMPT", "> ")
                               : prompt_text(L, "_PROMPT2", ">> ");
    fflush(stdout);
    repl_line kind = repl_edit_line(prompt, &line, &n);
    if (kind != REPL_LINE) return kind;
    lua_pushlstring(L, line, n);
    repl_edit_remember(lua_tostring(L, -1));
    return kind;
}

/* Read until a chunk is whole or wrong. On REPL_LINE the function or the
** message is on the top, 'status' tells which. */
static repl_line read_chunk(lua_State *L, int *status)
{
    lua_settop(L, 0);
    repl_line kind = push_line(L, true);
    if (kind != REPL_LINE) return kind;
    for (;;) {
        *status = LUA_OK;
        if (load_expression(L, 1)) return REPL_LINE;
        *status = load(L, 1);
        if (!is_unfinished(L, *status)) return REPL_LINE;
        lua_settop(L, 2);  /* the text and the message */
        kind = push_line(L, false);
        if (kind == REPL_END) return REPL_LINE;  /* tell what is missing */
        if (kind == REPL_STOPPED) return kind;
        lua_remove(L, 2);
        lua_pushliteral(L, "\n");
        lua_insert(L, 2);
        lua_concat(L, 3);
    }
}

/* ---- evaluating ---- */

/* Print the values on the stack by the global 'print'. */
static int print_results(lua_State *L)
{
    int n = lua_gettop(L);
    if (n == 0) return LUA_OK;
    luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
    lua_getglobal(L, "print");
    lua_insert(L, 1);
    return repl_call(L, n, 0);
}

/* Run the chunk on the top of the stack, or report the message there. */
static bool evaluate(lua_State *L, int status)
{
    lua_replace(L, 1);
    lua_settop(L, 1);
    if (status == LUA_OK) status = repl_call(L, 0, LUA_MULTRET);
    if (status == LUA_OK) status = print_results(L);
    if (status != LUA_OK) repl_report(L);
    return status == LUA_OK;
}

/* One iteration; returns whether to go on. Protected, for it makes strings. */
static int read_eval(lua_State *L)
{
    int status = LUA_OK;
    repl_line kind = read_chunk(L, &status);
    if (kind == REPL_LINE) evaluate(L, status);
    bool gone = fflush(stdout) != 0 || ferror(stdout);
    lua_pushboolean(L, kind != REPL_END && !gone);
    return 1;
}

/* ---- completion: the words come from lunarray.repl ---- */

typedef struct completer {
    lua_State *L;
    char *insert;
    const char **list;
    int n;
} completer;

/* In protected mode: the line at 1; leaves the list of words and what they have
** in common. Completion runs __index of user values, so it may raise. */
static int ask_for_words(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunarray.repl");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "complete");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 2);
    return 2;
}

/* Of the completion before; the editor keeps none of the pointers. */
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
static repl_candidates complete(void *context, const char *line, size_t n)
{
    completer *c = context;
    lua_State *L = c->L;
    int top = lua_gettop(L);
    forget_words(c);
    lua_pushcfunction(L, ask_for_words);
    lua_pushlstring(L, line, n);
    if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_istable(L, -2))
        keep_words(L, c);
    lua_settop(L, top);
    return (repl_candidates){c->n, c->insert ? c->insert : "", c->list};
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

/* Until the input ends (true) or output fails (false); an error that escapes an
** iteration is one of memory, and is reported like any other. */
static bool run_loop(lua_State *L)
{
    for (;;) {
        lua_settop(L, 0);
        lua_pushcfunction(L, read_eval);
        if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
            repl_report(L);
            continue;
        }
        if (!lua_toboolean(L, -1)) return !ferror(stdout);
    }
}

/* The locale is set for the width of characters alone: numbers keep the decimal
** point of C. */
bool repl_prompt(lua_State *L)
{
    completer c = {.L = L};
    signal(SIGPIPE, SIG_IGN);  /* a closed pipe ends the loop instead */
    setlocale(LC_CTYPE, "");
    repl_edit_open(history_path(), complete, &c);
    if (repl_edit_on_terminal()) repl_version();
    bool good = run_loop(L);
    if (repl_edit_on_terminal()) putchar('\n');
    repl_edit_close();
    forget_words(&c);
    return good;
}
