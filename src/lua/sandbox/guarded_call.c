/*
** Calls of a sandbox that would let a script go on after a limit was reached:
** pcall, xpcall, coroutines, finalizers; and load, whose compiler runs long.
**
** The hook raises again and again. What it can't reach are functions that Lua
** runs with hooks off: the message handler of an error that the hook raised,
** __close of a coroutine that died so, finalizers. The first is not called
** then, the second are not closed, the third run in a coroutine of their own
** and have a bound of their own, which holds when the host has set no limit.
*/
#include <string.h>

#include "base/runtime/token.h"
#include "lua/sandbox/guard.h"

/* ---- protected calls ---- */

/* Lua's own text for memory does not tell how much. */
static void explain(lua_State *L, int status)
{
    if (status != LUA_ERRMEM || la_error_status() != LA_ENOMEM) return;
    lua_pushstring(L, la_error_message());
    lua_replace(L, -2);
}

/* Steps of a call that fails: Lua may have followed a chain of metatables to
** its end. */
enum { FAILURE = 500 };

/* 'extra' values at the bottom of the stack are no results. */
static int finish_pcall(lua_State *L, int status, lua_KContext extra)
{
    la_guard g = la_guard_begin(L, "pcall");
    if (status == LUA_OK || status == LUA_YIELD)
        return lua_gettop(L) - (int)extra;
    la_guard_steps(&g, FAILURE);
    explain(L, status);
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

/* pcall(f, ...): yields pass through, as in Lua's. */
static int guarded_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    la_guard_begin(L, "pcall");
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0,
                            finish_pcall);
    return finish_pcall(L, status, 0);
}

/* The message handler: upvalues are the state and the script's. */
static int handle(lua_State *L)
{
    la_state *s = lua_touserdata(L, lua_upvalueindex(1));
    lua_settop(L, 1);
    if (la_stack_ends(s)) return 1;
    if (la_token_armed(s->context.token)
        && la_token_reached(s->context.token)) return 1;
    lua_pushvalue(L, lua_upvalueindex(LA_GUARD_OWN));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* xpcall(f, handler, ...): below the arguments stand the handler, true (the
** first result) and f. */
static int guarded_xpcall(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    la_guard_begin(L, "xpcall");
    lua_pushvalue(L, 2);
    la_push_guarded(L, handle);
    lua_replace(L, 2);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2);            /* below the arguments */
    int status = lua_pcallk(L, n - 2, LUA_MULTRET, 2, 2, finish_pcall);
    return finish_pcall(L, status, 2);
}

/* ---- coroutines ---- */

/* registry[&killed]: weak keys, coroutines that a limit has ended. */
static const char killed;

/* Nothing of it runs any more, not even when the limit is lifted: it stopped
** inside the hook, so that hooks are off in it for good. */
static void note_killed(lua_State *L, lua_State *co)
{
    la_push_weak_table(L, &killed, "k");
    lua_pushthread(co);
    lua_xmove(co, L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static bool was_killed(lua_State *L, lua_State *co)
{
    la_push_weak_table(L, &killed, "k");
    lua_pushthread(co);
    lua_xmove(co, L, 1);
    bool yes = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    return yes;
}

/* The results' number, or -1 with an error object on the top. Raises when a
** limit was reached meanwhile. */
static int guarded_call_resume(lua_State *L, lua_State *co, int n,
                               const char *name)
{
    int results;
    la_guard g = la_guard_begin(L, name);
    if (!la_guard_stack(co, L, g.state, n)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, n);
    la_state *s = lua_touserdata(L, lua_upvalueindex(1));
    int status = la_guard_resume(s, co, L, n, &results);
    bool failed = status != LUA_OK && status != LUA_YIELD;
    if (la_token_armed(g.token) && la_token_reached(g.token)) {
        if (failed) note_killed(L, co);
        la_guard_begin(L, name);
    }
    if (!failed && !la_guard_stack(L, L, s, results + 1)) {
        lua_pop(co, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, failed ? 1 : results);
    if (failed) explain(L, status);
    return failed ? -1 : results;
}

/* The coroutine at 1; raises for anything else. */
static lua_State *check_thread(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

/* coroutine.resume(co, ...) */
static int guarded_resume(lua_State *L)
{
    lua_State *co = check_thread(L);
    int n = guarded_call_resume(L, co, lua_gettop(L) - 1, "resume");
    lua_pushboolean(L, n >= 0);
    lua_insert(L, n < 0 ? -2 : -(n + 1));
    return n < 0 ? 2 : n + 1;
}

/* coroutine.create(f); it gets the hook where it is resumed. */
static int guarded_create(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    return 1;
}

/* Function that coroutine.wrap gives; the coroutine is the upvalue. */
static int resume_wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(LA_GUARD_OWN));
    int n = guarded_call_resume(L, co, lua_gettop(L), "resume");
    if (n >= 0) return n;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        status = la_reset_thread(co);       /* runs what is to be closed */
        lua_xmove(co, L, 1);
        la_guard_begin(L, "resume");
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* coroutine.wrap(f) */
static int guarded_wrap(lua_State *L)
{
    guarded_create(L);
    la_push_guarded(L, resume_wrapped);
    return 1;
}

/* coroutine.close(co); Lua's refuses what can't be closed. */
static int guarded_close(lua_State *L)
{
    la_guard_begin(L, "close");
    if (was_killed(L, check_thread(L))) {
        lua_pushboolean(L, 0);
        lua_pushliteral(L, "ended by a limit");
        return 2;
    }
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(LA_GUARD_OWN));
    lua_insert(L, 1);
    lua_call(L, 1, LUA_MULTRET);
    la_guard_begin(L, "close");
    return lua_gettop(L);
}

const luaL_Reg la_guarded_coroutines[] = {
    {"resume", guarded_resume}, {"create", guarded_create},
    {"wrap", guarded_wrap}, {"close", guarded_close}, {NULL, NULL}
};

/* ---- finalizers ---- */

/* Lua does not see the __gc of a script's table. Instead registry[&finalized],
** whose keys are weak, gives the table a userdata that alone refers back to it:
** both die together, and the userdata's finalizer calls the table's. */
#define FINALIZER_NAME "lunarray.finalizer"
static const char finalized;
/* registry[&living]: weak values, the userdata by their addresses. The
** collector clears them before it calls a finalizer; lua_close calls it without
** a collection, and so is told apart. */
static const char living;

static void see_closing(lua_State *L, la_state *s)
{
    la_push_weak_table(L, &living, "v");
    if (lua_rawgetp(L, -1, lua_touserdata(L, 1)) != LUA_TNIL)
        la_begin_closing(L, s);
    lua_pop(L, 2);
}

/* The function on the top of 'co', under its argument, within what finalizers
** may take. One that begins inside of another is a part of it. */
static void run_aside(la_state *s, lua_State *co, lua_State *L)
{
    la_token *k = s->context.token;
    int results;
    if (s->finalizing) {
        la_guard_resume(s, co, L, 1, &results);
        return;
    }
    int64_t units = s->aside / LA_GUARD_STEPS;
    s->finalizing = true;
    la_token_aside(k, units);
    la_guard_resume(s, co, L, 1, &results);
    s->aside -= (units - la_token_aside_ends(k)) * LA_GUARD_STEPS;
    s->finalizing = false;
}

/* The hook sees nothing of a short one: each costs FINALIZER steps besides. */
enum { FINALIZER = 50 };

/* Errors are dropped, as Lua drops them; so is a finalizer that yields, and so
** are all when they have taken what they may. */
static int finalize(lua_State *L)
{
    la_state *s = la_state_of(L);
    lua_settop(L, 1);
    if (s && !s->closing) see_closing(L, s);
    lua_getiuservalue(L, 1, 1);             /* the table, at 2 */
    la_push_weak_table(L, &finalized, "k");
    lua_pushvalue(L, 2);
    lua_pushnil(L);
    lua_rawset(L, -3);
    if (!s || la_token_reached(s->context.token)) return 0;
    if (!s->pulse || s->aside < LA_GUARD_STEPS) return 0;
    if (luaL_getmetafield(L, 2, "__gc") != LUA_TFUNCTION) return 0;
    s->aside -= FINALIZER;
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, 2);
    lua_xmove(L, co, 2);
    run_aside(s, co, L);
    return 0;
}

/* registry[&finalized][the table at 1] = a userdata with a finalizer. */
static void add_finalizer(lua_State *L)
{
    la_push_weak_table(L, &finalized, "k");
    lua_pushvalue(L, 1);
    if (lua_rawget(L, -2) != LUA_TNIL) return;
    lua_pushvalue(L, 1);
    lua_newuserdatauv(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    if (la_new_metatable(L, FINALIZER_NAME, NULL))
        la_set_event(L, "__gc", finalize);
    la_take_metatable(L);
    la_push_weak_table(L, &living, "v");
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, lua_touserdata(L, -1));
    lua_pop(L, 1);
    lua_rawset(L, -4);
}

/* setmetatable(table, metatable): __gc is hidden while Lua looks for it. To set
** a key that is there to nil and back takes no memory. */
static int guarded_setmetatable(lua_State *L)
{
    int type = lua_type(L, 2);
    la_check_table(L, 1, "setmetatable");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        la_raise_arg(L, 2, "setmetatable", "nil or table expected");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    bool hide = false;
    if (type == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        hide = lua_rawget(L, 2) != LUA_TNIL;            /* at 3 */
    }
    if (hide) {
        add_finalizer(L);
        lua_settop(L, 3);
        lua_pushliteral(L, "__gc");                     /* at 4 */
        lua_pushvalue(L, 4);
        lua_pushnil(L);
        lua_rawset(L, 2);
    }
    if (type == LUA_TTABLE)
        la_note_metatable(L, lua_touserdata(L, lua_upvalueindex(1)), 2);
    lua_pushvalue(L, 2);
    lua_setmetatable(L, 1);
    if (hide) {
        lua_pushvalue(L, 3);
        lua_rawset(L, 2);
    }
    lua_settop(L, 1);
    return 1;
}

/* ---- load ---- */

/* Short: each "or" looks through the jumps of all before it. */
enum { PIECE = 128 };
/* On a stack of the host: each character may be a level of the compiler's. */
enum { SMALL_PIECE = 16 };

typedef struct source {
    la_guard guard;
    const char *text;       /* what is left of the string */
    size_t n;
    bool asks;              /* more comes from the function at 1 */
} source;

/* A piece for the compiler; the string stands at 5, so that it stays. */
static const char *guarded_read_piece(lua_State *L, void *context, size_t *n)
{
    source *s = context;
    s->guard.L = L;
    if (s->n == 0 && s->asks) {
        luaL_checkstack(L, 2, "too many nested functions");
        lua_pushvalue(L, 1);
        lua_call(L, 0, 1);
        if (!lua_isnil(L, -1) && !lua_isstring(L, -1))
            luaL_error(L, "reader function must return a string");
        lua_replace(L, 5);
        s->text = lua_tolstring(L, 5, &s->n);
    }
    const char *piece = s->text;
    size_t most = s->guard.state->stack_kept ? SMALL_PIECE : PIECE;
    la_check_stack(L, s->guard.state);
    *n = s->n < most ? s->n : most;
    s->text += *n;
    s->n -= *n;
    la_guard_steps(&s->guard, (int64_t)*n / 4);
    return *n ? piece : NULL;
}

/* load(chunk, name, mode, env): text alone, whatever 'mode' says. The compiler
** asks for a line or two at a time, and between them the token is asked; an
** error of the reader ends lua_load with a status, so the token is asked once
** more. */
static int guarded_load(lua_State *L)
{
    source s = {.guard = la_guard_begin(L, "load")};
    la_guard_steps(&s.guard, 100);
    bool env = !lua_isnone(L, 4);
    s.text = lua_tolstring(L, 1, &s.n);
    s.asks = s.text == NULL;
    const char *name = luaL_optstring(L, 2, s.asks ? "=(load)" : s.text);
    if (s.asks) luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 4);
    lua_pushnil(L);
    int status = lua_load(L, guarded_read_piece, &s, name, "t");
    la_guard_begin(L, "load");
    if (status != LUA_OK) {
        explain(L, status);
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    if (env) {
        lua_pushvalue(L, 4);
        if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    }
    return 1;
}

const luaL_Reg la_guarded_calls[] = {
    {"pcall", guarded_pcall}, {"xpcall", guarded_xpcall},
    {"setmetatable", guarded_setmetatable}, {"load", guarded_load},
    {NULL, NULL}
};
