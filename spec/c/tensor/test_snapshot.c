/*
** Snapshots from C: pointers that were given out, memory of the host, tensors
** that are freed, failing allocations, two threads; slots.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"
#define LA_INTERNAL
#include "lunarray.h"

enum { N = 1000 };

static la_tensor *floats(float value)
{
    int64_t n = N;
    la_tensor *t = la_new("float32", 1, &n);
    la_release(la_call(NULL, "fill_", t, value));
    return t;
}

/* Without a pointer that could be written through. */
static double at(la_tensor *t, int64_t i)
{
    la_range where = la_at(i);
    la_tensor *one = la_index(NULL, t, 1, &where);
    la_tensor *copy = la_call(NULL, "clone", one);
    double v = *(float *)la_tensor_data(copy);
    la_release(copy);
    la_release(one);
    return v;
}

static void set(la_tensor *t, float value)
{
    la_tensor *r = la_call(NULL, "fill_", t, value);
    assert_non_null(r);
    la_release(r);
}

static void test_restore(void **state)
{
    la_tensor *list[2] = {floats(1), floats(2)};
    la_snapshot *s = la_snapshot_take(2, list);
    assert_non_null(s);
    assert_int_equal(la_snapshot_restore(s), 0);
    set(list[0], 3);
    set(list[1], 4);
    la_snapshot *later = la_snapshot_take(1, list);
    assert_int_equal(la_snapshot_restore(s), 0);
    assert_float_equal(at(list[0], 1), 1, 0);
    assert_float_equal(at(list[1], N), 2, 0);
    assert_int_equal(la_snapshot_restore(later), 0);
    assert_float_equal(at(list[0], 5), 3, 0);
    la_snapshot_release(later);
    assert_int_equal(la_snapshot_restore(s), 0);
    assert_float_equal(at(list[0], 5), 1, 0);
    la_snapshot_release(s);
    la_snapshot_release(NULL);
    set(list[0], 7);
    la_release(list[0]);
    la_release(list[1]);
}

/* A pointer that was had before or after is written through. */
static void test_pointers(void **state)
{
    la_tensor *t = floats(1), *u = floats(1);
    float *before = la_tensor_data(t);
    la_snapshot *s = la_snapshot_take(1, &t), *v = la_snapshot_take(1, &u);
    float *after = la_tensor_data(u);
    before[3] = after[3] = 9;
    assert_int_equal(la_snapshot_restore(s), 0);
    assert_int_equal(la_snapshot_restore(v), 0);
    assert_float_equal(before[3], 1, 0);
    assert_float_equal(after[3], 1, 0);
    after[3] = 8;
    assert_int_equal(la_snapshot_restore(v), 0);
    assert_float_equal(after[3], 1, 0);
    la_snapshot_release(s);
    la_snapshot_release(v);
    la_release(t);
    la_release(u);
}

/* Memory of the host is copied at once; where it is read-only to tensors the
** host must not have changed it. */
static void test_host_memory(void **state)
{
    float data[6] = {1, 2, 3, 4, 5, 6}, fixed[2] = {1, 2};
    int64_t n = 6, two = 2;
    la_tensor *t = la_wrap(data, "float32", 1, &n, NULL, NULL, NULL);
    la_buffer b = {.size = sizeof b, .data = fixed, .dtype = "float32",
                   .ndim = 1, .flags = LA_READ_ONLY, .sizes = &two};
    la_tensor *list[2] = {t, la_wrap_ex(&b)};
    la_snapshot *s = la_snapshot_take(2, list);
    data[2] = 0;
    assert_int_equal(la_snapshot_restore(s), 0);
    assert_float_equal(data[2], 3, 0);
    data[2] = fixed[1] = 0;
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    assert_float_equal(data[2], 0, 0);
    fixed[1] = 2;
    assert_int_equal(la_snapshot_restore(s), 0);
    float other[6] = {0};
    assert_int_equal(la_rebind(t, other, sizeof other), 0);
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    la_snapshot_release(s);
    la_release(list[0]);
    la_release(list[1]);
}

/* Byte strides of a float tensor {20, 4, 3} on 'bytes' of the host, saved and
** written back: what lies between its elements is neither kept nor written. */
static void check_layout(const int64_t *strides, size_t bytes, bool gaps)
{
    int64_t sizes[3] = {20, 4, 3};
    unsigned char *data = malloc(bytes), *before = malloc(bytes);
    la_memory then = {.size = sizeof then}, now = then;
    for (size_t k = 0; k < bytes; k++) data[k] = (unsigned char)(k % 251);
    memcpy(before, data, bytes);
    la_tensor *t = la_wrap_ex(&(la_buffer){
        .size = sizeof(la_buffer), .data = data, .dtype = "float32", .ndim = 3,
        .sizes = sizes, .byte_strides = strides, .extent = bytes});
    assert_int_equal(la_memory_stat(NULL, &then), 0);
    la_snapshot *s = la_snapshot_take(1, &t);
    assert_int_equal(la_memory_stat(NULL, &now), 0);
    assert_true(now.now - then.now < 20 * 4 * 3 * 4 + 500);
    memset(data, 255, bytes);
    assert_int_equal(la_snapshot_restore(s), 0);
    size_t kept = 0;
    for (size_t k = 0; k < bytes; k++) {
        assert_true(data[k] == before[k] || data[k] == 255);
        kept += data[k] == 255;
    }
    assert_int_equal(kept > 1, gaps);
    la_snapshot_release(s);
    la_release(t);
    free(before);
    free(data);
}

static void test_layouts(void **state)
{
    check_layout(NULL, 960, false);
    check_layout((int64_t[]){4, 80, 320}, 960, false);
    check_layout((int64_t[]){52, 12, 4}, 19 * 52 + 48, true);
    check_layout((int64_t[]){400, 100, 20}, 19 * 400 + 3 * 100 + 44, true);
    check_layout((int64_t[]){16, 1600, 4}, 3 * 1600 + 19 * 16 + 12, true);
    check_layout((int64_t[]){64, 0, 8}, 19 * 64 + 20, true);
}

static void test_errors(void **state)
{
    la_tensor *list[3] = {floats(1), floats(2), NULL};
    assert_null(la_snapshot_take(3, list));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_memory_equal(la_error_text(), "la_snapshot_take: ", 18);
    assert_null(la_snapshot_take(-1, list));
    assert_null(la_snapshot_take(1, NULL));
    assert_int_equal(la_snapshot_restore(NULL), LA_EARG);
    la_snapshot *none = la_snapshot_take(0, NULL);
    assert_non_null(none);
    assert_int_equal(la_error_code(), 0);
    assert_int_equal(la_snapshot_restore(none), 0);
    la_snapshot_release(none);
    la_snapshot *s = la_snapshot_take(2, list), *t = la_snapshot_take(2, list);
    set(list[0], 5);
    la_release(list[1]);
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    assert_memory_equal(la_error_text(), "la_snapshot_restore: ", 21);
    assert_float_equal(at(list[0], 1), 5, 0);
    la_snapshot_release(t);
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    la_snapshot_release(s);
    s = la_snapshot_take(1, list);
    la_release(la_call(NULL, "resize_", list[0], 3, 4));
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    la_snapshot_release(s);
    la_release(list[0]);
}

/* More snapshots than a tensor counts. */
static void test_many(void **state)
{
    la_snapshot *list[400];
    la_tensor *t = floats(0);
    for (int k = 0; k < 400; k++) {
        set(t, (float)k);
        assert_non_null(list[k] = la_snapshot_take(1, &t));
    }
    for (int k = 399; k >= 0; k -= 7) {
        assert_int_equal(la_snapshot_restore(list[k]), 0);
        assert_float_equal(at(t, 1), k, 0);
    }
    for (int k = 0; k < 400; k++) la_snapshot_release(list[k]);
    set(t, 1);
    la_release(t);
}

/* Each allocation of a snapshot, a write after it and a restore fails once:
** nothing is lost and nothing half done. */
static void test_no_memory(void **state)
{
    for (int i = 1; i < 40; i++) {
        la_tensor *t = floats(1);
        la_mem_fail_at((uint64_t)i, false);
        la_snapshot *s = la_snapshot_take(1, &t);
        if (!s) assert_int_equal(la_error_code(), LA_ENOMEM);
        la_tensor *r = la_call(NULL, "fill_", t, 2.0);
        if (!r) assert_int_equal(la_error_code(), LA_ENOMEM);
        la_release(r);
        double now = r ? 2 : 1;
        la_snapshot *u = la_snapshot_take(1, &t);
        int status = s ? la_snapshot_restore(s) : 0;
        la_mem_fail_at(0, false);
        double want = s && !status ? 1 : now;
        assert_float_equal(at(t, 1), want, 0);
        if (u) {
            assert_int_equal(la_snapshot_restore(u), 0);
            assert_float_equal(at(t, 1), now, 0);
        }
        la_snapshot_release(s);
        la_snapshot_release(u);
        la_release(t);
    }
}

/* ---- threads ---- */

static void *release_snapshots(void *list)
{
    la_snapshot **s = list;
    for (int k = 0; k < 200; k++) la_snapshot_release(s[k]);
    return NULL;
}

/* Snapshots are released on one thread, the tensor is written on another. */
static void test_release_elsewhere(void **state)
{
    la_snapshot *list[200];
    la_tensor *t = floats(1);
    pthread_t thread;
    for (int k = 0; k < 200; k++) list[k] = la_snapshot_take(1, &t);
    pthread_create(&thread, NULL, release_snapshots, list);
    for (int k = 0; k < 200; k++) {
        set(t, (float)k);
        la_snapshot *s = la_snapshot_take(1, &t);
        set(t, -1);
        assert_int_equal(la_snapshot_restore(s), 0);
        la_snapshot_release(s);
        assert_float_equal(at(t, 1), k, 0);
    }
    pthread_join(thread, NULL);
    la_release(t);
}

static void *write_half(void *view)
{
    for (int k = 0; k < 50; k++) set(view, (float)(k + 2));
    return NULL;
}

/* Two halves of one storage are written on two threads. */
static void test_two_writers(void **state)
{
    for (int round = 0; round < 20; round++) {
        la_tensor *t = floats(1), *half[2];
        la_range low = la_span(1, N / 2, 1), high = la_span(N / 2 + 1, N, 1);
        half[0] = la_index(NULL, t, 1, &low);
        half[1] = la_index(NULL, t, 1, &high);
        la_snapshot *s = la_snapshot_take(1, &t);
        pthread_t thread;
        pthread_create(&thread, NULL, write_half, half[0]);
        write_half(half[1]);
        pthread_join(thread, NULL);
        assert_float_equal(at(t, 1), 51, 0);
        assert_int_equal(la_snapshot_restore(s), 0);
        for (int i = 1; i <= N; i += 111) assert_float_equal(at(t, i), 1, 0);
        la_snapshot_release(s);
        la_release(half[0]);
        la_release(half[1]);
        la_release(t);
    }
}

/* ---- runtimes and limits ---- */

/* All of it is memory of the tensors' runtime, whatever the thread is in. */
static void test_runtimes(void **state)
{
    la_runtime *rt = la_runtime_new(NULL);
    la_use(rt);
    la_tensor *t = floats(1), *u = floats(1);
    la_slot *slot = la_slot_new();
    la_use(NULL);
    la_tensor *ours = floats(1), *mixed[2] = {t, ours};
    assert_null(la_snapshot_take(2, mixed));
    assert_int_equal(la_error_code(), LA_EARG);
    la_snapshot *s = la_snapshot_take(1, &t), *v = la_snapshot_take(1, &u);
    assert_non_null(s);
    assert_non_null(la_tensor_data(u));     /* a copy is made from here */
    la_use(rt);
    set(t, 2);
    la_use(NULL);
    assert_int_equal(la_snapshot_restore(s), 0);
    assert_int_equal(la_slot_publish(slot, t), 0);
    la_release(t);
    la_release(u);
    la_snapshot_release(v);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    t = la_slot_acquire(slot);
    assert_ptr_equal(la_runtime_of(t), rt);
    assert_float_equal(*(float *)la_tensor_data(t), 1, 0);
    la_slot_release(slot);
    la_release(t);
    la_snapshot_release(s);
    assert_int_equal(la_runtime_destroy(rt), 0);
    la_release(ours);
}

/* What a script's write copies counts for its cap, until the snapshot goes. */
static void test_cap(void **state)
{
    la_limits limits = {.size = sizeof limits, .memory = 3 << 20};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    la_token *k = la_token_of(L);
    size_t before = la_token_memory(k);
    assert_int_equal(luaL_dostring(L, "la = lunarray"
                     " x = la.zeros(1 << 18) s = la.snapshot{x}"), 0);
    size_t taken = la_token_memory(k);
    assert_true(taken < before + (1 << 20) + (1 << 17));
    assert_int_equal(luaL_dostring(L, "x:add_(1)"), 0);
    assert_true(la_token_memory(k) >= taken + (1 << 20));
    assert_int_not_equal(luaL_dostring(L, "t = la.snapshot{x} x:add_(1)"), 0);
    assert_int_equal(luaL_dostring(L, "t:free() s:restore() s:free()"
                     " assert(x:sum():item() == 0)"), 0);
    assert_true(la_token_memory(k) < taken + (1 << 18));
    lua_close(L);
    la_token_release(k);
}

/* ---- slots ---- */

static void *simulate(void *slot)
{
    for (int k = 1; k <= 2000; k++) {
        la_tensor *t = floats((float)k);
        assert_int_equal(la_slot_publish(slot, t), 0);
        la_release(t);
    }
    return NULL;
}

/* In a script both cost fuel by the elements, and end with the token. */
static void test_limits(void **state)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    la_token *k = la_token_of(L);
    if (luaL_dostring(L, "la = lunarray x = la.ones(102400) y = la.ones(1)"))
        fail();
    la_set_fuel(k, 1000);
    if (luaL_dostring(L, "s = la.snapshot{x, y}")) fail();
    assert_int_equal(la_fuel_left(k), 1000 - 101);
    if (luaL_dostring(L, "s:restore()")) fail();
    assert_int_equal(la_fuel_left(k), 1000 - 202);
    la_set_fuel(k, 100);
    assert_int_not_equal(luaL_dostring(L, "s:restore()"), 0);
    assert_int_equal(la_error_code(), LA_EFUEL);
    la_token_clear(k);
    la_cancel(k);
    assert_int_not_equal(luaL_dostring(L, "la.snapshot{y}"), 0);
    assert_int_equal(la_error_code(), LA_ECANCEL);
    la_token_release(k);
    lua_close(L);
}

static void test_slots(void **state)
{
    la_slot *s = la_slot_new();
    pthread_t thread;
    assert_non_null(s);
    assert_null(la_slot_acquire(s));
    assert_int_equal(la_error_code(), 0);
    assert_int_equal(la_slot_publish(s, NULL), LA_EARG);
    assert_int_equal(la_slot_publish(NULL, NULL), LA_EARG);
    assert_null(la_slot_acquire(NULL));
    assert_int_equal(la_error_code(), LA_EARG);
    pthread_create(&thread, NULL, simulate, s);
    float last = 0;
    while (last < 2000) {
        la_tensor *t = la_slot_acquire(s);
        if (!t) continue;
        const float *data = la_tensor_data(t);
        assert_true(data[0] >= last);
        for (int i = 1; i < N; i++) assert_true(data[i] == data[0]);
        last = data[0];
        la_release(t);
    }
    pthread_join(thread, NULL);
    la_tensor *again = la_slot_acquire(s);
    assert_non_null(again);
    la_slot_release(s);
    assert_float_equal(at(again, 1), 2000, 0);
    la_release(again);
    la_slot_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restore),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_release_elsewhere),
        cmocka_unit_test(test_two_writers),
        cmocka_unit_test(test_runtimes),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
