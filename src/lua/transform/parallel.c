/*
** la.parallel.run: Lua code in states of its own on several threads. States
** share nothing but what goes by x:share(), so that what passes between them
** here is strings; lua/lunarray/parallel.lua makes values of them. They share
** the token of the calling state.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <stdatomic.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "base/os/thread.h"
#include "base/runtime/token.h"
#include "api/api.h"
#include "lua/binding.h"
#include "lua/embed.h"

#define GROUP_NAME "lunarray.parallel"

enum { MOST_THREADS = 256 };

/* Borrowed from the caller's state, which keeps it until all have ended. */
typedef struct text {
    const char *bytes;
    size_t n;
} text;

/* Outcome of an item: owned bytes, a result or the text of an error. */
typedef struct outcome {
    char *bytes;
    size_t n;
    bool ok;
} outcome;

typedef struct group {
    la_runtime *rt;
    la_token *token;            /* the caller's: its limits are those of all */
    text code, argument;
    text *items;
    outcome *outcomes;
    int64_t n;
    _Atomic int64_t next;       /* the item that nobody has begun */
    int threads;                /* that run */
    la_thread *thread[MOST_THREADS];
} group;

/* A copy: Lua's string dies with its state. Without memory nothing is kept, and
** push_outcomes says so. */
static void parallel_keep(outcome *o, const char *bytes, size_t n, bool ok)
{
    o->bytes = la_mem_alloc(n + 1);
    if (!o->bytes) return;
    memcpy(o->bytes, bytes, n);
    o->n = n;
    o->ok = ok;
}

/* The value on top as an item's outcome; popped. */
static void keep_top(lua_State *L, outcome *o, bool ok)
{
    size_t n = 0;
    const char *bytes = lua_type(L, -1) == LUA_TSTRING
        ? lua_tolstring(L, -1, &n) : NULL;
    if (bytes) parallel_keep(o, bytes, n, ok);
    else parallel_keep(o, "no text came back", 17, false);
    lua_pop(L, 1);
}

/* Stack 1: the group. Pushes what the code gives, a function of an item. */
static int parallel_prepare(lua_State *L)
{
    group *g = lua_touserdata(L, 1);
    lua_warning(L, "@off", 0);
    la_open_standard(L);
    if (la_openlibs_in(L, g->rt)) return luaL_error(L, "%s", la_error_text());
    if (luaL_loadbufferx(L, g->code.bytes, g->code.n, "=parallel", "t"))
        return lua_error(L);
    lua_pushlstring(L, g->argument.bytes, g->argument.n);
    lua_call(L, 1, 1);
    return 1;
}

/* Stack 1: an item as a light userdata, 2: the function. */
static int run_item(lua_State *L)
{
    const text *item = lua_touserdata(L, 1);
    lua_pushvalue(L, 2);
    lua_pushlstring(L, item->bytes, item->n);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "the function of parallel.run gives strings");
    return 1;
}

/* Stack 1: the function of an item, or, where it is not ready, the error that
** every item has then. Threads take items one by one, so that long ones hold
** nobody up. */
static void run_items(lua_State *L, group *g, bool ready)
{
    int64_t k;
    while ((k = atomic_fetch_add(&g->next, 1)) < g->n) {
        outcome *o = &g->outcomes[k];
        if (la_token_armed(g->token) && la_token_reached(g->token)) break;
        if (!ready) {
            lua_pushvalue(L, 1);        /* why there is no function */
            keep_top(L, o, false);
            continue;
        }
        lua_pushcfunction(L, run_item);
        lua_pushlightuserdata(L, &g->items[k]);
        lua_pushvalue(L, 1);
        keep_top(L, o, lua_pcall(L, 2, 1, 0) == LUA_OK);
    }
}

/* ---- limits of the caller ---- */

enum { ASKED = 10000 };     /* instructions of Lua between looks at the token */

/* A hook: the state is one of ours, so plain loops can be stopped too. What was
** reached stays: from then on each instruction raises, through pcall. */
static void ask_token(lua_State *L, lua_Debug *ar)
{
    la_state *s = la_state_of(L);
    la_token *k = s ? s->context.token : &la_no_token;
    if (!la_token_armed(k) || !la_token_reached(k)) return;
    lua_sethook(L, ask_token, LUA_MASKCOUNT, 1);
    LA_CHECK(L, "parallel.map", la_token_ask(k));
}

/* The state works for the caller from here on: a cancel, a deadline or the end
** of fuel there ends this work too. The cost of making the state is not
** counted, so that fuel is the same for any number of threads. */
static void obey(lua_State *L, group *g)
{
    la_state *s = la_state_of(L);
    if (!s || g->token == &la_no_token) return;
    la_token_release(s->context.token);
    s->context.token = la_token_retain(g->token);
    lua_sethook(L, ask_token, LUA_MASKCOUNT, ASKED);
}

/* One thread: a state, and items until none is left. Without memory for a
** state, the other threads do the work. */
static void serve(void *context)
{
    group *g = context;
    lua_State *L = luaL_newstate();
    if (!L) return;
    lua_pushcfunction(L, parallel_prepare);
    lua_pushlightuserdata(L, g);
    bool ready = lua_pcall(L, 1, 1, 0) == LUA_OK;
    obey(L, g);
    /* Bytes of outcomes are the runtime's, as where they are freed. */
    la_passage before = la_enter_runtime(g->rt);
    run_items(L, g, ready);
    la_leave_context(&before);
    lua_close(L);
}

/* Lua's lock-free world stands still meanwhile: the caller's state is not used
** by anybody, its strings are only read. */
static void join_all(group *g)
{
    for (int i = 0; i < g->threads; i++) la_thread_join(g->thread[i]);
    g->threads = 0;
}

/* After any error too: threads have ended before what they read is freed. */
static int group_gc(lua_State *L)
{
    group *g = luaL_checkudata(L, 1, GROUP_NAME);
    join_all(g);
    for (int64_t k = 0; g->outcomes && k < g->n; k++)
        if (g->outcomes[k].bytes)
            la_mem_free(g->outcomes[k].bytes, g->outcomes[k].n + 1);
    if (g->outcomes)
        la_mem_free(g->outcomes, (size_t)g->n * sizeof *g->outcomes);
    if (g->items) la_mem_free(g->items, (size_t)g->n * sizeof *g->items);
    g->outcomes = NULL;
    g->items = NULL;
    return 0;
}

/* Raises unless there is a string (or a number) at 'arg'. */
static text text_at(lua_State *L, int arg)
{
    text t;
    t.bytes = luaL_checklstring(L, arg, &t.n);
    return t;
}

/* The list of strings at stack 3. */
static void read_items(lua_State *L, group *g)
{
    int64_t n = (int64_t)lua_rawlen(L, 3);
    if (n == 0) return;
    g->items = la_mem_alloc((size_t)n * sizeof *g->items);
    g->outcomes = la_mem_alloc((size_t)n * sizeof *g->outcomes);
    if (!g->items || !g->outcomes) {
        if (g->items) la_mem_free(g->items, (size_t)n * sizeof *g->items);
        if (g->outcomes)
            la_mem_free(g->outcomes, (size_t)n * sizeof *g->outcomes);
        g->items = NULL;
        g->outcomes = NULL;
        luaL_error(L, "parallel.run: not enough memory");
    }
    memset(g->outcomes, 0, (size_t)n * sizeof *g->outcomes);
    g->n = n;
    for (int64_t k = 0; k < n; k++) {
        if (lua_rawgeti(L, 3, k + 1) != LUA_TSTRING)
            luaL_error(L, "parallel.run: item %I is no string",
                       (lua_Integer)(k + 1));
        g->items[k].bytes = lua_tolstring(L, -1, &g->items[k].n);
        lua_pop(L, 1);          /* the list keeps it */
    }
}

/* Two lists: strings, and whether each is a result (or the text of an error).
** An item that no thread came to is an error. */
static int push_outcomes(lua_State *L, const group *g)
{
    lua_createtable(L, (int)g->n, 0);
    lua_createtable(L, (int)g->n, 0);
    for (int64_t k = 0; k < g->n; k++) {
        const outcome *o = &g->outcomes[k];
        if (o->bytes) lua_pushlstring(L, o->bytes, o->n);
        else lua_pushliteral(L, "not enough memory");
        lua_rawseti(L, -3, k + 1);
        lua_pushboolean(L, o->ok);
        lua_rawseti(L, -2, k + 1);
    }
    return 2;
}

/* run(code, argument, items, threads): the code is a chunk that gets the
** argument and returns a function of an item; all are strings. */
static int fn_run(lua_State *L)
{
    if (la_enter(L)->sandboxed)
        return luaL_error(L, "parallel.run: not available in a sandbox");
    text code = text_at(L, 1), argument = text_at(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_Integer threads = luaL_checkinteger(L, 4);
    luaL_argcheck(L, threads >= 1 && threads <= MOST_THREADS, 4,
                  "1 to 256 threads expected");
    group *g = lua_newuserdatauv(L, sizeof *g, 0);
    memset(g, 0, sizeof *g);
    la_set_metatable(L, GROUP_NAME);
    g->rt = la_runtime_here();
    g->token = la_ctx()->token;
    g->code = code;
    g->argument = argument;
    read_items(L, g);
    la_share_tensors();
    /* Fewer threads than asked for do as well; none at all is an error. */
    for (; g->threads < threads && g->threads < g->n; g->threads++) {
        la_status status = la_thread_start(serve, g, &g->thread[g->threads]);
        if (status && g->threads == 0)
            return la_raise(L, "parallel.run", status);
        if (status) break;
    }
    join_all(g);
    /* Blocks that the threads freed last lie in caches that nobody else draws
    ** on. */
    la_trim(g->rt);
    if (la_token_armed(g->token))
        LA_CHECK(L, "parallel.map", la_token_ask(g->token));
    return push_outcomes(L, g);
}

/* la.parallel.run; the rest of la.parallel is in Lua. */
void la_open_parallel(lua_State *L, int lib)
{
    if (la_new_metatable(L, GROUP_NAME, NULL))
        la_set_event(L, "__gc", group_gc);
    lua_pop(L, 1);
    lua_getfield(L, lib, "parallel");
    lua_pushnil(L);
    la_closure(L, fn_run);
    lua_setfield(L, -2, "run");
    lua_pop(L, 1);
}
