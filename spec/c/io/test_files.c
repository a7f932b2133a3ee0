/* Files from and to memory and callbacks of a host: every format, short reads,
** failures of a callback, structs of another size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"

typedef struct store {
    char bytes[8192];
    size_t n, refused;      /* written; a write that reaches past fails */
    int64_t most;           /* bytes that one read gives */
    int closed, mode;
} store;

enum { FINE, FAILS, TALKS, TOO_MUCH };

static int put(void *context, const void *bytes, size_t n)
{
    store *s = context;
    if (s->n + n > s->refused) return s->mode == TALKS ? la_fail("full") : 7;
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
    return 0;
}

static int64_t get(void *context, int64_t offset, void *buffer, int64_t bytes)
{
    store *s = context;
    if (s->mode == TALKS) la_fail("the pack is gone");
    if (s->mode == TALKS || s->mode == FAILS) return -1;
    if (s->mode == TOO_MUCH) return bytes + 1;
    if (bytes > s->most) bytes = s->most;
    memcpy(buffer, s->bytes + offset, (size_t)bytes);
    return bytes;
}

/* What a callback fails at itself is not what the call failed at. */
static void shut(void *context)
{
    ((store *)context)->closed++;
    assert_null(la_call(NULL, "no operation"));
}

static void expect(int code, const char *words)
{
    if (la_error_code() != code || !strstr(la_error_text(), words))
        fail_msg("code %d, '%s'", la_error_code(), la_error_text());
}

static la_tensor *three(void)
{
    int64_t n = 3;
    la_tensor *t = la_new("float32", 1, &n);
    for (int k = 0; k < 3; k++) ((float *)la_tensor_data(t))[k] = (float)k + 1;
    return t;
}

static void check_three(la_tensor *t)
{
    if (!t) fail_msg("%s", la_error_text());
    assert_int_equal(la_tensor_numel(t), 3);
    assert_true(((float *)la_tensor_data(t))[2] == 3);
    assert_int_equal(la_error_code(), 0);
    la_release(t);
}

static const char *const formats[] = {"npy", "npz", "safetensors"};

static void test_formats(void **state)
{
    la_tensor *t = three();
    (void)state;
    for (int f = 0; f < 3; f++) {
        store *s = calloc(1, sizeof *s);
        la_named list[2] = {{"b", t}, {"a", t}};
        la_sink sink = {sizeof sink, s, put};
        la_source from = {sizeof from, s, 0, get, shut};
        s->refused = sizeof s->bytes;
        s->most = 5;
        assert_int_equal(la_save_to(&sink, formats[f], f ? 2 : 1, list), 0);
        check_three(la_load_memory(s->bytes, s->n, "b"));
        from.length = (int64_t)s->n;
        check_three(la_load_from(&from, f ? "a" : NULL));
        assert_int_equal(s->closed, 1);
        if (f) assert_null(la_load_memory(s->bytes, s->n, "c"));
        if (f) expect(LA_EARG, "la_load_memory: the memory holds no tensor");
        assert_null(la_load_memory(s->bytes, s->n - 1, "b"));
        expect(LA_EIO, "la_load_memory: ");
        for (s->mode = FAILS; s->mode <= TOO_MUCH; s->mode++) {
            assert_null(la_load_from(&from, "a"));
            expect(s->mode == TALKS ? LA_EARG : LA_EIO,
                   s->mode == TALKS ? "la_load_from: the pack is gone"
                                    : "la_load_from: the host");
        }
        assert_int_equal(s->closed, 4);
        for (s->mode = FAILS; s->mode <= TALKS; s->mode++) {
            s->n = 0;
            s->refused = 70;
            assert_int_not_equal(la_save_to(&sink, formats[f], 1, list), 0);
            expect(la_error_code(), s->mode == TALKS ? "la_save_to: full"
                                                     : "la_save_to: the host");
        }
        free(s);
    }
    la_release(t);
}

static void test_paths(void **state)
{
    char folder[] = "/tmp/lunarray-XXXXXX", path[64];
    la_tensor *t = three();
    la_named list[2] = {{"x", t}, {"y", t}};
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int f = 0; f < 3; f++) {
        strcat(strcat(strcpy(path, folder), "/a."), formats[f]);
        assert_int_equal(la_save(path, f ? 2 : 1, list), 0);
        check_three(la_load(path, f ? "y" : NULL));
        remove(path);
    }
    strcat(strcpy(path, folder), "/a.npy");
    assert_int_equal(la_save(path, 2, list), LA_EARG);
    assert_int_equal(la_save(path, 0, NULL), LA_EARG);
    assert_null(la_load(path, NULL));
    expect(LA_EIO, "la_load: ");
    assert_int_equal(la_save("a.bin", 1, list), LA_EARG);
    expect(LA_EARG, "la_save: the path must end");
    assert_int_equal(la_save(NULL, 1, list), LA_EARG);
    strcat(strcpy(path, folder), "/a.npz");
    list[1].name = "x";
    assert_int_equal(la_save(path, 2, list), LA_EARG);
    expect(LA_EARG, "la_save: the name 'x' is there twice");
    list[0].tensor = NULL;
    assert_int_equal(la_save(path, 1, list), LA_EARG);
    expect(LA_EARG, "la_save: tensor 1 of the list");
    remove(folder);
    la_release(t);
}

static void test_arguments(void **state)
{
    store *s = calloc(1, sizeof *s);
    la_tensor *t = three();
    la_named list[1] = {{"x", t}};
    (void)state;
    la_sink sink = {sizeof sink, s, put};
    assert_int_equal(la_save_to(&sink, "csv", 1, list), LA_EARG);
    la_named nameless[2] = {list[0], {NULL, list[0].tensor}};
    assert_int_equal(la_save_to(&sink, "npz", 2, nameless), LA_EARG);
    expect(LA_EARG, "la_save_to: tensor 2 of the list has no name");
    assert_int_equal(la_save_to(&sink, "safetensors", 1, nameless + 1),
                     LA_EARG);
    assert_int_equal(la_save_to(&sink, NULL, 1, list), LA_EARG);
    assert_int_equal(la_save_to(NULL, "npz", 1, list), LA_EARG);
    sink.size = 0;
    assert_int_equal(la_save_to(&sink, "npz", 1, list), LA_EARG);
    sink = (la_sink){.size = offsetof(la_sink, write), .context = s};
    assert_int_equal(la_save_to(&sink, "npz", 1, list), LA_EARG);
    la_source from = {sizeof from, s, -1, get, shut};
    assert_null(la_load_from(&from, NULL));
    assert_int_equal(s->closed, 1);
    assert_null(la_load_from(NULL, NULL));
    assert_null(la_load_memory(NULL, 4, NULL));
    expect(LA_EARG, "la_load_memory: ");
    assert_null(la_load_memory("", 0, NULL));
    expect(LA_EIO, "la_load_memory: ");
    assert_null(la_load_memory("not any of them", 15, NULL));
    expect(LA_EIO, "la_load_memory: ");
    la_release(t);
    free(s);
}

/* A loaded tensor is of the runtime of la_use; a list is of one runtime. */
static void test_runtimes(void **state)
{
    store *s = calloc(1, sizeof *s);
    la_runtime *rt = la_runtime_new(NULL);
    la_tensor *t = three();
    la_named list[2] = {{"x", t}, {"y", t}};
    la_sink sink = {sizeof sink, s, put};
    (void)state;
    s->refused = sizeof s->bytes;
    assert_null(la_use(rt));
    assert_int_equal(la_save_to(&sink, "npz", 2, list), 0);
    list[1].tensor = la_load_memory(s->bytes, s->n, "y");
    assert_ptr_equal(la_runtime_of(list[1].tensor), rt);
    assert_int_equal(la_save_to(&sink, "npz", 2, list), LA_EARG);
    expect(LA_EARG, "la_save_to: tensor 2 of the list belongs to another");
    assert_ptr_equal(la_use(NULL), rt);
    s->n = 0;
    assert_int_equal(la_save_to(&sink, "npy", 1, list + 1), 0);
    la_release(list[1].tensor);
    assert_int_equal(la_runtime_destroy(rt), 0);
    check_three(la_load_memory(s->bytes, s->n, NULL));
    la_release(t);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
