/* What finalizers make while a Lua state closes, in plain states and in
** sandboxes: each runtime gives back all that it had, as its allocator counts,
** and calls that come after the library's own end raise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>

#include "lunarray.h"

static void *counted_alloc(void *context, size_t bytes, size_t alignment)
{
    void *p = NULL;
    if (posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, bytes))
        return NULL;
    ++*(long *)context;
    return p;
}

static void counted_release(void *context, void *block, size_t bytes)
{
    --*(long *)context;
    free(block);
}

/* A runtime, and a state in it. */
typedef struct world {
    long blocks;
    la_runtime *rt;
    lua_State *L;
} world;

static void begin(world *w, bool sandboxed)
{
    la_config config = {.size = sizeof config, .alloc = counted_alloc,
                        .release = counted_release, .alloc_context = &w->blocks,
                        .jobs = {.size = sizeof(la_jobs), .workers = 1}};
    la_limits limits = {.size = sizeof limits, .memory = 256 << 20};
    w->blocks = 0;
    w->rt = la_runtime_new(&config);
    assert_non_null(w->rt);
    w->L = luaL_newstate();
    if (sandboxed) {
        limits.runtime = w->rt;
        assert_int_equal(la_open_sandboxed(w->L, &limits), 0);
        return;
    }
    luaL_openlibs(w->L);
    assert_int_equal(la_openlibs_in(w->L, w->rt), 0);
}

static void end(world *w, const char *script)
{
    int code = la_runtime_destroy(w->rt);
    if (code) fail_msg("%s: %s", script, la_error_text());
    if (w->blocks) fail_msg("%s: %ld blocks are left", script, w->blocks);
}

static void run(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script) != LUA_OK)
        fail_msg("%s: %s", script, lua_tostring(L, -1));
    lua_settop(L, 0);
}

/* Each is what a finalizer does; 'keep' takes what lives on. */
static const char *const scripts[] = {
    "keep(la.ones(1000))",
    "la.ones(1000)",
    "for i = 1, 300 do keep(la.ones(9) * i) end",
    "keep(la.ones(4, 4):t(), la.ones(9)[{{2, 3}}], la.ones(3)[1])",
    "keep(la.ones(3).shape, la.ones(3, {requires_grad = true}))",
    "local x = la.ones(3, {requires_grad = true}) keep((x * 2):exp():sum())",
    "local x = la.ones(3, {requires_grad = true}) local y = (x * x):sum()"
    " y:backward() keep(x.grad, y.grad_fn)",
    "local x = la.ones(3, {requires_grad = true}) keep(x, x:register_hook("
    "function(g) return g * #keep_list end)); (x * 2):sum():backward()",
    "local F = la.Function{forward = function(c, x) c:save_for_backward(x)"
    " return x * 2 end, backward = function(c, g) return g end}"
    " keep(F(la.ones(3, {requires_grad = true})))",
    "keep(la.no_grad(), la.fork_rng(), la.enable_grad())",
    "keep(la.Generator(1), la.ones(1):storage(), la.snapshot{la.ones(9)})",
    "keep(la.tidy(function() return la.ones(9) + 1 end))",
    "pcall(la.tidy, function() keep(la.keep(la.ones(9))) error 'x' end)",
    "local f = la.compile(function(x) return (x * 2):sum() end)"
    " keep(f, f(la.ones(9)))",
    "local f = la.fuse(function(x) return x * 2 end) keep(f, f(la.ones(9)))",
    "keep(la.vmap(function(x) return x * 2 end)(la.ones(4, 4)))",
    "keep(nn.Linear(3, 3)) keep(keep_list[1](la.ones(2, 3)))",
    "local m = nn.Linear(3, 3) local o = optim.Adam(m:parameters())"
    " m(la.ones(2, 3)):sum():backward() o:step() keep(m, o)",
    "keep(la.ones(9):iter())",
    "keep(la.fft.rfft(la.ones(1000)), la.rand(40, 40):matmul(la.rand(40, 40)))",
    "keep(la.while_loop(function(i) return i:lt(5) end, function(i) return"
    " i + 1 end, la.zeros(1)))",
    "keep(pcall(function() return la.ones(3):view(7) end))",
    "keep(coroutine.wrap(function() local s <close> = la.no_grad()"
    " coroutine.yield(la.ones(3)) end)())",
    "keep(setmetatable({la.ones(9)}, {__gc = function(t) keep(t[1] + 1) end}))",
    "keep(la.frame{a = {1, 2}, b = {'x', 'y'}})",
    "keep(la.cond(la.ones(1):sum():gt(0), function(x) return x + 1 end,"
    " function(x) return x end, la.ones(3)))",
};

#define KEEP " local la = lunarray keep_list = {} local function keep(...)" \
    " for _, v in ipairs{...} do keep_list[#keep_list + 1] = v end end "

static int finished;

/* (ok, message): the finalizer came to its end. */
static int finish(lua_State *L)
{
    finished++;
    if (!lua_toboolean(L, 1)) {
        fprintf(stderr, "%s\n", luaL_tolstring(L, 2, NULL));
        finished = -1000;
    }
    return 0;
}

static void finalized_at_the_end(const char *script, bool sandboxed)
{
    char text[1500];
    world w;
    begin(&w, sandboxed);
    lua_pushcfunction(w.L, finish);
    lua_setglobal(w.L, "finish");
    run(w.L, "lunarray = lunarray or require 'lunarray'"
             " nn, optim = require 'lunarray.nn', require 'lunarray.optim'");
    snprintf(text, sizeof text, KEEP "FIRST = setmetatable({}, {__gc ="
             " function() finish(pcall(function() %s end)) end})"
             " LAST = la.ones(5)", script);
    run(w.L, text);
    finished = 0;
    lua_close(w.L);
    if (finished != 1) fail_msg("%s: does not end", script);
    end(&w, script);
}

static void plain_states_give_all_back(void **state)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
        finalized_at_the_end(scripts[i], false);
}

static void sandboxes_give_all_back(void **state)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
        finalized_at_the_end(scripts[i], true);
}

/* The same words in finalizers of an ordinary collection: what is kept lives,
** and is usable. */
static void collections_are_as_before(void **state)
{
    char text[1500];
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        world w;
        begin(&w, i % 2);
        snprintf(text, sizeof text, "lunarray = lunarray or require 'lunarray'"
                 " nn, optim = require 'lunarray.nn', require 'lunarray.optim'"
                 KEEP "for i = 1, 5 do setmetatable({}, {__gc = function()"
                 " pcall(function() %s end) done = true end}) end"
                 " KEPT = keep_list", scripts[i]);
        run(w.L, text);
        lua_gc(w.L, LUA_GCCOLLECT);
        lua_gc(w.L, LUA_GCCOLLECT);
        run(w.L, "assert(done) for _, v in ipairs(KEPT) do tostring(v) end"
                 " KEPT = nil");
        lua_gc(w.L, LUA_GCCOLLECT);
        lua_close(w.L);
        end(&w, scripts[i]);
    }
}

/* ---- finalizers that are older than the library's own block ---- */

static int problems;

/* (what, ok, message): the call was refused by a sentence. */
static int note(lua_State *L)
{
    if (lua_toboolean(L, 2) || lua_type(L, 3) != LUA_TSTRING) {
        fprintf(stderr, "%s: was not refused\n", lua_tostring(L, 1));
        problems++;
    }
    return 0;
}

static const char *const refused[] = {
    "la.ones(3)", "KEEP + 1", "KEEP.shape", "KEEP:add_(1)", "KEEP.T",
    "KEEP[1]", "la.no_grad()", "la.no_grad(print)", "la.manual_seed(1)",
    "la.tidy(function() end)", "la.compile(function() end)()", "la.Generator()",
    "la.save({}, 'never')", "la.is_grad_enabled()", "KEEP:tolist()",
    "require 'lunarray'.ones(1)", "nn.Linear(1, 1)", "FUSED(KEEP)",
    "COMPILED(KEEP)", "KEEP:register_hook(print)", "la.frame{a = {1}}"
};

static void older_finalizers_are_refused(void **state)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        char text[1500];
        world w = {0};
        begin(&w, false);       /* its runtime, for another state */
        lua_close(w.L);
        w.L = luaL_newstate();
        luaL_openlibs(w.L);
        lua_pushcfunction(w.L, note);
        lua_setglobal(w.L, "note");
        snprintf(text, sizeof text, "OLD = setmetatable({}, {__gc = function()"
                 " local ok, e = pcall(function() local x = %s end)"
                 " note([==[%s]==], ok, e) end})", refused[i], refused[i]);
        run(w.L, text);
        assert_int_equal(la_openlibs_in(w.L, w.rt), 0);
        run(w.L, "la = require 'lunarray' KEEP = la.ones(3)"
                 " nn = require 'lunarray.nn'"
                 " FUSED = la.fuse(function(x) return x * 2 end)"
                 " COMPILED = la.compile(function(x) return x * 2 end)"
                 " FUSED(KEEP) COMPILED(KEEP)");
        lua_close(w.L);
        end(&w, refused[i]);
    }
    assert_int_equal(problems, 0);
}

static int open_here(lua_State *L)
{
    int code = la_openlibs_in(L, lua_touserdata(L, lua_upvalueindex(1)));
    lua_pushboolean(L, code == 0);
    lua_pushstring(L, la_error_text());
    return 2;
}

/* Nor is the library opened in a finalizer: its block would have none. */
static void finalizers_open_nothing(void **state)
{
    world w;
    begin(&w, false);
    lua_close(w.L);
    w.L = luaL_newstate();
    luaL_openlibs(w.L);
    problems = 0;
    lua_pushcfunction(w.L, note);
    lua_setglobal(w.L, "note");
    lua_pushlightuserdata(w.L, w.rt);
    lua_pushcclosure(w.L, open_here, 1);
    lua_setglobal(w.L, "open");
    run(w.L, "local t = setmetatable({}, {__gc = function() note('collected',"
             " open()) end}) t = nil collectgarbage() collectgarbage()"
             " KEEP = setmetatable({}, {__gc = function()"
             " note('closing', open()) end})");
    lua_close(w.L);
    end(&w, "opened in finalizers");
    assert_int_equal(problems, 0);
}

/* ---- a state that another thread closes ---- */

static void *closes(void *L)
{
    lua_close(L);
    return NULL;
}

/* Settings of the state are current on this thread still. */
static void other_threads_close(void **state)
{
    for (int sandboxed = 0; sandboxed < 2; sandboxed++) {
        pthread_t thread;
        world w;
        begin(&w, sandboxed);
        run(w.L, "lunarray = lunarray or require 'lunarray'"
                 " KEEP = lunarray.ones(100) * 2");
        assert_int_equal(pthread_create(&thread, NULL, closes, w.L), 0);
        pthread_join(thread, NULL);
        la_trim(w.rt);
        end(&w, "closed by another thread");
        assert_int_equal(la_runtime_destroy(w.rt), LA_EARG);    /* again */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_states_give_all_back),
        cmocka_unit_test(sandboxes_give_all_back),
        cmocka_unit_test(collections_are_as_before),
        cmocka_unit_test(older_finalizers_are_refused),
        cmocka_unit_test(finalizers_open_nothing),
        cmocka_unit_test(other_threads_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
