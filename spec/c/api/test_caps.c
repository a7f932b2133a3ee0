/*
** A cap is a bound: whatever a script makes the library keep, the process grows
** by little more than the cap, the error says what was asked, used and allowed,
** and all of it comes back when the state is closed. Each case is a process of
** its own, a child, so that what it has touched is its own.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#define LA_INTERNAL
#include "base/runtime/memory_cache.h"
#include "base/os/os.h"
#include "lua/binding.h"
#include "lua/sandbox/sandbox.h"
#include "lunarray.h"

/* Red zones and the shadow of a sanitizer are no memory of the script's. */
#if defined(__linux__) && LA_CACHE_ON && !defined(LA_DEBUG)
#define RESIDENT_IS_KNOWN 1
#else
#define RESIDENT_IS_KNOWN 0
#endif
#define CAP ((size_t)16 << 20)

/* Private bytes in memory; 0 where that says nothing. */
static size_t resident(void)
{
    unsigned long all, here, files;
    if (!RESIDENT_IS_KNOWN) return 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%lu %lu %lu", &all, &here, &files) != 3) here = files = 0;
    fclose(f);
    return (here - files) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Runs in a child, which says what is wrong, or nothing. */
static int failures;
typedef void (*child_fn)(const void *what, char *why, size_t size);

static void in_child(child_fn fn, const void *what, const char *title)
{
    int ends[2], status;
    char why[1024] = "";
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn(what, why, sizeof why);
        ssize_t n = write(ends[1], why, strlen(why));
        _exit(n < 0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t k; (k = read(ends[0], why + n, sizeof why - 1 - n)) > 0;)
        n += (size_t)k;
    why[n] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (status || n) {
        print_error("%s: %s (status %d)\n", title, why, status);
        failures++;
    }
}

/* ---- attacks ---- */

typedef struct attack {
    const char *title, *script;
} attack;

#define KEEP "keep = {} local function put(x) keep[#keep + 1] = x end "
static const attack endless[] = {
    {"nodes", "local x = lunarray.zeros(1):requires_grad_() y = x * 1"
     " for i = 1, 1000000 do y = y + 1 end"},
    {"changes in place", "local x = lunarray.zeros(1):requires_grad_()"
     " y = x * 1 while true do y:add_(1) end"},
    {"history of views", "local x = lunarray.zeros(100):requires_grad_()"
     " y = x * 1 while true do y = y:view(10, 10):view(100) end"},
    {"changes of views", "local x = lunarray.zeros(100):requires_grad_()"
     " y = x * 1 while true do y[1]:mul_(2) end"},
    {"views", KEEP "local x = lunarray.zeros(100)"
     " while true do put(x:view(10, 10)) end"},
    {"views of elements", KEEP "local x = lunarray.zeros(100, 1)"
     " while true do put(x[3]) end"},
    {"views of many dims", KEEP "local x = lunarray.zeros(1, 1, 1, 1, 1, 1, 1,"
     " 1, 1, 1) while true do put(x:transpose(1, 2)) end"},
    {"parts", KEEP "local x = lunarray.zeros(1000)"
     " while true do put(x:unbind()) end"},
    {"small tensors", KEEP "while true do put(lunarray.zeros(1)) end"},
    {"tensors of a few KiB", KEEP
     "while true do put(lunarray.zeros(300)) end"},
    {"no elements", KEEP "while true do put(lunarray.zeros(0)) end"},
    {"meta tensors", KEEP
     "while true do put(lunarray.empty({5}, {device = 'meta'})) end"},
    {"hooks", "x = lunarray.zeros(1):requires_grad_()"
     " while true do x:register_hook(function() end) end"},
    {"hooks of many", KEEP "while true do local x = lunarray.zeros(1)"
     " :requires_grad_() x:register_hook(print or type) put(x) end"},
    {"closures of hooks", KEEP "while true do local x = lunarray.zeros(1)"
     " :requires_grad_() x:register_hook(function() return x end) put(x) end"},
    {"snapshots", KEEP "local x = lunarray.zeros(1000) while true do"
     " put(lunarray.snapshot{x}) x:add_(1) end"},
    {"snapshots of nothing new", KEEP "local x = lunarray.zeros(1)"
     " while true do put(lunarray.snapshot{x, x, x}) end"},
    {"names of dims", "for i = 1, 1e6 do lunarray.zeros({1},"
     " {names = {('n'):rep(90) .. i}}) end"},
    {"named tensors", KEEP "while true do"
     " put(lunarray.zeros({1}, {names = {'n'}})) end"},
    {"generators", KEEP "while true do put(lunarray.Generator(1)) end"},
    {"contexts of functions", "local F = lunarray.Function{"
     "forward = function(c, v) c:save_for_backward(v) return v * 2 end,"
     " backward = function(c, g) return g end}"
     " local x = lunarray.zeros(1):requires_grad_() y = x * 1"
     " while true do y = F(y) end"},
    {"checkpoints", "local x = lunarray.zeros(1):requires_grad_() y = x * 1"
     " while true do y = lunarray.checkpoint(function(v) return v * 2 end, y)"
     " end"},
    {"lists that nodes save", "local x = lunarray.zeros(1):requires_grad_()"
     " y = x * 1 while true do y = lunarray.cat{y, y, y, y}[{{1, 1}}] end"},
    {"gradients with history", "local x = lunarray.ones(3):requires_grad_()"
     " y = (x * x):sum() while true do"
     " y = lunarray.autograd.grad(y, {x}, {create_graph = true})[1]:pow(3)"
     ":sum() + y end"},
    {"traces of anomalies", "lunarray.detect_anomaly(function()"
     " local x = lunarray.zeros(1):requires_grad_() y = x * 1"
     " while true do y = y + 1 end end)"},
    {"accumulators", KEEP "while true do local x = lunarray.ones(1)"
     ":requires_grad_() x:sum():backward() put(x) end"},
    {"functions of fuse", KEEP "local x = lunarray.zeros(3) while true do"
     " local f = lunarray.fuse(function(a) return a * 2 + 1 end) f(x) put(f)"
     " end"},
    {"steps of one recording", "local t = {} lunarray.fuse(function(a)"
     " while true do a = a + 1 t[#t + 1] = a end end)(lunarray.zeros(3))"},
    {"batches", "local t = {} lunarray.vmap(function(v)"
     " while true do t[#t + 1] = v * 2 end end)(lunarray.zeros(3, 2))"},
    {"texts of errors", KEEP "while true do local ok, why ="
     " pcall(lunarray.zeros(2).view, lunarray.zeros(2), #keep + 3)"
     " put(why) end"},
    {"scopes", "lunarray.tidy(function() while true do lunarray.zeros(1) end"
     " end)"},
    {"results of transforms", KEEP "local x = lunarray.zeros(8)"
     " while true do put(lunarray.fft.fft(x)) end"},
    {"lists of sizes", KEEP "local x = lunarray.zeros(2, 3)"
     " while true do put(x.shape) end"},
};

/* What these make is bounded, or dead by then: they end. */
static const attack ending[] = {
    {"circles through hooks", "for i = 1, 60000 do local x = lunarray.zeros(1)"
     " :requires_grad_() local y = x * 2"
     " y:register_hook(function() return x, y end) end"},
    {"a graph for each round", "for k = 1, 200 do"
     " local x = lunarray.zeros(1):requires_grad_() local y = x * 1"
     " for i = 1, 1000 do y = y + 1 end end"},
    {"one handle on a graph", "for k = 1, 1000 do"
     " local x = lunarray.zeros(20, 1, 1):requires_grad_()"
     " local h = lunarray.zeros(1, 1, 1) local w = {}"
     " for i = 1, 20 do h = h + x[i] end end local t = {}"
     " for i = 1, 2e5 do t[i] = i end"},
    {"plans of transforms", "for n = 1000, 6999 do"
     " lunarray.fft.fft(lunarray.zeros(n)) end"},
    {"caches of fuse", "local f = lunarray.fuse(function(a) return a * 2 + 1"
     " end) for i = 1, 20000 do f(lunarray.zeros(i % 4000 + 1)) end"},
    {"sizes of free blocks", "for k = 1, 40 do keep = {}"
     " for i = 1, 9 << 20, 1500 << k // 4 do"
     " keep[#keep + 1] = lunarray.zeros(1100 << k // 4 - 2) end end"},
};

/* "(5 bytes asked, 6 in use, limit 7)", or the bounded table of names. */
static bool says_enough(const char *text, size_t cap)
{
    size_t asked, used, limit;
    if (text && strstr(text, "not enough memory: too many or too long names"))
        return true;
    const char *at = text ? strstr(text, "not enough memory (") : NULL;
    return at && sscanf(at, "not enough memory (%zu bytes asked, %zu in use,"
                        " limit %zu)", &asked, &used, &limit) == 3
        && used <= cap && asked > cap - used && limit == cap;
}

static void attack_it(const attack *a, bool ends, char *why, size_t size)
{
    la_limits limits = {.size = sizeof limits, .memory = CAP};
    lua_State *L = luaL_newstate();
    la_open_sandboxed(L, &limits);      /* what is touched once is */
    lua_close(L);
    L = luaL_newstate();
    size_t before = resident();
    if (la_open_sandboxed(L, &limits)) {
        snprintf(why, size, "%s", la_error_text());
        return;
    }
    la_token *k = la_token_of(L);
    lua_pushstring(L, a->script);
    lua_setglobal(L, "script");
    bool ended = luaL_dostring(L, "local ok, why = pcall(load(script))"
                               " if not ok then error(why, 0) end") == LUA_OK;
    size_t grown = resident() - before;
    const char *text = ended ? NULL : lua_tostring(L, -1);
    /* Lua's small objects cost the system more than is asked for; blocks that
    ** come and go in other sizes leave gaps. */
    size_t most = ends ? 2 * CAP : CAP / 10 * 13 + (1 << 20);
    if (ended && !ends)
        snprintf(why, size, "ended, with %zu bytes", la_token_memory(k));
    else if (!ended && (ends || !says_enough(text, CAP)))
        snprintf(why, size, "%s", text ? text : "no text");
    else if ((ptrdiff_t)grown > (ptrdiff_t)most)
        snprintf(why, size, "%zu bytes resident, %zu charged", grown,
                 la_token_memory(k));
    lua_close(L);
    if (!*why && la_token_memory(k))
        snprintf(why, size, "%zu bytes left", la_token_memory(k));
    la_token_release(k);
    la_memory m = {.size = sizeof m};
    la_memory_stat(NULL, &m);
    if (!*why && m.now) snprintf(why, size, "%zu bytes in use", m.now);
}

static void attack_endless(const void *what, char *why, size_t size)
{
    attack_it(what, false, why, size);
}

static void attack_ending(const void *what, char *why, size_t size)
{
    attack_it(what, true, why, size);
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
static void attacks_are_bounded(void **state)
{
#ifdef LA_EAGER_GC
    skip();     /* with a collection for each tensor it takes quadratic time */
#endif
    failures = 0;
    for (size_t i = 0; i < COUNT(endless); i++)
        in_child(attack_endless, &endless[i], endless[i].title);
    for (size_t i = 0; i < COUNT(ending); i++)
        in_child(attack_ending, &ending[i], ending[i].title);
    assert_int_equal(failures, 0);
}

/* ---- every operation ---- */

#if RESIDENT_IS_KNOWN
enum { PARTS = 4, MORE = 2 << 20 };
#else
enum { PARTS = 4, MORE = 1 << 18 };
#endif

/* (bytes): the cap is so many above what is charged now; (0): no cap. */
static int set_cap(lua_State *L)
{
    size_t more = (size_t)luaL_checkinteger(L, 1);
    la_token *k = la_token_of(L);
    size_t now = la_token_memory(k);
    if (la_count_memory(L, more ? now + more : 0))
        return luaL_error(L, "%s", la_error_text());
    now = la_token_memory(k);
    la_count_memory(L, more ? now + more : 0);
    la_token_release(k);
    lua_pushinteger(L, more ? (lua_Integer)(now + more) : 0);
    return 1;
}

/* Without free blocks that are kept for reuse: few words fill many of them. */
static int push_resident(lua_State *L)
{
    la_trim(NULL);
    la_os_trim();
    lua_pushinteger(L, (lua_Integer)resident());
    return 1;
}

/* (text, cap). Where Lua itself had no memory the thread's record says more. */
static int text_is_right(lua_State *L)
{
    const char *text = lua_tostring(L, 1);
    if (text && strcmp(text, "not enough memory") == 0) text = la_error_text();
    lua_pushboolean(L, says_enough(text, (size_t)lua_tointeger(L, 2)));
    return 1;
}

static const luaL_Reg host[] = {
    {"set_cap", set_cap}, {"resident", push_resident},
    {"text_is_right", text_is_right}, {NULL, NULL}};

typedef struct part {
    int index;
    bool graphs;
} part;

static void run_words(const void *what, char *why, size_t size)
{
    const part *p = what;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    luaL_requiref(L, "lunarray", luaopen_lunarray, 0);
    la_token *k = la_token_of(L);
    bool loaded = luaL_dostring(L,
        "package.path = './?.lua;lua/?.lua;lua/?/init.lua;' .. package.path"
        " return (require 'spec.support.limits.caps')") == LUA_OK;
    if (loaded) {
        luaL_newlib(L, host);
        lua_pushinteger(L, p->index);
        lua_pushinteger(L, PARTS);
        lua_pushboolean(L, p->graphs);
        lua_pushinteger(L, MORE);
        loaded = lua_pcall(L, 5, 1, 0) == LUA_OK;
    }
    const char *text = lua_tostring(L, -1);
    if (!loaded || text) snprintf(why, size, "%s", text ? text : "no text");
    lua_close(L);
    if (!*why && la_token_memory(k))
        snprintf(why, size, "%zu bytes left", la_token_memory(k));
    la_token_release(k);
}

static void run_parts(bool graphs)
{
    failures = 0;
    for (int i = 0; i < PARTS; i++) {
        part p = {i, graphs};
        in_child(run_words, &p, graphs ? "graphs" : "results");
    }
    assert_int_equal(failures, 0);
}

static void results_are_charged(void **state) { run_parts(false); }
static void graphs_are_charged(void **state) { run_parts(true); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_are_bounded),
        cmocka_unit_test(results_are_charged),
        cmocka_unit_test(graphs_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
