/* Tensors and storage: life, sizes, bounds, resize, wrapping, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/runtime/memory.h"
#include "tensor/names.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"
#include "tensor/text/print.h"

#define DIMS(...) \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__}

static la_tensor *make(int n, const int64_t *sizes)
{
    la_tensor *t = NULL;
    assert_int_equal(la_tensor_empty(n, sizes, LA_FLOAT32, &t), LA_OK);
    return t;
}

static void header_is_small(void **state)
{
    assert_true(sizeof(la_tensor) <= 192);
    assert_true(sizeof(la_storage) <= 80);
    /* together the data of a small tensor begins 256 bytes into its block */
    assert_true(sizeof(la_tensor) + sizeof(la_storage) <= 256);
}

static void data_is_aligned(void **state)
{
    for (int64_t n = 1; n < 2000; n += 7) {
        la_tensor *t = make(DIMS(n));
        assert_int_equal((uintptr_t)la_data(t) % 64, 0);
        memset(la_data(t), 1, (size_t)n * 4);
        la_tensor_release(t);
    }
}

static void nothing_is_left(void **state)
{
    size_t before = la_mem_stat().used;
    la_tensor *t = make(DIMS(2, 3)), *big = make(DIMS(100, 100)), *v, *a;
    la_tensor *deep = make(DIMS(1, 2, 1, 2, 1, 2, 1));
    assert_int_equal(la_tensor_view(t, DIMS(3), (int64_t[]){1}, 3, &v), LA_OK);
    assert_int_equal(la_tensor_alias(big, true, &a), LA_OK);
    la_tensor_release(t);
    assert_int_equal(v->base->numel, 6);
    *(float *)la_data(v) = 1;   /* the block lives on */
    la_tensor_release(v);
    la_tensor_release(big);
    memset(la_data(a), 0, 40000);
    la_tensor_release(a);
    la_tensor_release(deep);
    assert_int_equal(la_mem_stat().used, before);
}

/* set_ moves a small tensor to another storage; its header still lies in the
** first one's block. */
static void header_outlives_its_storage(void **state)
{
    size_t before = la_mem_stat().used;
    la_tensor *t = make(DIMS(4)), *u = make(DIMS(2, 2)), *v;
    assert_int_equal(la_tensor_view(t, DIMS(4), (int64_t[]){1}, 0, &v), LA_OK);
    assert_int_equal(la_tensor_set(t, u), LA_OK);
    assert_ptr_equal(t->storage, u->storage);
    assert_int_equal(t->ndim, 2);
    la_tensor_release(u);
    assert_int_equal(la_tensor_set(t, v), LA_OK);  /* back to its own storage */
    assert_int_equal(la_tensor_set(t, v), LA_OK);
    la_tensor_release(v);
    assert_int_equal(t->numel, 4);
    la_tensor_release(t);
    assert_int_equal(la_mem_stat().used, before);
}

static void hostile_sizes(void **state)
{
    static const int64_t big = (int64_t)1 << 40;
    static const struct { int n; int64_t s[4]; } bad[] = {
        {3, {4194305, 4194305, 211106198978564}}, {3, {0, big, big}},
        {1, {INT64_MAX}}, {2, {big, big}}, {1, {-1}}, {2, {0, -5}},
        {1, {((int64_t)1 << 48) + 1}}, {1, {INT64_MIN}}, {4, {65536, 65536,
        65536, 65536}},
    };
    la_tensor *t = NULL;
    uint64_t calls = la_mem_stat().allocations;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_int_not_equal(la_tensor_empty(bad[k].n, bad[k].s, LA_INT8, &t),
                             LA_OK);
        assert_null(t);
    }
    assert_int_equal(la_mem_stat().allocations, calls);
    assert_int_equal(la_tensor_empty(1, (int64_t[]){(int64_t)1 << 48},
                                     LA_COMPLEX128, &t), LA_ESHAPE);
    assert_non_null(strstr(la_error_message(), "size overflow"));
    int64_t many[65];
    for (int k = 0; k < 65; k++) many[k] = 1;
    assert_int_equal(la_tensor_empty(65, many, LA_INT8, &t), LA_ESHAPE);
    assert_int_equal(la_tensor_empty(64, many, LA_INT8, &t), LA_OK);
    assert_int_equal(t->ndim, 64);
    assert_true(la_is_contiguous(t));
    la_tensor_release(t);
}

static void bounds(void **state)
{
    la_tensor *t = make(DIMS(6)), *v = NULL;
    int64_t two[] = {2, 3}, strides[] = {3, 1};
    assert_int_equal(la_tensor_view(t, 2, two, strides, 0, &v), LA_OK);
    la_tensor_drop(&v);
    assert_int_not_equal(la_tensor_view(t, 2, two, strides, 1, &v), 0);
    assert_int_not_equal(la_tensor_view(t, 2, two, strides, -1, &v), 0);
    assert_int_not_equal(la_tensor_view(t, 2, two, strides, INT64_MAX, &v), 0);
    strides[0] = INT64_MAX;
    assert_int_not_equal(la_tensor_view(t, 2, two, strides, 0, &v), 0);
    strides[0] = -3;
    assert_int_not_equal(la_tensor_view(t, 2, two, strides, 3, &v), 0);
    assert_int_equal(la_extent_check(1, (int64_t[]){0}, (int64_t[]){1}, 6, 4,
                                     24), LA_OK);
    assert_null(v);
    la_tensor_release(t);
}

static void resize_policy(void **state)
{
    la_tensor *t = make(DIMS(2, 3)), *v;
    float *data = (float *)la_data(t);
    for (int k = 0; k < 6; k++) data[k] = (float)k;
    assert_int_equal(la_tensor_view(t, DIMS(3), (int64_t[]){1}, 3, &v), LA_OK);
    assert_int_equal(la_tensor_resize(t, DIMS(2)), LA_OK);   /* kept */
    assert_ptr_equal(la_data(t), data);
    assert_int_equal(t->storage->nbytes, 24);
    assert_int_equal(la_tensor_resize(t, DIMS(6)), LA_OK);
    assert_ptr_equal(la_data(t), data);
    assert_int_equal(la_tensor_resize(t, DIMS(1000)), LA_OK);
    for (int k = 0; k < 6; k++)
        assert_true(((float *)la_data(t))[k] == (float)k);
    assert_ptr_equal(t->storage, v->storage);
    assert_true(*(float *)la_data(v) == 3);
    la_mem_fail_at(1, false);
    assert_int_equal(la_tensor_resize(t, DIMS(100000)), LA_ENOMEM);
    assert_int_equal(t->numel, 1000);
    la_mem_fail_at(0, false);
    assert_int_equal(la_storage_resize(t->storage, 16), LA_OK);
    assert_int_not_equal(la_tensor_check_bounds(v), LA_OK);
    la_tensor_release(v);
    la_tensor_release(t);
}

static int releases;
static void released(void *context, void *data) { releases++; }

static void host_memory(void **state)
{
    float buffer[8];
    la_tensor *t;
    assert_int_equal(la_tensor_wrap(buffer, LA_FLOAT32, DIMS(2, 4), NULL,
                                    released, NULL, &t), LA_OK);
    assert_ptr_equal(la_data(t), buffer);
    assert_int_equal(la_tensor_resize(t, DIMS(9)), LA_ESTATE);
    assert_int_equal(t->ndim, 2);
    assert_int_equal(la_tensor_resize(t, DIMS(3)), LA_OK);
    la_tensor_release(t);
    assert_int_equal(releases, 1);
    assert_int_not_equal(la_tensor_wrap(buffer, LA_FLOAT32, DIMS(2),
                                        (int64_t[]){-1}, released, NULL, &t),
                         LA_OK);
    assert_int_equal(releases, 2);
    for (uint64_t n = 1; n < 4; n++) {
        la_mem_fail_at(n, false);
        la_status s = la_tensor_wrap(buffer, LA_FLOAT32, DIMS(2, 4), NULL,
                                     released, NULL, &t);
        la_mem_fail_at(0, false);
        if (s == LA_OK) la_tensor_release(t);
        assert_int_equal(releases, 2 + (int)n);
    }
}

static void meta_has_no_data(void **state)
{
    la_tensor *t, *v;
    int64_t sizes[] = {1 << 20, 1 << 20};
    assert_int_equal(la_tensor_empty_on(LA_META, 2, sizes, NULL, LA_FLOAT32,
                                        &t), LA_OK);
    assert_null(la_data(t));
    assert_int_equal(la_tensor_view(t, DIMS(5), (int64_t[]){7}, 1, &v), LA_OK);
    assert_int_equal(la_tensor_resize(t, DIMS(1 << 21, 1 << 20)), LA_OK);
    la_tensor_release(v);
    la_tensor_release(t);
}

static uint32_t layout(int n, const int64_t *sizes, const int64_t *strides)
{
    la_tensor *t;
    assert_int_equal(la_tensor_empty_on(LA_META, n, sizes, strides, LA_INT8,
                                        &t), LA_OK);
    uint32_t flags = t->flags & LA_F_LAYOUT;
    la_tensor_release(t);
    return flags;
}

static void layout_flags(void **state)
{
    enum { C = LA_F_CONTIGUOUS, L = LA_F_CHANNELS_LAST, D = LA_F_DENSE,
           L3 = LA_F_CHANNELS_LAST_3D };
    int64_t s[] = {2, 3, 4, 5}, nhwc[] = {60, 1, 15, 3};
    assert_int_equal(layout(4, s, NULL), C | D);
    assert_int_equal(layout(4, s, nhwc), L | D);
    assert_int_equal(layout(4, s, (int64_t[]){20, 40, 5, 1}), D);
    assert_int_equal(layout(4, s, (int64_t[]){120, 40, 5, 1}), 0);
    assert_int_equal(layout(4, (int64_t[]){2, 1, 4, 5}, NULL), C | L | D);
    assert_int_equal(layout(4, (int64_t[]){2, 3, 1, 1}, NULL), C | L | D);
    assert_int_equal(layout(5, (int64_t[]){2, 3, 2, 2, 2},
                            (int64_t[]){24, 1, 12, 6, 3}), L3 | D);
    assert_int_equal(layout(2, (int64_t[]){0, 3}, (int64_t[]){7, 9}), C | D);
    assert_int_equal(layout(2, (int64_t[]){1, 3}, (int64_t[]){99, 1}), C | D);
    assert_int_equal(layout(1, (int64_t[]){3}, (int64_t[]){2}), 0);
    assert_int_equal(layout(0, NULL, NULL), C | D);
}

static void preserved(int n, const int64_t *sizes, const int64_t *strides,
                      const int64_t *want)
{
    la_tensor *t;
    int64_t got[LA_MAX_DIMS];
    assert_int_equal(la_tensor_empty_on(LA_META, n, sizes, strides, LA_INT8,
                                        &t), LA_OK);
    la_preserve_strides(t, got);
    for (int d = 0; d < n; d++) assert_int_equal(got[d], want[d]);
    la_tensor_release(t);
}

static void preserve_strides(void **state)
{
    preserved(DIMS(2, 3), (int64_t[]){1, 2}, (int64_t[]){1, 2});
    preserved(DIMS(2, 3), (int64_t[]){1, 4}, (int64_t[]){1, 2});
    preserved(DIMS(2, 3), (int64_t[]){0, 1}, (int64_t[]){3, 1});
    preserved(DIMS(3, 2), (int64_t[]){1, 0}, (int64_t[]){2, 1});
    preserved(DIMS(2, 3, 4), (int64_t[]){100, 1, 5}, (int64_t[]){12, 1, 3});
}

static void scalars(void **state)
{
    char buffer[16];
    la_scalar s = la_scalar_int(300), f = la_scalar_float(1.5);
    la_scalar z = la_scalar_complex(1, 2);
    assert_int_equal(la_scalar_store(&s, LA_UINT8, buffer), LA_EDTYPE);
    assert_int_equal(la_scalar_store(&s, LA_INT16, buffer), LA_OK);
    assert_int_equal(la_scalar_load(LA_INT16, buffer).i, 300);
    assert_int_equal(la_scalar_store(&f, LA_INT32, buffer), LA_EDTYPE);
    assert_int_equal(la_scalar_store(&z, LA_FLOAT32, buffer), LA_EDTYPE);
    assert_int_equal(la_scalar_store(&z, LA_COMPLEX32, buffer), LA_OK);
    assert_true(la_scalar_load(LA_COMPLEX32, buffer).im == 2);
    s = la_scalar_int(-1);
    assert_int_equal(la_scalar_store(&s, LA_UINT64, buffer), LA_EDTYPE);
    la_scalar_cast(&s, LA_UINT32, buffer);
    assert_int_equal(la_scalar_load(LA_UINT32, buffer).i, 4294967295);
    f = la_scalar_float(-1e30);
    la_scalar_cast(&f, LA_INT64, buffer);
    assert_true(la_scalar_load(LA_INT64, buffer).i == INT64_MIN);
    f = la_scalar_float(1e6);
    assert_int_equal(la_scalar_store(&f, LA_FLOAT16, buffer), LA_EDTYPE);
    f = la_scalar_float(-128);
    assert_int_equal(la_scalar_store(&f, LA_INT8, buffer), LA_OK);
    assert_int_equal(la_scalar_load(LA_INT8, buffer).i, -128);
}

static void named(void **state)
{
    size_t before = la_mem_stat().used;
    const char *n = la_name_intern("N", 1), *c = la_name_intern("C", 1);
    const char *star = la_name_intern("*", 1), *bad = la_name_intern("1x", 2);
    la_names *a, *b, *u, *w;
    assert_ptr_equal(n, la_name_intern("N", 1));
    assert_int_equal(la_names_new(2, (const char *[]){n, n}, &a), LA_EARG);
    assert_int_equal(la_names_new(1, (const char *[]){bad}, &a), LA_EARG);
    assert_int_equal(la_names_new(2, (const char *[]){n, star}, &a), LA_OK);
    assert_int_equal(la_names_new(1, (const char *[]){c}, &b), LA_OK);
    assert_int_equal(la_names_unify(a, 2, b, 1, &u), LA_OK);
    assert_ptr_equal(u->name[1], c);
    la_names_release(u);
    assert_int_equal(la_names_unify(a, 2, NULL, 3, &u), LA_OK);
    assert_int_equal(u->ndim, 3);
    assert_int_equal(la_names_unify(u, 3, b, 1, &w), LA_OK);
    la_names_release(w);
    la_names_release(u);
    la_names_release(b);
    assert_int_equal(la_names_new(2, (const char *[]){c, star}, &b), LA_OK);
    assert_int_equal(la_names_unify(a, 2, b, 2, &u), LA_EARG);
    assert_non_null(strstr(la_error_message(), "[N, *] and dims [C, *]"));
    la_names_release(a);
    la_names_release(b);
    assert_int_equal(la_mem_stat().used, before);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Told, and bounded loosely: other work may use the machine. */
/* Bytes of every length, one after another: all stay, in few blocks. */
static void texts_grow(void **state)
{
    enum { PARTS = 300 };
    size_t used = la_mem_stat().used, capacity = 0, n = 0;
    la_text text = {0};
    char part[PARTS];
    int blocks = 0;
    for (int k = 0; k < PARTS; n += (size_t)k++) {
        memset(part, k % 251, sizeof part);
        assert_int_equal(la_text_add(&text, part, (size_t)k), LA_OK);
        assert_int_equal(text.size, n + (size_t)k);
        assert_true(text.size <= text.capacity);
        blocks += text.capacity != capacity;
        capacity = text.capacity;
    }
    assert_true(blocks > 3 && blocks < 12);
    n = 0;
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < k; i++)
            assert_int_equal((unsigned char)text.data[n++], k % 251);
    while (text.size < capacity)
        assert_int_equal(la_text_add(&text, "x", 1), LA_OK);
    assert_int_equal(text.capacity, capacity);
    la_text_free(&text);
    assert_int_equal(la_mem_stat().used, used);
}

static void making_is_quick(void **state)
{
    enum { ROUNDS = 20, N = 100000 };
    double best = 1e30;
    int64_t sizes[] = {2, 2};
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int k = 0; k < N; k++) {
            la_tensor *t;
            if (la_tensor_empty(2, sizes, LA_FLOAT32, &t)) fail();
            la_tensor_release(t);
        }
        double each = (now() - start) / N;
        best = each < best ? each : best;
    }
    print_message("new + release of a small tensor: %.1f ns\n", best);
    assert_true(best < 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_small), cmocka_unit_test(data_is_aligned),
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(header_outlives_its_storage),
        cmocka_unit_test(hostile_sizes), cmocka_unit_test(bounds),
        cmocka_unit_test(resize_policy), cmocka_unit_test(host_memory),
        cmocka_unit_test(meta_has_no_data), cmocka_unit_test(layout_flags),
        cmocka_unit_test(preserve_strides), cmocka_unit_test(scalars),
        cmocka_unit_test(named), cmocka_unit_test(texts_grow),
        cmocka_unit_test(making_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
