/*
** Ctrl-C.
**
** The signal handler sets a flag, which the library's long loops ask for
** (la_interrupted), and a hook, which raises "interrupted!" at the next
** instruction of Lua code. The hook stays until the chunk has ended: a loop
** around pcall can't swallow it. Hooks belong to one coroutine, so resume and
** wrap are replaced by forms that tell which one runs, and that put the hook
** on the one that is returned to. A second Ctrl-C before the first took effect
** ends the program as usual.
*/
#include <signal.h>
#include <string.h>

#include <lauxlib.h>

#include "base/runtime/interrupt.h"
#include "lua/versions.h"
#include "lunarray.h"
#include "repl/repl.h"

static lua_State *volatile running;
static volatile sig_atomic_t interrupted;

static bool asked_to_stop(void *unused)
{
    return interrupted;
}

static void stop_hook(lua_State *L, lua_Debug *ar)
{
    luaL_error(L, "interrupted!");
}

/* On every event, so that it runs at the next instruction; lua_sethook may be
** called from a signal handler. */
static void put_hook(lua_State *L)
{
    int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
    lua_sethook(L, stop_hook, all, 1);
}

/* Restores the default action first: a second Ctrl-C ends a program that does
** not come back to Lua. */
static void on_interrupt(int signal_number)
{
    signal(signal_number, SIG_DFL);
    interrupted = 1;
    if (running) put_hook(running);
}

void repl_listen(lua_State *L)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    running = L;
    interrupted = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

void repl_stop_listening(lua_State *L)
{
    signal(SIGINT, SIG_DFL);
    running = NULL;
    lua_sethook(L, NULL, 0, 0);
    interrupted = 0;
}

/* ---- coroutines ---- */

/* Run 'co' with the 'n' arguments on top of L. The number of results, moved
** to L, or -1 with the error value there. */
static int interrupt_resume(lua_State *L, lua_State *co, int n)
{
    lua_State *outer = running;
    int nresults = 0;
    if (!lua_checkstack(co, n)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, n);
    running = co;
    if (interrupted) put_hook(co);
    int status = lua_resume(co, L, n, &nresults);
    running = outer;
    if (interrupted) put_hook(L);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, nresults + 1)) {
        lua_pop(co, nresults);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, nresults);
    return nresults;
}

/* coroutine.resume: true and the results, or false and the error value. */
static int co_resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    int n = interrupt_resume(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, n >= 0);
    if (n < 0) n = 1;
    lua_insert(L, -(n + 1));
    return n + 1;
}

/* Fails as in stock Lua: a coroutine that failed is closed, and a text gets the
** position of the call in front. */
static int wrap_failed(lua_State *L, lua_State *co)
{
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = la_reset_thread(co);
        lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int interrupt_wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = interrupt_resume(L, co, lua_gettop(L));
    return n < 0 ? wrap_failed(L, co) : n;
}

/* coroutine.wrap by our resume: the hook that Ctrl-C sets must reach the
** coroutine that runs. */
static int co_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, interrupt_wrapped, 1);
    return 1;
}

/* Replaces coroutine.resume and wrap, and has long operations of the core ask
** whether to stop. */
void repl_interrupt_open(lua_State *L)
{
    static const luaL_Reg tracked[] = {
        {"resume", co_resume}, {"wrap", co_wrap}, {NULL, NULL}
    };
    lua_getglobal(L, "coroutine");
    luaL_setfuncs(L, tracked, 0);
    lua_pop(L, 1);
    la_set_interrupt(asked_to_stop, NULL);
}
