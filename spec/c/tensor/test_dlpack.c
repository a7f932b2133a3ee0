/* Memory shared by DLPack: who frees it, and what is refused. */
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

/* The structs of dlpack.h. */
struct dl_tensor {
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct DLManagedTensor {
    struct dl_tensor t;
    void *context;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct dl_tensor t;
};

static int deleted;
static void count(struct DLManagedTensor *m) { deleted++; }
static void count_versioned(struct DLManagedTensorVersioned *m) { deleted++; }

static float numbers[6] = {1, 2, 3, 4, 5, 6};
static int64_t sizes[2] = {2, 3};

static struct DLManagedTensor foreign(void)
{
    deleted = 0;
    struct DLManagedTensor m = {.deleter = count};
    m.t.data = numbers;
    m.t.device.type = 1;
    m.t.ndim = 2;
    m.t.dtype.code = 2;
    m.t.dtype.bits = 32;
    m.t.dtype.lanes = 1;
    m.t.shape = sizes;
    return m;
}

static void test_export(void **state)
{
    la_tensor *t = la_new("float32", 2, sizes);
    ((float *)la_tensor_data(t))[4] = 7;
    struct DLManagedTensor *m = la_to_dlpack(t);
    assert_non_null(m);
    assert_ptr_equal(m->t.data, la_tensor_data(t));
    la_release(t);
    assert_int_equal(m->t.ndim, 2);
    assert_int_equal(m->t.shape[1], 3);
    assert_int_equal(m->t.strides[0], 3);
    assert_int_equal(m->t.dtype.code, 2);
    assert_int_equal(m->t.dtype.bits, 32);
    assert_int_equal(m->t.device.type, 1);
    assert_true(((float *)m->t.data)[4] == 7);
    m->deleter(m);
}

static void test_round_trip(void **state)
{
    static const char *const names[] = {
        "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64", "float16", "bfloat16", "float32", "float64", "complex32",
        "complex64", "complex128"};
    for (int k = 0; k < 16; k++) {
        la_tensor *t = la_new(names[k], 2, sizes);
        struct DLManagedTensorVersioned *m = la_to_dlpack_versioned(t);
        assert_int_equal(m->major, 1);
        la_tensor *back = la_from_dlpack_versioned(m);
        assert_string_equal(la_tensor_dtype(back), names[k]);
        assert_ptr_equal(la_tensor_data(back), la_tensor_data(t));
        la_release(t);
        la_release(back);
    }
}

static void test_import(void **state)
{
    struct DLManagedTensor m = foreign();
    la_tensor *t = la_from_dlpack(&m);
    assert_non_null(t);
    assert_true(((float *)la_tensor_data(t))[5] == 6);
    assert_int_equal(deleted, 0);
    la_release(t);
    assert_int_equal(deleted, 1);
}

/* A struct that a tensor has is refused and stays that tensor's; an end by who
** gave it away does nothing. Then it is its maker's again. */
static void test_taken_twice(void **state)
{
    struct DLManagedTensor m = foreign();
    struct DLManagedTensorVersioned v = {.major = 1, .t = m.t,
                                         .deleter = count_versioned};
    for (int round = 1; round <= 2; round++) {
        deleted = 0;
        la_tensor *t = la_from_dlpack(&m);
        la_tensor *u = la_from_dlpack_versioned(&v);
        assert_non_null(u);
        for (int k = 0; k < 3; k++) {
            assert_null(la_from_dlpack(&m));
            assert_int_equal(la_error_code(), LA_ESTATE);
            assert_null(la_from_dlpack_versioned(&v));
            assert_int_equal(la_error_code(), LA_ESTATE);
        }
        m.deleter(&m);
        v.deleter(&v);
        assert_int_equal(deleted, 0);
        assert_true(((float *)la_tensor_data(t))[5] == 6);
        la_release(t);
        assert_int_equal(deleted, 1);
        la_release(u);
        assert_int_equal(deleted, 2);
        assert_ptr_equal(m.deleter, count);
        assert_ptr_equal(v.deleter, count_versioned);
    }
    m.deleter = NULL;
    la_tensor *t = la_from_dlpack(&m);
    assert_null(la_from_dlpack(&m));
    la_release(t);
    assert_null(m.deleter);
}

/* Each is refused, and its deleter has run once. */
static void test_refused(void **state)
{
    int64_t strides[2] = {-3, 1};
    for (int k = 0; k < 7; k++) {
        struct DLManagedTensor m = foreign();
        switch (k) {
        case 0: m.t.device.type = 2; break;
        case 1: m.t.dtype.lanes = 4; break;
        case 2: m.t.dtype.bits = 24; break;
        case 3: m.t.ndim = 1000; break;
        case 4: m.t.strides = strides; break;
        case 5: m.t.byte_offset = 1; break;
        default: m.t.data = NULL; break;
        }
        assert_null(la_from_dlpack(&m));
        assert_int_equal(deleted, 1);
        assert_true(strlen(la_error_text()) > 0);
    }
    struct DLManagedTensorVersioned v = {
        .major = 2, .deleter = count_versioned, .t = foreign().t};
    assert_null(la_from_dlpack_versioned(&v));
    assert_int_equal(la_error_code(), LA_ESUPPORT);
    assert_null(la_from_dlpack_versioned(NULL));
    assert_null(la_from_dlpack(NULL));
    assert_null(la_to_dlpack(NULL));
    assert_null(la_to_dlpack_versioned(NULL));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_false(la_requires_grad(NULL));
    assert_int_equal(deleted, 1);
}

/* An import of a script that fails before it looks at the struct. */
static void test_refused_in_lua(void **state)
{
    static const char *const options[] = {
        "{bogus = 1}", "{versioned = 1}", "{versioned = 'no'}", "5", "'x'",
        "{[1] = true}",
        "setmetatable({}, {__index = function() error('no') end})"};
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    for (int k = 0; k < 14; k++) {
        struct DLManagedTensor m = foreign();
        struct DLManagedTensorVersioned v = {
            .major = 1, .deleter = count_versioned, .t = foreign().t};
        lua_pushlightuserdata(L, k % 2 ? (void *)&v : (void *)&m);
        lua_setglobal(L, "p");
        lua_pushfstring(L, "lunarray.from_dlpack(p, %s)", options[k / 2]);
        assert_int_not_equal(luaL_dostring(L, lua_tostring(L, -1)), LUA_OK);
        assert_non_null(strstr(lua_tostring(L, -1), "]:1: "));
        assert_int_equal(deleted, 1);
    }
    lua_close(L);
}

/* The handle of the result needs memory, too. */
static size_t left = SIZE_MAX;
static void *lua_memory(void *context, void *block, size_t old, size_t size)
{
    if (size > (block ? old : 0) && size > left) return NULL;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}
static void test_no_memory_in_lua(void **state)
{
    lua_State *L = lua_newstate(lua_memory, NULL);
    assert_int_equal(la_openlibs(L), 0);
    lua_gc(L, LUA_GCSTOP);
    struct DLManagedTensor m = foreign();
    lua_getglobal(L, "lunarray");
    lua_getfield(L, -1, "from_dlpack");
    lua_pushlightuserdata(L, &m);
    left = 0;
    assert_int_not_equal(lua_pcall(L, 1, 1, 0), LUA_OK);
    left = SIZE_MAX;
    assert_int_equal(deleted, 1);
    lua_close(L);
}

/* Read-only memory can't be written, and needs the struct that can say so. */
static void test_read_only(void **state)
{
    struct DLManagedTensorVersioned v = {
        .major = 1, .deleter = count_versioned, .flags = 1, .t = foreign().t};
    la_tensor *t = la_from_dlpack_versioned(&v);
    assert_non_null(t);
    assert_null(la_call(NULL, "zero_", t));
    assert_null(la_to_dlpack(t));
    struct DLManagedTensorVersioned *again = la_to_dlpack_versioned(t);
    assert_int_equal(again->flags & 1, 1);
    la_release(t);
    assert_int_equal(deleted, 0);
    again->deleter(again);
    assert_int_equal(deleted, 1);
}

static int64_t blocks;

static void *take(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    blocks++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment
                                        * alignment);
}

static void give(void *context, void *block, size_t bytes)
{
    (void)context;
    (void)bytes;
    blocks--;
    free(block);
}

/* What a runtime made goes back to its allocator, wherever the thread is that
** calls the deleter. */
static void test_runtimes(void **state)
{
    la_config config = {.size = sizeof config, .alloc = take, .release = give};
    (void)state;
    la_runtime *rt = la_runtime_new(&config);
    assert_null(la_use(rt));
    la_tensor *t = la_new("float32", 2, sizes);
    assert_ptr_equal(la_use(NULL), rt);
    struct DLManagedTensor *m = la_to_dlpack(t);
    struct DLManagedTensorVersioned *v = la_to_dlpack_versioned(t);
    la_release(t);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    m->deleter(m);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    v->deleter(v);
    assert_int_equal(la_runtime_destroy(rt), 0);
    assert_int_equal(blocks, 0);
}

static void test_hash(void **state)
{
    uint64_t a, b;
    la_tensor *t = la_new("float32", 2, sizes);
    la_tensor *same = la_new("float32", 2, sizes);
    assert_int_equal(la_hash(t, &a), 0);
    assert_int_equal(la_hash(same, &b), 0);
    assert_true(a == b);
    ((float *)la_tensor_data(same))[0] = 1;
    assert_int_equal(la_hash(same, &b), 0);
    assert_true(a != b);
    la_release(t);
    la_release(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_export), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_import), cmocka_unit_test(test_taken_twice),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_in_lua),
        cmocka_unit_test(test_no_memory_in_lua),
        cmocka_unit_test(test_read_only), cmocka_unit_test(test_hash),
        cmocka_unit_test(test_runtimes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
