/*
** Graphs: millions of nodes on a small stack, no memory needed to give them
** back, interrupts, graphs that outlive their Lua state or cross to another.
*/
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "grad/grad.h"
#include "lunarray.h"
#include "op/call.h"

/* From lunarray.h, whose short names are other functions inside. */
int la_openlibs(lua_State *L);
int la_push(lua_State *L, la_tensor *t);
la_tensor *la_test(lua_State *L, int arg);

enum {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    MANY = 200000, SOME = 20000     /* their shadow takes much more memory */
#else
    MANY = 10000000, SOME = 1000000
#endif
};

/* ---- a thread with 64 KB of stack ---- */

#if defined(__SANITIZE_THREAD__)
#define STACK (4 << 20)     /* the sanitizer itself asks for a megabyte */
#else
#define STACK (64 * 1024)
#endif
static char stack_of_thread[STACK] __attribute__((aligned(4096)));

static void on_small_stack(void *(*fn)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t a;
    pthread_attr_init(&a);
    assert_int_equal(pthread_attr_setstack(&a, stack_of_thread, STACK), 0);
    assert_int_equal(pthread_create(&thread, &a, fn, argument), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&a);
}

/* ---- releasing ---- */

static const la_node_class plain = {"Plain", NULL, NULL, NULL, NULL};

static la_node *node_before(la_node *a, la_node *b)
{
    la_node *n = NULL;
    assert_int_equal(la_node_new(&plain, 2, 1, 0, &n), LA_OK);
    n->edges[0].node = a;
    n->edges[1].node = b;
    return n;
}

static la_node *chain(int count)
{
    la_node *n = NULL;
    for (int i = 0; i < count; i++) n = node_before(n, NULL);
    return n;
}

/* A spine whose every node has a tooth. */
static la_node *comb(int count)
{
    la_node *n = NULL;
    for (int i = 0; i < count; i += 2) n = node_before(node_before(NULL, NULL),
        n);
    return n;
}

/* Both edges go to the same node, again and again: 2^n ways down. */
static la_node *ladder(int count)
{
    la_node *n = node_before(NULL, NULL);
    for (int i = 1; i < count; i++) n = node_before(n, la_node_retain(n));
    return n;
}

static void *release(void *n)
{
    la_node_release(n);
    return NULL;
}

static void long_graphs_are_freed_on_a_small_stack(void **state)
{
    la_node *(*const shapes[])(int) = {chain, comb, ladder};
    size_t used = la_mem_stat().used;
    for (int k = 0; k < 3; k++) {
        la_node *n = shapes[k](MANY);
        uint64_t allocations = la_mem_stat().allocations;
        on_small_stack(release, n);
        assert_int_equal(la_mem_stat().allocations, allocations);
        assert_int_equal(la_mem_stat().used, used);
    }
}

/* Nodes that own tensors that own nodes: releasing goes back and forth. */
static void chains_through_saved_values_are_freed(void **state)
{
    size_t used = la_mem_stat().used;
    la_tensor *x = NULL, *y = NULL, *next = NULL;
    assert_int_equal(la_run(ones, &x, la_v_ints(NULL, 0),
                            la_v_dtype(LA_FLOAT32)), 0);
    assert_int_equal(la_require_grad(x, true), LA_OK);
    y = la_tensor_retain(x);
    for (int i = 0; i < SOME; i++) {
        assert_int_equal(la_run(mul, &next, y, y), LA_OK);
        la_tensor_release(y);
        y = next;
    }
    la_node *fn = la_node_retain(y->grad->fn);
    la_tensor_release(y);
    uint64_t allocations = la_mem_stat().allocations;
    on_small_stack(release, fn);
    assert_int_equal(la_mem_stat().allocations, allocations);
    la_tensor_release(x);
    assert_int_equal(la_mem_stat().used, used);
}

/* ---- running ---- */

typedef struct job {
    la_tensor *root;
    la_status status;
} job;

static void *run_backward(void *argument)
{
    job *j = argument;
    j->status = la_run_backward(1, &j->root, NULL, 0, NULL, NULL,
                            LA_BW_ACCUMULATE);
    return NULL;
}

static la_tensor *long_sum(la_tensor *x, int count)
{
    la_tensor *y = la_tensor_retain(x), *next = NULL;
    for (int i = 0; i < count; i++) {
        assert_int_equal(la_run(add, &next, y, x), LA_OK);
        la_tensor_release(y);
        y = next;
    }
    return y;
}

static void backward_needs_little_stack(void **state)
{
    la_tensor *x = NULL;
    assert_int_equal(la_run(ones, &x, la_v_ints(NULL, 0),
                            la_v_dtype(LA_FLOAT64)), 0);
    assert_int_equal(la_require_grad(x, true), LA_OK);
    job j = {long_sum(x, SOME), LA_OK};
    on_small_stack(run_backward, &j);
    assert_int_equal(j.status, LA_OK);
    assert_true(*(double *)la_data(la_leaf_grad(x)) == SOME + 1);
    la_tensor_release(j.root);
    la_tensor_release(x);
}

static int asked;
static bool stop_soon(void *host) { return ++asked > 100; }

static void backward_can_be_interrupted(void **state)
{
    la_tensor *x = NULL;
    assert_int_equal(la_run(ones, &x, la_v_ints(NULL, 0),
                            la_v_dtype(LA_FLOAT64)), 0);
    assert_int_equal(la_require_grad(x, true), LA_OK);
    job j = {long_sum(x, SOME), LA_OK};
    asked = 0;
    la_set_interrupt(stop_soon, NULL);
    run_backward(&j);
    la_set_interrupt(NULL, NULL);
    assert_int_equal(j.status, LA_EINTR);
    la_tensor_release(j.root);
    j.root = long_sum(x, 3);            /* the engine still works */
    assert_int_equal(la_set_grad(x, NULL), LA_OK);
    run_backward(&j);
    assert_int_equal(j.status, LA_OK);
    assert_true(*(double *)la_data(la_leaf_grad(x)) == 4);
    la_tensor_release(j.root);
    la_tensor_release(x);
}

/* ---- Lua states ---- */

static lua_State *open_lua(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'"), 0);
    return L;
}

/* The tensor that the script returns, owned. */
static la_tensor *result_of(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script)) fail_msg("%s", lua_tostring(L, -1));
    la_tensor *t = la_test(L, -1);
    assert_non_null(t);
    la_tensor_retain(t);
    lua_settop(L, 0);
    return t;
}

static const char *const with_lua[] = {
    "local x = la.ones(2, {requires_grad = true}); local y = x * 2\n"
    "y:register_hook(function(g) return g end); return y:sum()",
    "local x = la.ones(2, {requires_grad = true})\n"
    "x:register_hook(function(g) return g end); return (x * 2):sum()",
    "local f = la.Function{forward = function(c, x) return x * 1 end,\n"
    "  backward = function(c, g) return g end}\n"
    "return f(la.ones(2, {requires_grad = true})):sum()",
};

static void a_graph_may_outlive_its_state(void **state)
{
    for (size_t k = 0; k < sizeof(with_lua) / sizeof(*with_lua); k++) {
        size_t used = la_mem_stat().used;
        lua_State *L = open_lua();
        job j = {result_of(L, with_lua[k]), LA_OK};
        lua_close(L);
        run_backward(&j);
        assert_int_equal(j.status, LA_EGRAD);
        assert_non_null(strstr(la_error_message(), "was closed"));
        la_tensor_release(j.root);
        assert_int_equal(la_mem_stat().used, used);
    }
}

static void a_graph_stays_in_its_state(void **state)
{
    lua_State *a = open_lua(), *b = open_lua();
    la_tensor *y = result_of(a, "w = la.ones(2, {requires_grad = true})\n"
                                "return w * 2");
    la_tensor *w = result_of(a, "return w");
    la_tensor *plain_one = result_of(a, "return (w * 2):detach()");
    assert_int_equal(la_push(a, y), LA_OK);
    assert_int_not_equal(la_push(b, y), LA_OK);
    assert_non_null(strstr(la_error_message(), "another Lua state"));
    assert_int_not_equal(la_push(b, w), LA_OK);
    assert_int_equal(la_push(b, plain_one), LA_OK);
    assert_int_equal(lua_gettop(b), 1);
    la_tensor_release(y);
    la_tensor_release(w);
    la_tensor_release(plain_one);
    lua_close(a);
    lua_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_graphs_are_freed_on_a_small_stack),
        cmocka_unit_test(chains_through_saved_values_are_freed),
        cmocka_unit_test(backward_needs_little_stack),
        cmocka_unit_test(backward_can_be_interrupted),
        cmocka_unit_test(a_graph_may_outlive_its_state),
        cmocka_unit_test(a_graph_stays_in_its_state),
    };
    la_grad_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
