/* Indexing from C: la_index and la_set_index with every kind of range, errors,
** and kernels from outside that indexing must not pass by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>


#define RANGES(...) \
    (int)(sizeof((la_range[]){__VA_ARGS__}) / sizeof(la_range)), \
    (const la_range[]){__VA_ARGS__}

/* 0 to 11 as three rows of four. */
static la_tensor *grid(void)
{
    int64_t sizes[2] = {3, 4};
    la_tensor *t = la_new("float32", 2, sizes);
    assert_non_null(t);
    for (int i = 0; i < 12; i++) ((float *)la_data(t))[i] = (float)i;
    return t;
}

static la_tensor *list_of(int64_t n, const int64_t *values)
{
    la_tensor *t = la_new("int64", 1, &n);
    assert_non_null(t);
    memcpy(la_data(t), values, (size_t)n * sizeof(*values));
    return t;
}

/* Releases 't', which has to be n elements, row-major, with these values. */
static void expect(la_tensor *t, int ndim, int n, const float *values)
{
    if (!t) fail_msg("%s", la_error_text());
    assert_int_equal(la_ndim(t), ndim);
    assert_int_equal(la_numel(t), n);
    la_tensor *plain = la_call(NULL, "contiguous", t);
    assert_non_null(plain);
    if (n) assert_memory_equal(la_data(plain), values, n * sizeof(float));
    la_release(plain);
    la_release(t);
}
#define VALUES(...) \
    (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), \
    (const float[]){__VA_ARGS__}

static void test_reads(void **state)
{
    (void)state;
    la_tensor *x = grid();
    la_tensor *none = la_index(NULL, x, 0, NULL);
    assert_ptr_equal(la_data(none), la_data(x));
    la_release(none);
    expect(la_index(NULL, x, RANGES(la_at(2))), 1, VALUES(4, 5, 6, 7));
    expect(la_index(NULL, x, RANGES(la_at(-1), la_at(2))), 0, VALUES(9));
    expect(la_index(NULL, x, RANGES(la_span(1, 2, 1), la_at(4))), 1,
           VALUES(3, 7));
    expect(la_index(NULL, x, RANGES(la_at(1), la_span(-3, -1, 2))), 1,
           VALUES(1, 3));
    expect(la_index(NULL, x, RANGES(la_at(1), la_span(-1, 1, -1))), 1,
           VALUES(3, 2, 1, 0));
    expect(la_index(NULL, x, RANGES(la_rest(), la_at(1))), 1,
           VALUES(0, 4, 8));
    expect(la_index(NULL, x, RANGES(la_whole(), la_new_axis(), la_at(1))), 2,
           VALUES(0, 4, 8));
    expect(la_index(NULL, x, RANGES(la_at(1), la_span(3, 99, 1))), 1,
           VALUES(2, 3));
    la_tensor *empty = la_index(NULL, x, RANGES(la_span(3, 2, 1)));
    assert_int_equal(la_numel(empty), 0);
    la_release(empty);
    la_release(x);
}

static void test_reads_by_tensors(void **state)
{
    (void)state;
    la_tensor *x = grid(), *i = list_of(2, (int64_t[]){3, 1});
    expect(la_index(NULL, x, RANGES(la_by(i), la_at(1))), 1, VALUES(8, 0));
    la_tensor *mask = la_call(NULL, "gt", x, 8);
    assert_non_null(mask);
    expect(la_index(NULL, x, RANGES(la_by(mask))), 1, VALUES(9, 10, 11));
    la_release(mask);
    la_release(i);
    la_release(x);
}

static void test_views_share_memory(void **state)
{
    (void)state;
    la_tensor *x = grid();
    la_tensor *part = la_index(NULL, x, RANGES(la_span(2, 3, 1), la_at(2)));
    assert_ptr_equal(la_data(part), (float *)la_data(x) + 5);
    assert_int_equal(la_set_index(NULL, part, RANGES(la_rest()),
                                  la_any_int(-1)), 0);
    assert_true(((float *)la_data(x))[5] == -1);
    assert_true(((float *)la_data(x))[9] == -1);
    la_release(part);
    la_release(x);
}

static void test_writes(void **state)
{
    (void)state;
    la_tensor *x = grid(), *i = list_of(2, (int64_t[]){1, 4});
    float *data = la_data(x);
    assert_int_equal(la_set_index(NULL, x, RANGES(la_at(1), la_at(2)),
                                  la_any_double(1.5)), 0);
    assert_true(data[1] == 1.5f);
    assert_int_equal(la_set_index(NULL, x, RANGES(la_at(3)),
                                  la_any_bool(true)), 0);
    assert_true(data[8] == 1 && data[11] == 1);
    assert_int_equal(la_set_index(NULL, x, RANGES(la_at(2), la_by(i)),
                                  la_any_int(7)), 0);
    assert_true(data[4] == 7 && data[5] == 5 && data[7] == 7);
    la_tensor *row = la_index(NULL, x, RANGES(la_at(2)));
    assert_int_equal(la_set_index(NULL, x,
                                  RANGES(la_at(1), la_span(4, 1, -1)),
                                  la_any_tensor(row)), 0);
    assert_true(data[0] == 7 && data[1] == 6 && data[2] == 5 && data[3] == 7);
    la_release(row);
    la_release(i);
    la_release(x);
}

static void refused(la_tensor *x, const char *why, int n, const la_range *r)
{
    assert_null(la_index(NULL, x, n, r));
    assert_non_null(strstr(la_error_text(), why));
    assert_int_not_equal(la_set_index(NULL, x, n, r, la_any_int(99)), 0);
    assert_non_null(strstr(la_error_text(), why));
}

static void test_bad_keys(void **state)
{
    (void)state;
    la_tensor *x = grid();
    la_range flags = la_at(1), kind = la_at(1), many[200];
    flags.flags = 1;
    kind.kind = 77;
    for (int k = 0; k < 200; k++) many[k] = la_new_axis();
    refused(x, "indices start at 1", RANGES(la_at(0)));
    refused(x, "index 4", RANGES(la_at(4)));
    refused(x, "out of bounds", RANGES(la_at(INT64_MIN)));
    refused(x, "out of bounds", RANGES(la_at(INT64_MAX)));
    refused(x, "begin with 0", RANGES(la_span(0, 1, 1)));
    refused(x, "step cannot be zero", RANGES(la_span(1, 2, 0)));
    refused(x, "too many", RANGES(la_at(1), la_at(1), la_at(1)));
    refused(x, "single ellipsis", RANGES(la_rest(), la_rest()));
    refused(x, "NULL", RANGES(la_by(NULL)));
    refused(x, "flags", 1, &flags);
    refused(x, "kind", 1, &kind);
    refused(x, "ranges expected", 200, many);
    refused(x, "ranges expected", 1, NULL);
    refused(x, "ranges expected", -1, many);
    refused(NULL, "tensor", RANGES(la_at(1)));
    assert_int_not_equal(la_set_index(NULL, x, RANGES(la_at(1)),
                                      la_any_text("7")), 0);
    assert_int_not_equal(la_set_index(NULL, x, RANGES(la_at(1)),
                                      la_any_tensor(NULL)), 0);
    expect(x, 2, VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

static void test_extreme_spans(void **state)
{
    const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -4, -1, 1, 4,
                            INT64_MAX - 1, INT64_MAX};
    const int n = (int)(sizeof(ends) / sizeof(ends[0]));
    (void)state;
    la_tensor *x = grid();
    for (int k = 0; k < n * n * n; k++) {
        la_range r = la_span(ends[k % n], ends[k / n % n], ends[k / n / n]);
        la_tensor *part = la_index(NULL, x, 1, &r);
        assert_non_null(part);
        assert_true(la_numel(part) <= 12);
        la_release(part);
    }
    la_release(x);
}

static void test_gradients(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'\n"
        "w = la.ones(3, {requires_grad = true}); return w"), 0);
    la_tensor *w = la_check(L, -1);
    la_tensor *part = la_index(L, w, RANGES(la_span(2, 3, 1)));
    assert_non_null(part);
    assert_int_equal(la_push(L, part), 0);
    lua_setglobal(L, "part");
    assert_int_equal(luaL_dostring(L, "part:sum():backward()\n"
        "assert(w.grad == la.tensor{0., 1., 1.})"), 0);
    assert_int_not_equal(la_set_index(L, w, RANGES(la_at(1)), la_any_int(2)),
                         0);
    assert_non_null(strstr(la_error_text(), "leaf"));
    la_release(part);
    lua_close(L);
}

/* ---- kernels from outside: the last test, since they stay ---- */

static int selects, fills;

static int counting_select(la_frame *f)
{
    (void)f;
    selects++;
    return la_fail("select was seen");
}

static int counting_fill(la_frame *f)
{
    (void)f;
    fills++;
    return la_fail("fill_ was seen");
}

static void test_kernels_from_outside(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'\n"
        "x = la.ones(3, 4)\n y = x[2]; x[{1, 2}] = 7"), 0);
    assert_int_equal(la_register_kernel("select", 0, counting_select), 0);
    assert_int_equal(la_register_kernel("fill_", 0, counting_fill), 0);
    assert_int_equal(luaL_dostring(L,
        "for _, key in ipairs{2, {1, 2}, {{1, 2}, 1}} do\n"
        "  local ok, why = pcall(function() return x[key] end)\n"
        "  assert(not ok and why:find('select was seen', 1, true), why)\n"
        "  ok, why = pcall(function() x[{{}, {1, 2}}] = 7 end)\n"
        "  assert(not ok and why:find('fill_ was seen', 1, true), why)\n"
        "end\n"
        "assert(not pcall(function() la.ones(2)[1] = 7 end))\n"), 0);
    assert_int_equal(selects, 4);
    assert_int_equal(fills, 3);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_reads_by_tensors),
        cmocka_unit_test(test_views_share_memory),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_bad_keys),
        cmocka_unit_test(test_extreme_spans),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_kernels_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
