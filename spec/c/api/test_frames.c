/*
** Frames: scopes that a host opens in a state, values that are kept, the policy
** of the collector, and states that are closed in the middle.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"

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

/* The expression is true in the state. */
static void check(lua_State *L, const char *text)
{
    lua_pushfstring(L, "return %s", text);
    if (luaL_dostring(L, lua_tostring(L, -1)) || !lua_toboolean(L, -1))
        fail_msg("%s: %s", text, luaL_tolstring(L, -1, NULL));
    lua_settop(L, 0);
}

static const char freed[] =
    "function freed(x) local ok, e = pcall(function() return x + 1 end)"
    "  return not ok and e:find('was freed', 1, true) ~= nil end";

static void test_scopes(void **state)
{
    lua_State *L = open_host();
    int64_t n = 3;
    la_tensor *mine = la_new("float32", 1, &n);
    run(L, freed);
    run(L, "local la = lunarray; a = la.ones(3)");
    assert_int_equal(la_frame_begin(L), 0);
    run(L, "b = a + 1; view = a[{{1, 2}}]");
    assert_int_equal(la_push(L, mine), 0);
    lua_setglobal(L, "pushed");
    assert_int_equal(la_frame_begin(L), 0);
    run(L, "c = b * 2; lunarray.tidy(function() d = c + 1 end)");
    check(L, "freed(d) and not freed(c)");
    assert_int_equal(la_frame_end(L), 0);
    check(L, "freed(c) and not freed(b)");
    assert_int_equal(lua_getglobal(L, "b"), LUA_TUSERDATA);
    la_tensor *held = la_retain(la_check(L, -1));
    assert_int_equal(la_frame_end(L), 0);
    assert_null(la_test(L, -1));
    lua_settop(L, 0);
    check(L, "freed(b) and freed(view) and freed(pushed) and not freed(a)");
    check(L, "select(2, pcall(function() return b + 1 end)):find('freed at "
          "the end of its frame: la.keep(t) keeps it', 1, true)");
    check(L, "lunarray.tidy(function() return b, view, d end) == b");
    check(L, "not select(2, pcall(function() return d + 1 end)):find('frame', "
          "1, true)");
    assert_float_equal(((float *)la_tensor_data(held))[2], 2, 0);
    assert_int_equal(la_tensor_numel(mine), 3);
    la_release(held);
    la_release(mine);
    assert_int_equal(la_frame_end(L), LA_ESTATE);
    assert_int_equal(la_error_code(), LA_ESTATE);
    assert_memory_equal(la_error_text(), "la_frame_end: ", 14);
    assert_int_equal(la_frame_begin(L), 0);
    assert_int_equal(la_error_code(), 0);
    assert_string_equal(la_error_text(), "");
    lua_close(L);               /* with an open scope */
}

static void test_kept(void **state)
{
    lua_State *L = open_host();
    run(L, freed);
    assert_int_equal(la_frame_begin(L), 0);
    assert_int_equal(la_frame_begin(L), 0);
    run(L, "local la = lunarray; x = la.ones(2); y = la.ones(2)"
           "t = {la.ones(1), {deep = la.zeros(1)}}");
    lua_getglobal(L, "x");
    lua_getglobal(L, "t");
    lua_pushinteger(L, 5);
    assert_int_equal(la_keep(L, 1), 0);
    assert_int_equal(la_keep(L, -2), 0);
    assert_int_equal(la_keep(L, 3), 0);
    assert_int_equal(lua_gettop(L), 3);
    assert_int_equal(la_keep(L, 9), LA_EARG);
    lua_settop(L, 0);
    assert_int_equal(la_frame_end(L), 0);
    check(L, "freed(y) and not freed(x)");
    lua_getglobal(L, "y");
    assert_int_equal(la_keep(L, 1), LA_ESTATE);
    assert_int_equal(la_error_code(), LA_ESTATE);
    assert_string_equal(la_error_text(), "la_keep: tensor was freed");
    lua_settop(L, 0);
    assert_int_equal(la_frame_end(L), 0);
    check(L, "not freed(x) and not freed(t[1])");
    check(L, "t[2].deep:sum():item() == 0");
    run(L, "x, t = nil; collectgarbage(); collectgarbage()");
    lua_close(L);
}

/* la_frame_end ends scopes of la_frame_begin only, and what a function of the
** host leaves open ends with the la.tidy that called it. */
static int ends(lua_State *L)
{
    lua_pushinteger(L, la_frame_end(L));
    return 1;
}

static int begins(lua_State *L)
{
    la_frame_begin(L);
    la_frame_begin(L);
    return 0;
}

static void test_tidy_and_frames(void **state)
{
    lua_State *L = open_host();
    run(L, freed);
    lua_register(L, "ends", ends);
    lua_register(L, "begins", begins);
    run(L, "status = lunarray.tidy(function() x = lunarray.ones(2)"
           "  local s = ends(); assert(not freed(x)) return s end)"
           "assert(freed(x) and status ~= 0)");
    run(L, "y = lunarray.tidy(function() x = lunarray.ones(2); begins()"
           "  y = lunarray.ones(2); return y end)");
    check(L, "freed(x) and not freed(y)");
    assert_int_equal(la_frame_end(L), LA_ESTATE);
    lua_close(L);
}

/* A function of the host that ends the scope of the operation it is called by:
** what that works on is gone, and it says so. */
static void test_ended_inside(void **state)
{
    static const char *const calls[] = {
        "x:apply_(function(v) ends() return v end)",
        "x:map_(x, function(v) ends() return v end)",
        ("la.from_function({2, 2}, function(i) if i == 2 then ends() end"
         "  return i / 2 end)")
    };
    lua_State *L = open_host();
    lua_register(L, "ends", ends);
    run(L, "la = lunarray; x = la.ones(3)");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(la_frame_begin(L), 0);
        if (!luaL_dostring(L, calls[i])
            || !strstr(lua_tostring(L, -1), "tensor was freed"))
            fail_msg("%s: %s", calls[i], luaL_tolstring(L, -1, NULL));
        assert_int_equal(la_error_code(), LA_ESTATE);
        lua_settop(L, 0);
        assert_int_equal(la_frame_end(L), LA_ESTATE);
    }
    check(L, "x:sum():item() == 3");
    lua_close(L);
}

static void test_errors(void **state)
{
    lua_State *L = luaL_newstate();
    assert_int_equal(la_frame_begin(NULL), LA_EARG);
    assert_int_equal(la_frame_end(NULL), LA_EARG);
    assert_int_equal(la_keep(NULL, 1), LA_EARG);
    assert_int_equal(la_set_collector(NULL, LA_COLLECT_AUTO, 0), LA_EARG);
    assert_int_equal(la_frame_begin(L), LA_ESTATE);
    assert_int_equal(la_set_collector(L, LA_COLLECT_OFF, 0), LA_ESTATE);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(la_set_collector(L, 7, 0), LA_EARG);
    assert_memory_equal(la_error_text(), "la_set_collector: ", 18);
    assert_int_equal(la_set_collector(L, LA_COLLECT_OFF, 0), 0);
    lua_close(L);
}

/* Fields of a record are parts of it, whenever they were first asked for. */
static void test_records(void **state)
{
    lua_State *L = open_host();
    float data[6] = {1, 2, 3, 4, 5, 6};
    la_record *r = la_wrap_struct(data, 2, 12, "pos:f32x3", 0, NULL, NULL);
    assert_non_null(r);
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    assert_int_equal(la_frame_begin(L), 0);
    run(L, "pos = p.pos; p.pos = p.pos * 2");
    lua_getglobal(L, "p");
    assert_int_equal(la_keep(L, -1), 0);
    lua_settop(L, 0);
    assert_int_equal(la_frame_end(L), 0);
    check(L, "rawequal(pos, p.pos) and pos:sum():item() == 42");
    la_record_release(r);
    lua_close(L);
}

/* ---- the collector ---- */

/* How often a full collection, or whatever ends a cycle, has been seen. */
static const char watch[] =
    "count = 0; function watch() setmetatable({}, {__gc = function()"
    "  count = count + 1; watch() end}) end; collectgarbage(); watch()";

static const char litter[] =
    "for i = 1, 20000 do local x = lunarray.zeros(8) end";

static void test_policies(void **state)
{
    lua_State *L = open_host();
    run(L, watch);
    lua_gc(L, LUA_GCINC, 1000, 1, 0);           /* Lua itself rests */
    run(L, litter);
    check(L, "count > 2");
    assert_int_equal(la_set_collector(L, LA_COLLECT_OFF, 0), 0);
    run(L, "collectgarbage(); count = 0");
    run(L, litter);
    check(L, "count <= 1");
    assert_int_equal(la_frame_begin(L), 0);
    assert_int_equal(la_frame_end(L), 0);
    check(L, "count <= 1");
    assert_int_equal(la_set_collector(L, LA_COLLECT_FRAME, 1 << 20), 0);
    run(L, litter);
    check(L, "count <= 1");
    for (int i = 0; i < 200; i++) {
        assert_int_equal(la_frame_begin(L), 0);
        assert_int_equal(la_frame_end(L), 0);
    }
    check(L, "count > 1");
    assert_int_equal(la_set_collector(L, LA_COLLECT_FRAME, SIZE_MAX), 0);
    run(L, "collectgarbage(); count = 0");
    run(L, litter);
    check(L, "count <= 1");
    assert_int_equal(la_frame_begin(L), 0);
    assert_int_equal(la_frame_end(L), 0);       /* a whole cycle */
    check(L, "count > 0");
    assert_int_equal(la_set_collector(L, LA_COLLECT_AUTO, 0), 0);
    run(L, "count = 0");
    run(L, litter);
    check(L, "count > 1");
    lua_close(L);
}

/* Dead tensors hold what is asked for: AUTO collects them, OFF refuses. */
static void test_at_the_cap(void **state)
{
    lua_State *L = open_host();
    la_set_memory_limit((size_t)64 << 20);
    run(L, "collectgarbage()");
    lua_gc(L, LUA_GCINC, 1000, 1, 0);
    run(L, "function fill() for i = 1, 40 do local x = lunarray.zeros(500000)"
           " end end");
    assert_int_equal(la_set_collector(L, LA_COLLECT_OFF, 0), 0);
    assert_int_not_equal(luaL_dostring(L, "fill()"), 0);
    assert_int_equal(la_error_code(), LA_ENOMEM);
    lua_settop(L, 0);
    assert_int_equal(la_set_collector(L, LA_COLLECT_FRAME, 4096), 0);
    assert_int_not_equal(luaL_dostring(L, "fill()"), 0);
    lua_settop(L, 0);
    assert_int_equal(la_set_collector(L, LA_COLLECT_AUTO, 0), 0);
    run(L, "fill()");
    la_set_memory_limit(0);
    lua_close(L);
}

/* Under AUTO whatever makes a tensor tries once more after a collection. */
static void test_makers_at_the_cap(void **state)
{
    static const char *const makers[] = {
        "la.zeros(N)", "la.from_raw(('x'):rep(4 * N), 'float32', {N})",
        "la.tensor(list)", "la.from_function({N}, function() return 1.5 end)",
        "(function() local s = la.snapshot{big}; big[1] = 2 end)()",
        ("(function() local s = la.snapshot{big}; big:add_(1)"
         "  local t = la.snapshot{big}; s:restore() t:restore() end)()"),
        "p:get('x')", "la.snapshot(p)", "p:set('y', 3)"
    };
    enum { N = 200000 };
    static char structs[N][10];
    lua_State *L = open_host();
    la_record *r = la_wrap_struct(structs, N, 10, "x:f32@1 y:f32@5", 0, NULL,
                                  NULL);
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "la, N = lunarray, 200000; list = {} big = la.ones(N)"
           "for i = 1, N do list[i] = 0.5 end");
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        lua_gc(L, LUA_GCRESTART);
        lua_gc(L, LUA_GCCOLLECT);
        lua_gc(L, LUA_GCCOLLECT);
        lua_gc(L, LUA_GCSTOP);
        run(L, "dead = {} for i = 1, 6 do dead[i] = la.zeros(N) end");
        la_memory m = {.size = sizeof m};
        assert_int_equal(la_memory_stat(NULL, &m), 0);
        la_set_memory_limit(m.now + 300000);
        run(L, "dead = nil");
        lua_pushfstring(L, "local made = %s", makers[i]);
        run(L, lua_tostring(L, -1));
        la_set_memory_limit(0);
        lua_settop(L, 0);
    }
    la_record_release(r);
    lua_close(L);
}

static void *get(void *context, size_t bytes, size_t alignment)
{
    ++*(long *)context;
    return aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
}

static void put(void *context, void *block, size_t bytes)
{
    --*(long *)context;
    free(block);
}

/* What a call allocates or frees on account of a state or a tensor is of their
** runtime, whatever the thread is in: frames, DLPack's structs. */
static void test_runtimes(void **state)
{
    long blocks[2] = {0, 0};
    la_runtime *rt[2];
    for (int k = 0; k < 2; k++) {
        la_config c = {.size = sizeof c, .alloc = get, .release = put,
                       .alloc_context = &blocks[k]};
        rt[k] = la_runtime_new(&c);
        assert_non_null(rt[k]);
    }
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs_in(L, rt[0]), 0);
    la_use(rt[0]);
    la_tensor *t = la_new("float32", 1, (int64_t[]){3});
    la_use(rt[1]);
    for (int i = 0; i < 20; i++) assert_int_equal(la_frame_begin(L), 0);
    run(L, "for i = 1, 70000 do local x = lunarray.ones(2) end");
    for (int i = 0; i < 20; i++) assert_int_equal(la_frame_end(L), 0);
    struct DLManagedTensor *m = la_to_dlpack(t);
    assert_non_null(m);
    la_release(la_from_dlpack(m));
    la_release(t);
    lua_close(L);
    la_use(NULL);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(la_runtime_destroy(rt[k]), 0);
        assert_int_equal(blocks[k], 0);
    }
}

/* Finalizers that run while the state is closed see freed tensors. */
static void test_close_in_a_scope(void **state)
{
    lua_State *L = open_host();
    run(L, freed);
    assert_int_equal(la_frame_begin(L), 0);
    run(L, "x = lunarray.ones(1000); k = lunarray.keep(lunarray.ones(1000))"
           "guard = setmetatable({x = x, k = k}, {__gc = function(o)"
           "  pcall(function() return o.x + 1 end)"
           "  pcall(function() return o.k + 1 end) end})");
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_tidy_and_frames),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_ended_inside),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_at_the_cap),
        cmocka_unit_test(test_makers_at_the_cap),
        cmocka_unit_test(test_runtimes),
        cmocka_unit_test(test_close_in_a_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
