/*
** Failures of lunarray.h, one for each function: a code, and a text that begins
** with the function's or the operation's name, both of that failure; what
** succeeds leaves neither, what only asks leaves the record as it is. What a
** host gave to be released is, whatever was wrong with its struct.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "lunarray.h"
#include "spec/c/modules.h"

/* Another failure stands in the record before each. */
static void fail_before(void) { assert_null(la_call(NULL, "unheard_of", 3)); }

static void check(const char *what, int code, const char *name)
{
    const char *text = la_error_text();
    if (la_error_code() != code || strncmp(text, name, strlen(name)) != 0
        || (text[strlen(name)] != ':' && text[strlen(name)] != '('))
        fail_msg("%s: %d, %s", what, la_error_code(), text);
}

#define STATUS(code, name, call) \
    do { \
        fail_before(); \
        if ((call) != (code)) fail_msg("%s: another status", #call); \
        check(#call, code, name); \
    } while (0)
#define NOTHING(code, name, call) \
    do { \
        fail_before(); \
        if ((call) != NULL) fail_msg("%s: a result", #call); \
        check(#call, code, name); \
    } while (0)
#define NEGATIVE(code, name, call) \
    do { \
        fail_before(); \
        if ((call) != -1) fail_msg("%s: a result", #call); \
        check(#call, code, name); \
    } while (0)
#define KEPT(call) \
    do { \
        fail_before(); \
        (void)(call); \
        check(#call, LA_EARG, "la_call"); \
    } while (0)
#define FINE(call) \
    do { \
        fail_before(); \
        if ((call) != 0 || la_error_code() || *la_error_text()) \
            fail_msg("%s: %d, %s", #call, la_error_code(), la_error_text()); \
    } while (0)

static int released;
static void release(void *context, void *data) { released++; }
static void drop(void *user) { released++; }
static int refuse(void *context, const void *bytes, size_t n) { return 5; }
static int64_t no_bytes(void *context, int64_t at, void *to, int64_t n)
{
    return -1;
}

static const int64_t two[] = {2, 3}, less[] = {-1}, huge[] = {1ll << 45};

static void of_tensors(void **state)
{
    la_tensor *a = la_new("float32", 2, two), *list[] = {a, NULL};
    la_tensor *i = la_new("int64", 1, two);
    uint64_t hash;
    la_range nine = la_at(9), one = la_at(1);
    la_named bad = {"x", NULL}, good = {"x", a};
    NOTHING(LA_EDTYPE, "la_new", la_new("floaty", 2, two));
    NOTHING(LA_EDTYPE, "la_new", la_new(NULL, 2, two));
    NOTHING(LA_ESHAPE, "la_new", la_new("float32", 2, NULL));
    NOTHING(LA_ESHAPE, "la_new", la_new("float32", 65, two));
    NOTHING(LA_ESHAPE, "la_new", la_new("float32", 1, less));
    NOTHING(LA_ENOMEM, "la_new", la_new("float32", 1, huge));
    NOTHING(LA_EARG, "la_wrap",
            la_wrap(NULL, "float32", 2, two, NULL, NULL, NULL));
    STATUS(LA_EARG, "la_mark_written", la_mark_written(NULL));
    STATUS(LA_EARG, "la_hash", la_hash(NULL, &hash));
    STATUS(LA_EARG, "la_hash", la_hash(a, NULL));
    NEGATIVE(LA_EARG, "la_tensor_text", la_tensor_text(NULL, NULL, 0));
    NOTHING(LA_EARG, "la_to_dlpack", la_to_dlpack(NULL));
    NOTHING(LA_EARG, "la_from_dlpack", la_from_dlpack(NULL));
    NOTHING(LA_EARG, "la_from_dlpack_versioned",
            la_from_dlpack_versioned(NULL));
    NOTHING(LA_EINDEX, "la_index", la_index(NULL, a, 1, &nine));
    NOTHING(LA_EARG, "la_index", la_index(NULL, a, 1, NULL));
    STATUS(LA_EINDEX, "la_set_index",
           la_set_index(NULL, a, 1, &nine, la_any_int(1)));
    STATUS(LA_EARG, "la_set_index",
           la_set_index(NULL, a, 1, &one, la_any_text("x")));
    FINE(la_set_index(NULL, a, 1, &one, la_any_int(1)));
    STATUS(LA_EGRAD, "la_backward", la_backward(NULL, a, NULL));
    STATUS(LA_EARG, "la_backward", la_backward(NULL, NULL, NULL));
    STATUS(LA_EDTYPE, "la_set_requires_grad", la_set_requires_grad(i, true));
    FINE(la_set_requires_grad(a, false));
    NOTHING(LA_EIO, "la_load", la_load("/nowhere/x.npy", NULL));
    NOTHING(LA_EARG, "la_load", la_load(NULL, NULL));
    NOTHING(LA_EIO, "la_load_memory", la_load_memory("abc", 3, NULL));
    NOTHING(LA_EARG, "la_load_from", la_load_from(NULL, NULL));
    STATUS(LA_EIO, "la_save", la_save("/nowhere/x.npy", 1, &good));
    STATUS(LA_EARG, "la_save", la_save("x.unknown", 1, &good));
    STATUS(LA_EARG, "la_save", la_save("x.npz", 1, &bad));
    STATUS(LA_EARG, "la_save_to", la_save_to(NULL, "npy", 1, &good));
    STATUS(LA_EARG, "la_rebind", la_rebind(a, &hash, 8));
    NOTHING(LA_EARG, "la_wrap_struct",
            la_wrap_struct(&hash, 1, 4, "a:f64", 0, NULL, NULL));
    NOTHING(LA_EARG, "la_record_field", la_record_field(NULL, "a"));
    STATUS(LA_EARG, "la_record_rebind", la_record_rebind(NULL, &hash, 1));
    NOTHING(LA_EARG, "la_snapshot_take", la_snapshot_take(2, list));
    STATUS(LA_EARG, "la_snapshot_restore", la_snapshot_restore(NULL));
    STATUS(LA_EARG, "la_slot_publish", la_slot_publish(NULL, a));
    NOTHING(LA_EARG, "la_slot_acquire", la_slot_acquire(NULL));
    la_release(a);
    la_release(i);
}

static void of_operations(void **state)
{
    la_tensor *a = la_new("float32", 2, two), *b = la_new("float32", 1, two);
    la_op *add = la_op_find("add");
    la_op_def none = {.size = sizeof none, .schema = "no schema"};
    NOTHING(LA_EARG, "la_call", la_call(NULL, NULL));
    NOTHING(LA_EARG, "la_op_call", la_op_call(NULL, NULL, LA_ARGS(a), NULL));
    NOTHING(LA_ESHAPE, "add", la_op_call(NULL, add, LA_ARGS(a, b), NULL));
    NOTHING(LA_EARG, "add", la_op_call(NULL, add, 17, NULL, NULL));
    NOTHING(LA_EARG, "add", la_call(NULL, "add", a));
    NOTHING(LA_EARG, "rand", la_call(NULL, "rand", UINT64_MAX));
    NOTHING(LA_EINDEX, "sum", la_call(NULL, "sum", a, 7));
    NOTHING(LA_EARG, "zeros", la_call(NULL, "zeros", la_any_ints(NULL, 3)));
    NEGATIVE(LA_EARG, "split",
             la_call_many(NULL, "split", LA_ARGS(a, 0), 0, NULL));
    NEGATIVE(LA_EARG, "la_register_device", la_register_device(""));
    NEGATIVE(LA_EARG, "la_register_device_ex",
             la_register_device_ex(NULL, NULL));
    NOTHING(LA_EARG, "la_register_op_ex", la_register_op_ex(NULL, NULL));
    NOTHING(LA_EARG, "la_register_op_ex", la_register_op_ex(NULL, &none));
    STATUS(LA_EARG, "la_register_op", la_register_op("no", "", NULL, NULL));
    STATUS(LA_ESTATE, "la_withdraw_op", la_withdraw_op(add));
    STATUS(LA_EARG, "la_register_kernel",
           la_register_kernel("unheard_of", 1, NULL));
    STATUS(LA_EARG, "la_frame_output",
           la_frame_output(NULL, 0, "float32", 2, two));
    assert_null(la_frame_tensor(NULL, 0));
    assert_null(la_frame_result(NULL, 0));
    assert_null(la_frame_user(NULL));
    assert_int_equal(la_frame_count(NULL), 0);
    assert_int_equal(la_frame_integer(NULL, 0), 0);
    assert_true(la_frame_number(NULL, 0) == 0);
    assert_int_equal(la_frame_any(NULL, 0).kind, LA_ARG_NONE);
    KEPT(la_op_find("add"));
    KEPT(la_op_find("unheard_of"));
    KEPT(la_tensor_data(a));
    KEPT(la_runtime_of(a));
    KEPT(la_retain(NULL));
    KEPT(la_fuel_left(NULL));
    KEPT(la_use(NULL));
    KEPT(la_trim(NULL));
    la_release(a);
    la_release(b);
}

static void of_runtimes_and_states(void **state)
{
    lua_State *L = luaL_newstate();
    la_tensor *a = la_new("float32", 2, two);
    la_config config = {.size = 0};
    la_memory out = {.size = 0};
    NOTHING(LA_EARG, "la_runtime_new", la_runtime_new(&config));
    STATUS(LA_EARG, "la_runtime_destroy", la_runtime_destroy(NULL));
    STATUS(LA_EARG, "la_set_thread_count", la_set_thread_count(NULL, 0));
    STATUS(LA_EARG, "la_memory_stat", la_memory_stat(NULL, &out));
    STATUS(LA_ESTATE, "la_set_allocator", la_set_allocator(NULL, NULL, NULL));
    STATUS(LA_EARG, "la_openlibs", la_openlibs(NULL));
    STATUS(LA_EARG, "la_openlibs_in", la_openlibs_in(NULL, NULL));
    STATUS(LA_EARG, "la_open_sandboxed", la_open_sandboxed(NULL, NULL));
    STATUS(LA_ESTATE, "la_push", la_push(L, a));
    STATUS(LA_EARG, "la_push", la_push(NULL, a));
    STATUS(LA_EARG, "la_push_record", la_push_record(L, NULL));
    NOTHING(LA_ESTATE, "la_token_of", la_token_of(L));
    STATUS(LA_EARG, "la_frame_begin", la_frame_begin(NULL));
    STATUS(LA_ESTATE, "la_frame_end", la_frame_end(L));
    STATUS(LA_ESTATE, "la_keep", la_keep(L, 1));
    STATUS(LA_EARG, "la_set_collector", la_set_collector(NULL, 0, 0));
    assert_int_equal(lua_gettop(L), 0);
    FINE(la_openlibs(L));
    FINE(la_push(L, a));
    STATUS(LA_EARG, "la_push", la_push(L, NULL));
    STATUS(LA_ESTATE, "la_frame_end", la_frame_end(L));
    STATUS(LA_EARG, "la_set_collector", la_set_collector(L, 9, 0));
    KEPT(la_test(L, 1));
    KEPT(la_test(L, 9));
    lua_close(L);
    la_release(a);
}

static int check_first(lua_State *L)
{
    la_check(L, 1);
    return 0;
}

/* What functions raise that check their arguments by Lua's means, and modules
** in Lua. */
static void of_raised_errors(void **state)
{
    static const struct { const char *run, *error, *text; int code; } rows[] = {
        {"check(5)", "#1 to 'check' (tensor expected, got number)",
         "check: argument 1: tensor expected, got number", LA_EARG},
        {"local x = la.ones(1) x:free() check(x)", "tensor was freed",
         "check: argument 1: tensor was freed", LA_ESTATE},
        {"la.set_grad_enabled(3)", "boolean expected, got number",
         "set_grad_enabled: argument 1: boolean expected", LA_EARG},
        {"la.no_grad(3)", "function expected, got number",
         "no_grad: argument 1: function expected", LA_EARG},
        {"la.jacobian(5)", "bad argument #1 to 'jacobian'",
         "jacobian: argument 1: function expected, got number", LA_EARG},
        {"la.signal.butter('a')", "an integer of at least 0",
         "signal.butter: order: an integer", LA_EARG},
        {"require 'lunarray.nn'.Linear('a')", "number expected",
         "Linear: in_features: number expected, got string", LA_EARG},
        {"la.keep()", "#1 to 'keep' (value expected)", "keep: argument 1",
         LA_EARG}
    };
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    lua_register(L, "check", check_first);
    if (luaL_dostring(L, "la = lunarray")) fail();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is_in_build(L, rows[i].run)) continue;
        fail_before();
        if (!luaL_dostring(L, rows[i].run)
            || !strstr(lua_tostring(L, -1), rows[i].error)) fail();
        assert_int_equal(la_error_code(), rows[i].code);
        assert_memory_equal(la_error_text(), rows[i].text,
                            strlen(rows[i].text));
    }
    lua_close(L);
}

/* A field behind the ones that are known is set. */
static void structs_of_the_future(void **state)
{
    union {
        la_buffer buffer;
        la_source source;
        la_op_def op;
        char bytes[256];
    } s;
    static float data[6];
    memset(&s, 0, sizeof s);
    s.buffer = (la_buffer){.size = sizeof s, .data = data, .ndim = 2,
                           .dtype = "float32", .sizes = two,
                           .release = release};
    s.bytes[255] = 1;
    released = 0;
    NOTHING(LA_EARG, "la_wrap_ex", la_wrap_ex(&s.buffer));
    assert_int_equal(released, 1);
    memset(&s, 0, 200);
    s.source = (la_source){.size = sizeof s, .length = 9, .read = no_bytes,
                           .close = drop};
    NOTHING(LA_EARG, "la_load_from", la_load_from(&s.source, NULL));
    assert_int_equal(released, 2);
    memset(&s, 0, 200);
    s.op = (la_op_def){.size = sizeof s, .schema = "o(Tensor x) -> Tensor",
                       .drop = drop};
    NOTHING(LA_EARG, "la_register_op_ex", la_register_op_ex(NULL, &s.op));
    assert_int_equal(released, 3);
    s.op.size = SIZE_MAX / 2;           /* was never set */
    NOTHING(LA_EARG, "la_register_op_ex", la_register_op_ex(NULL, &s.op));
    la_tensor *a = la_new("float32", 2, two);
    la_named good = {"", a};
    la_sink sink = {.size = sizeof sink, .write = refuse};
    STATUS(LA_EIO, "la_save_to", la_save_to(&sink, "npy", 1, &good));
    la_release(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tensors),
        cmocka_unit_test(of_operations),
        cmocka_unit_test(of_runtimes_and_states),
        cmocka_unit_test(of_raised_errors),
        cmocka_unit_test(structs_of_the_future),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
