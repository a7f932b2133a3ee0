/* The C interface: sharing memory, calls, operations and devices from outside,
** bad arguments. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>


static int released;

static void on_release(void *context, void *data)
{
    (void)data;
    ++*(int *)context;
}

static lua_State *open_lua(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    return L;
}

static void run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code)) fail_msg("%s", lua_tostring(L, -1));
}

static void test_wrap_shares_memory(void **state)
{
    float mine[6] = {1, 2, 3, 4, 5, 6};
    int64_t sizes[2] = {2, 3};
    (void)state;
    released = 0;
    lua_State *L = open_lua();
    la_tensor *t = la_wrap(mine, "float32", 2, sizes, NULL, on_release,
                           &released);
    assert_non_null(t);
    assert_ptr_equal(la_data(t), mine);
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "x");
    run(L, "x:mul_(2); y = x:sum():item()");
    lua_getglobal(L, "y");
    assert_true(lua_tonumber(L, -1) == 42);
    assert_true(mine[5] == 12);
    la_release(t);
    assert_int_equal(released, 0);      /* Lua still holds it */
    lua_close(L);
    assert_int_equal(released, 1);
}

static void test_wrap_failure_releases_once(void **state)
{
    float mine[4];
    int64_t sizes[2] = {2, 2}, bad[2] = {-1, 2};
    (void)state;
    released = 0;
    assert_null(la_wrap(mine, "float33", 2, sizes, NULL, on_release,
                        &released));
    assert_int_equal(released, 1);
    assert_null(la_wrap(mine, "float32", 2, bad, NULL, on_release, &released));
    assert_int_equal(released, 2);
    assert_null(la_wrap(mine, "float32", 1000, sizes, NULL, on_release,
                        &released));
    assert_int_equal(released, 3);
    assert_true(strlen(la_error_text()) > 0);
}

static void test_load(void **state)
{
    char path[] = "/tmp/lunarray-XXXXXX.safetensors";
    int file = mkstemps(path, 12);
    assert_true(file >= 0);
    close(file);
    (void)state;
    lua_State *L = open_lua();
    lua_pushstring(L, path);
    lua_setglobal(L, "path");
    assert_int_equal(luaL_dostring(L, "local la = require 'lunarray' "
        "la.save({a = {b = la.range(3)}, c = la.ones(2)}, path)"), LUA_OK);
    la_tensor *t = la_load(path, "a.b");
    assert_non_null(t);
    assert_string_equal(la_dtype_of(t), "int64");
    assert_int_equal(((int64_t *)la_data(t))[2], 3);
    la_release(t);
    assert_null(la_load(path, "a"));
    assert_non_null(strstr(la_error_text(), "no tensor named 'a'"));
    assert_null(la_load(path, NULL));
    assert_null(la_load("weights.bin", "a"));
    assert_null(la_load(NULL, NULL));
    remove(path);
    assert_null(la_load(path, "a.b"));
    lua_close(L);
}

static void test_calls(void **state)
{
    int64_t sizes[2] = {2, 3};
    (void)state;
    lua_State *L = open_lua();
    la_tensor *a = la_new("float64", 2, sizes);
    la_tensor *b = la_call(L, "add", a, 1.5);
    assert_non_null(b);
    assert_true(((double *)la_data(b))[5] == 1.5);
    la_tensor *c = la_call(NULL, "sum", b, 1);
    assert_non_null(c);
    assert_int_equal(la_ndim(c), 1);
    assert_int_equal(la_sizes(c)[0], 3);
    assert_true(((double *)la_data(c))[0] == 3);
    la_tensor *d = la_call(L, "add_", a, b);
    assert_ptr_equal(d, a);
    assert_true(((double *)la_data(a))[0] == 1.5);
    la_tensor *e = la_call(L, "add", a, b, la_any_named("alpha",
                                                        la_any_int(2)));
    assert_true(((double *)la_data(e))[0] == 4.5);
    la_release(a);
    la_release(b);
    la_release(c);
    la_release(d);
    la_release(e);
    lua_close(L);
}

static void test_bad_calls(void **state)
{
    int64_t sizes[1] = {2};
    (void)state;
    lua_State *L = open_lua();
    la_tensor *a = la_new("float32", 1, sizes);
    assert_null(la_call(L, "no_such_operation", a));
    assert_null(la_call(L, "sum", a, 0));       /* dims count from 1 */
    assert_null(la_call(L, "sum", a, 7));
    assert_null(la_call(L, "sum", (la_tensor *)NULL));
    assert_null(la_call_list(L, NULL, 0, NULL, NULL));
    assert_null(la_test(L, 1));
    assert_int_not_equal(la_push(NULL, a), 0);
    assert_int_not_equal(la_push(L, NULL), 0);
    la_release(a);
    la_release(NULL);
    lua_close(L);
}

/* Values of a kind that the parameter does not take are refused. */
static void test_bad_arguments(void **state)
{
    int64_t sizes[1] = {2};
    (void)state;
    la_tensor *a = la_new("float32", 1, sizes), *holes[2] = {a, NULL};
    assert_null(la_call(NULL, "neg", "a word"));
    assert_null(la_call(NULL, "neg", (const char *)NULL));
    assert_null(la_call(NULL, "add_", 3, 4));
    assert_null(la_call(NULL, "select", a, "x", "y"));
    assert_null(la_call(NULL, "cat", la_any_tensors(NULL, 3)));
    assert_null(la_call(NULL, "cat", la_any_tensors(holes, 2)));
    assert_null(la_call(NULL, "cat", la_any_tensors(holes, -1)));
    assert_null(la_call(NULL, "reshape", a, la_any_ints(NULL, 3)));
    assert_null(la_call(NULL, "astype", a, 5));
    assert_null(la_call_list(NULL, "add", 0, NULL, NULL));
    la_release(a);
}

/* ---- an operation from outside ---- */

static int shape_twice(la_frame *f)
{
    la_tensor *t = la_frame_tensor(f, 0);
    return la_frame_output(f, 0, la_dtype_of(t), la_ndim(t), la_sizes(t));
}

static int fill_twice(la_frame *f)
{
    la_tensor *t = la_frame_tensor(f, 0);
    la_tensor *contiguous = la_call(NULL, "contiguous", t);
    const float *from = la_data(contiguous);
    float *to = la_data(la_frame_result(f, 0));
    for (int64_t i = 0; i < la_numel(t); i++)
        to[i] = (float)(from[i] * la_frame_number(f, 1));
    la_release(contiguous);
    return 0;
}

static void test_registered_operation(void **state)
{
    (void)state;
    assert_int_equal(la_register_op(
        "scaled_for_test(Tensor self, Scalar by=2) -> Tensor",
        "self times a number.", shape_twice, fill_twice), 0);
    assert_int_not_equal(la_register_op("broken(Tensr self) -> Tensor", "",
                                        shape_twice, fill_twice), 0);
    assert_int_not_equal(la_register_op("add(Tensor self) -> Tensor", "",
                                        shape_twice, fill_twice), 0);
    lua_State *L = open_lua();
    run(L, "local la = require 'lunarray'\n"
           "local x = la.tensor{1., 2., 3.}\n"
           "assert(x:scaled_for_test() == la.tensor{2., 4., 6.})\n"
           "assert(la.scaled_for_test(x, 3) == la.tensor{3., 6., 9.})\n"
           "assert(not pcall(x.scaled_for_test, x, 'a'))\n");
    lua_close(L);
}

/* ---- a device that counts its calls ---- */

static int counted;

static int counting_empty(la_frame *f)
{
    int64_t sizes[1] = {4};
    counted++;
    return la_frame_output(f, 0, "float32", 1, sizes);
}

static int counting_add(la_frame *f)
{
    la_tensor *t = la_frame_tensor(f, 0);
    counted++;
    return la_frame_output(f, 0, la_dtype_of(t), la_ndim(t), la_sizes(t));
}

static void test_counting_device(void **state)
{
    (void)state;
    int device = la_register_device("counter");
    assert_true(device > 1);
    assert_int_equal(la_register_kernel("empty", device, counting_empty), 0);
    assert_int_equal(la_register_kernel("add", device, counting_add), 0);
    assert_int_not_equal(la_register_kernel("nothing", device, counting_add),
                         0);
    assert_int_not_equal(la_register_kernel("add", 99, counting_add), 0);
    lua_State *L = open_lua();
    counted = 0;
    run(L, "local la = require 'lunarray'\n"
           "local x = la.empty(4, {device = 'counter'})\n"
           "assert(x.device == 'counter')\n"
           "local y = x + x\n"
           "assert(y.device == 'counter')\n"
           "local ok, why = pcall(function() return x * x end)\n"
           "assert(not ok and why:find('counter', 1, true), why)\n"
           "assert((la.tensor{1.} + 1):item() == 2)\n");
    assert_int_equal(counted, 2);
    lua_close(L);
}

static void test_two_states(void **state)
{
    (void)state;
    lua_State *A = open_lua(), *B = open_lua();
    run(A, "la = require 'lunarray'; la.set_default_dtype('float64')");
    run(B, "la = require 'lunarray'; assert(la.tensor{1.}.dtype == 'float32')");
    run(A, "assert(la.tensor{1.}.dtype == 'float64')");
    lua_close(A);
    run(B, "assert((la.tensor{1.} + 1):item() == 2)");
    lua_close(B);
}

/* Two threads, each with a tensor of its own on the same memory: counters of
** root and storage are shared. Released too often, the memory is gone; too
** rarely, on_release never comes. */
static void *make_views(void *own)
{
    for (int k = 0; k < 30000; k++) {
        la_tensor *a = la_call(NULL, "select", (la_tensor *)own, 1, 1);
        la_tensor *b = la_call(NULL, "view", (la_tensor *)own, 6);
        la_release(a);
        la_release(b);
    }
    return NULL;
}

static void test_views_on_two_threads(void **state)
{
    float mine[6] = {1, 2, 3, 4, 5, 6};
    int64_t sizes[2] = {2, 3};
    pthread_t thread;
    (void)state;
    released = 0;
    la_tensor *t = la_wrap(mine, "float32", 2, sizes, NULL, on_release,
                           &released);
    la_tensor *mine_too = la_call(NULL, "view", t, 3, 2);
    assert_int_equal(pthread_create(&thread, NULL, make_views, mine_too), 0);
    make_views(t);
    pthread_join(thread, NULL);
    assert_int_equal(released, 0);
    la_release(t);
    assert_int_equal(released, 0);
    assert_true(((float *)la_data(mine_too))[5] == 6);
    la_release(mine_too);
    assert_int_equal(released, 1);
}

static bool out_of_memory;

static void *scarce(void *ud, void *block, size_t before, size_t size)
{
    (void)ud;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (out_of_memory && (!block || size > before)) return NULL;
    return realloc(block, size);
}

/* A state that was never opened, without memory to open it in. */
static void test_unopened_without_memory(void **state)
{
    int64_t sizes[1] = {1};
    (void)state;
    lua_State *L = lua_newstate(scarce, NULL);
    la_tensor *t = la_new("float32", 1, sizes);
    assert_non_null(t);
    out_of_memory = true;
    assert_null(la_test(L, 1));
    la_tensor *r = la_call(L, "add", t, 1);
    assert_non_null(r);
    assert_int_not_equal(la_push(L, t), 0);
    assert_int_not_equal(la_openlibs(L), 0);
    out_of_memory = false;
    assert_int_equal(la_push(L, t), LA_ESTATE);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(la_push(L, t), 0);
    assert_ptr_equal(la_test(L, -1), t);
    la_release(r);
    la_release(t);
    lua_close(L);
}

/* The host's texts may be gone as soon as they are registered. */
static void test_texts_are_copied(void **state)
{
    char schema[64], device[16];
    la_tensor *t;
    int64_t sizes[1] = {1};
    (void)state;
    for (int k = 0; k < 2; k++) {
        snprintf(schema, sizeof(schema), "copied%d(Tensor self) -> Tensor", k);
        assert_int_equal(la_register_op(schema, "A copied row.", shape_twice,
                                        fill_twice), 0);
    }
    strcpy(device, "passing");
    int first = la_register_device(device);
    assert_true(first > 1);
    strcpy(device, "other");
    assert_int_equal(la_register_device("passing"), -1);
    assert_int_equal(la_register_device(""), -1);
    memset(schema, 'x', sizeof(schema) - 1);
    t = la_new("float32", 1, sizes);
    for (int k = 0; k < 2; k++) {
        la_tensor *r = la_call(NULL, k ? "copied1" : "copied0", t);
        assert_non_null(r);
        la_release(r);
    }
    la_release(t);
}

static int odd_results(la_frame *f)
{
    int64_t sizes[1] = {1};
    assert_null(la_frame_result(f, -1));
    assert_null(la_frame_result(f, 7));
    assert_null(la_frame_result(f, 0));
    return la_frame_output(f, 0, "float32", 1, sizes);
}

static void test_frame_result_is_bounded(void **state)
{
    int64_t sizes[1] = {1};
    (void)state;
    assert_int_equal(la_register_op("odd_results(Tensor self) -> Tensor", "-",
                                    odd_results, NULL), 0);
    la_tensor *t = la_new("float32", 1, sizes);
    la_tensor *r = la_call(NULL, "odd_results", t);
    assert_non_null(r);
    la_release(r);
    la_release(t);
}

static void test_bad_schemas(void **state)
{
    static const char *const bad[] = {
        "twice(Tensor self, int n, int n) -> Tensor",
        "1st(Tensor self) -> Tensor",
        "digit(Tensor self, int 2nd) -> Tensor",
        "kinds(Tensor self, int n='text') -> Tensor",
        "kinds(Tensor self, str s=1) -> Tensor",
    };
    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        assert_int_not_equal(la_register_op(bad[k], "-", shape_twice,
                                            fill_twice), 0);
}

/* In place the first argument is a tensor, whatever the overload says. */
static void test_inplace_on_no_tensor(void **state)
{
    int64_t sizes[1] = {2};
    (void)state;
    la_tensor *t = la_new("float32", 1, sizes);
    assert_null(la_call(NULL, "polygamma_", (int64_t)0x41414141, t));
    assert_null(la_call(NULL, "polygamma_", 1, t));
    assert_null(la_call(NULL, "add_", 0x41414141, t));
    la_release(t);
}

/* Opening a state fails at one allocation after another; the next attempt, with
** memory, gives the whole library. */
static long allocations;        /* left until memory is short; < 0: never */

static void *counting(void *ud, void *block, size_t before, size_t size)
{
    (void)ud;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if ((!block || size > before) && allocations >= 0 && allocations-- == 0) {
        allocations = 0;
        return NULL;
    }
    return realloc(block, size);
}

/* A thread with a state of its own opens what another state shared. */
static void *open_handle(void *context)
{
    lua_State *L = open_lua();
    lua_pushstring(L, context);
    lua_setglobal(L, "handle");
    run(L, "local y = lunarray.open(handle) y:add_(1) "
           "assert(y:sum():item() == 1002000)");
    lua_close(L);
    return NULL;
}

static void test_share_between_states(void **state)
{
    (void)state;
    lua_State *L = open_lua();
    pthread_t thread;
    run(L, "x = lunarray.full({1000}, 1001) return x:share()");
    assert_int_equal(pthread_create(&thread, NULL, open_handle,
                                    (void *)lua_tostring(L, -1)), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    run(L, "assert(x[1000]:item() == 1002) x:free()");
    lua_close(L);
}

static void test_opened_again(void **state)
{
    (void)state;
    bool opened = false;
    for (long at = 0; !opened; at = at < 40 ? at + 1 : at + at / 7) {
        allocations = -1;
        lua_State *L = lua_newstate(counting, NULL);
        luaL_openlibs(L);
        allocations = at;
        opened = la_openlibs(L) == 0;
        allocations = -1;
        if (!opened) assert_int_equal(la_openlibs(L), 0);
        run(L, "local la = require 'lunarray'\n"
               "assert((la.tensor{1., 2.} + 1):sum():item() == 5)\n"
               "assert(la.newaxis and la.zeros(2, 3).T.shape[1] == 3)");
        lua_close(L);
    }
}

/* la_error_of tells of the value, whatever failed before. */
static void is_reported(lua_State *L, const char *script, int code,
                    const char *text)
{
    assert_null(la_load("/", NULL));        /* an older failure */
    if (luaL_dostring(L, script) == LUA_OK) fail_msg("%s: no error", script);
    const char *report = la_error_of(L, -1);
    if (!strstr(report, text)) fail_msg("%s: %s", script, report);
    assert_int_equal(la_error_code(), code);
    assert_int_equal(lua_gettop(L), 1);
    lua_settop(L, 0);
}

static void test_error_of(void **state)
{
    lua_State *L = open_lua();
    (void)state;
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'"), LUA_OK);
    is_reported(L, "error('own')", LA_ELUA, ":1: own");
    is_reported(L, "error({})", LA_ELUA, "table");
    is_reported(L, "error()", LA_ELUA, "nil");
    is_reported(L, "error(setmetatable({}, {__tostring = function() return"
                " 'mine' end}))", LA_ELUA, "mine");
    is_reported(L, "error(setmetatable({}, {__tostring = error}))", LA_ELUA,
            "table");
    is_reported(L, "return 1 .. {}", LA_ELUA, "concatenate");
    is_reported(L, "return la.ones(2) + la.ones(3)", LA_ESHAPE, ":1: ");
    is_reported(L, "la.ones(2):sum('x')", LA_EARG, "bad argument #2 to 'sum'");
    is_reported(L, "la.finfo('float33')", LA_EARG, "finfo");
    is_reported(L, "local ok, e = pcall(la.sum) pcall(la.ones, 'x') error(e,"
                " 0)", LA_ELUA, "'sum'");
    is_reported(L, "local t = {} error(t.x.y)", LA_ELUA, "attempt to index");
    is_reported(L, "local function f() return f() + 1 end f()", LA_ELUA,
            "stack overflow");
    is_reported(L, "la.zeros(1 << 44)", LA_ENOMEM, "not enough memory");
    assert_non_null(la_error_of(NULL, 1));
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap_shares_memory),
        cmocka_unit_test(test_wrap_failure_releases_once),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_registered_operation),
        cmocka_unit_test(test_counting_device),
        cmocka_unit_test(test_two_states),
        cmocka_unit_test(test_views_on_two_threads),
        cmocka_unit_test(test_texts_are_copied),
        cmocka_unit_test(test_frame_result_is_bounded),
        cmocka_unit_test(test_bad_schemas),
        cmocka_unit_test(test_inplace_on_no_tensor),
        cmocka_unit_test(test_unopened_without_memory),
        cmocka_unit_test(test_share_between_states),
        cmocka_unit_test(test_opened_again),
        cmocka_unit_test(test_error_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
