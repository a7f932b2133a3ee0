/*
** The library inside of a host: an allocator that comes back for memory, states
** that move between threads and are closed elsewhere, settings of calls without
** a state, interruptions that are answered yes once.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"
#include "spec/c/modules.h"

#include "base/runtime/interrupt.h"

/* ---- an allocator ---- */

static atomic_int depth, calls;
static la_tensor *victim;       /* released when the next block is asked for */

/* What an engine's allocator under pressure does: it releases a tensor that it
** knows of, and asks for a small one of its own. */
static void *come_back(void *context, size_t bytes, size_t alignment)
{
    void *block = NULL;
    atomic_fetch_add(&calls, 1);
    if (atomic_fetch_add(&depth, 1) == 0) {
        int64_t few = 3000;
        la_release(victim);
        victim = NULL;
        la_release(la_new("float32", 1, &few));
    }
    atomic_fetch_sub(&depth, 1);
    return posix_memalign(&block, alignment, bytes) ? NULL : block;
}

static void give_back(void *context, void *block, size_t bytes)
{
    memset(block, 0x5a, bytes);
    free(block);
}

static int set_allocator(void **state)
{
    return la_set_allocator(come_back, give_back, NULL);
}

static void test_allocator_comes_back(void **state)
{
    int before = calls;
    for (int64_t n = 1; n < 2000000; n = n * 3 + 1) {
        la_tensor *t = la_new("float64", 1, &n);
        assert_non_null(t);
        victim = t;
    }
    la_release(victim);
    victim = NULL;
    assert_true(calls > before);
}

/* ---- states and their settings ---- */

static lua_State *open_host(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    return L;
}

static void run(lua_State *L, const char *text)
{
    if (luaL_dostring(L, text)) fail_msg("%s", lua_tostring(L, -1));
}

static const char *dtype_of_zeros(lua_State *L)
{
    la_tensor *t = la_call(L, "zeros", 2);
    const char *name = t ? la_tensor_dtype(t) : la_error_text();
    la_release(t);
    return name;
}

/* A call without a state has the thread's own settings, whatever ran before. */
static void test_settings_without_state(void **state)
{
    lua_State *L = open_host();
    run(L, "require('lunarray').set_default_dtype('float64')");
    assert_string_equal(dtype_of_zeros(L), "float64");
    assert_string_equal(dtype_of_zeros(NULL), "float32");
    assert_string_equal(dtype_of_zeros(L), "float64");
    lua_close(L);
    assert_string_equal(dtype_of_zeros(NULL), "float32");
}

/* From within a script: the script's settings come back after the call. */
static int call_without_state(lua_State *L)
{
    lua_pushstring(L, dtype_of_zeros(NULL));
    return 1;
}

static void test_settings_within_script(void **state)
{
    lua_State *L = open_host();
    lua_register(L, "host", call_without_state);
    run(L, "local la = require 'lunarray'\n"
           "la.set_default_dtype('float64')\n"
           "assert(host() == 'float32')\n"
           "assert(la.zeros(2).dtype == 'float64')");
    lua_close(L);
}

static void *close_state(void *L)
{
    lua_close(L);
    return NULL;
}

/* A state that ran here and is closed on another thread leaves nothing behind
** (the sanitizers look). */
static void test_closed_elsewhere(void **state)
{
    pthread_t other;
    lua_State *L = open_host();
    run(L, "local la = require 'lunarray' x = la.ones(3) * 2");
    assert_int_equal(pthread_create(&other, NULL, close_state, L), 0);
    pthread_join(other, NULL);
    assert_string_equal(dtype_of_zeros(NULL), "float32");
    la_tensor *t = la_call(NULL, "rand", 3);
    assert_non_null(t);
    la_release(t);
}

/* ---- a sandbox's memory ---- */

static void test_zero_memory(void **state)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_open_sandboxed(L, NULL), 0);
    run(L,
        "local la = require 'lunarray'\n"
        "for _, n in ipairs{1, 7, 300, 5000, 300000} do\n"
        "  local function zero(t, what)\n"
        "    assert(t:ne(0):sum():item() == 0, what .. ' of ' .. n)\n"
        "  end\n"
        "  local function old()\n"
        "    la.full({n}, 42.5); la.full({3 * n}, 42.5)\n"
        "  end\n"
        "  old() zero(la.empty(n), 'empty')\n"
        "  old() zero(la.empty_like(la.zeros(n)), 'empty_like')\n"
        "  old() zero(la.zeros(1):new_empty(n), 'new_empty')\n"
        "  old() zero(la.empty_strided({n}, {2}), 'empty_strided')\n"
        "  local z = la.zeros(n)\n"
        "  old() zero(z:resize_(3 * n), 'resize_')\n"
        "end");
    lua_close(L);
}

/* ---- a sandbox's library ---- */

/* The same in a fresh state and in one that has everything. */
static void test_sandboxed_library(void **state)
{
    for (int opened = 0; opened < 2; opened++) {
        lua_State *L = luaL_newstate();
        if (opened) luaL_openlibs(L);
        assert_int_equal(la_open_sandboxed(L, NULL), 0);
        run(L,
            "local la = require 'lunarray'\n"
            "assert(lunarray == la)\n"
            "for _, name in ipairs{'nn', 'optim', 'data', 'plot', 'help'} do"
            " require('lunarray.' .. name) end\n"
            "for i in la.progress(3) do end\n"
            "local layer = require 'lunarray.nn'.Linear(2, 3)\n"
            "assert(#layer:parameters() == 2)\n"
            "assert(not (io or debug or package or dofile or loadfile or print"
            " or warn or os.execute or os.getenv or os.tmpname or os.exit"
            " or string.dump) and os.time() > 0 and os.clock() >= 0)\n"
            "for _, name in ipairs{'io', 'debug', 'package', 'x.y', '/a'} do"
            " assert(not pcall(require, name)) end\n"
            "assert(load('return 7')() == 7)\n"
            "assert(load('return x', 'c', 'bt', {x = 3})() == 3)\n"
            "assert(not load('\\27Lua', 'c', 'b'))\n"
            "assert(collectgarbage('count') > 0)\n"
            "for _, what in ipairs{'stop', 'collect', 'setpause', 'step'} do"
            " assert(not pcall(collectgarbage, what)) end\n"
            "local e, f = {}, function() end\n"
            "assert(tostring(e) == 'table' and tostring(f) == 'function')\n"
            "assert(tostring(la.ones) == 'function' and tostring(1) == '1')\n"
            "assert(('%s|%d|%%p'):format(e, 3) == 'table|3|%p')\n"
            "assert(tostring(setmetatable({}, {__tostring = function()"
            " return 'mine' end})) == 'mine')\n"
            "assert(('%s'):format(la.ones(1)) == tostring(la.ones(1)))\n"
            "assert(tostring(coroutine.create(f)) == 'thread')\n"
            "assert(not pcall(string.format, '%10p', e))\n"
            "assert((''):rep(1 << 53) == '')\n"
            "assert(('ab'):rep(2, ',') == 'ab,ab')\n"
            "assert(('x'):rep(-1) == '' and not pcall(string.rep, 'x', 1e15))\n"
            "local x, image = la.zeros(3, 2, 2), la.image\n"
            "if not (image and la.read_csv) then return end\n"
            "for _, f in ipairs{image.load, image.save, la.read_csv,"
            " la.write_csv} do local _, why = pcall(f, x, 'x.png')"
            " assert(why:find('not open')) end\n"
            "assert(not pcall(image.info, 'x.png'))\n"
            "assert(#image.decode(image.encode(x, 'png')).shape == 3)");
        lua_close(L);
    }
}

/* ---- interruptions ---- */

static atomic_int answers;      /* polls answered no before the one yes */

static bool once(void *host)
{
    return atomic_fetch_sub(&answers, 1) == 0;
}

/* A hook that says yes once, to whichever poll on whichever thread, ends the
** operation with an error and a text, and never with half a result; the next
** call works. */
static void interrupt_each(const char *what)
{
    lua_State *L = open_host();
    run(L, "la = require 'lunarray' x = la.rand(3000000) m = la.rand(300, 300)"
           " q = la.rand(3000, 1000) im = la.rand(8, 16, 40, 40)"
           " w = la.rand(16, 16, 3, 3) t = x[{{1, 300000}}]:totable()"
           " i = la.image p = la.rand(3, 99, 99) f = os.tmpname()"
           " if la.write_csv then la.write_csv(m, f) end");
    int most = is_in_build(L, what) ? 12 : 0;
    for (int k = 0; k < most; k++) {
        la_set_interrupt(once, NULL);
        answers = k;
        const char *error = luaL_dostring(L, what) ? lua_tostring(L, -1) : "";
        bool asked = answers < 0;
        la_set_interrupt(NULL, NULL);
        if (asked ? !strstr(error, "interrupted") : *error != '\0')
            fail_msg("%s, yes to poll %d: '%s'", what, k, error);
        lua_settop(L, 0);
        run(L, "assert((la.ones(1000):sum()):item() == 1000)");
    }
    run(L, "os.remove(f)");
    lua_close(L);
}

static void test_interrupted_once(void **state)
{
    const char *programs[] = {
        "x:exp()", "x:sum()", "q:sum(1)", "q:softmax(2)", "x:cumsum(1)",
        "m:matmul(m)", "la.conv2d(im, w)", "x:argmax()", "q:sort(2)",
        "la.cat{x, x}", "q:t():contiguous()", "x:totable()", "la.tensor(t)",
        "la.randn(3000000)", "q:max(1)", "q:layer_norm{1000}",
        "return x[x:gt(0.5)]",
        "q:median(2)", "q:cumsum(1)", "la.randperm(1000000)",
        "la.image.decode(i.encode(p, 'png'))",
        "la.image.decode(i.encode(p, 'jpg'))",
        "la.image.decode(i.encode(p, 'bmp'))",
        "la.image.decode(i.encode(p, 'tga'))",
        "la.read_csv(f)", "la.write_csv(m, f)",
        "la.fuse(function(a) return (a * 2 + 1):exp() end)(x)"
    };
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        interrupt_each(programs[i]);
}

/* ---- how often a long operation asks ---- */

static bool never(void *host)
{
    atomic_fetch_add(&answers, 1);
    return false;
}

enum { LONG = 1200000 };

/* An operation on LONG elements in one row asks at least every 2^18 elements of
** each of its 'passes', on one thread; a yes to any of the polls, here to six
** of them, ends it with an error, and the operand is as before. Polls go by
** time as well: a quicker run may end before the later ones. */
static void interrupt_long(lua_State *L, const char *what, int passes)
{
    la_set_interrupt(never, NULL);
    answers = 0;
    run(L, what);
    int polls = answers;
    if (polls < passes * (LONG >> 18))
        fail_msg("%s asks %d times only", what, polls);
    for (int k = 0; k < 6; k++) {
        la_set_interrupt(once, NULL);
        answers = polls / 6 * k;
        const char *error = luaL_dostring(L, what) ? lua_tostring(L, -1) : "";
        bool asked = answers < 0;
        la_set_interrupt(NULL, NULL);
        if (asked ? !strstr(error, "interrupted") : k == 0 || *error)
            fail_msg("%s, yes to poll %d of %d: '%s'", what, polls / 6 * k,
                     polls, error);
        lua_settop(L, 0);
    }
    run(L, "assert(x:equal(x2) and i:equal(i2))");
}

static void test_long_rows_ask(void **state)
{
    static const struct { const char *what; int passes; } programs[] = {
        {"x:sort()", 4}, {"x:argsort()", 4}, {"la.msort(x)", 4},
        {"i:sort()", 2}, {"i:sort(1, true)", 2}, {"d:sort()", 4},
        {"x[{{1, -1, 2}}]:sort()", 2}, {"x:topk(100000)", 3}, {"x:topk(10)", 1},
        {"d:topk(100000)", 3}, {"x:kthvalue(1000)", 3}, {"x:median()", 3},
        {"x:mode()", 4}, {"x:quantile(0.3)", 4}, {"x:unique()", 4},
        {"i:unique{return_inverse = true}", 4}, {"i:unique_consecutive()", 2},
        {"la.isin(i, la.arange(1, 100000))", 1}, {"x:cumsum(1)", 1},
        {"x:view(-1, 100):cumsum(1)", 1}, {"x:view(-1, 3):cumsum(1)", 1},
        {"x:cumprod(1)", 1}, {"x:logcumsumexp(1)", 8}, {"x:cummax(1)", 1},
        {"x:view(-1, 100):cummin(1)", 1}, {"x:softmax(1)", 2},
        {"b:nonzero()", 2}, {"b:view(3, -1):nonzero()", 2},
        {"x:masked_select(b)", 2},
        {"return x[{{1, -1, 2}}][b[{{1, -1, 2}}]]", 1},
        {"x:histc(100)", 2}, {"la.histogram(x, 100)", 2}, {"i:bincount()", 2},
        {"x:view(-1, 100):argmax(1)", 0}, {"la.polygamma(3, x)", 4},
        {"x:split(100)", 0}, {"la.stack({x, x}, 2)", 1},
        {"la.randperm(1200000)", 2}, {"la.searchsorted(s, x)", 1},
        {"x:roll(5)", 1}, {"x:view(1, -1):pad({9, 9}, {mode = 'reflect'})", 1},
        {"x:multinomial(10)", 4}, {"x:multinomial(10, true)", 3},
        {"x:multinomial(1000000, true)", 8}, {"la.categorical(x)", 4},
        {"la.dirichlet(x)", 3}, {"x:repeat_interleave(r)", 3},
        {"la.fft.fft(x)", 2}, {"la.fft.rfft(x)", 2},
        {"la.fft.fft(x:narrow(1, 1, 1199999))", 12},
        {"x:layer_norm{1200000}", 3}, {"x:layer_norm({1200000}, x, x)", 3},
        {"x:half():layer_norm{1200000}", 3}, {"d:rms_norm{1200000}", 2},
        {"local y = x:detach():requires_grad_()"
         " y:layer_norm({1200000}, x):sum():backward()", 7},
        {"x:view(1, 1, -1, 1200):instance_norm()", 1},
        {"local y = x:view(1, 2, -1):detach():requires_grad_()"
         " la.group_norm(y, 1):sum():backward()", 2},
        {"la.max_pool2d(x:view(1, 1, -1, 1200), 3, 1)", 8},
        {"la.max_pool2d(x:view(1, 1, -1, 1200), 3, 1,"
         " {return_indices = true})", 8},
        {"la.max_pool2d(i:view(1, 1, -1, 1200), 3, 1)", 8},
        {"la.avg_pool2d(x:view(1, 1, -1, 1200), 3, 1)", 8},
        {"la.adaptive_avg_pool2d(x:view(1, 1, -1, 1200), {900, 1100})", 3},
        {"local y = x:view(1, 1, -1, 1200):detach():requires_grad_()"
         " la.avg_pool2d(y, 3, 1):sum():backward()", 16},
        {"la.signal.lfilter(part, la.ones(1), part)", 3},
        {"la.signal.sosfilt(sos, part)", 4},
        {"la.signal.medfilt(part, 10001)", 8},
        {"la.load(file)", 1}, {"la.save(file, {x = x})", 1},
    };
    lua_State *L = open_host();
    run(L, "la = require 'lunarray' la.set_num_threads(1)"
           " x = la.rand(1200000) x2 = x:clone() d = x:double()"
           " i = la.randint(1, 1000000, {1200000}) i2 = i:clone()"
           " s = x:sort() b = x:gt(0.5) r = i % 3 file = os.tmpname()"
           " os.remove(file) file = file .. '.npz' la.save(file, {x = x})"
           " part = x:narrow(1, 1, 10000)"
           " sos = la.zeros(5000, 6) + la.tensor{1, 0, 0, 1, 0, 0}"
           " la.fft.fft(x) la.fft.rfft(x) la.fft.fft(x:narrow(1, 1, 1199999))");
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (is_in_build(L, programs[i].what))
            interrupt_long(L, programs[i].what, programs[i].passes);
    run(L, "os.remove(file)");
    lua_close(L);
}

/* ---- generators ---- */

static void test_generators(void **state)
{
    la_generator_state kept, again, thread;
    lua_State *L = open_host(), *other = luaL_newstate();
    assert_int_equal(la_seed_generator(L, 7), LA_OK);
    run(L, "la = require 'lunarray' assert(la.initial_seed() == 7)"
           " first = la.rand(100)");
    assert_int_equal(la_get_generator(L, &kept), LA_OK);
    assert_true(kept.seed == 7 && kept.offset > 0);
    run(L, "second = la.rand(100) local s <close> = la.fork_rng() la.rand(5)");
    assert_int_equal(la_get_generator(L, &again), LA_OK);
    assert_true(again.offset > kept.offset);
    assert_int_equal(la_set_generator(L, &kept), LA_OK);
    run(L, "assert(la.equal(la.rand(100), second))"
           " la.manual_seed(7) assert(la.equal(la.rand(100), first))");

    assert_int_equal(la_get_generator(NULL, &thread), LA_OK);
    assert_int_equal(la_seed_generator(NULL, 9), LA_OK);
    assert_int_equal(la_get_generator(NULL, &again), LA_OK);
    assert_true(again.seed == 9 && again.offset == 0);
    assert_int_equal(la_set_generator(NULL, &thread), LA_OK);
    run(L, "assert(la.initial_seed() == 7)");

    assert_int_equal(la_get_generator(L, NULL), LA_EARG);
    assert_int_equal(la_set_generator(L, NULL), LA_EARG);
    assert_int_equal(la_get_generator(other, &again), LA_ESTATE);
    assert_int_equal(la_seed_generator(other, 1), LA_ESTATE);
    assert_non_null(strstr(la_error_text(), "la_seed_generator: the Lua"));
    lua_close(other);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generators),
        cmocka_unit_test(test_allocator_comes_back),
        cmocka_unit_test(test_settings_without_state),
        cmocka_unit_test(test_settings_within_script),
        cmocka_unit_test(test_closed_elsewhere),
        cmocka_unit_test(test_zero_memory),
        cmocka_unit_test(test_sandboxed_library),
        cmocka_unit_test(test_interrupted_once),
        cmocka_unit_test(test_long_rows_ask),
    };
    return cmocka_run_group_tests(tests, set_allocator, NULL);
}
