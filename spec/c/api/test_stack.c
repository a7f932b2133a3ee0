/* Scripts of a sandbox on a small stack of the host: calls through C that never
** end get an error before the stack does, whose lower end no one may touch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
#include <sys/mman.h>
#include <ucontext.h>

enum { GUARD = 1 << 16 };

/* Each ends by itself on a stack of Lua's own choice. */
static const char *const nests[] = {
    "local function f() return (string.gsub('x', 'x', f)) end return f()",
    "local function f() table.sort({1, 2, 3}, f) end return f()",
    "local function f() return assert(pcall(f)) end return f()",
    "local function f() return assert(xpcall(f, function(e) return f() end)) "
    "end return f()",
    "local function f() error(select(2, xpcall(f, string.rep)), 0) end "
    "return f()",
    "local function f() return coroutine.wrap(f)() end return f()",
    "local function f() return assert(coroutine.resume(coroutine.create(f))) "
    "end return f()",
    "local function f() return lunarray.tidy(f) end return f()",
    "local function f() return lunarray.no_grad(f) end return f()",
    "local function f() return lunarray.fork_rng(f) end return f()",
    "local function f() return lunarray.fuse(f)(lunarray.ones(1)) end "
    "return f()",
    "local F F = lunarray.Function{forward = function(ctx, x) return F(x) end,"
    " backward = function(ctx, g) return g end} return F(lunarray.ones(1))",
    "local F F = lunarray.Function{forward = function(ctx, x) return x * 2 end,"
    " backward = function(ctx, g) local x = lunarray.ones(1, "
    "{requires_grad = true}) F(x):sum():backward() return g end} "
    "local x = lunarray.ones(1, {requires_grad = true}) "
    "F(x):sum():backward() return 1",
    "local function f() local x = lunarray.ones(1, {requires_grad = true}) "
    "x:register_hook(f) (x * 2):sum():backward() end return f()",
    "local function f(x) return lunarray.ones(1):apply(f) end return f(1)",
    "local function f(x) return lunarray.ones(1):map_(lunarray.ones(1), f) end "
    "return f(1)",
    "local function f() return lunarray.profile(f) end return f()",
    "local function f() return lunarray.enable_grad(f) end return f()",
    "local function f() return lunarray.detect_anomaly(f) end return f()",
    "local function f() return lunarray.checkpoint(f, lunarray.ones(1, "
    "{requires_grad = true})) end return f()",
    "local t = setmetatable({}, {}) getmetatable(t).__index = function() "
    "return lunarray.tensor(t) end getmetatable(t).__len = function() "
    "return 1 end return lunarray.tensor(t)",
    "local x, t = lunarray.ones(1), setmetatable({}, {}) "
    "getmetatable(t).__index = function() return x[t] end "
    "getmetatable(t).__len = function() return 1 end return x[t]",
    "local x, t = lunarray.ones(1), setmetatable({}, {}) "
    "getmetatable(t).__index = function() x[t] = 1 return 1 end "
    "getmetatable(t).__len = function() return 1 end x[t] = 1",
    "local x, t = lunarray.ones(1), setmetatable({}, {}) "
    "getmetatable(t).__add = function(a, b) return x + t end return x + t",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__index = function(t, k) return lunarray.zeros(1, t) end "
    "return lunarray.zeros(1, t)",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__index = function(t, k) return lunarray.sum(t) end "
    "getmetatable(t).__len = function() return 1 end return lunarray.sum(t)",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__tostring = function(t) return tostring(t) end "
    "return tostring(t)",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__tostring = function(t) return ('%s'):format(t) end "
    "return tostring(t)",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__index = function(t, k) return table.concat(t, '', 1, 2) "
    "end return t[1]",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__index = function(t, k) return (table.unpack(t, 1, 2)) "
    "end return t[1]",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__pairs = function(t) return pairs(t) end return pairs(t)",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__eq = function(a, b) return a == b end "
    "return t == setmetatable({}, getmetatable(t))",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__lt = function(a, b) return a < b end return t < t",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__len = function(a) return #a end return #t",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__call = function(a) return (a()) end return t()",
    "local function f() local x <close> = setmetatable({}, {__close = f}) end "
    "return f()",
    "local function f() for k in f do return k end end return f()",
    "local function f() return string.rep('x', 2, f()) end return f()",
    "local f f = function() local co = coroutine.create(function() "
    "local x <close> = setmetatable({}, {__close = f}) coroutine.yield() end) "
    "coroutine.resume(co) return coroutine.close(co) end return f()",
    "local function f(x) return lunarray.vmap(f)(x) end "
    "return f(lunarray.ones({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}))",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__index = function(t, k) return t[k .. 1] end "
    "return t.x",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__add = function(a, b) return a + b end return t + t",
    "local t = setmetatable({}, {}) "
    "getmetatable(t).__concat = function(a, b) return a .. b end "
    "return t .. t",
    "local function f() return (load(f)) end return f()",
    "return assert(load('return ' .. ('('):rep(190) .. 1 .. (')'):rep(190)))",
    "return (('x'):rep(300):find(('(x'):rep(30) .. ('x?'):rep(190) .. 'y'))",
};
enum { COUNT = sizeof nests / sizeof *nests };

static ucontext_t host, fiber;
static lua_State *running;
static const char *script;

static void body(void)
{
    (void)luaL_dostring(running, script);
}

static bool overflowed(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    return text && strstr(text, "stack of the host");
}

static void run_on(lua_State *L, const char *text, char *low, size_t bytes)
{
    running = L;
    script = text;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = low;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = &host;
    makecontext(&fiber, body, 0);
    assert_int_equal(swapcontext(&host, &fiber), 0);
}

/* Did the script raise it? The state goes on afterwards. */
static bool run_one(const char *text, char *low, size_t bytes)
{
    la_limits limits = {.size = sizeof limits, .memory = 64 << 20,
                        .fuel = 4000, .stack = low, .stack_bytes = bytes};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    run_on(L, text, low, bytes);
    bool raised = overflowed(L);
    la_token *k = la_token_of(L);
    la_token_clear(k);
    la_token_release(k);
    lua_settop(L, 0);
    assert_int_equal(luaL_dostring(L, "return lunarray.ones(2)"), 0);
    lua_close(L);
    return raised;
}

/* How many of the scripts raised it. */
static int run_all(size_t bytes)
{
    int raised = 0;
    char *whole = mmap(NULL, bytes + GUARD, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(whole != MAP_FAILED);
    assert_int_equal(mprotect(whole, GUARD, PROT_NONE), 0);
    for (int k = 0; k < COUNT; k++)
        raised += run_one(nests[k], whole + GUARD, bytes);
    munmap(whole, bytes + GUARD);
    print_message("%zu KiB: %d of %d\n", bytes >> 10, raised, (int)COUNT);
    return raised;
}

/* The error comes while so much is left that any operation still runs. */
static void test_operations_at_the_end(void **state)
{
    static const char text[] =
        "local x = lunarray.rand(500000) "
        "local function f() local r = {pcall(string.gsub, 'x', 'x', f)} "
        "if x then local z = x x = nil z:sort() z:topk(10000) "
        "local y = lunarray.rand(700, 700) y = y:t() + y "
        "lunarray.linalg.svd(lunarray.rand(3, 3)) "
        "lunarray.linalg.eig(lunarray.rand(60, 60):to('complex128')) end "
        "error(r[2], 0) end return f()";
    size_t bytes = 64 << 10;
    char *whole = mmap(NULL, bytes + GUARD, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(whole != MAP_FAILED);
    assert_int_equal(mprotect(whole, GUARD, PROT_NONE), 0);
    assert_true(run_one(text, whole + GUARD, bytes));
    munmap(whole, bytes + GUARD);
}

static void test_small_fibers(void **state)
{
    (void)state;
    assert_in_range(run_all(64 << 10), 20, COUNT);
    assert_in_range(run_all(128 << 10), 12, COUNT);
    run_all(512 << 10);
}

/* What a level takes where Lua's own limit ends the nest, as lunarray.h says:
** LUAI_MAXCCALLS of them, and an operation at the end. */
static void test_levels(void **state)
{
    enum { BYTES = 2 << 20, LEVELS = 200, LEVEL = 7 << 10, KEPT = 32 << 10 };
    la_limits limits = {.size = sizeof limits, .memory = 64 << 20,
                        .fuel = 4000};
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        char *low = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        lua_State *L = luaL_newstate();
        size_t unused = 0;
        assert_true(low != MAP_FAILED);
        assert_int_equal(la_open_sandboxed(L, &limits), 0);
        run_on(L, nests[k], low, BYTES);
        lua_close(L);
        while (!low[unused]) unused++;
        size_t used = BYTES - unused;
        print_message("%zu %.60s\n", used, nests[k]);
        if (used > LEVELS * LEVEL + KEPT)
            fail_msg("%zu bytes: %s", used, nests[k]);
        munmap(low, BYTES);
    }
}
#else
static void test_levels(void **state)
{
    (void)state;
    skip();
}

static void test_operations_at_the_end(void **state)
{
    (void)state;
    skip();
}

static void test_small_fibers(void **state)
{
    (void)state;
    skip();
}
#endif

static void test_arguments(void **state)
{
    (void)state;
    int here;
    lua_State *L = luaL_newstate();
    assert_int_equal(la_set_stack(L, &here, 1000), LA_ESTATE);
    assert_int_equal(la_set_stack(NULL, &here, 1000), LA_ESTATE);
    assert_int_equal(la_open_sandboxed(L, NULL), 0);
    /* The named stack is another: no limit here. */
    assert_int_equal(la_set_stack(L, L, 1000), 0);
    assert_int_equal(luaL_dostring(L, "return pcall(pcall)"), 0);
    assert_int_equal(la_set_stack(L, NULL, 0), 0);
    assert_int_equal(luaL_dostring(L, "return pcall(pcall)"), 0);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_fibers),
        cmocka_unit_test(test_operations_at_the_end),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
