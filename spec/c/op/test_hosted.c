/* Operations that a host registers while states are open: all kinds of
** arguments, withdrawing, and coming back under the same name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lunarray.h"

static atomic_int drops, running;
static atomic_bool wait_inside;
static la_op *withdrawn_inside;
static int status_inside;

static void drop(void *user)
{
    (void)user;
    drops++;
}

static int shape_scale(la_frame *f)
{
    la_tensor *t = la_frame_tensor(f, 0);
    return la_frame_output(f, 0, "float32", la_tensor_ndim(t),
                           la_tensor_sizes(t));
}

static int fill_scale(la_frame *f)
{
    const float *from = la_tensor_data(la_frame_tensor(f, 0));
    la_tensor *out = la_frame_result(f, 0);
    running++;
    for (const struct timespec t = {0, 1000000}; wait_inside;)
        nanosleep(&t, NULL);
    if (withdrawn_inside) status_inside = la_withdraw_op(withdrawn_inside);
    float *to = la_tensor_data(out), factor = *(float *)la_frame_user(f);
    for (int64_t k = 0; k < la_tensor_numel(out); k++) to[k] = from[k] * factor;
    running--;
    return 0;
}

/* Both in one, as a kernel for a device is. */
static int fill_on_cpu(la_frame *f)
{
    int status = shape_scale(f);
    return status ? status : fill_scale(f);
}

static la_op *add_scale_in(la_runtime *rt, float *factor)
{
    la_op_def def = {
        .size = sizeof def, .schema = "scale_h(Tensor self) -> Tensor",
        .doc = "self, scaled", .shape = shape_scale, .fill = fill_scale,
        .user = factor, .drop = drop
    };
    return la_register_op_ex(rt, &def);
}
static la_op *add_scale(float *factor) { return add_scale_in(NULL, factor); }

static lua_State *open_host(void)
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

static void expect(int code, const char *words)
{
    if (la_error_code() != code || !strstr(la_error_text(), words))
        fail_msg("code %d, '%s'", la_error_code(), la_error_text());
}

/* In an open state it comes, goes, and comes back as another. */
static void test_comes_and_goes(void **state)
{
    static float two = 2, three = 3;
    int64_t n = 2;
    (void)state;
    lua_State *L = open_host();
    run(L, "la = lunarray x = la.ones(2)"
           " assert(la.scale_h == nil and x.scale_h == nil)");
    drops = 0;
    la_op *op = add_scale(&two);
    assert_non_null(op);
    assert_ptr_equal(la_op_find("scale_h"), op);
    assert_null(add_scale(&three));
    expect(LA_ESTATE, "la_register_op_ex: operation 'scale_h' exists already");
    assert_int_equal(drops, 1);
    run(L, "kept = la.scale_h assert(kept == la.scale_h)\n"
           "assert(x:scale_h() == x * 2 and kept(x) == x * 2)\n"
           "assert(x.no_such == nil)\n"
           "assert(not pcall(kept, 'word'))");
    la_tensor *t = la_new("float32", 1, &n);
    la_tensor *r = la_call(L, "scale_h", t);
    assert_non_null(r);
    la_release(r);
    assert_int_equal(la_withdraw_op(op), 0);
    assert_int_equal(drops, 2);
    assert_null(la_op_find("scale_h"));
    assert_null(la_op_call(NULL, op, LA_ARGS(t), NULL));
    expect(LA_ESTATE, "operation 'scale_h' was withdrawn");
    assert_null(la_call(NULL, "scale_h", t));
    expect(LA_EARG, "there is no operation 'scale_h'");
    assert_int_equal(la_withdraw_op(op), LA_ESTATE);
    run(L, "assert(la.scale_h == nil and x.scale_h == nil)\n"
           "local ok, why = pcall(kept, x)\n"
           "assert(not ok and why:find(\"'scale_h' was withdrawn\"))\n"
           "for _, o in ipairs(la.operations()) do"
           " assert(o.name ~= 'scale_h') end");
    la_op *again = add_scale(&three);
    assert_non_null(again);
    run(L, "assert(x:scale_h() == x * 3 and not pcall(kept, x))\n"
           "assert(la.scale_h(x) == x * 3)");
    assert_int_equal(la_withdraw_op(again), 0);
    for (int k = 0; k < 1100; k++) {        /* more than the most at a time */
        la_op *one = add_scale(&two);
        assert_non_null(one);
        if (k % 100 == 0) run(L, "assert(x:scale_h() == x * 2)");
        assert_int_equal(la_withdraw_op(one), 0);
    }
    la_release(t);
    lua_close(L);
}

static void *call_once(void *op)
{
    int64_t n = 2;
    la_tensor *t = la_new("float32", 1, &n);
    la_release(la_op_call(NULL, op, LA_ARGS(t), NULL));
    la_release(t);
    return NULL;
}

static void *let_go(void *unused)
{
    const struct timespec t = {0, 30000000};
    (void)unused;
    nanosleep(&t, NULL);
    wait_inside = false;
    return NULL;
}

/* Withdrawing waits for the thread that is inside; from inside, and of what is
** built in, it is refused. */
static void test_withdrawing_waits(void **state)
{
    static float two = 2;
    pthread_t inside, releaser;
    int64_t n = 1;
    (void)state;
    la_op *op = add_scale(&two);
    wait_inside = true;
    pthread_create(&inside, NULL, call_once, op);
    while (!running) continue;
    pthread_create(&releaser, NULL, let_go, NULL);
    assert_int_equal(la_withdraw_op(op), 0);
    assert_int_equal(running, 0);
    pthread_join(inside, NULL);
    pthread_join(releaser, NULL);
    assert_int_equal(la_withdraw_op(la_op_find("add")), LA_ESTATE);
    expect(LA_ESTATE, "la_withdraw_op: operation 'add' is built in");
    assert_int_equal(la_withdraw_op(NULL), LA_EARG);
    op = withdrawn_inside = add_scale(&two);
    la_tensor *t = la_new("float32", 1, &n);
    la_tensor *r = la_op_call(NULL, op, LA_ARGS(t), NULL);
    assert_non_null(r);
    assert_int_equal(status_inside, LA_ESTATE);
    withdrawn_inside = NULL;
    assert_int_equal(la_set_requires_grad(t, true), 0);
    assert_null(la_op_call(NULL, op, LA_ARGS(t), NULL));
    expect(LA_EGRAD, "scale_h: ");
    assert_int_equal(la_withdraw_op(op), 0);
    la_release(r);
    la_release(t);
}

/* A runtime's operations are there only, may have names that others have, and
** end with it. */
static void test_runtimes(void **state)
{
    static float two = 2, three = 3;
    int64_t n = 1;
    (void)state;
    la_runtime *rt = la_runtime_new(NULL);
    lua_State *here = open_host(), *there = luaL_newstate();
    luaL_openlibs(there);
    assert_int_equal(la_openlibs_in(there, rt), 0);
    drops = 0;
    la_op *op = add_scale_in(rt, &three);
    assert_non_null(op);
    assert_null(la_op_find("scale_h"));
    run(here, "assert(lunarray.scale_h == nil)");
    run(there, "x = lunarray.ones(2) assert(x:scale_h() == x * 3)");
    la_tensor *t = la_new("float32", 1, &n);
    assert_null(la_op_call(NULL, op, LA_ARGS(t), NULL));
    expect(LA_EARG, "scale_h: the operation belongs to another runtime");
    la_op *own = add_scale(&two);
    assert_non_null(own);
    run(here, "x = lunarray.ones(2) assert(x:scale_h() == x * 2)");
    run(there, "assert(lunarray.scale_h(x) == x * 3)");
    la_op *second = add_scale_in(rt, &three);
    assert_null(second);
    assert_int_equal(drops, 1);
    assert_int_equal(la_withdraw_op(op), 0);
    assert_int_equal(drops, 2);
    run(here, "assert(x:scale_h() == x * 2)");
    run(there, "assert(x.scale_h == nil)");
    assert_non_null(add_scale_in(rt, &two));
    lua_close(there);
    assert_int_equal(la_runtime_destroy(rt), 0);
    assert_int_equal(drops, 3);
    run(here, "assert(x:scale_h() == x * 2)");
    assert_int_equal(la_withdraw_op(own), 0);
    lua_close(here);
    la_release(t);
}

/* ---- what a kernel sees ---- */

static char seen[400];

static int see(la_frame *f)
{
    int64_t one = 1;
    char *to = seen;
    for (int k = 0; k < la_frame_count(f); k++) {
        la_any a = la_frame_any(f, k);
        to += sprintf(to, "%d:", a.kind);
        if (a.kind == LA_ARG_TENSOR)
            to += sprintf(to, "%d", la_tensor_ndim(a.tensor));
        if (a.kind == LA_ARG_INTEGER || a.kind == LA_ARG_BOOLEAN)
            to += sprintf(to, "%d", (int)a.integer);
        if (a.kind == LA_ARG_NUMBER) to += sprintf(to, "%g", a.number);
        if (a.kind == LA_ARG_TEXT) to += sprintf(to, "%s", a.text);
        if (a.kind == LA_ARG_INTEGERS)
            to += sprintf(to, "%d*", (int)((const int64_t *)a.list)[1]);
        if (a.kind == LA_ARG_TENSORS || a.kind == LA_ARG_INTEGERS)
            to += sprintf(to, "%d", (int)a.count);
        to += sprintf(to, " ");
    }
    assert_int_equal(la_frame_any(f, -1).kind, LA_ARG_NONE);
    assert_int_equal(la_frame_any(f, 99).kind, LA_ARG_NONE);
    return la_frame_output(f, 0, "float32", 1, &one);
}

static void test_arguments(void **state)
{
    (void)state;
    la_op_def def = {.size = sizeof def, .shape = see, .schema =
        "see_h(Tensor self, Tensor[] many, int[] sizes, bool flag, Scalar s,"
        " float x, str mode='linear', dtype dtype, Tensor? none=nil)"
        " -> Tensor"};
    la_op *op = la_register_op_ex(NULL, &def);
    if (!op) fail_msg("%s", la_error_text());
    lua_State *L = open_host();
    run(L, "la = lunarray x = la.ones(2, 3)\n"
           "x:see_h({x, x, x}, {4, 5}, true, 7, 2.5, 'cubic', 'int8')");
    assert_string_equal(seen, "1:2 7:3 6:5*2 4:1 2:7 3:2.5 5:cubic 5:int8 0: ");
    run(L, "x:see_h({x}, {4, 5}, false, 1.5, 2, {dtype = 'bool'})");
    assert_string_equal(seen,
                        "1:2 7:1 6:5*2 4:0 3:1.5 3:2 5:linear 5:bool 0: ");
    assert_int_equal(la_withdraw_op(op), 0);
    lua_close(L);
}

static int odd(la_frame *f)
{
    (void)f;
    return -3;
}

static void test_failures(void **state)
{
    (void)state;
    la_op_def def = {.size = sizeof def, .schema = "odd_h(Tensor self) ->",
                     .shape = odd, .drop = drop};
    int64_t n = 1;
    drops = 0;
    assert_null(la_register_op_ex(NULL, &def));
    expect(LA_EARG, "la_register_op_ex: schema");
    def.schema = "add(Tensor self) -> Tensor";
    assert_null(la_register_op_ex(NULL, &def));
    expect(LA_ESTATE, "exists already");
    def.schema = NULL;
    assert_null(la_register_op_ex(NULL, &def));
    assert_int_equal(drops, 3);
    assert_null(la_register_op_ex(NULL, NULL));
    def.size = 0;
    assert_null(la_register_op_ex(NULL, &def));
    expect(LA_EARG, "la_register_op_ex: la_op_def.size is 0");
    def.size = sizeof def;
    def.schema = "odd_h(Tensor self) -> Tensor";
    la_op *op = la_register_op_ex(NULL, &def);
    la_tensor *t = la_new("float32", 1, &n);
    assert_null(la_op_call(NULL, op, LA_ARGS(t), NULL));
    expect(LA_EARG, "odd_h: ");
    assert_int_equal(la_withdraw_op(op), 0);
    la_release(t);
}

static int none(la_frame *f)
{
    (void)f;
    return 0;
}

static int stray(la_frame *f)
{
    int64_t one = 1;
    for (int k = -2; k < 6; k++)
        if ((k < 0 || k > 1)
            && la_frame_output(f, k, "float32", 1, &one) != LA_EARG)
            return la_fail("a result that is none");
    expect(LA_EARG, "la_frame_output: there is no result 6");
    return la_frame_output(f, 0, "float32", 1, &one);
}

static la_op *add_op(const char *schema, la_kernel kernel)
{
    la_op_def def = {.size = sizeof def, .schema = schema, .fill = kernel,
                     .drop = drop};
    return la_register_op_ex(NULL, &def);
}

/* A kernel without the results that its schema names, and with others. */
static void test_results(void **state)
{
    (void)state;
    la_op *op = add_op("none_h() -> Tensor", none);
    assert_null(la_call(NULL, "none_h"));
    expect(LA_EARG, "none_h: the host's kernel made no result 1");
    assert_int_equal(la_withdraw_op(op), 0);
    op = add_op("none_h() -> (Tensor, Tensor)", stray);
    assert_null(la_call(NULL, "none_h"));
    expect(LA_EARG, "none_h: the host's kernel made no result 2");
    assert_int_equal(la_withdraw_op(op), 0);
    op = add_op("stray_h() -> Tensor", stray);
    la_tensor *t = la_call(NULL, "stray_h");
    assert_non_null(t);
    la_release(t);
    assert_int_equal(la_withdraw_op(op), 0);
}

/* With a 'shape' of its own an operation works on meta tensors; one function
** that computes, too, does not get them. */
static void test_meta(void **state)
{
    static float two = 2;
    static const char *const code =
        "x = lunarray.ones(3, {device = 'meta'})\n"
        "ok, why = pcall(lunarray.%s_h, x)\n"
        "if %d == 1 then assert(ok and why.device == 'meta', why)\n"
        "else assert(not ok and why:find(\"for device 'meta'\", 1, true), why)"
        " end";
    char text[400];
    (void)state;
    lua_State *L = open_host();
    la_op *op = add_scale(&two);
    snprintf(text, sizeof text, code, "scale", 1);
    run(L, text);
    assert_int_equal(la_withdraw_op(op), 0);
    la_op_def def = {.size = sizeof def, .shape = fill_on_cpu,
                     .schema = "whole_h(Tensor self) -> Tensor"};
    op = la_register_op_ex(NULL, &def);
    snprintf(text, sizeof text, code, "whole", 0);
    run(L, text);
    assert_int_equal(la_withdraw_op(op), 0);
    lua_close(L);
}

static int plain_one(la_frame *f)
{
    (void)f;
    return LA_EARG;
}

static int64_t cut[2];

static int see_integers(la_frame *f)
{
    int64_t one = 1;
    for (int k = 0; k < 2; k++) cut[k] = la_frame_integer(f, k);
    return la_frame_output(f, 0, "float32", 1, &one);
}

static void test_integers(void **state)
{
    static const double from[] = {2.75, -2.75, 1e300, -1e300, 9.3e18, NAN};
    static const int64_t to[] = {2, -2, INT64_MAX, INT64_MIN, INT64_MAX, 0};
    (void)state;
    la_op *op = add_op("cut_h(Scalar a, float b) -> Tensor", see_integers);
    for (int k = 0; k < 6; k++) {
        la_release(la_op_call(NULL, op, LA_ARGS(from[k], from[k]), NULL));
        assert_int_equal(la_error_code(), 0);
        assert_true(cut[0] == to[k] && cut[1] == to[k]);
    }
    la_release(la_op_call(NULL, op, LA_ARGS(true, 7), NULL));
    assert_true(cut[0] == 1 && cut[1] == 7);
    assert_int_equal(la_withdraw_op(op), 0);
}

/* A status without words is not explained by an older failure's. */
static void test_old_words(void **state)
{
    (void)state;
    la_op *op = add_op("one_h() -> Tensor", plain_one);
    lua_State *L = open_host();
    assert_null(la_call(NULL, "no_such"));
    run(L, "ok, why = pcall(lunarray.one_h)\n"
           "assert(why == \"one_h: the host's kernel failed (1)\", why)");
    lua_close(L);
    assert_int_equal(la_withdraw_op(op), 0);
}

/* Schemas and names that would be called otherwise than they read. */
static void test_refused(void **state)
{
    static const char *const bad[] = {
        "h() -> int", "h() -> Tensor[]", "h (Tensor self) -> Tensor",
        "h(int k=1.5) -> Tensor", "h.x(Tensor self) -> Tensor",
        "h.(Tensor self) -> Tensor"
    };
    static const char *const taken[] = {
        "add_(Tensor self) -> Tensor", "absolute(Tensor self) -> Tensor",
        "manual_seed(int seed) -> Tensor"
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_null(add_op(bad[k], none));
        expect(LA_EARG, "la_register_op_ex: ");
    }
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        assert_null(add_op(taken[k], none));
        expect(LA_ESTATE, "exists already");
    }
    la_op *op = add_op(" led_h(int k=1) -> Tensor", stray);
    assert_ptr_equal(la_op_find("led_h"), op);
    assert_int_equal(la_withdraw_op(op), 0);
}

/* register(name): nil, or what is wrong. */
static int try_to_register(lua_State *L)
{
    char schema[200];
    snprintf(schema, sizeof schema, "%s(Tensor self) -> Tensor",
             lua_tostring(L, 1));
    la_op *op = add_op(schema, none);
    if (!op && la_error_code() == LA_ESTATE) return 0;
    lua_pushstring(L, op ? "registered" : la_error_text());
    if (op) la_withdraw_op(op);
    return 1;
}

/* Whatever is in la or in a tensor would hide the operation, before a state is
** open and afterwards. */
static void test_names_of_the_library(void **state)
{
    static const char *const taken[] = {"tensor", "save", "tidy", "snapshot",
        "game", "autograd", "nn", "pi", "float32", "newaxis", "item", "free",
        "shape"};
    (void)state;
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        char schema[80];
        snprintf(schema, sizeof schema, "%s(Tensor self) -> Tensor", taken[k]);
        assert_null(add_op(schema, none));
        expect(LA_ESTATE, "exists already");
    }
    lua_State *L = open_host();
    lua_register(L, "register", try_to_register);
    run(L, "local n, _, methods = 0, debug.getupvalue(\n"
           "  debug.getmetatable(lunarray.ones(1)).__index, 3)\n"
           "for _, t in ipairs{lunarray, methods} do for name in pairs(t) do\n"
           "  local wrong = name ~= '...' and register(name)\n"
           "  assert(not wrong, name .. ': ' .. tostring(wrong))\n"
           "  n = n + 1\n"
           "end end\n"
           "assert(n > 1000, n)\n"
           "assert(register('lunarray') == 'registered')\n"
           "assert(register('svd') == 'registered')");
    lua_close(L);
}

/* A kernel for a device is the operation's, too. */
static void test_kernels_of_devices(void **state)
{
    static float two = 2;
    pthread_t inside, releaser;
    (void)state;
    la_op *op = add_scale(&two);
    int device = la_register_device("h_device");
    assert_true(device > 0);
    assert_int_equal(la_register_kernel_ex(NULL, "scale_h", device, none), 0);
    lua_State *L = open_host();
    run(L, "x = lunarray.ones(2, {device = 'h_device'})\n"
           "ok, why = pcall(x.scale_h, x)\n"
           "assert(not ok and why:find('made no result 1'), why)");
    lua_close(L);
    assert_int_equal(la_register_kernel_ex(NULL, "scale_h", 0, fill_on_cpu), 0);
    wait_inside = true;
    pthread_create(&inside, NULL, call_once, op);
    while (!running) continue;
    pthread_create(&releaser, NULL, let_go, NULL);
    assert_int_equal(la_withdraw_op(op), 0);
    assert_int_equal(running, 0);
    pthread_join(inside, NULL);
    pthread_join(releaser, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_old_words),
        cmocka_unit_test(test_names_of_the_library),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_kernels_of_devices),
        cmocka_unit_test(test_comes_and_goes),
        cmocka_unit_test(test_withdrawing_waits),
        cmocka_unit_test(test_runtimes),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
