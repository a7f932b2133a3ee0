/*
** One set of weights for many states: la_read_only, la_push_program, and
** handles that are opened many times.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

#include "lunarray.h"

enum { STATES = 64, WIDE = 1024 };

static size_t memory_now(void)
{
    la_memory m = {.size = sizeof m};
    assert_int_equal(0, la_memory_stat(NULL, &m));
    return m.now;
}

static void run(lua_State *L, const char *text)
{
    if (luaL_dostring(L, text)) fail_msg("%s", la_error_of(L, -1));
}

static void run_fails(lua_State *L, const char *text, int code,
                      const char *part)
{
    assert_int_not_equal(0, luaL_dostring(L, text));
    assert_non_null(strstr(la_error_of(L, -1), part));
    assert_int_equal(code, la_error_code());
    lua_pop(L, 1);
}

/* The program of a product with W, a global of the state. */
static la_program *program_of(lua_State *L)
{
    run(L, "local W = W\n"
        "f = lunarray.compile(function(x) return x:matmul(W):tanh() end)\n"
        "f(lunarray.ones(1, W:size(1)))");
    lua_getglobal(L, "f");
    la_program *p = la_program_of(L, -1);
    if (!p) fail_msg("%s", la_error_text());
    lua_pop(L, 1);
    return p;
}

static lua_State *sandbox(la_tensor *weights, la_program *program)
{
    la_limits limits = {.size = sizeof limits, .memory = 4 << 20};
    lua_State *L = la_new_sandbox(&limits);
    assert_non_null(L);
    assert_int_equal(0, la_push(L, weights));
    lua_setglobal(L, "weights");
    assert_int_equal(0, la_push_program(L, program));
    lua_setglobal(L, "model");
    return L;
}

/* 64 states with a model of 4 MB cost a few hundred kilobytes of tensors, and
** none of them can change it. */
static void test_states(void **state)
{
    const int64_t sizes[] = {WIDE, WIDE};
    lua_State *all[STATES], *owner = la_new_state(NULL);
    la_tensor *w = la_new("float32", 2, sizes);
    ((float *)la_tensor_data(w))[1] = 0.5f;
    assert_int_equal(0, la_push(owner, w));
    lua_setglobal(owner, "W");
    la_program *p = program_of(owner);
    la_tensor *weights = la_read_only(w);
    assert_non_null(weights);
    size_t before = memory_now();
    int64_t bytes = 0;
    for (int i = 0; i < STATES; i++) {
        all[i] = sandbox(weights, p);
        run(all[i], "assert(weights[{1, 2}]:item() == 0.5)\n"
            "local x = lunarray.ones(1, 1024)\n"
            "y = model(x)\n"
            "assert(y:equal(x:matmul(weights):tanh()))");
        la_token *k = la_token_of(all[i]);
        bytes += (int64_t)la_token_memory(k);
        la_token_release(k);
    }
    size_t grown = memory_now() - before;
    print_message("%d states: %zu KB of tensors, %lld KB charged\n", STATES,
                  grown >> 10, (long long)bytes >> 10);
    assert_true(grown < (4 << 20));
    assert_true(bytes < (int64_t)STATES * (512 << 10));
    run_fails(all[7], "weights:add_(1)", LA_ESTATE, "read-only");
    run_fails(all[7], "weights[1]:zero_()", LA_ESTATE, "read-only");
    run_fails(all[7], "weights.data:fill_(2)", LA_ESTATE, "read-only");
    run_fails(all[7], "lunarray.add(1, 1, {out = weights})", LA_ESTATE,
              "read-only");
    run_fails(all[7], "for _, v in pairs(model:weights()) do v:zero_() end",
              LA_ESTATE, "read-only");
    /* What the owner writes all see; the memory stays without its makers. */
    ((float *)la_tensor_data(w))[1] = 0.25f;
    assert_int_equal(0, la_mark_written(w));
    assert_null(la_call(NULL, "resize_", w, 5000000));
    assert_int_equal(LA_ESTATE, la_error_code());
    la_release(w);
    la_release(weights);
    la_program_release(p);
    la_close_state(owner);
    for (int i = 0; i < STATES; i++) {
        run(all[i], "assert(weights[{1, 2}]:item() == 0.25)\n"
            "local x = lunarray.ones(1, 1024)\n"
            "assert(model(x):equal(x:matmul(weights):tanh()))");
        la_close_state(all[i]);
    }
}

static void test_refused(void **state)
{
    const int64_t n = 3;
    lua_State *L = luaL_newstate();
    la_tensor *t = la_new("float32", 1, &n);
    assert_null(la_read_only(NULL));
    assert_int_equal(LA_EARG, la_error_code());
    la_set_requires_grad(t, true);
    assert_null(la_read_only(t));
    assert_int_equal(LA_EGRAD, la_error_code());
    assert_int_equal(LA_ESTATE, la_push_program(NULL, NULL));
    assert_int_equal(LA_ESTATE, la_push_program(L, NULL));
    assert_int_equal(0, la_openlibs(L));
    assert_int_equal(LA_EARG, la_push_program(L, NULL));
    assert_int_equal(0, lua_gettop(L));
    la_release(t);
    lua_close(L);
}

/* A tensor of another runtime cannot be pushed, nor can its program. */
static void test_runtimes(void **state)
{
    la_config config = {.size = sizeof config};
    la_runtime *rt = la_runtime_new(&config);
    lua_State *L = la_new_state(rt), *other = la_new_state(NULL);
    run(L, "W = lunarray.ones(2, 2)");
    la_program *p = program_of(L);
    assert_int_equal(LA_EARG, la_push_program(other, p));
    assert_non_null(strstr(la_error_text(), "another runtime"));
    lua_getglobal(L, "W");
    la_tensor *w = la_read_only(la_test(L, -1));
    assert_ptr_equal(rt, la_runtime_of(w));
    assert_int_equal(LA_EARG, la_push(other, w));
    la_program_release(p);
    la_close_state(L);
    la_close_state(other);
    assert_int_equal(LA_ESTATE, la_runtime_destroy(rt));
    la_release(w);
    assert_int_equal(0, la_runtime_destroy(rt));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
