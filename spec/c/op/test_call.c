/* Operations from C: arguments of every kind, handles, results, gradients, and
** the rules of the error record. */
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

static double at(const la_tensor *t, int64_t k)
{
    assert_non_null(t);
    if (strcmp(la_tensor_dtype(t), "float32") == 0)
        return ((const float *)la_tensor_data(t))[k];
    if (strcmp(la_tensor_dtype(t), "float64") == 0)
        return ((const double *)la_tensor_data(t))[k];
    assert_string_equal(la_tensor_dtype(t), "int64");
    return (double)((const int64_t *)la_tensor_data(t))[k];
}

/* Element k of a result, which is released. */
static double value(la_tensor *t, int64_t k)
{
    if (!t) fail_msg("%s", la_error_text());
    double v = at(t, k);
    la_release(t);
    return v;
}

static la_tensor *range(int64_t n)
{
    return la_call(NULL, "arange", 1.0, (double)n + 1,
                   la_any_named("dtype", la_any_text("float32")));
}

/* A failure of this code, whose text begins with these words. */
static void expect(int code, const char *begins)
{
    const char *text = la_error_text();
    if (la_error_code() != code || strncmp(text, begins, strlen(begins)))
        fail_msg("code %d, '%s'", la_error_code(), text);
}

/* ---- arguments ---- */

static void test_layouts(void **state)
{
    (void)state;
    assert_int_equal(sizeof(la_any), 64);
    assert_int_equal(sizeof(la_range), 64);
}

static int count(int n, const la_any *args) { return args ? n : -1; }

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(count(LA_ARGS()), -1);
    assert_int_equal(count(LA_ARGS(1)), 1);
    assert_int_equal(count(LA_ARGS((1))), 1);
    assert_int_equal(count(LA_ARGS((float)1)), 1);
    assert_int_equal(count(LA_ARGS(1, "a", 2.5)), 3);
    assert_int_equal(count(LA_ARGS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                   14, 15, 16)), 16);
    la_tensor *t = la_call(NULL, "rand");
    assert_int_equal(la_tensor_ndim(t), 0);
    la_release(t);
    t = la_call(NULL, "zeros", 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2);
    assert_int_equal(la_tensor_ndim(t), 16);
    assert_int_equal(la_tensor_numel(t), 256);
    la_release(t);
}

static void test_widths(void **state)
{
    (void)state;
    la_tensor *x = range(3);
    const la_tensor *c = x;
    assert_true(value(la_call(NULL, "add", c, (uint8_t)200), 0) == 201);
    assert_true(value(la_call(NULL, "add", x, (int8_t)-3), 0) == -2);
    assert_true(value(la_call(NULL, "add", x, (uint16_t)65535), 0) == 65536);
    assert_true(value(la_call(NULL, "add", x, (int16_t)-300), 0) == -299);
    assert_true(value(la_call(NULL, "add", x, 3000000000u), 0) == 3e9f);
    assert_true(value(la_call(NULL, "add", x, (size_t)5), 2) == 8);
    assert_true(value(la_call(NULL, "add", x, (uint64_t)INT64_MAX), 0)
                == 9223372036854775808.0);
    assert_true(value(la_call(NULL, "add", x, 1.5f), 1) == 3.5);
    assert_true(value(la_call(NULL, "add", x, true), 1) == 3);
    assert_null(la_call(NULL, "add", x, UINT64_MAX));
    expect(LA_EARG, "add: argument 2: ");
    assert_null(la_call(NULL, "add", x, (size_t)INT64_MAX + 1));
    expect(LA_EARG, "add: ");
    assert_true(value(la_call(NULL, "sum", x, NULL), 0) == 6);
    la_release(x);
}

static void test_lists(void **state)
{
    int64_t dims[] = {2, 1}, pairs[] = {1, 2, 1};
    const char *names[] = {"row", "col"};
    (void)state;
    la_tensor *x = la_call(NULL, "rand", 2, 3);
    la_tensor *y = la_call(NULL, "permute", x, la_any_ints(dims, 2));
    assert_int_equal(la_tensor_sizes(y)[0], 3);
    assert_true(value(la_call(NULL, "tensordot", x, y, la_any_named("dims",
                              la_any_ints(pairs, 2))), 0) > 0);
    assert_null(la_call(NULL, "tensordot", x, y, la_any_named("dims",
                        la_any_ints(pairs, 3))));
    assert_int_equal(la_error_code(), LA_EARG);
    if (!strstr(la_error_text(), "of one length"))
        fail_msg("%s", la_error_text());
    la_tensor *n = la_call(NULL, "ones", 2, 3, la_any_named("names",
                                                  la_any_texts(names, 2)));
    assert_true(value(la_call(NULL, "sum", n, "col"), 1) == 3);
    assert_null(la_call(NULL, "sum", n, "depth"));
    expect(LA_EARG, "sum: argument 2: ");
    la_release(n);
    la_release(y);
    la_release(x);
}

/* What is refused, and in which words, is the same for a script. */
static void test_refusals(void **state)
{
    (void)state;
    la_tensor *x = range(4);
    la_any dim = la_any_named("dim", la_any_int(1));
    assert_null(la_call(NULL, "sum", x, dim, dim));
    expect(LA_EARG, "sum: argument 3: argument 'dim' is given twice");
    assert_null(la_call(NULL, "sum", x, la_any_named("dims", la_any_int(1))));
    expect(LA_EARG, "sum: argument 2: unknown keyword 'dims' (known: self, ");
    assert_null(la_call(NULL, "softmax", x));
    expect(LA_EARG, "softmax: argument 2: dimension expected, got no value "
           "for 'dim'");
    assert_null(la_call(NULL, "softmax", x, 0));
    expect(LA_EINDEX, "softmax: argument 2: dimension 0: counting starts at 1");
    assert_null(la_call(NULL, "softmax", x, "row"));
    expect(LA_EARG, "softmax: argument 2: dimension expected, got 'row': the "
           "tensor has no names");
    assert_null(la_call(NULL, "exp", 1, 2));
    expect(LA_EARG, "exp: argument 2: at most 1 arguments expected, got 2");
    assert_null(la_call(NULL, "exp", "one"));
    expect(LA_EARG, "exp: argument 1: tensor or number expected, got string");
    la_release(x);
}

/* Tensors behind each other and single numbers are lists, as in Lua. */
static void test_single_values(void **state)
{
    (void)state;
    la_tensor *x = range(4), *y = range(4);
    assert_true(value(la_call(NULL, "einsum", "i,i->", x, y), 0) == 30);
    assert_true(value(la_call(NULL, "cat", x, y, 1), 4) == 1);
    la_release(y);
    la_release(x);
}

static void test_numbers_as_lists(void **state)
{
    const int64_t whole = 3;
    const double half = 0.5;
    la_tensor *results[2] = {NULL, NULL};
    (void)state;
    /* operations of the modules vision and stats */
    if (!la_op_find("interpolate") || !la_op_find("gradient")) skip();
    la_tensor *x = range(4);
    la_any scale = la_any_named("scale_factor", la_any_int(2));
    la_tensor *image = la_call(NULL, "view", x, 1, 1, 4);
    la_tensor *wide = la_call(NULL, "interpolate", image, scale);
    assert_int_equal(la_tensor_numel(wide), 8);
    la_release(wide);
    wide = la_call(NULL, "interpolate", image, la_any_named("scale_factor",
                                                 la_any_double(1.5)));
    assert_int_equal(la_tensor_numel(wide), 6);
    la_any args[2] = {la_any_tensor(x), la_any_named("spacing",
                                           la_any_numbers(&half, 1))};
    assert_int_equal(la_call_many(NULL, "gradient", 2, args, 2, results), 1);
    assert_true(value(results[0], 0) == 2);
    args[1] = la_any_named("spacing", la_any_ints(&whole, 1));
    assert_int_equal(la_call_many(NULL, "gradient", 2, args, 2, results), 1);
    assert_true(value(results[0], 3) == (double)(1.0f / 3));
    la_release(wide);
    la_release(image);
    la_release(x);
}

/* ---- handles ---- */

static void test_handles(void **state)
{
    (void)state;
    la_tensor *x = range(4), *y = range(4);
    la_op *add = la_op_find("add"), *sum = la_op_find("sum");
    la_op *add_ = la_op_find("add_");
    assert_non_null(add);
    assert_ptr_equal(la_op_find("add"), add);
    assert_ptr_not_equal(add, add_);
    assert_ptr_equal(la_op_find("subtract"), la_op_find("sub"));
    assert_non_null(la_op_find("fft.rfft"));
    assert_non_null(la_op_find("linalg.matmul"));
    assert_null(la_op_find("no_such"));
    assert_null(la_op_find("zeros_"));
    assert_null(la_op_find("_"));
    assert_null(la_op_find("relu_backward"));   /* not for callers */
    assert_null(la_call(NULL, "relu_backward", x, y));
    expect(LA_EARG, "la_call: there is no operation 'relu_backward'");
    assert_null(la_op_find(""));
    assert_null(la_op_find(NULL));
    assert_true(value(la_op_call(NULL, add, LA_ARGS(x, y), NULL), 3) == 8);
    assert_true(value(la_op_call(NULL, sum, LA_ARGS(x), NULL), 0) == 10);
    assert_true(value(la_op_call(NULL, sum, LA_ARGS(x, 1, true), NULL), 0)
                == 10);
    la_tensor *z = la_op_call(NULL, add_, LA_ARGS(x, y), NULL);
    assert_ptr_equal(z, x);
    la_release(z);
    assert_true(at(x, 0) == 2);
    assert_null(la_op_call(NULL, NULL, LA_ARGS(x), NULL));
    expect(LA_EARG, "la_op_call: ");
    assert_null(la_op_call(NULL, add_, LA_ARGS(1, x), NULL));
    expect(LA_EARG, "add_: ");
    assert_null(la_op_call(NULL, add, 17, &(la_any){0}, NULL));
    expect(LA_EARG, "add: ");
    la_release(x);
    la_release(y);
}

static void test_results(void **state)
{
    la_tensor *r[8];
    (void)state;
    la_tensor *six = range(6), *x = la_call(NULL, "reshape", six, 3, 2);
    la_tensor *v = la_op_call(NULL, la_op_find("max"), LA_ARGS(x, 1), r);
    assert_ptr_equal(v, r[0]);
    assert_true(at(r[0], 1) == 6 && at(r[1], 1) == 3);
    assert_null(r[2]);
    la_release(r[0]);
    la_release(r[1]);
    assert_int_equal(la_call_many(NULL, "unbind", LA_ARGS(x), 8, r), 3);
    for (int k = 0; k < 3; k++) assert_true(value(r[k], 0) == 2 * k + 1);
    assert_int_equal(la_call_many(NULL, "split", LA_ARGS(x, 2, 1), 1, r), 2);
    assert_true(value(r[0], 3) == 4);
    assert_int_equal(la_call_many(NULL, "split", LA_ARGS(x, 1), 0, NULL), 3);
    assert_int_equal(la_call_many(NULL, "max", LA_ARGS(x, 2), 2, r), 2);
    assert_true(value(r[0], 0) == 2 && value(r[1], 0) == 2);
    assert_int_equal(la_call_many(NULL, "unbind", LA_ARGS(x, 7), 8, r), -1);
    expect(LA_EINDEX, "unbind: ");
    assert_int_equal(la_call_many(NULL, "manual_seed", LA_ARGS(7), 1, r), 1);
    la_release(r[0]);
    assert_int_equal(la_call_many(NULL, "manual_seed", LA_ARGS(7), 0, NULL), 1);
    assert_int_equal(la_call_many(NULL, "manual_seed", LA_ARGS(x), 1, r), -1);
    expect(LA_EARG, "manual_seed: ");
    assert_int_equal(la_call_many(NULL, "unbnd", LA_ARGS(x), 8, r), -1);
    expect(LA_EARG, "la_call_many: ");
    assert_null(la_call(NULL, "unbind", x));
    expect(LA_EARG, "unbind: ");
    la_tensor *out = la_call(NULL, "zeros", 3, 2);
    la_tensor *given = la_call(NULL, "exp", x, la_any_named("out",
                                                   la_any_tensor(out)));
    assert_ptr_equal(given, out);
    assert_true(at(out, 0) > 2.7);
    assert_null(la_call(NULL, "exp", x, la_any_named("out", la_any_int(1))));
    assert_null(la_call(NULL, "sort", x, la_any_named("out",
                                                      la_any_tensor(out))));
    assert_non_null(strstr(la_error_text(), "2 tensors expected"));
    assert_null(la_call(NULL, "exp", x, la_any_named("other", la_any_int(1))));
    expect(LA_EARG, "exp: argument 2: ");
    assert_ptr_equal(la_call(NULL, "copy_", x, out), x);
    la_release(six);
    la_release(x);
    la_release(x);
    la_release(out);
    la_release(out);
}

/* ---- gradients ---- */

static void test_gradients(void **state)
{
    (void)state;
    la_tensor *x = range(3), *i = la_call(NULL, "zeros", 2,
                                 la_any_named("dtype", la_any_text("int64")));
    assert_false(la_requires_grad(x));
    assert_null(la_grad_of(x));
    assert_int_equal(la_error_code(), 0);
    assert_int_equal(la_set_requires_grad(x, true), 0);
    assert_true(la_requires_grad(x));
    la_tensor *y = la_call(NULL, "mul", x, x);
    la_tensor *s = la_call(NULL, "sum", y);
    assert_true(la_requires_grad(s));
    assert_int_equal(la_backward(NULL, s, NULL), 0);
    assert_true(value(la_grad_of(x), 2) == 6);
    assert_int_equal(la_backward(NULL, s, NULL), LA_EGRAD);
    expect(LA_EGRAD, "la_backward: ");
    la_zero_grad(x);
    assert_null(la_grad_of(x));
    assert_int_equal(la_error_code(), 0);
    la_release(y);
    y = la_call(NULL, "mul", x, 2);
    assert_int_equal(la_backward(NULL, y, NULL), LA_EGRAD);
    assert_int_equal(la_backward(NULL, y, s), LA_ESHAPE);
    expect(LA_ESHAPE, "la_backward: Mismatch in shape");
    assert_int_equal(la_backward(NULL, y, y), 0);
    assert_true(value(la_grad_of(x), 2) == 12);
    assert_int_equal(la_set_requires_grad(y, false), LA_EGRAD);
    assert_int_not_equal(la_set_requires_grad(i, true), 0);
    expect(la_error_code(), "la_set_requires_grad: ");
    assert_int_equal(la_set_requires_grad(NULL, true), LA_EARG);
    assert_int_equal(la_backward(NULL, NULL, NULL), LA_EARG);
    la_zero_grad(NULL);
    la_release(i);
    la_release(y);
    la_release(s);
    la_release(x);
}

/* A graph with a hook of a script: it runs in the state; what it raises is the
** status and the text, and leaves nothing behind. */
static void test_gradients_of_a_state(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = lunarray\n"
        "x = la.ones(2) x.requires_grad = true\n"
        "x:register_hook(function(g) if bad then error('no way') end"
        " return g * 3 end)\n"
        "s = (x * 2):sum() t = (x * 2):sum() return s, t, x"), LUA_OK);
    la_tensor *x = la_test(L, -1);
    assert_int_equal(la_backward(L, la_test(L, -3), NULL), 0);
    assert_true(value(la_grad_of(x), 0) == 6);
    assert_int_equal(luaL_dostring(L, "bad = true"), LUA_OK);
    int top = lua_gettop(L);
    assert_int_equal(la_backward(NULL, la_test(L, -2), NULL), LA_ELUA);
    assert_non_null(strstr(la_error_text(), "no way"));
    expect(LA_ELUA, "la_backward: ");
    assert_int_equal(lua_gettop(L), top);
    assert_int_equal(luaL_dostring(L, "bad = false (x * 2):sum():backward()"),
                     LUA_OK);
    lua_close(L);
}

/* ---- writes of the host ---- */

/* A graph whose saved value the host wrote to refuses to go on. */
static void test_written(void **state)
{
    int64_t sizes[1] = {2};
    (void)state;
    la_tensor *t = la_new("float32", 1, sizes);
    assert_int_equal(la_set_requires_grad(t, true), 0);
    la_tensor *a = la_call(NULL, "mul", t, 2);
    la_tensor *b = la_call(NULL, "mul", a, a);
    la_tensor *s = la_call(NULL, "sum", b);
    assert_int_equal(la_mark_written(a), 0);
    ((float *)la_tensor_data(a))[0] = 1;
    assert_int_equal(la_backward(NULL, s, NULL), LA_EGRAD);
    assert_int_equal(la_mark_written(NULL), LA_EARG);
    la_buffer fixed = {.size = sizeof fixed, .data = (float[2]){1, 2},
                       .dtype = "float32", .ndim = 1, .sizes = sizes,
                       .flags = LA_READ_ONLY};
    la_tensor *c = la_wrap_ex(&fixed);
    assert_int_equal(la_mark_written(c), LA_ESTATE);
    expect(LA_ESTATE, "la_mark_written: ");
    la_release(c);
    la_release(s);
    la_release(b);
    la_release(a);
    la_release(t);
}

/* ---- the record ---- */

static void test_record(void **state)
{
    int64_t sizes[1] = {2};
    (void)state;
    la_tensor *t = la_new("float32", 1, sizes);
    assert_int_equal(la_error_code(), 0);
    assert_string_equal(la_error_text(), "");
    assert_null(la_new("float33", 1, sizes));
    expect(LA_EDTYPE, "la_new: ");
    la_tensor_data(t);
    la_tensor_numel(t);
    la_op_find("no_such");
    la_release(NULL);
    expect(LA_EDTYPE, "la_new: ");
    la_tensor *s = la_call(NULL, "sum", t);
    assert_int_equal(la_error_code(), 0);
    assert_string_equal(la_error_text(), "");
    assert_null(la_wrap(NULL, "float32", 99, sizes, NULL, NULL, NULL));
    expect(LA_ESHAPE, "la_wrap: ");
    assert_null(la_load("/nowhere/x.npy", NULL));
    expect(LA_EIO, "la_load: ");
    assert_null(la_index(NULL, t, 1, &(la_range){.kind = LA_AT, .first = 9}));
    expect(LA_EINDEX, "la_index: ");
    assert_null(la_call(NULL, "nothing"));
    expect(LA_EARG, "la_call: ");
    assert_null(la_call(NULL, "sum", t, 0));
    expect(LA_EINDEX, "sum: argument 2: ");
    assert_null(la_call(NULL, "matmul", t, la_any_double(2)));
    expect(LA_ESHAPE, "matmul: ");
    assert_int_equal(la_push(NULL, t), LA_EARG);
    expect(LA_EARG, "la_push: ");
    la_release(s);
    la_release(t);
}

/* After lua_pcall: of the error that was raised. */
static void test_record_after_pcall(void **state)
{
    static const struct { const char *code, *begins; int status; } rows[] = {
        {"la.zeros(2) + la.zeros(3)", "add: ", LA_ESHAPE},
        {"la.zeros(2):sum(7)", "sum: ", LA_EINDEX},
        {"la.zeros(2):sum('x', 1, 2, 3)", "sum: ", LA_EARG},
        {"la.zeros(2):matmul(la.zeros(3))", "matmul: ", LA_ESHAPE},
        {"la.zeros(2, {dtype = 'q'})", "zeros: ", LA_EARG},
        {"la.zeros(2):backward()", "backward: ", LA_EGRAD},
        {"la.load('/nowhere/x.npy')", "load: ", LA_EIO},
        {"(function() la.ones(2).x = 5 end)()", "x: a tensor has", LA_EARG},
        {"(function() la.ones(2).T = 5 end)()", "T: a tensor has", LA_EARG},
        {"la.ones(2)..la.ones(2)", "concat: ", LA_EARG},
        {"la.svd", "svd: lunarray has no la.svd", LA_EARG},
        {"la.ones(2):numpy()", "numpy: a tensor has no", LA_EARG},
        {"la.linalg.frobenius_norm(1)", "frobenius_norm: ", LA_EARG},
        {"la.testing.assert_close(1, 2)", "testing.assert_close: Sc", LA_EARG},
    };
    (void)state;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = lunarray"), LUA_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char code[128] = "return ";
        assert_int_not_equal(luaL_dostring(L, strcat(code, rows[i].code)), 0);
        expect(rows[i].status, rows[i].begins);
    }
    lua_close(L);
}

/* A host that names a LAPACK later changes nothing. */
static void test_lapack_is_chosen_once(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        la_tensor *x = la_call(NULL, "eye", 12);
        assert_true(value(la_call(NULL, "linalg.eigvalsh", x), 11) == 1);
        la_release(x);
        setenv("LUNARRAY_LAPACK", "/none", 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_single_values),
        cmocka_unit_test(test_numbers_as_lists),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_of_a_state),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_lapack_is_chosen_once),
        cmocka_unit_test(test_record_after_pcall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
