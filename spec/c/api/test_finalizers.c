/* Finalizers, metatables and coroutines of hostile scripts in a sandbox: what a
** script plants runs within limits, or not at all, and a host comes to its end
** whatever is left behind. */
#define _POSIX_C_SOURCE 200809L
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
#include <signal.h>
#include <unistd.h>

#include "lunarray.h"

/* What hangs is ended, and named, long after all else is done. */
enum { WATCHDOG = 300 };
static const char *volatile attacking = "";

static void barks(int sig)
{
    const char *what = attacking;
    (void)!write(2, what, strlen(what));
    (void)!write(2, ": hangs\n", 8);
    _exit(1);
}

static lua_State *open_with(int64_t fuel)
{
    la_limits limits = {.size = sizeof limits, .memory = 256 << 20,
                        .fuel = fuel};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    alarm(WATCHDOG);
    return L;
}

static void run(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script) != LUA_OK)
        fail_msg("%s: %s", script, lua_tostring(L, -1));
    lua_settop(L, 0);
}

#define LOOP "function() while true do end end"
#define CHURN " for i = 1, 30000 do local t = {} end "

/* Each plants what loops, or works for ever, where the collector or the end of
** a scope finds it. All are short themselves; 'la' is the library and 'loop'
** the loop. */
static const char *const planted[] = {
    /* objects of the library */
    "getmetatable(la.ones(1).shape).__gc = loop KEEP = la.ones(1).shape",
    "local s <close> = la.no_grad() rawset(getmetatable(s), '__gc', loop)",
    "rawset(getmetatable(la.fork_rng()), '__gc', loop) la.fork_rng()",
    "la.Function{forward = function(c, x) rawset(getmetatable(c), '__gc', loop)"
    " return x * 2 end, backward = function(c, g) return g end}(la.ones(1,"
    " {requires_grad = true}))",
    "local x = la.ones(1, {requires_grad = true}) local h = x:register_hook("
    "function() end) rawset(getmetatable(h), '__gc', loop) h = nil"
    " x:register_hook(function() end)",
    "rawset(getmetatable(la), '__gc', loop)",
    "rawset(getmetatable(la.nn), '__gc', loop)",
    "rawset(getmetatable(la.Function{forward = loop, backward = loop}), '__gc',"
    " loop)",
    "rawset(getmetatable(la.Generator(1)), '__gc', loop)",
    "rawset(getmetatable(la.snapshot{la.ones(1)}), '__gc', loop)",
    "rawset(getmetatable(la.ones(1):storage()), '__gc', loop)",
    "setmetatable(la.ones(1).shape, {__gc = loop})",
    "setmetatable(la.ones(1).shape, nil)",
    "la.ones(1).shape.__gc = loop",
    "local s = la.ones(1).shape rawset(s, '__gc', loop) setmetatable({}, s)",
    "for k, v in pairs(getmetatable('')) do rawset(getmetatable(''), '__gc',"
    " loop) end ('x'):rep(9)",
    /* classes of its Lua modules */
    "local n = la.nn.Linear(1, 1) getmetatable(n).__gc = loop"
    " for i = 1, 9 do la.nn.Linear(1, 1) end",
    "local C = la.nn.class 'C' C._meta.__gc = loop for i = 1, 9 do C() end",
    "local n = la.nn.Linear(1, 1) getmetatable(n).__gc = loop"
    " for i = 1, 9 do n:clone() end",
    "local o = la.optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})"
    " getmetatable(o).__gc = loop KEEP = la.optim.SGD({la.ones(1,"
    " {requires_grad = true})}, {lr = 1})",
    "local d = la.data.TensorDataset(la.ones(1)) getmetatable(d).__gc = loop"
    " KEEP = la.data.TensorDataset(la.ones(1)) la.data.TensorDataset(la.ones("
    "1))",
    "local old = setmetatable setmetatable = function(t, m) m.__gc = loop"
    " return old(t, m) end la.nn.Linear(1, 1) la.data.TensorDataset(la.ones(1))"
    " setmetatable = old",
    /* objects of its own */
    "for i = 1, 1000 do setmetatable({}, {__gc = loop}) end",
    "for i = 1, 1000 do KEEP = {KEEP, setmetatable({}, {__gc = loop})} end",
    "local m = {__gc = true} for i = 1, 100 do setmetatable({}, m) end"
    " m.__gc = loop",
    "local m m = {__gc = function(t) setmetatable(t, m) while true do end end}"
    " for i = 1, 100 do setmetatable({}, m) end",
    "local m m = {__gc = function(t) KEEP = setmetatable(t, m) setmetatable({},"
    " m) end} for i = 1, 100 do setmetatable({}, m) end",
    "setmetatable(_G, {__gc = loop})",
    "setmetatable(la.nn.Linear, {__gc = loop})",
    "setmetatable({}, {__gc = function() pcall(loop) while true do pcall(loop)"
    " end end})",
    "setmetatable({}, {__gc = function() xpcall(loop, loop) end})",
    "setmetatable({}, {__gc = function() coroutine.wrap(loop)() end})",
    "setmetatable({}, {__gc = function() while true do pcall(coroutine.wrap("
    "loop)) end end})",
    "setmetatable({}, {__gc = function() local x <close> = setmetatable({},"
    " {__close = loop}) while true do end end})",
    "setmetatable({}, {__gc = function() error(setmetatable({}, {__tostring ="
    " loop})) end})",
    "setmetatable({}, {__gc = function() while true do pcall(error) end end})",
    "setmetatable({}, {__gc = function() local f f = function() return f() end"
    " f() end})",
    "setmetatable({}, {__gc = function() ('a'):rep(30000):find('.-.-.-b')"
    " end})",
    "setmetatable({}, {__gc = function() local t = {} while true do t[#t + 1] ="
    " t end end})",
    "setmetatable({}, {__gc = function() local m = la.rand(300, 300) while true"
    " do m = m:matmul(m) end end})",
    "setmetatable({}, {__gc = function() while true do la.rand(9):exp_() end"
    " end})",
    "setmetatable({}, {__gc = function() load(function() return 'x = 1 ' end)"
    " end})",
    "setmetatable({}, {__gc = function() while true do setmetatable({}, {__gc ="
    " loop}) end end})",
    "setmetatable({}, {__gc = setmetatable({}, {__call = loop})})",
    /* coroutines that are dropped or die with something to close */
    "local c = coroutine.create(function() local x <close> = setmetatable({},"
    " {__close = loop, __gc = loop}) coroutine.yield() end)"
    " coroutine.resume(c)",
    "local c = coroutine.wrap(function() local x <close> = la.no_grad() local y"
    " <close> = setmetatable({}, {__gc = loop}) coroutine.yield() end) c()",
    "local c c = coroutine.create(function() setmetatable({}, {__gc ="
    " function() coroutine.resume(c) end}) coroutine.yield() while true do end"
    " end) coroutine.resume(c)",
    "KEEP = coroutine.wrap(function() while true do coroutine.yield() end end)"
    " setmetatable({}, {__gc = function() while true do KEEP() end end})",
    "setmetatable({}, {__mode = 'k', __gc = loop})[{}] = setmetatable({},"
    " {__gc = loop})"
};

static void begin(lua_State *L, const char *script)
{
    char text[1200];
    snprintf(text, sizeof text, "local la, loop = lunarray, " LOOP
             " pcall(function() %s end)", script);
    attacking = script;
    run(L, text);
}

/* The script has no limits, or ends within them; its finalizers come later, in
** another script that has none, in a collection of the host's, in lua_close. */
static void what_is_planted_ends(void **state)
{
    for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
        lua_State *L = open_with(0);
        la_token *k = la_token_of(L);
        begin(L, planted[i]);
        la_token_clear(k);
        run(L, CHURN "assert(lunarray.is_grad_enabled())");
        lua_gc(L, LUA_GCCOLLECT);
        lua_gc(L, LUA_GCCOLLECT);
        run(L, "local x = lunarray.ones(3) local s = x.shape" CHURN);
        assert_int_equal(la_token_code(k), 0);
        lua_close(L);
        la_token_release(k);
    }
}

/* Nor do they hold up who closes at once. */
static void closing_ends(void **state)
{
    for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
        lua_State *L = open_with(0);
        begin(L, planted[i]);
        lua_close(L);
    }
}

/* Fuel ends scripts whose own finalizers loop, and the code is fuel's. */
static void fuel_ends_them(void **state)
{
    for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
        lua_State *L = open_with(0);
        la_token *k = la_token_of(L);
        begin(L, planted[i]);
        la_set_fuel(k, 2000);
        if (luaL_dostring(L, "while true do local t = {} end") == LUA_OK)
            fail_msg("%s: went on", planted[i]);
        assert_int_equal(la_token_code(k), LA_EFUEL);
        la_token_clear(k);
        run(L, "return lunarray.ones(3):sum():item()");
        lua_close(L);
        la_token_release(k);
    }
}

/* Short ones are all called, and the bound comes back with what is run. */
static void short_ones_are_called(void **state)
{
    lua_State *L = open_with(0);
    attacking = "short finalizers";
    run(L, "n = 0 local m = {__gc = function() n = n + 1 end}"
           " for i = 1, 200000 do setmetatable({}, m) end");
    lua_gc(L, LUA_GCCOLLECT);
    run(L, "assert(n == 200000, n) setmetatable({}, {__gc = " LOOP "})");
    lua_gc(L, LUA_GCCOLLECT);
    run(L, "n = 0 for i = 1, 100000 do end"
           " setmetatable({}, {__gc = function() n = 1 end})");
    lua_gc(L, LUA_GCCOLLECT);
    run(L, "assert(n == 1)");
    lua_close(L);
}

/* ---- modes of coroutines ---- */

static const char *const modes[] = {
    "local c = coroutine.wrap(function() local s <close> = la.no_grad()"
    " coroutine.yield() return on() end) c() assert(on()) assert(not c())"
    " assert(on())",
    "local c = coroutine.wrap(function() local s <close> = la.no_grad()"
    " coroutine.yield() end) c() c = nil" CHURN "assert(on())",
    "coroutine.wrap(function() la.set_grad_enabled(false) assert(not on())"
    " end)() assert(on())",
    "local c = coroutine.create(function() local s <close> = la.no_grad()"
    " error 'x' end) coroutine.resume(c) assert(on()) coroutine.close(c)"
    " assert(on())",
    "local s <close> = la.no_grad() coroutine.wrap(function() assert(not on())"
    " local s <close> = la.enable_grad() assert(on()) coroutine.yield() end)()"
    " assert(not on())",
    "local s = coroutine.wrap(function() return la.no_grad() end)()"
    " assert(on()) do local t <close> = s end assert(on())",
    "for i = 1, 5000 do coroutine.wrap(function() local s <close> ="
    " la.no_grad() local f <close> = la.fork_rng() la.rand(1)"
    " coroutine.yield() end)() end assert(on())",
    "la.manual_seed(1) local a, b = la.rand(1):item(), la.rand(1):item()"
    " la.manual_seed(1) local c = coroutine.wrap(function() local f <close> ="
    " la.fork_rng() coroutine.yield(la.rand(1):item()) return"
    " la.rand(1):item() end) assert(c() == a and la.rand(1):item() == a and"
    " c() == b and la.rand(1):item() == b)",
    "la.manual_seed(1) local a = la.rand(1):item() la.manual_seed(1)"
    " coroutine.wrap(function() local f <close> = la.fork_rng() la.rand(1)"
    " coroutine.yield() end)()" CHURN "assert(la.rand(1):item() == a)",
    "local seen coroutine.wrap(function() local x = la.ones(1, {requires_grad ="
    " true}) x:register_hook(function() local s <close> = la.enable_grad()"
    " coroutine.wrap(function() local s <close> = la.no_grad()"
    " coroutine.yield() end)() assert(on()) seen = true end);"
    " (x * 2):backward() assert(on()) end)() assert(seen and on())",
    "local x = la.ones(1, {requires_grad = true}) x:register_hook(function()"
    " la.set_grad_enabled(true) coroutine.wrap(function() la.no_grad() end)()"
    " end); (x * 2):backward() assert(on()) coroutine.wrap(function()"
    " assert(on()) end)()",
    "local c = coroutine.wrap(function() return la.no_grad(function() local d ="
    " coroutine.wrap(function() local s <close> = la.enable_grad()"
    " coroutine.yield(on()) end) return d(), on() end) end)"
    " local inner, outer = c() assert(inner and not outer and on())"
};

static void modes_end_with_their_coroutine(void **state)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        lua_State *L = open_with(0);
        char text[1200];
        attacking = modes[i];
        snprintf(text, sizeof text, "local la, on = lunarray,"
                 " lunarray.is_grad_enabled %s", modes[i]);
        run(L, text);
        lua_gc(L, LUA_GCCOLLECT);
        lua_gc(L, LUA_GCCOLLECT);
        run(L, "assert(lunarray.is_grad_enabled() and (lunarray.ones(1,"
               " {requires_grad = true}) * 2).requires_grad)");
        lua_close(L);
    }
}

/* ---- all that can be reached ---- */

static int metatable_of_c(lua_State *L)
{
    static const char *const events[] = {"__gc", "__close", "__index", "__eq",
                                         "__newindex", "__call"};
    bool is = false;
    lua_settop(L, 1);
    lua_pushboolean(L, 0);
    if (lua_type(L, 1) == LUA_TSTRING || !lua_getmetatable(L, 1)) return 1;
    lua_remove(L, 2);
    if (lua_getfield(L, 2, "__name") == LUA_TSTRING)
        is = lua_rawget(L, LUA_REGISTRYINDEX) == LUA_TTABLE
            && lua_rawequal(L, 2, -1);
    lua_settop(L, 2);
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        lua_getfield(L, 2, events[i]);
        is = is || lua_iscfunction(L, -1);
        lua_settop(L, 2);
    }
    if (is) lua_pushinteger(L, (lua_Integer)(intptr_t)lua_topointer(L, 2));
    else lua_pushboolean(L, 0);
    return 1;
}

static void nothing_lies_open(void **state)
{
    static const char *const fields[] = {"__gc", "__close", "__mode",
                                         "__index", "__metatable"};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        lua_State *L = open_with(0);
        la_token *k = la_token_of(L);
        attacking = fields[i];
        if (luaL_loadfile(L, "spec/support/limits/sandbox_walk.lua") != LUA_OK)
            fail_msg("%s", lua_tostring(L, -1));
        lua_getglobal(L, "lunarray");
        lua_pushcfunction(L, metatable_of_c);
        lua_pushstring(L, fields[i]);
        lua_pushinteger(L, 1000);       /* steps of examples, at least */
        if (lua_pcall(L, 4, 1, 0) != LUA_OK)
            fail_msg("%s: %s", fields[i], lua_tostring(L, -1));
        la_set_fuel(k, 200000);
        if (lua_pcall(L, 0, 0, 0) != LUA_OK && la_token_code(k) != LA_EFUEL)
            fail_msg("%s: %s", fields[i], lua_tostring(L, -1));
        lua_settop(L, 0);
        la_token_clear(k);
        lua_gc(L, LUA_GCCOLLECT);
        lua_gc(L, LUA_GCCOLLECT);
        lua_close(L);
        la_token_release(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_planted_ends),
        cmocka_unit_test(closing_ends),
        cmocka_unit_test(fuel_ends_them),
        cmocka_unit_test(short_ones_are_called),
        cmocka_unit_test(modes_end_with_their_coroutine),
        cmocka_unit_test(nothing_lies_open),
    };
    signal(SIGALRM, barks);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
